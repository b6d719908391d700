//! Every state that two sides can reach, and what is wrong with one.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use super::{End, Packet};

/// Slots of a direction, at most.
const MAX_SLOTS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A program hands a message over.
    Submit(usize),
    /// A waiting message leaves.
    Send(usize),
    /// An explicit CRDT leaves.
    Crdt(usize),
    /// A counter word leaves.
    Word(usize),
    /// What this side sent first arrives.
    Deliver(usize),
    /// This side copies a slot out.
    Consume(usize),
    /// This side reads its counter word.
    Read(usize),
    /// The library takes in the oldest message that has arrived.
    Take(usize),
    /// The handler of interrupts takes in the CRDT that has arrived.
    HandlerTake(usize),
    /// The handler of interrupts sends a CRDT.
    HandlerCrdt(usize),
}

impl Move {
    /// Nobody can count on it: the handler runs when interrupts come while the
    /// process computes.
    fn is_handler(self) -> bool {
        matches!(self, Self::HandlerTake(_) | Self::HandlerCrdt(_))
    }

    fn gives_credits_back(self) -> bool {
        matches!(self, Self::Crdt(_) | Self::Word(_) | Self::HandlerCrdt(_))
    }
}

/// What the explorer found against the rules, and how to come there.
#[derive(Debug)]
pub enum Finding {
    /// Messages wait and nothing can move any more.
    Stall(Vec<Move>),
    /// Moves go round for ever.
    Endless { states: usize },
    /// A message overwrites one that was not read.
    Overrun(Vec<Move>),
    /// Credits were lost or made.
    Unbalanced(String, Vec<Move>),
    /// A side refuses what the other one was allowed to send.
    Refused(String, Vec<Move>),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stall(path) => write!(f, "stall after {path:?}"),
            Self::Endless { states } => write!(f, "{states} states go round"),
            Self::Overrun(path) => write!(f, "overrun after {path:?}"),
            Self::Unbalanced(text, path) => write!(f, "{text} after {path:?}"),
            Self::Refused(text, path) => write!(f, "{text} after {path:?}"),
        }
    }
}

/// A clean exploration.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    pub states: usize,
    pub moves: usize,
    /// Longest run from start to end.
    pub longest: usize,
    /// CRDT on the longest run, at most moves of that kind in any run.
    pub crdts: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            states,
            moves,
            longest,
            crdts,
        } = self;
        write!(
            f,
            "{states} states, {moves} moves; in a run at most {longest} moves, {crdts} CRDT or words"
        )
    }
}

#[derive(Clone)]
struct State<E> {
    ends: [E; 2],
    /// Messages that the programs have yet to hand over.
    future: [u8; 2],
    /// Messages that wait to be sent.
    waiting: [u8; 2],
    /// What this side sent and has not arrived, in order.
    wire: [VecDeque<Packet>; 2],
    /// Which slots at this side hold something unread.
    unread: [[bool; MAX_SLOTS]; 2],
    /// Counter word in this side's memory, and the credits in it not yet read.
    word: [(u32, u8); 2],
    /// With a handler: what lies in this side's slots and was not taken in.
    arrived: Option<[VecDeque<Packet>; 2]>,
}

type Key = Vec<u8>;

impl<E: End> State<E> {
    fn new(end: &E, messages: u8, handler: bool) -> Self {
        Self {
            ends: [end.clone(), end.clone()],
            future: [messages; 2],
            waiting: [0; 2],
            wire: [VecDeque::new(), VecDeque::new()],
            unread: [[false; MAX_SLOTS]; 2],
            word: [(0, 0); 2],
            arrived: handler.then(Default::default),
        }
    }

    fn key(&self) -> Key {
        let mut key = Vec::with_capacity(24);
        for side in 0..2 {
            key.extend(self.ends[side].counts());
            key.extend([self.future[side], self.waiting[side], self.word[side].1]);
            let wire = &self.wire[side];
            key.push(wire.len() as u8);
            // The kind matters to the handler alone.
            let kind = |p: &Packet| u8::from(self.arrived.is_some() && p.crdt) << 1;
            let packet = |p: &Packet| p.credits << 2 | kind(p) | u8::from(p.is_message());
            key.extend(wire.iter().map(packet));
            if let Some(arrived) = &self.arrived {
                key.push(arrived[side].len() as u8);
                key.extend(arrived[side].iter().map(packet));
            }
        }
        key
    }

    /// Where the CRDT lies that the handler may take in, among what arrived.
    fn handler_takes(&self, side: usize) -> Option<usize> {
        let arrived = &self.arrived.as_ref()?[side];
        let reach = if self.ends[side].handler_overtakes() {
            arrived.len()
        } else {
            1
        };
        arrived.iter().take(reach).position(|packet| packet.crdt)
    }

    fn has_arrived(&self, side: usize) -> bool {
        let arrived = self.arrived.as_ref();
        arrived.is_some_and(|arrived| !arrived[side].is_empty())
    }

    fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for side in 0..2 {
            let end = &self.ends[side];
            let waits = self.waiting[side] > 0;
            let candidates = [
                (self.future[side] > 0, Move::Submit(side)),
                (waits && end.ordinary_goes(), Move::Send(side)),
                (end.wants_crdt(waits), Move::Crdt(side)),
                (end.clone().write_word().is_some(), Move::Word(side)),
                (!self.wire[side].is_empty(), Move::Deliver(side)),
                (end.counts()[1] > 0, Move::Consume(side)),
                (self.word[side].1 > 0, Move::Read(side)),
                (self.has_arrived(side), Move::Take(side)),
                (self.handler_takes(side).is_some(), Move::HandlerTake(side)),
                (
                    self.arrived.is_some() && end.handler_wants_crdt(),
                    Move::HandlerCrdt(side),
                ),
            ];
            let enabled = candidates.iter().filter(|(enabled, _)| *enabled);
            moves.extend(enabled.map(|(_, step)| *step));
        }
        moves
    }

    fn apply(&mut self, step: Move) -> Result<(), Fault> {
        match step {
            Move::Submit(side) => {
                self.future[side] -= 1;
                self.waiting[side] += 1;
            }
            Move::Send(side) => {
                self.waiting[side] -= 1;
                let packet = self.ends[side].send(false);
                self.put(side, packet)?;
            }
            Move::Crdt(side) | Move::HandlerCrdt(side) => {
                let packet = self.ends[side].send(true);
                self.put(side, packet)?;
            }
            Move::Word(side) => {
                let packet = self.ends[side].write_word();
                self.wire[side].extend(packet);
            }
            Move::Deliver(side) => self.deliver(side)?,
            Move::Consume(side) => {
                let slot = usize::from(self.ends[side].consume());
                let was_full = std::mem::take(&mut self.unread[side][slot]);
                if !was_full {
                    return Err(Fault::Refused(format!("slot {slot} was empty")));
                }
            }
            Move::Read(side) => {
                let (word, credits) = self.word[side];
                let read = self.ends[side].read_word(word).map_err(Fault::Refused)?;
                if read != credits {
                    let text = format!("{read} credits read, {credits} written");
                    return Err(Fault::Unbalanced(text));
                }
                self.word[side].1 = 0;
            }
            Move::Take(side) => self.take(side, 0)?,
            Move::HandlerTake(side) => {
                let at = self.handler_takes(side).unwrap_or(0);
                self.take(side, at)?;
            }
        }
        for side in 0..2 {
            self.balanced(side).map_err(Fault::Unbalanced)?;
        }
        Ok(())
    }

    /// The staging buffer is tied to the slot: what is still on the way out of
    /// it must not be overwritten either.
    fn put(&mut self, side: usize, packet: Packet) -> Result<(), Fault> {
        let mut messages = self.wire[side].iter().filter(|p| p.is_message());
        let in_use = messages.any(|other| other.slot == packet.slot);
        if in_use || self.unread[1 - side][usize::from(packet.slot)] {
            return Err(Fault::Overrun);
        }
        self.wire[side].push_back(packet);
        Ok(())
    }

    fn deliver(&mut self, side: usize) -> Result<(), Fault> {
        let other = 1 - side;
        let Some(packet) = self.wire[side].pop_front() else {
            return Ok(());
        };
        if let Some(word) = packet.word {
            self.word[other] = (word, self.word[other].1 + packet.credits);
            return Ok(());
        }
        let place = &mut self.unread[other][usize::from(packet.slot)];
        if std::mem::replace(place, true) {
            return Err(Fault::Overrun);
        }
        match &mut self.arrived {
            Some(arrived) => {
                arrived[other].push_back(packet);
                Ok(())
            }
            None => self.receive(other, &packet),
        }
    }

    fn take(&mut self, side: usize, at: usize) -> Result<(), Fault> {
        let arrived = self.arrived.as_mut();
        match arrived.and_then(|arrived| arrived[side].remove(at)) {
            Some(packet) => self.receive(side, &packet),
            None => Ok(()),
        }
    }

    fn receive(&mut self, side: usize, packet: &Packet) -> Result<(), Fault> {
        let slot = self.ends[side].receive(packet).map_err(Fault::Refused)?;
        if slot != packet.slot {
            let text = format!("slot {slot} read, slot {} written", packet.slot);
            return Err(Fault::Refused(text));
        }
        Ok(())
    }

    /// The direction from this side to the other.
    fn balanced(&self, side: usize) -> Result<(), String> {
        let other = 1 - side;
        let arrived = self.arrived.as_ref();
        let lies = |side: usize| arrived.into_iter().flat_map(move |a| &a[side]);
        let messages = self.wire[side].iter().chain(lies(other));
        let messages = messages.filter(|p| p.is_message()).count() as u32;
        let back = self.wire[other].iter().chain(lies(side));
        let back = back.map(|p| u32::from(p.credits)).sum::<u32>();
        let back = back + u32::from(self.word[side].1);
        self.ends[side].balanced(&self.ends[other], messages, back)
    }

    fn is_done(&self) -> bool {
        self.waiting == [0; 2]
    }
}

enum Fault {
    Overrun,
    Unbalanced(String),
    Refused(String),
}

/// Walks through every state of two sides that start as `end` and get up to
/// `messages` messages each to send.
///
/// Clean means: no message overwrites an unread one; the conservation law
/// holds in each state; no run is endless, and each that can go on no further
/// without new messages from the programs has sent all that was waiting. So
/// from each state all work gets done, whatever happens in whatever order.
pub fn explore<E: End>(end: &E, messages: u8) -> Result<Report, Finding> {
    walk(State::new(end, messages, false))
}

/// As [`explore`], with a handler of interrupts on both sides, which may act at
/// any point: so messages lie in their slots until the library, or of CRDT the
/// handler, takes them in. What moves only by the handler counts as standing.
pub fn explore_with_handler<E: End>(end: &E, messages: u8) -> Result<Report, Finding> {
    walk(State::new(end, messages, true))
}

fn walk<E: End>(start: State<E>) -> Result<Report, Finding> {
    let mut known: HashMap<Key, u32> = HashMap::from([(start.key(), 0)]);
    // For each state, where it was reached from, and by which move.
    let mut came: Vec<(u32, Option<Move>)> = vec![(0, None)];
    let mut edges: Vec<(u32, u32, bool)> = Vec::new();
    let mut open = VecDeque::from([(0_u32, start)]);
    while let Some((number, state)) = open.pop_front() {
        let moves = state.moves();
        let mut moves_on = moves.iter().filter(|step| !step.is_handler());
        let stands = moves_on.all(|step| matches!(step, Move::Submit(_)));
        if stands && !state.is_done() {
            return Err(Finding::Stall(path(&came, number, None)));
        }
        for step in moves {
            let mut next = state.clone();
            if let Err(fault) = next.apply(step) {
                let path = path(&came, number, Some(step));
                return Err(match fault {
                    Fault::Overrun => Finding::Overrun(path),
                    Fault::Unbalanced(text) => Finding::Unbalanced(text, path),
                    Fault::Refused(text) => Finding::Refused(text, path),
                });
            }
            let fresh = came.len() as u32;
            let reached = *known.entry(next.key()).or_insert(fresh);
            if reached == fresh {
                came.push((number, Some(step)));
                open.push_back((fresh, next));
            }
            edges.push((number, reached, step.gives_credits_back()));
        }
    }
    order(came.len(), &edges)
}

/// Takes away, again and again, states that nothing leads to: what is left
/// goes round.
fn order(states: usize, edges: &[(u32, u32, bool)]) -> Result<Report, Finding> {
    let mut entries = vec![0_u32; states];
    let mut first = vec![0_usize; states + 1];
    for &(from, to, _) in edges {
        entries[to as usize] += 1;
        first[from as usize + 1] += 1;
    }
    for i in 0..states {
        first[i + 1] += first[i];
    }
    // Edges were found state by state, in the order of their numbers.
    let mut longest = vec![(0_usize, 0_usize); states];
    let mut ready: Vec<usize> = vec![0];
    let mut done = 0;
    let mut report = Report {
        states,
        moves: edges.len(),
        longest: 0,
        crdts: 0,
    };
    while let Some(state) = ready.pop() {
        done += 1;
        let (length, crdts) = longest[state];
        report.longest = report.longest.max(length);
        report.crdts = report.crdts.max(crdts);
        for &(_, to, crdt) in &edges[first[state]..first[state + 1]] {
            let to = to as usize;
            let there = &mut longest[to];
            there.0 = there.0.max(length + 1);
            there.1 = there.1.max(crdts + usize::from(crdt));
            entries[to] -= 1;
            if entries[to] == 0 {
                ready.push(to);
            }
        }
    }
    if done == states {
        Ok(report)
    } else {
        let states = states - done;
        Err(Finding::Endless { states })
    }
}

fn path(came: &[(u32, Option<Move>)], mut number: u32, last: Option<Move>) -> Vec<Move> {
    let mut moves: Vec<Move> = last.into_iter().collect();
    while let (from, Some(step)) = came[number as usize] {
        moves.push(step);
        number = from;
    }
    moves.reverse();
    moves
}

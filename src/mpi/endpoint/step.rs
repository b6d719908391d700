//! The sequential processor: which step is next, and what it costs.

use core::mem;

use heapless::Vec;
use managed::ManagedSlice;

use super::Endpoint;
use super::context::Context;
use super::request::{Mode, Op, Receiving, Request, Sending};
use super::storage::{SCRATCH_BYTES, Unmatched};
use crate::mpi::config::Policy;
use crate::mpi::credit::Turn;
use crate::mpi::port::Port;
use crate::mpi::trace::{Cause, Trace};
use crate::mpi::wire::{Entry, HEADER_LEN, Header, Kind, MAX_PAYLOAD, Req, Rsp, wire_len};
use crate::remote::Progress;
use crate::time::{Duration, Instant};

/// What an endpoint is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Activity {
    /// A step is under way: come back at that time, when it takes effect.
    Busy {
        /// When the step ends.
        until: Instant,
    },
    /// There is nothing to do until the port has news, or the user calls.
    Idle,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) enum Work {
    /// The software of a call of the user.
    Call(Request),
    /// Telling of the end of a send.
    Finish(Request),
    /// An interrupt: notifications are taken over.
    Interrupt,
    /// A control message.
    Message { peer: u32, slot: u16 },
    /// The end of a data message.
    Landed { peer: u32, index: u16 },
    /// Handing over what the transport had no room for.
    Retry(u32),
    /// A CRDT.
    Credit(u32),
    /// Telling a peer that the link is closed.
    Farewell(u32),
    /// Writing a counter of consumed slots.
    Counter(u32),
    /// An RSP.
    Answer(u32),
    /// A landing offer.
    Offer(u32),
    /// A SHORT or a REQ.
    Envelope(u32),
    /// A descriptor of a data message.
    Piece(u32),
}

/// Bytes of a control message with `payload` bytes.
pub(super) const fn message(payload: u64) -> u64 {
    wire_len(payload as usize) as u64
}

/// What a step costs, part after part.
pub(super) type Costs = Vec<(Cause, Duration), 6>;

pub(super) fn charge(costs: &mut Costs, cause: Cause, time: Duration) {
    if time > Duration::ZERO {
        // No step has more parts.
        let _ = costs.push((cause, time));
    }
}

impl<T: Copy> Endpoint<'_, T> {
    /// Does what can be done at `now`, which must not go back: ends the step
    /// that is over by then, and starts others until one takes time or none is
    /// left.
    ///
    /// While the endpoint is busy, calls before the end of the step do nothing.
    pub fn progress<P: Port<Token = T>>(
        &mut self,
        port: &mut P,
        now: Instant,
        trace: &mut dyn Trace,
    ) -> Activity {
        self.run(port, now, trace, Self::choose)
    }

    pub(super) fn run<P: Port<Token = T>>(
        &mut self,
        port: &mut P,
        now: Instant,
        trace: &mut dyn Trace,
        choose: impl Fn(&mut Self, &mut Context<'_, P>) -> Option<(Work, Costs)>,
    ) -> Activity {
        if now < self.until {
            return Activity::Busy { until: self.until };
        }
        if port.poll().is_err() {
            self.stats.port_errors += 1;
        }
        // Lent to the steps; nobody else looks at it.
        let nothing = ManagedSlice::Borrowed(&mut []);
        let mut scratch = mem::replace(&mut self.scratch, nothing);
        let half = scratch.len().min(SCRATCH_BYTES) / 2;
        let (rx, tx) = scratch.split_at_mut(half);
        let mut context = Context {
            port,
            rx,
            tx,
            trace,
            now,
        };
        self.full = false;
        let mut changed = self.reap(&mut context);
        let mut activity = Activity::Busy { until: now };
        for _ in 0..self.config.budget {
            if let Some(work) = self.work.take() {
                self.act(&mut context, work);
                changed = true;
            }
            let Some((work, costs)) = choose(self, &mut context) else {
                activity = Activity::Idle;
                break;
            };
            let mut at = now;
            for (cause, time) in costs {
                context.trace.span(cause, at, at + time);
                at = at + time;
            }
            self.work = Some(work);
            self.until = at;
            if at > now {
                activity = Activity::Busy { until: at };
                break;
            }
        }
        self.scratch = scratch;
        if cfg!(debug_assertions) && changed && self.broken.is_none() {
            self.broken = self.check_invariants().err();
        }
        activity
    }

    fn act<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>, work: Work) {
        match work {
            Work::Call(request) => self.end_call(context, request),
            Work::Finish(request) => self.end_send(request),
            Work::Interrupt => self.take_over(context.port),
            Work::Message { peer, slot } => self.receive(context, peer, slot),
            Work::Landed { peer, index } => self.landed(context, peer, index),
            Work::Retry(peer) => self.retry(context, peer),
            Work::Credit(peer) => self.send_credit(context, peer),
            Work::Farewell(peer) => self.send_farewell(context, peer),
            Work::Counter(peer) => self.write_counter(context, peer),
            Work::Answer(peer) => self.answer(context, peer),
            Work::Offer(peer) => self.send_offer(context, peer),
            Work::Envelope(peer) => self.send_envelope(context, peer),
            Work::Piece(peer) => self.send_piece(context, peer),
        }
    }

    /// Transfers that have left, or are lost; whether there was one.
    fn reap<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>) -> bool {
        let mut any = false;
        for index in 0..self.flights.len() {
            let Some(flight) = self.flights.get(index).copied().flatten() else {
                continue;
            };
            let over = match context.port.progress(&flight.token) {
                Ok(Progress::Pending) => continue,
                Ok(Progress::Sent) => Ok(()),
                Err(_) => Err(()),
            };
            any = true;
            if let Some(place) = self.flights.get_mut(index) {
                *place = None;
            }
            if let Some(request) = flight.request {
                self.departed(request);
            }
            if over.is_err() {
                self.close(flight.peer, super::CloseReason::Transfer);
            }
        }
        any
    }

    /// The order of spec: calls first, whose processor this is, then news,
    /// then what can be sent.
    fn choose<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
    ) -> Option<(Work, Costs)> {
        if let Some(request) = self.requests.pop(&mut self.finished) {
            let mut costs = Costs::new();
            charge(&mut costs, Cause::Interrupt, self.config.cost.interrupt);
            return Some((Work::Finish(self.requests.name(request)), costs));
        }
        if let Some(request) = self.calls.front()
            && let Some(costs) = self.call_costs(request)
        {
            self.requests.pop(&mut self.calls);
            return Some((Work::Call(self.requests.name(request)), costs));
        }
        if let Some(chosen) = self.choose_arrival(context) {
            return Some(chosen);
        }
        for _ in 0..self.busy.len {
            let peer = self.next_busy()?;
            let entry = self.peers.get(peer as usize)?;
            if !entry.has_work() {
                continue;
            }
            self.wake(peer);
            if let Some(chosen) = self.choose_for(context, peer) {
                return Some(chosen);
            }
        }
        None
    }

    pub(super) fn interrupts(&self) -> bool {
        self.config.policy == Policy::Interrupt
    }

    /// What a call costs; none when it must not begin yet.
    fn call_costs(&self, request: u16) -> Option<Costs> {
        let cost = &self.config.cost;
        let mut costs = Costs::new();
        match self.requests.op(request) {
            Op::Send(op) => {
                let length = op.send.buffer.len;
                charge(&mut costs, Cause::SendSoftware, cost.send);
                if op.send.dst == self.place.rank {
                    charge(&mut costs, Cause::Copy, cost.copy(length));
                } else if self.interrupts() && self.is_long(op.send.mode, length) {
                    // Pages are pinned while nothing of this process is under
                    // way: that is what costs the record its bandwidth.
                    if self.data_flights > 0 || self.chunks > 0 {
                        return None;
                    }
                    charge(&mut costs, Cause::Pin, cost.pin(length));
                }
            }
            Op::Recv(op) => {
                let length = op.recv.buffer.len;
                charge(&mut costs, Cause::ReceiveSoftware, cost.post);
                if self.interrupts() && length > u64::from(self.config.eager_max) {
                    charge(&mut costs, Cause::Pin, cost.pin(length));
                }
                if let (Receiving::Called, Some((_, message))) =
                    (op.state, self.matcher.probe(&op.recv.pattern))
                {
                    let bytes = match message.0 {
                        Unmatched::Short { length, .. } => u64::from(length),
                        Unmatched::Own { request } => match self.requests.op(request) {
                            Op::Send(op) => op.send.buffer.len,
                            _ => 0,
                        },
                        Unmatched::Long { .. } => 0,
                    };
                    charge(&mut costs, Cause::Copy, cost.copy(bytes.min(length)));
                }
            }
            Op::Free | Op::Done(_) => {}
        }
        Some(costs)
    }

    pub(super) fn is_long(&self, mode: Mode, length: u64) -> bool {
        length > u64::from(self.config.eager_max) || mode == Mode::Synchronous
    }

    fn choose_arrival<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
    ) -> Option<(Work, Costs)> {
        for _ in 0..self.config.budget {
            while let Some(peer) = self.next_ready() {
                let slot = self.peers.get(peer as usize)?.next_arrived();
                if let Some(slot) = slot {
                    let costs = self.message_costs(context, peer, slot);
                    return Some((Work::Message { peer, slot }, costs));
                }
            }
            let tag = match self.inbox.pop_front() {
                Some(tag) => tag,
                None if self.interrupts() => match self.choose_interrupt(context) {
                    Some(chosen) => return Some(chosen),
                    None => break,
                },
                None => match context.port.arrival() {
                    Some(arrival) => arrival.tag,
                    None => break,
                },
            };
            if let Some((peer, index)) = self.notice(tag) {
                let mut costs = self.look_costs();
                let cost = self.config.cost.control_receive;
                charge(&mut costs, Cause::Control, cost);
                return Some((Work::Landed { peer, index }, costs));
            }
        }
        let peer = self.look_into_slots(context)?;
        let slot = self.peers.get(peer as usize)?.next_arrived()?;
        let costs = self.message_costs(context, peer, slot);
        Some((Work::Message { peer, slot }, costs))
    }

    /// Finding a notification, and getting it into the process.
    fn look_costs(&self) -> Costs {
        let cost = &self.config.cost;
        let mut costs = Costs::new();
        if self.interrupts() {
            // One to fetch the event, one to return from the receive.
            charge(&mut costs, Cause::SystemCall, cost.system_calls(2));
        } else {
            charge(&mut costs, Cause::PollDetect, cost.poll_detect);
        }
        costs
    }

    pub(super) fn message_costs<P: Port>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
        slot: u16,
    ) -> Costs {
        let cost = self.config.cost;
        let mut bytes = [0; HEADER_LEN];
        let addr = self.layout.slot(peer, slot);
        let header = match context.port.load(addr, &mut bytes) {
            Ok(()) => Header::parse(&bytes).ok(),
            Err(_) => None,
        };
        let mut costs = self.look_costs();
        match header.map(|header| (header.kind, header.length)) {
            Some((Kind::Short, length)) => {
                charge(&mut costs, Cause::ReceiveSoftware, cost.receive);
                let length = length.min(MAX_PAYLOAD as u32);
                charge(&mut costs, Cause::Copy, cost.copy(length.into()));
            }
            Some((Kind::Req, _)) => charge(&mut costs, Cause::ReceiveSoftware, cost.receive),
            Some((Kind::Rsp, _)) => charge(&mut costs, Cause::Control, cost.control_receive),
            Some((Kind::Crdt, _)) | None => {
                // Credits are counted where they are found.
                costs.clear();
                charge(&mut costs, Cause::Control, cost.credit);
            }
        }
        costs
    }

    /// Whether another transfer can be kept track of.
    pub(super) fn has_room(&self) -> bool {
        !self.full && self.flights.iter().any(Option::is_none)
    }

    /// Whether a peer lives on this node: what goes to it is copied.
    pub(super) fn is_neighbour(&self, peer: u32) -> bool {
        let entry = self.peers.get(peer as usize);
        entry.is_some_and(|peer| peer.entry.node == self.place.node)
    }

    /// Handing `bytes` to the transport for `peer`.
    pub(super) fn put_cost(&self, costs: &mut Costs, peer: u32, bytes: u64, first: bool) {
        let cost = &self.config.cost;
        if self.is_neighbour(peer) {
            charge(costs, Cause::Copy, cost.copy(bytes));
        } else if first {
            charge(costs, Cause::Put, cost.put);
        } else {
            charge(costs, Cause::Put, cost.posting_period);
        }
    }

    fn choose_for<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) -> Option<(Work, Costs)> {
        let room = self.has_room();
        if !room {
            return None;
        }
        self.read_counter(context, peer);
        let cost = self.config.cost;
        let entry = self.peers.get(peer as usize)?;
        let credit = entry.credit?;
        if entry.unsent.is_some() {
            return Some((Work::Retry(peer), Costs::new()));
        }
        if entry.farewell {
            let mut costs = Costs::new();
            self.put_cost(&mut costs, peer, message(0), true);
            return Some((Work::Farewell(peer), costs));
        }
        let answer = self.answer_waits(peer);
        let entry = self.peers.get(peer as usize)?;
        let offer = !answer && self.offer_waits(entry);
        let turn = credit.turn(answer || offer, !entry.waiting.is_empty());
        let mut costs = Costs::new();
        let kernel = |costs: &mut Costs| {
            if self.interrupts() {
                charge(costs, Cause::SystemCall, cost.system_call);
            }
        };
        match turn {
            Some(Turn::Crdt) => {
                charge(&mut costs, Cause::Control, cost.credit);
                self.put_cost(&mut costs, peer, message(0), true);
                return Some((Work::Credit(peer), costs));
            }
            Some(Turn::Rsp) => {
                charge(&mut costs, Cause::Control, cost.control_send);
                kernel(&mut costs);
                if offer {
                    let payload = (Rsp::HEAD_LEN + Entry::WIRE_LEN) as u64;
                    self.put_cost(&mut costs, peer, message(payload), true);
                    return Some((Work::Offer(peer), costs));
                }
                let payload = self.answer_length(context.port, peer);
                self.put_cost(&mut costs, peer, message(payload), true);
                return Some((Work::Answer(peer), costs));
            }
            Some(Turn::Envelope) | None => {}
        }
        if credit.counter_to_write().is_some() {
            charge(&mut costs, Cause::Control, cost.credit);
            self.put_cost(&mut costs, peer, 4, true);
            return Some((Work::Counter(peer), costs));
        }
        if self.data_flights < self.config.data_in_flight
            && let Some(piece) = self.next_piece(context.port, peer)
        {
            if piece.starts && !piece.paid {
                kernel(&mut costs);
            }
            if !piece.paid {
                self.put_cost(&mut costs, peer, piece.length, piece.starts);
            }
            return Some((Work::Piece(peer), costs));
        }
        if turn == Some(Turn::Envelope) {
            let request = self.peers.get(peer as usize)?.waiting.front()?;
            let bytes = self.short_length(peer, request);
            charge(&mut costs, Cause::Copy, cost.copy(bytes.unwrap_or(0)));
            kernel(&mut costs);
            // A REQ has a payload of its own.
            let payload = bytes.unwrap_or(Req::WIRE_LEN as u64);
            self.put_cost(&mut costs, peer, message(payload), true);
            return Some((Work::Envelope(peer), costs));
        }
        None
    }

    /// The end of the software of a call: the request goes where it belongs.
    fn end_call<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>, request: Request) {
        // It may have been cancelled meanwhile.
        let Some(request) = self.requests.find(request) else {
            return;
        };
        match self.requests.op(request) {
            Op::Send(op) if op.state == Sending::Called => {
                let peer = op.send.dst;
                if let Err(error) = self.check_peer(peer) {
                    self.complete(request, Err(error));
                } else if peer == self.place.rank {
                    self.send_to_self(context, request);
                } else {
                    self.queue(request);
                }
            }
            Op::Recv(op) if op.state == Receiving::Called => self.post(context, request),
            _ => {}
        }
    }
}

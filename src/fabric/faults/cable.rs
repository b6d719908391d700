//! One direction of a cable: what arrives instead of what was driven.

use managed::ManagedSlice;

use super::event::{CableFault, FaultEvent, Kind, Place};
use super::random::{CableRates, Dice, RandomFaults, RateError};
use super::record::{Effect, FaultRecord};
use crate::fabric::End;
use crate::hsl::{Line, Symbol};

/// Streams that an event can wait for: cycles, and each kind of character.
const STREAMS: usize = Kind::COUNT + 1;

/// The next event of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cursor {
    at: usize,
    number: u64,
}

impl Cursor {
    pub(super) const NONE: Self = Self {
        at: 0,
        number: u64::MAX,
    };

    /// The first event of stream `stream` in `events[first..end]`.
    pub(super) fn find(events: &[FaultEvent], first: usize, end: usize, stream: u8) -> Self {
        let at = (first..end).find(|&at| events.get(at).is_some_and(|e| e.key().0 == stream));
        at.map_or(Self::NONE, |at| Self::new(events, at, end, stream))
    }

    fn new(events: &[FaultEvent], at: usize, end: usize, stream: u8) -> Self {
        let number = events
            .get(at)
            .filter(|event| at < end && event.key().0 == stream)
            .map_or(u64::MAX, |event| event.key().1);
        Self { at, number }
    }

    /// The number of the next event.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The next event, when its number has been reached.
    pub(super) fn take(
        &mut self,
        events: &[FaultEvent],
        end: usize,
        stream: u8,
        reached: u64,
    ) -> Option<FaultEvent> {
        if self.number > reached || self.number == u64::MAX {
            return None;
        }
        let event = events.get(self.at).copied();
        *self = Self::new(events, self.at + 1, end, stream);
        event
    }
}

/// The state of the faults on one direction of a cable.
#[derive(Clone, Debug, PartialEq)]
pub struct CableSlot {
    pub(super) wire: u16,
    pub(super) from: End,
    end: usize,
    cursors: [Cursor; STREAMS],
    counts: [u64; Kind::COUNT],
    rates: CableRates,
    dice: Option<Dice>,
    insert: Option<Symbol>,
    /// No signal before this cycle.
    cut_until: u64,
    cut: bool,
    /// What the far end would see but for a cut, and what it sees.
    judged: Line,
    pub(super) sent: Line,
}

#[cfg(feature = "defmt")]
impl defmt::Format for CableSlot {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "CableSlot {{ from: {}, counts: {} }}",
            self.from,
            self.counts
        );
    }
}

impl CableSlot {
    /// Unused: for the storage of [`Faults::new`](super::Faults::new).
    pub const FREE: Self = Self {
        wire: u16::MAX,
        from: End::Node(0),
        end: 0,
        cursors: [Cursor::NONE; STREAMS],
        counts: [0; Kind::COUNT],
        rates: RandomFaults::new(0).cable,
        dice: None,
        insert: None,
        cut_until: 0,
        cut: false,
        judged: Line::DEAD,
        sent: Line::DEAD,
    };

    /// A fresh one for the events `first..end`, on a line that carries `line`.
    pub(super) fn new(
        (wire, from): (u16, End),
        events: &[FaultEvent],
        (first, end): (usize, usize),
        random: Option<&RandomFaults>,
        line: Line,
    ) -> Self {
        let mut slot = Self::FREE;
        (slot.wire, slot.from, slot.end) = (wire, from, end);
        (slot.judged, slot.sent) = (line, line);
        for (stream, cursor) in (0..).zip(&mut slot.cursors) {
            *cursor = Cursor::find(events, first, end, stream);
        }
        if let Some(random) = random {
            slot.rates = random.cable;
            slot.dice = Some(Dice::new(random.seed, wire.into()));
        }
        slot
    }

    /// Characters of a kind so far.
    pub const fn count(&self, of: Kind) -> u64 {
        self.counts[of as usize]
    }

    fn record(&self, cycle: u64, effect: Effect) -> FaultRecord {
        FaultRecord {
            cycle,
            place: Place::Cable(self.from),
            effect,
        }
    }

    /// Decides on what was driven after edge `cycle`. Returns for how long the
    /// other direction is cut as well.
    pub(super) fn judge(
        &mut self,
        cycle: u64,
        driven: Line,
        events: &[FaultEvent],
        log: &mut impl FnMut(FaultRecord),
    ) -> Option<u64> {
        let mut other = None;
        let mut line = driven;
        while let Some(event) = self.cursors[0].take(events, self.end, 0, cycle) {
            self.apply(event, None, &mut line, cycle, &mut other, log);
        }
        if !driven.is_quiet() {
            let mut stream = 0;
            for of in Kind::ALL {
                stream += 1;
                if !of.holds(driven) {
                    continue;
                }
                let Some(count) = self.counts.get_mut(of as usize) else {
                    continue;
                };
                *count += 1;
                let count = *count;
                while let Some(event) = self
                    .cursors
                    .get_mut(usize::from(stream))
                    .and_then(|cursor| cursor.take(events, self.end, stream, count))
                {
                    self.apply(event, Some(of), &mut line, cycle, &mut other, log);
                }
            }
            if let Some(fault) = self.dice.as_mut().and_then(|d| d.character(&self.rates)) {
                let of = if Kind::Packet.holds(driven) {
                    Kind::Packet
                } else {
                    Kind::Grant
                };
                self.disturb(fault, Some(of), &mut line, cycle, &mut other, log);
            }
        }
        if self.insert.is_some() && line.has_signal() && line.symbol() == Symbol::IDLE {
            let symbol = self.insert.take().unwrap_or(Symbol::IDLE);
            line = with_symbol(line, symbol);
        }
        if line != driven {
            let effect = Effect::Changed {
                before: driven,
                after: line,
                character: self.counts[Kind::Character as usize],
            };
            log(self.record(cycle, effect));
        }
        self.judged = line;
        other
    }

    fn apply(
        &mut self,
        event: FaultEvent,
        of: Option<Kind>,
        line: &mut Line,
        cycle: u64,
        other: &mut Option<u64>,
        log: &mut impl FnMut(FaultRecord),
    ) {
        if let FaultEvent::Cable { fault, .. } = event {
            self.disturb(fault, of, line, cycle, other, log);
        }
    }

    fn disturb(
        &mut self,
        fault: CableFault,
        of: Option<Kind>,
        line: &mut Line,
        cycle: u64,
        other: &mut Option<u64>,
        log: &mut impl FnMut(FaultRecord),
    ) {
        match fault {
            CableFault::Corrupt(mask) if line.has_signal() => {
                *line = with_symbol(*line, Symbol::from_bits(line.symbol().bits() ^ mask));
            }
            CableFault::Drop if line.has_signal() => {
                *line = match of {
                    Some(Kind::Grant) if line.fcc_pulse() => Line::symbol_of(line.symbol()),
                    Some(_) => with_symbol(*line, Symbol::IDLE),
                    None => Line::IDLE,
                };
            }
            // There is nothing on a line without signal.
            CableFault::Corrupt(_) | CableFault::Drop => {}
            CableFault::Insert(symbol) => self.insert = Some(symbol),
            CableFault::Cut { cycles, both } => {
                self.cut_for(cycle, cycles, log);
                if both {
                    *other = Some(other.unwrap_or(0).max(cycles.max(1)));
                }
            }
        }
    }

    /// No signal for `cycles` cycles from `cycle` on.
    pub(super) fn cut_for(&mut self, cycle: u64, cycles: u64, log: &mut impl FnMut(FaultRecord)) {
        let until = cycle.saturating_add(cycles.max(1));
        if until > self.cut_until {
            self.cut_until = until;
            log(self.record(cycle, Effect::Cut { cycles }));
        }
    }

    /// What the far end will see of edge `cycle`, after all were judged.
    pub(super) fn settle(&mut self, cycle: u64, log: &mut impl FnMut(FaultRecord)) -> Line {
        let cut = cycle < self.cut_until;
        if self.cut && !cut {
            log(self.record(cycle, Effect::Restored));
        }
        self.cut = cut;
        self.sent = if cut { Line::DEAD } else { self.judged };
        self.sent
    }

    /// The next cycle after `cycle` at which it matters that the line is looked
    /// at, when `driven` goes on.
    pub(super) fn due(&self, cycle: u64, driven: Line) -> u64 {
        if self.insert.is_some() || (!self.cut && self.sent != driven) {
            return cycle + 1;
        }
        let back = if self.cut { self.cut_until } else { u64::MAX };
        back.min(self.cursors[0].number())
    }
}

const fn with_symbol(line: Line, symbol: Symbol) -> Line {
    let new = Line::symbol_of(symbol);
    if line.fcc_pulse() {
        new.with_fcc_pulse()
    } else {
        new
    }
}

/// One direction of a cable with faults, without a machine: to put between two
/// ports in a test of one's own.
///
/// ```
/// use multipc::fabric::End;
/// use multipc::fabric::faults::{CableFault, FaultEvent, Kind, LossyCable};
/// use multipc::hsl::{Line, Symbol};
///
/// let any = End::Node(0); // a cable of its own has no other ends
/// let mut events = [FaultEvent::cable(any, Kind::Data, 2, CableFault::Corrupt(0x01))];
/// let mut cable = LossyCable::new(&mut events[..]);
/// let arrived = [0x10, 0x20, 0x30].map(|c| cable.pass(Line::symbol_of(Symbol::data(c))));
/// assert_eq!(arrived[0], Line::symbol_of(Symbol::data(0x10)));
/// assert_eq!(arrived[1], Line::symbol_of(Symbol::data(0x21)));
/// assert_eq!(cable.faults(), 1);
/// ```
#[derive(Debug)]
pub struct LossyCable<'a> {
    events: ManagedSlice<'a, FaultEvent>,
    slot: CableSlot,
    cycle: u64,
    faults: u64,
}

impl<'a> LossyCable<'a> {
    /// A cable with the events of a script, at cycle 0. Their ends are not
    /// looked at; events on buses are left out.
    pub fn new(events: impl Into<ManagedSlice<'a, FaultEvent>>) -> Self {
        let mut events = events.into();
        // Buses last.
        let is_bus = |event: &FaultEvent| matches!(event, FaultEvent::Bus { .. });
        events.sort_unstable_by_key(|event| (is_bus(event), event.key()));
        let end = events.iter().take_while(|event| !is_bus(event)).count();
        let place = (0, End::Node(0));
        let slot = CableSlot::new(place, &events, (0, end), None, Line::DEAD);
        Self {
            events,
            slot,
            cycle: 0,
            faults: 0,
        }
    }

    /// The same with faults at random besides.
    ///
    /// # Errors
    /// [`RateError`].
    pub fn with_random(mut self, random: &RandomFaults) -> Result<Self, RateError> {
        random.check()?;
        self.slot.rates = random.cable;
        self.slot.dice = Some(Dice::new(random.seed, 0));
        Ok(self)
    }

    /// The next cycle (the first is 1): what arrives when this is driven.
    pub fn pass(&mut self, driven: Line) -> Line {
        self.cycle += 1;
        let mut faults = 0;
        let mut count = |_: FaultRecord| faults += 1;
        self.slot
            .judge(self.cycle, driven, &self.events, &mut count);
        let line = self.slot.settle(self.cycle, &mut |_| {});
        self.faults += faults;
        line
    }

    /// Faults so far.
    pub const fn faults(&self) -> u64 {
        self.faults
    }

    /// Characters of a kind driven so far.
    pub const fn count(&self, of: Kind) -> u64 {
        self.slot.count(of)
    }
}

//! The PCI bus of one node: how the memory answers, and who gets the grant.

use super::cable::Cursor;
use super::event::{BusFault, FaultEvent, Place, Transfers};
use super::random::{BusRates, Dice, Drawn, RandomFaults};
use super::record::{Effect, FaultRecord};
use crate::fabric::node::Node;
use crate::pci::{TargetResponse, resolve};

/// Streams that an event can wait for: cycles, and each kind of transaction.
const STREAMS: usize = Transfers::COUNT + 1;

/// The state of the faults on one bus.
#[derive(Clone, Debug, PartialEq)]
pub struct BusSlot {
    pub(super) node: u16,
    end: usize,
    cursors: [Cursor; STREAMS],
    counts: [u64; Transfers::COUNT],
    rates: BusRates,
    dice: Option<Dice>,
    /// The answer to the next transactions, and how many.
    answer: TargetResponse,
    answers: u32,
    slow_until: u64,
    slow_by: u32,
    hold_until: u64,
    holds: bool,
}

#[cfg(feature = "defmt")]
impl defmt::Format for BusSlot {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "BusSlot {{ node: {}, counts: {} }}",
            self.node,
            self.counts
        );
    }
}

impl BusSlot {
    /// Unused: for the storage of [`Faults::new`](super::Faults::new).
    pub const FREE: Self = Self {
        node: u16::MAX,
        end: 0,
        cursors: [Cursor::NONE; STREAMS],
        counts: [0; Transfers::COUNT],
        rates: RandomFaults::new(0).bus,
        dice: None,
        answer: TargetResponse::Normal,
        answers: 0,
        slow_until: 0,
        slow_by: 0,
        hold_until: 0,
        holds: false,
    };

    pub(super) fn new(
        node: u16,
        events: &[FaultEvent],
        (first, end): (usize, usize),
        random: Option<&RandomFaults>,
    ) -> Self {
        let mut slot = Self::FREE;
        (slot.node, slot.end) = (node, end);
        for (stream, cursor) in (0..).zip(&mut slot.cursors) {
            *cursor = Cursor::find(events, first, end, stream);
        }
        if let Some(random) = random {
            slot.rates = random.bus;
            // Cables have the places below 2^16.
            slot.dice = Some(Dice::new(random.seed, 1 << 16 | u64::from(node)));
        }
        slot
    }

    /// Transactions so far.
    pub const fn count(&self, of: Transfers) -> u64 {
        self.counts[of as usize]
    }

    fn record(&self, cycle: u64, effect: Effect) -> FaultRecord {
        FaultRecord {
            cycle,
            place: Place::Bus(self.node),
            effect,
        }
    }

    /// Before the board steps at PCI edge `cycle`.
    pub(super) fn before_edge(
        &mut self,
        node: &mut Node<'_>,
        cycle: u64,
        events: &[FaultEvent],
        log: &mut impl FnMut(FaultRecord),
    ) {
        while let Some(event) = self.cursors[0].take(events, self.end, 0, cycle) {
            self.apply(event, node, cycle, log);
        }
        let bus = resolve(&[node.bridge.drive(), node.pci_outputs().drive]);
        if let Some(write) = node.bridge.is_addressed(&bus, &node.memory) {
            self.transaction(node, write, bus.ad, cycle, events, log);
        }
        if self.holds && cycle >= self.hold_until {
            self.holds = false;
            node.bridge.hold_grant(false);
            log(self.record(cycle, Effect::GrantBack));
        }
        let back = if self.holds {
            self.hold_until
        } else {
            u64::MAX
        };
        node.fault_due = back.min(self.cursors[0].number());
    }

    fn transaction(
        &mut self,
        node: &mut Node<'_>,
        write: bool,
        address: u32,
        cycle: u64,
        events: &[FaultEvent],
        log: &mut impl FnMut(FaultRecord),
    ) {
        let mut stream = 0;
        for of in Transfers::EACH {
            stream += 1;
            if !of.holds(write) {
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
                self.apply(event, node, cycle, log);
            }
        }
        let drawn = self.dice.as_mut().and_then(|d| d.transaction(&self.rates));
        if let Some(Drawn::HoldGrant(cycles)) = drawn {
            self.hold(node, cycle, cycles, log);
        }
        let response = if self.answers > 0 {
            self.answers -= 1;
            self.answer
        } else if let Some(Drawn::Respond(response)) = drawn {
            response
        } else if !write && cycle < self.slow_until {
            TargetResponse::ExtraLatency(self.slow_by)
        } else {
            return;
        };
        if node.bridge.respond_next(response).is_ok() {
            let effect = Effect::Responded {
                transaction: self.count(Transfers::All),
                write,
                address,
                response,
            };
            log(self.record(cycle, effect));
        }
    }

    fn apply(
        &mut self,
        event: FaultEvent,
        node: &mut Node<'_>,
        cycle: u64,
        log: &mut impl FnMut(FaultRecord),
    ) {
        let FaultEvent::Bus { fault, .. } = event else {
            return;
        };
        match fault {
            BusFault::Respond { response, times } => {
                (self.answer, self.answers) = (response, times.max(1));
            }
            BusFault::SlowReads { extra, cycles } => {
                self.slow_until = cycle.saturating_add(cycles);
                self.slow_by = extra;
                log(self.record(cycle, Effect::ReadsSlow { extra, cycles }));
            }
            BusFault::HoldGrant { cycles } => self.hold(node, cycle, cycles, log),
        }
    }

    fn hold(
        &mut self,
        node: &mut Node<'_>,
        cycle: u64,
        cycles: u64,
        log: &mut impl FnMut(FaultRecord),
    ) {
        self.hold_until = self.hold_until.max(cycle.saturating_add(cycles));
        self.holds = true;
        node.bridge.hold_grant(true);
        log(self.record(cycle, Effect::GrantHeld { cycles }));
    }

    /// Ends what lasts.
    pub(super) fn release(&self, node: &mut Node<'_>) {
        if self.holds {
            node.bridge.hold_grant(false);
        }
        node.fault_due = u64::MAX;
    }
}

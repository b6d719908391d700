//! Statistics: in each cycle each input and each output does one thing.
//!
//! So for each port `busy + idle + stalled by cause == cycles`. Counted are
//! cycles out of reset. The counters belong to the observer: a reset of the
//! chip does not clear them, [`Rcube::clear_stats`](super::Rcube::clear_stats)
//! does.

use super::PORTS;
use crate::hsl::word::{Set, ones};

/// What an input did in each cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct InputStats {
    /// A symbol left the input FIFO (or the closing EEP went to the output).
    pub busy: u64,
    /// Nothing in the input FIFO.
    pub idle: u64,
    /// A header is incomplete, being compared, or being granted its output.
    pub header: u64,
    /// All eligible outputs belong to other packets.
    pub output_taken: u64,
    /// No eligible output has a usable link.
    pub output_down: u64,
    /// The output FIFO of the circuit is full.
    pub output_full: u64,
    /// The link of this input is not usable.
    pub link_down: u64,
}

impl InputStats {
    /// Sum of all: the cycles.
    pub const fn cycles(&self) -> u64 {
        self.busy
            + self.idle
            + self.header
            + self.output_taken
            + self.output_down
            + self.output_full
            + self.link_down
    }
}

/// What an output did in each cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct OutputStats {
    /// A symbol of a packet was sent.
    pub busy: u64,
    /// An FCC character was sent (serial ports only).
    pub fcc: u64,
    /// No packet has this output.
    pub idle: u64,
    /// A packet has this output, but none of its symbols is here.
    pub starved: u64,
    /// A symbol waits for credit.
    pub no_credit: u64,
    /// The link of this output is not usable.
    pub link_down: u64,
}

impl OutputStats {
    /// Sum of all: the cycles.
    pub const fn cycles(&self) -> u64 {
        self.busy + self.fcc + self.idle + self.starved + self.no_credit + self.link_down
    }
}

/// What happened at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct PortEvents {
    /// Packets from this input that went through the crossbar whole (an EEP
    /// that arrived ends a packet, too).
    pub packets_in: u64,
    /// Packets to this output that went through the crossbar whole.
    pub packets_out: u64,
    /// Packets of this input dropped: selection mask 0.
    pub no_route: u64,
    /// Packets of this input dropped: shorter than their header.
    pub short: u64,
    /// Symbols of this input dropped: the other end sent without credit.
    pub overflow: u64,
    /// Packets of this input closed by EEP: its link went down.
    pub closed: u64,
    /// Packets to this output dropped: its link went down.
    pub drained: u64,
    /// Times this link went down.
    pub link_losses: u64,
    /// Of these, because of too much credit.
    pub credit_errors: u64,
}

/// All of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct PortStats {
    /// Its input side.
    pub input: InputStats,
    /// Its output side.
    pub output: OutputStats,
    /// Events.
    pub events: PortEvents,
}

/// All of a router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RcubeStats {
    /// Link cycles out of reset.
    pub cycles: u64,
    /// By port.
    pub ports: [PortStats; PORTS],
}

/// Sets of ports by what they do in a cycle, in the order of the fields above:
/// seven of inputs, six of outputs.
pub(super) type Doing = [u8; KINDS];
pub(super) const KINDS: usize = 13;

/// Cycles counted in bytes before they go to the totals: a power of two below
/// 256.
const BATCH: u64 = 128;

/// The counters. A cycle costs one addition for each kind that occurs: eight
/// counters of a byte share a word, which is emptied into the totals every 128
/// cycles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Counters {
    pub(super) cycles: u64,
    batch: [u64; KINDS],
    totals: [[u64; PORTS]; KINDS],
    pub(super) packets_in: [u64; PORTS],
    pub(super) packets_out: [u64; PORTS],
    pub(super) no_route: [u32; PORTS],
    pub(super) short: [u32; PORTS],
    pub(super) overflow: [u32; PORTS],
    pub(super) closed: [u32; PORTS],
    pub(super) drained: [u32; PORTS],
    pub(super) link_losses: [u32; PORTS],
    pub(super) credit_errors: [u32; PORTS],
}

impl Counters {
    pub(super) const fn new() -> Self {
        Self {
            cycles: 0,
            batch: [0; KINDS],
            totals: [[0; PORTS]; KINDS],
            packets_in: [0; PORTS],
            packets_out: [0; PORTS],
            no_route: [0; PORTS],
            short: [0; PORTS],
            overflow: [0; PORTS],
            closed: [0; PORTS],
            drained: [0; PORTS],
            link_losses: [0; PORTS],
            credit_errors: [0; PORTS],
        }
    }

    /// One cycle.
    #[inline]
    pub(super) fn count(&mut self, doing: &Doing) {
        for (batch, &set) in self.batch.iter_mut().zip(doing) {
            *batch += ones(set);
        }
        self.cycles = self.cycles.wrapping_add(1);
        if self.cycles.is_multiple_of(BATCH) {
            self.empty();
        }
    }

    /// `cycles` equal cycles: the same state as that many times
    /// [`count`](Self::count).
    pub(super) fn count_many(&mut self, doing: &Doing, cycles: u64) {
        let end = self.cycles.wrapping_add(cycles);
        let in_batch = if self.cycles / BATCH == end / BATCH {
            cycles
        } else {
            end % BATCH
        };
        if in_batch != cycles {
            self.empty();
            for (totals, &set) in self.totals.iter_mut().zip(doing) {
                for port in Set(set) {
                    totals[port] = totals[port].wrapping_add(cycles - in_batch);
                }
            }
        }
        for (batch, &set) in self.batch.iter_mut().zip(doing) {
            *batch += ones(set) * in_batch;
        }
        self.cycles = end;
    }

    #[cold]
    #[inline(never)]
    fn empty(&mut self) {
        for (totals, batch) in self.totals.iter_mut().zip(&mut self.batch) {
            for (total, cycles) in totals.iter_mut().zip(batch.to_le_bytes()) {
                *total = total.wrapping_add(cycles.into());
            }
            *batch = 0;
        }
    }

    fn kind(&self, kind: usize, port: usize) -> u64 {
        self.totals[kind][port].wrapping_add(self.batch[kind].to_le_bytes()[port].into())
    }

    /// Of one port, below 8.
    pub(super) fn port(&self, port: usize) -> PortStats {
        let kind = |k| self.kind(k, port);
        PortStats {
            input: InputStats {
                busy: kind(0),
                idle: kind(1),
                header: kind(2),
                output_taken: kind(3),
                output_down: kind(4),
                output_full: kind(5),
                link_down: kind(6),
            },
            output: OutputStats {
                busy: kind(7),
                fcc: kind(8),
                idle: kind(9),
                starved: kind(10),
                no_credit: kind(11),
                link_down: kind(12),
            },
            events: PortEvents {
                packets_in: self.packets_in[port],
                packets_out: self.packets_out[port],
                no_route: self.no_route[port].into(),
                short: self.short[port].into(),
                overflow: self.overflow[port].into(),
                closed: self.closed[port].into(),
                drained: self.drained[port].into(),
                link_losses: self.link_losses[port].into(),
                credit_errors: self.credit_errors[port].into(),
            },
        }
    }

    pub(super) fn all(&self) -> RcubeStats {
        RcubeStats {
            cycles: self.cycles,
            ports: core::array::from_fn(|k| self.port(k)),
        }
    }
}

/// One more of an event; a counter that is full stays so.
pub(super) fn note(counters: &mut [u32; PORTS], port: usize) {
    if let Some(counter) = counters.get_mut(port) {
        *counter = counter.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_equal_cycles_count_like_single_ones(
            steps in prop::collection::vec((any::<[u8; KINDS]>(), 0u64..700), 1..12),
        ) {
            let (mut single, mut many) = (Counters::new(), Counters::new());
            for (doing, cycles) in steps {
                for _ in 0..cycles {
                    single.count(&doing);
                }
                many.count_many(&doing, cycles);
                prop_assert_eq!(&single, &many);
            }
        }
    }
}

//! The misbehaving parts of the silicon: counters that decide when an erratum
//! strikes. Nothing here moves on the ideal chip.

use super::config::DdcConfig;
use super::errata::{ErrataRates, Erratum, Revision};

/// Events of STATUS, bits 31:12.
const EVENTS: u32 = 0xFFFF_F000;

/// The registers of the errata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quirks {
    pub(super) revision: Revision,
    rates: ErrataRates,
    /// Soft resets since power-on.
    resets: u8,
    writes: u16,
    reads: u16,
    clears: u8,
    begun: u8,
    /// PCI cycles with Bus Master since the reset, up to the end of the window.
    since: u32,
    /// Events of STATUS that a read shows.
    shown: u32,
    /// Cycles until it shows the others; 0: none wait.
    late: u16,
    /// Bus Master was cleared in vain.
    runaway: bool,
}

impl Quirks {
    pub(super) const fn new(config: &DdcConfig) -> Self {
        Self {
            revision: config.revision,
            rates: config.errata,
            resets: 0,
            writes: 0,
            reads: 0,
            clears: 0,
            begun: 0,
            since: 0,
            shown: 0,
            late: 0,
            runaway: false,
        }
    }

    #[inline]
    pub(super) const fn has(&self, erratum: Erratum) -> bool {
        self.revision.has(erratum)
    }

    /// A soft reset was written: whether it takes.
    pub(super) fn reset_takes(&mut self) -> bool {
        if !self.has(Erratum::UnreliableReset) {
            return true;
        }
        strikes(&mut self.resets, self.rates.resets)
    }

    /// What stays after a reset that took: the count of resets alone.
    pub(super) const fn after_reset(self, config: &DdcConfig) -> Self {
        Self {
            resets: self.resets,
            ..Self::new(config)
        }
    }

    /// A configuration write has ended: whether it sets the parity bit.
    pub(super) fn write_spoils_parity(&mut self) -> bool {
        self.has(Erratum::SpuriousParityBit) && strikes(&mut self.writes, self.rates.parity_writes)
    }

    /// A configuration read is answered: whether by all ones.
    pub(super) fn read_is_all_ones(&mut self) -> bool {
        if !self.has(Erratum::ReadsAllOnes) {
            return false;
        }
        let (period, run) = (self.rates.all_ones_period, self.rates.all_ones_run);
        self.reads = (self.reads + 1) % period.max(1);
        // The last `run` of each period.
        self.reads >= period.saturating_sub(run)
    }

    /// Software wrote Bus Master.
    pub(super) fn bus_master(&mut self, was: bool, now: bool) {
        if now {
            self.runaway = false;
        } else if was && self.has(Erratum::RunawayBusMaster) {
            self.runaway = strikes(&mut self.clears, self.rates.runaway_clears);
        }
    }

    /// An error stops the chip, really.
    pub(super) const fn stop(&mut self) {
        self.runaway = false;
    }

    /// Transfers go on without Bus Master.
    #[inline]
    pub(super) const fn runs_away(&self) -> bool {
        self.runaway
    }

    /// A page begins while another entry waits: whether it is lost.
    pub(super) fn page_is_lost(&mut self) -> bool {
        self.has(Erratum::LostPages440Bx) && strikes(&mut self.begun, self.rates.lost_pages)
    }

    /// One PCI edge: `events` is STATUS.
    #[inline]
    pub(super) fn step(&mut self, events: u32, bus_master: bool) {
        if self.revision.is_ideal() {
            return;
        }
        if self.ticks(bus_master) {
            self.since += 1;
        }
        if self.has(Erratum::LateCause) {
            let events = events & EVENTS;
            self.shown &= events;
            if events == self.shown {
                self.late = 0;
            } else if self.late == 0 {
                self.late = self.rates.cause_delay.max(1);
            } else {
                self.late -= 1;
                if self.late == 0 {
                    self.shown = events;
                }
            }
        }
    }

    const fn ticks(&self, bus_master: bool) -> bool {
        self.has(Erratum::SpuriousStartInterrupts)
            && bus_master
            && self.since < self.rates.spurious_window
    }

    /// INTA# is asserted without a cause.
    #[inline]
    pub(super) fn interrupts(&self) -> bool {
        self.since != 0 && self.since < self.rates.spurious_window && {
            let period = self.rates.spurious_period.max(1);
            // The first comes after one quiet period.
            self.since >= period && self.since % period < self.rates.spurious_length
        }
    }

    /// STATUS as a read shows it.
    #[inline]
    pub(super) const fn status(&self, status: u32) -> u32 {
        if self.has(Erratum::LateCause) {
            status & (!EVENTS | self.shown)
        } else {
            status
        }
    }

    /// Edges that only count.
    pub(super) fn idle_for(&self, events: u32, bus_master: bool) -> u64 {
        if self.revision.is_ideal() {
            return u64::MAX;
        }
        let mut idle = u64::MAX;
        if self.ticks(bus_master) {
            let (window, period) = (
                self.rates.spurious_window,
                self.rates.spurious_period.max(1),
            );
            let in_period = self.since % period;
            let to_start = period - in_period;
            let to_change = if in_period < self.rates.spurious_length {
                to_start.min(self.rates.spurious_length - in_period)
            } else {
                to_start
            };
            let left = to_change.min(window - self.since);
            idle = u64::from(left - 1);
        }
        if self.has(Erratum::LateCause) && (events & EVENTS) != self.shown {
            // Arming and showing are edges of their own.
            idle = idle.min(u64::from(self.late.saturating_sub(1)));
        }
        idle
    }

    /// At most [`idle_for`](Self::idle_for) edges at once.
    pub(super) fn skip(&mut self, cycles: u64, bus_master: bool) {
        let short = u32::try_from(cycles).unwrap_or(u32::MAX);
        if self.ticks(bus_master) {
            self.since = self.since.saturating_add(short);
        }
        self.late = self
            .late
            .saturating_sub(u16::try_from(cycles).unwrap_or(u16::MAX));
    }
}

/// Counts to `period` and strikes there.
fn strikes<T>(counter: &mut T, period: T) -> bool
where
    T: Copy + PartialOrd + From<u8> + core::ops::Add<Output = T>,
{
    let next = *counter + T::from(1);
    let strike = next >= period;
    *counter = if strike { T::from(0) } else { next };
    strike
}

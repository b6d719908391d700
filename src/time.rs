//! Picosecond instants, clocks and their presets.
//!
//! A [`Clock`] knows the instant of each of its edges exactly: edge `k` of a
//! clock of `hz` falls at `floor(k * 10^12 / hz)` picoseconds, without drift.
//! Source of the presets: hw/doc/figures.md, section "Clocks".

use core::fmt;
use core::ops::{Add, Sub};

/// Picoseconds in a second.
pub const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// A point in simulated time, in picoseconds since the start of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Instant(u64);

/// A length of simulated time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Duration(u64);

impl Instant {
    /// The start of the machine.
    pub const ZERO: Self = Self(0);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to this instant; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A duration of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A duration of `ns` nanoseconds (saturating).
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// A duration of `us` microseconds (saturating).
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Microseconds, for reports.
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, rhs: Self) -> Duration {
        self.since(rhs)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Duration(self.0), f)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} us", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A frequency in hertz, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Frequency(u64);

impl Frequency {
    /// RCUBE nominal: 80 MHz, 960 Mbaud.
    pub const LINK_80_MHZ: Self = Self(80_000_000);
    /// FastHSL board of the published measurements: 66 MHz, 792 Mbaud.
    pub const LINK_66_MHZ: Self = Self(66_000_000);
    /// Used at CERN: 60 MHz, 720 Mbaud.
    pub const LINK_60_MHZ: Self = Self(60_000_000);
    /// PCI: 33.33 MHz.
    pub const PCI_33_MHZ: Self = Self(33_333_333);

    /// A frequency of `hz`, from 1 Hz to 1 THz (one edge a picosecond).
    ///
    /// # Errors
    /// [`FrequencyError`] with the value when it is outside that range.
    pub const fn from_hz(hz: u64) -> Result<Self, FrequencyError> {
        if hz == 0 || hz > PS_PER_SECOND {
            Err(FrequencyError { hz })
        } else {
            Ok(Self(hz))
        }
    }

    /// Hertz.
    pub const fn hz(self) -> u64 {
        self.0
    }

    /// The time of one cycle, rounded down to picoseconds.
    pub const fn period(self) -> Duration {
        Duration(PS_PER_SECOND / self.0)
    }

    /// The instant of edge `k`: `floor(k * 10^12 / hz)` ps (saturating).
    pub const fn edge(self, k: u64) -> Instant {
        let ps = (k as u128 * PS_PER_SECOND as u128) / self.0 as u128;
        Instant(if ps > u64::MAX as u128 {
            u64::MAX
        } else {
            ps as u64
        })
    }

    /// Whole cycles that cover `time` (rounded up).
    pub const fn cycles_covering(self, time: Duration) -> u64 {
        let n = time.0 as u128 * self.0 as u128;
        n.div_ceil(PS_PER_SECOND as u128) as u64
    }
}

/// A frequency outside 1 Hz ..= 1 THz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct FrequencyError {
    /// The offending value, in hertz.
    pub hz: u64,
}

impl fmt::Display for FrequencyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "clock of {} Hz is outside 1..={} Hz",
            self.hz, PS_PER_SECOND
        )
    }
}

impl core::error::Error for FrequencyError {}

/// A running clock: its frequency, the number of edges so far, the next edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Clock {
    frequency: Frequency,
    cycle: u64,
    next: Instant,
    // The fraction of a picosecond that `next` was rounded down by, in 1/hz ps.
    remainder: u64,
}

impl Clock {
    /// A clock whose first edge falls one period after the start.
    pub const fn new(frequency: Frequency) -> Self {
        Self {
            frequency,
            cycle: 0,
            next: Instant(PS_PER_SECOND / frequency.0),
            remainder: PS_PER_SECOND % frequency.0,
        }
    }

    /// The frequency.
    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// Edges so far.
    pub const fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The instant of the next edge.
    pub const fn next_edge(&self) -> Instant {
        self.next
    }

    /// Passes the next edge.
    pub fn tick(&mut self) {
        self.cycle += 1;
        let hz = self.frequency.0;
        let mut next = self.next.0.saturating_add(PS_PER_SECOND / hz);
        self.remainder += PS_PER_SECOND % hz;
        if self.remainder >= hz {
            self.remainder -= hz;
            next = next.saturating_add(1);
        }
        self.next = Instant(next);
    }

    /// Passes `cycles` edges at once; the same as that many [`tick`](Self::tick)s.
    pub fn skip(&mut self, cycles: u64) {
        self.cycle = self.cycle.saturating_add(cycles);
        let k = self.cycle as u128 + 1;
        let exact = k * PS_PER_SECOND as u128;
        let hz = self.frequency.0 as u128;
        self.next = self.frequency.edge(self.cycle.saturating_add(1));
        self.remainder = (exact % hz) as u64;
    }

    /// Edges at or before `time` that have not been passed yet.
    pub const fn edges_until(&self, time: Instant) -> u64 {
        if time.0 < self.next.0 {
            return 0;
        }
        // Edge k is at or before `time` when k * 10^12 / hz < time + 1.
        let last = ((time.0 as u128 + 1) * self.frequency.0 as u128 - 1) / PS_PER_SECOND as u128;
        (last as u64).saturating_sub(self.cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_do_not_drift() {
        let mut clock = Clock::new(Frequency::LINK_66_MHZ);
        for k in 1..=100_000u64 {
            assert_eq!(clock.next_edge(), Frequency::LINK_66_MHZ.edge(k));
            clock.tick();
        }
        assert_eq!(clock.cycle(), 100_000);
    }

    #[test]
    fn skip_equals_ticks() {
        for f in [
            Frequency::LINK_66_MHZ,
            Frequency::PCI_33_MHZ,
            Frequency::LINK_80_MHZ,
        ] {
            let mut ticked = Clock::new(f);
            for n in 0..200u64 {
                let mut skipped = Clock::new(f);
                skipped.skip(n);
                assert_eq!(ticked, skipped, "after {n} cycles");
                ticked.tick();
            }
        }
    }

    #[test]
    fn edges_until_counts_exactly() {
        let f = Frequency::LINK_66_MHZ;
        let clock = Clock::new(f);
        for k in 1..1000u64 {
            let at = f.edge(k);
            assert_eq!(clock.edges_until(at), k);
            assert_eq!(clock.edges_until(Instant::from_ps(at.ps() - 1)), k - 1);
        }
    }

    #[test]
    fn zero_frequency_is_named() {
        extern crate std;
        use std::string::ToString;
        assert_eq!(
            Frequency::from_hz(0).unwrap_err().to_string(),
            "clock of 0 Hz is outside 1..=1000000000000 Hz"
        );
    }
}

//! What instructions cost, in ticks of the PE array's clock.
//!
//! Source: hw/doc/maspar.md, section "Instructions and ticks".

use crate::time::{Duration, Frequency, PS_PER_SECOND};

/// The width of the data of one `rfetch` or `rsend`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Width {
    /// 8 bits (`rfetchc8`).
    W8,
    /// 16 bits (`rfetchc16`).
    W16,
    /// 32 bits (`rfetchc32`).
    #[default]
    W32,
    /// 64 bits (`rfetchc64`).
    W64,
}

impl Width {
    /// Every width, narrowest first.
    pub const ALL: [Self; 4] = [Self::W8, Self::W16, Self::W32, Self::W64];

    /// The width of that many bits, if there is one.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            8 => Some(Self::W8),
            16 => Some(Self::W16),
            32 => Some(Self::W32),
            64 => Some(Self::W64),
            _ => None,
        }
    }

    /// Data bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::W8 => 8,
            Self::W16 => 16,
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }

    /// Data bytes.
    pub const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }
}

/// Ticks of the router instructions, and the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Costs {
    /// `ropen`, in ticks. Default 42 (record).
    pub ropen: u32,
    /// `rfetchc` or `rsendc` without its data bits, in ticks. Default 17
    /// (record); each data bit takes one tick more.
    pub transfer: u32,
    /// The rest of one time round the loop (`gor1`, the branch, the count), in
    /// ticks. Default 9: the whole is about 100 for 32 bits (record), the
    /// split is chosen.
    pub rest: u32,
    /// Rest of one phase of a static schedule that takes one cycle, in ticks.
    /// Default 4: the whole is 5 % less than the loop's, 95 for 32 bits
    /// (record), the split is chosen.
    pub phase: u32,
    /// Start of a phase that takes several cycles (its own loop), in ticks.
    /// Default 5 (record: about 5).
    pub phase_start: u32,
    /// The tick. Default for the MP-1: 12 MHz (record: a cycle of 83 ns).
    pub clock: Frequency,
}

const fn megahertz(hz: u64) -> Frequency {
    match Frequency::from_hz(hz) {
        Ok(frequency) => frequency,
        Err(_) => Frequency::LINK_80_MHZ,
    }
}

impl Costs {
    /// MP-1.
    pub const MP1: Self = Self {
        ropen: 42,
        transfer: 17,
        rest: 9,
        phase: 4,
        phase_start: 5,
        clock: megahertz(12_000_000),
    };

    /// MP-2: the same ticks, a clock of 12.5 MHz (80 ns).
    pub const MP2: Self = Self {
        clock: megahertz(12_500_000),
        ..Self::MP1
    };

    /// One `rfetchc` or `rsendc` of that width, in ticks.
    pub const fn rfetch(&self, width: Width) -> u32 {
        self.transfer.saturating_add(width.bits())
    }

    /// One time round the loop, in ticks: 100 for 32 bits.
    pub const fn round(&self, width: Width) -> u32 {
        self.ropen
            .saturating_add(self.rfetch(width))
            .saturating_add(self.rest)
    }

    /// The loop over that many cycles, in ticks.
    pub const fn hardware_loop(&self, cycles: u32, width: Width) -> u64 {
        cycles as u64 * self.round(width) as u64
    }

    /// A static schedule with one cycle a phase, in ticks: 95 a phase for 32
    /// bits.
    pub const fn single_cycle_phases(&self, phases: u32, width: Width) -> u64 {
        let phase = self
            .ropen
            .saturating_add(self.rfetch(width))
            .saturating_add(self.phase);
        phases as u64 * phase as u64
    }

    /// A static schedule whose phases are loops of their own, in ticks.
    pub const fn looped_phases(&self, phases: u32, cycles: u32, width: Width) -> u64 {
        let starts = phases as u64 * self.phase_start as u64;
        self.hardware_loop(cycles, width).saturating_add(starts)
    }

    /// How long that many ticks take (saturating).
    pub const fn time(&self, ticks: u64) -> Duration {
        let ps = ticks as u128 * PS_PER_SECOND as u128 / self.clock.hz() as u128;
        Duration::from_ps(if ps > u64::MAX as u128 {
            u64::MAX
        } else {
            ps as u64
        })
    }
}

impl Default for Costs {
    fn default() -> Self {
        Self::MP1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_ticks() {
        let costs = Costs::MP1;
        assert_eq!(costs.ropen + costs.rfetch(Width::W32), 91);
        assert_eq!(costs.round(Width::W32), 100);
        assert_eq!(costs.single_cycle_phases(23, Width::W32), 23 * 95);
        assert_eq!(costs.looped_phases(7, 57, Width::W32), 5735);
        assert_eq!(costs.rfetch(Width::W8), 25);
        assert_eq!(costs.rfetch(Width::W64), 81);
    }

    #[test]
    fn ticks_become_time() {
        assert_eq!(Costs::MP2.time(7000), Duration::from_us(560));
        assert_eq!(Costs::MP1.time(12), Duration::from_us(1));
    }
}

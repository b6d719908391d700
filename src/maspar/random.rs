//! Random draws that are the same everywhere.
//!
//! SplitMix64 from the seed, as the vectors use it; small numbers come from
//! the upper half of a draw by multiplication.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// A seeded source of draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draws(SplitMix64);

#[cfg(feature = "defmt")]
impl defmt::Format for Draws {
    fn format(&self, f: defmt::Formatter<'_>) {
        // The state is the generator's own.
        defmt::write!(f, "Draws");
    }
}

impl Draws {
    /// Draws from a seed; the state starts at the seed itself.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::from_seed(seed.to_le_bytes()))
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// The next number below `n` (0 when `n` is 0).
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// Puts items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below((i + 1).min(u32::MAX as usize) as u32) as usize;
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_splitmix64() {
        // First outputs for seed 1234567 from the generator's reference code.
        let mut draws = Draws::new(1_234_567);
        assert_eq!(draws.bits(), 6_457_827_717_110_365_317);
        assert_eq!(draws.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn small_numbers_stay_below() {
        let mut draws = Draws::new(0);
        for n in 1..200 {
            assert!(draws.below(n) < n);
        }
        assert_eq!(draws.below(0), 0);
    }
}

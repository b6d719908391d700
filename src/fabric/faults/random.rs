//! Faults at random: rates and a seed.
//!
//! Each direction of a cable and each bus has a generator of its own, and draws
//! once for each character or transaction. So what happens depends on the seed
//! and on what was sent, and not on the order in which chips are visited nor
//! on how idle time is passed.

use core::fmt;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::hsl::Symbol;
use crate::pci::TargetResponse;

use super::event::CableFault;

/// Probabilities, for each character of a direction of a cable: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct CableRates {
    /// One to nine bits of it are inverted.
    pub corrupt: f64,
    /// It is lost. FCCs count as characters here, so they get lost as well.
    pub drop: f64,
    /// A character of any 9 bits takes the place of the next IDLE.
    pub insert: f64,
    /// The cable is cut in both directions, for 1 to `cut_cycles` cycles.
    pub cut: f64,
    /// The longest cut, in link cycles; 0 acts as 1.
    pub cut_cycles: u32,
}

/// Probabilities, for each memory transaction of a bus: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BusRates {
    /// Retry.
    pub retry: f64,
    /// Disconnect after 1 to 16 words.
    pub disconnect: f64,
    /// Target abort, at once or after up to 15 words.
    pub target_abort: f64,
    /// No DEVSEL#.
    pub no_devsel: f64,
    /// Wrong parity of read data.
    pub parity: f64,
    /// 1 to `delay_clocks` more before the first word.
    pub delay: f64,
    /// The longest delay, in PCI clocks; 0 acts as 1.
    pub delay_clocks: u32,
    /// GNT# is withheld for 1 to `hold_cycles` cycles.
    pub hold_grant: f64,
    /// The longest time without grant, in PCI cycles; 0 acts as 1.
    pub hold_cycles: u32,
}

/// Faults at random, the same for the same seed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RandomFaults {
    /// The seed.
    pub seed: u64,
    /// Rates of every cable.
    pub cable: CableRates,
    /// Rates of every bus.
    pub bus: BusRates,
    /// The nine wires between controller and router of a board are disturbed
    /// as well. Default false: a disturbance comes over the long cables.
    pub boards: bool,
}

impl RandomFaults {
    /// No faults yet, with this seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            cable: CableRates {
                corrupt: 0.0,
                drop: 0.0,
                insert: 0.0,
                cut: 0.0,
                cut_cycles: 0,
            },
            bus: BusRates {
                retry: 0.0,
                disconnect: 0.0,
                target_abort: 0.0,
                no_devsel: 0.0,
                parity: 0.0,
                delay: 0.0,
                delay_clocks: 0,
                hold_grant: 0.0,
                hold_cycles: 0,
            },
            boards: false,
        }
    }

    /// Each rate with its name, those of cables first.
    fn rates(&self) -> [(&'static str, f64); 11] {
        let (c, b) = (&self.cable, &self.bus);
        [
            ("cable corrupt", c.corrupt),
            ("cable drop", c.drop),
            ("cable insert", c.insert),
            ("cable cut", c.cut),
            ("bus retry", b.retry),
            ("bus disconnect", b.disconnect),
            ("bus target_abort", b.target_abort),
            ("bus no_devsel", b.no_devsel),
            ("bus parity", b.parity),
            ("bus delay", b.delay),
            ("bus hold_grant", b.hold_grant),
        ]
    }

    /// Whether all rates are probabilities that leave room for one another.
    ///
    /// # Errors
    /// [`RateError`].
    pub fn check(&self) -> Result<(), RateError> {
        for (name, rate) in self.rates() {
            if !(0.0..=1.0).contains(&rate) {
                return Err(RateError { name, rate });
            }
        }
        let rates = self.rates();
        let sums = [("sum of cable", &rates[..4]), ("sum of bus", &rates[4..])];
        for (name, rates) in sums {
            let rate = rates.iter().map(|(_, rate)| rate).sum();
            if rate > 1.0 {
                return Err(RateError { name, rate });
            }
        }
        Ok(())
    }

    pub(super) fn disturbs_cables(&self) -> bool {
        self.rates().iter().take(4).any(|(_, rate)| *rate > 0.0)
    }

    pub(super) fn disturbs_buses(&self) -> bool {
        self.rates().iter().skip(4).any(|(_, rate)| *rate > 0.0)
    }
}

/// A rate that is no probability.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RateError {
    /// Which one.
    pub name: &'static str,
    /// Its value.
    pub rate: f64,
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rate {} is outside 0..=1", self.name, self.rate)
    }
}

impl core::error::Error for RateError {}

/// What was drawn for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    Respond(TargetResponse),
    HoldGrant(u64),
}

/// The generator of one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// Of the place of this number; cables and buses are numbered apart.
    pub(super) fn new(seed: u64, place: u64) -> Self {
        let mut base = Xoshiro256PlusPlus::seed_from_u64(seed);
        let key = base.next_u64();
        Self(Xoshiro256PlusPlus::seed_from_u64(key ^ place))
    }

    /// 1 to `most`.
    fn up_to(&mut self, most: u32) -> u64 {
        1 + ((u64::from(self.0.next_u32()) * u64::from(most.max(1))) >> 32)
    }

    /// Index of the rate that was hit.
    fn hit(&mut self, rates: &[f64]) -> Option<usize> {
        // 53 bits: exact in an f64.
        let mut draw = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        rates.iter().position(|rate| {
            let hit = draw < *rate;
            draw -= rate;
            hit
        })
    }

    /// For a character.
    pub(super) fn character(&mut self, rates: &CableRates) -> Option<CableFault> {
        Some(
            match self.hit(&[rates.corrupt, rates.drop, rates.insert, rates.cut])? {
                0 => CableFault::Corrupt(self.up_to(0x1FF) as u16),
                1 => CableFault::Drop,
                2 => CableFault::Insert(Symbol::from_bits(self.up_to(0x200) as u16 - 1)),
                _ => CableFault::Cut {
                    cycles: self.up_to(rates.cut_cycles),
                    both: true,
                },
            },
        )
    }

    /// For a transaction.
    pub(super) fn transaction(&mut self, rates: &BusRates) -> Option<Drawn> {
        let table = [
            rates.retry,
            rates.disconnect,
            rates.target_abort,
            rates.no_devsel,
            rates.parity,
            rates.delay,
            rates.hold_grant,
        ];
        let response = match self.hit(&table)? {
            0 => TargetResponse::Retry,
            1 => TargetResponse::DisconnectAfter(self.up_to(16) as u32),
            2 => TargetResponse::AbortAfter(self.up_to(16) as u32 - 1),
            3 => TargetResponse::Ignore,
            4 => TargetResponse::BadParity,
            5 => TargetResponse::ExtraLatency(self.up_to(rates.delay_clocks) as u32),
            _ => return Some(Drawn::HoldGrant(self.up_to(rates.hold_cycles))),
        };
        Some(Drawn::Respond(response))
    }
}

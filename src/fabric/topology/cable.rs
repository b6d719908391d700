//! A cable: two ends, a medium, a length, a delay.

use super::{PortId, TopologyError};
use crate::time::Duration;

/// Signal delay, picoseconds a millimetre: 5 ns a metre. Chosen: two thirds of
/// the speed of light, the usual figure for coax and fibre; no figure is on
/// record (hw/doc/topology.md, "Cables").
pub const PS_PER_MM: u64 = 5;

/// What a cable is made of; it sets the longest length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Medium {
    /// Two coaxial conductors, one a direction (HS-SE-10): up to 5 m.
    #[default]
    #[doc(alias = "HS-SE-10")]
    Coax,
    /// Fibre with external transceivers (HS-FO-10): up to 70 m. From 27 m or
    /// so the 64-character credit no longer covers the round trip.
    #[doc(alias = "HS-FO-10")]
    Fibre,
}

impl Medium {
    /// The longest cable, in millimetres.
    pub const fn max_mm(self) -> u32 {
        match self {
            Self::Coax => 5_000,
            Self::Fibre => 70_000,
        }
    }
}

/// A cable between two router ports. Both directions have the same delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Cable {
    /// The ports it joins.
    pub ends: [PortId; 2],
    /// What it is made of.
    pub medium: Medium,
    /// Length in millimetres.
    pub length_mm: u32,
    /// From one end to the other.
    pub delay: Duration,
}

impl Cable {
    /// Length of a cable of which nothing else is said, in millimetres.
    /// Chosen: the boards of one rack.
    pub const DEFAULT_MM: u32 = 3_000;

    /// A coax cable of 3 m (15 ns).
    pub const fn new(a: PortId, b: PortId) -> Self {
        Self {
            ends: [a, b],
            medium: Medium::Coax,
            length_mm: Self::DEFAULT_MM,
            delay: delay_of(Self::DEFAULT_MM),
        }
    }

    /// The same cable with this length, and the delay that follows from it
    /// ([`PS_PER_MM`]).
    pub const fn with_length_mm(mut self, length_mm: u32) -> Self {
        self.length_mm = length_mm;
        self.delay = delay_of(length_mm);
        self
    }

    /// The same cable of this medium.
    pub const fn with_medium(mut self, medium: Medium) -> Self {
        self.medium = medium;
        self
    }

    /// The same cable with a delay of its own (transceivers, slow dielectric).
    pub const fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub(super) fn check(&self, cable: u16) -> Result<(), TopologyError> {
        let max_mm = self.medium.max_mm();
        if self.length_mm > max_mm {
            return Err(TopologyError::CableTooLong {
                cable,
                length_mm: self.length_mm,
                max_mm,
            });
        }
        Ok(())
    }
}

const fn delay_of(length_mm: u32) -> Duration {
    Duration::from_ps(length_mm as u64 * PS_PER_MM)
}

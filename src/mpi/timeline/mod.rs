//! Where the time of each rank went, and pictures of it.
//!
//! A [`Timeline`] has a [`Lane`] for each rank, without gaps: the parts of a
//! lane add up to its length, to the picosecond. Two formats that existing
//! viewers open: [`Timeline::write_chrome`] (Perfetto, `chrome://tracing`) and
//! [`Timeline::write_paje`] (ViTE, PajeNG).

mod breakdown;
mod chrome;
mod lane;
mod paje;

pub use breakdown::{Breakdown, Part};
pub use lane::{Lane, Span};

use alloc::vec::Vec;

use crate::time::Instant;

/// One notified write from a rank to a rank, for arrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Message {
    /// World rank of the sender.
    pub from: u32,
    /// World rank of the receiver.
    pub to: u32,
    /// Control message, or the data of a rendezvous.
    pub control: bool,
    /// Bytes written, framing included.
    pub bytes: u64,
    /// When the first byte was handed to the hardware.
    pub sent: Instant,
    /// When the receiver's software took the notification.
    pub received: Instant,
}

/// What the ranks of a run did, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// A lane for each rank.
    pub lanes: Vec<Lane>,
    /// Messages, in the order in which they were received. Empty when the run
    /// did not record.
    pub messages: Vec<Message>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Timeline {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Timeline {{ lanes: {}, messages: {=usize} }}",
            self.lanes.as_slice(),
            self.messages.len()
        );
    }
}

impl Timeline {
    /// The sum over all ranks.
    pub fn total(&self) -> Breakdown {
        let mut total = Breakdown::default();
        for lane in &self.lanes {
            total += lane.breakdown;
        }
        total
    }
}

impl Timeline {
    /// When the run began: the zero of both formats.
    fn start(&self) -> Instant {
        let start = self.lanes.iter().map(|lane| lane.start).min();
        start.unwrap_or(Instant::ZERO)
    }
}

/// Picoseconds as a decimal number of units of 10^`digits` ps.
struct Decimal {
    ps: u64,
    digits: u32,
}

impl core::fmt::Display for Decimal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let unit = 10u64.pow(self.digits);
        let width = self.digits as usize;
        write!(f, "{}.{:0width$}", self.ps / unit, self.ps % unit)
    }
}

#[cfg(test)]
mod tests;

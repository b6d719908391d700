//! The proof, and the checker that believes nothing.

use alloc::vec::Vec;
use core::fmt;

use super::reach::Range;
use super::{channel_of, channels, port_of};
use crate::fabric::topology::{PortId, Routes, Topology};
use crate::hsl::word::Set;

/// Headers that packets of a channel can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct HeaderRange {
    /// The port where the channel ends.
    pub at: PortId,
    /// The lowest header.
    pub first: u16,
    /// The highest header.
    pub last: u16,
}

/// That packets cannot wait for each other in a ring: a number for each
/// channel, such that each waits for channels with higher numbers only; and the
/// headers that each carries, so that this can be checked without a search.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    numbers: Vec<u32>,
    // By channel, then ascending; those of channel c are
    // ranges[starts[c]..starts[c + 1]].
    ranges: Vec<HeaderRange>,
    starts: Vec<usize>,
}

impl Certificate {
    pub(super) fn new(mut numbers: Vec<u32>, held: Vec<Vec<Range>>) -> Self {
        let mut ranges = Vec::new();
        let mut starts = Vec::with_capacity(held.len() + 1);
        for (channel, held) in held.into_iter().enumerate() {
            starts.push(ranges.len());
            ranges.extend(held.into_iter().map(|(first, end)| HeaderRange {
                at: port_of(channel),
                first: first as u16,
                last: end.saturating_sub(1) as u16,
            }));
        }
        starts.push(ranges.len());
        // Where no packet comes there is nothing to number.
        for (number, own) in numbers.iter_mut().zip(starts.windows(2)) {
            if own.first() == own.last() {
                *number = 0;
            }
        }
        Self {
            numbers,
            ranges,
            starts,
        }
    }

    /// The number of the channel that ends at `at`, from 1; none where no
    /// packet comes.
    pub fn number(&self, at: PortId) -> Option<u32> {
        let number = self.numbers.get(channel_of(at)).copied()?;
        (number != 0).then_some(number)
    }

    /// How many channels carry packets.
    pub fn channels(&self) -> usize {
        self.numbers.iter().filter(|&&number| number != 0).count()
    }

    /// The headers that each channel carries.
    pub fn ranges(&self) -> &[HeaderRange] {
        &self.ranges
    }

    /// Whether the channel that ends at `at` carries packets with this header.
    pub fn carries(&self, at: PortId, header: u16) -> bool {
        let channel = channel_of(at);
        let (Some(&from), Some(&to)) = (self.starts.get(channel), self.starts.get(channel + 1))
        else {
            return false;
        };
        self.ranges
            .get(from..to)
            .is_some_and(|own| own.iter().any(|r| (r.first..=r.last).contains(&header)))
    }

    /// Checks the proof against tables, step for step: all headers start at
    /// all generators; a header that a channel carries is carried by every
    /// channel the table lets it go on to; and that one has a higher number.
    /// Takes a time that grows with channels times headers, the longer way
    /// round: nothing is shared with [`certify`](super::certify).
    ///
    /// # Errors
    /// The first [`Flaw`].
    pub fn verify<R: Routes + ?Sized>(
        &self,
        topology: &Topology<'_>,
        routes: &R,
    ) -> Result<(), Flaw> {
        let (given, needed) = (self.numbers.len(), channels(topology));
        if given != needed {
            return Err(Flaw::Size { given, needed });
        }
        for &at in topology.generators() {
            for header in 0..topology.generators().len() as u16 {
                if !self.carries(at, header) {
                    return Err(Flaw::Missing { at, header });
                }
            }
        }
        for range in &self.ranges {
            let from = range.at;
            for header in range.first..=range.last {
                for output in Set(routes.eligible(from.router, from.port, header)) {
                    let output = PortId::new(from.router, output as u8);
                    let Some(at) = topology.peer(output) else {
                        continue;
                    };
                    if !self.carries(at, header) {
                        return Err(Flaw::Missing { at, header });
                    }
                    // A channel without number is below all others.
                    if self.number(at) <= self.number(from) {
                        return Err(Flaw::Order { from, at, header });
                    }
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("channels", &self.channels())
            .field("ranges", &self.ranges.len())
            .finish()
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no deadlock: {} channels numbered so that each waits for higher ones only",
            self.channels()
        )
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Certificate {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Certificate {{ channels: {}, ranges: {} }}",
            self.channels(),
            self.ranges.len()
        );
    }
}

/// Why a certificate proves nothing about these tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Flaw {
    /// It is about another machine.
    Size {
        /// Channels of the certificate.
        given: usize,
        /// Channels of the machine.
        needed: usize,
    },
    /// A header that comes to a channel and is not listed there.
    Missing {
        /// The end of the channel.
        at: PortId,
        /// The header.
        header: u16,
    },
    /// A channel waits for one whose number is not higher.
    Order {
        /// The end of the channel that waits.
        from: PortId,
        /// The end of the channel it waits for.
        at: PortId,
        /// A header that does.
        header: u16,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Size { given, needed } => write!(
                f,
                "certificate of {given} channels, the machine has {needed}"
            ),
            Self::Missing { at, header } => {
                write!(f, "header {header} comes to {at} and is not listed there")
            }
            Self::Order { from, at, header } => write!(
                f,
                "header {header} at {from} waits for {at}, which has no higher number"
            ),
        }
    }
}

impl core::error::Error for Flaw {}

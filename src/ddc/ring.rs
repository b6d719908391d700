//! The bounds of a ring, and walks along the valid entries of an LME.

use core::fmt;

use super::lme::{Control, Descriptor, DescriptorError};
use crate::mem::Memory;

/// The bounds of a ring of 16-byte entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ring {
    /// Address of entry 0.
    pub base: u32,
    /// Address of the last entry (not one past it).
    pub max: u32,
}

impl Ring {
    /// The entry after `address`: `base` after `max`, as the chip steps.
    pub const fn next(self, address: u32) -> u32 {
        if address == self.max {
            self.base
        } else {
            address.wrapping_add(16)
        }
    }

    /// Entries, when the bounds make sense.
    pub const fn entries(self) -> Option<u32> {
        if self.base.is_multiple_of(16) && self.max.is_multiple_of(16) && self.max >= self.base {
            Some((self.max - self.base) / 16 + 1)
        } else {
            None
        }
    }

    const fn holds(self, address: u32) -> bool {
        address.is_multiple_of(16) && address >= self.base && address <= self.max
    }
}

/// Why a walk along the ring stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WalkError {
    /// The bounds are no ring.
    BadRing {
        /// The offending bounds.
        ring: Ring,
    },
    /// A pointer lies outside the ring, or between two entries.
    BadAddress {
        /// The pointer.
        address: u32,
        /// The bounds.
        ring: Ring,
    },
    /// No memory answers there.
    NoMemory {
        /// The address of the entry.
        address: u32,
    },
    /// The entry was read (and is passed), but makes no sense.
    BadEntry {
        /// The address of the entry.
        address: u32,
        /// What is wrong.
        error: DescriptorError,
    },
    /// The message has no last page among the valid entries.
    Unfinished {
        /// Pages seen since the last LMP.
        pages: u32,
    },
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRing { ring } => write!(
                f,
                "ring {:#010x}..={:#010x} needs bounds in order and multiples of 16",
                ring.base, ring.max
            ),
            Self::BadAddress { address, ring } => write!(
                f,
                "pointer {address:#010x} is no entry of the ring {:#010x}..={:#010x}",
                ring.base, ring.max
            ),
            Self::NoMemory { address } => write!(f, "no memory at entry {address:#010x}"),
            Self::BadEntry { address, error } => write!(f, "entry {address:#010x}: {error}"),
            Self::Unfinished { pages } => {
                write!(
                    f,
                    "{pages} pages without a last one (LMP) before the end of the ring"
                )
            }
        }
    }
}

impl core::error::Error for WalkError {}

/// The valid entries of an LME, oldest first: for tools and tests.
///
/// Ends with `None` when the pointers meet; an error about the whole walk is
/// yielded once and ends it, a bad entry is passed and the walk goes on.
#[derive(Debug)]
pub struct Walk<'a, M: Memory> {
    memory: &'a M,
    ring: Ring,
    at: u32,
    end: u32,
    pages: u32,
    over: bool,
}

impl<'a, M: Memory> Walk<'a, M> {
    /// Walks `ring` in `memory` from `current` up to, but without, `new`.
    pub const fn new(memory: &'a M, ring: Ring, current: u32, new: u32) -> Self {
        Self {
            memory,
            ring,
            at: current,
            end: new,
            pages: 0,
            over: false,
        }
    }
}

#[cfg(feature = "defmt")]
impl<M: Memory> defmt::Format for Walk<'_, M> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Walk {=u32:#010x}..{=u32:#010x}", self.at, self.end);
    }
}

impl<M: Memory> Iterator for Walk<'_, M> {
    type Item = Result<(u32, Descriptor), WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let ring = self.ring;
        let fatal = if ring.entries().is_none() {
            Some(WalkError::BadRing { ring })
        } else if let Some(address) = [self.at, self.end].into_iter().find(|&a| !ring.holds(a)) {
            Some(WalkError::BadAddress { address, ring })
        } else if self.at == self.end {
            self.over = true;
            return (self.pages > 0).then_some(Err(WalkError::Unfinished { pages: self.pages }));
        } else if (0..4).any(|word| !self.memory.claims(self.at.wrapping_add(4 * word))) {
            Some(WalkError::NoMemory { address: self.at })
        } else {
            None
        };
        if let Some(error) = fatal {
            self.over = true;
            return Some(Err(error));
        }
        let address = self.at;
        let word = |index: u32| self.memory.read_word(address.wrapping_add(4 * index));
        let descriptor = Descriptor::from_words([word(0), word(1), word(2), word(3)]);
        self.at = ring.next(address);
        self.pages = if descriptor.control.has(Control::LMP) {
            0
        } else {
            self.pages.saturating_add(1)
        };
        Some(match descriptor.meaning() {
            Ok(_) => Ok((address, descriptor)),
            Err(error) => Err(WalkError::BadEntry { address, error }),
        })
    }
}

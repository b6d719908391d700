//! Why an endpoint could not be made.

use core::fmt;

/// An endpoint that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BootError {
    /// A setting outside its range.
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The least allowed.
        least: u32,
        /// The most allowed.
        most: u32,
    },
    /// The control messages of all peers could overrun the notifications.
    TooFewReports {
        /// Entries that are needed.
        needed: u64,
        /// Entries there are.
        entries: u32,
    },
    /// No such rank.
    Rank {
        /// The rank.
        rank: u32,
        /// Ranks of the world.
        ranks: u32,
    },
    /// Not one entry a rank.
    Entries {
        /// Entries.
        entries: usize,
        /// Ranks of the world.
        ranks: u32,
    },
    /// An arena that is not at a multiple of 64, or passes 2^32.
    Arena {
        /// Its first byte.
        base: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// A peer whose choices differ.
    Peer {
        /// Its rank.
        rank: u32,
        /// In what.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The own value.
        expected: u64,
    },
    /// Storage of the wrong size.
    Storage {
        /// Which part.
        what: &'static str,
        /// Its entries.
        len: usize,
        /// Entries that are needed, at least.
        needed: usize,
    },
    /// Message identifiers of this rank that do not fit.
    Index {
        /// The last one.
        index: u32,
        /// Indices there are.
        limit: u32,
    },
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Setting {
                what,
                value,
                least,
                most,
            } => write!(f, "{what} of {value}, allowed {least}..={most}"),
            Self::TooFewReports { needed, entries } => {
                write!(f, "{entries} entries for notifications, at least {needed}")
            }
            Self::Rank { rank, ranks } => write!(f, "rank {rank}, allowed 0..{ranks}"),
            Self::Entries { entries, ranks } => {
                write!(f, "{entries} boot entries for {ranks} ranks")
            }
            Self::Arena { base, bytes } => write!(
                f,
                "arena of {bytes} bytes at {base:#x}, allowed multiples of 64 that end below 2^32"
            ),
            Self::Peer {
                rank,
                what,
                found,
                expected,
            } => write!(f, "{what} of rank {rank} is {found}, here {expected}"),
            Self::Storage { what, len, needed } => {
                write!(f, "storage of {len} {what}, at least {needed}")
            }
            Self::Index { index, limit } => {
                write!(f, "message identifier index {index}, allowed 0..{limit}")
            }
        }
    }
}

impl core::error::Error for BootError {}

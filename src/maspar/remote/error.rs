//! What can go wrong with a transfer between PEs.

use core::fmt;

use crate::maspar::config::ConfigError;

/// What went wrong with a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RemoteError {
    /// The router's configuration is none.
    Config(ConfigError),
    /// Storage that does not suit the machine.
    Storage {
        /// Bytes of memory given.
        bytes: usize,
        /// Slots given.
        slots: usize,
        /// PEs of the machine.
        pes: usize,
    },
    /// The machine lacks that PE.
    NoSuchPe {
        /// The PE.
        pe: u16,
        /// PEs of the machine.
        pes: usize,
    },
    /// Bytes outside a PE's memory.
    OutOfMemory {
        /// The PE.
        pe: u16,
        /// First address.
        addr: u64,
        /// Bytes.
        len: u64,
        /// Bytes of its memory.
        size: u64,
    },
    /// The PE has a transfer under way, or its last notification was not taken.
    Busy {
        /// The PE.
        pe: u16,
    },
    /// The schedule does not serve this PE's pair in one cycle.
    NotInSchedule {
        /// The PE.
        pe: u16,
    },
    /// A token of another transfer.
    WrongToken {
        /// Its number.
        number: u32,
        /// The number of the last transfer.
        last: u32,
    },
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Storage { bytes, slots, pes } => write!(
                f,
                "{bytes} bytes and {slots} slots do not divide among {pes} PEs"
            ),
            Self::NoSuchPe { pe, pes } => write!(f, "PE {pe} is outside 0..{pes}"),
            Self::OutOfMemory {
                pe,
                addr,
                len,
                size,
            } => {
                write!(
                    f,
                    "{len} bytes at {addr:#x} are outside the {size} bytes of PE {pe}"
                )
            }
            Self::Busy { pe } => write!(f, "PE {pe} has a transfer under way"),
            Self::NotInSchedule { pe } => write!(f, "schedule does not serve PE {pe}"),
            Self::WrongToken { number, last } => {
                write!(f, "token of transfer {number}, the last one is {last}")
            }
        }
    }
}

impl core::error::Error for RemoteError {}

//! Why words or symbols are no packet.

use core::fmt;

use super::packet::Mark;

/// Why some words or symbols are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PacketError {
    /// Too few words.
    TooShort {
        /// Words given.
        words: usize,
        /// Words needed.
        needed: usize,
    },
    /// A short packet with words behind it.
    TooLong {
        /// Words given.
        words: usize,
        /// Words of the packet.
        allowed: usize,
    },
    /// A mark where another one belongs.
    WrongMark {
        /// Index of the word.
        index: usize,
        /// The mark found.
        found: Mark,
        /// The mark that belongs there.
        expected: Mark,
    },
    /// The header CRC does not match.
    HeaderCrc {
        /// The CRC carried.
        found: u32,
        /// The CRC computed.
        expected: u32,
    },
    /// The data CRC does not match.
    DataCrc {
        /// The CRC carried.
        found: u32,
        /// The CRC computed.
        expected: u32,
    },
    /// A symbol that cannot stand there.
    BadSymbol {
        /// Index of the symbol.
        index: usize,
        /// Its 9 bits.
        bits: u16,
    },
    /// Symbols behind the last whole word.
    PartialWord {
        /// Symbols given.
        symbols: usize,
    },
    /// The destination holds too few words.
    NoRoom {
        /// Words of room.
        room: usize,
        /// Words needed.
        needed: usize,
    },
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { words, needed } => {
                write!(f, "packet of {words} words, at least {needed} needed")
            }
            Self::TooLong { words, allowed } => {
                write!(f, "packet of {words} words, {allowed} allowed")
            }
            Self::WrongMark {
                index,
                found,
                expected,
            } => {
                write!(f, "word {index} is marked {found:?}, must be {expected:?}")
            }
            Self::HeaderCrc { found, expected } => {
                write!(f, "header crc {found:#010x}, must be {expected:#010x}")
            }
            Self::DataCrc { found, expected } => {
                write!(f, "data crc {found:#010x}, must be {expected:#010x}")
            }
            Self::BadSymbol { index, bits } => {
                write!(
                    f,
                    "symbol {index} is {bits:#05x}, no such code is allowed there"
                )
            }
            Self::PartialWord { symbols } => {
                write!(f, "{symbols} symbols are no whole number of 4-symbol words")
            }
            Self::NoRoom { room, needed } => {
                write!(f, "room for {room} words, {needed} needed")
            }
        }
    }
}

impl core::error::Error for PacketError {}

//! What is wrong with the bytes of a control message.

use core::fmt;

/// Why bytes are no control message, or cannot become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WireError {
    /// Fewer bytes than the message has.
    Truncated {
        /// Bytes that are there.
        len: usize,
        /// Bytes that are needed.
        needed: usize,
    },
    /// A kind that is none of SHORT, REQ, RSP, CRDT.
    UnknownKind {
        /// Byte 0 of the header.
        kind: u8,
    },
    /// A flag bit that has no meaning.
    ReservedFlags {
        /// Byte 1 of the header.
        flags: u8,
    },
    /// A negative tag outside of an internal context.
    NegativeTag {
        /// The tag.
        tag: i32,
    },
    /// More payload than a slot holds.
    PayloadTooLong {
        /// Bytes of payload.
        length: u64,
        /// What fits.
        max: usize,
    },
    /// A payload that has not the length of its kind.
    PayloadLength {
        /// The kind.
        kind: super::Kind,
        /// Bytes of payload.
        length: u32,
        /// Bytes that this kind has.
        needed: u32,
    },
    /// A word that has to be zero is not.
    ReservedWord {
        /// Its offset in the payload.
        offset: u8,
        /// Its value.
        value: u32,
    },
    /// An entry of length 0.
    EmptyEntry {
        /// Its address.
        phys: u32,
    },
    /// An entry that passes the end of the 32-bit address space.
    EntryWraps {
        /// Its address.
        phys: u32,
        /// Its length.
        len: u32,
    },
    /// An RSP that does not end where it has to: at `accept_len`, or before it
    /// with MORE.
    ChunkEnd {
        /// Where its last byte lies in the message, plus one.
        end: u64,
        /// Bytes that the receiver takes.
        accept_len: u64,
        /// Whether MORE is set.
        more: bool,
    },
    /// An RSP whose pages pass 2^64 bytes of message.
    ChunkWraps {
        /// Where the page begins in the message.
        end: u64,
        /// Its length.
        len: u32,
    },
    /// An RSP without entries although some of what is accepted has no place
    /// yet.
    EmptyChunk {
        /// Bytes that have a place.
        chunk_off: u64,
        /// Bytes that the receiver takes.
        accept_len: u64,
    },
    /// A message of another life of the sender.
    Incarnation {
        /// What the message carries.
        found: u32,
        /// What the sender told at boot.
        expected: u32,
    },
    /// A source that has no place in a message identifier.
    SourceTooLarge {
        /// The source.
        source: u16,
        /// The largest that fits.
        max: u16,
    },
    /// An index that has no place in a message identifier.
    IndexTooLarge {
        /// The index.
        index: u16,
        /// The largest that fits.
        max: u16,
    },
    /// More than 24 bits of message identifier.
    MessageIdTooLarge {
        /// The bits.
        bits: u32,
        /// The largest value.
        max: u32,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { len, needed } => {
                write!(f, "{len} bytes of a message that needs {needed}")
            }
            Self::UnknownKind { kind } => write!(f, "message kind {kind}, allowed 1 to 4"),
            Self::ReservedFlags { flags } => {
                write!(f, "message flags {flags:#04x}, allowed bits 0x1f")
            }
            Self::NegativeTag { tag } => {
                write!(f, "tag {tag} in a user context, allowed 0 and above")
            }
            Self::PayloadTooLong { length, max } => {
                write!(f, "payload of {length} bytes, at most {max}")
            }
            Self::PayloadLength {
                kind,
                length,
                needed,
            } => write!(
                f,
                "{kind} with {length} bytes of payload instead of {needed}"
            ),
            Self::ReservedWord { offset, value } => {
                write!(f, "payload word at {offset} is {value:#x} instead of 0")
            }
            Self::EmptyEntry { phys } => write!(f, "page at {phys:#x} with 0 bytes, at least 1"),
            Self::EntryWraps { phys, len } => {
                write!(f, "page of {len} bytes at {phys:#x} passes 4 GB")
            }
            Self::ChunkEnd {
                end,
                accept_len,
                more,
            } => {
                let place = if more { "before" } else { "at" };
                write!(f, "pages end at byte {end}, must end {place} {accept_len}")
            }
            Self::ChunkWraps { end, len } => {
                write!(
                    f,
                    "page of {len} bytes at byte {end} of the message passes 2^64"
                )
            }
            Self::EmptyChunk {
                chunk_off,
                accept_len,
            } => write!(
                f,
                "no page for bytes {chunk_off} to {accept_len}, at least 1"
            ),
            Self::Incarnation { found, expected } => {
                write!(f, "message of incarnation {found}, expected {expected}")
            }
            Self::SourceTooLarge { source, max } => {
                write!(f, "source {source} in a message identifier, at most {max}")
            }
            Self::IndexTooLarge { index, max } => {
                write!(f, "index {index} in a message identifier, at most {max}")
            }
            Self::MessageIdTooLarge { bits, max } => {
                write!(f, "message identifier {bits:#x}, at most {max:#x}")
            }
        }
    }
}

impl core::error::Error for WireError {}

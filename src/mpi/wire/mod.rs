//! Control messages as they lie in a slot, little-endian.
//!
//! ```text
//!  0        32                 32 + padded     + 4
//!  +--------+---------+--------+---------------+
//!  | header | payload | zeros  | trailer       |
//!  +--------+---------+--------+---------------+
//! ```
//!
//! [`parse`] is total: any bytes give a [`View`] or a [`WireError`]. What it
//! accepts has a known kind, no reserved bit, a tag that is negative only
//! where the context is internal, a payload of the kind's form inside of the
//! slot, and (RSP) entries that are not empty, do not pass 4 GB and stay
//! inside of what was accepted. Not judged here: whether the message may come
//! now (`seq`, credits: [`credit`](crate::mpi::credit)), from whom
//! (`incarnation`: [`Header::check_incarnation`]), and whether its last byte
//! has arrived ([`poll`], [`is_complete`]).
//!
//! [`emit`] and [`emit_rsp`] write into the sender's staging buffer, which
//! holds the bytes that the slot held last; that is what the trailer rule
//! needs. They fail before they write a byte.

mod emit;
mod error;
mod header;
mod message_id;
mod payload;
mod trailer;
mod view;

#[cfg(test)]
mod tests;

pub use emit::{Emitted, emit, emit_rsp};
pub use error::WireError;
pub use header::{Flags, Header, Kind, peek_seq};
pub use message_id::{Class, MessageId};
pub use payload::{Entries, Entry, Payload, Req, Rsp};
pub use trailer::{Trailer, is_complete, trailer_for};
pub use view::{View, parse, poll};

/// Bytes of a slot in the standard configuration.
pub const SLOT_LEN: usize = 16_384;
/// Bytes of the header.
pub const HEADER_LEN: usize = 32;
/// Bytes of the trailer.
pub const TRAILER_LEN: usize = 4;
/// Bytes of payload that fit, at most.
pub const MAX_PAYLOAD: usize = SLOT_LEN - HEADER_LEN - TRAILER_LEN;

/// Payload bytes on the wire: up to the next multiple of 4.
#[must_use]
pub const fn padded_len(length: usize) -> usize {
    length.saturating_add(3) & !3
}

/// Bytes of a whole message: header, padded payload, trailer.
#[must_use]
pub const fn wire_len(length: usize) -> usize {
    padded_len(length).saturating_add(HEADER_LEN + TRAILER_LEN)
}

/// Payload bytes that fit into a slot of `slot` bytes.
#[must_use]
pub const fn max_payload(slot: usize) -> usize {
    let room = slot.saturating_sub(HEADER_LEN + TRAILER_LEN) & !3;
    if room < MAX_PAYLOAD {
        room
    } else {
        MAX_PAYLOAD
    }
}

/// The sequence number behind `seq`: 2^32 - 1 is followed by 1.
#[must_use]
pub const fn next_seq(seq: u32) -> u32 {
    if seq == u32::MAX { 1 } else { seq + 1 }
}

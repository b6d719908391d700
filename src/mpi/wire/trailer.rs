//! The word behind the payload, by which a polling receiver knows that all of
//! the message is there.
//!
//! The receiver first waits for `seq` in the header, then for the trailer.
//! What lies at the trailer's place before the message is an old payload or
//! trailer word; were it equal to the awaited value, half a message would be
//! taken for a whole one. So there are two values, `seq` and `!seq`, and the
//! sender, whose staging buffer holds what the slot holds, takes one that
//! differs from the old word.

use super::{Flags, Header};

/// A trailer word and the flag that announces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Trailer {
    /// The word behind the payload.
    pub word: u32,
    /// Whether it is `!seq`: the header carries [`Flags::ALT`].
    pub alt: bool,
}

/// The trailer of message `seq` for a place that last held `previous_word`.
/// It always differs from that word.
#[must_use]
pub const fn trailer_for(seq: u32, previous_word: u32) -> Trailer {
    let alt = previous_word == seq;
    Trailer {
        word: if alt { !seq } else { seq },
        alt,
    }
}

/// Whether `word`, found behind the payload, ends the message of `header`.
#[must_use]
pub const fn is_complete(header: &Header, word: u32) -> bool {
    let expected = if header.flags.contains(Flags::ALT) {
        !header.seq
    } else {
        header.seq
    };
    word == expected
}

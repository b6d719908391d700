//! The 32 bytes at the start of a slot.

use core::fmt;

use super::{HEADER_LEN, WireError};

/// Subtype of a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Kind {
    /// User data inside.
    Short = 1,
    /// Asks to send a large data message.
    Req = 2,
    /// Answers a REQ: where the data may go.
    Rsp = 3,
    /// Credits alone.
    Crdt = 4,
}

impl Kind {
    /// Every kind, by number.
    pub const ALL: [Self; 4] = [Self::Short, Self::Req, Self::Rsp, Self::Crdt];

    /// The kind of this number.
    ///
    /// # Errors
    /// [`WireError::UnknownKind`].
    pub const fn from_bits(bits: u8) -> Result<Self, WireError> {
        match bits {
            1 => Ok(Self::Short),
            2 => Ok(Self::Req),
            3 => Ok(Self::Rsp),
            4 => Ok(Self::Crdt),
            kind => Err(WireError::UnknownKind { kind }),
        }
    }

    /// Whether it carries an envelope, that is, takes part in matching.
    #[must_use]
    pub const fn has_envelope(self) -> bool {
        matches!(self, Self::Short | Self::Req)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "SHORT",
            Self::Req => "REQ",
            Self::Rsp => "RSP",
            Self::Crdt => "CRDT",
        })
    }
}

/// Flag bits of a control message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Flags(u8);

impl Flags {
    /// None set.
    pub const NONE: Self = Self(0);
    /// The trailer is `!seq`. Set by [`emit`](super::emit) alone.
    pub const ALT: Self = Self(1);
    /// A synchronous send.
    pub const SYNC: Self = Self(1 << 1);
    /// Further RSP of the same answer follow. Set by
    /// [`emit_rsp`](super::emit_rsp) alone.
    pub const MORE: Self = Self(1 << 2);
    /// The sender reports an error.
    pub const ERR: Self = Self(1 << 3);
    /// The context is one of the library's own (collectives, windows): tags
    /// may be negative.
    pub const INTERNAL: Self = Self(1 << 4);
    /// RSP: a landing offer, sent before any REQ. REQ: its data goes to the
    /// landing that was offered, without an answer. Has no meaning elsewhere.
    pub const OFFER: Self = Self(1 << 5);
    const ALL: u8 = 0x3F;

    /// These bits.
    ///
    /// # Errors
    /// [`WireError::ReservedFlags`] for a bit without meaning.
    pub const fn from_bits(flags: u8) -> Result<Self, WireError> {
        if flags & !Self::ALL != 0 {
            return Err(WireError::ReservedFlags { flags });
        }
        Ok(Self(flags))
    }

    /// The byte on the wire.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// With `other` set as well.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// With `other` cleared.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// With `other` set or cleared.
    #[must_use]
    pub const fn set(self, other: Self, on: bool) -> Self {
        if on {
            self.with(other)
        } else {
            self.without(other)
        }
    }
}

/// Header of a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// Subtype.
    pub kind: Kind,
    /// Flag bits.
    pub flags: Flags,
    /// Slots of the reverse direction given back.
    pub credits: u16,
    /// Context of the communicator.
    pub context: u32,
    /// Tag; negative only with [`Flags::INTERNAL`].
    pub tag: i32,
    /// Rank of the sender in that communicator.
    pub src_rank: u32,
    /// Bytes of payload in this slot. Set by the emitters.
    pub length: u32,
    /// Eager bytes of the reverse direction matched since the last message.
    pub released: u32,
    /// Which life of the sender this is.
    pub incarnation: u32,
    /// Number of the message in its pair: from 1, never 0.
    pub seq: u32,
}

impl Header {
    /// A header of this kind with everything else zero.
    #[must_use]
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            flags: Flags::NONE,
            credits: 0,
            context: 0,
            tag: 0,
            src_rank: 0,
            length: 0,
            released: 0,
            incarnation: 0,
            seq: 0,
        }
    }

    /// Reads the fields; the payload is not looked at.
    ///
    /// # Errors
    /// [`WireError::UnknownKind`], [`WireError::ReservedFlags`],
    /// [`WireError::NegativeTag`].
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Result<Self, WireError> {
        let [
            kind,
            flags,
            c0,
            c1,
            x0,
            x1,
            x2,
            x3,
            t0,
            t1,
            t2,
            t3,
            s0,
            s1,
            s2,
            s3, //
            l0,
            l1,
            l2,
            l3,
            r0,
            r1,
            r2,
            r3,
            i0,
            i1,
            i2,
            i3,
            q0,
            q1,
            q2,
            q3,
        ] = *bytes;
        let header = Self {
            kind: Kind::from_bits(kind)?,
            flags: Flags::from_bits(flags)?,
            credits: u16::from_le_bytes([c0, c1]),
            context: u32::from_le_bytes([x0, x1, x2, x3]),
            tag: i32::from_le_bytes([t0, t1, t2, t3]),
            src_rank: u32::from_le_bytes([s0, s1, s2, s3]),
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            released: u32::from_le_bytes([r0, r1, r2, r3]),
            incarnation: u32::from_le_bytes([i0, i1, i2, i3]),
            seq: u32::from_le_bytes([q0, q1, q2, q3]),
        };
        header.check_tag()?;
        Ok(header)
    }

    /// Inverse of [`parse`](Self::parse).
    #[must_use]
    pub fn emit(&self) -> [u8; HEADER_LEN] {
        let [c0, c1] = self.credits.to_le_bytes();
        let mut bytes = [0; HEADER_LEN];
        let words = [
            u32::from_le_bytes([self.kind as u8, self.flags.bits(), c0, c1]),
            self.context,
            u32::from_le_bytes(self.tag.to_le_bytes()),
            self.src_rank,
            self.length,
            self.released,
            self.incarnation,
            self.seq,
        ];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// Holds the message against what its sender told at boot.
    ///
    /// # Errors
    /// [`WireError::Incarnation`]: the message is to be dropped.
    pub const fn check_incarnation(&self, expected: u32) -> Result<(), WireError> {
        if self.incarnation == expected {
            return Ok(());
        }
        Err(WireError::Incarnation {
            found: self.incarnation,
            expected,
        })
    }

    pub(super) const fn check_tag(&self) -> Result<(), WireError> {
        if self.flags.contains(Flags::OFFER) && !matches!(self.kind, Kind::Req | Kind::Rsp) {
            return Err(WireError::ReservedFlags {
                flags: self.flags.bits(),
            });
        }
        if self.tag < 0 && !self.flags.contains(Flags::INTERNAL) {
            return Err(WireError::NegativeTag { tag: self.tag });
        }
        Ok(())
    }
}

/// One line, field=value.
impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} seq={} len={} context={} tag={} src={} credits={} released={} flags={:#04x} incarnation={}",
            self.kind,
            self.seq,
            self.length,
            self.context,
            self.tag,
            self.src_rank,
            self.credits,
            self.released,
            self.flags.bits(),
            self.incarnation,
        )
    }
}

/// The sequence number in a header that may not have arrived: the last word,
/// so that the rest of the header is there when this is.
#[must_use]
pub const fn peek_seq(bytes: &[u8; HEADER_LEN]) -> u32 {
    let [.., a, b, c, d] = *bytes;
    u32::from_le_bytes([a, b, c, d])
}

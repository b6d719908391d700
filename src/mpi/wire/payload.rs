//! What the four kinds carry.

use super::{Kind, WireError};

/// Payload of a REQ: "I have that much for you".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Req {
    /// Bytes of the data message.
    pub total_len: u64,
    /// Name of the send at its sender, echoed by the RSP.
    pub sender_req: u32,
}

impl Req {
    /// Bytes on the wire.
    pub const WIRE_LEN: usize = 16;

    /// # Errors
    /// [`WireError::ReservedWord`].
    pub fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Result<Self, WireError> {
        let [a, b, c, d, e, f, g, h, s0, s1, s2, s3, z @ ..] = *bytes;
        reserved(12, u32::from_le_bytes(z))?;
        Ok(Self {
            total_len: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            sender_req: u32::from_le_bytes([s0, s1, s2, s3]),
        })
    }

    /// Inverse of [`parse`](Self::parse).
    #[must_use]
    pub fn emit(&self) -> [u8; Self::WIRE_LEN] {
        let mut bytes = [0; Self::WIRE_LEN];
        let halves = [self.total_len, self.sender_req.into()];
        for (place, half) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(halves) {
            *place = half.to_le_bytes();
        }
        bytes
    }
}

/// Head of an RSP: how much may come, and which part of it this slot places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rsp {
    /// The send that is answered.
    pub sender_req: u32,
    /// Name of the receive at its receiver: index of the final notification.
    pub recv_req: u32,
    /// Bytes that the receiver takes, of the whole message.
    pub accept_len: u64,
    /// Where in the message the first entry of this slot lies.
    pub chunk_off: u64,
    /// 0, or why the receiver takes nothing.
    pub status: u16,
}

impl Rsp {
    /// Bytes of the head on the wire.
    pub const HEAD_LEN: usize = 32;
    /// Entries that fit into a standard slot behind the head.
    pub const MAX_ENTRIES: usize = (super::MAX_PAYLOAD - Self::HEAD_LEN) / Entry::WIRE_LEN;

    /// The head, and the number of entries that it announces.
    pub(super) fn parse(bytes: &[u8; Self::HEAD_LEN]) -> Result<(Self, u16), WireError> {
        let [
            s0,
            s1,
            s2,
            s3,
            r0,
            r1,
            r2,
            r3,
            a0,
            a1,
            a2,
            a3,
            a4,
            a5,
            a6,
            a7, //
            o0,
            o1,
            o2,
            o3,
            o4,
            o5,
            o6,
            o7,
            n0,
            n1,
            t0,
            t1,
            z @ ..,
        ] = *bytes;
        reserved(28, u32::from_le_bytes(z))?;
        let rsp = Self {
            sender_req: u32::from_le_bytes([s0, s1, s2, s3]),
            recv_req: u32::from_le_bytes([r0, r1, r2, r3]),
            accept_len: u64::from_le_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            chunk_off: u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
            status: u16::from_le_bytes([t0, t1]),
        };
        Ok((rsp, u16::from_le_bytes([n0, n1])))
    }

    pub(super) fn emit(&self, n_pages: u16) -> [u8; Self::HEAD_LEN] {
        let mut bytes = [0; Self::HEAD_LEN];
        let quarters = [
            u64::from(self.recv_req) << 32 | u64::from(self.sender_req),
            self.accept_len,
            self.chunk_off,
            u64::from(self.status) << 16 | u64::from(n_pages),
        ];
        for (place, quarter) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(quarters) {
            *place = quarter.to_le_bytes();
        }
        bytes
    }
}

/// A piece of the receiver's memory: not empty, below 4 GB with all its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Entry {
    phys: u32,
    len: u32,
}

impl Entry {
    /// Bytes on the wire.
    pub const WIRE_LEN: usize = 8;

    /// `len` bytes from `phys`.
    ///
    /// # Errors
    /// [`WireError::EmptyEntry`], [`WireError::EntryWraps`].
    pub const fn new(phys: u32, len: u32) -> Result<Self, WireError> {
        if len == 0 {
            return Err(WireError::EmptyEntry { phys });
        }
        // The last byte may lie at 2^32 - 1.
        if phys.checked_add(len - 1).is_none() {
            return Err(WireError::EntryWraps { phys, len });
        }
        Ok(Self { phys, len })
    }

    /// Physical address of the first byte.
    #[must_use]
    pub const fn phys(self) -> u32 {
        self.phys
    }

    /// Bytes, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub const fn len(self) -> u32 {
        self.len
    }

    pub(super) fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Result<Self, WireError> {
        let [p0, p1, p2, p3, l0, l1, l2, l3] = *bytes;
        Self::new(
            u32::from_le_bytes([p0, p1, p2, p3]),
            u32::from_le_bytes([l0, l1, l2, l3]),
        )
    }

    pub(super) fn emit(self) -> [u8; Self::WIRE_LEN] {
        (u64::from(self.len) << 32 | u64::from(self.phys)).to_le_bytes()
    }

    /// Its first bytes, at most `max` (at least 1).
    pub(super) fn clipped(self, max: u64) -> Self {
        let len = u64::from(self.len).min(max.max(1)) as u32;
        Self { len, ..self }
    }
}

/// Entries of an RSP, in message order; all of them were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Entries<'a> {
    /// Only [`parse`](super::parse) fills it, once each entry is checked.
    pub(super) bytes: &'a [[u8; Entry::WIRE_LEN]],
}

impl Entries<'_> {
    /// Entries in this slot.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.bytes.len()
    }

    /// Entry `index` of those that are left.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Entry> {
        Entry::parse(self.bytes.get(index)?).ok()
    }

    /// Bytes that all of them cover.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.map(|entry| u64::from(entry.len)).sum()
    }
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Entry::parse(first).ok()
    }
}

/// What a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Payload<'a> {
    /// User bytes.
    Short(&'a [u8]),
    /// Question.
    Req(Req),
    /// Answer.
    Rsp(Rsp, Entries<'a>),
    /// Nothing.
    Crdt,
}

impl Payload<'_> {
    /// The kind that carries this.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Short(_) => Kind::Short,
            Self::Req(_) => Kind::Req,
            Self::Rsp(..) => Kind::Rsp,
            Self::Crdt => Kind::Crdt,
        }
    }
}

fn reserved(offset: u8, value: u32) -> Result<(), WireError> {
    match value {
        0 => Ok(()),
        _ => Err(WireError::ReservedWord { offset, value }),
    }
}

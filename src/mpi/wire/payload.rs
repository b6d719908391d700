//! What the four kinds carry, whole messages in, whole messages out.

use super::{
    Flags, HEADER_LEN, Header, Kind, TRAILER_LEN, WireError, is_complete, max_payload, padded_len,
    peek_seq, trailer_for, wire_len,
};

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

    fn parse(bytes: &[u8; Self::HEAD_LEN]) -> Result<(Self, u16), WireError> {
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

    fn emit(&self, n_pages: u16) -> [u8; Self::HEAD_LEN] {
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

    fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Result<Self, WireError> {
        let [p0, p1, p2, p3, l0, l1, l2, l3] = *bytes;
        Self::new(
            u32::from_le_bytes([p0, p1, p2, p3]),
            u32::from_le_bytes([l0, l1, l2, l3]),
        )
    }

    fn emit(self) -> [u8; Self::WIRE_LEN] {
        (u64::from(self.len) << 32 | u64::from(self.phys)).to_le_bytes()
    }

    /// Its first bytes, at most `max` (at least 1).
    fn clipped(self, max: u64) -> Self {
        let len = u64::from(self.len).min(max.max(1)) as u32;
        Self { len, ..self }
    }
}

/// Entries of an RSP, in message order; all of them were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Entries<'a> {
    bytes: &'a [[u8; Entry::WIRE_LEN]],
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

/// A control message in the bytes it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct View<'a> {
    /// Its header.
    pub header: Header,
    /// Its payload; always of the header's kind.
    pub payload: Payload<'a>,
    /// The word at the trailer's place; see [`is_complete`].
    pub trailer: u32,
}

impl View<'_> {
    /// Whether the last byte is there.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        is_complete(&self.header, self.trailer)
    }
}

/// Reads the message at the start of `slot`. The trailer is read, not judged.
///
/// # Errors
/// Each [`WireError`] but those of identifiers and incarnations.
pub fn parse(slot: &[u8]) -> Result<View<'_>, WireError> {
    let (head, rest) = split::<HEADER_LEN>(slot, 0)?;
    let header = Header::parse(head)?;
    view(header, rest, slot.len())
}

/// A message that may still be arriving in `slot`: `None` as long as its
/// header or its trailer is not the awaited one.
///
/// What arrives in order must be looked at in order: header, trailer word,
/// and the payload not before the trailer word was the awaited one (or all of
/// the slot at one instant).
///
/// # Errors
/// As [`parse`], once the header is there; the payload is judged once all of
/// it is there.
pub fn poll(slot: &[u8], expected_seq: u32) -> Result<Option<View<'_>>, WireError> {
    let (head, rest) = split::<HEADER_LEN>(slot, 0)?;
    if peek_seq(head) != expected_seq {
        return Ok(None);
    }
    let header = Header::parse(head)?;
    let (_, word) = body(&header, rest, slot.len())?;
    if !is_complete(&header, word) {
        return Ok(None);
    }
    view(header, rest, slot.len()).map(Some)
}

/// What [`emit_rsp`] has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Emitted {
    /// Bytes of the message, trailer included: what has to be PUT.
    pub wire_len: usize,
    /// Where the next chunk starts: `chunk_off` plus the bytes of the entries.
    pub end: u64,
    /// Whether that is before `accept_len`; the header then carries MORE.
    pub more: bool,
}

/// Writes a message into a staging buffer and gives its bytes on the wire.
/// `length`, [`Flags::ALT`] and (RSP) [`Flags::MORE`] are set here.
///
/// # Errors
/// [`WireError::PayloadTooLong`] for the buffer, [`WireError::NegativeTag`],
/// [`WireError::PayloadLength`] when header and payload differ in kind,
/// [`WireError::ChunkEnd`]; nothing is written then.
pub fn emit(header: &Header, payload: &Payload<'_>, slot: &mut [u8]) -> Result<usize, WireError> {
    match payload {
        Payload::Short(data) => put(header, Kind::Short, data, slot),
        Payload::Req(req) => put(header, Kind::Req, &req.emit(), slot),
        Payload::Crdt => put(header, Kind::Crdt, &[], slot),
        Payload::Rsp(rsp, entries) => {
            let length = Rsp::HEAD_LEN + Entry::WIRE_LEN * entries.count();
            fits(length, slot)?;
            emit_rsp(header, rsp, &mut entries.clone(), slot).map(|emitted| emitted.wire_len)
        }
    }
}

/// Writes an RSP with as many entries as fit, from an iterator over the
/// receiver's pieces that stands at `chunk_off`. The entry that passes
/// `accept_len` is cut there, and nothing is taken behind it.
///
/// Call again with the same iterator and `chunk_off = end` while `more`; an
/// iterator that ends before `accept_len` leaves `more` with `end` unmoved.
///
/// # Errors
/// [`WireError::PayloadTooLong`] when not even one entry fits,
/// [`WireError::ChunkEnd`] for a `chunk_off` beyond `accept_len`,
/// [`WireError::NegativeTag`], [`WireError::PayloadLength`] for a header of
/// another kind; nothing is written then.
pub fn emit_rsp(
    header: &Header,
    rsp: &Rsp,
    entries: &mut dyn Iterator<Item = Entry>,
    slot: &mut [u8],
) -> Result<Emitted, WireError> {
    check(header, Kind::Rsp, Rsp::HEAD_LEN)?;
    fits(Rsp::HEAD_LEN + Entry::WIRE_LEN, slot)?;
    let Rsp {
        accept_len,
        chunk_off,
        ..
    } = *rsp;
    if chunk_off > accept_len {
        return Err(WireError::ChunkEnd {
            end: chunk_off,
            accept_len,
            more: false,
        });
    }
    let room = max_payload(slot.len()) - Rsp::HEAD_LEN;
    let places = slot
        .get_mut(HEADER_LEN + Rsp::HEAD_LEN..)
        .map(|rest| rest.as_chunks_mut::<{ Entry::WIRE_LEN }>().0)
        .unwrap_or_default();
    let mut end = chunk_off;
    let mut count: u16 = 0;
    for place in places.iter_mut().take(room / Entry::WIRE_LEN) {
        if end >= accept_len {
            break;
        }
        let Some(entry) = entries.next() else { break };
        let entry = entry.clipped(accept_len - end);
        *place = entry.emit();
        end += u64::from(entry.len);
        count += 1;
    }
    let more = end < accept_len;
    if let Some(place) = slot.get_mut(HEADER_LEN..HEADER_LEN + Rsp::HEAD_LEN) {
        place.copy_from_slice(&rsp.emit(count));
    }
    let header = Header {
        flags: header.flags.set(Flags::MORE, more),
        ..*header
    };
    let length = Rsp::HEAD_LEN + Entry::WIRE_LEN * usize::from(count);
    Ok(Emitted {
        wire_len: close(&header, length, slot),
        end,
        more,
    })
}

fn put(header: &Header, kind: Kind, data: &[u8], slot: &mut [u8]) -> Result<usize, WireError> {
    check(header, kind, data.len())?;
    fits(data.len(), slot)?;
    if let Some(place) = slot.get_mut(HEADER_LEN..HEADER_LEN + data.len()) {
        place.copy_from_slice(data);
    }
    Ok(close(header, data.len(), slot))
}

fn check(header: &Header, kind: Kind, needed: usize) -> Result<(), WireError> {
    if header.kind != kind {
        return Err(WireError::PayloadLength {
            kind: header.kind,
            length: header.length,
            needed: u32::try_from(needed).unwrap_or(u32::MAX),
        });
    }
    header.check_tag()
}

fn fits(length: usize, slot: &[u8]) -> Result<(), WireError> {
    let max = max_payload(slot.len());
    if length > max || slot.len() < HEADER_LEN + TRAILER_LEN {
        return Err(WireError::PayloadTooLong {
            length: length as u64,
            max,
        });
    }
    Ok(())
}

/// Padding, trailer and header around a payload that fits and is in place.
fn close(header: &Header, length: usize, slot: &mut [u8]) -> usize {
    let padded = HEADER_LEN + padded_len(length);
    let mut header = Header {
        length: u32::try_from(length).unwrap_or(u32::MAX),
        ..*header
    };
    if let Some(place) = slot.get_mut(padded..).and_then(|s| s.first_chunk_mut()) {
        let trailer = trailer_for(header.seq, u32::from_le_bytes(*place));
        *place = trailer.word.to_le_bytes();
        header.flags = header.flags.set(Flags::ALT, trailer.alt);
    }
    if let Some(padding) = slot.get_mut(HEADER_LEN + length..padded) {
        padding.fill(0);
    }
    if let Some(place) = slot.first_chunk_mut() {
        *place = header.emit();
    }
    wire_len(length)
}

fn reserved(offset: u8, value: u32) -> Result<(), WireError> {
    match value {
        0 => Ok(()),
        _ => Err(WireError::ReservedWord { offset, value }),
    }
}

/// The first `N` bytes and the rest; `before` bytes were already taken.
fn split<const N: usize>(bytes: &[u8], before: usize) -> Result<(&[u8; N], &[u8]), WireError> {
    bytes.split_first_chunk().ok_or(WireError::Truncated {
        len: before + bytes.len(),
        needed: before + N,
    })
}

/// Payload and trailer word of a message behind its header.
fn body<'a>(header: &Header, rest: &'a [u8], slot: usize) -> Result<(&'a [u8], u32), WireError> {
    let max = super::MAX_PAYLOAD;
    let length = usize::try_from(header.length).unwrap_or(usize::MAX);
    if length > max {
        return Err(WireError::PayloadTooLong {
            length: header.length.into(),
            max,
        });
    }
    let truncated = WireError::Truncated {
        len: slot,
        needed: wire_len(length),
    };
    let (padded, behind) = rest.split_at_checked(padded_len(length)).ok_or(truncated)?;
    let word = behind.first_chunk().ok_or(truncated)?;
    let payload = padded.get(..length).ok_or(truncated)?;
    Ok((payload, u32::from_le_bytes(*word)))
}

fn view(header: Header, rest: &[u8], slot: usize) -> Result<View<'_>, WireError> {
    let (bytes, trailer) = body(&header, rest, slot)?;
    let wrong = |needed: usize| WireError::PayloadLength {
        kind: header.kind,
        length: header.length,
        needed: u32::try_from(needed).unwrap_or(u32::MAX),
    };
    let payload = match header.kind {
        Kind::Short => Payload::Short(bytes),
        Kind::Req => {
            let bytes = bytes.try_into().map_err(|_| wrong(Req::WIRE_LEN))?;
            Payload::Req(Req::parse(bytes)?)
        }
        Kind::Rsp => {
            let Some((head, entries)) = bytes.split_first_chunk() else {
                return Err(wrong(Rsp::HEAD_LEN));
            };
            let (rsp, count) = Rsp::parse(head)?;
            let (entries, left) = entries.as_chunks();
            if entries.len() != usize::from(count) || !left.is_empty() {
                let needed = Rsp::HEAD_LEN + Entry::WIRE_LEN * usize::from(count);
                return Err(wrong(needed));
            }
            check_entries(&header, &rsp, entries)?;
            Payload::Rsp(rsp, Entries { bytes: entries })
        }
        Kind::Crdt if bytes.is_empty() => Payload::Crdt,
        Kind::Crdt => return Err(wrong(0)),
    };
    Ok(View {
        header,
        payload,
        trailer,
    })
}

/// Every entry good, all inside of `accept_len`, up to it unless MORE.
fn check_entries(
    header: &Header,
    rsp: &Rsp,
    entries: &[[u8; Entry::WIRE_LEN]],
) -> Result<(), WireError> {
    let mut end = rsp.chunk_off;
    for bytes in entries {
        end = end.saturating_add(Entry::parse(bytes)?.len.into());
    }
    let more = header.flags.contains(Flags::MORE);
    let accept_len = rsp.accept_len;
    let good = if more {
        end < accept_len
    } else {
        end == accept_len
    };
    if good {
        return Ok(());
    }
    Err(WireError::ChunkEnd {
        end,
        accept_len,
        more,
    })
}

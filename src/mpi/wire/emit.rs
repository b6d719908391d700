//! Whole messages out, into a staging buffer.

use super::{
    Entry, Flags, HEADER_LEN, Header, Kind, Payload, Rsp, TRAILER_LEN, WireError, max_payload,
    padded_len, trailer_for, wire_len,
};

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
/// Call again with the same iterator and `chunk_off = end` while `more`.
///
/// # Errors
/// [`WireError::PayloadTooLong`] when not even one entry fits,
/// [`WireError::EmptyChunk`] when the iterator is at its end before
/// `accept_len`, [`WireError::ChunkEnd`] for a `chunk_off` beyond it,
/// [`WireError::NegativeTag`], [`WireError::PayloadLength`] for a header of
/// another kind; nothing is written then.
pub fn emit_rsp(
    header: &Header,
    rsp: &Rsp,
    entries: &mut dyn Iterator<Item = Entry>,
    slot: &mut [u8],
) -> Result<Emitted, WireError> {
    check(header, Kind::Rsp, Rsp::HEAD_LEN)?;
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
    let one = if chunk_off < accept_len {
        Entry::WIRE_LEN
    } else {
        0
    };
    fits(Rsp::HEAD_LEN + one, slot)?;
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
        end += u64::from(entry.len());
        count += 1;
    }
    let more = end < accept_len;
    if more && count == 0 {
        return Err(WireError::EmptyChunk {
            chunk_off,
            accept_len,
        });
    }
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

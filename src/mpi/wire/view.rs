//! Whole messages in, from a slot.

use super::{
    Entries, Entry, Flags, HEADER_LEN, Header, Kind, MAX_PAYLOAD, Payload, Req, Rsp, WireError,
    is_complete, padded_len, peek_seq, wire_len,
};

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

/// The first `N` bytes and the rest; `before` bytes were already taken.
fn split<const N: usize>(bytes: &[u8], before: usize) -> Result<(&[u8; N], &[u8]), WireError> {
    bytes.split_first_chunk().ok_or(WireError::Truncated {
        len: before + bytes.len(),
        needed: before + N,
    })
}

/// Payload and trailer word of a message behind its header.
fn body<'a>(header: &Header, rest: &'a [u8], slot: usize) -> Result<(&'a [u8], u32), WireError> {
    let max = MAX_PAYLOAD;
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

/// Every entry good, at least one if bytes are left to place, all inside of
/// `accept_len`, up to it unless MORE.
fn check_entries(
    header: &Header,
    rsp: &Rsp,
    entries: &[[u8; Entry::WIRE_LEN]],
) -> Result<(), WireError> {
    let mut end = rsp.chunk_off;
    for bytes in entries {
        let len = Entry::parse(bytes)?.len();
        end = end
            .checked_add(len.into())
            .ok_or(WireError::ChunkWraps { end, len })?;
    }
    let more = header.flags.contains(Flags::MORE);
    let accept_len = rsp.accept_len;
    if entries.is_empty() && end < accept_len {
        return Err(WireError::EmptyChunk {
            chunk_off: end,
            accept_len,
        });
    }
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

//! What two drivers tell each other: one record, 48 bytes, little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | kind: 1 data, 2 query, 3 state |
//! | 1 | flags: bit 0 notify, bit 1 something is missing |
//! | 2-3 | sender |
//! | 4-7 | number: of the message, the epoch asked for, the number expected next |
//! | 8-11 | epoch |
//! | 12-15 | tag |
//! | 16-19 | remote address of the message |
//! | 20-23 | its length |
//! | 24-27 | CRC-32 of its bytes |
//! | 28-43 | its last bytes, at most 16 |
//! | 44-47 | CRC-32 of the 44 bytes before |
//!
//! [`Record::parse`] gives a record only if the CRC and the kind are right and
//! the length fits; nothing else is judged.

use crc::{CRC_32_ISO_HDLC, Crc};

pub(super) const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Last bytes of a message that travel in its record.
pub(super) const INLINE: u32 = 16;

/// Bytes from one slot to the next. Longer than a record, so that a word
/// written behind a damaged packet hits nothing.
pub(super) const STRIDE: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A message, the record behind its bytes.
    Data = 1,
    /// The sender starts an epoch and asks for the state.
    Query = 2,
    /// What the receiver has accepted.
    State = 3,
}

impl Kind {
    pub(super) const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            1 => Some(Self::Data),
            2 => Some(Self::Query),
            3 => Some(Self::State),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) notify: bool,
    pub(super) missing: bool,
    pub(super) sender: u16,
    pub(super) number: u32,
    pub(super) epoch: u32,
    pub(super) tag: u32,
    pub(super) remote: u32,
    pub(super) length: u32,
    pub(super) crc: u32,
    pub(super) tail: [u8; INLINE as usize],
}

impl Record {
    pub(super) const LEN: usize = 48;

    pub(super) const fn new(kind: Kind, sender: u16, number: u32, epoch: u32) -> Self {
        Self {
            kind,
            notify: false,
            missing: false,
            sender,
            number,
            epoch,
            tag: 0,
            remote: 0,
            length: 0,
            crc: 0,
            tail: [0; INLINE as usize],
        }
    }

    pub(super) fn emit(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let head = self.kind as u32
            | u32::from(self.notify) << 8
            | u32::from(self.missing) << 9
            | u32::from(self.sender) << 16;
        let words = [
            head,
            self.number,
            self.epoch,
            self.tag,
            self.remote,
            self.length,
            self.crc,
        ];
        let (body, check) = bytes.split_at_mut(Self::LEN - 4);
        let (fields, tail) = body.split_at_mut(4 * words.len());
        for (field, word) in fields.chunks_exact_mut(4).zip(words) {
            field.copy_from_slice(&word.to_le_bytes());
        }
        tail.copy_from_slice(&self.tail);
        check.copy_from_slice(&CRC.checksum(body).to_le_bytes());
        bytes
    }

    pub(super) fn parse(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let word = |index: usize| {
            let mut word = [0; 4];
            for (to, from) in word.iter_mut().zip(bytes.iter().skip(4 * index)) {
                *to = *from;
            }
            u32::from_le_bytes(word)
        };
        let (body, _) = bytes.split_at(Self::LEN - 4);
        if word(11) != CRC.checksum(body) {
            return None;
        }
        let head = word(0);
        let mut tail = [0; INLINE as usize];
        for (to, from) in tail.iter_mut().zip(bytes.iter().skip(28)) {
            *to = *from;
        }
        let record = Self {
            kind: Kind::from_bits(head & 0xFF)?,
            notify: head >> 8 & 1 == 1,
            missing: head >> 9 & 1 == 1,
            sender: (head >> 16) as u16,
            number: word(1),
            epoch: word(2),
            tag: word(3),
            remote: word(4),
            length: word(5),
            crc: word(6),
            tail,
        };
        let fits = u64::from(record.remote) + u64::from(record.length) <= 1 << 32;
        fits.then_some(record)
    }

    /// Bytes of the message in its page, and in the record.
    pub(super) const fn parts(&self) -> (u32, u32) {
        parts(self.length)
    }
}

/// Bytes of a message of `length` in its page, and in its record.
pub(super) const fn parts(length: u32) -> (u32, u32) {
    let inline = if length < INLINE { length } else { INLINE };
    (length - inline, inline)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            notify: true,
            tag: 0x1234_5678,
            remote: 0xA_0000,
            length: 100,
            crc: 0xDEAD_BEEF,
            tail: *b"0123456789abcdef",
            ..Record::new(Kind::Data, 5, 77, 3)
        }
    }

    #[test]
    fn fields_lie_where_the_table_says() {
        let bytes = record().emit();
        assert_eq!(bytes[..8], [1, 1, 5, 0, 77, 0, 0, 0]);
        assert_eq!(bytes[12..16], [0x78, 0x56, 0x34, 0x12]);
        assert_eq!(&bytes[28..44], b"0123456789abcdef");
    }

    #[test]
    fn records_survive_the_round_trip() {
        for kind in [Kind::Data, Kind::Query, Kind::State] {
            for missing in [false, true] {
                let record = Record {
                    kind,
                    missing,
                    ..record()
                };
                assert_eq!(Record::parse(&record.emit()), Some(record));
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_no_record() {
        let good = record().emit();
        for bit in 0..8 * Record::LEN {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::parse(&bad), None, "bit {bit}");
        }
        assert_eq!(Record::parse(&[0; Record::LEN]), None);
    }

    #[test]
    fn the_last_16_bytes_travel_in_the_record() {
        assert_eq!(parts(0), (0, 0));
        assert_eq!(parts(16), (0, 16));
        assert_eq!(parts(17), (1, 16));
        assert_eq!(parts(16_384), (16_368, 16));
    }
}

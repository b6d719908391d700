//! The packet format between controllers.
//!
//! A packet is a whole number of words of four 9-bit symbols, byte 0 first.
//! Control symbols sit in byte 3 of their word. Layout, with our choices for
//! what the record leaves open, in hw/doc/pci-ddc.md, "Packets":
//!
//! ```text
//! long   RP hi|RP lo| 0 |BP   MI|flags   address   header CRC
//!        data words on the remote byte lanes ...
//!        EPN|tail|ED   data CRC   0|0|0|EP
//! short  RP hi|RP lo| 0 |BP   MI|flags   data 1   data 2   CRC   0|0|0|EP
//! ```
//!
//! [`PacketView::parse`] is total: it checks marks, length and both CRCs, and
//! judges neither addresses nor flags beyond SM and CM, which decide the kind.

use crc::{CRC_32_ISO_HDLC, Crc, Table};

use super::lme::Control;
pub use super::packet_error::PacketError;
use crate::hsl::Symbol;

static CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// The CRC-32 (IEEE 802.3) `crc` of what came before, continued by one word;
/// 0 at the start. Control symbols count as their low 8 bits.
pub const fn crc_word(crc: u32, word: u32) -> u32 {
    // The digest starts from a register as the catalogue writes it: not
    // complemented and not reflected.
    let mut digest = CRC.digest_with_initial((!crc).reverse_bits());
    digest.update(&word.to_le_bytes());
    digest.finalize()
}

/// What the fourth symbol of a word is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Mark {
    /// A data character.
    #[default]
    Data,
    /// Begin of packet.
    Bp,
    /// End of data.
    Ed,
    /// End of packet.
    Ep,
}

impl Mark {
    /// The control symbol.
    pub const fn symbol(self) -> Option<Symbol> {
        match self {
            Self::Data => None,
            Self::Bp => Some(Symbol::BP),
            Self::Ed => Some(Symbol::ED),
            Self::Ep => Some(Symbol::EP),
        }
    }
}

/// A word of a packet: its 32 bits (for a control symbol its low 8 bits in
/// byte 3) and its mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Word {
    /// The bits.
    pub value: u32,
    /// The mark.
    pub mark: Mark,
}

impl Word {
    /// A word of four data characters.
    pub const fn data(value: u32) -> Self {
        Self {
            value,
            mark: Mark::Data,
        }
    }

    /// Three bytes and a mark.
    pub const fn marked(bytes: u32, mark: Mark) -> Self {
        let top = match mark.symbol() {
            Some(symbol) => symbol.value(),
            None => (bytes >> 24) as u8,
        };
        Self {
            value: bytes & 0x00FF_FFFF | (top as u32) << 24,
            mark,
        }
    }

    /// The four symbols, first on the link first.
    pub fn symbols(self) -> [Symbol; 4] {
        let [a, b, c, d] = self.value.to_le_bytes().map(Symbol::data);
        [a, b, c, self.mark.symbol().unwrap_or(d)]
    }
}

/// The first three words of a long packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// Destination node.
    pub routing_part: u16,
    /// Flags and message identifier.
    pub control: Control,
    /// Remote address of the first byte of this packet.
    pub address: u32,
}

/// The first word of any packet.
pub(super) const fn first_word(routing_part: u16) -> Word {
    Word::marked(routing_part.swap_bytes() as u32, Mark::Bp)
}

impl Header {
    /// The four words, with the CRC.
    pub const fn words(&self) -> [Word; 4] {
        let first = first_word(self.routing_part);
        let control = self.control.bits();
        let crc = crc_word(crc_word(crc_word(0, first.value), control), self.address);
        [
            first,
            Word::data(control),
            Word::data(self.address),
            Word::data(crc),
        ]
    }
}

/// The tail word that ends the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tail {
    /// Packets of the message; means something in the last packet only.
    #[doc(alias = "EPN")]
    pub expected: u16,
    /// This is the last packet of the message.
    pub last: bool,
    /// The receiver must not check the data CRC.
    pub crc_disable: bool,
    /// Byte lane of the last valid byte, 0..=3.
    pub last_lane: u8,
}

impl Tail {
    /// From the bits of the word; bits that mean nothing are dropped.
    pub const fn parse(value: u32) -> Self {
        let bits = (value >> 16) as u8;
        Self {
            expected: value as u16,
            last: bits & 0x80 != 0,
            crc_disable: bits & 0x40 != 0,
            last_lane: bits & 3,
        }
    }

    /// The word.
    pub const fn word(&self) -> Word {
        let bits =
            (self.last as u32) << 7 | (self.crc_disable as u32) << 6 | (self.last_lane & 3) as u32;
        Word::marked(bits << 16 | self.expected as u32, Mark::Ed)
    }
}

/// The six words of a short packet (SM or CM).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Short {
    /// Destination node.
    pub routing_part: u16,
    /// Flags and message identifier; SM or CM is set.
    pub control: Control,
    /// The 8 bytes.
    pub data: [u32; 2],
}

impl Short {
    /// The words.
    pub const fn words(&self) -> [Word; 6] {
        let first = first_word(self.routing_part);
        let [one, two] = self.data;
        let control = self.control.bits();
        let crc = crc_word(
            crc_word(crc_word(crc_word(0, first.value), control), one),
            two,
        );
        [
            first,
            Word::data(control),
            Word::data(one),
            Word::data(two),
            Word::data(crc),
            END,
        ]
    }
}

/// The last word of any packet.
pub(super) const END: Word = Word::marked(0, Mark::Ep);

/// Words of a long packet around its data.
pub const LONG_OVERHEAD_WORDS: usize = 7;
/// Words of a short packet.
pub const SHORT_WORDS: usize = 6;

/// Gathers symbols into words.
///
/// # Errors
/// [`PacketError`] for a control code that is not BP, ED or EP in byte 3, a
/// partial word, or too little room.
pub fn words_from_symbols(symbols: &[Symbol], words: &mut [Word]) -> Result<usize, PacketError> {
    if !symbols.len().is_multiple_of(4) {
        return Err(PacketError::PartialWord {
            symbols: symbols.len(),
        });
    }
    let needed = symbols.len() / 4;
    let room = words.len();
    let words = words
        .get_mut(..needed)
        .ok_or(PacketError::NoRoom { room, needed })?;
    for (index, (word, chunk)) in words.iter_mut().zip(symbols.chunks_exact(4)).enumerate() {
        let mut value = 0;
        let mut mark = Mark::Data;
        for (lane, &symbol) in chunk.iter().enumerate() {
            value |= u32::from(symbol.value()) << (8 * lane);
            if symbol.is_control() {
                let known = [Mark::Bp, Mark::Ed, Mark::Ep]
                    .into_iter()
                    .find(|m| m.symbol() == Some(symbol));
                mark = known.filter(|_| lane == 3).ok_or(PacketError::BadSymbol {
                    index: 4 * index + lane,
                    bits: symbol.bits(),
                })?;
            }
        }
        *word = Word { value, mark };
    }
    Ok(needed)
}

/// A checked packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PacketView<'a> {
    /// A packet of a standard message.
    Long {
        /// Its header.
        header: Header,
        /// Its data words, on the remote byte lanes.
        data: &'a [Word],
        /// Its tail.
        tail: Tail,
    },
    /// A short or composed message.
    Short(Short),
}

impl<'a> PacketView<'a> {
    /// Checks and takes apart.
    ///
    /// # Errors
    /// [`PacketError`] names the first thing that is wrong.
    pub fn parse(words: &'a [Word]) -> Result<Self, PacketError> {
        let short_of = |needed| PacketError::TooShort {
            words: words.len(),
            needed,
        };
        let &[first, control, third, fourth, fifth, _, ..] = words else {
            return Err(short_of(SHORT_WORDS));
        };
        expect(words, 0, Mark::Bp)?;
        (1..4).try_for_each(|index| expect(words, index, Mark::Data))?;
        let routing_part = (first.value as u16).swap_bytes();
        let flags = Control::from_bits(control.value);
        if flags.is_short() {
            expect(words, 4, Mark::Data)?;
            expect(words, 5, Mark::Ep)?;
            if words.len() > SHORT_WORDS {
                return Err(PacketError::TooLong {
                    words: words.len(),
                    allowed: SHORT_WORDS,
                });
            }
            let packet = Short {
                routing_part,
                control: flags,
                data: [third.value, fourth.value],
            };
            let head = crc_word(crc_word(0, first.value), control.value);
            let expected = crc_word(crc_word(head, third.value), fourth.value);
            return if fifth.value == expected {
                Ok(Self::Short(packet))
            } else {
                Err(PacketError::HeaderCrc {
                    found: fifth.value,
                    expected,
                })
            };
        }
        if words.len() < LONG_OVERHEAD_WORDS {
            return Err(short_of(LONG_OVERHEAD_WORDS));
        }
        let expected = crc_word(
            crc_word(crc_word(0, first.value), control.value),
            third.value,
        );
        if fourth.value != expected {
            return Err(PacketError::HeaderCrc {
                found: fourth.value,
                expected,
            });
        }
        let header = Header {
            routing_part,
            control: flags,
            address: third.value,
        };
        let tail_at = words.len() - 3;
        (4..tail_at).try_for_each(|index| expect(words, index, Mark::Data))?;
        expect(words, tail_at, Mark::Ed)?;
        expect(words, tail_at + 1, Mark::Data)?;
        expect(words, tail_at + 2, Mark::Ep)?;
        let data = words.get(4..tail_at).unwrap_or_default();
        let word = |index: usize| words.get(index).map_or(0, |w| w.value);
        let tail = Tail::parse(word(tail_at));
        let expected = words
            .get(4..=tail_at)
            .unwrap_or_default()
            .iter()
            .fold(0, |crc, word| crc_word(crc, word.value));
        let found = word(tail_at + 1);
        if found != expected && !tail.crc_disable {
            return Err(PacketError::DataCrc { found, expected });
        }
        Ok(Self::Long { header, data, tail })
    }

    /// Inverse of [`parse`](Self::parse); returns the words used.
    ///
    /// # Errors
    /// [`PacketError::NoRoom`].
    pub fn emit(&self, words: &mut [Word]) -> Result<usize, PacketError> {
        let room = words.len();
        let needed = match self {
            Self::Short(_) => SHORT_WORDS,
            Self::Long { data, .. } => data.len().saturating_add(LONG_OVERHEAD_WORDS),
        };
        let words = words
            .get_mut(..needed)
            .ok_or(PacketError::NoRoom { room, needed })?;
        match self {
            Self::Short(short) => words.copy_from_slice(&short.words()),
            Self::Long { header, data, tail } => {
                let tail = tail.word();
                let crc = data.iter().fold(0, |crc, word| crc_word(crc, word.value));
                let crc = crc_word(crc, tail.value);
                let parts = header
                    .words()
                    .into_iter()
                    .chain(data.iter().copied())
                    .chain([tail, Word::data(crc), END]);
                words
                    .iter_mut()
                    .zip(parts)
                    .for_each(|(word, part)| *word = part);
            }
        }
        Ok(needed)
    }
}

fn expect(words: &[Word], index: usize, expected: Mark) -> Result<(), PacketError> {
    match words.get(index) {
        Some(word) if word.mark == expected => Ok(()),
        Some(word) => Err(PacketError::WrongMark {
            index,
            found: word.mark,
            expected,
        }),
        None => Err(PacketError::TooShort {
            words: words.len(),
            needed: index + 1,
        }),
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;

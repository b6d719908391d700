//! The LME: the ring of page descriptors in the sender's memory.
//!
//! An entry is 16 bytes, little-endian; [`Descriptor::parse`] is total and
//! judges nothing, because the chip must do something with any 16 bytes;
//! [`Descriptor::meaning`] says what a driver or a tool makes of it.
//!
//! | pointer | moved by | when | read by |
//! |---|---|---|---|
//! | producer, LPE_NEW | driver | after the entry is complete in memory | controller |
//! | consumer, LPE_CURRENT | controller | as soon as the entry was read | driver |
//!
//! Empty: the pointers are equal. Full: next(LPE_NEW) = LPE_CURRENT, so N
//! entries hold N-1 descriptors. After LPE_MAX (the last entry) comes LPE_BASE.
//! The entry belongs to the driver outside [CURRENT, NEW) and to the controller
//! inside. A soft reset clears all four registers. Document: hw/doc/pci-ddc.md.

use core::fmt;

pub use super::ring::{Ring, Walk, WalkError};

/// The control word: flags and message identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Control(u32);

impl Control {
    /// Notice once received: count at the receiver when the message is complete.
    pub const NOR: Self = Self(1 << 31);
    /// Last page of the message.
    pub const LMP: Self = Self(1 << 30);
    /// Composed message.
    pub const CM: Self = Self(1 << 29);
    /// The receiver counts the packets of this message.
    #[doc(alias = "IORP")]
    #[doc(alias = "LRM_ENABLE")]
    pub const LRM: Self = Self(1 << 28);
    /// The receiver writes a report when the message is complete.
    #[doc(alias = "LMI_ENABLE")]
    pub const LMI: Self = Self(1 << 27);
    /// Short message: 8 bytes in the descriptor itself.
    pub const SM: Self = Self(1 << 26);
    /// Notice once sent: count at the sender when the page has left.
    pub const NOS: Self = Self(1 << 25);
    /// Free for the sender's software; does not travel.
    pub const RESERVED: Self = Self(1 << 24);
    /// The bits of the message identifier.
    pub const MI_MASK: u32 = 0x00FF_FFFF;

    /// The control word of these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// All flags of `flags` are set here.
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The flags of both.
    #[must_use]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    /// Without these flags.
    #[must_use]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }

    /// The message identifier, 24 bits.
    pub const fn mi(self) -> u32 {
        self.0 & Self::MI_MASK
    }

    /// With this message identifier (its low 24 bits).
    #[must_use]
    pub const fn with_mi(self, mi: u32) -> Self {
        Self(self.0 & !Self::MI_MASK | mi & Self::MI_MASK)
    }

    /// A short packet carries it: SM or CM.
    pub const fn is_short(self) -> bool {
        self.0 & (Self::SM.0 | Self::CM.0) != 0
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(Control, &str); 8] = [
            (Control::NOR, "NOR"),
            (Control::LMP, "LMP"),
            (Control::CM, "CM"),
            (Control::LRM, "LRM"),
            (Control::LMI, "LMI"),
            (Control::SM, "SM"),
            (Control::NOS, "NOS"),
            (Control::RESERVED, "b24"),
        ];
        write!(f, "mi={:#08x} flags=", self.mi())?;
        let mut separator = "";
        for (flag, name) in NAMES {
            if self.has(flag) {
                write!(f, "{separator}{name}")?;
                separator = "+";
            }
        }
        if separator.is_empty() {
            f.write_str("-")
        } else {
            Ok(())
        }
    }
}

/// One entry of the LME as it lies in memory.
#[doc(alias = "LPE")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Descriptor {
    /// Bytes of the page; 0 for a short message.
    pub page_length: u16,
    /// Destination node; its high byte leaves first.
    pub routing_part: u16,
    /// Flags and message identifier.
    pub control: Control,
    /// Remote physical address of the first byte, or data 1 of a short message.
    pub prsa: u32,
    /// Local physical address of the first byte, or data 2 of a short message.
    pub plsa: u32,
}

/// What a descriptor means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Page {
    /// A page of a standard message.
    Standard {
        /// Bytes, 1..=65535.
        length: u16,
        /// Address of the first byte here.
        local: u32,
        /// Address of the first byte there.
        remote: u32,
    },
    /// A short message: the 8 bytes travel in the report.
    Short {
        /// The two data words.
        data: [u32; 2],
    },
    /// A contribution to a composed message.
    Composed {
        /// The two data words that travel with it.
        data: [u32; 2],
    },
}

/// A descriptor that no driver should write. The chip still does something
/// defined with each (hw/doc/pci-ddc.md, "Nonsense").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum DescriptorError {
    /// A standard page of no bytes.
    EmptyPage,
    /// A short or composed message with a length.
    ShortWithLength {
        /// The length field.
        length: u16,
    },
    /// Both SM and CM.
    ShortAndComposed {
        /// The control word.
        control: u32,
    },
    /// A short message without LMP.
    ShortWithoutEnd {
        /// The control word.
        control: u32,
    },
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyPage => f.write_str("page length 0 is outside 1..=65535"),
            Self::ShortWithLength { length } => {
                write!(f, "short message with page length {length}, must be 0")
            }
            Self::ShortAndComposed { control } => {
                write!(
                    f,
                    "control {control:#010x} has both SM and CM, at most one is allowed"
                )
            }
            Self::ShortWithoutEnd { control } => {
                write!(
                    f,
                    "control {control:#010x} has SM without LMP, a short message has one page"
                )
            }
        }
    }
}

impl core::error::Error for DescriptorError {}

impl Descriptor {
    /// Bytes of an entry.
    pub const WIRE_LEN: usize = 16;

    /// Total: any 16 bytes give fields; nothing is judged here.
    pub const fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *bytes;
        Self::from_words([
            u32::from_le_bytes([a, b, c, d]),
            u32::from_le_bytes([e, f, g, h]),
            u32::from_le_bytes([i, j, k, l]),
            u32::from_le_bytes([m, n, o, p]),
        ])
    }

    /// The same from the four words of a bus transfer.
    pub const fn from_words(words: [u32; 4]) -> Self {
        let [head, control, prsa, plsa] = words;
        Self {
            page_length: head as u16,
            routing_part: (head >> 16) as u16,
            control: Control::from_bits(control),
            prsa,
            plsa,
        }
    }

    /// The four words.
    pub const fn words(&self) -> [u32; 4] {
        [
            (self.routing_part as u32) << 16 | self.page_length as u32,
            self.control.bits(),
            self.prsa,
            self.plsa,
        ]
    }

    /// Inverse of [`parse`](Self::parse).
    pub fn emit(&self) -> [u8; Self::WIRE_LEN] {
        let mut bytes = [0; Self::WIRE_LEN];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(self.words()) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// What the entry means.
    ///
    /// # Errors
    /// [`DescriptorError`] names the field that makes no sense, and its value.
    pub const fn meaning(&self) -> Result<Page, DescriptorError> {
        let control = self.control;
        let data = [self.prsa, self.plsa];
        if !control.is_short() {
            return if self.page_length == 0 {
                Err(DescriptorError::EmptyPage)
            } else {
                Ok(Page::Standard {
                    length: self.page_length,
                    local: self.plsa,
                    remote: self.prsa,
                })
            };
        }
        if control.has(Control::SM.with(Control::CM)) {
            Err(DescriptorError::ShortAndComposed {
                control: control.bits(),
            })
        } else if self.page_length != 0 {
            Err(DescriptorError::ShortWithLength {
                length: self.page_length,
            })
        } else if control.has(Control::CM) {
            Ok(Page::Composed { data })
        } else if control.has(Control::LMP) {
            Ok(Page::Short { data })
        } else {
            Err(DescriptorError::ShortWithoutEnd {
                control: control.bits(),
            })
        }
    }
}

impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "len={} rp={:#06x} {} prsa={:#010x} plsa={:#010x}",
            self.page_length, self.routing_part, self.control, self.prsa, self.plsa
        )?;
        match self.meaning() {
            Ok(_) => Ok(()),
            Err(error) => write!(f, " !{error}"),
        }
    }
}

#[cfg(test)]
#[path = "lme_tests.rs"]
mod tests;

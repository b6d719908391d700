//! The 24-bit message identifier (MI) that travels with a notification.

use super::WireError;

/// What a notification is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Class {
    /// A control message; the index is its slot.
    Control = 0,
    /// The end of a data message; the index is the receive request.
    Data = 1,
    /// The end of the data of a Get; the index is its request.
    Get = 2,
    /// Anything else.
    Other = 3,
}

/// A message identifier taken apart.
///
/// ```text
/// 23   22 21         12 11          0
/// [class] [  source   ] [   index   ]
/// ```
///
/// chosen: the record gives the width alone; 1024 sources and 4096 indices
/// cover the largest machine and the deepest ring of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MessageId {
    class: Class,
    source: u16,
    index: u16,
}

impl MessageId {
    /// The largest source.
    pub const MAX_SOURCE: u16 = 0x3FF;
    /// The largest index.
    pub const MAX_INDEX: u16 = 0xFFF;
    /// The largest identifier.
    pub const MAX_BITS: u32 = 0xFF_FFFF;

    /// An identifier of these parts.
    ///
    /// # Errors
    /// [`WireError::SourceTooLarge`], [`WireError::IndexTooLarge`].
    pub const fn new(class: Class, source: u16, index: u16) -> Result<Self, WireError> {
        if source > Self::MAX_SOURCE {
            let max = Self::MAX_SOURCE;
            return Err(WireError::SourceTooLarge { source, max });
        }
        if index > Self::MAX_INDEX {
            let max = Self::MAX_INDEX;
            return Err(WireError::IndexTooLarge { index, max });
        }
        Ok(Self {
            class,
            source,
            index,
        })
    }

    /// Takes 24 bits apart.
    ///
    /// # Errors
    /// [`WireError::MessageIdTooLarge`] beyond 24 bits.
    pub const fn from_bits(bits: u32) -> Result<Self, WireError> {
        if bits > Self::MAX_BITS {
            let max = Self::MAX_BITS;
            return Err(WireError::MessageIdTooLarge { bits, max });
        }
        let class = match bits >> 22 {
            0 => Class::Control,
            1 => Class::Data,
            2 => Class::Get,
            _ => Class::Other,
        };
        Ok(Self {
            class,
            source: (bits >> 12) as u16 & Self::MAX_SOURCE,
            index: bits as u16 & Self::MAX_INDEX,
        })
    }

    /// Inverse of [`from_bits`](Self::from_bits).
    #[must_use]
    pub const fn bits(self) -> u32 {
        (self.class as u32) << 22 | (self.source as u32) << 12 | self.index as u32
    }

    /// What it is about.
    #[must_use]
    pub const fn class(self) -> Class {
        self.class
    }

    /// Who sends.
    #[must_use]
    pub const fn source(self) -> u16 {
        self.source
    }

    /// Slot or request.
    #[must_use]
    pub const fn index(self) -> u16 {
        self.index
    }
}

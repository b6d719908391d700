//! Registers and memory formats of PCI-DDC that the driver uses.
//!
//! Source: hw/doc/put.md, sections "Registers used" and "Structures in memory".

pub(crate) const IDENTITY: u8 = 0x00;
pub(crate) const PCI_COMMAND: u8 = 0x04;
pub(crate) const LATENCY: u8 = 0x0C;
pub(crate) const INTERRUPT_LINE: u8 = 0x3C;
pub(crate) const STATUS: u8 = 0x40;
pub(crate) const STATUS_MASK: u8 = 0x44;
pub(crate) const COMMAND: u8 = 0x48;
pub(crate) const LPE_MAX: u8 = 0x50;
pub(crate) const LPE_CURRENT: u8 = 0x54;
pub(crate) const LPE_NEW: u8 = 0x58;
pub(crate) const LPE_BASE: u8 = 0x5C;
pub(crate) const LMI_MAX: u8 = 0x60;
pub(crate) const LMI_CURRENT: u8 = 0x64;
pub(crate) const LMI_NEW: u8 = 0x68;
pub(crate) const LMI_BASE: u8 = 0x6C;
pub(crate) const LRM_BASE: u8 = 0x70;
pub(crate) const R3_DOUT: u8 = 0x74;

/// Flags (31:24) and message identifier (23:0) of a page or a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Control(u32);

impl Control {
    /// Notice once received.
    pub const NOR: Self = Self(1 << 31);
    /// Last page of its message.
    pub const LMP: Self = Self(1 << 30);
    /// Composed message.
    pub const CM: Self = Self(1 << 29);
    /// The receiver counts packets.
    pub const LRM: Self = Self(1 << 28);
    /// The receiver writes a report.
    pub const LMI: Self = Self(1 << 27);
    /// Short message.
    pub const SM: Self = Self(1 << 26);
    /// Notice once sent.
    pub const NOS: Self = Self(1 << 25);

    /// The control word of these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether all flags of `flags` are set.
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

    /// The message identifier.
    pub const fn mi(self) -> u32 {
        self.0 & 0x00FF_FFFF
    }

    /// With this message identifier (its low 24 bits).
    #[must_use]
    pub const fn with_mi(self, mi: u32) -> Self {
        Self(self.0 & !0x00FF_FFFF | mi & 0x00FF_FFFF)
    }
}

/// One entry of the LME as it lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Descriptor {
    /// Bytes of the page.
    pub page_length: u16,
    /// Destination node.
    pub routing_part: u16,
    /// Flags and message identifier.
    pub control: Control,
    /// Remote physical start address, or first data word of a short message.
    pub prsa: u32,
    /// Local physical start address, or second data word of a short message.
    pub plsa: u32,
}

/// One entry of the LMR as it lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Packets received for the message.
    pub packet_number: u16,
    /// R3 STATUS when the report was written.
    pub r3_status: u8,
    /// Reserved, 0.
    pub reserved: u8,
    /// Flags and message identifier as sent, bit 24 always 0.
    pub control: Control,
    /// Data words of a short message.
    pub data: [u32; 2],
}

fn words(bytes: &[u8; 16]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        for (i, byte) in bytes.iter().enumerate() {
            *word |= u32::from(*byte) << (8 * i);
        }
    }
    words
}

fn bytes(words: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

impl Descriptor {
    /// Bytes of an entry.
    pub const WIRE_LEN: usize = 16;

    /// The fields of any 16 bytes.
    pub fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Self {
        let [w0, w1, prsa, plsa] = words(bytes);
        Self {
            page_length: w0 as u16,
            routing_part: (w0 >> 16) as u16,
            control: Control::from_bits(w1),
            prsa,
            plsa,
        }
    }

    /// The inverse of [`parse`](Self::parse).
    pub fn emit(&self) -> [u8; Self::WIRE_LEN] {
        let w0 = u32::from(self.routing_part) << 16 | u32::from(self.page_length);
        bytes([w0, self.control.bits(), self.prsa, self.plsa])
    }
}

impl Report {
    /// Bytes of an entry.
    pub const WIRE_LEN: usize = 16;

    /// The fields of any 16 bytes.
    pub fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Self {
        let [w0, w1, d1, d2] = words(bytes);
        Self {
            packet_number: w0 as u16,
            r3_status: (w0 >> 16) as u8,
            reserved: (w0 >> 24) as u8,
            control: Control::from_bits(w1),
            data: [d1, d2],
        }
    }

    /// The inverse of [`parse`](Self::parse).
    pub fn emit(&self) -> [u8; Self::WIRE_LEN] {
        let w0 = u32::from(self.r3_status) << 16 | u32::from(self.packet_number);
        bytes([w0, self.control.bits(), self.data[0], self.data[1]])
    }
}

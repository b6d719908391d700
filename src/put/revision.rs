//! What differs between silicon revisions, as the driver sees it.

use super::wire;

/// What the silicon can do; the default is the ideal chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Capabilities {
    /// Writes to LMI_CURRENT and LMI_NEW reach each other (both runs).
    pub lmi_writes_swapped: bool,
    /// Packet counters work (neither run).
    #[doc(alias = "LRM")]
    pub packet_counters: bool,
    /// LMI_OF_ERROR is cleared by a write of bit 13 instead of bit 12 (second
    /// run).
    pub lmi_overflow_clears_by_13: bool,
    /// The packet length field of COMMAND: 0 is no limit but the FIFO; the
    /// first run needs 1.
    #[doc(alias = "MPL")]
    pub max_packet_length: u16,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            lmi_writes_swapped: false,
            packet_counters: true,
            lmi_overflow_clears_by_13: false,
            max_packet_length: 0,
        }
    }
}

impl Capabilities {
    /// Where a write reaches LMI_CURRENT.
    pub const fn lmi_current_write_offset(&self) -> u8 {
        if self.lmi_writes_swapped {
            wire::LMI_NEW
        } else {
            wire::LMI_CURRENT
        }
    }

    /// What clears LMI_OF_ERROR.
    pub const fn lmi_overflow_clear(&self) -> u32 {
        if self.lmi_overflow_clears_by_13 {
            1 << 13
        } else {
            1 << 12
        }
    }

    /// COMMAND without its enable bits: balanced arbitration, packet length.
    pub(crate) const fn command(&self, count_packets: bool) -> u32 {
        let length = (self.max_packet_length as u32 & 0xFFF) << 16;
        0x8000_0000 | length | (count_packets as u32) << 9
    }
}

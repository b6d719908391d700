//! What differs between silicon revisions, as the driver sees it.

use crate::ddc::registers::{LmiCurrent, LmiNew};
use crate::ddc::{Erratum, Revision};

/// What the silicon can do; the default is the ideal chip.
///
/// [`from_errata`](Self::from_errata) gives those of a revision. Errata that
/// change nothing here are answered in every case: the driver refuses NOS
/// without LMP (2), never uses bit 24 to tell the receiver something (4),
/// ignores the detected-parity bit (5), resets four times at the start (6),
/// settles before it serves (7), sets Bus Master again after an overflow (15),
/// resets to stop (17), and tries reads 11 times (19, 20).
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
    /// Short messages work. If not (first run), each travels as eight pages of
    /// 4 bytes.
    #[doc(alias = "SM")]
    pub short_messages: bool,
    /// Pages to unaligned remote addresses work. If not (first run), they are
    /// cut into up to three.
    pub unaligned_remote: bool,
    /// Pages from unaligned local addresses work. If not (first run), they are
    /// sent from a bounce buffer.
    pub unaligned_local: bool,
    /// Only one page may be with the chip; each is forced to NOS and LMP, and
    /// bit 24 of its entry keeps the user's NOS (both runs; the second one
    /// behind a 440BX).
    #[doc(alias = "LPE_SLOW")]
    pub one_page: bool,
    /// Registers may be read at any time. If not (first run), the driver reads
    /// memory and the interrupt line instead.
    #[doc(alias = "NO_CONFIG_READ")]
    pub config_reads: bool,
    /// Soft resets that stop the chip for certain.
    pub resets_to_stop: u8,
    /// Messages that a cut packet can cost: 1, or 2 (second run). What recovery
    /// has to send again.
    #[doc(alias = "AVOID_LINK_ERROR")]
    pub link_error_costs: u8,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::from_errata(Revision::IDEAL)
    }
}

impl From<Revision> for Capabilities {
    fn from(revision: Revision) -> Self {
        Self::from_errata(revision)
    }
}

impl Capabilities {
    /// What a chip of this revision can do.
    pub const fn from_errata(revision: Revision) -> Self {
        // The guess without registers, and the one bounce buffer, need one page.
        let one_page = revision.has(Erratum::OnePageOnly)
            || revision.has(Erratum::UnalignedLocal)
            || revision.has(Erratum::ReadSpoilsReception)
            || revision.has(Erratum::LostPages440Bx);
        let unreliable = revision.has(Erratum::UnreliableReset);
        Self {
            lmi_writes_swapped: revision.has(Erratum::SwappedReportPointers),
            packet_counters: !revision.has(Erratum::BrokenCounters),
            lmi_overflow_clears_by_13: revision.has(Erratum::OverflowClearedBy13),
            max_packet_length: revision.has(Erratum::LongPacketRace) as u16,
            short_messages: !revision.has(Erratum::BrokenShortMessages),
            unaligned_remote: !revision.has(Erratum::UnalignedRemote),
            unaligned_local: !revision.has(Erratum::UnalignedLocal),
            one_page,
            config_reads: !revision.has(Erratum::ReadSpoilsReception),
            resets_to_stop: if unreliable { 4 } else { 1 },
            link_error_costs: 1 + revision.has(Erratum::LinkErrorLosesMessages) as u8,
        }
    }

    /// Where a write reaches LMI_CURRENT.
    pub const fn lmi_current_write_offset(&self) -> u8 {
        if self.lmi_writes_swapped {
            LmiNew::OFFSET
        } else {
            LmiCurrent::OFFSET
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

    /// Entries beside the first that one page or short message may take.
    pub(crate) const fn reserve(&self) -> u32 {
        if !self.short_messages {
            super::config::RECORD_RESERVE
        } else if !self.unaligned_remote {
            2
        } else {
            0
        }
    }

    /// COMMAND without its enable bits: balanced arbitration, packet length.
    pub(crate) const fn command(&self, count_packets: bool) -> u32 {
        let length = (self.max_packet_length as u32 & 0xFFF) << 16;
        0x8000_0000 | length | (count_packets as u32) << 9
    }
}

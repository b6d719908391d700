//! Parameters of the controller.

use super::errata::{ErrataRates, Revision};

/// Parameters of a [`Ddc`](super::Ddc). The default is the recommended set;
/// "chosen" marks what is not on record (reasons in hw/doc/pci-ddc.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct DdcConfig {
    /// Words of the transmit FIFO, and the longest packet. 133 fits the
    /// measurements of the second run (532 bytes); the 1997 paper says 100.
    /// Used within 8..=256.
    pub fifo_words: u16,
    /// Words of the receive FIFO. Chosen: the same. Used within 8..=256.
    pub rx_fifo_words: u16,
    /// Free words at which a page read interrupted by a full FIFO goes on.
    /// Chosen: half the FIFO, so that bursts stay long and the link never
    /// starves. At most `fifo_words` - 4.
    pub refill_words: u16,
    /// Words that must wait before a write burst of a packet still arriving
    /// begins. Chosen: 16, twice the cost of a burst. At most
    /// `rx_fifo_words` - 4.
    pub rx_burst_words: u16,
    /// Idle link cycles between two packets of a page. Fitted to the
    /// measurements: 34.3 characters a packet, 28 of them protocol.
    pub packet_gap: u8,
    /// PCI flip-flops (0 to 2) between the end of a page on the link and the
    /// transmit block. Chosen: 0; the packetiser knows the end four symbols
    /// ahead, which hides a synchroniser. A page then costs 0.67 us beside its
    /// symbols on a free bus, and about 0.70 us, the fitted figure, when
    /// software writes LPE_NEW meanwhile.
    pub link_to_pci_sync: u8,
    /// PCI cycles without progress inside a packet after which TIMEOUT_ERROR
    /// is set; 0 is never. Chosen: 2^20.
    pub rx_timeout_cycles: u32,
    /// Link cycles between the two flow control pulses of the start. On record: 8.
    pub initial_fcc_spacing: u8,
    /// Register 00h. On record as the driver sees it: 0.
    pub device_and_vendor: u32,
    /// Register 08h, not on record. Chosen: network controller, other,
    /// revision 0.
    pub class_and_revision: u32,
    /// Errata.
    pub revision: Revision,
    /// How often errata strike.
    pub errata: ErrataRates,
}

impl Default for DdcConfig {
    fn default() -> Self {
        Self {
            fifo_words: 133,
            rx_fifo_words: 133,
            refill_words: 66,
            rx_burst_words: 16,
            packet_gap: 7,
            link_to_pci_sync: 0,
            rx_timeout_cycles: 1 << 20,
            initial_fcc_spacing: 8,
            device_and_vendor: 0,
            class_and_revision: 0x0280_0000,
            revision: Revision::IDEAL,
            errata: ErrataRates::default(),
        }
    }
}

impl DdcConfig {
    /// The same with every field inside its range.
    pub(super) fn clamped(mut self) -> Self {
        let depth = super::fifo::DEPTH as u16;
        self.fifo_words = self.fifo_words.clamp(8, depth);
        self.rx_fifo_words = self.rx_fifo_words.clamp(8, depth);
        self.refill_words = self.refill_words.clamp(4, self.fifo_words - 4);
        self.rx_burst_words = self.rx_burst_words.clamp(1, self.rx_fifo_words - 4);
        self.initial_fcc_spacing = self.initial_fcc_spacing.max(1);
        self
    }
}

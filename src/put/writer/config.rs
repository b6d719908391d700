//! Choices of a [`Writer`](super::Writer).

/// How the writer learns that its last page has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Completion {
    /// The last page has NOS: the chip counts it once it has left.
    #[default]
    Counted,
    /// No NOS; the page has left when the chip has gone beyond the *following*
    /// entry. One acknowledgement less a transfer, but the last transfer of a
    /// burst stays pending until something follows it.
    NextEntry,
}

/// Choices of a [`Writer`](super::Writer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct WriterConfig {
    /// Tags: a power of 2; tag `t` travels as message identifier
    /// `start + t` of the writer's range, which must start at the same
    /// identifier on all nodes (it does when all register in the same order).
    pub tags: u32,
    /// Bytes of a page, 1..=65,535. Chosen: 65,532, the largest multiple of 4,
    /// so that all pages of a transfer have the alignment of the first.
    pub page: u32,
    /// Pages of a message. Chosen: 256, so that the 16-bit packet counts of
    /// the chip suffice: 256 pages of 65,532 bytes are about 32,000 packets.
    pub pages_per_message: u32,
    /// How the end of a transfer is seen.
    pub completion: Completion,
    /// Ring entries taken back, reports taken, and pages posted a poll, each.
    pub budget: u16,
}

impl Default for WriterConfig {
    fn default() -> Self {
        Self {
            tags: 65_536,
            page: 65_532,
            pages_per_message: 256,
            completion: Completion::Counted,
            budget: 64,
        }
    }
}

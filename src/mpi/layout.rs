//! Where an endpoint's memory lies: slots, staging buffers, counter words, and
//! the pool of eager data that nobody has received yet.
//!
//! ```text
//! base  slots of peer 0 | slots of peer 1 | ...      (P-1) K S bytes
//!       staging buffers, in the same order           (P-1) K S bytes
//!       counter words: in, out, of each peer         (P-1) 8 bytes
//!       blocks of unexpected data
//! ```
//!
//! There are no slots to oneself; peers are numbered without the own rank.

use super::config::{MpiConfig, SLOT_BYTES};
use super::endpoint::BLOCK;

/// Alignment of the arena and of its slots. Chosen: 64, two cache lines of the
/// machine; 4 is what the controller needs.
pub const ARENA_ALIGN: u64 = 64;

/// The arena of one endpoint.
///
/// Places that would lie beyond 2^64 are given as its last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layout {
    base: u64,
    rank: u32,
    ranks: u32,
    slots: u16,
    blocks: u32,
}

impl Layout {
    /// The arena at `base` of `rank` of `ranks`.
    #[must_use]
    pub fn new(config: &MpiConfig, rank: u32, ranks: u32, base: u64) -> Self {
        Self {
            base,
            rank,
            ranks,
            slots: config.slots,
            blocks: Self::block_count(config),
        }
    }

    /// Blocks of the pool.
    #[must_use]
    pub fn block_count(config: &MpiConfig) -> u32 {
        (u64::from(config.unexpected_bytes) / BLOCK) as u32
    }

    /// Bytes of the arena.
    #[must_use]
    pub fn bytes(config: &MpiConfig, ranks: u32) -> u64 {
        let layout = Self::new(config, 0, ranks, 0);
        layout.block(layout.blocks)
    }

    /// Bytes of the part that peers write to: what lies before the blocks.
    #[must_use]
    pub fn control_bytes(config: &MpiConfig, ranks: u32) -> u64 {
        let layout = Self::new(config, 0, ranks, 0);
        layout.counters() + 8 * layout.others()
    }

    /// Its first byte.
    #[must_use]
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// Position of a peer among the others.
    fn index(&self, peer: u32) -> u64 {
        u64::from(if peer > self.rank { peer - 1 } else { peer })
    }

    fn others(&self) -> u64 {
        u64::from(self.ranks.saturating_sub(1))
    }

    fn region(&self) -> u64 {
        self.others() * u64::from(self.slots) * SLOT_BYTES
    }

    fn in_pair(&self, peer: u32, slot: u16) -> u64 {
        (self.index(peer) * u64::from(self.slots) + u64::from(slot)) * SLOT_BYTES
    }

    /// A slot in which messages of `peer` arrive.
    #[must_use]
    pub fn slot(&self, peer: u32, slot: u16) -> u64 {
        self.base.saturating_add(self.in_pair(peer, slot))
    }

    /// The staging buffer of a slot at `peer`.
    #[must_use]
    pub fn staging(&self, peer: u32, slot: u16) -> u64 {
        let within = self.region() + self.in_pair(peer, slot);
        self.base.saturating_add(within)
    }

    fn counters(&self) -> u64 {
        self.base.saturating_add(2 * self.region())
    }

    /// The word that `peer` writes its count of consumed slots to.
    #[must_use]
    pub fn counter_in(&self, peer: u32) -> u64 {
        self.counters().saturating_add(8 * self.index(peer))
    }

    /// The word that the count for `peer` is sent from.
    #[must_use]
    pub fn counter_out(&self, peer: u32) -> u64 {
        self.counter_in(peer).saturating_add(4)
    }

    /// A block of unexpected data.
    #[must_use]
    pub fn block(&self, block: u32) -> u64 {
        let words = self.counters().saturating_add(8 * self.others());
        let pool = words.checked_next_multiple_of(ARENA_ALIGN);
        pool.unwrap_or(u64::MAX)
            .saturating_add(u64::from(block) * BLOCK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_nodes_have_slots_of_3_75_megabytes() {
        let layout = Layout::new(&MpiConfig::default(), 3, 16, 0x10_0000);
        assert_eq!(layout.staging(0, 0) - layout.slot(0, 0), 15 * 16 * 16_384);
        assert_eq!(15 * 16 * 16_384, 3_932_160);
    }

    #[test]
    fn parts_do_not_overlap() {
        let mut config = MpiConfig::default().with_slots(3);
        config.unexpected_bytes = 4096;
        let (rank, ranks, base) = (1, 4, 64);
        let layout = Layout::new(&config, rank, ranks, base);
        let mut parts = std::vec::Vec::new();
        for peer in [0, 2, 3] {
            for slot in 0..3 {
                parts.push((layout.slot(peer, slot), SLOT_BYTES));
                parts.push((layout.staging(peer, slot), SLOT_BYTES));
            }
            parts.push((layout.counter_in(peer), 4));
            parts.push((layout.counter_out(peer), 4));
        }
        parts.extend((0..Layout::block_count(&config)).map(|b| (layout.block(b), BLOCK)));
        parts.sort_unstable();
        assert_eq!(parts[0].0, base);
        for pair in parts.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:x?}");
        }
        let (last, len) = parts[parts.len() - 1];
        assert_eq!(last + len, base + Layout::bytes(&config, ranks));
    }

    extern crate std;
}

//! Where the three tables lie: LME, LMR and packet counters, contiguous.

/// Addresses of the tables of one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Layout {
    base: u32,
    entries: u32,
    counters: u32,
}

/// Bytes of a ring entry.
pub(crate) const ENTRY: u32 = 16;
/// Bytes of a packet counter.
pub(crate) const COUNTER: u32 = 4;

impl Layout {
    /// The caller has checked that all tables end at or below 2^32.
    pub(crate) const fn new(base: u32, entries: u32, counters: u32) -> Self {
        Self {
            base,
            entries,
            counters,
        }
    }

    pub(crate) const fn entries(&self) -> u32 {
        self.entries
    }

    pub(crate) const fn counters(&self) -> u32 {
        self.counters
    }

    /// Bytes of the three tables of this many entries and counters.
    pub(crate) const fn size(entries: u32, counters: u32) -> u64 {
        2 * ENTRY as u64 * entries as u64 + COUNTER as u64 * counters as u64
    }

    /// Descriptor `index` (below `entries`).
    pub(crate) const fn lme(&self, index: u32) -> u32 {
        self.base.wrapping_add(ENTRY.wrapping_mul(index))
    }

    /// Report `index` (below `entries`).
    pub(crate) const fn lmr(&self, index: u32) -> u32 {
        self.lme(self.entries.wrapping_add(index))
    }

    /// The packet counter of `mi`.
    pub(crate) const fn counter(&self, mi: u32) -> u32 {
        self.lmr(self.entries)
            .wrapping_add(COUNTER.wrapping_mul(mi))
    }

    /// The descriptor at `address`, if there is one.
    pub(crate) const fn lme_index(&self, address: u32) -> Option<u32> {
        self.index(address, self.base)
    }

    /// The report at `address`, if there is one.
    pub(crate) const fn lmr_index(&self, address: u32) -> Option<u32> {
        self.index(address, self.lmr(0))
    }

    const fn index(&self, address: u32, first: u32) -> Option<u32> {
        let offset = address.wrapping_sub(first);
        if offset % ENTRY == 0 && offset / ENTRY < self.entries {
            Some(offset / ENTRY)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_contiguous() {
        let layout = Layout::new(0x1000, 4, 8);
        assert_eq!(layout.lme(3), 0x1030);
        assert_eq!(layout.lmr(0), 0x1040);
        assert_eq!(layout.lmr(3), 0x1070);
        assert_eq!(layout.counter(0), 0x1080);
        assert_eq!(layout.counter(7), 0x109C);
        assert_eq!(Layout::size(4, 8), 0xA0);
    }

    #[test]
    fn only_addresses_of_entries_have_an_index() {
        let layout = Layout::new(0x1000, 4, 8);
        for address in 0x0F00..0x1100 {
            let expected = (address % 16 == 0 && (0x1000..0x1040).contains(&address))
                .then(|| (address - 0x1000) / 16);
            assert_eq!(layout.lme_index(address), expected, "{address:#x}");
            let expected = (address % 16 == 0 && (0x1040..0x1080).contains(&address))
                .then(|| (address - 0x1040) / 16);
            assert_eq!(layout.lmr_index(address), expected, "{address:#x}");
        }
        assert_eq!(layout.lme_index(u32::MAX), None);
    }
}

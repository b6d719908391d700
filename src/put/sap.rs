//! Service access points: who owns which message identifiers.

use super::error::{AttachError, SapError};

/// SAPs of a board.
pub const SAPS: usize = 6;
/// Message identifiers: 24 bits.
pub const MI_LIMIT: u32 = 1 << 24;

/// One user of a board: a layer that sends and receives under its own message
/// identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sap(pub(crate) u8);

impl Sap {
    /// Its number, 0..=5.
    pub const fn index(self) -> u8 {
        self.0
    }
}

/// Message identifiers `start .. start + size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MiRange {
    /// The first.
    pub start: u32,
    /// How many; a power of 2.
    pub size: u32,
}

impl MiRange {
    const fn end(self) -> u32 {
        self.start + self.size
    }

    /// Whether `mi` is one of them.
    pub const fn contains(self, mi: u32) -> bool {
        mi.wrapping_sub(self.start) < self.size
    }
}

/// The SAPs of a board and their ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct SapTable {
    // None: free slot; Some(None): a SAP without a range.
    slots: [Option<Option<MiRange>>; SAPS],
}

impl SapTable {
    /// Takes the first free slot.
    pub(crate) fn register(&mut self) -> Option<Sap> {
        let index = self.slots.iter().position(Option::is_none)?;
        *self.slots.get_mut(index)? = Some(None);
        Some(Sap(index as u8))
    }

    /// Frees the slot and its range.
    pub(crate) fn unregister(&mut self, sap: Sap) -> Result<(), SapError> {
        match self.slots.get_mut(usize::from(sap.0)) {
            Some(slot @ Some(_)) => {
                *slot = None;
                Ok(())
            }
            _ => Err(SapError::Unknown { sap: sap.0 }),
        }
    }

    /// The range of a SAP, if it has one.
    pub(crate) fn range(&self, sap: Sap) -> Result<Option<MiRange>, SapError> {
        match self.slots.get(usize::from(sap.0)) {
            Some(Some(range)) => Ok(*range),
            _ => Err(SapError::Unknown { sap: sap.0 }),
        }
    }

    /// Gives a SAP `n` identifiers.
    pub(crate) fn attach(&mut self, sap: Sap, n: u32) -> Result<(), AttachError> {
        if let Some(MiRange { start, size }) = self.range(sap)? {
            return Err(AttachError::AlreadyAttached { start, size });
        }
        if n == 0 {
            return Ok(());
        }
        if !n.is_power_of_two() {
            return Err(AttachError::NotPowerOfTwo { n });
        }
        let start = self.first_fit(n)?;
        if let Some(slot) = self.slots.get_mut(usize::from(sap.0)) {
            *slot = Some(Some(MiRange { start, size: n }));
        }
        Ok(())
    }

    /// The lowest start, a multiple of `n`, in a gap *after* an existing range;
    /// the gap below the first range is never looked at.
    fn first_fit(&self, n: u32) -> Result<u32, AttachError> {
        let Some(mut range) = self.first_from(0) else {
            // The record refuses 2^24 itself here.
            return if n >= MI_LIMIT {
                Err(AttachError::TooBig { n })
            } else {
                Ok(0)
            };
        };
        // As many steps as ranges at most: each goes to a higher start.
        for _ in 0..SAPS {
            let next = self.first_from(range.end());
            let limit = next.map_or(MI_LIMIT, |next| next.start);
            let fits = range
                .end()
                .checked_next_multiple_of(n)
                .filter(|start| start.checked_add(n).is_some_and(|end| end <= limit));
            match (fits, next) {
                (Some(start), _) => return Ok(start),
                (None, Some(next)) => range = next,
                (None, None) => break,
            }
        }
        Err(AttachError::NoRoom { n })
    }

    /// The range with the lowest start at or above `mi`.
    fn first_from(&self, mi: u32) -> Option<MiRange> {
        let ranges = self.slots.iter().filter_map(|slot| slot.flatten());
        ranges
            .filter(|range| range.start >= mi)
            .min_by_key(|range| range.start)
    }

    /// SAPs in use.
    pub(crate) fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// The first SAP whose range contains `mi`.
    pub(crate) fn owner(&self, mi: u32) -> Option<Sap> {
        let owns = |slot: &Option<Option<MiRange>>| slot.flatten().is_some_and(|r| r.contains(mi));
        self.slots
            .iter()
            .position(owns)
            .map(|index| Sap(index as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(table: &mut SapTable, n: u32) -> u32 {
        let sap = table.register().unwrap();
        table.attach(sap, n).unwrap();
        table.range(sap).unwrap().unwrap().start
    }

    #[test]
    fn the_seventh_sap_is_refused() {
        let mut table = SapTable::default();
        for index in 0..6 {
            assert_eq!(table.register(), Some(Sap(index)));
        }
        assert_eq!(table.register(), None);
        table.unregister(Sap(3)).unwrap();
        assert_eq!(table.register(), Some(Sap(3)));
    }

    #[test]
    fn ranges_start_at_zero_then_at_the_next_multiple() {
        let mut table = SapTable::default();
        assert_eq!(attached(&mut table, 1), 0);
        assert_eq!(attached(&mut table, 16), 16);
        // First fit: the gap 1..16 after the first range takes these.
        assert_eq!(attached(&mut table, 8), 8);
        assert_eq!(attached(&mut table, 4), 4);
        assert_eq!(attached(&mut table, 32), 32);
    }

    #[test]
    fn the_space_below_the_first_range_is_never_used_again() {
        let mut table = SapTable::default();
        assert_eq!(attached(&mut table, 64), 0);
        assert_eq!(attached(&mut table, 64), 64);
        table.unregister(Sap(0)).unwrap();
        assert_eq!(attached(&mut table, 4), 128);
        table.unregister(Sap(1)).unwrap();
        table.unregister(Sap(0)).unwrap();
        // An empty table starts from 0 again.
        assert_eq!(attached(&mut table, 2), 0);
    }

    #[test]
    fn the_whole_space_is_refused_and_one_half_twice_is_not() {
        let mut table = SapTable::default();
        let sap = table.register().unwrap();
        assert_eq!(
            table.attach(sap, 1 << 24),
            Err(AttachError::TooBig { n: 1 << 24 })
        );
        table.attach(sap, 1 << 23).unwrap();
        let other = table.register().unwrap();
        table.attach(other, 1 << 23).unwrap();
        assert_eq!(table.range(other).unwrap().unwrap().start, 1 << 23);
        let third = table.register().unwrap();
        assert_eq!(table.attach(third, 1), Err(AttachError::NoRoom { n: 1 }));
        assert_eq!(
            table.attach(third, 1 << 31),
            Err(AttachError::NoRoom { n: 1 << 31 })
        );
    }

    #[test]
    fn attach_refuses_in_the_order_of_the_record() {
        let mut table = SapTable::default();
        assert_eq!(
            table.attach(Sap(2), 3),
            Err(AttachError::UnknownSap { sap: 2 })
        );
        let sap = table.register().unwrap();
        assert_eq!(table.attach(sap, 0), Ok(()));
        assert_eq!(table.range(sap), Ok(None));
        assert_eq!(
            table.attach(sap, 3),
            Err(AttachError::NotPowerOfTwo { n: 3 })
        );
        table.attach(sap, 4).unwrap();
        assert_eq!(
            table.attach(sap, 3),
            Err(AttachError::AlreadyAttached { start: 0, size: 4 })
        );
        assert_eq!(table.unregister(Sap(9)), Err(SapError::Unknown { sap: 9 }));
    }

    #[test]
    fn owner_is_the_sap_whose_range_contains_the_identifier() {
        let mut table = SapTable::default();
        attached(&mut table, 4);
        attached(&mut table, 8);
        assert_eq!(table.owner(3), Some(Sap(0)));
        assert_eq!(table.owner(4), None);
        assert_eq!(table.owner(8), Some(Sap(1)));
        assert_eq!(table.owner(15), Some(Sap(1)));
        assert_eq!(table.owner(16), None);
        assert_eq!(table.owner(u32::MAX), None);
    }
}

//! Sets of PEs, one bit each: `tflag`s, enable flags.

use super::geometry::MAX_PES;

const WORDS: usize = MAX_PES / 64;

/// A set of PEs, by id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PeSet {
    words: [u64; WORDS],
}

impl PeSet {
    /// Nobody.
    pub const EMPTY: Self = Self { words: [0; WORDS] };

    /// The PEs 0..`pes`, at most all 16,384.
    pub fn first(pes: usize) -> Self {
        let mut set = Self::EMPTY;
        for (i, word) in set.words.iter_mut().enumerate() {
            *word = match pes.saturating_sub(64 * i) {
                0 => 0,
                n @ 1..64 => (1 << n) - 1,
                _ => u64::MAX,
            };
        }
        set
    }

    /// Puts a PE in; ids beyond 16,383 are ignored.
    #[inline]
    pub fn insert(&mut self, id: u16) {
        if let Some(word) = self.words.get_mut(id as usize >> 6) {
            *word |= 1 << (id & 63);
        }
    }

    /// Takes a PE out.
    #[inline]
    pub fn remove(&mut self, id: u16) {
        if let Some(word) = self.words.get_mut(id as usize >> 6) {
            *word &= !(1 << (id & 63));
        }
    }

    /// Whether a PE is in.
    #[inline]
    pub fn contains(&self, id: u16) -> bool {
        self.words
            .get(id as usize >> 6)
            .is_some_and(|word| word >> (id & 63) & 1 == 1)
    }

    /// 64 PEs a word, id 0 in bit 0 of word 0.
    pub const fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many are in.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether nobody is in: the inverse of `gor1`.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The highest id in the set.
    pub fn last(&self) -> Option<u16> {
        let (i, word) = self
            .words
            .iter()
            .enumerate()
            .rfind(|(_, word)| **word != 0)?;
        Some((i * 64) as u16 + 63 - word.leading_zeros() as u16)
    }

    /// The ids in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut left = word;
            core::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros() as u16;
                left &= left - 1;
                Some((i * 64) as u16 + bit)
            })
        })
    }
}

impl Default for PeSet {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl FromIterator<u16> for PeSet {
    fn from_iter<I: IntoIterator<Item = u16>>(ids: I) -> Self {
        let mut set = Self::EMPTY;
        for id in ids {
            set.insert(id);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_holds_exactly_that_many() {
        for n in [0, 1, 63, 64, 65, 1024, 16_383, 16_384, 99_999] {
            let set = PeSet::first(n);
            assert_eq!(set.len(), n.min(MAX_PES));
            assert!(set.iter().eq(0..n.min(MAX_PES) as u16));
            assert_eq!(set.is_empty(), n == 0);
            assert_eq!(
                set.last(),
                n.min(MAX_PES).checked_sub(1).map(|id| id as u16)
            );
        }
    }

    #[test]
    fn ids_beyond_the_largest_machine_are_ignored() {
        let mut set = PeSet::EMPTY;
        set.insert(u16::MAX);
        set.remove(u16::MAX);
        assert!(set.is_empty() && !set.contains(u16::MAX));
    }
}

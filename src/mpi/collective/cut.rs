//! How a buffer is cut into one block for each rank.

use super::link::{Run, check_count};
use crate::mpi::process::MpiError;

/// Blocks of a buffer, by rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut<'c> {
    /// One behind the other, of one length.
    Same { each: usize, parts: usize },
    /// One behind the other; lengths differ by one at most, the longer ones first.
    Even { total: usize, parts: usize },
    /// One behind the other, of these lengths.
    Counts(&'c [usize]),
    /// One behind the other: where each begins, and the end of the last.
    #[cfg(feature = "alloc")]
    Starts(&'c [usize]),
    /// Anywhere; where an empty block lies is not looked at.
    #[cfg(feature = "alloc")]
    Placed {
        counts: &'c [usize],
        displacements: &'c [usize],
    },
}

const TOO_LONG: MpiError = MpiError::TooLong {
    length: u64::MAX,
    max: usize::MAX as u64,
};

impl<'c> Cut<'c> {
    /// `parts` blocks of `each` elements.
    pub(crate) fn same(each: usize, parts: usize) -> Result<Self, MpiError> {
        each.checked_mul(parts).ok_or(TOO_LONG)?;
        Ok(Self::Same { each, parts })
    }

    /// Blocks of these lengths, one for each of `size` ranks.
    pub(crate) fn counts(counts: &'c [usize], size: usize) -> Result<Self, MpiError> {
        check_count(counts.len(), size)?;
        let mut sums = counts.iter();
        let sum = sums.try_fold(0usize, |sum, count| sum.checked_add(*count));
        sum.ok_or(TOO_LONG)?;
        Ok(Self::Counts(counts))
    }

    /// Blocks of these lengths at these places, one for each of `size` ranks.
    #[cfg(feature = "alloc")]
    pub(crate) fn placed(
        counts: &'c [usize],
        displacements: &'c [usize],
        size: usize,
    ) -> Result<Self, MpiError> {
        check_count(counts.len(), size)?;
        check_count(displacements.len(), size)?;
        Ok(Self::Placed {
            counts,
            displacements,
        })
    }

    /// How many blocks.
    pub(crate) fn parts(&self) -> usize {
        match *self {
            Self::Same { parts, .. } | Self::Even { parts, .. } => parts,
            Self::Counts(counts) => counts.len(),
            #[cfg(feature = "alloc")]
            Self::Starts(starts) => starts.len().saturating_sub(1),
            #[cfg(feature = "alloc")]
            Self::Placed { counts, .. } => counts.len(),
        }
    }

    /// First element of a block; beyond the last one, the end.
    pub(crate) fn start(&self, block: usize) -> usize {
        match *self {
            Self::Same { each, parts } => each * block.min(parts),
            Self::Even { total, parts } => {
                let (parts, block) = (parts.max(1), block.min(parts));
                total / parts * block + block.min(total % parts)
            }
            Self::Counts(counts) => counts.iter().take(block).sum(),
            #[cfg(feature = "alloc")]
            Self::Starts(starts) => {
                let start = starts.get(block).or_else(|| starts.last());
                start.copied().unwrap_or(0)
            }
            #[cfg(feature = "alloc")]
            Self::Placed { displacements, .. } => match self.count(block) {
                0 => 0,
                _ => displacements.get(block).copied().unwrap_or(0),
            },
        }
    }

    /// Elements of a block.
    pub(crate) fn count(&self, block: usize) -> usize {
        match *self {
            Self::Counts(counts) => counts.get(block).copied().unwrap_or(0),
            #[cfg(feature = "alloc")]
            Self::Placed { counts, .. } => counts.get(block).copied().unwrap_or(0),
            _ => self.start(block + 1) - self.start(block),
        }
    }

    /// Where a block lies.
    pub(crate) fn run(&self, block: usize) -> Run {
        (self.start(block), self.count(block))
    }

    /// One past the last element of any block.
    pub(crate) fn end(&self) -> usize {
        match *self {
            #[cfg(feature = "alloc")]
            Self::Placed { .. } => {
                let ends = (0..self.parts()).map(|block| {
                    let (start, count) = self.run(block);
                    start.saturating_add(count)
                });
                ends.max().unwrap_or(0)
            }
            _ => self.start(self.parts()),
        }
    }

    /// Elements of the blocks from `block` on, `blocks` of them around the ring.
    pub(crate) fn around(&self, block: usize, blocks: usize) -> usize {
        let (parts, last) = (self.parts(), block + blocks);
        match last.checked_sub(parts) {
            Some(over) if over > 0 => self.end() - self.start(block) + self.start(over),
            _ => self.start(last) - self.start(block),
        }
    }

    /// The longest block.
    pub(crate) fn longest(&self) -> usize {
        match *self {
            Self::Same { each, .. } => each,
            Self::Even { .. } => self.count(0),
            _ => {
                let counts = (0..self.parts()).map(|block| self.count(block));
                counts.max().unwrap_or(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cut;

    #[test]
    fn blocks_follow_one_another_and_end_at_the_total() {
        let counts = [3, 0, 2, 1];
        let cuts = [
            Cut::same(3, 4).unwrap(),
            Cut::Even {
                total: 11,
                parts: 4,
            },
            Cut::Even { total: 2, parts: 5 },
            Cut::counts(&counts, 4).unwrap(),
        ];
        for cut in cuts {
            let mut at = 0;
            for block in 0..cut.parts() {
                assert_eq!(cut.run(block), (at, cut.count(block)));
                assert!(cut.count(block) <= cut.longest());
                for blocks in 0..=cut.parts() {
                    let ring = (block..block + blocks).map(|b| cut.count(b % cut.parts()));
                    assert_eq!(cut.around(block, blocks), ring.sum::<usize>());
                }
                at += cut.count(block);
            }
            assert_eq!(cut.end(), at);
            assert_eq!(cut.start(cut.parts() + 1), at);
        }
    }

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        assert!(Cut::same(usize::MAX, 2).is_err());
        assert!(Cut::counts(&[usize::MAX, 1], 2).is_err());
        assert!(Cut::counts(&[1, 1], 3).is_err());
    }
}

//! Blocks of a buffer as a program describes them.

use alloc::vec::Vec;

use super::cut::Cut;
use crate::mpi::process::MpiError;

/// Where the block of each rank lies in a buffer, in elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Elements of each rank's block.
    pub counts: Vec<usize>,
    /// First element of each rank's block; not looked at where the count is 0.
    pub displacements: Vec<usize>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Blocks {
    fn format(&self, f: defmt::Formatter<'_>) {
        let (counts, displacements) = (self.counts.as_slice(), self.displacements.as_slice());
        defmt::write!(f, "Blocks {{ {} at {} }}", counts, displacements);
    }
}

impl Blocks {
    /// Blocks one behind the other.
    pub fn packed(counts: &[usize]) -> Self {
        let starts = counts.iter().scan(0usize, |sum, count| {
            let start = *sum;
            *sum = sum.saturating_add(*count);
            Some(start)
        });
        Self {
            counts: counts.to_vec(),
            displacements: starts.collect(),
        }
    }

    /// One past the last element of any block.
    pub fn end(&self) -> usize {
        let ends = self.counts.iter().zip(&self.displacements);
        let ends = ends.filter(|(count, _)| **count > 0);
        ends.map(|(count, start)| start.saturating_add(*count))
            .max()
            .unwrap_or(0)
    }

    /// The same for an algorithm among `size` ranks.
    pub(crate) fn cut(&self, size: usize) -> Result<Cut<'_>, MpiError> {
        Cut::placed(&self.counts, &self.displacements, size)
    }

    /// The elements two blocks share, if any do.
    pub(crate) fn overlap(&self) -> Option<usize> {
        let blocks = self.displacements.iter().zip(&self.counts);
        let mut used: Vec<(usize, usize)> = blocks
            .filter(|(_, count)| **count > 0)
            .map(|(start, count)| (*start, start.saturating_add(*count)))
            .collect();
        used.sort_unstable();
        used.windows(2).find_map(|pair| match pair {
            [(_, end), (start, _)] if start < end => Some(*start),
            _ => None,
        })
    }
}

//! Who asks for whom: permutations, functions, partial patterns.

use core::fmt;

use super::geometry::{MAX_PES, MachineSize};
use super::random::Draws;
use super::set::PeSet;

/// A communication pattern: the target of each PE, and who takes part.
///
/// PEs that do not take part ask for nobody but can be asked for. Targets of
/// those are kept as given and have no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pattern {
    size: MachineSize,
    target: [u16; MAX_PES],
    enabled: PeSet,
}

impl Pattern {
    /// A pattern from a function of the id; [`None`] for a PE that does not
    /// take part.
    ///
    /// # Errors
    /// [`PatternError::TargetOutOfRange`] names the first PE whose target the
    /// machine lacks.
    pub fn from_fn(
        size: MachineSize,
        mut target: impl FnMut(u16) -> Option<u32>,
    ) -> Result<Self, PatternError> {
        let mut pattern = Self::nobody(size);
        for id in 0..size.pes() as u16 {
            if let Some(to) = target(id) {
                pattern.set(id, to)?;
            }
        }
        Ok(pattern)
    }

    /// A pattern in which all take part: `targets[id]` for each PE.
    ///
    /// # Errors
    /// [`PatternError::Length`] when there are more or fewer targets than PEs;
    /// [`PatternError::TargetOutOfRange`] as in [`from_fn`](Self::from_fn).
    pub fn from_targets(size: MachineSize, targets: &[u16]) -> Result<Self, PatternError> {
        if targets.len() != size.pes() {
            return Err(PatternError::Length {
                len: targets.len(),
                pes: size.pes(),
            });
        }
        Self::from_fn(size, |id| targets.get(id as usize).map(|&to| u32::from(to)))
    }

    /// A partial pattern from (source, target) pairs.
    ///
    /// # Errors
    /// [`PatternError`] names the PE, and the number of the pair from 0: a
    /// source or target that the machine lacks, or a source given twice.
    pub fn from_pairs(
        size: MachineSize,
        pairs: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, PatternError> {
        let mut pattern = Self::nobody(size);
        for (pair, (source, target)) in pairs.into_iter().enumerate() {
            let pes = size.pes();
            if source as usize >= pes {
                return Err(PatternError::SourceOutOfRange { source, pair, pes });
            }
            if pattern.enabled.contains(source as u16) {
                return Err(PatternError::DuplicateSource {
                    source: source as u16,
                    pair,
                });
            }
            pattern.set(source as u16, target)?;
        }
        Ok(pattern)
    }

    fn set(&mut self, id: u16, to: u32) -> Result<(), PatternError> {
        let pes = self.size.pes();
        if to as usize >= pes {
            return Err(PatternError::TargetOutOfRange {
                source: id,
                target: to,
                pes,
            });
        }
        if let Some(entry) = self.target.get_mut(id as usize) {
            *entry = to as u16;
        }
        self.enabled.insert(id);
        Ok(())
    }

    /// Nobody takes part.
    pub const fn nobody(size: MachineSize) -> Self {
        Self {
            size,
            target: [0; MAX_PES],
            enabled: PeSet::EMPTY,
        }
    }

    /// The machine's size.
    pub const fn size(&self) -> MachineSize {
        self.size
    }

    /// The target of each PE.
    pub fn targets(&self) -> &[u16] {
        self.target.get(..self.size.pes()).unwrap_or(&self.target)
    }

    /// The target of a PE that takes part.
    pub fn target(&self, id: u16) -> Option<u16> {
        self.enabled
            .contains(id)
            .then(|| self.target.get(id as usize).copied())
            .flatten()
    }

    /// Who takes part.
    pub const fn enabled(&self) -> &PeSet {
        &self.enabled
    }

    /// How many take part.
    pub fn messages(&self) -> usize {
        self.enabled.len()
    }

    /// (source, target) of everyone who takes part, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.enabled
            .iter()
            .filter_map(|id| Some((id, *self.target.get(id as usize)?)))
    }

    /// Whether the pattern is for a machine of `size`.
    ///
    /// # Errors
    /// [`SizeMismatch`] when it is not.
    pub fn fits(&self, size: MachineSize) -> Result<(), SizeMismatch> {
        if self.size == size {
            Ok(())
        } else {
            Err(SizeMismatch {
                pattern: self.size.pes(),
                machine: size.pes(),
            })
        }
    }

    /// The same pattern with only those PEs taking part that `keep` likes.
    #[must_use]
    pub fn only(mut self, mut keep: impl FnMut(u16) -> bool) -> Self {
        let kept: PeSet = self.enabled.iter().filter(|&id| keep(id)).collect();
        self.enabled = kept;
        self
    }

    /// This pattern, then another one from where it leads; PEs whose way ends
    /// at a PE that does not take part in `next` drop out. Both must be for
    /// the same machine.
    ///
    /// # Errors
    /// [`SizeMismatch`] when they are not.
    pub fn then(mut self, next: &Self) -> Result<Self, SizeMismatch> {
        next.fits(self.size)?;
        let mut kept = PeSet::EMPTY;
        for id in self.enabled.iter() {
            let Some(entry) = self.target.get_mut(id as usize) else {
                continue;
            };
            if let Some(to) = next.target(*entry) {
                *entry = to;
                kept.insert(id);
            }
        }
        self.enabled = kept;
        Ok(self)
    }

    fn all(size: MachineSize, mut target: impl FnMut(u16) -> u16) -> Self {
        let mut pattern = Self::nobody(size);
        let mask = (size.pes() - 1) as u16;
        for (id, entry) in pattern.target.iter_mut().enumerate().take(size.pes()) {
            *entry = target(id as u16) & mask;
        }
        pattern.enabled = PeSet::first(size.pes());
        pattern
    }

    /// Bit `b` of the source is bit `bits - 1 - b` of the target.
    pub fn bit_reversal(size: MachineSize) -> Self {
        Self::all(size, |id| id.reverse_bits() >> (16 - size.id_bits()))
    }

    /// The id rotated left by one bit.
    pub fn shuffle(size: MachineSize) -> Self {
        Self::all(size, |id| id << 1 | id >> (size.id_bits() - 1))
    }

    /// The id rotated right by one bit.
    pub fn unshuffle(size: MachineSize) -> Self {
        Self::all(size, |id| id >> 1 | (id & 1) << (size.id_bits() - 1))
    }

    /// The highest and the lowest bit of the id exchanged.
    pub fn butterfly(size: MachineSize) -> Self {
        let top = size.id_bits() - 1;
        Self::all(size, |id| {
            let differ = (id ^ id >> top) & 1;
            id ^ (differ | differ << top)
        })
    }

    /// Row and column exchanged (the matrix of the array's shape transposed).
    pub fn transpose(size: MachineSize) -> Self {
        let (rows, columns) = (size.row_bits(), size.column_bits());
        Self::all(size, |id| id >> columns | id << rows)
    }

    /// The last PE for the first, and so on: every bit inverted.
    pub fn reversal(size: MachineSize) -> Self {
        Self::all(size, |id| !id)
    }

    /// Binary to reflected Gray code.
    pub fn gray(size: MachineSize) -> Self {
        Self::all(size, |id| id ^ id >> 1)
    }

    /// Reflected Gray code to binary.
    pub fn inverse_gray(size: MachineSize) -> Self {
        Self::all(size, |id| {
            [1, 2, 4, 8]
                .iter()
                .fold(id, |code, shift| code ^ code >> shift)
        })
    }

    /// The bits of the column reversed, the row kept.
    pub fn row_bit_reversal(size: MachineSize) -> Self {
        let bits = size.column_bits();
        let mask = (1u16 << bits) - 1;
        Self::all(size, |id| {
            id & !mask | (id & mask).reverse_bits() >> (16 - bits)
        })
    }

    /// One bit of the id inverted; none when the id has no such bit.
    pub fn exchange(size: MachineSize, bit: u32) -> Self {
        Self::all(size, |id| id ^ 1u16.checked_shl(bit).unwrap_or(0))
    }

    /// The id times `factor`, modulo the PEs.
    pub fn stride(size: MachineSize, factor: u32) -> Self {
        Self::all(size, |id| u32::from(id).wrapping_mul(factor) as u16)
    }

    /// The id plus `distance`, modulo the PEs.
    pub fn shift(size: MachineSize, distance: i32) -> Self {
        Self::all(size, |id| i32::from(id).wrapping_add(distance) as u16)
    }

    /// Everyone to one PE (its id modulo the PEs).
    pub fn all_to(size: MachineSize, pe: u16) -> Self {
        Self::all(size, |_| pe)
    }

    /// Everyone to the first PE of its row.
    pub fn row_head(size: MachineSize) -> Self {
        Self::all(size, |id| id >> size.column_bits() << size.column_bits())
    }

    /// A random permutation (Fisher and Yates).
    pub fn random_permutation(size: MachineSize, seed: u64) -> Self {
        let mut pattern = Self::all(size, |id| id);
        if let Some(targets) = pattern.target.get_mut(..size.pes()) {
            Draws::new(seed).shuffle(targets);
        }
        pattern
    }

    /// A random function: targets are drawn independently.
    pub fn random_function(size: MachineSize, seed: u64) -> Self {
        let mut draws = Draws::new(seed);
        Self::all(size, |_| draws.below(size.pes() as u32) as u16)
    }

    /// The same pattern with every PE taking part by the toss of a coin.
    #[must_use]
    pub fn coin(self, seed: u64) -> Self {
        let mut draws = Draws::new(seed);
        let mut heads = PeSet::EMPTY;
        for id in 0..self.size.pes() as u16 {
            if draws.bits() >> 63 == 1 {
                heads.insert(id);
            }
        }
        self.only(|id| heads.contains(id))
    }
}

/// A pattern that is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PatternError {
    /// A source that the machine lacks.
    SourceOutOfRange {
        /// The source.
        source: u32,
        /// Number of the pair, from 0.
        pair: usize,
        /// PEs of the machine.
        pes: usize,
    },
    /// A target that the machine lacks.
    TargetOutOfRange {
        /// Who asks for it.
        source: u16,
        /// The target.
        target: u32,
        /// PEs of the machine.
        pes: usize,
    },
    /// A source is given twice.
    DuplicateSource {
        /// The source.
        source: u16,
        /// Number of the second pair, from 0.
        pair: usize,
    },
    /// Not one target for each PE.
    Length {
        /// Targets given.
        len: usize,
        /// PEs of the machine.
        pes: usize,
    },
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceOutOfRange { source, pair, pes } => {
                write!(f, "source {source} of pair {pair} is outside 0..{pes}")
            }
            Self::TargetOutOfRange {
                source,
                target,
                pes,
            } => {
                write!(f, "target {target} of PE {source} is outside 0..{pes}")
            }
            Self::DuplicateSource { source, pair } => {
                write!(f, "pair {pair} gives PE {source} a second target")
            }
            Self::Length { len, pes } => write!(f, "{len} targets for a machine of {pes} PEs"),
        }
    }
}

impl core::error::Error for PatternError {}

/// A pattern for a machine of another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct SizeMismatch {
    /// PEs of the pattern.
    pub pattern: usize,
    /// PEs of the machine.
    pub machine: usize,
}

impl fmt::Display for SizeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pattern for {} PEs on a machine of {}",
            self.pattern, self.machine
        )
    }
}

impl core::error::Error for SizeMismatch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_permutations_are_permutations_on_every_size() {
        for size in MachineSize::ALL {
            for (name, pattern) in [
                ("bit reversal", Pattern::bit_reversal(size)),
                ("shuffle", Pattern::shuffle(size)),
                ("unshuffle", Pattern::unshuffle(size)),
                ("butterfly", Pattern::butterfly(size)),
                ("transpose", Pattern::transpose(size)),
                ("reversal", Pattern::reversal(size)),
                ("gray", Pattern::gray(size)),
                ("inverse gray", Pattern::inverse_gray(size)),
                ("row bit reversal", Pattern::row_bit_reversal(size)),
                ("exchange", Pattern::exchange(size, 3)),
                ("stride", Pattern::stride(size, 129)),
                ("shift", Pattern::shift(size, -77)),
                ("random", Pattern::random_permutation(size, 9)),
            ] {
                let hit: PeSet = pattern.pairs().map(|(_, to)| to).collect();
                assert_eq!(hit.len(), size.pes(), "{name} {size:?}");
            }
        }
    }

    #[test]
    fn opposite_permutations_cancel() {
        let size = MachineSize::Pes8192;
        let identity = Pattern::shift(size, 0);
        for (one, other) in [
            (Pattern::shuffle(size), Pattern::unshuffle(size)),
            (Pattern::gray(size), Pattern::inverse_gray(size)),
            (Pattern::shift(size, 5), Pattern::shift(size, -5)),
        ] {
            assert_eq!(one.then(&other), Ok(identity.clone()));
        }
    }

    #[test]
    fn bad_pairs_are_named() {
        extern crate std;
        use std::string::ToString;
        let size = MachineSize::Pes1024;
        let error = |pairs: &[(u32, u32)]| {
            Pattern::from_pairs(size, pairs.iter().copied())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error(&[(1, 2), (1, 3)]),
            "pair 1 gives PE 1 a second target"
        );
        assert_eq!(
            error(&[(1024, 2)]),
            "source 1024 of pair 0 is outside 0..1024"
        );
        assert_eq!(
            error(&[(7, 99_999)]),
            "target 99999 of PE 7 is outside 0..1024"
        );
        assert_eq!(
            Pattern::from_targets(size, &[0; 3]),
            Err(PatternError::Length { len: 3, pes: 1024 })
        );
    }
}

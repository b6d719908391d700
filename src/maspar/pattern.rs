//! Who asks for whom: permutations, functions, partial patterns.

mod generate;

use core::fmt;

use super::geometry::{MAX_PES, MachineSize};
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
mod tests;

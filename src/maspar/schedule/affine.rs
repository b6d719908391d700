//! Affine patterns over GF(2): phases by parities of the id, without search.
//!
//! When each bit of the target is the parity of some bits of the source (or
//! its inverse), so are the source cluster, the target cluster and the stage-1
//! share. Phase bit `j` = parity(id AND mask `j`) makes a schedule when the
//! masks together with each of those tell enough PEs apart: one for clusters,
//! four for a share of four wires. Random masks nearly always do.

use super::{NO_PHASE, Schedule, ScheduleError, Scheduler};
use crate::maspar::geometry::MAX_PES;
use crate::maspar::pattern::Pattern;
use crate::maspar::random::Draws;
use crate::maspar::router::Router;

/// Most bits of an id.
const BITS: usize = 14;

/// `target = linear(source) XOR constant`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Affine {
    /// What each bit of the source adds to the target.
    pub columns: [u16; BITS],
    /// The target of PE 0.
    pub constant: u16,
}

impl Affine {
    /// The affine map that agrees with a pattern on all PEs that take part.
    ///
    /// # Errors
    /// The first PE for which there is none.
    pub fn of(pattern: &Pattern) -> Result<Self, u16> {
        // Gaussian elimination on (1, source) -> target, by leading bit.
        let mut basis = [(0u16, 0u16); BITS + 1];
        let reduce = |basis: &[(u16, u16); BITS + 1], mut x: u16, mut y: u16| {
            for (bit, &(row, value)) in basis.iter().enumerate().rev() {
                if x >> bit & 1 == 1 && row != 0 {
                    x ^= row;
                    y ^= value;
                }
            }
            (x, y)
        };
        let one = 1u16 << BITS;
        for (source, target) in pattern.pairs() {
            let (x, y) = reduce(&basis, source | one, target);
            match x.checked_ilog2() {
                Some(bit) => {
                    if let Some(entry) = basis.get_mut(bit as usize) {
                        *entry = (x, y);
                    }
                }
                None if y != 0 => return Err(source),
                None => {}
            }
        }
        // Directions that nobody determines go to 0.
        for bit in 0..=BITS {
            let (x, _) = reduce(&basis, 1 << bit, 0);
            if let Some(lead) = x.checked_ilog2()
                && let Some(entry) = basis.get_mut(lead as usize)
            {
                *entry = (x, 0);
            }
        }
        let mut map = Self {
            columns: [0; BITS],
            constant: reduce(&basis, one, 0).1,
        };
        for (bit, column) in map.columns.iter_mut().enumerate() {
            *column = reduce(&basis, 1 << bit, 0).1;
        }
        Ok(map)
    }

    /// The bits of the source whose parity is bit `bit` of the target.
    fn row(&self, bit: u32) -> u16 {
        self.columns
            .iter()
            .enumerate()
            .fold(0, |row, (i, c)| row | (c >> bit & 1) << i)
    }
}

/// A growing set of independent functionals.
#[derive(Clone, Copy)]
struct Span {
    basis: [u16; 16],
    rank: u32,
}

impl Span {
    const EMPTY: Self = Self {
        basis: [0; 16],
        rank: 0,
    };

    fn add(&mut self, mut mask: u16) {
        while let Some(bit) = mask.checked_ilog2() {
            match self.basis.get_mut(bit as usize) {
                Some(entry) if *entry == 0 => {
                    *entry = mask;
                    self.rank += 1;
                    return;
                }
                Some(entry) => mask ^= *entry,
                None => return,
            }
        }
    }

    fn with(mut self, masks: &[u16]) -> u32 {
        for &mask in masks {
            self.add(mask);
        }
        self.rank
    }
}

/// The scheduler for affine patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ParityMasks {
    /// Seed of the draws.
    pub seed: u64,
    /// Draws before one more mask is used. Default 1000 (chosen: a few are
    /// enough).
    pub tries: u32,
}

impl ParityMasks {
    /// The masks for a pattern: their number and themselves. Bit `j` of the
    /// phase of a PE is the parity of its id AND mask `j`.
    ///
    /// # Errors
    /// [`ScheduleError::NotAffine`] names the PE that breaks it.
    pub fn masks(
        &self,
        router: &Router,
        pattern: &Pattern,
    ) -> Result<(usize, [u16; BITS]), ScheduleError> {
        pattern.fits(router.size())?;
        let map = Affine::of(pattern).map_err(|pe| ScheduleError::NotAffine { pe })?;
        let bits = router.size().id_bits();
        let geometry = router.wiring().geometry();
        let id_bit = |slot_bit: u32| geometry.id_bit(slot_bit as usize).unwrap_or(0);

        let (mut source, mut target, mut share) = (Span::EMPTY, Span::EMPTY, Span::EMPTY);
        for slot_bit in 4..bits {
            source.add(1 << id_bit(slot_bit));
            target.add(map.row(id_bit(slot_bit)));
        }
        for slot_bit in 10..bits {
            share.add(1 << id_bit(slot_bit));
        }
        for &cluster_bit in &router.config().group {
            share.add(map.row(id_bit(4 + u32::from(cluster_bit))));
        }
        // A share of four wires need not tell four PEs apart.
        let mut spare = 2;
        if let crate::maspar::config::Stage1::Crossbars(lanes) = router.config().stage1 {
            spare = 0;
            for lane in lanes {
                share.add(1 << id_bit(4 + u32::from(lane)));
            }
        }

        let fewest = (bits - source.rank)
            .max(bits - target.rank)
            .max((bits - spare).saturating_sub(share.rank));
        let mut draws = Draws::new(self.seed);
        for used in fewest as usize..=BITS {
            for _ in 0..self.tries.max(1) {
                let mut masks = [0u16; BITS];
                for mask in masks.iter_mut().take(used) {
                    *mask = draws.below(1 << bits) as u16;
                }
                let drawn = masks.get(..used).unwrap_or_default();
                if source.with(drawn) == bits
                    && target.with(drawn) == bits
                    && share.with(drawn) + spare >= bits
                {
                    return Ok((used, masks));
                }
            }
        }
        Err(ScheduleError::GaveUp {
            phases: 1 << fewest,
            excess: 0,
            effort: self.tries,
        })
    }
}

impl Default for ParityMasks {
    fn default() -> Self {
        Self {
            seed: 1,
            tries: 1000,
        }
    }
}

impl Scheduler for ParityMasks {
    fn name(&self) -> &'static str {
        "parity masks"
    }

    fn schedule(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
    ) -> Result<Schedule, ScheduleError> {
        let (used, masks) = self.masks(router, pattern)?;
        let mut phase = [NO_PHASE; MAX_PES];
        let mut seen = [NO_PHASE; MAX_PES];
        for (id, _) in pattern.pairs() {
            let number = masks
                .iter()
                .take(used)
                .enumerate()
                .fold(0, |number, (j, mask)| {
                    number | ((id & mask).count_ones() as u16 & 1) << j
                });
            if let (Some(entry), Some(seen)) =
                (phase.get_mut(id as usize), seen.get_mut(number as usize))
            {
                *entry = number;
                *seen = 0;
            }
        }
        // Partial patterns leave phases empty: number the others anew.
        for (next, number) in (0..).zip(seen.iter_mut().filter(|number| **number == 0)) {
            *number = next;
        }
        for entry in phase.iter_mut().filter(|entry| **entry != NO_PHASE) {
            *entry = seen.get(*entry as usize).copied().unwrap_or(NO_PHASE);
        }
        let pes = router.size().pes();
        Schedule::checked(router, pattern, phase.get(..pes).unwrap_or(&phase))
    }
}

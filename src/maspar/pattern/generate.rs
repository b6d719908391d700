//! The patterns with a name, and random ones.

use super::Pattern;
use crate::maspar::geometry::MachineSize;
use crate::maspar::random::Draws;
use crate::maspar::set::PeSet;

impl Pattern {
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

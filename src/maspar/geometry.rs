//! Where a PE sits: array, boards, clusters, groups.
//!
//! A machine is an array of PEs; the router sees boards of 64 clusters of 16
//! PEs. Source: hw/doc/maspar.md, section "Numbering".
//!
//! ```text
//! id, 16,384 PEs     13  12  11  10   9   8   7   6   5   4   3   2   1   0
//!                    y6  y5  y4  y3  y2  y1  y0  x6  x5  x4  x3  x2  x1  x0
//! place (Morton)     y6  x6  y5  x5 | y4  x4  y3  x3  y2  x2 | y1  x1  y0  x0
//!                    board          | cluster                | PE
//!                                             group of a target: y3 x3 y2 x2
//! ```

use core::fmt;

/// Most PEs of a machine.
pub const MAX_PES: usize = 16_384;
/// Most boards of a machine.
pub const MAX_BOARDS: usize = 16;
/// Clusters of a board: the inputs of its stage-1 chip.
pub const CLUSTERS: usize = 64;
/// PEs of a cluster; they share one wire into the router and one out of it.
pub const CLUSTER_PES: usize = 16;
/// Output groups of a router chip.
pub const GROUPS: usize = 16;
/// Wires of an output group.
pub const WIRES: usize = 4;
/// Most clusters of a machine.
pub const MAX_CLUSTERS: usize = MAX_BOARDS * CLUSTERS;

/// The machine sizes that were sold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MachineSize {
    /// One board, 32 rows of 32 columns (MP-1101, MP-2201).
    Pes1024,
    /// Two boards, 32 rows of 64 columns (MP-1102, MP-2202).
    Pes2048,
    /// Four boards, 64 rows of 64 columns (MP-1104, MP-2204).
    Pes4096,
    /// Eight boards, 64 rows of 128 columns (MP-1208, MP-2208).
    Pes8192,
    /// Sixteen boards, 128 rows of 128 columns (MP-1216, MP-2216).
    #[default]
    Pes16384,
}

impl MachineSize {
    /// Every size, smallest first.
    pub const ALL: [Self; 5] = [
        Self::Pes1024,
        Self::Pes2048,
        Self::Pes4096,
        Self::Pes8192,
        Self::Pes16384,
    ];

    /// The machine with that many PEs.
    ///
    /// # Errors
    /// [`SizeError`] with the value, when no machine has that many.
    pub const fn from_pes(pes: usize) -> Result<Self, SizeError> {
        match pes {
            1024 => Ok(Self::Pes1024),
            2048 => Ok(Self::Pes2048),
            4096 => Ok(Self::Pes4096),
            8192 => Ok(Self::Pes8192),
            16384 => Ok(Self::Pes16384),
            _ => Err(SizeError { pes }),
        }
    }

    /// Bits of a column number.
    pub const fn column_bits(self) -> u32 {
        match self {
            Self::Pes1024 => 5,
            Self::Pes2048 | Self::Pes4096 => 6,
            Self::Pes8192 | Self::Pes16384 => 7,
        }
    }

    /// Bits of a row number.
    pub const fn row_bits(self) -> u32 {
        match self {
            Self::Pes1024 | Self::Pes2048 => 5,
            Self::Pes4096 | Self::Pes8192 => 6,
            Self::Pes16384 => 7,
        }
    }

    /// Bits of a PE id.
    pub const fn id_bits(self) -> u32 {
        self.row_bits() + self.column_bits()
    }

    /// PEs.
    pub const fn pes(self) -> usize {
        1 << self.id_bits()
    }

    /// Boards.
    pub const fn boards(self) -> usize {
        1 << (self.id_bits() - 10)
    }

    /// Clusters, over all boards.
    pub const fn clusters(self) -> usize {
        1 << (self.id_bits() - 4)
    }

    /// Columns of the array.
    pub const fn columns(self) -> usize {
        1 << self.column_bits()
    }

    /// Rows of the array.
    pub const fn rows(self) -> usize {
        1 << self.row_bits()
    }
}

/// No machine has that many PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct SizeError {
    /// The number asked for.
    pub pes: usize,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no machine has {} PEs, only 1024, 2048, 4096, 8192 or 16384",
            self.pes
        )
    }
}

impl core::error::Error for SizeError {}

/// One bit of a PE's row or column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Bit {
    /// Bit of the row number (its weight is 2 to that).
    Y(u8),
    /// Bit of the column number.
    X(u8),
}

impl Bit {
    /// The bit of the id, when a machine of `size` has it.
    pub const fn id_bit(self, size: MachineSize) -> Option<u32> {
        match self {
            Self::X(n) if (n as u32) < size.column_bits() => Some(n as u32),
            Self::Y(n) if (n as u32) < size.row_bits() => Some(n as u32 + size.column_bits()),
            _ => None,
        }
    }
}

/// How the bits of row and column are dealt out, most significant first.
///
/// Boards that a smaller machine lacks fall away: of the board bits those
/// count that the machine's rows and columns have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Numbering {
    /// The board. No published number depends on this order.
    pub board: [Bit; 4],
    /// The cluster on its board: its priority at stage 1, 0 first.
    pub cluster: [Bit; 6],
    /// The PE in its cluster: its priority there, 0 first.
    pub pe: [Bit; 4],
}

impl Numbering {
    /// Row and column interleaved everywhere (Morton order): the simplest
    /// order that gives the published 52 cycles of the shuffle.
    pub const MORTON: Self = Self {
        board: [Bit::Y(6), Bit::X(6), Bit::Y(5), Bit::X(5)],
        cluster: [
            Bit::Y(4),
            Bit::X(4),
            Bit::Y(3),
            Bit::X(3),
            Bit::Y(2),
            Bit::X(2),
        ],
        pe: [Bit::Y(1), Bit::X(1), Bit::Y(0), Bit::X(0)],
    };
}

impl Default for Numbering {
    fn default() -> Self {
        Self::MORTON
    }
}

/// Where a PE sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Place {
    /// Board, 0..16.
    pub board: u8,
    /// Cluster on the board, 0..64.
    pub cluster: u8,
    /// PE in the cluster, 0..16.
    pub pe: u8,
}

/// Translates ids to slots and back.
///
/// A *slot* is the PE's number in router order: board, cluster, PE from the
/// most significant bit down. Both directions are permutations of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Geometry {
    size: MachineSize,
    // Bit i of a slot is this bit of the id.
    id_bit: [u8; 14],
    // Contributions of the low and high seven bits, each way.
    to_slot: [[u16; 128]; 2],
    to_id: [[u16; 128]; 2],
}

impl Geometry {
    /// The geometry of a machine.
    ///
    /// # Errors
    /// [`NumberingError`] when a bit is used twice, is missing, or is not one
    /// of the machine's.
    pub fn new(size: MachineSize, numbering: &Numbering) -> Result<Self, NumberingError> {
        let bits = size.id_bits() as usize;
        let mut id_bit = [0u8; 14];
        let mut used = 0u32;
        let mut at = bits;
        let board = numbering
            .board
            .iter()
            .filter(|bit| bit.id_bit(size).is_some());
        for &bit in board.chain(&numbering.cluster).chain(&numbering.pe) {
            let index = bit.id_bit(size).ok_or(NumberingError::NotThere { bit })?;
            if used >> index & 1 == 1 {
                return Err(NumberingError::Twice { bit });
            }
            used |= 1 << index;
            at = at.checked_sub(1).ok_or(NumberingError::Twice { bit })?;
            if let Some(entry) = id_bit.get_mut(at) {
                *entry = index as u8;
            }
        }
        if at != 0 {
            return Err(NumberingError::Missing {
                used: (bits - at) as u32,
                bits: bits as u32,
            });
        }
        let mut geometry = Self {
            size,
            id_bit,
            to_slot: [[0; 128]; 2],
            to_id: [[0; 128]; 2],
        };
        for (half, shift) in [(0, 0), (1, 7)] {
            for value in 0..128u16 {
                let word = value << shift;
                let (mut slot, mut id) = (0u16, 0u16);
                for (i, &b) in geometry.id_bit.iter().take(bits).enumerate() {
                    slot |= (word >> b & 1) << i;
                    id |= (word >> i & 1) << b;
                }
                geometry.to_slot[half][value as usize] = slot;
                geometry.to_id[half][value as usize] = id;
            }
        }
        Ok(geometry)
    }

    /// The machine's size.
    pub const fn size(&self) -> MachineSize {
        self.size
    }

    /// The slot of a PE; bits of `id` beyond the machine's are ignored.
    #[inline]
    pub fn slot(&self, id: u16) -> u16 {
        self.to_slot[0][id as usize & 127] | self.to_slot[1][id as usize >> 7 & 127]
    }

    /// The id of a slot; bits beyond the machine's are ignored.
    #[inline]
    pub fn id(&self, slot: u16) -> u16 {
        self.to_id[0][slot as usize & 127] | self.to_id[1][slot as usize >> 7 & 127]
    }

    /// Where a PE sits.
    pub fn place(&self, id: u16) -> Place {
        let slot = self.slot(id);
        Place {
            board: (slot >> 10) as u8,
            cluster: (slot >> 4 & 63) as u8,
            pe: (slot & 15) as u8,
        }
    }

    /// The bit of the id that is bit `bit` of a slot.
    pub fn id_bit(&self, bit: usize) -> Option<u32> {
        let bits = self.size.id_bits() as usize;
        self.id_bit.get(..bits)?.get(bit).map(|&b| u32::from(b))
    }
}

/// A numbering that names no place for some PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NumberingError {
    /// The machine has no such bit.
    NotThere {
        /// The bit.
        bit: Bit,
    },
    /// The bit is used twice.
    Twice {
        /// The bit.
        bit: Bit,
    },
    /// Some bits of the id are not used.
    Missing {
        /// Bits used.
        used: u32,
        /// Bits of an id.
        bits: u32,
    },
}

impl fmt::Display for NumberingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere { bit } => write!(f, "numbering uses {bit:?}, which this machine lacks"),
            Self::Twice { bit } => write!(f, "numbering uses {bit:?} twice"),
            Self::Missing { used, bits } => {
                write!(f, "numbering uses {used} bits, an id has {bits}")
            }
        }
    }
}

impl core::error::Error for NumberingError {}

#[cfg(test)]
mod tests;

//! Every structural choice of the router, and the models that have a name.
//!
//! What each choice rests on: hw/doc/maspar.md, section "Choices and their
//! evidence".

use core::fmt;

use super::chip::Personality;
use super::geometry::{Geometry, MachineSize, Numbering, NumberingError, WIRES};
use super::ticks::Costs;

/// What the stage-1 chips are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Stage1 {
    /// 16 groups of four interchangeable wires.
    #[default]
    Hyperbar,
    /// Four 16 x 16 crossbars; their number is these two bits of the source
    /// cluster's number, more significant first (each 0..=5).
    Crossbars([u8; 2]),
}

/// The order of the inputs of a stage-2 chip, highest priority first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InputOrder {
    /// One wire of all boards, then the next wire of all boards.
    #[default]
    WireByWire,
    /// All wires of one board, then all wires of the next.
    BoardByBoard,
}

/// Which requesting PE a cluster puts forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Pick {
    /// The one with the lowest number; again after a failure.
    #[default]
    Lowest,
    /// The one with the highest number; again after a failure.
    Highest,
}

/// The router's structure.
///
/// [`Default`] is [`RouterConfig::MP1`]. Change fields of a preset for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RouterConfig {
    /// PEs of the machine. Default: 16,384 (record).
    pub size: MachineSize,
    /// Who sits where. Default: Morton order (chosen: the simplest that gives
    /// the published 52 cycles of the shuffle).
    pub numbering: Numbering,
    /// The four bits of the target cluster's number that steer stage 1, most
    /// significant first. Default 3, 2, 1, 0 (chosen: as above).
    pub group: [u8; 4],
    /// What the stage-1 chips are. Default: hyperbars (chosen: crossbars that
    /// give the 52 cannot give a shuffle schedule as short as the published).
    pub stage1: Stage1,
    /// The stage-1 wires in the order of their priority at stage 2. Default
    /// 3, 2, 1, 0: what ranked high at stage 1 ranks low at stage 2 (record:
    /// patent; without it bit reversal takes 58 cycles instead of 70).
    pub stage2_wires: [u8; WIRES],
    /// How the wires of several boards are interleaved there. Default: wire by
    /// wire (chosen: the other order takes 31 cycles instead of 70).
    pub stage2_inputs: InputOrder,
    /// The stage-2 wires in the order of their priority at stage 3. Default
    /// 0, 1, 2, 3 (chosen: descending needs 60 cycles for the shuffle).
    pub stage3_wires: [u8; WIRES],
    /// Which PE a cluster puts forward. Default: the lowest (chosen: gives the
    /// ramp 16, 32, 48, ... of bit reversal).
    pub pick: Pick,
    /// Ticks of the instructions.
    pub costs: Costs,
}

impl RouterConfig {
    /// The model: all published profiles, counts and schedules but "about 70
    /// cycles" for random permutations.
    pub const MP1: Self = Self {
        size: MachineSize::Pes16384,
        numbering: Numbering::MORTON,
        group: [3, 2, 1, 0],
        stage1: Stage1::Hyperbar,
        stage2_wires: [3, 2, 1, 0],
        stage2_inputs: InputOrder::WireByWire,
        stage3_wires: [0, 1, 2, 3],
        pick: Pick::Lowest,
        costs: Costs::MP1,
    };

    /// The MP-2 has the same router.
    pub const MP2: Self = Self {
        costs: Costs::MP2,
        ..Self::MP1
    };

    /// Without the priority reversal before stage 2: bit reversal takes 58.
    pub const NO_REVERSAL: Self = Self {
        stage2_wires: [0, 1, 2, 3],
        ..Self::MP1
    };

    /// The four wires of a board adjacent at stage 2: bit reversal takes 31.
    pub const BOARD_BY_BOARD: Self = Self {
        stage2_inputs: InputOrder::BoardByBoard,
        ..Self::MP1
    };

    /// Stage 3 serves its wires from the last to the first: shuffle takes 60.
    pub const STAGE3_DESCENDING: Self = Self {
        stage3_wires: [3, 2, 1, 0],
        ..Self::MP1
    };

    /// Crossbars at stage 1, by id bits 11 and 2, group bits 4 3 10 9: bit
    /// reversal, shifts and shuffle as published, random permutations 54 to
    /// 64; but no shuffle schedule below 32.
    pub const CROSSBARS: Self = Self {
        stage1: Stage1::Crossbars([5, 0]),
        group: [4, 2, 3, 1],
        ..Self::MP1
    };

    /// The same router with another number of PEs (chosen: same rules, fewer
    /// boards; nothing is published).
    pub const fn with_size(mut self, size: MachineSize) -> Self {
        self.size = size;
        self
    }

    /// The presets by name, for tools.
    pub const PRESETS: [(&'static str, Self); 6] = [
        ("mp1", Self::MP1),
        ("mp2", Self::MP2),
        ("no-reversal", Self::NO_REVERSAL),
        ("board-by-board", Self::BOARD_BY_BOARD),
        ("stage3-descending", Self::STAGE3_DESCENDING),
        ("crossbars", Self::CROSSBARS),
    ];

    /// The personality of the stage-1 chips.
    pub const fn stage1_personality(&self) -> Personality {
        match self.stage1 {
            Stage1::Hyperbar => Personality::Hyperbar,
            Stage1::Crossbars(bits) => Personality::crossbars_by(bits),
        }
    }

    /// The wiring as tables.
    ///
    /// # Errors
    /// [`ConfigError`] names the field that makes no sense.
    pub fn wiring(&self) -> Result<Wiring, ConfigError> {
        Wiring::new(self)
    }
}

impl Default for RouterConfig {
    fn default() -> Self {
        Self::MP1
    }
}

/// The wiring of a machine, as tables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Wiring {
    geometry: Geometry,
    // Cluster to (group << 2 | corner), and back.
    group_corner: [u8; 64],
    cluster: [u8; 64],
    // Stage-2 input of (wire << 4 | board), and back.
    input: [u8; 64],
    source: [u8; 64],
}

impl Wiring {
    fn new(config: &RouterConfig) -> Result<Self, ConfigError> {
        let geometry = Geometry::new(config.size, &config.numbering)
            .map_err(|error| ConfigError::Numbering { error })?;
        let mut seen = 0u8;
        for &bit in &config.group {
            if bit > 5 || seen >> bit & 1 == 1 {
                return Err(ConfigError::GroupBit { bit });
            }
            seen |= 1 << bit;
        }
        if let Stage1::Crossbars([a, b]) = config.stage1
            && (a > 5 || b > 5 || a == b)
        {
            return Err(ConfigError::CrossbarBits { bits: [a, b] });
        }
        for (stage, order) in [(2, config.stage2_wires), (3, config.stage3_wires)] {
            if order.iter().fold(0u8, |set, &w| set | 1 << (w & 7)) != 0b1111 {
                return Err(ConfigError::WireOrder { stage, order });
            }
        }
        let mut wiring = Self {
            geometry,
            group_corner: [0; 64],
            cluster: [0; 64],
            input: [0; 64],
            source: [0; 64],
        };
        for cluster in 0..64u8 {
            let mut code = 0;
            for &bit in &config.group {
                code = code << 1 | cluster >> bit & 1;
            }
            for bit in (0..6).rev().filter(|bit| seen >> bit & 1 == 0) {
                code = code << 1 | cluster >> bit & 1;
            }
            wiring.group_corner[cluster as usize & 63] = code;
            wiring.cluster[code as usize & 63] = cluster;
        }
        for (rank, &wire) in config.stage2_wires.iter().enumerate() {
            for board in 0..16usize {
                let input = match config.stage2_inputs {
                    InputOrder::WireByWire => rank << 4 | board,
                    InputOrder::BoardByBoard => board << 2 | rank,
                };
                let source = usize::from(wire) << 4 | board;
                wiring.input[source & 63] = input as u8;
                wiring.source[input & 63] = source as u8;
            }
        }
        Ok(wiring)
    }

    /// Where PEs sit.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The router address of a target slot: corner, group, board, PE, from
    /// bit 13 down. The *corner* is the two bits of the cluster's number that
    /// the group leaves open; stage 3 resolves them.
    #[inline]
    pub fn address(&self, slot: u16) -> u16 {
        let code = u16::from(self.group_corner[slot as usize >> 4 & 63]);
        (code & 3) << 12 | (code >> 2) << 8 | (slot >> 10 & 15) << 4 | slot & 15
    }

    /// The target slot of a router address.
    #[inline]
    pub fn slot(&self, address: u16) -> u16 {
        let code = (address >> 8 & 15) << 2 | address >> 12 & 3;
        let cluster = u16::from(self.cluster[code as usize & 63]);
        (address >> 4 & 15) << 10 | cluster << 4 | address & 15
    }

    /// The stage-1 group of a cluster as a target.
    pub fn group(&self, cluster: u8) -> u8 {
        self.group_corner[cluster as usize & 63] >> 2
    }

    /// The stage-2 input that wire `wire` of board `board` is soldered to: its
    /// priority there, 0 first.
    #[inline]
    pub fn stage2_input(&self, wire: u8, board: u8) -> u8 {
        self.input[(wire as usize & 3) << 4 | board as usize & 15]
    }

    /// The wire and the board of a stage-2 input.
    #[inline]
    pub fn stage2_source(&self, input: u8) -> (u8, u8) {
        let source = self.source[input as usize & 63];
        (source >> 4, source & 15)
    }
}

/// A configuration that describes no router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ConfigError {
    /// The numbering is not one.
    Numbering {
        /// Why.
        error: NumberingError,
    },
    /// A group bit is out of range or used twice.
    GroupBit {
        /// The bit.
        bit: u8,
    },
    /// The crossbar bits are out of range or equal.
    CrossbarBits {
        /// The bits.
        bits: [u8; 2],
    },
    /// A wire order that is no permutation.
    WireOrder {
        /// The stage that uses it.
        stage: u8,
        /// The order.
        order: [u8; WIRES],
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbering { error } => error.fmt(f),
            Self::GroupBit { bit } => {
                write!(f, "group bit {bit} is used twice or is not one of 0..=5")
            }
            Self::CrossbarBits { bits } => {
                write!(
                    f,
                    "crossbar bits {bits:?} are not two different ones of 0..=5"
                )
            }
            Self::WireOrder { stage, order } => {
                write!(
                    f,
                    "wire order {order:?} of stage {stage} is no permutation of 0..=3"
                )
            }
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_slots_are_inverse() {
        for (_, config) in RouterConfig::PRESETS {
            let wiring = config.wiring().unwrap();
            for slot in 0..16384 {
                assert_eq!(wiring.slot(wiring.address(slot)), slot);
            }
        }
    }

    #[test]
    fn group_of_the_model_is_the_low_four_bits_of_the_cluster() {
        let wiring = RouterConfig::MP1.wiring().unwrap();
        for cluster in 0..64 {
            assert_eq!(wiring.group(cluster), cluster & 15);
        }
    }

    #[test]
    fn high_ranking_wires_rank_low_at_stage_2() {
        let wiring = RouterConfig::MP1.wiring().unwrap();
        assert_eq!(wiring.stage2_input(3, 0), 0);
        assert_eq!(wiring.stage2_input(3, 15), 15);
        assert_eq!(wiring.stage2_input(0, 15), 63);
        for input in 0..64 {
            let (wire, board) = wiring.stage2_source(input);
            assert_eq!(wiring.stage2_input(wire, board), input);
        }
    }

    #[test]
    fn nonsense_is_named() {
        let order = [0, 1, 1, 3];
        let bad = RouterConfig {
            stage3_wires: order,
            ..RouterConfig::MP1
        };
        assert_eq!(
            bad.wiring(),
            Err(ConfigError::WireOrder { stage: 3, order })
        );
        let bad = RouterConfig {
            group: [0, 1, 2, 9],
            ..RouterConfig::MP1
        };
        assert_eq!(bad.wiring(), Err(ConfigError::GroupBit { bit: 9 }));
        let bad = RouterConfig {
            stage1: Stage1::Crossbars([2, 2]),
            ..RouterConfig::MP1
        };
        assert_eq!(
            bad.wiring(),
            Err(ConfigError::CrossbarBits { bits: [2, 2] })
        );
    }
}

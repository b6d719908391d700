//! Why a machine cannot be labelled, and what to know of labels that exist.

use core::fmt;

use crate::fabric::topology::PortId;

/// Why a machine cannot be labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LabellingError {
    /// Too few [`RouterLabels`](super::RouterLabels).
    RouterStorage {
        /// Entries given.
        given: usize,
        /// Routers of the machine.
        needed: usize,
    },
    /// Too few [`NodeEntry`](super::NodeEntry)s.
    NodeStorage {
        /// Entries given.
        given: usize,
        /// Generators of the machine.
        needed: usize,
    },
    /// No way of cables leads from the first router to this generator.
    Disconnected {
        /// The generator.
        generator: u16,
        /// Its router.
        router: u16,
    },
    /// The grid has another number of routers than the machine.
    GridSize {
        /// Routers of the grid.
        grid: u16,
        /// Routers of the machine.
        routers: u16,
    },
    /// A grid needs generator `i` on router `i`, and no others.
    GridGenerator {
        /// The router.
        router: u16,
    },
    /// The fat tree has another number of routers than the machine.
    FatTreeSize {
        /// Routers of the fat tree.
        fat_tree: u16,
        /// Routers of the machine.
        routers: u16,
    },
    /// A fat tree needs generator `i` on port 0 of router `i`, and no others.
    FatTreeGenerator {
        /// The router.
        router: u16,
    },
    /// Ports of the fat tree without a cable between them.
    FatTreeCable {
        /// The port of the upper switch.
        upper: PortId,
        /// The port below.
        lower: PortId,
    },
    /// Neighbours of the grid without a cable between them.
    GridCable {
        /// A router.
        router: u16,
        /// Its neighbour in the grid.
        neighbour: u16,
    },
}

impl fmt::Display for LabellingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::RouterStorage { given, needed } => {
                write!(f, "storage for {given} routers, the machine has {needed}")
            }
            Self::NodeStorage { given, needed } => {
                write!(f, "storage for {given} nodes, the machine has {needed}")
            }
            Self::Disconnected { generator, router } => write!(
                f,
                "generator {generator} on router {router} cannot be reached from router 0"
            ),
            Self::GridSize { grid, routers } => {
                write!(f, "the grid has {grid} routers, the machine has {routers}")
            }
            Self::GridGenerator { router } => write!(
                f,
                "router {router} of the grid needs exactly one generator, numbered {router}"
            ),
            Self::FatTreeSize { fat_tree, routers } => write!(
                f,
                "the fat tree has {fat_tree} routers, the machine has {routers}"
            ),
            Self::FatTreeGenerator { router } => write!(
                f,
                "router {router} of the fat tree needs generator {router} on port 0, and there must be no others"
            ),
            Self::FatTreeCable { upper, lower } => {
                write!(f, "no cable between {upper} and {lower} of the fat tree")
            }
            Self::GridCable { router, neighbour } => write!(
                f,
                "no cable between router {router} and its neighbour {neighbour} in the grid"
            ),
        }
    }
}

impl core::error::Error for LabellingError {}

/// What to know of labels that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Warning {
    /// The recorded tool's "possible deadlock": exactly one port of this router
    /// leads to a router.
    SingleNeighbour {
        /// The router.
        router: u16,
    },
    /// Packets never leave by this port; they may come in by it.
    OneWay {
        /// The port.
        at: PortId,
    },
    /// Two ports that are not parallel have the same label, so their interval
    /// does not tell them apart: packets take the lower one, or with adaptive
    /// tables any.
    SharedLabel {
        /// The higher port.
        at: PortId,
        /// The lower port, on the same router.
        first: u8,
        /// Their label.
        label: u16,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::SingleNeighbour { router } => {
                write!(f, "router {router} has one neighbour: possible deadlock")
            }
            Self::OneWay { at } => write!(f, "{at} is one-way: nothing is sent by it"),
            Self::SharedLabel { at, first, label } => {
                write!(f, "{at} has the label {label} of port {first}")
            }
        }
    }
}

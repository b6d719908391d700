//! Why a machine cannot be built.

use core::fmt;

use super::{PORTS, PortId};

/// The thing that was to be plugged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Plug {
    /// This generator.
    Generator(u16),
    /// An end of this cable.
    Cable(u16),
}

impl fmt::Display for Plug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generator(i) => write!(f, "generator {i}"),
            Self::Cable(i) => write!(f, "cable {i}"),
        }
    }
}

/// What there were too many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Limit {
    /// Routers of the machine.
    Routers,
    /// Generators of the machine.
    Generators,
    /// Cables of the machine.
    Cables,
    /// Ports that the shape needs on each router beside the board's.
    CablePorts,
    /// Dimensions of a grid that are longer than 1.
    Dimensions,
    /// Generators of a star: the ports of its one router.
    StarGenerators,
    /// Ports up from a switch of a fat tree.
    PortsUp,
    /// Levels of switches of a fat tree.
    Levels,
    /// Children of a tree's router beside its board and its parent.
    Children,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Routers => "routers",
            Self::Generators => "generators",
            Self::Cables => "cables",
            Self::CablePorts => "cable ports on a router",
            Self::Dimensions => "dimensions",
            Self::StarGenerators => "generators on the router of a star",
            Self::PortsUp => "ports up from a switch",
            Self::Levels => "levels of switches",
            Self::Children => "children of a router",
        })
    }
}

/// Why a machine cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TopologyError {
    /// There is nobody to send anything.
    NoGenerator,
    /// More than the numbering or the chip allows.
    TooMany {
        /// Of these.
        what: Limit,
        /// So many.
        count: usize,
        /// At most this many.
        max: usize,
    },
    /// A shape with a length of 0, or a tree without children.
    EmptyShape,
    /// A plug names a router that does not exist.
    UnknownRouter {
        /// The plug.
        plug: Plug,
        /// The router it names.
        router: u16,
        /// How many there are.
        routers: usize,
    },
    /// A plug names a port above 7.
    UnknownPort {
        /// The plug.
        plug: Plug,
        /// Where it wants to be.
        at: PortId,
    },
    /// Two plugs in one port.
    PortTaken {
        /// The second.
        plug: Plug,
        /// Where.
        at: PortId,
        /// The first.
        by: Plug,
    },
    /// Both ends of a cable in the same port.
    CableToItself {
        /// The cable.
        cable: u16,
        /// The port.
        at: PortId,
    },
    /// A cable longer than its medium carries.
    CableTooLong {
        /// The cable.
        cable: u16,
        /// Its length, millimetres.
        length_mm: u32,
        /// The medium's limit, millimetres.
        max_mm: u32,
    },
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoGenerator => f.write_str("the machine has 0 generators, at least 1 is needed"),
            Self::TooMany { what, count, max } => {
                write!(f, "{count} {what}, at most {max} are possible")
            }
            Self::EmptyShape => f.write_str("a length of the shape is 0, at least 1 is needed"),
            Self::UnknownRouter {
                plug,
                router,
                routers: 0,
            } => {
                write!(
                    f,
                    "{plug} is on router {router}, the machine has no routers"
                )
            }
            Self::UnknownRouter {
                plug: Plug::Cable(cable),
                router,
                routers,
            } => write!(
                f,
                "cable {cable} ends at router {router}, the machine has routers 0..={}",
                routers - 1
            ),
            Self::UnknownRouter {
                plug,
                router,
                routers,
            } => write!(
                f,
                "{plug} is on router {router}, the machine has routers 0..={}",
                routers - 1
            ),
            Self::UnknownPort { plug, at } => {
                write!(f, "{plug} names {at}, a router has ports 0..={}", PORTS - 1)
            }
            Self::PortTaken { plug, at, by } => {
                write!(f, "{plug} wants {at}, where {by} is plugged in")
            }
            Self::CableToItself { cable, at } => {
                write!(
                    f,
                    "cable {cable} has both ends in {at}, two ports are needed"
                )
            }
            Self::CableTooLong {
                cable,
                length_mm,
                max_mm,
            } => write!(
                f,
                "cable {cable} is {length_mm} mm long, its medium allows 0..={max_mm} mm"
            ),
        }
    }
}

impl core::error::Error for TopologyError {}

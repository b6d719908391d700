//! Refusals of a start.

use core::fmt;

use crate::put::MI_LIMIT;

/// Why the driver did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InitError<E> {
    /// The driver is open already, or was not closed after a stop.
    #[doc(alias = "EBUSY")]
    AlreadyOpen,
    /// Too few or too many ring entries.
    #[doc(alias = "EINVAL")]
    Entries {
        /// The value.
        entries: u32,
    },
    /// Too many packet counters.
    Counters {
        /// The value.
        counters: u32,
    },
    /// Too few or too many nodes.
    Nodes {
        /// The value.
        nodes: u16,
    },
    /// This node is not one of the nodes.
    OwnNode {
        /// This node.
        node: u16,
        /// Nodes of the machine.
        nodes: u16,
    },
    /// The base of the tables is not a multiple of 16.
    UnalignedRing {
        /// The value.
        base: u32,
    },
    /// The tables do not end below 2^32.
    RingPastEnd {
        /// The base.
        base: u32,
        /// Bytes of the tables.
        size: u64,
    },
    /// The routing table does not have 258 bytes.
    #[doc(alias = "EFAULT")]
    TableLength {
        /// Its length.
        len: usize,
    },
    /// Packet counting was asked from a chip whose counters are broken.
    BrokenCounters,
    /// A bounce buffer that is not a multiple of 4, or passes 2^32.
    BadBounce {
        /// Its address.
        bounce: u32,
    },
    /// More nodes than emulated short messages can name.
    EmulatedNodes {
        /// The value.
        nodes: u16,
    },
    /// Too few packet counters to keep emulated short messages in their place.
    EmulationRoom {
        /// The value.
        counters: u32,
        /// The least that works.
        needed: u32,
    },
    /// Too few entries for the eight pages of an emulated short message.
    EmulationEntries {
        /// The value.
        entries: u32,
    },
    /// The registers of this silicon must not be read while it receives, and
    /// the port cannot tell the level of INTA#
    /// ([`RegisterPort::inta`](crate::put::RegisterPort::inta)).
    NoInterruptLine,
    /// Register 00h does not hold the identity of the board.
    #[doc(alias = "ENXIO")]
    NoBoard {
        /// What it holds.
        found: u32,
        /// What was expected.
        expected: u32,
    },
    /// The hardware did not answer.
    Port(E),
}

/// Bytes of a router's configuration chain.
pub const TABLE_LEN: usize = 258;
/// Entries of a ring at most.
pub const MAX_ENTRIES: u32 = 65_536;
/// Nodes the driver keeps a mode for.
pub const MAX_NODES: u16 = 256;

impl<E: fmt::Display> fmt::Display for InitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyOpen => f.write_str("driver is open already"),
            Self::Entries { entries } => {
                write!(f, "ring of {entries} entries, allowed 2..={MAX_ENTRIES}")
            }
            Self::Counters { counters } => {
                write!(f, "{counters} packet counters, allowed 0..={}", MI_LIMIT)
            }
            Self::Nodes { nodes } => write!(f, "{nodes} nodes, allowed 1..={MAX_NODES}"),
            Self::OwnNode { node, nodes } => {
                write!(f, "own node {node} is outside 0..{nodes}")
            }
            Self::UnalignedRing { base } => {
                write!(f, "ring base {base:#010x} is not a multiple of 16")
            }
            Self::RingPastEnd { base, size } => {
                write!(
                    f,
                    "tables of {size} bytes at {base:#010x} do not end below 2^32"
                )
            }
            Self::TableLength { len } => {
                write!(f, "routing table of {len} bytes, must have {TABLE_LEN}")
            }
            Self::BrokenCounters => {
                f.write_str("packet counters asked from a revision whose counters are broken")
            }
            Self::BadBounce { bounce } => {
                write!(
                    f,
                    "bounce buffer at {bounce:#010x} must be a multiple of 4 and end below 2^32"
                )
            }
            Self::EmulatedNodes { nodes } => write!(
                f,
                "{nodes} nodes with emulated short messages, allowed 1..=128"
            ),
            Self::EmulationRoom { counters, needed } => write!(
                f,
                "{counters} packet counters with emulated short messages, at least {needed} needed"
            ),
            Self::EmulationEntries { entries } => write!(
                f,
                "ring of {entries} entries with emulated short messages, at least 9 needed"
            ),
            Self::NoInterruptLine => {
                f.write_str("this silicon needs a port that can tell the level of INTA#")
            }
            Self::NoBoard { found, expected } => {
                write!(
                    f,
                    "no board: register 0x00 holds {found:#010x}, expected {expected:#010x}"
                )
            }
            Self::Port(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for InitError<E> {}

impl<E> From<E> for InitError<E> {
    fn from(error: E) -> Self {
        Self::Port(error)
    }
}

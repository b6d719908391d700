//! What the layer refuses, and why a transfer fails.

use core::fmt;

use crate::put::{AttachError, Phase, SapError};

/// What became of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Outcome {
    /// Its bytes are in the receiver's memory, checked, and its driver was
    /// told, once.
    Delivered,
    /// It was given up.
    Failed(Failure),
}

/// Why a transfer was given up. Whether its last message was accepted is then
/// not known, except where it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Failure {
    /// The node did not answer.
    Unreachable {
        /// The node.
        node: u16,
        /// Questions asked.
        attempts: u8,
    },
    /// The node answers, but has forgotten what it had accepted: its driver
    /// was made anew.
    Forgotten {
        /// The node.
        node: u16,
    },
    /// The bytes to be sent cannot be read; nothing was told to the receiver.
    LocalMemory {
        /// Their first address.
        address: u32,
    },
    /// The driver refuses the pages.
    Refused,
    /// The own board does not start any more.
    BoardLost,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { node, attempts } => {
                write!(f, "node {node} did not answer {attempts} questions")
            }
            Self::Forgotten { node } => write!(f, "node {node} has forgotten what it accepted"),
            Self::LocalMemory { address } => {
                write!(f, "bytes at {address:#010x} cannot be read")
            }
            Self::Refused => f.write_str("pages were refused by the driver"),
            Self::BoardLost => f.write_str("board does not start any more"),
        }
    }
}

impl core::error::Error for Failure {}

/// What a [`Reliable`](super::Reliable) refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReliableError<E> {
    /// As many transfers as fit are in progress, or failed and were not asked
    /// for.
    #[doc(alias = "EAGAIN")]
    QueueFull {
        /// Transfers that fit.
        limit: usize,
    },
    /// No such node.
    UnknownNode {
        /// The node.
        node: u16,
        /// Nodes of the machine.
        nodes: u16,
    },
    /// A range of bytes that does not lie in 1..2^32, or that reaches into the
    /// records of the layer.
    OutOfReach {
        /// Its first byte.
        address: u64,
        /// Its length.
        length: u64,
    },
    /// No such transfer was started here.
    Unknown {
        /// Its number.
        id: u64,
    },
    /// The transfer will not be finished.
    Failed(Failure),
    /// The driver was closed, or is not open yet.
    NotOpen {
        /// Where it stands.
        phase: Phase,
    },
    /// The board was given up after restarts that failed.
    BoardLost {
        /// Restarts.
        restarts: u8,
    },
    /// The hardware did not answer.
    Port(E),
}

impl<E: fmt::Display> fmt::Display for ReliableError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueFull { limit } => write!(f, "queue full: {limit} transfers in progress"),
            Self::UnknownNode { node, nodes } => {
                write!(f, "node {node} is unknown, allowed 0..{nodes}")
            }
            Self::OutOfReach { address, length } => write!(
                f,
                "{length} bytes at {address:#x} are not free memory in 1..2^32"
            ),
            Self::Unknown { id } => write!(f, "transfer {id} was not started here"),
            Self::Failed(failure) => failure.fmt(f),
            Self::NotOpen { phase } => write!(f, "driver is not open: {phase:?}"),
            Self::BoardLost { restarts } => {
                write!(f, "board given up after {restarts} restarts")
            }
            Self::Port(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for ReliableError<E> {}

impl<E> From<UnknownTicket> for ReliableError<E> {
    fn from(UnknownTicket { id }: UnknownTicket) -> Self {
        Self::Unknown { id }
    }
}

/// No such transfer was started here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct UnknownTicket {
    /// Its number.
    pub id: u64,
}

impl fmt::Display for UnknownTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transfer {} was not started here", self.id)
    }
}

impl core::error::Error for UnknownTicket {}

/// A [`Reliable`](super::Reliable) that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SetupError {
    /// The driver is not open.
    NotOpen {
        /// Where it stands.
        phase: Phase,
    },
    /// A machine with more nodes than the layer has room for.
    TooManyNodes {
        /// Nodes of the machine.
        nodes: u16,
        /// Nodes at most.
        limit: usize,
    },
    /// A setting outside its range.
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The least allowed.
        least: u32,
        /// The most allowed.
        most: u32,
    },
    /// Records at 0, not at a multiple of 4, or past 2^32.
    Control {
        /// Their first byte.
        address: u32,
        /// Their bytes.
        length: u64,
    },
    /// No SAP.
    Sap(SapError),
    /// No message identifiers.
    Attach(AttachError),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen { phase } => write!(f, "driver is not open: {phase:?}"),
            Self::TooManyNodes { nodes, limit } => {
                write!(f, "machine of {nodes} nodes, allowed 1..={limit}")
            }
            Self::Setting {
                what,
                value,
                least,
                most,
            } => write!(f, "{what} of {value}, allowed {least}..={most}"),
            Self::Control { address, length } => write!(
                f,
                "{length} bytes of records at {address:#010x}, allowed multiples of 4 below 2^32"
            ),
            Self::Sap(error) => error.fmt(f),
            Self::Attach(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SetupError {}

impl From<SapError> for SetupError {
    fn from(error: SapError) -> Self {
        Self::Sap(error)
    }
}

impl From<AttachError> for SetupError {
    fn from(error: AttachError) -> Self {
        Self::Attach(error)
    }
}

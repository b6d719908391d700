//! Why a cluster does not boot, or a write does not arrive.

use core::fmt;

use crate::fabric::labelling::LabellingError;
use crate::fabric::{Host, HostError, LoadTableError, WiringError};
use crate::put::{InitError, PortErrorOf, WriteError, WriterError};
use crate::time::Duration;

type PortError = PortErrorOf<Host<'static, 'static>>;

/// Why a cluster does not boot, or a write does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ClusterError {
    /// The topology has no working tables.
    Labelling(LabellingError),
    /// A cable cannot be laid.
    Wiring(WiringError),
    /// A router without a board did not take its table.
    Table(LoadTableError),
    /// An unknown node, memory out of range, or no answer from the bus.
    Host(HostError),
    /// A driver did not start.
    Start {
        /// The node.
        node: u16,
        /// Why.
        error: InitError<PortError>,
    },
    /// A driver lost its registers.
    Port {
        /// The node.
        node: u16,
        /// Why.
        error: PortError,
    },
    /// A node has no writer.
    Writer {
        /// The node.
        node: u16,
        /// Why.
        error: WriterError,
    },
    /// A write was refused or failed.
    Write {
        /// The node whose driver says so.
        node: u16,
        /// Why.
        error: WriteError<PortError>,
    },
    /// Links that did not come up.
    LinksDown {
        /// The first router with such a link.
        router: u16,
        /// Its link status.
        status: u8,
        /// The links that have something plugged in.
        wanted: u8,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A write that did not arrive.
    Lost {
        /// Sender.
        from: u16,
        /// Receiver.
        to: u16,
        /// Bytes.
        length: u32,
        /// How long it was waited for.
        waited: Duration,
    },
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Labelling(error) => error.fmt(f),
            Self::Wiring(error) => error.fmt(f),
            Self::Table(error) => error.fmt(f),
            Self::Host(error) => error.fmt(f),
            Self::Start { node, error } => write!(f, "node {node} did not start: {error}"),
            Self::Port { node, error } => write!(f, "node {node} lost its registers: {error}"),
            Self::Writer { node, error } => write!(f, "node {node} has no writer: {error}"),
            Self::Write { node, error } => write!(f, "remote write on node {node}: {error}"),
            Self::LinksDown {
                router,
                status,
                wanted,
                waited,
            } => write!(
                f,
                "router {router} shows link status {status:#04x} of {wanted:#04x} after {waited}"
            ),
            Self::Lost {
                from,
                to,
                length,
                waited,
            } => write!(
                f,
                "{length} bytes from node {from} to node {to} did not arrive within {waited}"
            ),
        }
    }
}

impl core::error::Error for ClusterError {}

impl From<LabellingError> for ClusterError {
    fn from(error: LabellingError) -> Self {
        Self::Labelling(error)
    }
}

impl From<WiringError> for ClusterError {
    fn from(error: WiringError) -> Self {
        Self::Wiring(error)
    }
}

impl From<LoadTableError> for ClusterError {
    fn from(error: LoadTableError) -> Self {
        Self::Table(error)
    }
}

impl From<HostError> for ClusterError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

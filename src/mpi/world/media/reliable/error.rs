//! Why boards with the reliable layer do not boot, or do not do something.

use core::fmt;

use crate::cluster::ClusterError;
use crate::fabric::HostError;
use crate::put::SetupError;

use super::Error;

/// Why boards with the reliable layer do not boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReliableBootError {
    /// The boards.
    Cluster(ClusterError),
    /// The layer of a node.
    Layer {
        /// The node.
        node: u16,
        /// Why.
        error: SetupError,
    },
}

impl fmt::Display for ReliableBootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster(error) => error.fmt(f),
            Self::Layer { node, error } => {
                write!(f, "node {node} has no reliable layer: {error}")
            }
        }
    }
}

impl core::error::Error for ReliableBootError {}

impl From<ClusterError> for ReliableBootError {
    fn from(error: ClusterError) -> Self {
        Self::Cluster(error)
    }
}

/// Why a board with the reliable layer did not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReliableBoardError {
    /// The CPU side of a node.
    Host(HostError),
    /// The layer.
    Layer(Error),
}

impl fmt::Display for ReliableBoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(error) => error.fmt(f),
            Self::Layer(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ReliableBoardError {}

impl From<HostError> for ReliableBoardError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

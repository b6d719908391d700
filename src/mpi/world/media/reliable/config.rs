//! What boards with the reliable layer are made of.

use crate::put::RecoveryConfig;
use crate::time::Duration;

use super::super::boards::BoardsConfig;

/// Boards with the reliable layer, for the message layer.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ReliableConfig {
    /// The boards. Their reports are the reliable layer's own, so that
    /// `reports` only asks for a ring that is large enough for it.
    pub boards: BoardsConfig,
    /// The reliable layer. Where its records lie is set by
    /// [`ReliableBoards::boot`]. Default: its own, but for `settle`, which is
    /// 1 ms; chosen: six times the start-up of a link.
    pub recovery: RecoveryConfig,
    /// How often the layer of every node looks at its clocks while a transfer
    /// is under way; what comes is seen at once. Chosen: 20 us, a fraction of
    /// its time-outs.
    pub period: Duration,
    /// The same while no transfer is under way: heartbeats. Chosen: 1 ms.
    pub idle_period: Duration,
}

impl Default for ReliableConfig {
    fn default() -> Self {
        Self {
            boards: BoardsConfig::default(),
            recovery: RecoveryConfig {
                settle: Duration::from_us(1_000),
                ..RecoveryConfig::default()
            },
            period: Duration::from_us(20),
            idle_period: Duration::from_us(1_000),
        }
    }
}

impl ReliableConfig {
    /// The defaults on these boards.
    pub fn new(boards: BoardsConfig) -> Self {
        Self {
            boards,
            ..Self::default()
        }
    }
}

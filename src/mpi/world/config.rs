//! What a world is made of.

use super::media::BoardsConfig;
use crate::mpi::{ArrivalMode, Layout, MpiConfig, Policy};
use crate::put::Model;
use crate::time::Duration;

/// Which rank runs on which node, when there are more ranks than nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Placement {
    /// Neighbours share a node: with two a node, 0 and 1 on node 0.
    #[default]
    Block,
    /// One after the other: rank `r` on node `r % nodes`.
    Cyclic,
}

impl Placement {
    /// The node of a rank.
    pub fn node(self, rank: u32, ranks: u32, nodes: u16) -> u16 {
        let nodes = u32::from(nodes).max(1);
        let node = match self {
            Self::Block => rank / ranks.div_ceil(nodes).max(1),
            Self::Cyclic => rank % nodes,
        };
        // Below the number of nodes.
        node as u16
    }
}

/// A world of processes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct WorldConfig {
    /// Ranks.
    pub ranks: u32,
    /// The message layer.
    pub mpi: MpiConfig,
    /// Where ranks run.
    pub placement: Placement,
    /// Bytes of a rank's memory for the data of its messages. Default 16 MiB,
    /// taken from the host only when touched.
    pub user_bytes: u64,
    /// Requests of a rank that may be open. Default 4096.
    pub requests: usize,
    /// Messages that may wait unmatched at a rank. Default 4096.
    pub unexpected: usize,
    /// Whether a rank's data lies in scattered pages of 4 KB, none next to its
    /// neighbour: as a process's pages do. Default: with interrupts (MPI-MPC
    /// 1, which pins a process's own pages), not with polling (MPI-MPC 2, whose
    /// data lies in memory that was set aside at boot in one piece).
    pub scattered: Option<bool>,
    /// Whether the timeline keeps every span and message, not only sums.
    /// Default false.
    pub record: bool,
    /// Simulated time after which a run is given up. Default 1000 s.
    pub limit: Duration,
}

impl WorldConfig {
    /// `ranks` ranks of a message layer, and the defaults.
    pub fn new(ranks: u32, mpi: MpiConfig) -> Self {
        Self {
            ranks,
            mpi,
            placement: Placement::default(),
            user_bytes: 16 << 20,
            requests: 4096,
            unexpected: 4096,
            scattered: None,
            record: false,
            limit: Duration::from_us(1_000_000_000),
        }
    }

    /// The same with every span and message kept.
    #[must_use]
    pub const fn recorded(mut self) -> Self {
        self.record = true;
        self
    }

    pub(super) fn is_scattered(&self) -> bool {
        let default = self.mpi.policy == Policy::Interrupt;
        self.scattered.unwrap_or(default)
    }

    /// Bytes of a rank on its node: the layer's own, then the user's.
    pub(super) fn rank_bytes(&self) -> (u64, u64) {
        // Pairs of pages are exchanged in scattered memory.
        let pair = 2 * crate::mpi::PAGE;
        let own = Layout::bytes(&self.mpi, self.ranks);
        (
            own.next_multiple_of(pair),
            self.user_bytes.next_multiple_of(pair),
        )
    }

    /// Bytes that every one of `nodes` nodes must have for the message layer.
    pub fn arena_bytes(&self, nodes: u16) -> u64 {
        let (own, user) = self.rank_bytes();
        let ranks = self.ranks.div_ceil(u32::from(nodes).max(1));
        // The first address may need to be raised.
        own.saturating_add(user)
            .saturating_mul(ranks.into())
            .saturating_add(2 * crate::mpi::PAGE)
    }

    /// Room for as many notifications as all peers may cause, when the default
    /// is too small: a larger ring than the record's, which has 1024 entries.
    #[must_use]
    pub fn with_room_for_reports(mut self) -> Self {
        if self.mpi.arrival == ArrivalMode::Reports {
            let peers = self.ranks.saturating_sub(1);
            let control = peers.saturating_mul(self.mpi.slots.into());
            let needed = control.saturating_add(self.mpi.landings.into());
            if needed >= self.mpi.lmr_entries {
                let entries = (needed + 1).next_power_of_two();
                self.mpi.lmr_entries = entries.min(1 << 16);
            }
        }
        self
    }

    /// The boards that this world needs: memory, ring, interrupts or polling.
    #[must_use]
    pub fn boards(&self, nodes: u16) -> BoardsConfig {
        let mut boards = BoardsConfig::default().with_model(match self.mpi.policy {
            Policy::Interrupt => Model::Interrupt,
            _ => Model::Polling,
        });
        boards.arena_bytes = self.arena_bytes(nodes);
        let ranks = self.ranks.div_ceil(u32::from(nodes).max(1));
        let entries = self.mpi.lmr_entries.saturating_mul(ranks);
        boards.reports = entries.min(1 << 16).saturating_sub(1);
        boards
    }
}

//! The start of a world: memory for every rank, and what they tell each other.

use alloc::vec::Vec;

use super::World;
use super::config::WorldConfig;
use super::cpu::Cpu;
use super::error::WorldError;
use super::heap::Heap;
use super::mailbox::Mailbox;
use super::media::{Boards, Medium, ReliableBoards, ReliableBootError, ReliableConfig};
use super::site::{Sharing, Site};
use crate::cluster::ClusterError;
use crate::fabric::Watch;
use crate::fabric::topology::Topology;
use crate::mpi::boot::{BootEntry, Place};
use crate::mpi::credit::CreditMode;
use crate::mpi::endpoint::{Endpoint, Sizes, Storage};
use crate::mpi::{ArrivalMode, MAX_RANKS, PAGE};

impl<M: Medium> World<M> {
    /// A world on a machine whose memory is all zero.
    ///
    /// # Errors
    /// [`WorldError`] for choices that do not fit together or the machine.
    pub fn new(medium: M, config: WorldConfig) -> Result<Self, WorldError<M::Error>> {
        let (ranks, mpi) = (config.ranks, config.mpi);
        if !(1..=MAX_RANKS).contains(&ranks) {
            let limit = MAX_RANKS;
            return Err(WorldError::Ranks { ranks, limit });
        }
        let nodes = medium.nodes();
        let (own, user) = config.rank_bytes();
        let a_node = ranks.div_ceil(u32::from(nodes).max(1));
        let arena = medium.arena();
        let first = arena.start.next_multiple_of(2 * PAGE);
        let needed = (own + user).saturating_mul(a_node.into());
        let available = arena.end.saturating_sub(first);
        if needed > available {
            return Err(WorldError::Arena { needed, available });
        }
        let reports = mpi.lmr_entries.saturating_sub(1).saturating_mul(a_node);
        let fits = medium.report_limit();
        if mpi.arrival == ArrivalMode::Reports && reports > fits {
            return Err(WorldError::Reports {
                needed: reports,
                available: fits,
            });
        }
        let node = |rank| config.placement.node(rank, ranks, nodes);
        let homes: Vec<u16> = (0..ranks).map(node).collect();
        let sharing = Sharing {
            packing: mpi.tags,
            control: mpi.slots,
            data: mpi.landings,
        };
        let places: Vec<Place> = (0..ranks)
            .zip(&homes)
            .map(|(rank, &node)| {
                let before = homes.iter().take(rank as usize);
                let before = before.filter(|other| **other == node).count() as u16;
                let mut place = Place::alone(0, ranks, 0);
                place.rank = rank;
                place.node = node;
                place.base = first + u64::from(before) * (own + user);
                place.control_index = before.saturating_mul(sharing.control);
                place.landing_index = before.saturating_mul(sharing.data);
                place
            })
            .collect();
        let entries: Vec<BootEntry> = places
            .iter()
            .map(|place| BootEntry::new(&mpi, place))
            .collect();
        let scattered = config.is_scattered();
        let mut cpus = Vec::with_capacity(places.len());
        for place in &places {
            let sizes = Sizes {
                requests: config.requests,
                unexpected: config.unexpected,
                ..Sizes::default()
            };
            let storage = Storage::owned(&mpi, ranks, sizes);
            let engine = Endpoint::new(mpi, *place, &entries, storage)?;
            let data = place.base + own;
            let heap = Heap::new(data..data + user);
            let mailbox = Mailbox::new(place.rank, ranks, mpi.eager_max.into(), heap);
            let scattered = scattered.then_some(data);
            let at = (place.rank, place.node);
            cpus.push(Cpu::new(
                at,
                engine,
                mailbox,
                (mpi.cost, mpi.policy),
                scattered,
            ));
        }
        let in_memory = mpi.arrival == ArrivalMode::Slots || mpi.credit_mode == CreditMode::Counter;
        let watch = if in_memory {
            Watch::Memory
        } else {
            Watch::Registers
        };
        Ok(Self {
            site: Site::new(medium, &homes, sharing, watch),
            config,
            cpus,
        })
    }
}

/// Why boards cannot carry a world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoardsError {
    /// The boards do not boot.
    Cluster(ClusterError),
    /// The world does not start on them.
    World(WorldError<super::media::BoardError>),
}

impl core::fmt::Display for BoardsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Cluster(error) => error.fmt(f),
            Self::World(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BoardsError {}

impl World<Boards> {
    /// Boots the boards of a topology as this world needs them, and starts it.
    ///
    /// # Errors
    /// [`BoardsError`].
    pub fn on_boards(topology: &Topology<'_>, config: WorldConfig) -> Result<Self, BoardsError> {
        let config = config.with_room_for_reports();
        let nodes = u16::try_from(topology.generators().len()).unwrap_or(u16::MAX);
        let boards = Boards::boot(topology, &config.boards(nodes)).map_err(BoardsError::Cluster)?;
        Self::new(boards, config).map_err(BoardsError::World)
    }
}

/// Why boards with the reliable layer cannot carry a world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReliableBoardsError {
    /// The boards do not boot.
    Boot(ReliableBootError),
    /// The world does not start on them.
    World(WorldError<super::media::ReliableBoardError>),
}

impl core::fmt::Display for ReliableBoardsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Boot(error) => error.fmt(f),
            Self::World(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ReliableBoardsError {}

impl World<ReliableBoards> {
    /// Boots the boards of a topology with the reliable layer, as this world
    /// needs them, and starts it. `reliable.boards` is replaced but for the
    /// settings of its machine and silicon.
    ///
    /// # Errors
    /// [`ReliableBoardsError`].
    pub fn on_reliable_boards(
        topology: &Topology<'_>,
        config: WorldConfig,
        mut reliable: ReliableConfig,
    ) -> Result<Self, ReliableBoardsError> {
        let config = config.with_room_for_reports();
        let nodes = u16::try_from(topology.generators().len()).unwrap_or(u16::MAX);
        let needed = config.boards(nodes);
        reliable.boards.arena_bytes = needed.arena_bytes;
        reliable.boards.cluster.model = needed.cluster.model;
        let boards =
            ReliableBoards::boot(topology, &reliable).map_err(ReliableBoardsError::Boot)?;
        Self::new(boards, config).map_err(ReliableBoardsError::World)
    }
}

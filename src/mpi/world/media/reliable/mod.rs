//! The boards of the MPC with the reliable layer on every driver.

mod config;
mod error;
mod medium;

pub use config::ReliableConfig;
pub use error::{ReliableBoardError, ReliableBootError};

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use crate::cluster::{Driver, Drivers};
use crate::fabric::topology::Topology;
use crate::fabric::{Host, HostError, Machine, NoProbe, Probe, Watch};
use crate::put::{PortErrorOf, PutConfig, RecoveryStats, Reliable, ReliableError};
use crate::remote::{Arrival, RemoteWrite};
use crate::time::{Duration, Instant};

use super::boards::{PAGE, behind_tables};
use super::direct::Restartable;

/// Nodes that the layer can name, transfers in progress, notifications.
type Layer = Reliable<128, 64, 64>;

type Error = ReliableError<PortErrorOf<Host<'static, 'static>>>;

/// Notifications that may wait at a node: they wait in the host's memory.
const REPORTS: u32 = 65_535;

#[derive(Debug)]
struct Node {
    layer: Layer,
    /// What the layer has accepted for this node.
    arrivals: VecDeque<Arrival>,
    /// Why the board is of no use any more.
    lost: Option<Error>,
    watch: Watch,
    news: bool,
}

/// The boards of the MPC as a [`Medium`] that repairs: link errors, damaged
/// characters and boards that must be restarted delay messages, and a node that
/// cannot be reached fails the transfers to it and no others.
///
/// The layer of a node is part of its operating system: it serves the chip
/// whenever there is something to see, whatever the ranks of the node do, and
/// its software takes no time but that of the bus when it starts the board
/// again. [`Progress::Sent`] means that the receiver has
/// accepted. Documents: hw/doc/recovery.md, hw/doc/mpi-faults.md.
#[derive(Debug)]
pub struct ReliableBoards<P = NoProbe> {
    machine: Machine<'static, P>,
    nodes: Vec<Node>,
    arena: Range<u64>,
    period: Duration,
    idle_period: Duration,
    /// When the clocks of the layers are looked at next.
    due: Instant,
    /// How long after the last news of any node a silent one has been given up.
    silence: Duration,
    /// When that will be.
    silent: Instant,
    /// Pairs of which the first node has given up the second, and how many of them
    /// were told.
    parted: Vec<(u16, u16)>,
    told: usize,
    news: bool,
    /// Kept for its storage.
    fresh: Vec<u16>,
}

impl ReliableBoards {
    /// Boots the boards and puts the layer on them.
    ///
    /// # Errors
    /// [`ReliableBootError`].
    pub fn boot(
        topology: &Topology<'_>,
        config: &ReliableConfig,
    ) -> Result<Self, ReliableBootError> {
        Self::boot_with_probe(topology, config, NoProbe)
    }
}

impl<P: Probe> ReliableBoards<P> {
    /// The same, watched by a probe from the first edge on.
    ///
    /// # Errors
    /// [`ReliableBootError`].
    pub fn boot_with_probe(
        topology: &Topology<'_>,
        config: &ReliableConfig,
        probe: P,
    ) -> Result<Self, ReliableBootError> {
        let mut cluster = config.boards.cluster.clone();
        let count = u16::try_from(topology.generators().len()).unwrap_or(u16::MAX);
        // All that may be under way from every node: messages, question, state.
        let per_node = u32::from(config.recovery.window) + 2;
        let needed = u32::from(count).saturating_mul(per_node) + 1;
        cluster.entries = cluster.entries.max(needed.next_power_of_two().min(1 << 16));
        let control = behind_tables(&cluster);
        let mut recovery = config.recovery;
        recovery.control_at = u32::try_from(control).unwrap_or(0);
        let start = (control + recovery.control_bytes(count)).next_multiple_of(PAGE);
        let arena = start..start.saturating_add(config.boards.arena_bytes);
        let base = u64::from(cluster.board.memory_base);
        let bytes = usize::try_from(arena.end.saturating_sub(base)).unwrap_or(usize::MAX);
        cluster.board.memory_bytes = cluster.board.memory_bytes.max(bytes);
        let Drivers {
            mut machine,
            drivers,
            ..
        } = Drivers::boot(topology, &cluster, probe)?;
        let now = machine.now();
        let mut nodes = Vec::with_capacity(drivers.len());
        for (node, driver) in (0..).zip(drivers) {
            let Driver {
                put,
                settings,
                table,
            } = driver;
            let settings = PutConfig {
                table: Some(&table),
                ..settings
            };
            let layer = Layer::new(put, &settings, recovery, now)
                .map_err(|error| ReliableBootError::Layer { node, error })?;
            machine.watch(node, Watch::Registers);
            nodes.push(Node {
                layer,
                arrivals: VecDeque::new(),
                lost: None,
                watch: Watch::Nothing,
                news: false,
            });
        }
        // Twice: the clocks of the layers do not run in step.
        let silence = recovery.silence_limit();
        let silence = silence.map_or(Duration::ZERO, |limit| limit + limit);
        Ok(Self {
            machine,
            nodes,
            arena,
            period: config.period.max(Duration::from_ns(100)),
            idle_period: config.idle_period.max(Duration::from_ns(100)),
            due: now,
            silence,
            silent: now + silence,
            parted: Vec::new(),
            told: 0,
            news: false,
            fresh: Vec::new(),
        })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine<'static, P> {
        &self.machine
    }

    /// The machine, to disturb it.
    pub fn machine_mut(&mut self) -> &mut Machine<'static, P> {
        &mut self.machine
    }

    /// What the layer of a node has repaired.
    pub fn stats(&self, node: u16) -> Option<RecoveryStats> {
        let node = self.nodes.get(usize::from(node));
        node.map(|node| node.layer.stats())
    }

    /// Transfers of all nodes that are neither delivered nor given up.
    pub fn pending(&self) -> usize {
        self.nodes.iter().map(|node| node.layer.pending()).sum()
    }

    /// The layer of a node looks at its chip and its clocks.
    fn look(&mut self, number: u16) -> Result<(), HostError> {
        let Some(node) = self.nodes.get_mut(usize::from(number)) else {
            return Ok(());
        };
        let mut host = Restartable(self.machine.host(number)?);
        let before = node.layer.stats();
        node.layer.tick(host.0.now());
        if let Err(error) = node.layer.poll(&mut host)
            && node.lost.is_none()
        {
            node.lost = Some(error);
            node.news = true;
        }
        // Nobody else uses the board; the layer counts its faults.
        while node.layer.event().is_some() {}
        let mut told = false;
        while let Some((_, arrival)) = node.layer.arrival_from() {
            node.arrivals.push_back(arrival);
            told = true;
        }
        let after = node.layer.stats();
        if before.received != after.received || before.delivered != after.delivered {
            self.silent = self.machine.now() + self.silence;
        }
        let ended = before.delivered != after.delivered || before.failed != after.failed;
        node.news |= match node.watch {
            Watch::Nothing => false,
            Watch::Registers => told || ended,
            Watch::Memory => told || ended || before.received != after.received,
        };
        self.news |= node.news;
        Ok(())
    }

    /// The layers of all nodes look at their clocks.
    fn look_at_all(&mut self) {
        let count = u16::try_from(self.nodes.len()).unwrap_or(u16::MAX);
        for node in 0..count {
            // The node is there.
            let _ = self.look(node);
            self.note_given_up(node);
        }
        self.due = self.machine.now()
            + if self.pending() > 0 {
                self.period
            } else {
                self.idle_period
            };
    }

    /// Nodes that this one has given up, whether it had anything for them or not.
    fn note_given_up(&mut self, number: u16) {
        let count = u16::try_from(self.nodes.len()).unwrap_or(u16::MAX);
        let Some(node) = self.nodes.get_mut(usize::from(number)) else {
            return;
        };
        for other in (0..count).filter(|other| node.layer.given_up(*other) > 0) {
            if !self.parted.contains(&(number, other)) {
                self.parted.push((number, other));
                (node.news, self.news) = (true, true);
            }
        }
    }

    fn layer(&mut self, node: u16) -> Result<&mut Node, HostError> {
        let nodes = self.nodes.len();
        let unknown = HostError::UnknownNode { node, nodes };
        self.nodes.get_mut(usize::from(node)).ok_or(unknown)
    }
}

//! The boards of the MPC with the reliable layer on every driver.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::cluster::{ClusterError, Driver, Drivers};
use crate::fabric::topology::Topology;
use crate::fabric::{Host, HostError, Machine, NoProbe, Probe, Watch};
use crate::put::{
    PortErrorOf, PutConfig, RecoveryConfig, RecoveryStats, Reliable, ReliableError, SetupError,
    Ticket,
};
use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};
use crate::time::{Duration, Instant};

use super::Medium;
use super::boards::{BoardsConfig, PAGE, behind_tables};
use super::direct::{Restartable, physical};

/// Nodes that the layer can name, transfers in progress, notifications.
type Layer = Reliable<128, 64, 64>;

type Error = ReliableError<PortErrorOf<Host<'static, 'static>>>;

/// Notifications that may wait at a node: they wait in the host's memory.
const REPORTS: u32 = 65_535;

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
        Ok(Self {
            machine,
            nodes,
            arena,
            period: config.period.max(Duration::from_ns(100)),
            idle_period: config.idle_period.max(Duration::from_ns(100)),
            due: now,
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
        }
        self.due = self.machine.now()
            + if self.pending() > 0 {
                self.period
            } else {
                self.idle_period
            };
    }

    fn layer(&mut self, node: u16) -> Result<&mut Node, HostError> {
        let nodes = self.nodes.len();
        let unknown = HostError::UnknownNode { node, nodes };
        self.nodes.get_mut(usize::from(node)).ok_or(unknown)
    }
}

impl<P: Probe> Medium for ReliableBoards<P> {
    type Token = Ticket;
    type Error = ReliableBoardError;

    fn nodes(&self) -> u16 {
        u16::try_from(self.nodes.len()).unwrap_or(u16::MAX)
    }

    fn arena(&self) -> Range<u64> {
        self.arena.clone()
    }

    fn report_limit(&self) -> u32 {
        REPORTS
    }

    fn now(&self) -> Instant {
        self.machine.now()
    }

    fn advance(&mut self, until: Instant) -> bool {
        while !self.news {
            if self.due <= self.machine.now() {
                self.look_at_all();
                continue;
            }
            // A restart of a board may have taken longer than asked for.
            let end = until.min(self.due).max(self.machine.now());
            if self.machine.run_to_news(end) {
                let mut fresh = core::mem::take(&mut self.fresh);
                self.machine.take_news(|node| fresh.push(node));
                for node in fresh.drain(..) {
                    let _ = self.look(node);
                }
                self.fresh = fresh;
            } else if end >= until {
                return false;
            }
        }
        true
    }

    /// While a transfer is under way the clocks of the layer will end it.
    fn next_activity(&self) -> Option<Instant> {
        if self.news {
            return Some(self.now());
        }
        let waits = self.pending() > 0;
        let due = waits.then_some(self.due);
        let next = self.machine.next_activity();
        due.into_iter().chain(next).min()
    }

    fn watch(&mut self, node: u16, watch: Watch) {
        if let Ok(node) = self.layer(node) {
            node.watch = watch;
        }
    }

    fn take_news(&mut self, each: &mut dyn FnMut(u16)) {
        if !core::mem::take(&mut self.news) {
            return;
        }
        for (number, node) in (0..).zip(&mut self.nodes) {
            if core::mem::take(&mut node.news) {
                each(number);
            }
        }
    }

    fn interrupt(&self, node: u16) -> bool {
        let node = self.nodes.get(usize::from(node));
        node.is_some_and(|node| !node.arrivals.is_empty())
    }

    fn start(
        &mut self,
        node: u16,
        transfer: Transfer,
    ) -> Result<Option<Ticket>, ReliableBoardError> {
        let mut host = Restartable(self.machine.host(node)?);
        let entry = self.nodes.get_mut(usize::from(node));
        let Some(entry) = entry else { return Ok(None) };
        entry.layer.tick(host.0.now());
        let ticket = match entry.layer.start(&mut host, transfer) {
            Ok(ticket) => ticket,
            Err(ReliableError::QueueFull { .. }) => return Ok(None),
            Err(error) => return Err(ReliableBoardError::Layer(error)),
        };
        self.due = self.due.min(self.machine.now() + self.period);
        self.look(node)?;
        Ok(Some(ticket))
    }

    /// The layer has looked already.
    fn poll(&mut self, node: u16) -> Result<(), ReliableBoardError> {
        match self.layer(node)?.lost {
            Some(error) => Err(ReliableBoardError::Layer(error)),
            None => Ok(()),
        }
    }

    fn progress(&mut self, node: u16, token: Ticket) -> Result<Progress, ReliableBoardError> {
        let layer = &mut self.layer(node)?.layer;
        let progress = RemoteWrite::<Restartable<'_, 'static, P>>::progress(layer, &token);
        progress.map_err(ReliableBoardError::Layer)
    }

    fn arrival(&mut self, node: u16) -> Option<Arrival> {
        self.layer(node).ok()?.arrivals.pop_front()
    }

    fn load(&self, node: u16, addr: u64, bytes: &mut [u8]) -> Result<(), ReliableBoardError> {
        let nodes = self.machine.nodes();
        let unknown = HostError::UnknownNode {
            node,
            nodes: nodes.len(),
        };
        let memory = nodes.get(usize::from(node)).ok_or(unknown)?.memory();
        let from = memory
            .slice(physical(addr, bytes.len())?, bytes.len())
            .map_err(HostError::from)?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), ReliableBoardError> {
        let addr = physical(addr, bytes.len())?;
        let mut host = self.machine.host(node)?;
        Ok(host.store(addr, bytes).map_err(HostError::from)?)
    }
}

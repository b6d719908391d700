//! The boards of the MPC: controllers, routers and cables, edge by edge.

use core::fmt;
use core::ops::Range;

use crate::cluster::{Cluster, ClusterConfig, ClusterError};
use crate::fabric::topology::Topology;
use crate::fabric::{Host, HostError, NoProbe, Probe, Watch};
use crate::put::{
    Model, Phase, PortErrorOf, PutConfig, ServeError, TransferId, WriteError, Writer,
};
use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};
use crate::time::Instant;

use super::Medium;
use super::direct::{Direct, physical};
use super::ways::Ways;

/// Identifiers of a node's messages: control messages and rendezvous data, two
/// classes of 2^22 each.
const TAGS: u32 = 1 << 23;
/// The message layer's memory starts at a multiple of this.
pub(super) const PAGE: u64 = 4096;

/// A cluster for the message layer.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BoardsConfig {
    /// The boards and their drivers. Memory size, ring entries (when the
    /// reports need more) and the writers' tags are set by [`Boards::boot`].
    pub cluster: ClusterConfig,
    /// Bytes of each node's memory for the message layer. Default 64 MiB, taken
    /// from the host only when touched.
    pub arena_bytes: u64,
    /// Reports that must fit a node's ring. Default 1023, the ring of the
    /// record.
    pub reports: u32,
}

impl Default for BoardsConfig {
    fn default() -> Self {
        Self {
            cluster: ClusterConfig::default(),
            arena_bytes: 64 << 20,
            reports: 1023,
        }
    }
}

impl BoardsConfig {
    /// The defaults, with interrupts or polling.
    pub fn with_model(mut self, model: Model) -> Self {
        self.cluster.model = model;
        self
    }
}

/// The boards of the MPC as a [`Medium`]. Register accesses of software take
/// effect at once: hw/doc/mpi-world.md, section "Time".
#[derive(Debug)]
pub struct Boards<P = NoProbe> {
    cluster: Cluster<P>,
    arena: Range<u64>,
    reports: u32,
    ways: Ways,
}

type Error = WriteError<PortErrorOf<Host<'static, 'static>>>;

/// Why a board did not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BoardError {
    /// The CPU side of a node.
    Host(HostError),
    /// The driver.
    Write(Error),
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BoardError {}

impl From<HostError> for BoardError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

/// The first page behind the drivers' memory.
pub(super) fn behind_tables(cluster: &ClusterConfig) -> u64 {
    let mut tables = PutConfig::default();
    (tables.entries, tables.counters) = (cluster.entries, cluster.counters);
    let behind = u64::from(cluster.tables_at) + tables.table_bytes();
    // Silicon that needs a bounce buffer has it behind the tables.
    (behind + u64::from(crate::put::BOUNCE_BYTES)).next_multiple_of(PAGE)
}

impl Boards {
    /// Boots a cluster.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub fn boot(topology: &Topology<'_>, config: &BoardsConfig) -> Result<Self, ClusterError> {
        Self::boot_with_probe(topology, config, NoProbe)
    }
}

impl<P: Probe> Boards<P> {
    /// The same, watched by a probe from the first edge on.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub fn boot_with_probe(
        topology: &Topology<'_>,
        config: &BoardsConfig,
        probe: P,
    ) -> Result<Self, ClusterError> {
        let mut cluster = config.cluster.clone();
        // A ring of n entries holds n - 1.
        let entries = config.reports.saturating_add(1);
        cluster.entries = cluster.entries.max(entries);
        cluster.writer.tags = TAGS;
        let start = behind_tables(&cluster);
        let arena = start..start.saturating_add(config.arena_bytes);
        let base = u64::from(cluster.board.memory_base);
        let bytes = usize::try_from(arena.end.saturating_sub(base)).unwrap_or(usize::MAX);
        cluster.board.memory_bytes = cluster.board.memory_bytes.max(bytes);
        let reports = cluster.entries.saturating_sub(1);
        Ok(Self {
            cluster: Cluster::boot_with_probe(topology, &cluster, probe)?,
            arena,
            reports,
            ways: Ways::new(topology, cluster.method),
        })
    }

    /// The cluster.
    pub fn cluster(&self) -> &Cluster<P> {
        &self.cluster
    }

    /// The cluster, to disturb it.
    pub fn cluster_mut(&mut self) -> &mut Cluster<P> {
        &mut self.cluster
    }

    /// Gives the cluster back.
    pub fn into_cluster(self) -> Cluster<P> {
        self.cluster
    }

    #[inline]
    fn with<R>(
        &mut self,
        node: u16,
        work: impl FnOnce(&mut Writer, &mut Direct<'_, 'static, P>) -> R,
    ) -> Result<R, BoardError> {
        let (machine, writers) = self.cluster.parts();
        let nodes = writers.len();
        let unknown = HostError::UnknownNode { node, nodes };
        let writer = writers.get_mut(usize::from(node)).ok_or(unknown)?;
        Ok(work(writer, &mut Direct(machine.host(node)?)))
    }

    fn writer(&mut self, node: u16) -> Result<&mut Writer, BoardError> {
        let (_, writers) = self.cluster.parts();
        let nodes = writers.len();
        let unknown = HostError::UnknownNode { node, nodes };
        Ok(writers.get_mut(usize::from(node)).ok_or(unknown)?)
    }
}

impl<P: Probe> Medium for Boards<P> {
    type Token = TransferId;
    type Error = BoardError;

    fn nodes(&self) -> u16 {
        u16::try_from(self.cluster.machine().nodes().len()).unwrap_or(u16::MAX)
    }

    fn arena(&self) -> Range<u64> {
        self.arena.clone()
    }

    fn report_limit(&self) -> u32 {
        self.reports
    }

    fn now(&self) -> Instant {
        self.cluster.machine().now()
    }

    fn advance(&mut self, until: Instant) -> bool {
        self.cluster.parts().0.run_to_news(until)
    }

    fn next_activity(&self) -> Option<Instant> {
        self.cluster.machine().next_activity()
    }

    fn watch(&mut self, node: u16, watch: Watch) {
        self.cluster.parts().0.watch(node, watch);
    }

    fn take_news(&mut self, each: &mut dyn FnMut(u16)) {
        self.cluster.parts().0.take_news(each);
    }

    fn interrupt(&self, node: u16) -> bool {
        let nodes = self.cluster.machine().nodes();
        nodes
            .get(usize::from(node))
            .is_some_and(|node| !node.inta_n())
    }

    fn start(&mut self, node: u16, transfer: Transfer) -> Result<Option<TransferId>, BoardError> {
        match self.with(node, |writer, host| writer.start(host, transfer))? {
            Ok(token) => Ok(Some(token)),
            Err(WriteError::QueueFull { .. }) => Ok(None),
            Err(error) => Err(BoardError::Write(error)),
        }
    }

    fn poll(&mut self, node: u16) -> Result<(), BoardError> {
        let polled = self.with(node, |writer, host| {
            let polled = writer.poll(host);
            // Nobody else uses the board; the driver counts its faults.
            while writer.event().is_some() {}
            match writer.put().phase() {
                // Nothing will come of it any more: whoever waits must know.
                Phase::Stopped(_) => Err(WriteError::Serve(ServeError::Stopped)),
                _ => polled,
            }
        })?;
        if let Err(WriteError::Serve(ServeError::Stopped)) = polled {
            self.ways.stop(node);
        }
        polled.map_err(BoardError::Write)
    }

    /// Those whose ways led over the router of a board that has stopped.
    fn take_partings(&mut self, each: &mut dyn FnMut(u16, u16)) {
        self.ways.take_partings(each);
    }

    fn progress(&mut self, node: u16, token: TransferId) -> Result<Progress, BoardError> {
        let progress = self.writer(node)?.progress(&token);
        progress.map_err(|error| BoardError::Write(WriteError::Transfer(error)))
    }

    fn arrival(&mut self, node: u16) -> Option<Arrival> {
        self.writer(node).ok()?.arrival()
    }

    fn load(&self, node: u16, addr: u64, bytes: &mut [u8]) -> Result<(), BoardError> {
        let nodes = self.cluster.machine().nodes();
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

    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), BoardError> {
        let addr = physical(addr, bytes.len())?;
        let stored = self.with(node, |_, host| host.0.store(addr, bytes))?;
        Ok(stored.map_err(HostError::from)?)
    }
}

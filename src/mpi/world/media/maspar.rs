//! The PE array of the MasPar machine: remote write by router cycles.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::fabric::Watch;
use crate::maspar::remote::{PeArray, PePort, RemoteError, Slot, Token};
use crate::maspar::{CLUSTER_PES, RouterConfig};
use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};
use crate::time::Instant;

use super::Medium;

/// A PE array for the message layer.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct MasParConfig {
    /// The machine.
    pub router: RouterConfig,
    /// PEs that run a process, or several.
    pub nodes: u16,
    /// Bytes of each PE. The PEs of the real machine have far too few for the
    /// message layer's slots; chosen: 2 MiB, taken from the host only when
    /// touched.
    pub bytes_per_pe: usize,
    /// PEs from one node to the next. Chosen: 16, a cluster each, as two PEs
    /// of a cluster share one router port; nodes beyond the last cluster take
    /// the next PE of each.
    pub stride: u16,
    /// Notifications that may wait at a PE. Default 65,535.
    pub reports: u32,
    /// Transfers of a node that wait for the one that its PE has under way.
    /// Default 7.
    pub queue: usize,
}

impl MasParConfig {
    /// So many nodes on the smallest MP-1.
    pub fn new(nodes: u16) -> Self {
        Self {
            router: RouterConfig::MP1.with_size(crate::maspar::MachineSize::Pes1024),
            nodes,
            bytes_per_pe: 2 << 20,
            stride: CLUSTER_PES as u16,
            reports: 65_535,
            queue: 7,
        }
    }
}

/// What a PE array refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MasParError {
    /// The array.
    Remote(RemoteError),
    /// More nodes than PEs, or none.
    Nodes {
        /// Nodes asked for, or the number of the one that there is not.
        nodes: u16,
        /// How many there may be, or are.
        limit: usize,
    },
    /// A range outside a PE's memory.
    OutOfMemory {
        /// Its first byte.
        addr: u64,
        /// Its length.
        len: usize,
        /// Bytes of a PE.
        size: usize,
    },
}

impl fmt::Display for MasParError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(error) => error.fmt(f),
            Self::Nodes { nodes, limit } => write!(f, "node {nodes} of a machine of {limit}"),
            Self::OutOfMemory { addr, len, size } => {
                write!(f, "{len} bytes at {addr:#x} are outside a PE's {size}")
            }
        }
    }
}

impl core::error::Error for MasParError {}

impl From<RemoteError> for MasParError {
    fn from(error: RemoteError) -> Self {
        Self::Remote(error)
    }
}

#[derive(Debug)]
struct Node {
    port: PePort,
    /// Transfers that wait for the one under way.
    waiting: VecDeque<Transfer>,
    /// Transfers accepted, handed to the array, and out of memory.
    accepted: u64,
    started: u64,
    sent: u64,
    /// The transfer under way, until it has left.
    leaving: Option<Token>,
    arrivals: VecDeque<Arrival>,
    watch: Watch,
    news: bool,
}

/// The PE array as a [`Medium`], with ticks as its time.
///
/// A router cycle that has begun is carried out whole; what it brings is news
/// when it ends. Transfers that start meanwhile join at the next cycle.
#[derive(Debug)]
pub struct MasPar {
    array: PeArray<'static>,
    nodes: Vec<Node>,
    config: MasParConfig,
    now: Instant,
    /// The end of the router cycle under way.
    end: Option<Instant>,
    news: bool,
}

impl MasPar {
    /// An array at rest.
    ///
    /// # Errors
    /// [`MasParError`] for a router that is none, or more nodes than PEs.
    pub fn new(config: MasParConfig) -> Result<Self, MasParError> {
        let pes = config.router.size.pes();
        if config.nodes == 0 || usize::from(config.nodes) > pes {
            return Err(MasParError::Nodes {
                nodes: config.nodes,
                limit: pes,
            });
        }
        let memory = vec![0; pes.saturating_mul(config.bytes_per_pe)];
        let array = PeArray::new(&config.router, memory, vec![Slot::IDLE; pes])?;
        let node = |node| Node {
            port: PePort::new(place(&config, node)),
            waiting: VecDeque::new(),
            accepted: 0,
            started: 0,
            sent: 0,
            leaving: None,
            arrivals: VecDeque::new(),
            watch: Watch::Nothing,
            news: false,
        };
        Ok(Self {
            array,
            nodes: (0..config.nodes).map(node).collect(),
            config,
            now: Instant::ZERO,
            end: None,
            news: false,
        })
    }

    /// The array.
    pub fn array(&self) -> &PeArray<'static> {
        &self.array
    }

    fn node(&mut self, node: u16) -> Result<&mut Node, MasParError> {
        let limit = self.nodes.len();
        let unknown = MasParError::Nodes { nodes: node, limit };
        self.nodes.get_mut(usize::from(node)).ok_or(unknown)
    }

    /// What the cycle that has ended brings.
    fn collect(&mut self) {
        let Self { array, nodes, .. } = self;
        for node in nodes.iter_mut() {
            let mut fresh = false;
            node.port.collect(array);
            while let Some(arrival) = RemoteWrite::<PeArray<'_>>::arrival(&mut node.port) {
                node.arrivals.push_back(arrival);
                fresh = true;
                node.port.collect(array);
            }
            if let Some(token) = node.leaving
                && sent(&mut node.port, token) != Ok(Progress::Pending)
            {
                node.leaving = None;
                node.sent = node.started;
                fresh = true;
            }
            node.news |= fresh && node.watch != Watch::Nothing;
            self.news |= node.news;
        }
        // A PE is free when the receiver has been told, too: all mail is taken.
        for node in nodes.iter_mut() {
            // What waits was accepted, so nothing is wrong with it.
            while let Some(transfer) = node.waiting.front() {
                match node.port.start(array, *transfer) {
                    Ok(token) => node.leaving = Some(token),
                    Err(RemoteError::Busy { .. }) => break,
                    Err(_) => {}
                }
                node.waiting.pop_front();
                node.started += 1;
            }
        }
    }

    fn range(&self, addr: u64, len: usize) -> Result<Range<usize>, MasParError> {
        let size = self.config.bytes_per_pe;
        let outside = MasParError::OutOfMemory { addr, len, size };
        let start = usize::try_from(addr).map_err(|_| outside)?;
        match start.checked_add(len) {
            Some(end) if end <= size => Ok(start..end),
            _ => Err(outside),
        }
    }
}

fn sent(port: &mut PePort, token: Token) -> Result<Progress, RemoteError> {
    RemoteWrite::<PeArray<'_>>::progress(port, &token)
}

/// The PE of a node.
fn place(config: &MasParConfig, node: u16) -> u16 {
    let (stride, pes) = (config.stride.max(1), config.router.size.pes() as u16);
    let a_round = (pes / stride).max(1);
    (node % a_round) * stride + node / a_round
}

impl Medium for MasPar {
    type Token = u64;
    type Error = MasParError;

    fn nodes(&self) -> u16 {
        self.config.nodes
    }

    fn arena(&self) -> Range<u64> {
        // 0 stays no address.
        64..self.config.bytes_per_pe as u64
    }

    fn report_limit(&self) -> u32 {
        self.config.reports
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn advance(&mut self, until: Instant) -> bool {
        while !self.news {
            match self.end {
                Some(end) if end > until => {
                    self.now = self.now.max(until);
                    return false;
                }
                Some(end) => {
                    self.now = self.now.max(end);
                    self.end = None;
                    self.collect();
                }
                None if !self.array.is_busy() || self.now >= until => {
                    self.now = self.now.max(until);
                    return false;
                }
                None => {
                    let before = self.array.cost().ticks;
                    self.array.cycle();
                    let ticks = self.array.cost().ticks - before;
                    self.end = Some(self.now + self.config.router.costs.time(ticks));
                }
            }
        }
        true
    }

    fn next_activity(&self) -> Option<Instant> {
        self.end.or(self.array.is_busy().then_some(self.now))
    }

    fn watch(&mut self, node: u16, watch: Watch) {
        if let Ok(node) = self.node(node) {
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

    fn start(&mut self, node: u16, mut transfer: Transfer) -> Result<Option<u64>, MasParError> {
        self.node(transfer.node)?;
        let length = usize::try_from(transfer.length).unwrap_or(usize::MAX);
        self.range(transfer.local, length)?;
        self.range(transfer.remote, length)?;
        transfer.node = place(&self.config, transfer.node);
        let queue = self.config.queue;
        let Self { array, nodes, .. } = self;
        let limit = nodes.len();
        let unknown = MasParError::Nodes { nodes: node, limit };
        let node = nodes.get_mut(usize::from(node)).ok_or(unknown)?;
        let started = if node.waiting.is_empty() {
            node.port.start(array, transfer)
        } else {
            Err(RemoteError::Busy { pe: node.port.pe() })
        };
        match started {
            Ok(token) => {
                node.leaving = Some(token);
                node.started += 1;
            }
            Err(RemoteError::Busy { .. }) if node.waiting.len() < queue => {
                node.waiting.push_back(transfer);
            }
            Err(RemoteError::Busy { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        node.accepted += 1;
        Ok(Some(node.accepted - 1))
    }

    fn poll(&mut self, node: u16) -> Result<(), MasParError> {
        self.node(node).map(|_| ())
    }

    fn progress(&mut self, node: u16, token: u64) -> Result<Progress, MasParError> {
        let node = self.node(node)?;
        // A transfer of nothing has left when it starts.
        let now = node.leaving.is_none() && token < node.started;
        Ok(if token < node.sent || now {
            Progress::Sent
        } else {
            Progress::Pending
        })
    }

    fn arrival(&mut self, node: u16) -> Option<Arrival> {
        self.node(node).ok()?.arrivals.pop_front()
    }

    fn load(&self, node: u16, addr: u64, bytes: &mut [u8]) -> Result<(), MasParError> {
        let range = self.range(addr, bytes.len())?;
        let memory = self.array.memory(place(&self.config, node));
        bytes.copy_from_slice(memory.get(range).unwrap_or_default());
        Ok(())
    }

    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), MasParError> {
        let range = self.range(addr, bytes.len())?;
        let memory = self.array.memory_mut(place(&self.config, node));
        if let Some(into) = memory.get_mut(range) {
            into.copy_from_slice(bytes);
        }
        Ok(())
    }
}

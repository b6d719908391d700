//! Nodes joined by nothing but a delay: for speed.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::ops::Range;

use crate::fabric::Watch;
use crate::mem::{OutOfMemory, Ram};
use crate::remote::{Arrival, Progress, Transfer};
use crate::time::{Duration, Instant};

use super::Medium;

/// First physical address of the message layer's memory: 0 stays no address.
const BASE: u32 = 0x1000;

/// How fast a [`Memory`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct MemoryConfig {
    /// Nodes.
    pub nodes: u16,
    /// Bytes of each node's memory. Default 64 MiB, taken from the host only
    /// when touched.
    pub arena_bytes: usize,
    /// From the last byte read here to its notification there. Default 1.9 us,
    /// what the boards take.
    pub latency: Duration,
    /// The part of a transfer's time that does not depend on its length.
    /// Default 0.597 us, a page of the boards.
    pub transfer: Duration,
    /// Time of a byte. Default 1/62 us, that of a long page.
    pub byte: Duration,
    /// Transfers of a node that may wait. Default 8.
    pub queue: usize,
    /// Reports that may wait at a node. Default 65,535.
    pub reports: u32,
}

impl MemoryConfig {
    /// So many nodes, and the defaults.
    pub const fn new(nodes: u16) -> Self {
        Self {
            nodes,
            arena_bytes: 64 << 20,
            latency: Duration::from_ps(1_900_000),
            transfer: Duration::from_ps(597_000),
            byte: Duration::from_ps(16_130),
            queue: 8,
            reports: 65_535,
        }
    }
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self::new(2)
    }
}

/// A transfer that cannot be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MemoryError {
    /// No such node.
    UnknownNode {
        /// The node.
        node: u16,
        /// Nodes there are.
        nodes: usize,
    },
    /// An address of more than 32 bits.
    OutOfReach {
        /// The address.
        address: u64,
    },
    /// A range outside a memory.
    Memory(OutOfMemory),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode { node, nodes } => {
                write!(f, "node {node} is unknown, allowed 0..{nodes}")
            }
            Self::OutOfReach { address } => write!(f, "address {address:#x} is past 2^32"),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MemoryError {}

/// What happens at an instant. Events of one instant happen in the order in
/// which they were made.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The last byte was read.
    Left { node: u16 },
    /// The bytes are in memory.
    Deposited {
        node: u16,
        addr: u32,
        bytes: Vec<u8>,
        tag: Option<u32>,
    },
}

#[derive(Debug)]
struct Node {
    ram: Ram<'static>,
    waiting: VecDeque<Transfer>,
    /// When its sending side is free.
    free: Instant,
    started: u64,
    sent: u64,
    arrivals: VecDeque<Arrival>,
    watch: Watch,
    news: bool,
}

/// Memories joined by a delay: a [`Medium`] that costs next to nothing to run.
///
/// A node's transfers leave one after the other and arrive in that order.
#[derive(Debug)]
pub struct Memory {
    config: MemoryConfig,
    nodes: Vec<Node>,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    made: u64,
    now: Instant,
    news: bool,
}

impl Memory {
    /// A machine at rest.
    pub fn new(config: MemoryConfig) -> Self {
        let node = |_| Node {
            ram: Ram::new(BASE, vec![0; config.arena_bytes]),
            waiting: VecDeque::new(),
            free: Instant::ZERO,
            started: 0,
            sent: 0,
            arrivals: VecDeque::new(),
            watch: Watch::Nothing,
            news: false,
        };
        Self {
            config,
            nodes: (0..config.nodes).map(node).collect(),
            events: BinaryHeap::new(),
            made: 0,
            now: Instant::ZERO,
            news: false,
        }
    }

    fn node(&self, node: u16) -> Result<&Node, MemoryError> {
        let nodes = self.nodes.len();
        let unknown = MemoryError::UnknownNode { node, nodes };
        self.nodes.get(usize::from(node)).ok_or(unknown)
    }

    fn node_mut(&mut self, node: u16) -> Result<&mut Node, MemoryError> {
        let nodes = self.nodes.len();
        let unknown = MemoryError::UnknownNode { node, nodes };
        self.nodes.get_mut(usize::from(node)).ok_or(unknown)
    }

    /// The bytes of a range, to be read or to be there at all.
    fn bytes(&self, node: u16, addr: u64, len: u64) -> Result<(u32, &[u8]), MemoryError> {
        let out = MemoryError::OutOfReach { address: addr };
        let addr = u32::try_from(addr).map_err(|_| out)?;
        let len = usize::try_from(len).map_err(|_| out)?;
        let ram = &self.node(node)?.ram;
        if len == 0 {
            return Ok((addr, &[]));
        }
        Ok((addr, ram.slice(addr, len).map_err(MemoryError::Memory)?))
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.push(Reverse((at, self.made, event)));
        self.made += 1;
    }

    fn tell(&mut self, node: u16, is_news: impl FnOnce(Watch) -> bool) {
        if let Some(node) = self.nodes.get_mut(usize::from(node))
            && is_news(node.watch)
        {
            node.news = true;
            self.news = true;
        }
    }

    fn happen(&mut self, at: Instant, event: Event) {
        match event {
            Event::Left { node } => {
                let transfer = self.nodes.get_mut(usize::from(node)).and_then(|node| {
                    node.sent += 1;
                    node.waiting.pop_front()
                });
                let Some(transfer) = transfer else { return };
                // Both ranges were checked when it was started.
                let read = self.bytes(node, transfer.local, transfer.length);
                let bytes = read.map_or(Vec::new(), |(_, bytes)| bytes.to_vec());
                let flags = transfer.flags;
                let event = Event::Deposited {
                    node: transfer.node,
                    addr: transfer.remote as u32,
                    bytes,
                    tag: flags.notify_receiver.then_some(flags.tag),
                };
                self.schedule(at + self.config.latency, event);
                self.tell(node, |watch| watch != Watch::Nothing);
            }
            Event::Deposited {
                node,
                addr,
                bytes,
                tag,
            } => {
                if let Some(node) = self.nodes.get_mut(usize::from(node)) {
                    if let Ok(into) = node.ram.slice_mut(addr, bytes.len()) {
                        into.copy_from_slice(&bytes);
                    }
                    node.arrivals.extend(tag.map(|tag| Arrival { tag }));
                }
                self.tell(node, |watch| match watch {
                    Watch::Nothing => false,
                    Watch::Memory => true,
                    Watch::Registers => tag.is_some(),
                });
            }
        }
    }
}

impl Medium for Memory {
    type Token = u64;
    type Error = MemoryError;

    fn nodes(&self) -> u16 {
        self.config.nodes
    }

    fn arena(&self) -> Range<u64> {
        let base = u64::from(BASE);
        base..base + self.config.arena_bytes as u64
    }

    fn report_limit(&self) -> u32 {
        self.config.reports
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn advance(&mut self, until: Instant) -> bool {
        while !self.news {
            match self.events.peek() {
                Some(Reverse((at, ..))) if *at <= until => {}
                _ => {
                    self.now = self.now.max(until);
                    return false;
                }
            }
            if let Some(Reverse((at, _, event))) = self.events.pop() {
                self.now = self.now.max(at);
                self.happen(at, event);
            }
        }
        true
    }

    fn next_activity(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    fn watch(&mut self, node: u16, watch: Watch) {
        if let Ok(node) = self.node_mut(node) {
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
        self.node(node).is_ok_and(|node| !node.arrivals.is_empty())
    }

    fn start(&mut self, node: u16, transfer: Transfer) -> Result<Option<u64>, MemoryError> {
        self.bytes(node, transfer.local, transfer.length)?;
        self.bytes(transfer.node, transfer.remote, transfer.length)?;
        let (now, config) = (self.now, self.config);
        let sender = self.node_mut(node)?;
        if sender.waiting.len() >= config.queue {
            return Ok(None);
        }
        sender.waiting.push_back(transfer);
        let token = sender.started;
        sender.started += 1;
        let bytes = Duration::from_ps(config.byte.ps().saturating_mul(transfer.length));
        sender.free = sender.free.max(now) + config.transfer + bytes;
        let free = sender.free;
        self.schedule(free, Event::Left { node });
        Ok(Some(token))
    }

    fn poll(&mut self, node: u16) -> Result<(), MemoryError> {
        self.node(node).map(|_| ())
    }

    fn progress(&mut self, node: u16, token: u64) -> Result<Progress, MemoryError> {
        Ok(if token < self.node(node)?.sent {
            Progress::Sent
        } else {
            Progress::Pending
        })
    }

    fn arrival(&mut self, node: u16) -> Option<Arrival> {
        self.node_mut(node).ok()?.arrivals.pop_front()
    }

    fn load(&self, node: u16, addr: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let (_, from) = self.bytes(node, addr, bytes.len() as u64)?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let (addr, _) = self.bytes(node, addr, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let into = self.node_mut(node)?.ram.slice_mut(addr, bytes.len());
        into.map_err(MemoryError::Memory)?.copy_from_slice(bytes);
        Ok(())
    }
}

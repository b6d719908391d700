//! The machine with its nodes' dispatchers: which rank a notification is for,
//! and which message is under way since when.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::loss::Loss;
use super::media::Medium;
use crate::fabric::Watch;
use crate::mpi::TagPacking;
use crate::mpi::timeline::Message;
use crate::mpi::wire::Class;
use crate::remote::{Arrival, Transfer};
use crate::time::Instant;

/// Where a rank lives.
#[derive(Clone, Debug)]
pub(super) struct Home<T> {
    pub(super) node: u16,
    /// Its notifications that its engine has not taken.
    pub(super) queue: VecDeque<Arrival>,
    /// When the oldest message that has come since the last look set out.
    pub(super) came: Option<Instant>,
    /// Its data on the way out, and since when.
    pub(super) leaving: Vec<(T, Instant)>,
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    from: u32,
    sent: Instant,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct NodeState {
    /// Its ranks, in the order of their index ranges.
    ranks: Vec<u32>,
    /// Something may have come since the driver last looked.
    stale: bool,
}

/// How message identifiers of a node are shared among its ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    pub(super) packing: TagPacking,
    /// Indices of a rank: slots of a pair, and landings.
    pub(super) control: u16,
    pub(super) data: u16,
}

/// The machine, and what is known of each node and rank.
#[derive(Debug)]
pub(super) struct Site<M: Medium> {
    pub(super) medium: M,
    nodes: Vec<NodeState>,
    pub(super) homes: Vec<Home<M::Token>>,
    sharing: Sharing,
    /// By node and tag.
    flights: BTreeMap<(u16, u32), Flight>,
    /// First piece of a message whose last is still to come, by rank and node.
    begun: BTreeMap<(u32, u16), (Instant, u64)>,
    pub(super) messages: Vec<Message>,
    pub(super) record: bool,
    /// What the machine has lost so far, in order.
    pub(super) losses: Vec<Loss>,
    /// Ranks that a sibling has given something.
    pub(super) wakes: Vec<u32>,
    /// A copy to a sibling is over: whoever made it has to be told.
    pub(super) copied: bool,
    /// Kept for its storage.
    pub(super) fresh: Vec<u16>,
}

impl<M: Medium> Site<M> {
    pub(super) fn new(medium: M, places: &[u16], sharing: Sharing, watch: Watch) -> Self {
        let mut site = Self {
            nodes: (0..medium.nodes()).map(|_| NodeState::default()).collect(),
            homes: Vec::new(),
            sharing,
            flights: BTreeMap::new(),
            begun: BTreeMap::new(),
            messages: Vec::new(),
            record: false,
            losses: Vec::new(),
            wakes: Vec::new(),
            copied: false,
            fresh: Vec::new(),
            medium,
        };
        for (rank, &node) in (0..).zip(places) {
            if let Some(state) = site.nodes.get_mut(usize::from(node)) {
                state.ranks.push(rank);
                state.stale = true;
            }
            site.medium.watch(node, watch);
            site.homes.push(Home {
                node,
                queue: VecDeque::new(),
                came: None,
                leaving: Vec::new(),
            });
        }
        site
    }

    pub(super) fn home(&mut self, rank: u32) -> Option<&mut Home<M::Token>> {
        self.homes.get_mut(rank as usize)
    }

    /// The ranks of a node.
    pub(super) fn ranks(&self, node: u16) -> &[u32] {
        let state = self.nodes.get(usize::from(node));
        state.map_or(&[], |state| &state.ranks)
    }

    /// Something has happened at a node.
    pub(super) fn disturb(&mut self, node: u16) {
        if let Some(state) = self.nodes.get_mut(usize::from(node)) {
            state.stale = true;
        }
    }

    /// The driver of a node looks, unless nothing can have come.
    pub(super) fn poll(&mut self, node: u16) -> Result<(), M::Error> {
        let state = self.nodes.get_mut(usize::from(node));
        if !state.is_some_and(|state| core::mem::take(&mut state.stale)) {
            return Ok(());
        }
        loop {
            if let Err(error) = self.medium.poll(node) {
                let loss = Loss::Node(node);
                if !self.losses.contains(&loss) {
                    self.losses.push(loss);
                    self.note_partings();
                    self.wakes
                        .extend((0..).zip(&self.homes).map(|(rank, _)| rank));
                }
                return Err(error);
            }
            let mut any = false;
            while let Some(arrival) = self.medium.arrival(node) {
                self.deliver(node, arrival);
                any = true;
            }
            if !any {
                return Ok(());
            }
        }
    }

    /// A transfer of `rank` was handed to the hardware.
    pub(super) fn departs(&mut self, rank: u32, transfer: &Transfer, token: Option<M::Token>) {
        let now = self.medium.now();
        let key = (rank, transfer.node);
        let control = self.is_control(transfer.flags.tag);
        if !transfer.flags.notify_receiver || !control {
            let leaving = self.home(rank).map(|home| &mut home.leaving);
            if let (Some(leaving), Some(token)) = (leaving, token) {
                leaving.push((token, now));
            }
        }
        if !transfer.flags.notify_receiver {
            let (_, bytes) = self.begun.entry(key).or_insert((now, 0));
            *bytes += transfer.length;
            return;
        }
        // A control message may overtake the end of a data message.
        let begun = if control {
            None
        } else {
            self.begun.remove(&key)
        };
        let (sent, before) = begun.unwrap_or((now, 0));
        let flight = Flight {
            from: rank,
            sent,
            bytes: before + transfer.length,
        };
        self.flights
            .insert((transfer.node, transfer.flags.tag), flight);
    }

    fn is_control(&self, tag: u32) -> bool {
        let id = self.sharing.packing.unpack(tag);
        id.is_some_and(|id| id.class() == Class::Control)
    }

    /// Gives a notification to the rank it is for; one that is for nobody is
    /// dropped.
    pub(super) fn deliver(&mut self, node: u16, arrival: Arrival) {
        let Some(id) = self.sharing.packing.unpack(arrival.tag) else {
            return;
        };
        let control = id.class() == Class::Control;
        let share = if control {
            self.sharing.control
        } else {
            self.sharing.data
        };
        let index = usize::from(id.index() / share.max(1));
        let Some(&to) = self.ranks(node).get(index) else {
            return;
        };
        let flight = self.flights.remove(&(node, arrival.tag));
        if let Some(flight) = flight
            && self.record
        {
            self.messages.push(Message {
                from: flight.from,
                to,
                control,
                bytes: flight.bytes,
                sent: flight.sent,
                received: self.medium.now(),
            });
        }
        if let Some(home) = self.home(to) {
            home.queue.push_back(arrival);
            home.came = home.came.or(flight.map(|flight| flight.sent));
        }
        self.wakes.push(to);
    }

    /// Whether the kernel has something to do for a rank.
    pub(super) fn asks(&self, rank: u32) -> bool {
        self.homes
            .get(rank as usize)
            .is_some_and(|home| !home.queue.is_empty() || self.medium.interrupt(home.node))
    }
}

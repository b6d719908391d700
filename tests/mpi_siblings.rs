//! Ranks that share a node: each takes its own notifications, and what they send
//! each other is copied.
#![cfg(feature = "alloc")]

use std::collections::{BTreeMap, VecDeque};

use multipc::mpi::boot::{BootEntry, Place};
use multipc::mpi::endpoint::{
    Activity, Buffer, Endpoint, Mode, Receipt, Recv, Request, Send, Sizes,
};
use multipc::mpi::matching::Pattern;
use multipc::mpi::wire::{Class, Entry, Req, Rsp, wire_len};
use multipc::mpi::{Cause, Layout, MpiConfig, MpiCost, Port, Trace};
use multipc::remote::{Arrival, Progress, Transfer};
use multipc::time::{Duration, Instant};

const USER: u64 = 0x10_0000;

/// Nodes with the memory and the notifications that all ranks of a node share.
struct Machine {
    memories: Vec<Vec<u8>>,
    /// As they came, for whichever rank.
    raw: Vec<VecDeque<Arrival>>,
    /// Of each rank.
    own: Vec<VecDeque<Arrival>>,
    log: Vec<(u32, Transfer)>,
}

struct Node<'m> {
    machine: &'m mut Machine,
    rank: u32,
    node: u16,
}

impl Node<'_> {
    fn bytes(&mut self, node: u16, addr: u64, len: usize) -> Result<&mut [u8], String> {
        let memory = &mut self.machine.memories[usize::from(node)];
        let bytes = memory
            .get_mut(addr as usize..)
            .and_then(|m| m.get_mut(..len));
        bytes.ok_or_else(|| format!("{len} bytes at {addr:#x} of node {node}"))
    }
}

impl Port for Node<'_> {
    type Token = ();
    type Error = String;

    fn start(&mut self, transfer: Transfer) -> Result<Option<()>, String> {
        let len = transfer.length as usize;
        let bytes = self.bytes(self.node, transfer.local, len)?.to_vec();
        let to = self.bytes(transfer.node, transfer.remote, len)?;
        to.copy_from_slice(&bytes);
        if transfer.flags.notify_receiver {
            let tag = transfer.flags.tag;
            self.machine.raw[usize::from(transfer.node)].push_back(Arrival { tag });
        }
        self.machine.log.push((self.rank, transfer));
        Ok(Some(()))
    }

    fn poll(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn progress(&mut self, (): &()) -> Result<Progress, String> {
        Ok(Progress::Sent)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.machine.own[self.rank as usize].pop_front()
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), String> {
        let bytes = self.bytes(self.node, addr, into.len())?;
        into.copy_from_slice(bytes);
        Ok(())
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), String> {
        let place = self.bytes(self.node, addr, bytes.len())?;
        place.copy_from_slice(bytes);
        Ok(())
    }
}

/// Adds up what the processors were at.
#[derive(Default)]
struct Spent(BTreeMap<Cause, u64>);

impl Trace for Spent {
    fn span(&mut self, cause: Cause, start: Instant, end: Instant) {
        *self.0.entry(cause).or_default() += end.since(start).ps();
    }
}

struct Rig {
    machine: Machine,
    endpoints: Vec<Endpoint<'static, ()>>,
    places: Vec<Place>,
    arena: u64,
    now: Instant,
    spent: Spent,
}

impl Rig {
    /// One rank for each of `homes`, which gives its node.
    fn new(config: MpiConfig, homes: &[u16]) -> Self {
        let ranks = homes.len() as u32;
        let arena = (Layout::bytes(&config, ranks) + USER).next_multiple_of(4096);
        let places: Vec<Place> = (0..ranks)
            .map(|rank| {
                let node = homes[rank as usize];
                let before = homes[..rank as usize]
                    .iter()
                    .filter(|n| **n == node)
                    .count() as u16;
                let mut place = Place::alone(0, ranks, 4096 + u64::from(before) * arena);
                place.rank = rank;
                place.node = node;
                place.control_index = before * config.slots;
                place.landing_index = before * config.landings;
                place
            })
            .collect();
        let entries: Vec<BootEntry> = places.iter().map(|p| BootEntry::new(&config, p)).collect();
        let endpoints = places
            .iter()
            .map(|place| Endpoint::owned(config, *place, &entries, Sizes::default()).unwrap())
            .collect();
        let nodes = usize::from(homes.iter().max().unwrap() + 1);
        let bytes = 4096 + arena as usize * homes.len();
        Self {
            machine: Machine {
                memories: vec![vec![0; bytes]; nodes],
                raw: vec![VecDeque::new(); nodes],
                own: vec![VecDeque::new(); homes.len()],
                log: Vec::new(),
            },
            endpoints,
            places,
            arena: arena - USER,
            now: Instant::ZERO,
            spent: Spent::default(),
        }
    }

    /// Gives each notification of a node to the one rank that owns it.
    fn dispatch(&mut self) {
        for node in 0..self.machine.raw.len() {
            while let Some(arrival) = self.machine.raw[node].pop_front() {
                let here = |rank: &usize| usize::from(self.places[*rank].node) == node;
                let owners: Vec<usize> = (0..self.endpoints.len())
                    .filter(here)
                    .filter(|rank| self.endpoints[*rank].owns(arrival.tag))
                    .collect();
                assert_eq!(owners.len(), 1, "tag {:#x} on node {node}", arrival.tag);
                self.machine.own[owners[0]].push_back(arrival);
            }
        }
    }

    fn progress(&mut self, rank: usize) -> Activity {
        self.dispatch();
        let mut node = Node {
            machine: &mut self.machine,
            rank: rank as u32,
            node: self.places[rank].node,
        };
        let activity = self.endpoints[rank].progress(&mut node, self.now, &mut self.spent);
        assert_eq!(self.endpoints[rank].broken_invariant(), None);
        self.endpoints[rank].check_invariants().unwrap();
        activity
    }

    /// Until nobody has anything to do, in exact time.
    fn run(&mut self) {
        let mut quiet = 0;
        while quiet < 3 {
            let moved = self.machine.log.len();
            let next = (0..self.endpoints.len())
                .filter_map(|rank| match self.progress(rank) {
                    Activity::Busy { until } => Some(until),
                    Activity::Idle => None,
                })
                .min();
            self.now = next.unwrap_or(self.now);
            let idle = next.is_none() && moved == self.machine.log.len();
            quiet = if idle { quiet + 1 } else { 0 };
        }
    }

    /// A place of a rank's user memory.
    fn user(&self, rank: usize, offset: u64) -> u64 {
        self.places[rank].base + self.arena + offset
    }

    fn send(&mut self, from: usize, to: usize, tag: i32, buffer: Buffer) -> Request {
        let send = Send::new(to as u32, from as u32, tag, buffer);
        self.endpoints[from].isend(send).unwrap()
    }

    fn recv(&mut self, at: usize, from: usize, tag: i32, buffer: Buffer) -> Request {
        let mut recv = Recv::new(
            Pattern {
                context: 0,
                source: Some(from as u32),
                tag: Some(tag),
            },
            buffer,
        );
        recv.peer = Some(from as u32);
        self.endpoints[at].irecv(recv).unwrap()
    }

    fn done(&mut self, rank: usize, request: Request) -> Receipt {
        let result = self.endpoints[rank].test(request);
        result.expect("it is complete").expect("it is good")
    }

    fn memory(&mut self, rank: usize) -> &mut Vec<u8> {
        &mut self.machine.memories[usize::from(self.places[rank].node)]
    }
}

fn free() -> MpiConfig {
    let mut config = MpiConfig::default().with_cost(MpiCost::FREE).with_slots(4);
    config.unexpected_bytes = 0x1_0000;
    config.landings = 8;
    config
}

/// Memory is all that costs: a nanosecond a byte.
fn copies() -> MpiConfig {
    let mut cost = MpiCost::FREE;
    cost.copy_ps_per_byte = 1_000;
    cost.put = Duration::from_us(1);
    free().with_cost(cost)
}

#[test]
fn all_pairs_of_siblings_and_strangers_exchange_messages() {
    let homes = [0, 0, 1, 1, 1];
    let mut rig = Rig::new(free(), &homes);
    for round in 0..3 {
        let mut open = Vec::new();
        for from in 0..homes.len() {
            for to in (0..homes.len()).filter(|to| *to != from) {
                for (tag, len) in [(0, 100), (1, 10_000)] {
                    let pair = (from * homes.len() + to) as u64;
                    let out = rig.user(from, (pair * 2 + u64::from(tag as u32)) * 12_000);
                    let into = rig.user(to, 0x8_0000 + (pair * 2 + u64::from(tag as u32)) * 10_240);
                    let seed = pair as u8 * 2 + tag as u8 + round;
                    rig.memory(from)[out as usize..][..len].fill(seed);
                    let send = rig.send(from, to, tag, Buffer::new(out, len as u64));
                    let recv = rig.recv(to, from, tag, Buffer::new(into, len as u64));
                    open.push((from, send, to, recv, into, len, seed));
                }
            }
        }
        rig.run();
        for (from, send, to, recv, into, len, seed) in open {
            rig.done(from, send);
            let receipt = rig.done(to, recv);
            assert_eq!(receipt.peer, from as u32);
            assert_eq!(rig.memory(to)[into as usize..][..len], vec![seed; len]);
        }
    }
    assert!(rig.endpoints.iter().all(|e| e.stats().strays == 0));
}

#[test]
fn identifiers_of_siblings_are_disjoint() {
    let config = free();
    let rig = Rig::new(config, &[0, 0, 0, 1]);
    for (class, share) in [
        (Class::Control, config.slots),
        (Class::Data, config.landings),
    ] {
        for index in 0..5 * share {
            let tag = config.tags.pack(class, 3, index).unwrap();
            let owners: Vec<u16> = (0..3)
                .filter(|rank| rig.endpoints[usize::from(*rank)].owns(tag))
                .collect();
            let owner = index / share;
            let expected = if owner < 3 { vec![owner] } else { vec![] };
            assert_eq!(owners, expected, "{class:?} {index}");
        }
    }
    for rank in 0..3u16 {
        let own = config
            .tags
            .pack(Class::Control, rank, rank * config.slots)
            .unwrap();
        assert!(
            !rig.endpoints[usize::from(rank)].owns(own),
            "none from oneself"
        );
        let get = config.tags.pack(Class::Get, 3, 0).unwrap();
        assert!(!rig.endpoints[usize::from(rank)].owns(get));
        let unknown = config.tags.pack(Class::Control, 4, 0).unwrap();
        assert!(
            !rig.endpoints[usize::from(rank)].owns(unknown),
            "rank 4 of 4"
        );
    }
}

#[test]
fn siblings_write_to_the_slot_of_the_pair_in_their_nodes_memory() {
    let config = free();
    let mut rig = Rig::new(config, &[0, 0, 0]);
    let buffer = Buffer::new(rig.user(1, 0), 4);
    for _ in 0..2 {
        rig.send(1, 2, 0, buffer);
    }
    rig.run();
    let layout = Layout::new(&config, 2, 3, rig.places[2].base);
    let staging = Layout::new(&config, 1, 3, rig.places[1].base);
    for (slot, (rank, transfer)) in (0..2).zip(&rig.machine.log) {
        assert_eq!((*rank, transfer.node), (1, 0));
        assert_eq!(transfer.remote, layout.slot(1, slot));
        assert_eq!(transfer.local, staging.staging(2, slot));
        let index = 2 * config.slots + slot;
        let tag = config.tags.pack(Class::Control, 1, index);
        assert_eq!(Some(transfer.flags.tag), tag);
    }
}

/// What a message from 0 to `to` costs in copies and in puts.
fn cost_of(to: usize, len: u64, mode: Mode) -> (u64, u64) {
    let mut rig = Rig::new(copies(), &[0, 0, 1]);
    let recv = rig.recv(to, 0, 0, Buffer::new(rig.user(to, 0), len));
    rig.run();
    let mut send = Send::new(to as u32, 0, 0, Buffer::new(rig.user(0, 0x8_0000), len));
    send.mode = mode;
    let send = rig.endpoints[0].isend(send).unwrap();
    rig.run();
    rig.done(0, send);
    rig.done(to, recv);
    let of = |cause| rig.spent.0.get(&cause).copied().unwrap_or(0);
    (of(Cause::Copy), of(Cause::Put))
}

#[test]
fn a_short_message_to_a_sibling_is_copied_three_times() {
    // Into staging, with header and trailer into the slot, out of the slot.
    for len in [0, 1, 100, 2048] {
        let wire = wire_len(len as usize) as u64;
        assert_eq!(
            cost_of(1, len, Mode::Standard),
            ((len + wire + len) * 1_000, 0)
        );
        assert_eq!(
            cost_of(2, len, Mode::Standard),
            (2 * len * 1_000, 1_000_000)
        );
    }
}

#[test]
fn question_answer_and_data_of_a_sibling_are_copied() {
    for (len, entries) in [(10_000, 1), (100, 1), (0, 0)] {
        let req = wire_len(Req::WIRE_LEN) as u64;
        let rsp = wire_len(Rsp::HEAD_LEN + entries * Entry::WIRE_LEN) as u64;
        let (copy, put) = cost_of(1, len, Mode::Synchronous);
        assert_eq!((copy, put), ((req + rsp + len) * 1_000, 0), "{len}");
        let (copy, _) = cost_of(2, len, Mode::Synchronous);
        assert_eq!(copy, 0, "{len}");
    }
}

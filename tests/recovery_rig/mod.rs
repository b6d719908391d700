//! Machines with the reliable layer on every node, and judges of what it does.
//!
//! Each receive buffer lies directly behind the one before. When a message is
//! told, its bytes are compared, and then overwritten with others: at the end
//! these must still be there. So a write that comes late, or beside its place,
//! is found.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::collections::HashMap;

use multipc::ddc::Revision;
use multipc::fabric::faults::{FaultEvent, Faults};
use multipc::fabric::labelling::{Labelling, Method};
use multipc::fabric::topology::Topology;
use multipc::fabric::{BoardConfig, End, Machine, MachineConfig};
use multipc::put::{Outcome, Policy, Put, PutConfig, RecoveryConfig, Reliable, Ticket};
use multipc::remote::{Flags, RemoteWrite, Transfer};
use multipc::time::{Duration, Instant};

/// Memory of a node.
pub const TABLES: u32 = 0x1000;
pub const CONTROL: u32 = 0x1_0000;
pub const SOURCE: u32 = 0x2_0000;
pub const TARGET: u32 = 0x8_0000;
const END: u32 = 0x10_0000;
const BOUNCE: u32 = END;
/// Between two rounds of polls.
pub const ROUND: Duration = Duration::from_us(5);
/// What received bytes are overwritten with.
const TAKEN: u8 = 0xEE;

pub fn recovery_config() -> RecoveryConfig {
    let mut config = RecoveryConfig::new(CONTROL);
    config.timeout = Duration::from_us(150);
    config.attempts = 8;
    config.restart_after = 3;
    config.stall = Duration::from_us(1_500);
    config.heartbeat = Some(Duration::from_us(3_000));
    config.settle = Duration::from_us(200);
    config.segment = 1_024;
    config
}

/// A transfer under way.
#[derive(Debug)]
struct Sent {
    ticket: Ticket,
    from: u16,
    to: u16,
    tag: u32,
    remote: u32,
    length: u32,
    told: bool,
    outcome: Option<Outcome>,
}

pub struct Rig {
    pub machine: Machine<'static>,
    pub layers: Vec<Reliable<16, 32, 32>>,
    sent: Vec<Sent>,
    /// The newest tag told, by sender and receiver.
    newest: HashMap<(u16, u16), u32>,
    by_tag: HashMap<(u16, u16, u32), usize>,
    source: Vec<u32>,
    target: Vec<u32>,
    tags: HashMap<(u16, u16), u32>,
    pub complaints: Vec<String>,
    remake: Vec<(PutConfig<'static>, Vec<u8>)>,
    recovery: RecoveryConfig,
}

pub struct Setup {
    pub policy: Policy,
    pub revision: Revision,
    pub board: BoardConfig,
    pub recovery: RecoveryConfig,
    pub change: fn(&mut PutConfig<'_>),
}

impl Setup {
    /// The silicon of a run, with the driver of that run.
    pub fn of(policy: Policy) -> Self {
        let mut setup = Self {
            policy,
            revision: match policy {
                Policy::Run1 => Revision::RUN_1,
                Policy::Run2 => Revision::RUN_2,
                _ => Revision::IDEAL,
            },
            ..Self::default()
        };
        setup.board.ddc.revision = setup.revision;
        if policy == Policy::Run1 {
            // A packet for each word: nine times as long on the way.
            setup.recovery.timeout = Duration::from_us(600);
            setup.recovery.stall = Duration::from_us(6_000);
            setup.recovery.segment = 256;
        }
        setup
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            policy: Policy::Ideal,
            revision: Revision::IDEAL,
            board: {
                let mut board = BoardConfig::default();
                board.memory_bytes = 0x11_1000;
                board
            },
            recovery: recovery_config(),
            change: |_| (),
        }
    }
}

impl Rig {
    pub fn new(topology: &Topology<'_>, setup: &Setup) -> Self {
        let labelling = Labelling::new(topology, Method::default()).unwrap();
        let config = MachineConfig::default();
        let mut machine = Machine::build(topology, &labelling, config, &setup.board).unwrap();
        let nodes = topology.generators().len() as u16;
        let mut started = Vec::new();
        let mut remake = Vec::new();
        for node in 0..nodes {
            let generator = labelling.generator_of(node).unwrap();
            let router = topology.generators()[usize::from(generator)].router;
            let table = labelling.table(router).emit();
            let settings = || {
                let mut settings = PutConfig::default();
                settings.node = node;
                settings.base = TABLES;
                settings.nodes = nodes;
                settings.entries = 32;
                settings.counters = 128;
                settings.model = multipc::put::Model::Polling;
                settings.policy = setup.policy;
                settings.capabilities = setup.revision.into();
                settings.bounce = Some(BOUNCE);
                (setup.change)(&mut settings);
                settings
            };
            let mut with_table = settings();
            with_table.table = Some(&table);
            let mut put = Put::new();
            put.begin(&mut machine.host(node).unwrap(), &with_table)
                .unwrap();
            remake.push((settings(), table.to_vec()));
            started.push(put);
        }
        machine.run_for(Duration::from_us(400));
        let mut layers = Vec::new();
        for (node, mut put) in (0..).zip(started) {
            put.settled(&mut machine.host(node).unwrap()).unwrap();
            let (settings, table) = &remake[usize::from(node)];
            let mut settings: PutConfig<'_> = *settings;
            settings.table = Some(table);
            let now = machine.now();
            layers.push(Reliable::new(put, &settings, setup.recovery, now).unwrap());
        }
        Self {
            machine,
            layers,
            sent: Vec::new(),
            newest: HashMap::new(),
            by_tag: HashMap::new(),
            source: vec![SOURCE; usize::from(nodes)],
            target: vec![TARGET; usize::from(nodes)],
            tags: HashMap::new(),
            complaints: Vec::new(),
            remake,
            recovery: setup.recovery,
        }
    }

    /// Makes the layer of a node anew on the same driver, as a program does
    /// that was started again.
    pub fn forget(&mut self, node: u16) {
        let now = self.now();
        let remake = &self.remake[usize::from(node)];
        let mut put = Put::new();
        let mut settings: PutConfig<'_> = remake.0;
        settings.table = Some(&remake.1);
        let mut host = self.machine.host(node).unwrap();
        put.begin(&mut host, &settings).unwrap();
        self.machine.run_for(Duration::from_us(400));
        put.settled(&mut self.machine.host(node).unwrap()).unwrap();
        let layer = Reliable::new(put, &settings, self.recovery, now).unwrap();
        self.layers[usize::from(node)] = layer;
    }

    pub fn nodes(&self) -> u16 {
        self.layers.len() as u16
    }

    pub fn inject(&mut self, events: &[FaultEvent]) {
        self.machine.set_faults(Faults::script(events)).unwrap();
    }

    /// Ends of the cables that are driven, both directions.
    pub fn ends(&self) -> Vec<End> {
        self.machine.cables().flatten().collect()
    }

    fn byte(from: u16, to: u16, tag: u32, at: u32) -> u8 {
        let mix = (u32::from(from) << 24 | u32::from(to) << 16) ^ tag.wrapping_mul(0x9E37_79B9);
        (mix ^ at.wrapping_mul(0x85EB_CA6B)).to_le_bytes()[2] ^ at as u8
    }

    /// Starts a message; false when the sender's queue is full.
    pub fn start(&mut self, from: u16, to: u16, length: u32) -> bool {
        let (local, remote) = (self.source[usize::from(from)], self.target[usize::from(to)]);
        assert!(
            local + length <= TARGET && remote + length <= END,
            "rig is full"
        );
        let tag = self.tags.get(&(from, to)).copied().unwrap_or(0) + 1;
        let bytes: Vec<u8> = (0..length)
            .map(|at| Self::byte(from, to, tag, at))
            .collect();
        let mut host = self.machine.host(from).unwrap();
        host.store(local, &bytes).unwrap();
        let transfer = Transfer {
            node: to,
            local: local.into(),
            remote: remote.into(),
            length: length.into(),
            flags: Flags {
                notify_receiver: true,
                tag,
            },
        };
        match self.layers[usize::from(from)].start(&mut host, transfer) {
            Ok(ticket) => {
                self.by_tag.insert((from, to, tag), self.sent.len());
                self.tags.insert((from, to), tag);
                self.source[usize::from(from)] += length;
                self.target[usize::from(to)] += length;
                self.sent.push(Sent {
                    ticket,
                    from,
                    to,
                    tag,
                    remote,
                    length,
                    told: false,
                    outcome: None,
                });
                true
            }
            Err(multipc::put::ReliableError::QueueFull { .. }) => false,
            Err(multipc::put::ReliableError::BoardLost { .. }) => {
                self.complaints.push(format!("board {from} lost"));
                false
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// One poll of a node.
    pub fn poll(&mut self, node: u16) {
        let layer = &mut self.layers[usize::from(node)];
        let mut host = self.machine.host(node).unwrap();
        layer.tick(host.now());
        if let Err(error) = layer.poll(&mut host) {
            self.complaints.push(format!("node {node}: {error}"));
        }
        while let Some((from, arrival)) = self.layers[usize::from(node)].arrival_from() {
            self.told(from, node, arrival.tag);
        }
    }

    fn told(&mut self, from: u16, to: u16, tag: u32) {
        let Some(index) = self.by_tag.get(&(from, to, tag)).copied() else {
            self.complaints
                .push(format!("{from} to {to}: tag {tag} was never sent"));
            return;
        };
        let newest = self.newest.entry((from, to)).or_default();
        if tag <= *newest {
            self.complaints
                .push(format!("{from} to {to}: tag {tag} told after {newest}"));
        }
        *newest = tag;
        let sent = &mut self.sent[index];
        sent.told = true;
        let mut got = vec![0; sent.length as usize];
        let mut host = self.machine.host(to).unwrap();
        host.load(sent.remote, &mut got).unwrap();
        let wrong = (0..)
            .zip(&got)
            .filter(|(at, byte)| **byte != Self::byte(from, to, tag, *at))
            .count();
        if wrong > 0 {
            self.complaints.push(format!(
                "{from} to {to}: {wrong} bytes of tag {tag} are wrong"
            ));
        }
        got.fill(TAKEN);
        host.store(sent.remote, &got).unwrap();
    }

    fn round(&mut self) {
        for node in 0..self.nodes() {
            self.poll(node);
        }
        self.machine.run_for(ROUND);
    }

    pub fn run_for(&mut self, time: Duration) {
        let end = self.machine.now() + time;
        while self.machine.now() < end {
            self.round();
        }
    }

    /// Polls everybody until nothing is in progress; false after `limit`.
    pub fn run(&mut self, limit: Duration) -> bool {
        let end = self.machine.now() + limit;
        while self.pending() > 0 {
            if self.machine.now() >= end {
                return false;
            }
            self.round();
        }
        true
    }

    pub fn pending(&self) -> usize {
        self.layers.iter().map(Reliable::pending).sum()
    }

    /// Collects what became of everything so far: delivered, failed.
    pub fn settle(&mut self) -> (usize, usize) {
        let mut counts = (0, 0);
        for sent in &mut self.sent {
            if sent.outcome.is_none() {
                let layer = &mut self.layers[usize::from(sent.from)];
                sent.outcome = layer.outcome(&sent.ticket).unwrap();
            }
            let Sent { from, to, tag, .. } = *sent;
            match sent.outcome {
                Some(Outcome::Delivered) => {
                    counts.0 += 1;
                    if !sent.told {
                        self.complaints
                            .push(format!("{from} to {to}: tag {tag} was not told"));
                    }
                }
                Some(_) => counts.1 += 1,
                None => self
                    .complaints
                    .push(format!("{from} to {to}: tag {tag} is pending")),
            }
        }
        counts
    }

    /// Nothing was written where a message had been told already.
    pub fn check_taken(&mut self) {
        for sent in self.sent.iter().filter(|sent| sent.told) {
            let mut bytes = vec![0; sent.length as usize];
            let host = self.machine.host(sent.to).unwrap();
            host.load(sent.remote, &mut bytes).unwrap();
            let wrong = bytes.iter().filter(|byte| **byte != TAKEN).count();
            if wrong > 0 {
                self.complaints.push(format!(
                    "{} to {}: {wrong} bytes of tag {} were written after it was told",
                    sent.from, sent.to, sent.tag
                ));
            }
        }
    }

    /// What the faults did and what the layers counted.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        if let Some(faults) = self.machine.faults() {
            for record in faults.records() {
                text += &format!("{record}\n");
            }
        }
        for (node, layer) in self.layers.iter().enumerate() {
            text += &format!(
                "node {node}: {:?} {:?}\n",
                layer.put().phase(),
                layer.stats()
            );
        }
        text
    }

    /// Everything was delivered or failed, nothing was told twice, late, wrong
    /// or out of order: delivered, failed.
    #[track_caller]
    pub fn verdict(&mut self) -> (usize, usize) {
        let counts = self.settle();
        self.check_taken();
        assert!(
            self.complaints.is_empty(),
            "{:#?}\n{}",
            self.complaints,
            self.explain()
        );
        counts
    }

    pub fn now(&self) -> Instant {
        self.machine.now()
    }
}

//! Whole machines for the system tests: booting them quickly, random traffic
//! as data, and what must hold of every run.
#![allow(dead_code)] // each test file uses a part

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::labelling::Labelling;
use multipc::fabric::topology::Topology;
use multipc::fabric::{Machine, Probe};
use multipc::put::{Control, Entry, Put, PutConfig};
use multipc::time::{Duration, Instant};

/// SplitMix64: the same numbers on every host.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// Where pages are read from; 64 KiB.
pub const SOURCE: u32 = 0x1_0000;
/// Where pages are written to; 128 KiB.
pub const TARGET: u32 = 0x2_0000;
pub const MEMORY: usize = 0x4_0000;

/// Small rings and tables, a protocol checker on every bus, and only as long a
/// start as the links need.
pub fn quick() -> ClusterConfig {
    let mut config = ClusterConfig::default();
    config.board.memory_bytes = MEMORY;
    config.board.check_bus = true;
    config.entries = 16;
    config.counters = 256;
    config.settle_us = 300;
    config
}

/// Fills the source area of every node with bytes of its own.
pub fn fill_sources<P: Probe>(cluster: &mut Cluster<P>, nodes: u16) {
    for node in 0..nodes {
        let bytes = Rng(u64::from(node) + 1).bytes((TARGET - SOURCE) as usize);
        cluster.store(node, SOURCE, &bytes).unwrap();
    }
}

/// No bus has seen a broken rule. The three rules about slow agents are
/// warnings, and count here too: our bridge and controller are fast.
pub fn assert_clean<P: Probe>(machine: &Machine<'_, P>) {
    for (index, node) in machine.nodes().iter().enumerate() {
        let checker = node.checker().expect("a checker on every bus");
        assert!(
            checker.cycles() > 0,
            "the checker of node {index} saw nothing"
        );
        assert_eq!(checker.violations(), &[], "node {index}");
        assert!(checker.is_clean(), "node {index}");
    }
}

/// The first time at which `done` holds; panics when it never does.
pub fn run_to<P: Probe>(
    machine: &mut Machine<'_, P>,
    what: &str,
    done: impl FnMut(&Machine<'_, P>) -> bool,
) -> Instant {
    let limit = Duration::from_us(100_000);
    let mut done = done;
    assert!(machine.run_while_not(limit, |m| done(m)), "{what}");
    machine.now()
}

/// What a driver of `node` needs to start again.
pub fn restart_config<'t>(
    node: u16,
    nodes: u16,
    table: &'t [u8],
    from: &ClusterConfig,
) -> PutConfig<'t> {
    let mut config = PutConfig::new(node, from.tables_at, table);
    config.nodes = nodes;
    config.entries = from.entries;
    config.counters = from.counters;
    config.model = from.model;
    config
}

/// The configuration chains of all nodes' routers, by node.
pub fn tables(topology: &Topology<'_>, config: &ClusterConfig) -> Vec<Vec<u8>> {
    let labelling = Labelling::new(topology, config.method).unwrap();
    (0..topology.generators().len() as u16)
        .map(|node| {
            let generator = labelling.generator_of(node).unwrap();
            let at = topology.generators()[usize::from(generator)];
            labelling.table(at.router).emit().to_vec()
        })
        .collect()
}

/// One thing that software does.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Post a page.
    Post { from: u16, entry: Entry },
    /// Look for events.
    Poll { node: u16 },
    /// Read a register.
    Read { node: u16, offset: u8 },
    /// Reset the controller behind the driver's back.
    SoftReset { node: u16 },
    /// Close the driver and start the board again.
    Restart { node: u16 },
    /// Nothing for a long time.
    Idle,
}

/// An act, and how long software waits before it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub gap: Duration,
    pub act: Act,
}

/// Which acts besides posting and polling a script has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mischief {
    None,
    Resets,
}

/// A random program of `len` steps for `nodes` nodes.
pub fn script(rng: &mut Rng, nodes: u16, len: usize, mischief: Mischief) -> Vec<Step> {
    (0..len)
        .map(|_| {
            let gap = match rng.below(8) {
                // Bursts: the next act follows at once.
                0..=3 => 0,
                4..=6 => rng.below(3_000_000),
                _ => rng.below(40_000_000),
            };
            Step {
                gap: Duration::from_ps(gap.into()),
                act: act(rng, nodes, mischief),
            }
        })
        .collect()
}

fn act(rng: &mut Rng, nodes: u16, mischief: Mischief) -> Act {
    let node = rng.below(nodes.into()) as u16;
    match rng.below(40) {
        0..=23 => Act::Post {
            from: node,
            entry: page(rng, node, nodes),
        },
        24..=31 => Act::Poll { node },
        32..=36 => {
            const READ: [u8; 8] = [0x00, 0x04, 0x40, 0x44, 0x4C, 0x54, 0x64, 0x68];
            let offset = READ[rng.below(8) as usize];
            Act::Read { node, offset }
        }
        37 if mischief == Mischief::Resets => Act::SoftReset { node },
        38 if mischief == Mischief::Resets => Act::Restart { node },
        _ => Act::Idle,
    }
}

fn page(rng: &mut Rng, from: u16, nodes: u16) -> Entry {
    let length = match rng.below(8) {
        0..=3 => 1 + rng.below(70),
        4..=6 => 1 + rng.below(1200),
        _ => 1 + rng.below(9000),
    };
    let mut to = rng.below(nodes.into()) as u16;
    if to == from {
        to = (to + 1) % nodes;
    }
    let last = Control::LMP;
    let flags = match rng.below(5) {
        0 => Control::default(),
        1 => last,
        2 => last.with(Control::NOS),
        3 => last.with(Control::LMI),
        _ => last
            .with(Control::NOS)
            .with(Control::LMI)
            .with(Control::NOR),
    };
    let local = SOURCE + rng.below(TARGET - SOURCE - length);
    let remote = TARGET + rng.below(MEMORY as u32 - TARGET - length);
    let mi = rng.below(256);
    if rng.below(12) == 0 {
        return Entry::short(to, mi, [local, remote], Control::NOS);
    }
    Entry::page(to, mi, local, remote, length, flags)
}

/// Carries one act out on a machine with running drivers; everything that
/// software sees of it goes to `seen`.
pub fn carry_out<P: Probe>(
    cluster: &mut Cluster<P>,
    act: Act,
    config: &ClusterConfig,
    tables: &[Vec<u8>],
    seen: &mut Vec<String>,
) {
    let nodes = tables.len() as u16;
    let (machine, writers) = cluster.parts();
    match act {
        Act::Post { from, entry } => {
            let put = writers[usize::from(from)].put_mut();
            let posted = put.add_entry(&mut machine.host(from).unwrap(), entry);
            seen.push(format!("post {posted:?}"));
        }
        Act::Poll { node } => {
            let put = writers[usize::from(node)].put_mut();
            let _ = put.settled(&mut machine.host(node).unwrap());
            let served = put.poll(&mut machine.host(node).unwrap(), 8, |event| {
                seen.push(format!("{event:?}"));
            });
            seen.push(format!("poll {served:?}"));
        }
        Act::Read { node, offset } => {
            let value = machine.host(node).unwrap().read_register(offset);
            seen.push(format!("read {value:?}"));
        }
        Act::SoftReset { node } => {
            let written = machine.host(node).unwrap().write_register(0x48, 0x8000);
            seen.push(format!("reset {written:?}"));
        }
        Act::Restart { node } => {
            let put: &mut Put = writers[usize::from(node)].put_mut();
            put.end();
            let table = &tables[usize::from(node)];
            let settings = restart_config(node, nodes, table, config);
            let started = put.begin(&mut machine.host(node).unwrap(), &settings);
            seen.push(format!("restart {started:?}"));
        }
        Act::Idle => {}
    }
    seen.push(format!("at {}", machine.now().ps()));
}

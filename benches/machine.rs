//! Link cycles of whole machines per second of host time: two boards that
//! stream, eight boards on one router, 64 boards in a mesh.
//!
//! Pages are posted as a driver does it: descriptors into memory, then
//! LPE_NEW by a configuration write, all in simulated time. Traffic, and with
//! it the check sum of what lies in memory at the end, is the same each time.
//! Nothing may be allocated while a machine runs: each run asserts it.
//!
//! `cargo bench --features alloc --bench machine`; behind `--` a number divides
//! the simulated time (callgrind is content with 50), and a part of a name
//! selects cases.

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::ddc::Ddc;
use multipc::ddc::lme::{Control, Descriptor, Ring};
use multipc::ddc::registers::{LpeBase, LpeCurrent, LpeMax, LpeNew};
use multipc::fabric::labelling::Method;
use multipc::fabric::topology::{Grid, Topology};
use multipc::fabric::{Channel, Machine, Node, Router, Wire};
use multipc::pci::HostBridge;
use multipc::rcube::Rcube;
use multipc::time::{Duration, Instant};

mod common;

use common::{Fnv, Random, Stopwatch};

/// Pages are read from here on, and written from there on.
const SOURCE: u32 = 0x8_0000;
const SOURCE_BYTES: u32 = 0x2_0000;
const TARGET: u32 = 0xA_0000;
const TARGET_BYTES: u32 = 0x2_0000;
/// Symbols of a packet beside its data: four words of header, three of tail.
const PACKET_SYMBOLS: u32 = 28;
/// Between two looks of the posting software.
const QUANTUM: Duration = Duration::from_us(20);
/// Runs of equal simulated time; the fastest counts, the others were disturbed.
const WINDOWS: u32 = 5;

/// Who sends to whom, and how much.
#[derive(Clone, Copy)]
enum Traffic {
    /// Node 0 to node 1 as fast as it goes.
    OneWay,
    /// Both ways as fast as it goes.
    BothWays,
    /// Everybody to everybody else; each page to a random node. Injected
    /// symbols a link cycle and node, in percent.
    Uniform { percent: u64 },
}

/// The software of one node that posts pages.
struct Poster {
    node: u16,
    ring: Ring,
    new: u32,
    random: Random,
    /// Pages that are due but not posted.
    due: u64,
    offered: u64,
    /// Up to when pages have been drawn.
    drawn: Instant,
}

impl Poster {
    fn new(machine: &Machine<'static>, node: u16) -> Self {
        let ddc = machine.nodes()[usize::from(node)].ddc();
        Self {
            node,
            ring: Ring {
                base: ddc.register(LpeBase::OFFSET),
                max: ddc.register(LpeMax::OFFSET),
            },
            new: ddc.register(LpeNew::OFFSET),
            random: Random(0x9E37_79B9_7F4A_7C15 ^ u64::from(node) << 32),
            due: 0,
            offered: 0,
            drawn: machine.now(),
        }
    }

    /// What the software of this node wants to have sent by now.
    fn draw(&mut self, now: Instant, traffic: Traffic, bytes: u32) {
        let elapsed = now - self.drawn;
        self.drawn = now;
        let Traffic::Uniform { percent } = traffic else {
            self.due = 64;
            return;
        };
        // Whole pages, and one more with the chance that is left.
        let symbols = u64::from(bytes + PACKET_SYMBOLS);
        let millionths = elapsed.ps() * 66 / 100 * percent / symbols;
        let more = self.random.below(1_000_000) < millionths % 1_000_000;
        let pages = millionths / 1_000_000 + u64::from(more);
        self.due += pages;
        self.offered += pages;
    }

    /// Descriptors that the controller has not read yet.
    fn waiting(&self, ddc: &Ddc) -> u32 {
        let current = ddc.register(LpeCurrent::OFFSET);
        let entries = (self.ring.max - self.ring.base) / 16 + 1;
        (self.new.wrapping_sub(current) / 16).wrapping_add(entries) % entries
    }

    /// Posts what is due, as far as `ahead` descriptors may wait.
    fn post(&mut self, machine: &mut Machine<'static>, traffic: Traffic, bytes: u32, ahead: u32) {
        let nodes = machine.nodes().len() as u64;
        let waiting = self.waiting(machine.nodes()[usize::from(self.node)].ddc());
        let pages = self.due.min(ahead.saturating_sub(waiting).into());
        if pages == 0 {
            return;
        }
        let mut host = machine.host(self.node).unwrap();
        for _ in 0..pages {
            let other = match traffic {
                Traffic::OneWay | Traffic::BothWays => 1 - self.node,
                Traffic::Uniform { .. } => {
                    let other = self.random.below(nodes - 1) as u16;
                    other + u16::from(other >= self.node)
                }
            };
            let offset = 4 * self.random.below(u64::from(SOURCE_BYTES - bytes) / 4) as u32;
            let slots = u64::from(TARGET_BYTES / bytes);
            let slot = self.random.below(slots) as u32;
            let descriptor = Descriptor {
                page_length: bytes as u16,
                routing_part: other,
                control: Control::LMP,
                prsa: TARGET + slot * bytes,
                plsa: SOURCE + offset,
            };
            host.store(self.new, &descriptor.emit()).unwrap();
            self.new = self.ring.next(self.new);
        }
        host.write_register(LpeNew::OFFSET, self.new).unwrap();
        self.due -= pages;
    }
}

struct Case {
    name: &'static str,
    topology: Topology<'static>,
    method: Method,
    traffic: Traffic,
    page: u32,
    window: Duration,
}

/// Bytes written to the memories over the buses.
fn delivered(machine: &Machine<'static>) -> u64 {
    let words = machine
        .nodes()
        .iter()
        .map(|n| n.bridge().stats().words_written);
    4 * words.sum::<u64>()
}

fn run(case: &Case, shorter: u64) {
    let mut config = ClusterConfig::default();
    config.method = case.method;
    let mut cluster = Cluster::boot(&case.topology, &config).unwrap();
    let nodes = case.topology.generators().len() as u16;
    let mut random = Random(1);
    let mut source = vec![0; SOURCE_BYTES as usize];
    for node in 0..nodes {
        source.fill_with(|| random.below(256) as u8);
        cluster.store(node, SOURCE, &source).unwrap();
    }
    let (machine, _) = cluster.parts();
    let senders = if matches!(case.traffic, Traffic::OneWay) {
        1
    } else {
        nodes
    };
    let mut posters: Vec<Poster> = (0..senders)
        .map(|node| Poster::new(machine, node))
        .collect();

    let window = Duration::from_ps(case.window.ps() / shorter);
    let (mut best, mut cycles, mut bytes, mut seconds) = (0f64, 0, 0, 0f64);
    // The first window fills the machine.
    for round in 0..=WINDOWS {
        let (cycle, before) = (machine.link_cycle(), delivered(machine));
        let watch = Stopwatch::start();
        let allocations = allocation_counter::measure(|| {
            stream(machine, &mut posters, case, window);
        });
        let time = watch.seconds();
        assert_eq!(allocations.count_total, 0, "allocations while running");
        if round > 0 {
            cycles += machine.link_cycle() - cycle;
            bytes += delivered(machine) - before;
            seconds += time;
            best = best.max((machine.link_cycle() - cycle) as f64 / time);
        } else {
            posters.iter_mut().for_each(|poster| poster.offered = 0);
        }
    }

    let mut sum = Fnv::NEW;
    for node in machine.nodes() {
        sum.add_bytes(node.memory().slice(TARGET, TARGET_BYTES as usize).unwrap());
    }
    let symbols = f64::from(case.page + PACKET_SYMBOLS);
    let per_cycle = symbols / cycles as f64 / f64::from(senders);
    let offered = posters.iter().map(|p| p.offered).sum::<u64>() as f64 * per_cycle;
    let accepted = bytes as f64 / f64::from(case.page) * per_cycle;
    let offered = match case.traffic {
        Traffic::Uniform { .. } => format!("{offered:.3}"),
        _ => "all".into(),
    };
    println!(
        "{:<36} {:7.3} M link cycles/s (mean {:6.3})  {:8} bytes in {} cycles  offered {offered} accepted {accepted:.3}  checksum {:016x}",
        case.name,
        best / 1e6,
        cycles as f64 / seconds / 1e6,
        bytes,
        cycles,
        sum.0,
    );
}

fn stream(machine: &mut Machine<'static>, posters: &mut [Poster], case: &Case, window: Duration) {
    let end: Instant = machine.now() + window;
    while machine.now() < end {
        let look = machine.now() + QUANTUM;
        for poster in posters.iter_mut() {
            poster.draw(machine.now(), case.traffic, case.page);
            poster.post(machine, case.traffic, case.page, 32);
        }
        machine.run_until(look);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let shorter = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(1);
    let wanted = |name: &str| {
        let mut words = args
            .iter()
            .filter(|arg| !arg.starts_with('-') && arg.parse::<u64>().is_err())
            .peekable();
        words.peek().is_none() || words.any(|word| name.contains(word.as_str()))
    };
    let grid = Grid::mesh(&[8, 8]).unwrap();
    let pair = || Topology::pair().unwrap();
    let mesh = || Topology::mesh(&[8, 8]).unwrap();
    let case = |name, topology, method, traffic, page, us| Case {
        name,
        topology,
        method,
        traffic,
        page,
        window: Duration::from_us(us),
    };
    let (auto, xy) = (Method::Auto, Method::DimensionOrder(grid));
    let uniform = |percent| Traffic::Uniform { percent };
    println!("whole machines, 66 MHz link, 33.33 MHz PCI, best of {WINDOWS} windows");
    for case in [
        case(
            "2 boards, one way, 4096-byte pages",
            pair(),
            auto,
            Traffic::OneWay,
            4096,
            10_000,
        ),
        case(
            "2 boards, one way, 64-byte pages",
            pair(),
            auto,
            Traffic::OneWay,
            64,
            10_000,
        ),
        case(
            "2 boards, both ways, 4096-byte pages",
            pair(),
            auto,
            Traffic::BothWays,
            4096,
            10_000,
        ),
        case(
            "8 boards on a router, 10 % load",
            Topology::star(8).unwrap(),
            auto,
            uniform(10),
            512,
            4_000,
        ),
        case(
            "8 boards on a router, 60 % load",
            Topology::star(8).unwrap(),
            auto,
            uniform(60),
            512,
            4_000,
        ),
        case(
            "64 boards, 8x8 mesh, 10 % load",
            mesh(),
            xy,
            uniform(10),
            512,
            400,
        ),
        case(
            "64 boards, 8x8 mesh, 60 % load",
            mesh(),
            xy,
            uniform(60),
            512,
            400,
        ),
    ] {
        if wanted(case.name) {
            run(&case, shorter);
        }
    }
    println!(
        "bytes of state: Rcube {}, Ddc {}, HostBridge {}, Node {} (without host memory), Router {}, Channel {}, Wire {}",
        size_of::<Rcube>(),
        size_of::<Ddc>(),
        size_of::<HostBridge>(),
        size_of::<Node<'_>>(),
        size_of::<Router>(),
        size_of::<Channel>(),
        size_of::<Wire>(),
    );
}

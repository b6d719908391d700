//! Leaving idle edges out gives the same run as stepping each of them: state,
//! clocks, counters, what software sees and what probes see.
#![cfg(feature = "alloc")]

mod common;
mod machine_rig;

use common::cases;
use machine_rig::{Mischief, Rng, assert_clean, carry_out, fill_sources, quick, script, tables};
use multipc::cluster::{Cluster, ClusterConfig};
use multipc::ddc::registers::REGISTERS;
use multipc::fabric::topology::{Cable, PortId, Topology, TopologyBuilder};
use multipc::fabric::{Domain, Edge, Machine, Parts, Probe};
use multipc::hsl::Line;
use multipc::time::{Duration, Instant};

/// One change of a group of pins.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    domain: Domain,
    cycle: u64,
    ps: u64,
    pins: (&'static str, usize),
    hash: u64,
}

/// Every change of any pin or register.
#[derive(Clone, Debug, Default)]
struct Changes {
    list: Vec<Change>,
    last: Vec<u64>,
    edges: u64,
}

/// FNV-1a over words: the pins of nine boards are hashed at every edge.
fn hash_of(words: impl IntoIterator<Item = u32>) -> u64 {
    words.into_iter().fold(0xCBF2_9CE4_8422_2325, |hash, word| {
        (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01B3)
    })
}

/// Levels as the bits of a word.
fn word(levels: &[bool]) -> u32 {
    levels.iter().fold(0, |word, &l| word << 1 | u32::from(l))
}

fn bits(lines: &[Line; 8]) -> [u32; 8] {
    lines.map(|line| line.bits().into())
}

impl Probe for Changes {
    fn after_edge(&mut self, edge: Edge, parts: Parts<'_, '_>) {
        self.edges += 1;
        let mut now = Vec::new();
        for (index, node) in parts.nodes.iter().enumerate() {
            let (bus, ddc) = (node.bus(), node.ddc());
            let outputs = ddc.pci_outputs();
            let lines = [bus.frame_n, bus.irdy_n, bus.trdy_n, bus.devsel_n];
            let more = [bus.stop_n, bus.par, bus.perr_n, bus.serr_n];
            let levels = [word(&lines), word(&more)];
            let address = [bus.ad, bus.cbe_n.into()];
            now.push((("bus", index), hash_of(levels.into_iter().chain(address))));
            let own = [outputs.req_n, outputs.inta_n, outputs.r3_init];
            let granted = word(&[node.bridge().ddc_gnt_n()]);
            let dout = outputs.r3_dout.map_or(256, u32::from);
            now.push((("controller", index), hash_of([word(&own), granted, dout])));
            let registers = REGISTERS.iter().map(|r| ddc.register(r.offset));
            now.push((("registers", index), hash_of(registers)));
            let tx = ddc.link_output().bits().into();
            now.push((("parallel port", index), hash_of([tx])));
        }
        for (index, router) in parts.routers.iter().enumerate() {
            let chip = router.chip();
            now.push((("router inputs", index), hash_of(bits(router.inputs()))));
            now.push((("router outputs", index), hash_of(bits(chip.outputs()))));
            let status = chip.link_status().into();
            now.push((("link status", index), hash_of([status])));
        }
        self.last.resize(now.len(), 0);
        for ((pins, hash), last) in now.into_iter().zip(&mut self.last) {
            if hash != *last {
                *last = hash;
                self.list.push(Change {
                    domain: edge.domain,
                    cycle: edge.cycle,
                    ps: edge.at.ps(),
                    pins,
                    hash,
                });
            }
        }
    }
}

/// How time is made to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// `run_until` with idle skipping.
    Skip,
    /// `run_until` without.
    Run,
    /// `step`, edge by edge.
    Step,
    /// One or the other, by chance, with skipping.
    Mixed,
}

const WAYS: [Way; 4] = [Way::Skip, Way::Run, Way::Step, Way::Mixed];

impl Way {
    fn config(self, config: &ClusterConfig) -> ClusterConfig {
        let mut config = config.clone();
        config.machine.skip_idle = matches!(self, Way::Skip | Way::Mixed);
        config
    }

    fn pass(self, machine: &mut Machine<'static, Changes>, end: Instant, dice: u64) {
        let part = end.since(machine.now()).ps() / 2;
        match self {
            Way::Skip | Way::Run => {}
            Way::Step => step_to(machine, end),
            Way::Mixed if dice.is_multiple_of(3) => step_to(machine, end),
            Way::Mixed if dice % 3 == 1 => {
                let half = machine.now() + Duration::from_ps(part);
                step_to(machine, half);
            }
            Way::Mixed => machine.run_for(Duration::from_ps(part)),
        }
        machine.run_until(end);
    }
}

/// Steps every edge up to and including `end`.
fn step_to(machine: &mut Machine<'static, Changes>, end: Instant) {
    let [link, pci] = machine.clocks();
    loop {
        let next_link = link.edge(machine.link_cycle() + 1);
        let next_pci = pci.edge(machine.pci_cycle() + 1);
        if next_link.min(next_pci) > end {
            return;
        }
        machine.step();
    }
}

fn all_ways_agree(topology: &Topology<'_>, seed: u64, steps: usize, mischief: Mischief) {
    let nodes = topology.generators().len() as u16;
    let config = quick();
    let tables = tables(topology, &config);
    let mut runs: Vec<(Way, Cluster<Changes>, Vec<String>)> = WAYS
        .into_iter()
        .map(|way| {
            let config = way.config(&config);
            let mut cluster =
                Cluster::boot_with_probe(topology, &config, Changes::default()).unwrap();
            fill_sources(&mut cluster, nodes);
            (way, cluster, Vec::new())
        })
        .collect();
    compare(&mut runs, seed, 0);
    let mut rng = Rng(seed);
    let program = script(&mut rng, nodes, steps, mischief);
    for (at, step) in program.iter().enumerate() {
        let dice = rng.next();
        for (way, cluster, seen) in &mut runs {
            let machine = cluster.parts().0;
            let end = machine.now() + step.gap;
            way.pass(machine, end, dice);
            carry_out(cluster, step.act, &config, &tables, seen);
        }
        if at % 5 == 4 {
            compare(&mut runs, seed, at);
        }
    }
    // The end of everything under way, and a long silence.
    for (way, cluster, _) in &mut runs {
        let machine = cluster.parts().0;
        let end = machine.now() + Duration::from_us(700);
        way.pass(machine, end, 2);
    }
    compare(&mut runs, seed, steps);
    for (_, cluster, _) in &runs {
        assert_clean(cluster.machine());
    }
    // Skipping did leave edges out, and the others none.
    let edges = |i: usize| runs[i].1.machine().probe().edges;
    let machine = runs[0].1.machine();
    assert_eq!(edges(1), machine.link_cycle() + machine.pci_cycle());
    assert_eq!(edges(2), edges(1));
    assert!(edges(0) < edges(1), "{} of {}", edges(0), edges(1));
}

/// Compares all runs; changes that were compared are forgotten.
fn compare(runs: &mut [(Way, Cluster<Changes>, Vec<String>)], seed: u64, at: usize) {
    let (_, first, first_seen) = &runs[0];
    for (way, other, seen) in &runs[1..] {
        let name = format!("{way:?}, seed {seed}, step {at}");
        assert_eq!(first_seen, seen, "{name}");
        assert_eq!(first.boot_report(), other.boot_report(), "{name}");
        let (a, b) = (first.machine(), other.machine());
        assert_eq!(a.now(), b.now(), "{name}");
        assert_eq!(a.link_cycle(), b.link_cycle(), "{name}");
        assert_eq!(a.pci_cycle(), b.pci_cycle(), "{name}");
        assert_eq!(a.difference(b), None, "{name}");
        for (index, (a, b)) in a.routers().iter().zip(b.routers()).enumerate() {
            assert_eq!(a.chip().stats(), b.chip().stats(), "{name}, router {index}");
            for port in 0..8 {
                let cycles = a.chip().port_stats(port);
                assert_eq!(cycles, b.chip().port_stats(port), "{name}, {index}.{port}");
            }
        }
        for (index, (a, b)) in a.nodes().iter().zip(b.nodes()).enumerate() {
            let (a, b) = (a.bridge().stats(), b.bridge().stats());
            assert_eq!(a, b, "{name}, bridge {index}");
            assert_eq!(a.busy + a.idle, a.cycles, "{name}, bridge {index}");
        }
        let (a, b) = (&a.probe().list, &b.probe().list);
        if let Some(i) = a.iter().zip(b).position(|(a, b)| a != b) {
            panic!("{name}: change {i} is\n{:?} or\n{:?}", a[i], b[i]);
        }
        assert_eq!(a.len(), b.len(), "{name}");
    }
    for (_, cluster, seen) in runs {
        cluster.parts().0.probe_mut().list.clear();
        seen.clear();
    }
}

#[test]
fn two_boards_run_alike_in_every_way() {
    let pair = Topology::pair().unwrap();
    for seed in 0..u64::from(cases(4)) {
        all_ways_agree(&pair, seed, 150, Mischief::Resets);
    }
}

#[test]
fn two_boards_under_steady_traffic_run_alike_in_every_way() {
    let pair = Topology::pair().unwrap();
    for seed in 50..50 + u64::from(cases(3)) {
        all_ways_agree(&pair, seed, 200, Mischief::None);
    }
}

#[test]
fn long_cables_run_alike_in_every_way() {
    // 2, 24 and 63 link cycles from pin to pin; the last is the longest.
    for (ns, seed) in [20, 350, 950].into_iter().zip(80..) {
        let mut builder = TopologyBuilder::new();
        let boards = [builder.board(), builder.board(), builder.board()];
        for [a, b] in [[0, 1], [1, 2]] {
            let cable = Cable::new(PortId::new(boards[a], 2), PortId::new(boards[b], 1));
            builder.cable(cable.with_delay(Duration::from_ns(ns)));
        }
        let line = builder.build().unwrap();
        for more in 0..u64::from(cases(1)) {
            all_ways_agree(&line, seed + 1000 * more, 120, Mischief::Resets);
        }
    }
}

#[test]
fn rings_run_alike_in_every_way() {
    for (boards, seed) in [3, 4, 9].into_iter().zip(100..) {
        let ring = Topology::ring(boards).unwrap();
        for more in 0..u64::from(cases(1)) {
            all_ways_agree(&ring, seed + 1000 * more, 90, Mischief::Resets);
        }
    }
}

#[test]
fn meshes_run_alike_in_every_way() {
    for (lengths, seed) in [&[2, 2][..], &[3, 3]].into_iter().zip(200..) {
        let mesh = Topology::mesh(lengths).unwrap();
        for more in 0..u64::from(cases(1)) {
            all_ways_agree(&mesh, seed + 1000 * more, 90, Mischief::Resets);
        }
    }
}

#[test]
fn stars_run_alike_in_every_way() {
    for (nodes, seed) in [2, 8].into_iter().zip(300..) {
        let star = Topology::star(nodes).unwrap();
        for more in 0..u64::from(cases(1)) {
            all_ways_agree(&star, seed + 1000 * more, 90, Mischief::Resets);
        }
    }
}

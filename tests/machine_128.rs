//! The machine of 128 processors: it boots, and everyone reaches everyone.
//!
//! Its shape is not on record; hw/doc/topology.md, "The machine of 128", has
//! the two readings of "at most 7 hops".
#![cfg(feature = "alloc")]

mod machine_rig;

use machine_rig::{Rng, assert_clean, run_to};
use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::labelling::{Labelling, Method};
use multipc::fabric::topology::{Grid, Topology};
use multipc::put::{Control, Entry, Event};

const NODES: u16 = 128;
/// What a node sends, 64 bytes for each receiver.
const SOURCE: u32 = 0x4000;
/// Where a node receives, 64 bytes for each sender.
const TARGET: u32 = 0x8000;
const SLOT: u32 = 64;
const LMI_NEW: u8 = 0x68;

fn config(method: Method) -> ClusterConfig {
    let mut config = ClusterConfig::default();
    config.method = method;
    config.board.memory_bytes = 0xC000;
    config.board.check_bus = true;
    // 127 usable entries: one for each other node.
    config.entries = 128;
    config.counters = 0;
    config.settle_us = 300;
    config
}

/// The page from one node to another: offset of its first byte in both slots,
/// and length, so that it ends inside them.
fn page(from: u16, to: u16) -> (u32, u32, u32) {
    let mut rng = Rng(u64::from(from) << 16 | u64::from(to));
    let length = 1 + rng.below(40);
    let [local, remote] = [(); 2].map(|()| rng.below(SLOT - length + 1));
    (local, remote, length)
}

fn slot(base: u32, node: u16) -> u32 {
    base + SLOT * u32::from(node)
}

/// All 16,256 pages at once: every node posts one for every other node in one
/// go, under its own number as message identifier.
fn everyone_reaches_everyone(topology: &Topology<'_>, config: &ClusterConfig) {
    let mut cluster = Cluster::boot(topology, config).unwrap();
    let sources: Vec<Vec<u8>> = (0..NODES)
        .map(|node| Rng(u64::from(node)).bytes((SLOT * u32::from(NODES)) as usize))
        .collect();
    for (node, source) in (0..NODES).zip(&sources) {
        cluster.store(node, SOURCE, source).unwrap();
    }
    let (machine, writers) = cluster.parts();
    for from in 0..NODES {
        let flags = Control::LMP.with(Control::LMI);
        // Not all to the same receiver first.
        let entries: Vec<Entry> = (1..NODES)
            .map(|distance| {
                let to = (from + distance) % NODES;
                let (local, remote, length) = page(from, to);
                let (local, remote) = (slot(SOURCE, to) + local, slot(TARGET, from) + remote);
                Entry::page(to, from.into(), local, remote, length, flags)
            })
            .collect();
        let put = writers[usize::from(from)].put_mut();
        put.add_message(&mut machine.host(from).unwrap(), &entries)
            .unwrap();
    }
    // LMI_NEW goes from the first entry to the last: full, and not over.
    let first: Vec<u32> = machine
        .nodes()
        .iter()
        .map(|n| n.ddc().register(0x6C))
        .collect();
    run_to(machine, "not everything arrived", |machine| {
        let nodes = machine.nodes().iter().zip(&first);
        nodes
            .into_iter()
            .all(|(node, first)| node.ddc().register(LMI_NEW) == first + 127 * 16)
    });
    let mut delivered = 0;
    for to in 0..NODES {
        let mut senders = Vec::new();
        let put = writers[usize::from(to)].put_mut();
        let mut host = machine.host(to).unwrap();
        put.poll(&mut host, 200, |event| match event {
            Event::Received { mi, .. } => senders.push(mi as u16),
            other => panic!("node {to}: {other:?}"),
        })
        .unwrap();
        senders.sort_unstable();
        let others: Vec<u16> = (0..NODES).filter(|&node| node != to).collect();
        assert_eq!(senders, others, "node {to}");
        let mut expected = vec![0; (SLOT * u32::from(NODES)) as usize];
        for &from in &others {
            let (local, remote, length) = page(from, to);
            let source = &sources[usize::from(from)];
            let (local, remote) = (
                (slot(0, to) + local) as usize,
                (slot(0, from) + remote) as usize,
            );
            let length = length as usize;
            expected[remote..remote + length].copy_from_slice(&source[local..local + length]);
            delivered += 1;
        }
        let mut found = vec![0; expected.len()];
        host.load(TARGET, &mut found).unwrap();
        let wrong = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(wrong.map(|at| at as u32 / SLOT), None, "node {to}, sender");
    }
    assert_eq!(delivered, 16_256);
    assert_clean(machine);
}

#[test]
fn the_hypercube_delivers_from_everyone_to_everyone() {
    let topology = Topology::machine_128().unwrap();
    let method = Method::DimensionOrder(Grid::machine_128().unwrap());
    everyone_reaches_everyone(&topology, &config(method));
}

#[test]
fn the_tree_delivers_from_everyone_to_everyone() {
    let topology = Topology::tree(128, 7).unwrap();
    everyone_reaches_everyone(&topology, &config(Method::Tree));
}

#[test]
fn the_hypercube_needs_at_most_7_cables() {
    let topology = Topology::machine_128().unwrap();
    let method = Method::DimensionOrder(Grid::machine_128().unwrap());
    let labelling = Labelling::new(&topology, method).unwrap();
    for from in 0..NODES {
        for to in 0..NODES {
            let route = labelling.route(&topology, from, to).unwrap();
            // As many as there are bits in which the numbers differ.
            assert_eq!(route.cables(), (from ^ to).count_ones(), "{from} to {to}");
        }
    }
    assert_eq!(labelling.survey(&topology).longest_cables(), 7);
}

#[test]
fn the_tree_needs_at_most_7_routers() {
    let topology = Topology::tree(128, 7).unwrap();
    let labelling = Labelling::new(&topology, Method::Tree).unwrap();
    let survey = labelling.survey(&topology);
    assert!(survey.complete());
    assert!(survey.longest_cables() <= 6, "{}", survey.longest_cables());
}

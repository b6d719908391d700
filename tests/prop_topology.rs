//! Which machines the labellings serve.
#![cfg(feature = "alloc")]

use multipc::fabric::labelling::{Labelling, Method, Warning};
use multipc::fabric::topology::{Grid, PortId, Topology, TopologyBuilder, walk};
use proptest::prelude::*;

/// Routers with up to 7 cables each, connected; `boards` picks who has one.
fn random_machine(
    routers: usize,
    extra: usize,
    every_router_a_board: bool,
) -> impl Strategy<Value = Topology<'static>> {
    let picks = prop::collection::vec(any::<(u16, u16)>(), routers - 1 + extra);
    let boards = prop::collection::vec(any::<bool>(), routers);
    (picks, boards).prop_map(move |(picks, boards)| {
        let mut builder = TopologyBuilder::new();
        let mut free = vec![1u8; routers];
        for (i, &board) in boards.iter().enumerate() {
            if every_router_a_board || board || i == routers - 1 {
                builder.board();
            } else {
                builder.router();
            }
        }
        for (k, &(x, y)) in picks.iter().enumerate() {
            // First a spanning tree, then anything.
            let (a, b) = if k + 1 < routers {
                (k + 1, usize::from(x) % (k + 1))
            } else {
                (usize::from(x) % routers, usize::from(y) % routers)
            };
            // A tree link to a full router goes to the nearest with a port.
            let b = if k + 1 < routers {
                (0..=b).rev().chain(b..k + 1).find(|&b| free[b] < 8).unwrap()
            } else {
                b
            };
            if a != b && free[a] < 8 && free[b] < 8 {
                builder.connect(PortId::new(a as u16, free[a]), PortId::new(b as u16, free[b]));
                free[a] += 1;
                free[b] += 1;
            }
        }
        builder.build().unwrap()
    })
}

/// A cycle of channels (router outputs) in which each is waited for by packets
/// that hold the one before.
fn waits_in_a_ring(topology: &Topology, labels: &Labelling) -> bool {
    let channels = usize::from(topology.routers()) * 8;
    let mut after = vec![std::collections::BTreeSet::new(); channels];
    for to in 0..topology.generators().len() as u16 {
        for from in 0..topology.generators().len() as u16 {
            let mut held = None;
            for hop in walk(topology, labels, from, labels.node_of(to).unwrap()) {
                let Ok(hop) = hop else { break };
                let channel = usize::from(hop.router) * 8 + usize::from(hop.output);
                if let Some(held) = held.replace(channel) {
                    after[held as usize].insert(channel);
                }
            }
        }
    }
    // Take away channels that nothing waits behind, until none or a cycle is left.
    let mut incoming = vec![0; channels];
    after.iter().flatten().for_each(|&c| incoming[c] += 1);
    let mut ready: Vec<_> = (0..channels).filter(|&c| incoming[c] == 0).collect();
    let mut taken = 0;
    while let Some(c) = ready.pop() {
        taken += 1;
        for &next in &after[c] {
            incoming[next] -= 1;
            if incoming[next] == 0 {
                ready.push(next);
            }
        }
    }
    taken < channels
}

#[test]
fn explore() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for all in [true, false] {
        let (mut served, mut cyc, mut total) = (0, 0, 0);
        for _ in 0..1000 {
            let (n, e) = ((2usize..20), (0usize..20)).new_tree(&mut runner).unwrap().current();
            let t = random_machine(n, e, all).new_tree(&mut runner).unwrap().current();
            let l = Labelling::ir(&t).unwrap();
            let s = l.survey(&t);
            total += 1;
            if s.complete() {
                served += 1;
                if waits_in_a_ring(&t, &l) { cyc += 1; }
            } else if total < 300 && n < 9 {
                println!("{s}: {t:?}");
                for w in l.warnings(&t) { println!("   {w}"); }
            }
            let l = Labelling::tree(&t).unwrap();
            assert!(l.survey(&t).complete() , "{}", l.survey(&t));
            assert!(!waits_in_a_ring(&t, &l));
        }
        println!("all boards {all}: served {served} of {total}, cyclic {cyc}");
    }
    for (name, t) in [
        ("ring4", Topology::ring(4)), ("ring5", Topology::ring(5)), ("ring16", Topology::ring(16)),
        ("mesh 3x3", Topology::mesh(&[3,3])), ("mesh 4x4", Topology::mesh(&[4,4])), ("mesh 8x8", Topology::mesh(&[8,8])),
        ("torus 4x4", Topology::torus(&[4,4])), ("torus 8x8", Topology::torus(&[8,8])), ("torus444", Topology::torus(&[4,4,4])), ("mesh 444", Topology::mesh(&[4,4,4])),
        ("cube3", Topology::hypercube(3)), ("cube4", Topology::hypercube(4)), ("128", Topology::machine_128()), ("tree128", Topology::tree(128, 7)), ("star", Topology::star(8)),
        ("mesh 32x32", Topology::mesh(&[32,32])),
    ] {
        let t = t.unwrap();
        let t0 = std::time::Instant::now();
        for m in [Method::Ir, Method::Tree] {
            let l = Labelling::new(&t, m).unwrap();
            let t1 = t0.elapsed();
            let s = l.survey(&t);
            let t2 = t0.elapsed();
            println!("{name} {m:?}: {s} mean {:.2} ring {} {t1:?} {t2:?}", s.total as f64 / s.delivered as f64, t.routers() < 200 && waits_in_a_ring(&t, &l));
        }
    }
}

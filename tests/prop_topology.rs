//! Which machines the labellings serve.
#![cfg(feature = "alloc")]

use std::collections::BTreeSet;

use multipc::fabric::labelling::{Intervals, Labelling, Method, Warning};
use multipc::fabric::topology::{
    Grid, PortId, RouteError, Routes, Topology, TopologyBuilder, follow, walk,
};
use multipc::rcube::RoutingTable;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Routers with up to 7 cables each, connected; `boards` picks who has one.
fn machine(every_router_a_board: bool) -> impl Strategy<Value = Topology<'static>> {
    (2usize..16, 0usize..20)
        .prop_flat_map(move |(n, extra)| machine_of(n, extra, every_router_a_board))
}

fn machine_of(
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
                (0..=b)
                    .rev()
                    .chain(b..k + 1)
                    .find(|&b| free[b] < 8)
                    .unwrap()
            } else {
                b
            };
            if a != b && free[a] < 8 && free[b] < 8 {
                builder.connect(
                    PortId::new(a as u16, free[a]),
                    PortId::new(b as u16, free[b]),
                );
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
    let mut after = vec![BTreeSet::new(); channels];
    for to in 0..topology.generators().len() as u16 {
        for from in 0..topology.generators().len() as u16 {
            let mut held: Option<usize> = None;
            for hop in walk(topology, labels, from, labels.node_of(to).unwrap()) {
                let Ok(hop) = hop else { break };
                let channel = usize::from(hop.router) * 8 + usize::from(hop.output);
                if let Some(held) = held.replace(channel) {
                    after[held].insert(channel);
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

fn grid() -> impl Strategy<Value = Grid> {
    prop_oneof![
        prop::collection::vec(1usize..6, 0..=3),
        prop::collection::vec(1usize..=2, 0..=7),
        (1usize..40).prop_map(|n| vec![n]),
    ]
    .prop_map(|lengths| Grid::mesh(&lengths).unwrap())
}

fn intervals() -> impl Strategy<Value = Intervals> {
    (any::<[u16; 8]>(), any::<[u8; 8]>()).prop_map(|(mut bounds, selection)| {
        bounds.sort();
        let mut table = Intervals::NONE;
        (table.bounds, table.selection) = (bounds, selection);
        table
    })
}

proptest! {
    #[test]
    fn tree_serves_every_connected_machine_without_deadlock(t in machine(false)) {
        let labels = Labelling::tree(&t).unwrap();
        let survey = labels.survey(&t);
        prop_assert!(survey.complete(), "{survey}");
        prop_assert!(!waits_in_a_ring(&t, &labels));
    }

    #[test]
    fn ir_serves_every_machine_with_a_board_on_each_router(t in machine(true)) {
        let labels = Labelling::ir(&t).unwrap();
        let survey = labels.survey(&t);
        prop_assert!(survey.complete(), "{survey}");
        let shared = labels.warnings(&t).any(|w| matches!(w, Warning::SharedLabel { .. }));
        prop_assert!(!shared);
    }

    #[test]
    fn ir_without_shared_labels_or_one_way_links_serves_all(t in machine(false)) {
        let labels = Labelling::ir(&t).unwrap();
        let clean = !labels.warnings(&t)
            .any(|w| matches!(w, Warning::SharedLabel { .. } | Warning::OneWay { .. }));
        let survey = labels.survey(&t);
        prop_assert!(!clean || survey.complete(), "{survey}");
    }

    #[test]
    fn auto_is_ir_exactly_when_ir_is_sound_and_not_longer(t in machine(true), u in machine(false)) {
        for t in [t, u] {
            let (ir, tree) = (Labelling::ir(&t).unwrap(), Labelling::tree(&t).unwrap());
            let survey = ir.survey(&t);
            let shared = ir.warnings(&t).any(|w| matches!(w, Warning::SharedLabel { .. }));
            let takes_ir = survey.complete()
                && !shared
                && !waits_in_a_ring(&t, &ir)
                && survey.total <= tree.survey(&t).total;
            let auto = Labelling::auto(&t).unwrap();
            prop_assert_eq!(auto.method(), if takes_ir { Method::Ir } else { Method::Tree });
            prop_assert_eq!(auto, if takes_ir { ir } else { tree });
        }
    }

    #[test]
    fn adaptive_tree_offers_only_parallel_cables(t in machine(true)) {
        let first = Labelling::tree(&t).unwrap();
        let all = first.clone().with_adaptive(true);
        for router in 0..t.routers() {
            prop_assert_eq!(first.intervals(router).bounds, all.intervals(router).bounds);
            for (one, many) in
                first.intervals(router).selection.into_iter().zip(all.intervals(router).selection)
            {
                prop_assert_eq!(one, many & many.wrapping_neg());
                let peers: BTreeSet<_> = (0..8)
                    .filter(|port| many & (1 << port) != 0)
                    .map(|port| t.peer(PortId::new(router, port)).map(|peer| peer.router))
                    .collect();
                prop_assert_eq!(peers.len(), 1);
            }
        }
    }

    #[test]
    fn dimension_order_is_minimal_and_free_of_deadlock(grid in grid()) {
        let t = Topology::grid(&grid).unwrap();
        let labels = Labelling::dimension_order(&t, &grid).unwrap();
        for from in 0..grid.routers() {
            for to in 0..grid.routers() {
                let steps = |(stride, length): (u16, u16)| {
                    u32::from(((from / stride) % length).abs_diff((to / stride) % length))
                };
                let apart: u32 = grid.strides().map(steps).sum();
                let route = labels.route(&t, from, to).unwrap();
                prop_assert_eq!((route.generator, route.cables()), (to, apart));
            }
        }
        prop_assert!(!waits_in_a_ring(&t, &labels));
    }

    /// Random tables: nothing holds for them except that the walk must agree
    /// with a plain one that remembers everything.
    #[test]
    fn a_walk_ends_and_tells_how(
        t in machine(true),
        tables in prop::collection::vec(any::<[u8; 8]>(), 16 * 8),
        header in 0u16..9,
    ) {
        let tables: Vec<RoutingTable> = tables
            .chunks(8)
            .map(|inputs| {
                let mut table = RoutingTable::uniform([0, 1, 2, 3, 4, 5, 6, 7], [0; 8]);
                table.selections.copy_from_slice(inputs);
                table
            })
            .collect();
        for from in 0..t.routers() {
            let mut at = PortId::new(from, 0);
            let mut seen = vec![];
            let end = loop {
                if let Some(first) = seen.iter().position(|&s| s == at) {
                    break Err(seen.len() - first);
                }
                seen.push(at);
                let i = usize::from(header.min(7));
                let mask = tables[usize::from(at.router)].selections[usize::from(at.port)][i];
                if mask == 0 {
                    break Ok(None);
                }
                let out = PortId::new(at.router, mask.trailing_zeros() as u8);
                match t.peer(out) {
                    Some(peer) => at = peer,
                    None if out.port == 0 => break Ok(Some(out.router)),
                    None => break Ok(None),
                }
            };
            match (end, follow(&t, tables.as_slice(), from, header)) {
                (Ok(Some(router)), Ok(route)) => {
                    prop_assert_eq!((route.generator, route.routers), (router, seen.len() as u32));
                }
                (Ok(None), Err(RouteError::NoOutput { .. } | RouteError::OpenPort { .. })) => {}
                (Err(ring), Err(RouteError::Loop { at, length, .. })) => {
                    prop_assert_eq!(ring as u32, length);
                    prop_assert!(seen[seen.len() - ring..].contains(&at));
                }
                (plain, got) => prop_assert!(false, "plain {plain:?}, walk {got:?}"),
            }
        }
    }

    #[test]
    fn every_header_is_in_the_interval_of_the_definition(table in intervals(), h: u16) {
        let b = table.bounds;
        let i = (0..7).find(|&i| b[i] <= h && h < b[i + 1]).unwrap_or(7);
        prop_assert_eq!(table.interval_of(h), i);
        prop_assert_eq!(table.eligible(h), table.selection[i]);
    }

    #[test]
    fn the_router_reads_the_intervals_as_they_were_meant(table in intervals(), h: u16) {
        let router = [table.table()];
        for input in 0..8 {
            prop_assert_eq!(router.eligible(0, input, h), table.eligible(h));
        }
    }
}

/// Every shape with a name is served by `ir`, on record or not, and by the tree.
#[test]
fn named_shapes_are_served() {
    let shapes = [
        ("pair", Topology::pair()),
        ("line of 1", Topology::line(1)),
        ("line of 9", Topology::line(9)),
        ("ring of 3", Topology::ring(3)),
        ("ring of 16", Topology::ring(16)),
        ("mesh 8x8", Topology::mesh(&[8, 8])),
        ("mesh 4x4x4", Topology::mesh(&[4, 4, 4])),
        ("torus 4x4", Topology::torus(&[4, 4])),
        ("torus 3x4x5", Topology::torus(&[3, 4, 5])),
        ("hypercube 5", Topology::hypercube(5)),
        ("tree", Topology::tree(40, 3)),
        ("star", Topology::star(8)),
    ];
    for (name, shape) in shapes {
        let shape = shape.unwrap();
        for method in [Method::Ir, Method::Tree, Method::Auto] {
            let labels = Labelling::new(&shape, method).unwrap();
            let survey = labels.survey(&shape);
            assert!(survey.complete(), "{name}, {method:?}: {survey}");
            assert!(!waits_in_a_ring(&shape, &labels), "{name}, {method:?}");
        }
    }
}

#[test]
fn machine_of_128_crosses_at_most_7_cables_without_deadlock() {
    let t = Topology::machine_128().unwrap();
    assert_eq!((t.generators().len(), t.cables().len()), (128, 448));
    let labels = Labelling::dimension_order(&t, &Grid::machine_128().unwrap()).unwrap();
    let survey = labels.survey(&t);
    assert!(survey.complete(), "{survey}");
    assert_eq!((survey.pairs, survey.longest_cables()), (128 * 128, 7));
    // The mean over all pairs is 7 / 2 cables: no detours.
    assert_eq!(survey.total - survey.pairs, survey.pairs * 7 / 2);
    assert!(!waits_in_a_ring(&t, &labels));
}

#[test]
fn tree_of_128_crosses_at_most_7_routers() {
    let t = Topology::tree(128, 7).unwrap();
    for method in [Method::Ir, Method::Tree] {
        let survey = Labelling::new(&t, method).unwrap().survey(&t);
        assert!(survey.complete(), "{survey}");
        assert_eq!(survey.longest, 7);
    }
}

/// Six boards on which the short cuts of `ir` close a ring of waiting packets:
/// 0 to 1 to 2 to 4 to 3 to 0.
#[test]
fn ir_can_deadlock_and_auto_does_not() {
    let mut builder = TopologyBuilder::new();
    for _ in 0..6 {
        builder.board();
    }
    for (a, p, b, q) in [
        (0, 1, 1, 1),
        (0, 2, 3, 3),
        (1, 2, 2, 2),
        (2, 1, 3, 4),
        (2, 3, 4, 2),
        (3, 1, 4, 1),
        (3, 2, 5, 1),
    ] {
        builder.connect(PortId::new(a, p), PortId::new(b, q));
    }
    let t = builder.build().unwrap();
    let ir = Labelling::ir(&t).unwrap();
    assert!(ir.survey(&t).complete());
    assert!(waits_in_a_ring(&t, &ir));
    let auto = Labelling::auto(&t).unwrap();
    assert_eq!(auto.method(), Method::Tree);
    assert!(!waits_in_a_ring(&t, &auto));
}

#[test]
fn a_thousand_routers_are_labelled_and_checked() {
    let grid = Grid::torus(&[32, 32]).unwrap();
    let t = Topology::grid(&grid).unwrap();
    assert_eq!(Labelling::auto(&t).unwrap().method(), Method::Tree);
    let labels = Labelling::dimension_order(&t, &grid).unwrap();
    assert_eq!(labels.route(&t, 0, 1023).unwrap().cables(), 62);
    // The largest machine there can be.
    let ring = Topology::ring(Topology::MAX).unwrap();
    let labels = Labelling::ir(&ring).unwrap();
    assert_eq!(labels.node_of(65_534), Some(65_534));
    assert_eq!(labels.route(&ring, 0, 65_534).unwrap().cables(), 1);
}

/// The shares of hw/doc/topology.md, "What it serves"; run with `--nocapture`
/// to see the counts.
#[test]
fn shares_of_random_machines_are_as_documented() {
    let mut runner = TestRunner::deterministic();
    let mut share = |all_boards: bool| {
        let (mut served, mut rings) = (0, 0);
        for _ in 0..2000 {
            let t = machine(all_boards).new_tree(&mut runner).unwrap().current();
            let labels = Labelling::ir(&t).unwrap();
            if labels.survey(&t).complete() {
                served += 1;
                rings += usize::from(waits_in_a_ring(&t, &labels));
            }
        }
        println!(
            "boards everywhere {all_boards}: {served} of 2000 served, {rings} of them can deadlock"
        );
        (served, rings)
    };
    let (served, rings) = share(true);
    assert_eq!(served, 2000);
    assert!((100..300).contains(&rings), "{rings}");
    let (served, rings) = share(false);
    assert!((1000..1400).contains(&served), "{served}");
    assert!((10..100).contains(&rings), "{rings}");
}

/// The table of hw/doc/topology.md, "Which one": mean (in hundredths) and most
/// cables crossed.
#[test]
fn route_lengths_are_as_documented() {
    let figures = |t: &Topology, labels: Labelling| {
        let survey = labels.survey(t);
        let cables = survey.total - survey.pairs;
        let mean = (cables * 100 + survey.pairs / 2) / survey.pairs;
        (mean, survey.longest_cables())
    };
    for (grid, ir, tree, order) in [
        (Grid::torus(&[16]), (520, 14), (531, 15), (531, 15)),
        (Grid::mesh(&[8, 8]), (1088, 56), (645, 15), (525, 14)),
        (Grid::torus(&[8, 8]), (876, 54), (645, 15), (525, 14)),
        (Grid::mesh(&[4, 4, 4]), (724, 39), (502, 11), (375, 9)),
        (Grid::machine_128(), (724, 64), (601, 13), (350, 7)),
    ] {
        let grid = grid.unwrap();
        let t = Topology::grid(&grid).unwrap();
        assert_eq!(figures(&t, Labelling::ir(&t).unwrap()), ir, "ir {grid:?}");
        assert_eq!(
            figures(&t, Labelling::tree(&t).unwrap()),
            tree,
            "tree {grid:?}"
        );
        let labels = Labelling::dimension_order(&t, &grid).unwrap();
        assert_eq!(figures(&t, labels), order, "order {grid:?}");
    }
}

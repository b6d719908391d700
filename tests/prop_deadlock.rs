//! Certificates against a search by brute force: every way of every packet is
//! walked, what is waited for is kept as a square matrix, and the matrix is
//! closed. Nothing of the library but the tables is used.
#![cfg(feature = "alloc")]

use std::collections::HashSet;

use multipc::fabric::analysis::Analysis;
use multipc::fabric::deadlock::certify;
use multipc::fabric::labelling::Labelling;
use multipc::fabric::topology::{FatTree, Port, PortId, Topology, TopologyBuilder};
use multipc::rcube::RoutingTable;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % sides
    }
}

/// 2 to 9 routers, up to 5 cables on each, a board on most; not always in one
/// piece.
fn machine(dice: &mut Dice) -> Topology<'static> {
    let routers = 2 + dice.roll(8) as u16;
    let mut builder = TopologyBuilder::new();
    for router in 0..routers {
        if router == 0 || dice.roll(4) > 0 {
            builder.board();
        } else {
            builder.router();
        }
    }
    let mut free = vec![1u8; usize::from(routers)];
    for _ in 0..routers + dice.roll(u64::from(routers)) as u16 {
        let a = dice.roll(routers.into()) as u16;
        let b = dice.roll(routers.into()) as u16;
        let (i, j) = (usize::from(a), usize::from(b));
        if a == b || free[i] > 5 || free[j] > 5 {
            continue;
        }
        builder.connect(PortId::new(a, free[i]), PortId::new(b, free[j]));
        free[i] += 1;
        free[j] += 1;
    }
    builder.build().unwrap()
}

/// A table of its own for each input: bounds in any order, some equal, some
/// headers of one character; mostly one output, sometimes several, sometimes
/// none, sometimes one with nothing on it. The share of headers that stay at
/// home differs, so that both verdicts are frequent.
fn tables(dice: &mut Dice, topology: &Topology) -> Vec<RoutingTable> {
    let nodes = topology.generators().len() as u64;
    let home = dice.roll(100);
    let wild = dice.roll(3) == 0;
    (0..topology.routers())
        .map(|router| {
            let plugged: Vec<u8> = (1..8)
                .filter(|&port| topology.port(PortId::new(router, port)) != Port::Empty)
                .collect();
            let mut table = RoutingTable {
                header_length: if dice.roll(10) == 0 {
                    dice.roll(256) as u8
                } else {
                    0xFF
                },
                ..RoutingTable::default()
            };
            for input in 0..8 {
                for k in 0..8 {
                    table.bounds[input][k] = dice.roll(nodes + 2) as u16;
                    table.selections[input][k] = match dice.roll(100) {
                        roll if roll < home || plugged.is_empty() => 1,
                        _ if wild => dice.roll(256) as u8,
                        _ => 1 << plugged[dice.roll(plugged.len() as u64) as usize],
                    };
                }
                if dice.roll(4) > 0 {
                    table.bounds[input].sort_unstable();
                }
            }
            table
        })
        .collect()
}

/// The outputs as the chip's comparators give them: the interval is the number
/// of bounds that are not above the header, less one, modulo eight.
fn offered(table: &RoutingTable, input: usize, header: u16) -> Vec<usize> {
    let two = table.header_length & (1 << input) != 0;
    let below = |bound: &&u16| {
        if two {
            **bound <= header
        } else {
            **bound >> 8 <= header >> 8
        }
    };
    let interval = (table.bounds[input].iter().filter(below).count() + 7) % 8;
    (0..8)
        .filter(|k| table.selections[input][interval] & (1 << k) != 0)
        .collect()
}

/// Walks a packet every way it can take and notes what waits for what.
fn explore(
    topology: &Topology,
    tables: &[RoutingTable],
    header: u16,
    at: PortId,
    been: &mut HashSet<PortId>,
    waits: &mut [Vec<bool>],
) {
    if !been.insert(at) {
        return;
    }
    let name = |p: PortId| usize::from(p.router) * 8 + usize::from(p.port);
    for output in offered(&tables[usize::from(at.router)], at.port.into(), header) {
        if let Port::Cable { peer, .. } = topology.port(PortId::new(at.router, output as u8)) {
            waits[name(at)][name(peer)] = true;
            explore(topology, tables, header, peer, been, waits);
        }
    }
}

/// Whether anything waits for itself in the end: Warshall's closure.
fn closes(mut waits: Vec<Vec<bool>>) -> bool {
    for middle in 0..waits.len() {
        let through = waits[middle].clone();
        for row in &mut waits {
            if row[middle] {
                for (to, &goes_on) in row.iter_mut().zip(&through) {
                    *to |= goes_on;
                }
            }
        }
    }
    (0..waits.len()).any(|i| waits[i][i])
}

#[test]
fn a_thousand_random_tables_are_judged_as_by_brute_force() {
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..1_000 {
        let mut dice = Dice(seed);
        let topology = machine(&mut dice);
        let tables = tables(&mut dice, &topology);
        let channels = usize::from(topology.routers()) * 8;
        let mut waits = vec![vec![false; channels]; channels];
        for header in 0..topology.generators().len() as u16 {
            let mut been = HashSet::new();
            for &start in topology.generators() {
                explore(&topology, &tables, header, start, &mut been, &mut waits);
            }
        }
        match certify(&topology, tables.as_slice()) {
            Ok(certificate) => {
                assert!(
                    !closes(waits),
                    "seed {seed}: certified, but there is a ring"
                );
                assert_eq!(
                    certificate.verify(&topology, tables.as_slice()),
                    Ok(()),
                    "seed {seed}"
                );
                proved += 1;
            }
            Err(cycle) => {
                let name = |p: PortId| usize::from(p.router) * 8 + usize::from(p.port);
                assert!(!cycle.waits.is_empty());
                for (i, wait) in cycle.waits.iter().enumerate() {
                    let next = cycle.waits[(i + 1) % cycle.waits.len()].at;
                    let peer = topology.peer(PortId::new(wait.at.router, wait.output));
                    assert_eq!(peer, Some(next), "seed {seed}: {cycle}");
                    assert!(waits[name(wait.at)][name(next)], "seed {seed}: {cycle}");
                    let outputs = offered(
                        &tables[usize::from(wait.at.router)],
                        wait.at.port.into(),
                        wait.header,
                    );
                    assert!(
                        outputs.contains(&usize::from(wait.output)),
                        "seed {seed}: {cycle}"
                    );
                }
                refuted += 1;
            }
        }
    }
    // The test is about both verdicts.
    assert!(
        proved > 200 && refuted > 200,
        "{proved} proved, {refuted} refuted"
    );
}

#[test]
fn fat_trees_are_served_shortest_and_without_deadlock() {
    for (levels, arity) in [
        (1, 1),
        (3, 1),
        (1, 4),
        (2, 2),
        (4, 2),
        (2, 3),
        (3, 3),
        (2, 4),
        (3, 4),
    ] {
        let shape = FatTree::new(levels, arity).unwrap();
        let topology = Topology::fat(&shape).unwrap();
        for adaptive in [false, true] {
            let tables = Labelling::up_down(&topology, &shape)
                .unwrap()
                .with_adaptive(adaptive);
            let found = Analysis::new(&topology, &tables, |generator| tables.node_of(generator));
            assert!(found.complete(), "{shape:?}: {:?}", found.first_failure);
            assert!((found.stretch() - 1.0).abs() < 1e-9, "{shape:?}");
            assert_eq!(found.longest, 2 * u32::from(shape.levels()), "{shape:?}");
            let certificate = certify(&topology, &tables).unwrap();
            assert_eq!(certificate.verify(&topology, &tables), Ok(()));
        }
        // Without its shape the machine is served as well, by the tree.
        let auto = Labelling::auto(&topology).unwrap();
        assert!(auto.survey(&topology).complete());
        assert!(certify(&topology, &auto).is_ok());
    }
}

/// 128 boards: 2 x 64 x 64 pairs cross the middle, on 64 cables each way.
#[test]
fn a_fat_tree_spreads_its_load() {
    let shape = FatTree::new(3, 4).unwrap();
    let topology = Topology::fat(&shape).unwrap();
    let most = |adaptive: bool| {
        let tables = Labelling::up_down(&topology, &shape)
            .unwrap()
            .with_adaptive(adaptive);
        let found = Analysis::new(&topology, &tables, |generator| tables.node_of(generator));
        found.busiest().unwrap().pairs
    };
    // A board's own cable: 127 pairs, and no cable has to carry more.
    assert!((most(true) - 127.0).abs() < 1e-9);
    assert!(most(false) <= 160.0, "{}", most(false));
    let tree = Labelling::tree(&topology).unwrap();
    let found = Analysis::new(&topology, &tree, |generator| tree.node_of(generator));
    assert!(found.busiest().unwrap().pairs > 1_000.0);
}

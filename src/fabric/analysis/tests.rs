extern crate std;
use std::string::ToString;

use super::*;
use crate::fabric::labelling::{Intervals, Labelling};
use crate::fabric::topology::{Grid, TopologyBuilder};

fn analyse(topology: &Topology, tables: &Labelling) -> Analysis {
    Analysis::new(topology, tables, |generator| tables.node_of(generator))
}

#[test]
fn a_line_by_hand() {
    let line = Topology::line(4).unwrap();
    let found = analyse(&line, &Labelling::tree(&line).unwrap());
    assert!(found.complete());
    assert_eq!((found.pairs, found.longest, found.diameter), (12, 3, 3));
    // Distances 1, 2, 3 for 6, 4, 2 pairs.
    assert_eq!((found.total, found.total_shortest), (20.0, 20));
    assert_eq!(found.stretch(), 1.0);
    // 1 x 3 pairs over the outer cables, 2 x 2 over the middle one.
    let loads: Vec<f64> = found.loads.iter().map(|load| load.pairs).collect();
    assert_eq!(loads, [3.0, 3.0, 4.0, 4.0, 3.0, 3.0]);
    assert_eq!(found.busiest().map(|load| load.cable), Some(1));
}

#[test]
fn adds_up_to_the_survey() {
    for lengths in [&[6][..], &[4, 4], &[3, 3, 3], &[2, 2, 2, 2]] {
        for topology in [Topology::mesh(lengths), Topology::torus(lengths)] {
            let topology = topology.unwrap();
            for tables in [Labelling::ir(&topology), Labelling::tree(&topology)] {
                let tables = tables.unwrap();
                let (found, survey) = (analyse(&topology, &tables), tables.survey(&topology));
                // The survey has each generator with itself, too.
                assert_eq!(found.total, (survey.total - survey.pairs) as f64);
                assert_eq!(found.longest, survey.longest_cables());
                let sum: f64 = found.loads.iter().map(|load| load.pairs).sum();
                assert_eq!(sum, found.total);
            }
        }
    }
}

#[test]
fn dimension_order_has_no_stretch() {
    let grid = Grid::mesh(&[5, 3]).unwrap();
    let topology = Topology::grid(&grid).unwrap();
    let tables = Labelling::dimension_order(&topology, &grid).unwrap();
    let found = analyse(&topology, &tables);
    assert_eq!(
        (found.stretch(), found.longest, found.diameter),
        (1.0, 6, 6)
    );
    assert_eq!(found.worst.map(|way| way.ratio()), Some(1.0));
}

#[test]
fn the_worst_way_is_named() {
    // On a ring of eight the tree is cut between the far ends.
    let ring = Topology::ring(8).unwrap();
    let found = analyse(&ring, &Labelling::tree(&ring).unwrap());
    let worst = found.worst.unwrap();
    assert_eq!((worst.cables, worst.shortest), (7, 1));
    assert_eq!(worst.ratio(), 7.0);
}

#[test]
fn parallel_cables_share_evenly() {
    let mut builder = TopologyBuilder::new();
    let (a, b) = (builder.board(), builder.board());
    for port in 1..4 {
        builder.connect(PortId::new(a, port), PortId::new(b, port));
    }
    let topology = builder.build().unwrap();
    let tables = Labelling::ir(&topology).unwrap().with_adaptive(true);
    let found = analyse(&topology, &tables);
    assert!(found.complete());
    for load in &found.loads {
        assert!((load.pairs - 1.0 / 3.0).abs() < 1e-12, "{load:?}");
    }
    assert!((found.mean() - 1.0).abs() < 1e-12);
}

#[test]
fn a_choice_that_fails_makes_the_pair_fail() {
    let ring = Topology::ring(3).unwrap();
    let tables: Vec<Intervals> = (0..3u16)
        .map(|own| Intervals {
            bounds: [
                own,
                own + 1,
                own + 1,
                own + 1,
                own + 1,
                own + 1,
                own + 1,
                own + 1,
            ],
            // Onwards or out of a port with nothing on it.
            selection: [1, 0x82, 0x82, 0x82, 0x82, 0x82, 0x82, 0x82],
        })
        .collect();
    let found = Analysis::new(&ring, tables.as_slice(), Some);
    assert_eq!((found.pairs, found.delivered), (6, 0));
    assert_eq!(
        found.first_failure.unwrap().to_string(),
        "generator 1 to generator 0: header 0: sent to router 2 port 7, where nothing is plugged in"
    );
}

#[test]
fn loops_are_told_with_their_length() {
    let ring = Topology::ring(5).unwrap();
    let tables = [Intervals {
        bounds: [0; 8],
        selection: [2; 8],
    }; 5];
    let found = Analysis::new(&ring, tables.as_slice(), Some);
    assert_eq!(found.delivered, 0);
    assert_eq!(
        found.first_failure.unwrap().to_string(),
        "generator 1 to generator 0: header 0: comes back to router 2 port 2 every 5 routers"
    );
}

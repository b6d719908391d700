extern crate std;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::fabric::labelling::Method;
use crate::fabric::topology::{Grid, TopologyBuilder};

fn proved(topology: &Topology, tables: &Labelling) -> Certificate {
    let certificate = certify(topology, tables).unwrap();
    assert_eq!(certificate.verify(topology, tables), Ok(()));
    certificate
}

#[test]
fn all_builders_are_certified_by_every_method() {
    let shapes = [
        Topology::pair(),
        Topology::line(9),
        Topology::ring(7),
        Topology::mesh(&[4, 3]),
        Topology::mesh(&[3, 3, 3]),
        Topology::torus(&[4, 4]),
        Topology::torus(&[3, 3, 3]),
        Topology::hypercube(5),
        Topology::machine_128(),
        Topology::tree(60, 3),
        Topology::star(8),
    ];
    for topology in shapes.map(Result::unwrap) {
        for method in [Method::Auto, Method::Ir, Method::Tree] {
            for adaptive in [false, true] {
                let tables = Labelling::new(&topology, method).unwrap();
                proved(&topology, &tables.with_adaptive(adaptive));
            }
        }
    }
    let grids: [&[usize]; 4] = [&[8, 8], &[4, 4, 4], &[2; 7], &[9]];
    for lengths in grids {
        let grid = Grid::mesh(lengths).unwrap();
        let topology = Topology::grid(&grid).unwrap();
        proved(
            &topology,
            &Labelling::dimension_order(&topology, &grid).unwrap(),
        );
    }
}

/// A ring in which every packet goes round by port 1.
fn one_way(boards: u16) -> (Topology<'static>, Vec<Intervals>) {
    let topology = Topology::ring(boards.into()).unwrap();
    let tables = (0..boards).map(|own| Intervals {
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
        selection: [1, 2, 2, 2, 2, 2, 2, 2],
    });
    (topology, tables.collect())
}

#[test]
fn a_one_way_ring_is_a_cycle_with_witnesses() {
    let (topology, tables) = one_way(4);
    let cycle = certify(&topology, tables.as_slice()).unwrap_err();
    assert_eq!(cycle.waits.len(), 4);
    for (i, wait) in cycle.waits.iter().enumerate() {
        // Ports: 1 to the next, 2 to the previous.
        assert_eq!((wait.at.port, wait.output), (2, 1));
        let next = cycle.waits[(i + 1) % 4].at;
        assert_eq!(
            topology.peer(PortId::new(wait.at.router, wait.output)),
            Some(next)
        );
        assert_eq!(
            tables[usize::from(wait.at.router)].eligible(wait.header),
            1 << wait.output
        );
    }
    assert!(
        cycle
            .to_string()
            .starts_with("packets can wait in a ring of 4 cables: header "),
        "{cycle}"
    );
}

#[test]
fn a_ring_that_no_packet_meets_does_no_harm() {
    // Same tables, but only one board: its packets never enter a cable that
    // waits for another.
    let (ring, tables) = one_way(3);
    let mut builder = TopologyBuilder::new();
    builder.board();
    builder.router();
    builder.router();
    for cable in ring.cables() {
        builder.cable(*cable);
    }
    let topology = builder.build().unwrap();
    let certificate = certify(&topology, tables.as_slice()).unwrap();
    assert_eq!(certificate.channels(), 1);
    assert_eq!(certificate.number(PortId::new(1, 2)), None);
    assert!(certify(&ring, tables.as_slice()).is_err());
}

const CABLES: [(u16, u8, u16, u8); 7] = [
    (0, 1, 1, 1),
    (0, 2, 3, 3),
    (1, 2, 2, 2),
    (2, 1, 3, 4),
    (2, 3, 4, 2),
    (3, 1, 4, 1),
    (3, 2, 5, 1),
];

#[test]
fn the_known_deadlock_of_ir_is_found_and_the_tree_has_none() {
    let mut builder = TopologyBuilder::new();
    for _ in 0..6 {
        builder.board();
    }
    for (a, p, b, q) in CABLES {
        builder.connect(PortId::new(a, p), PortId::new(b, q));
    }
    let topology = builder.build().unwrap();
    let cycle = certify(&topology, &Labelling::ir(&topology).unwrap()).unwrap_err();
    // 0>1 1>2 2>4 4>3 3>0, from wherever the search begins.
    let mut routers: Vec<u16> = cycle.waits.iter().map(|wait| wait.at.router).collect();
    routers.sort_unstable();
    assert_eq!(routers, [0, 1, 2, 3, 4], "{cycle}");
    for method in [Method::Auto, Method::Tree] {
        proved(&topology, &Labelling::new(&topology, method).unwrap());
    }
}

#[test]
fn tables_of_each_input_count_not_of_one() {
    // Input 2 of every router sends everything on, input 0 straight home: only
    // what came by input 2 waits.
    let (topology, tables) = one_way(4);
    let whole: Vec<RoutingTable> = tables.iter().map(Intervals::table).collect();
    assert!(certify(&topology, whole.as_slice()).is_err());
    let turning: Vec<RoutingTable> = (0..4u16)
        .zip(&whole)
        .map(|(router, table)| {
            let mut table = *table;
            if router == 0 {
                // Nothing goes on through router 0.
                table.selections[2] = [1; 8];
            }
            table
        })
        .collect();
    let certificate = certify(&topology, turning.as_slice()).unwrap();
    assert_eq!(certificate.verify(&topology, turning.as_slice()), Ok(()));
}

#[test]
fn a_wrong_certificate_is_refused() {
    let ring = Topology::ring(6).unwrap();
    let tables = Labelling::ir(&ring).unwrap();
    let certificate = proved(&ring, &tables);
    let (_, other) = one_way(6);
    assert!(certificate.verify(&ring, other.as_slice()).is_err());
    let small = Topology::ring(5).unwrap();
    assert_eq!(
        certificate.verify(&small, &tables).unwrap_err().to_string(),
        "certificate of 48 channels, the machine has 40"
    );
    let shuffled = Certificate::new(vec![1; 48], vec![vec![(0, 6)]; 48]);
    assert!(matches!(
        shuffled.verify(&ring, &tables),
        Err(Flaw::Order { .. })
    ));
    let empty = Certificate::new(vec![1; 48], vec![Vec::new(); 48]);
    assert_eq!(
        empty.verify(&ring, &tables).unwrap_err().to_string(),
        "header 0 comes to router 0 port 0 and is not listed there"
    );
}

#[test]
fn one_character_headers_are_cut_at_high_bytes() {
    // With one-character headers all nodes below 256 look alike.
    let (topology, tables) = one_way(3);
    let mut whole: Vec<RoutingTable> = tables.iter().map(Intervals::table).collect();
    for table in &mut whole {
        table.header_length = 0;
    }
    let bounds = whole.as_slice().bounds(1, 2);
    assert_eq!(bounds, [0; 8]);
    // Everything compares as 0x00 and falls into interval 7: round for ever.
    assert_eq!(
        certify(&topology, whole.as_slice())
            .unwrap_err()
            .waits
            .len(),
        3
    );
}

#[test]
fn a_thousand_routers_take_few_ranges() {
    let grid = Grid::mesh(&[32, 32]).unwrap();
    let topology = Topology::grid(&grid).unwrap();
    let tables = Labelling::dimension_order(&topology, &grid).unwrap();
    let certificate = proved(&topology, &tables);
    // 3,968 directions of cables and 1,024 ways in; a few ranges on each.
    assert_eq!(certificate.channels(), 4_992);
    assert!(certificate.ranges().len() < 2 * 4_992, "{certificate:?}");
}

//! The two-node machine's router tables against the shipped ones.
#![cfg(feature = "alloc")]

use multipc::fabric::labelling::{Intervals, Labelling};
use multipc::fabric::topology::Topology;

/// The bytes of a file of hexadecimal lines.
fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|d| (d[0] << 4 | d[1]) as u8).collect()
}

fn shipped() -> [Vec<u8>; 2] {
    [
        bytes(include_str!("vectors/rcube/two-nodes-router0.hex")),
        bytes(include_str!("vectors/rcube/two-nodes-router1.hex")),
    ]
}

#[test]
fn two_nodes_reproduce_the_shipped_tables_up_to_the_hand_edit() {
    let pair = Topology::pair().unwrap();
    for labels in [
        Labelling::ir(&pair).unwrap(),
        Labelling::tree(&pair).unwrap(),
        Labelling::auto(&pair).unwrap(),
    ] {
        let [router0, mut router1] = shipped();
        assert_eq!(labels.table(0).emit().as_slice(), router0, "router 0");
        // Somebody had a cable on port 2: interval 0 of input 0 (the last
        // selection of the even links) names link 2 instead of link 1.
        let edit = 64 + 3 * 16 + 7 * 2;
        let ours = labels.table(1).emit();
        assert_eq!((ours[edit], router1[edit]), (0x02, 0x04));
        router1[edit] = 0x02;
        assert_eq!(ours.as_slice(), router1, "router 1, edit undone");
    }
}

#[test]
fn two_nodes_have_the_labels_of_the_worked_example() {
    let pair = Topology::pair().unwrap();
    let labels = Labelling::ir(&pair).unwrap();
    for router in [0, 1] {
        let table = labels.intervals(router);
        assert_eq!(table.bounds, [0, 1, 1, 1, 1, 1, 1, 1]);
        let (own, other) = (1 << 0, 1 << 1);
        assert_eq!(table.eligible(router), own);
        assert_eq!(table.eligible(1 - router), other);
    }
}

#[test]
fn the_worked_example_of_the_chip_falls_into_its_intervals() {
    let mut table = Intervals::NONE;
    table.bounds = [501, 2570, 5315, 16259, 27016, 36672, 51237, 53699];
    assert_eq!(table.interval_of(60_000), 7);
    assert_eq!(table.interval_of(100), 7);
    assert_eq!(table.interval_of(600), 0);
}

//! Descriptions of machines that cannot be: each gives a typed error whose text
//! names the thing, the value and what is allowed.
#![cfg(feature = "alloc")]

use std::error::Error;
use std::fmt::Debug;

use multipc::cluster::{Cluster, ClusterConfig, ClusterError};
use multipc::fabric::labelling::{Labelling, LabellingError, Method, NodeEntry, RouterLabels};
use multipc::fabric::topology::{
    Cable, Grid, Medium, Plug, PortId, Topology, TopologyBuilder, TopologyError,
};
use multipc::fabric::{BoardConfig, End, Machine, MachineConfig, Node, Router, Wire, WiringError};
use multipc::mem::Ram;
use multipc::pci::BridgeConfig;
use multipc::rcube::{RcubeConfig, RoutingTable, TableError};
use multipc::time::{Duration, Frequency};

/// The text of an error that is a [`core::error::Error`], one line.
fn text<T: Debug, E: Error>(result: Result<T, E>) -> String {
    let text = result.unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn tables_of_another_length_than_258_bytes() {
    let table = RoutingTable::try_from(&[0; 257][..]);
    assert_eq!(table, Err(TableError::Length { length: 257 }));
    assert_eq!(text(table), "routing table of 257 bytes, must be 258");
}

/// What a builder with two boards and these cables says.
fn building(cables: impl IntoIterator<Item = Cable>) -> TopologyError {
    let mut builder = TopologyBuilder::new();
    builder.board();
    builder.board();
    for cable in cables {
        builder.cable(cable);
    }
    builder.build().unwrap_err()
}

#[test]
fn descriptions_with_a_cable_to_nowhere() {
    let nowhere = building([Cable::new(PortId::new(0, 1), PortId::new(5, 1))]);
    let named = TopologyError::UnknownRouter {
        plug: Plug::Cable(0),
        router: 5,
        routers: 2,
    };
    assert_eq!(nowhere, named);
    assert_eq!(
        nowhere.to_string(),
        "cable 0 ends at router 5, the machine has routers 0..=1"
    );
    let good = Cable::new(PortId::new(0, 1), PortId::new(1, 1));
    let no_port = building([good, Cable::new(PortId::new(0, 2), PortId::new(1, 8))]);
    assert_eq!(
        no_port.to_string(),
        "cable 1 names router 1 port 8, a router has ports 0..=7"
    );
}

#[test]
fn descriptions_with_other_impossible_cables() {
    let good = Cable::new(PortId::new(0, 1), PortId::new(1, 1));
    let taken = building([good, Cable::new(PortId::new(0, 1), PortId::new(1, 2))]);
    assert_eq!(
        taken.to_string(),
        "cable 1 wants router 0 port 1, where cable 0 is plugged in"
    );
    let board = building([Cable::new(PortId::new(0, 0), PortId::new(1, 1))]);
    assert_eq!(
        board.to_string(),
        "cable 0 wants router 0 port 0, where generator 0 is plugged in"
    );
    let same = building([Cable::new(PortId::new(1, 3), PortId::new(1, 3))]);
    assert_eq!(
        same.to_string(),
        "cable 0 has both ends in router 1 port 3, two ports are needed"
    );
    let coax = building([good.with_length_mm(5_001)]);
    assert_eq!(
        coax.to_string(),
        "cable 0 is 5001 mm long, its medium allows 0..=5000 mm"
    );
    let fibre = building([good.with_medium(Medium::Fibre).with_length_mm(70_001)]);
    assert_eq!(
        fibre.to_string(),
        "cable 0 is 70001 mm long, its medium allows 0..=70000 mm"
    );
}

#[test]
fn impossible_shapes() {
    assert_eq!(
        text(TopologyBuilder::new().build().map(|_| ())),
        "the machine has 0 generators, at least 1 is needed"
    );
    assert_eq!(
        text(Topology::star(9).map(|_| ())),
        "9 generators on the router of a star, at most 8 are possible"
    );
    assert_eq!(
        text(Topology::mesh(&[3, 0]).map(|_| ())),
        "a length of the shape is 0, at least 1 is needed"
    );
    assert_eq!(
        text(Topology::hypercube(8).map(|_| ())),
        "8 dimensions, at most 7 are possible"
    );
}

#[test]
fn machines_without_working_tables() {
    let mut builder = TopologyBuilder::new();
    builder.board();
    builder.board();
    let apart = builder.build().unwrap();
    let refused = Cluster::boot(&apart, &ClusterConfig::default()).unwrap_err();
    let error = LabellingError::Disconnected {
        generator: 1,
        router: 1,
    };
    assert_eq!(refused, ClusterError::Labelling(error));
    assert_eq!(
        refused.to_string(),
        "generator 1 on router 1 cannot be reached from router 0"
    );

    let pair = Topology::pair().unwrap();
    let grid = Grid::mesh(&[3]).unwrap();
    assert_eq!(
        text(Labelling::new(&pair, Method::DimensionOrder(grid)).map(|_| ())),
        "the grid has 3 routers, the machine has 2"
    );
    let mut routers = [RouterLabels::EMPTY; 1];
    let mut nodes = [NodeEntry::default(); 2];
    let small = Labelling::with_storage(&pair, Method::Tree, &mut routers[..], &mut nodes[..]);
    assert_eq!(
        text(small.map(|_| ())),
        "storage for 1 routers, the machine has 2"
    );
}

#[test]
fn cables_that_a_machine_cannot_have() {
    let board = BoardConfig::default();
    let node = || {
        let memory = Ram::new(0, vec![0; 4096]);
        Node::new(memory, BridgeConfig::default(), board.ddc)
    };
    let router = || Router::new(RcubeConfig::default());
    let wires = vec![Wire::free(); 4];
    let mut machine = Machine::new(
        MachineConfig::default(),
        vec![node(), node()],
        vec![router(), router()],
        wires,
    );
    let port = |router, port| End::Router { router, port };
    let mut lay = |a, b, wire| machine.connect(a, b, wire);
    let short = Duration::from_ns(5);
    let nowhere = lay(port(0, 1), port(5, 1), short);
    assert!(matches!(nowhere, Err(WiringError::NoSuchEnd { end, .. }) if end == port(5, 1)));
    assert_eq!(
        text(nowhere),
        "cable to router 5 port 1: the machine has 2 nodes and 2 routers of ports 0..=7"
    );
    assert_eq!(
        text(lay(port(0, 8), port(1, 1), short)),
        "cable to router 0 port 8: the machine has 2 nodes and 2 routers of ports 0..=7"
    );
    assert_eq!(
        text(lay(End::Node(2), port(1, 1), short)),
        "cable to node 2: the machine has 2 nodes and 2 routers of ports 0..=7"
    );
    assert_eq!(
        text(lay(End::Node(0), End::Node(1), short)),
        "cable from node 0 to node 1: one end must be a router port, and the ends must differ"
    );
    assert_eq!(
        text(lay(port(0, 1), port(1, 1), Duration::from_us(1))),
        "cable delay of 66 link cycles is outside 1..=63"
    );
    lay(End::Node(0), port(0, 0), Duration::ZERO).unwrap();
    assert_eq!(
        text(lay(End::Node(1), port(0, 0), Duration::ZERO)),
        "cable to router 0 port 0, which has one already"
    );
    lay(End::Node(1), port(1, 0), Duration::ZERO).unwrap();
    assert_eq!(
        text(lay(port(0, 1), port(1, 1), short)),
        "no wire left of 4: a cable takes two"
    );
}

#[test]
fn clocks_without_edges() {
    assert_eq!(
        text(Frequency::from_hz(0)),
        "clock of 0 Hz is outside 1..=1000000000000 Hz"
    );
}

//! A machine on borrowed storage only: nothing here needs the feature `alloc`.

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::InputPin;
use multipc::ddc::DdcConfig;
use multipc::fabric::labelling::{Labelling, Method, NodeEntry, RouterLabels};
use multipc::fabric::topology::{Cable, PortId, RouterPorts, Topology};
use multipc::fabric::{End, Machine, MachineConfig, Node, Router, Wire};
use multipc::mem::Ram;
use multipc::pci::BridgeConfig;
use multipc::put::{Control, Entry, Event, Model, Put, PutConfig};
use multipc::rcube::{PortKind, RcubeConfig};
use multipc::time::Duration;

const MEMORY: usize = 0x4000;
const SOURCE: u32 = 0x2000;
const TARGET: u32 = 0x3001;
const LENGTH: u32 = 1000;

/// The routing tables of two boards joined by port 1.
fn tables() -> [[u8; 258]; 2] {
    let mut ports = [RouterPorts::EMPTY; 2];
    let mut generators = [PortId::new(0, 0), PortId::new(1, 0)];
    let mut cables = [Cable::new(PortId::new(0, 1), PortId::new(1, 1))];
    let topology = Topology::new(&mut ports[..], &mut generators[..], &mut cables[..]).unwrap();
    let (mut routers, mut nodes) = ([RouterLabels::EMPTY; 2], [NodeEntry::default(); 2]);
    let labelling =
        Labelling::with_storage(&topology, Method::Ir, &mut routers[..], &mut nodes[..]).unwrap();
    [0, 1].map(|router| labelling.table(router).emit())
}

/// Builds and boots two boards, and moves one page from 0 to 1. Events are
/// taken when `wake` says so of the node.
fn boots_and_moves_a_page(
    model: Model,
    wake: fn(&mut dyn InputPin<Error = core::convert::Infallible>) -> bool,
) {
    let (mut left, mut right) = ([0u8; MEMORY], [0u8; MEMORY]);
    let data: [u8; LENGTH as usize] = core::array::from_fn(|i| (i * 7 + i / 256) as u8);
    left[SOURCE as usize..][..LENGTH as usize].copy_from_slice(&data);
    let node = |memory| Node::new(memory, BridgeConfig::default(), DdcConfig::default());
    let mut nodes = [
        node(Ram::new(0, &mut left[..])),
        node(Ram::new(0, &mut right[..])),
    ];
    let mut chip = RcubeConfig::default();
    chip.ports[0] = PortKind::Parallel;
    let mut routers = [Router::new(chip.clone()), Router::new(chip)];
    let mut wires = [const { Wire::free() }; 6];
    let mut machine = Machine::new(
        MachineConfig::default(),
        &mut nodes[..],
        &mut routers[..],
        &mut wires[..],
    );
    let port = |router, port| End::Router { router, port };
    for board in [0, 1] {
        machine
            .connect(End::Node(board), port(board, 0), Duration::ZERO)
            .unwrap();
    }
    machine
        .connect(port(0, 1), port(1, 1), Duration::from_ns(15))
        .unwrap();

    let tables = tables();
    let mut puts = [Put::new(), Put::new()];
    for ((node, put), table) in (0..).zip(&mut puts).zip(&tables) {
        let mut config = PutConfig::new(node, 0x1000, table);
        config.nodes = 2;
        config.entries = 8;
        config.counters = 0;
        config.model = model;
        config.settle_us = 400;
        let mut host = machine.host(node).unwrap();
        assert!(put.init(&mut host, &config).unwrap().hsl);
        let sap = put.register_sap().unwrap();
        put.attach_mi_range(sap, 4).unwrap();
    }
    assert_eq!(machine.routers()[0].chip().link_status(), 0b11);

    let all = Control::LMP
        .with(Control::NOS)
        .with(Control::LMI)
        .with(Control::NOR);
    let entry = Entry::page(1, 3, SOURCE, TARGET, LENGTH, all);
    puts[0]
        .add_entry(&mut machine.host(0).unwrap(), entry)
        .unwrap();
    let (mut sent, mut received) = (0, 0);
    for _ in 0..100 {
        machine.host(0).unwrap().delay_us(1);
        for (node, put) in (0..).zip(&mut puts) {
            let mut host = machine.host(node).unwrap();
            if !wake(&mut host) {
                continue;
            }
            let count = |event| match event {
                Event::Sent { mi: 3, .. } if node == 0 => sent += 1,
                Event::Received { mi: 3, .. } if node == 1 => received += 1,
                other => panic!("node {node}: {other:?}"),
            };
            match model {
                Model::Interrupt => put.on_interrupt(&mut host, 8, count).unwrap(),
                _ => put.poll(&mut host, 8, count).unwrap(),
            };
            assert!(host.is_high().unwrap(), "INTA# has fallen");
        }
    }
    assert_eq!((sent, received), (1, 1));
    let mut found = [0; LENGTH as usize + 2];
    machine
        .host(1)
        .unwrap()
        .load(TARGET - 1, &mut found)
        .unwrap();
    assert_eq!(found[1..=LENGTH as usize], data);
    assert_eq!((found[0], found[LENGTH as usize + 1]), (0, 0));
}

#[test]
fn two_boards_move_a_page_by_interrupts() {
    boots_and_moves_a_page(Model::Interrupt, |inta| inta.is_low().unwrap());
}

#[test]
fn two_boards_move_a_page_by_polling() {
    boots_and_moves_a_page(Model::Polling, |inta| {
        assert!(inta.is_high().unwrap(), "only errors raise INTA#");
        true
    });
}

#[test]
fn the_tables_are_the_recorded_ones_of_two_nodes() {
    let recorded = include_str!("vectors/rcube/two-nodes-router0.hex");
    let digits: String = recorded.split_whitespace().collect();
    let bytes: Vec<u8> = (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    assert_eq!(tables()[0][..], bytes[..]);
}

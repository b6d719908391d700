//! Two boards and their drivers without an allocator: what a firmware image
//! that carries the model would hold.
//!
//! ```text
//!   board 0                                  board 1
//!   memory - PCI - PCI-DDC = router ======== router = PCI-DDC - PCI - memory
//!   Put (driver)          port 0  1    1  port 0          Put (driver)
//! ```
//!
//! All storage is arrays. Here they lie on the stack; a firmware puts them into
//! statics. Only `main` prints, and only it needs a host.
//!
//! cargo run --example two_boards_no_alloc

use core::fmt;

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::InputPin;
use multipc::ddc::DdcConfig;
use multipc::fabric::labelling::{Labelling, LabellingError, Method, NodeEntry, RouterLabels};
use multipc::fabric::topology::{Cable, PortId, RouterPorts, Topology, TopologyError};
use multipc::fabric::{End, Host, HostError, Machine, MachineConfig, Node, Router, Wire};
use multipc::fabric::{NoProbe, WiringError};
use multipc::mem::Ram;
use multipc::pci::BridgeConfig;
use multipc::put::{
    AddError, Control, Entry, Event, InitError, PortErrorOf, Put, PutConfig, ServeError,
};
use multipc::rcube::{PortKind, RcubeConfig};
use multipc::time::Duration;

const MEMORY: usize = 0x4000;
/// Rings of the driver, and the page at both ends.
const RINGS: u32 = 0x1000;
const SOURCE: u32 = 0x2000;
const TARGET: u32 = 0x3000;

/// The hardware of one board as its driver sees it.
type Board = Host<'static, 'static, NoProbe>;
type Port = PortErrorOf<Board>;

/// Everything that can go wrong, without a box.
#[derive(Debug)]
enum Failure {
    Topology(TopologyError),
    Labelling(LabellingError),
    Wiring(WiringError),
    Host(HostError),
    Init(InitError<Port>),
    Add(AddError<Port>),
    Serve(ServeError<Port>),
    Users,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topology(error) => error.fmt(f),
            Self::Labelling(error) => error.fmt(f),
            Self::Wiring(error) => error.fmt(f),
            Self::Host(error) => error.fmt(f),
            Self::Init(error) => error.fmt(f),
            Self::Add(error) => error.fmt(f),
            Self::Serve(error) => error.fmt(f),
            Self::Users => f.write_str("the driver takes no user"),
        }
    }
}

impl core::error::Error for Failure {}

/// The routers' tables: which way leads to node 0, which to node 1.
fn tables() -> Result<[[u8; 258]; 2], Failure> {
    let mut ports = [RouterPorts::EMPTY; 2];
    let mut generators = [PortId::new(0, 0), PortId::new(1, 0)];
    let mut cables = [Cable::new(PortId::new(0, 1), PortId::new(1, 1))];
    let topology = Topology::new(&mut ports[..], &mut generators[..], &mut cables[..])
        .map_err(Failure::Topology)?;
    let mut routers = [RouterLabels::EMPTY; 2];
    let mut nodes = [NodeEntry::default(); 2];
    let labelling =
        Labelling::with_storage(&topology, Method::Ir, &mut routers[..], &mut nodes[..])
            .map_err(Failure::Labelling)?;
    Ok([0, 1].map(|router| labelling.table(router).emit()))
}

/// What the run is asked for: the bytes at the receiver, and when they were
/// told of.
struct Outcome {
    bytes: [u8; 12],
    told_after: Duration,
    interrupts: u32,
}

fn run() -> Result<Outcome, Failure> {
    // 1. Storage. A wire is one direction of a cable: two boards to their
    //    routers, and one cable between them, make six.
    let (mut left, mut right) = ([0u8; MEMORY], [0u8; MEMORY]);
    let node = |memory| Node::new(memory, BridgeConfig::default(), DdcConfig::default());
    let mut nodes = [
        node(Ram::new(0, &mut left[..])),
        node(Ram::new(0, &mut right[..])),
    ];
    let mut chip = RcubeConfig::default();
    chip.ports[0] = PortKind::Parallel;
    let mut routers = [Router::new(chip.clone()), Router::new(chip)];
    let mut wires = [const { Wire::free() }; 6];

    // 2. The machine, and its cables.
    let config = MachineConfig::default();
    let mut machine = Machine::new(config, &mut nodes[..], &mut routers[..], &mut wires[..]);
    let port = |router, port| End::Router { router, port };
    for board in [0, 1] {
        let (generator, own) = (End::Node(board), port(board, 0));
        machine
            .connect(generator, own, Duration::ZERO)
            .map_err(Failure::Wiring)?;
    }
    machine
        .connect(port(0, 1), port(1, 1), Duration::from_ns(15))
        .map_err(Failure::Wiring)?;

    // 3. A driver on each board. It is lent the board for every call; on real
    //    hardware that is a handle on the PCI slot, here on the machine.
    let tables = tables()?;
    let mut puts = [Put::new(), Put::new()];
    for ((node, put), table) in (0..).zip(&mut puts).zip(&tables) {
        let mut config = PutConfig::new(node, RINGS, table);
        config.nodes = 2;
        config.entries = 8;
        config.counters = 0;
        // The links need 170 us; the record waits a second.
        config.settle_us = 400;
        let mut host = machine.host(node).map_err(Failure::Host)?;
        put.init(&mut host, &config).map_err(Failure::Init)?;
        let sap = put.register_sap().map_err(|_| Failure::Users)?;
        put.attach_mi_range(sap, 4).map_err(|_| Failure::Users)?;
    }

    // 4. A page from board 0 into the memory of board 1, which is told.
    let mut host = machine.host(0).map_err(Failure::Host)?;
    host.store(SOURCE, b"remote write")
        .map_err(|error| Failure::Host(error.into()))?;
    let start = host.now();
    let told = Control::LMP.with(Control::LMI).with(Control::NOR);
    let page = Entry::page(1, 2, SOURCE, TARGET, 12, told);
    puts[0].add_entry(&mut host, page).map_err(Failure::Add)?;

    // 5. The main loop of board 1: INTA# is an `embedded_hal` input pin.
    let mut host = machine.host(1).map_err(Failure::Host)?;
    let (mut arrived, mut interrupts) = (None, 0);
    while arrived.is_none() && interrupts < 100 {
        let asserted = match host.is_low() {
            Ok(asserted) => asserted,
            Err(never) => match never {},
        };
        if !asserted {
            host.delay_ns(100);
            continue;
        }
        interrupts += 1;
        let mut got = false;
        puts[1]
            .on_interrupt(&mut host, 8, |event| {
                got |= matches!(event, Event::Received { mi: 2, .. });
            })
            .map_err(Failure::Serve)?;
        arrived = got.then(|| host.now());
    }
    let mut bytes = [0; 12];
    host.load(TARGET, &mut bytes)
        .map_err(|error| Failure::Host(error.into()))?;
    Ok(Outcome {
        bytes,
        told_after: arrived.unwrap_or(start).since(start),
        interrupts,
    })
}

fn main() -> Result<(), Failure> {
    let Outcome {
        bytes,
        told_after,
        interrupts,
    } = run()?;
    println!(
        "board 1 holds {:?}, told after {told_after} by interrupt {interrupts}",
        String::from_utf8_lossy(&bytes)
    );
    Ok(())
}

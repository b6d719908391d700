//! Two boards of models, their cable, and a driver on each.
//!
//! The hosts' memory is a word each: how much there is, is the user's choice.

use core::hint::black_box;

use multipc::ddc::DdcConfig;
use multipc::fabric::{End, Machine, MachineConfig, Node, Router, Wire};
use multipc::mem::Ram;
use multipc::pci::BridgeConfig;
use multipc::put::Put;
use multipc::rcube::{PortKind, RcubeConfig};
use multipc::time::Duration;
use static_cell::{ConstStaticCell, StaticCell};

use crate::driver;

static MEMORY: [ConstStaticCell<[u8; 4]>; 2] = [const { ConstStaticCell::new([0; 4]) }; 2];
static NODES: StaticCell<[Node<'static>; 2]> = StaticCell::new();
static ROUTERS: StaticCell<[Router; 2]> = StaticCell::new();
static WIRES: ConstStaticCell<[Wire; 6]> = ConstStaticCell::new([const { Wire::free() }; 6]);
static MACHINE: StaticCell<Machine<'static>> = StaticCell::new();
static DRIVERS: StaticCell<[Put; 2]> = StaticCell::new();

/// Makes the machine and calls everything of its drivers.
pub fn run() {
    let [Some(left), Some(right)] = MEMORY.each_ref().map(ConstStaticCell::try_take) else {
        return;
    };
    let memories = [left, right];
    let make = || {
        memories.map(|memory| {
            let memory = Ram::new(0, &mut memory[..]);
            Node::new(memory, BridgeConfig::default(), DdcConfig::default())
        })
    };
    let mut chip = RcubeConfig::default();
    chip.ports[0] = PortKind::Parallel;
    let (Some(nodes), Some(routers), Some(wires), Some(drivers)) = (
        NODES.try_init_with(make),
        ROUTERS.try_init_with(|| [Router::new(chip.clone()), Router::new(chip)]),
        WIRES.try_take(),
        DRIVERS.try_init_with(|| [Put::new(), Put::new()]),
    ) else {
        return;
    };
    let config = MachineConfig::default();
    let (nodes, routers, wires) = (&mut nodes[..], &mut routers[..], &mut wires[..]);
    let Some(machine) = MACHINE.try_init_with(|| Machine::new(config, nodes, routers, wires))
    else {
        return;
    };
    let port = |router, port| End::Router { router, port };
    let _ = black_box(machine.connect(End::Node(0), port(0, 0), Duration::ZERO));
    let _ = black_box(machine.connect(End::Node(1), port(1, 0), Duration::ZERO));
    let _ = black_box(machine.connect(port(0, 1), port(1, 1), Duration::from_ns(15)));
    for (node, put) in (0..).zip(drivers) {
        if let Ok(mut host) = machine.host(black_box(node)) {
            driver::calls(put, &mut host);
        }
    }
    machine.run_for(Duration::from_ns(black_box(1000)));
}

//! The machine in statics, and a driver on each board.

use multipc::ddc::DdcConfig;
use multipc::fabric::{End, Host, HostError, Machine, MachineConfig, NoProbe, Node, Router, Wire};
use multipc::mem::Ram;
use multipc::pci::BridgeConfig;
use multipc::put::{Model, Put, PutConfig};
use multipc::rcube::{PortKind, RcubeConfig, RoutingTable};
use multipc::time::{Duration, Instant};
use static_cell::{ConstStaticCell, StaticCell};

use crate::failure::Failure;

/// The hardware of one board as its driver sees it.
pub type Board = Host<'static, 'static, NoProbe>;

/// Where the driver has its tables.
const TABLES: u32 = 0x1000;
/// First address for pages.
pub const PAGES: u32 = 0x2000;
/// The links need 170 us to come up; on record the driver waits a second.
const SETTLE_US: u32 = 400;

static NODES: StaticCell<[Node<'static>; 2]> = StaticCell::new();
static ROUTERS: StaticCell<[Router; 2]> = StaticCell::new();
static WIRES: ConstStaticCell<[Wire; 6]> = ConstStaticCell::new([const { Wire::free() }; 6]);
static MACHINE: StaticCell<Machine<'static>> = StaticCell::new();
static DRIVERS: StaticCell<[Put; 2]> = StaticCell::new();

/// Two boards.
pub struct Boards {
    machine: &'static mut Machine<'static>,
    drivers: &'static mut [Put; 2],
}

impl Boards {
    /// After power-on, cabled, not started, with the memory of the two hosts. Once a
    /// run: the statics are taken.
    // Its frame, which holds the chips before they are moved, must not stay.
    #[inline(never)]
    pub fn new(memories: [&'static mut [u8]; 2]) -> Result<Self, Failure> {
        let memory_bytes: usize = memories.iter().map(|memory| memory.len()).sum();
        let nodes = NODES.init_with(|| {
            memories.map(|memory| {
                let memory = Ram::new(0, memory);
                Node::new(memory, BridgeConfig::default(), DdcConfig::default())
            })
        });
        let routers = ROUTERS.init_with(|| {
            [0, 1].map(|_| {
                let mut chip = RcubeConfig::default();
                chip.ports[0] = PortKind::Parallel;
                Router::new(chip)
            })
        });
        let wires = WIRES.take();
        let machine = MACHINE.init_with(|| {
            Machine::new(
                MachineConfig::default(),
                &mut nodes[..],
                &mut routers[..],
                &mut wires[..],
            )
        });
        let port = |router, port| End::Router { router, port };
        machine.connect(End::Node(0), port(0, 0), Duration::ZERO)?;
        machine.connect(End::Node(1), port(1, 0), Duration::ZERO)?;
        machine.connect(port(0, 1), port(1, 1), Duration::from_ns(15))?;
        defmt::info!(
            "bytes of RAM: host memory {=usize}, nodes {=usize}, routers {=usize}, wires {=usize}, drivers {=usize}",
            memory_bytes,
            size_of::<[Node<'static>; 2]>(),
            size_of::<[Router; 2]>(),
            size_of::<[Wire; 6]>(),
            size_of::<[Put; 2]>()
        );
        Ok(Self {
            machine,
            drivers: DRIVERS.init_with(|| [Put::new(), Put::new()]),
        })
    }

    /// Starts both boards, with rings of so many entries.
    ///
    /// # Errors
    /// A driver's.
    pub fn start(&mut self, model: Model, entries: u32) -> Result<(), Failure> {
        for (node, driver) in (0..).zip(self.drivers.iter_mut()) {
            let table = table(node);
            let mut config = PutConfig::new(node, TABLES, &table);
            config.nodes = 2;
            config.entries = entries;
            config.counters = 0;
            config.settle_us = SETTLE_US;
            config.model = model;
            driver.init(&mut self.machine.host(node)?, &config)?;
        }
        Ok(())
    }

    /// Puts one user on each board, with so many message identifiers.
    ///
    /// # Errors
    /// A driver's.
    pub fn register(&mut self, identifiers: u32) -> Result<(), Failure> {
        for driver in self.drivers.iter_mut() {
            let sap = driver.register_sap()?;
            driver.attach_mi_range(sap, identifiers)?;
        }
        Ok(())
    }

    /// The machine, and the drivers for whoever stands on them.
    pub fn into_parts(self) -> (&'static mut Machine<'static>, [Put; 2]) {
        (self.machine, self.drivers.clone())
    }

    /// Closes both drivers.
    pub fn stop(&mut self) {
        for driver in self.drivers.iter_mut() {
            driver.end();
        }
    }

    /// A board and its driver.
    ///
    /// # Errors
    /// There is no such board.
    pub fn board(&mut self, node: u16) -> Result<(Host<'_, 'static, NoProbe>, &mut Put), Failure> {
        let host = self.machine.host(node)?;
        let unknown = HostError::UnknownNode { node, nodes: 2 };
        let driver = self.drivers.get_mut(usize::from(node)).ok_or(unknown)?;
        Ok((host, driver))
    }

    /// Whether any board pulls INTA# low.
    pub fn asserted(&self) -> bool {
        self.machine.nodes().iter().any(|node| !node.inta_n())
    }

    /// Runs the chips until INTA# falls, or for `limit`; whether it is low then. Where it
    /// is low already there is no edge.
    pub fn run_to_edge(&mut self, limit: Duration) -> bool {
        if self.asserted() {
            self.run(limit);
            return self.asserted();
        }
        self.machine.run_while_not(limit, |machine| {
            machine.nodes().iter().any(|node| !node.inta_n())
        })
    }

    /// Runs the chips for `time`.
    pub fn run(&mut self, time: Duration) {
        self.machine.run_for(time);
    }

    /// The present of the machine.
    pub fn now(&self) -> Instant {
        self.machine.now()
    }

    /// Microseconds that the machine has run.
    pub fn now_us(&self) -> u64 {
        self.now().ps() / 1_000_000
    }
}

/// The table of router `node`: headers of its own node to port 0, others to port 1.
fn table(node: u16) -> [u8; RoutingTable::WIRE_LEN] {
    const OWN: u8 = 1 << 0;
    const CABLE: u8 = 1 << 1;
    // Interval 0 holds header 0; all above are in interval 7.
    let (zero, above) = if node == 0 {
        (OWN, CABLE)
    } else {
        (CABLE, OWN)
    };
    let mut outputs = [above; 8];
    outputs[0] = zero;
    RoutingTable::uniform([0, 1, 1, 1, 1, 1, 1, 1], outputs).emit()
}

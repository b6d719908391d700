//! A machine from a topology, with owned storage.

use alloc::vec;
use alloc::vec::Vec;

use super::labelling::Labelling;
use super::machine::{Machine, MachineConfig};
use super::node::{Node, Router};
use super::topology::{Port, PortId, Topology};
use super::wiring::{End, Wire, WiringError};
use crate::ddc::DdcConfig;
use crate::mem::Ram;
use crate::pci::BridgeConfig;
use crate::rcube::{PortKind, RcubeConfig};
use crate::time::Duration;

/// What every board of a machine is made of.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BoardConfig {
    /// First physical address of host memory. Default 0.
    pub memory_base: u32,
    /// Bytes of host memory, used up to 2^32 - [`memory_base`](Self::memory_base):
    /// no address leads beyond. Default 1 MiB.
    pub memory_bytes: usize,
    /// The chipset.
    pub bridge: BridgeConfig,
    /// The controller.
    pub ddc: DdcConfig,
    /// The router; the kinds of its ports follow from the topology.
    pub rcube: RcubeConfig,
    /// Whether a protocol checker watches each PCI bus. Default false.
    pub check_bus: bool,
}

impl Default for BoardConfig {
    fn default() -> Self {
        Self {
            memory_base: 0,
            memory_bytes: 1 << 20,
            bridge: BridgeConfig::default(),
            ddc: DdcConfig::default(),
            rcube: RcubeConfig::default(),
            check_bus: false,
        }
    }
}

impl Machine<'static> {
    /// A machine after power-on, cabled as `topology` says. Node `n` of the
    /// machine is the generator that `labelling` numbers `n`, so that node
    /// numbers are the ones in packet headers.
    ///
    /// The tables of `labelling` are not loaded: that is the driver's work.
    ///
    /// # Errors
    /// [`WiringError`] when a cable is longer than the model allows.
    pub fn build(
        topology: &Topology<'_>,
        labelling: &Labelling<'_>,
        config: MachineConfig,
        board: &BoardConfig,
    ) -> Result<Self, WiringError> {
        let room = usize::try_from((1 << 32) - u64::from(board.memory_base));
        let memory_bytes = board.memory_bytes.min(room.unwrap_or(usize::MAX));
        let nodes: Vec<Node<'static>> = topology
            .generators()
            .iter()
            .map(|_| {
                let memory = Ram::new(board.memory_base, vec![0; memory_bytes]);
                let node = Node::new(memory, board.bridge, board.ddc);
                if board.check_bus {
                    node.with_checker()
                } else {
                    node
                }
            })
            .collect();
        let routers: Vec<Router> = (0..topology.routers())
            .map(|router| {
                let mut chip = board.rcube.clone();
                for (kind, port) in chip.ports.iter_mut().zip(topology.ports(router)) {
                    *kind = match port {
                        Port::Generator(_) => PortKind::Parallel,
                        _ => PortKind::Serial,
                    };
                }
                Router::new(chip)
            })
            .collect();
        let cables = topology.generators().len() + topology.cables().len();
        let mut machine = Machine::new(config, nodes, routers, vec![Wire::free(); 2 * cables]);
        let end = |at: PortId| End::Router {
            router: at.router,
            port: at.port,
        };
        for (generator, &at) in (0..).zip(topology.generators()) {
            let node = labelling.node_of(generator).unwrap_or(generator);
            // On the board: no wire to speak of.
            machine.connect(End::Node(node), end(at), Duration::ZERO)?;
        }
        for cable in topology.cables() {
            let [a, b] = cable.ends;
            machine.connect(end(a), end(b), cable.delay)?;
        }
        Ok(machine)
    }
}

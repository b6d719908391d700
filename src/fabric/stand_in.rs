//! Chips of a machine that somebody else plays: RTL in a simulator, hardware.

use crate::ddc::{PciInputs, PciOutputs};
use crate::hsl::Line;

/// What the pins of a router carry after an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RouterPins {
    /// The output of each port.
    pub outputs: [Line; 8],
    /// A bit for each link that is up.
    pub link_status: u8,
}

/// What the pins of a controller carry after an edge of either clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ControllerPins {
    /// PCI bus, REQ#, INTA# and the configuration chain.
    pub pci: PciOutputs,
    /// The parallel port.
    pub link: Line,
}

/// Plays chips in the place of their models.
///
/// A [`Probe`](super::Probe) that gives one out is asked at each edge of each
/// chip that is due, and answers with the pins after that edge, or `None`: the
/// model. It must answer for a chip always or never. Its pins are registers:
/// they change at the edges of their clock only, and may depend on nothing but
/// what they were given at this edge and before.
///
/// A chip that is played never sleeps. Its model stays as it was at power-on:
/// what looks inside chips (registers without the bus, counters, comparison,
/// the finder of deadlocks) finds nothing there. A watched node whose
/// controller is played has news at each PCI edge. A router without a board
/// that takes its table from `Machine::load_table` cannot be played.
pub trait StandIn {
    /// An edge of the link clock of a router that samples `inputs`.
    fn router_edge(&mut self, router: u16, inputs: &[Line; 8]) -> Option<RouterPins> {
        let _ = (router, inputs);
        None
    }

    /// The configuration chain of a router has a new level of R3_INIT or a byte
    /// of R3_DOUT, for its next link edge. Called for all routers.
    fn router_chain(&mut self, router: u16, r3_init: bool, r3_dout: Option<u8>) {
        let _ = (router, r3_init, r3_dout);
    }

    /// An edge of the link clock of a controller whose port samples `input`.
    fn controller_link_edge(&mut self, node: u16, input: Line) -> Option<ControllerPins> {
        let _ = (node, input);
        None
    }

    /// An edge of the PCI clock of a controller that samples `inputs`.
    fn controller_pci_edge(&mut self, node: u16, inputs: &PciInputs) -> Option<ControllerPins> {
        let _ = (node, inputs);
        None
    }
}

//! Boards, cables and the machine that steps it all.
//!
//! A [`Node`] is a host with its controller (memory, PCI bus, host bridge,
//! PCI-DDC), a [`Router`] an RCUBE with its ports; a board is one of each,
//! joined by the parallel port 0 of the router. Cables join router ports.
//!
//! Document: hw/doc/fabric.md.

mod channel;
mod compare;
mod host;
mod machine;
mod node;
mod probe;
mod wiring;

pub use compare::Difference;
pub use channel::{Channel, DelayError};
pub use host::{Host, HostError};
pub use machine::{Machine, MachineConfig, Parts};
pub use node::{Node, Router};
pub use probe::{Domain, Edge, NoProbe, Probe};
pub use wiring::{End, Wire, WiringError};

//! Boards, cables and the machine that steps it all.
//!
//! [`topology`] describes a machine on paper and follows routes through it;
//! [`labelling`] computes the routers' interval tables. A [`Node`] is a host
//! with its controller (memory, PCI bus, host bridge, PCI-DDC), a [`Router`] an
//! RCUBE with its ports; a board is one of each, joined by the parallel port 0
//! of the router. [`Machine`] steps them on two clocks. [`faults`] spoils their
//! cables and buses.
//!
//! Documents: hw/doc/fabric.md, hw/doc/topology.md, hw/doc/faults.md.

#[cfg(feature = "alloc")]
pub mod analysis;
#[cfg(feature = "alloc")]
mod build;
mod channel;
mod compare;
#[cfg(feature = "alloc")]
pub mod deadlock;
pub mod faults;
mod host;
pub mod labelling;
mod machine;
mod news;
mod node;
mod probe;
mod service;
mod stand_in;
pub mod stuck;
mod sweep;
pub mod topology;
mod wiring;

#[cfg(feature = "alloc")]
pub use build::BoardConfig;
pub use channel::{Channel, DelayError};
pub use compare::Difference;
pub use host::{Host, HostError};
pub use machine::{Machine, MachineConfig, Parts};
pub use news::Watch;
pub use node::{Node, Router};
pub use probe::{Domain, Edge, NoProbe, Probe};
pub use service::LoadTableError;
pub use stand_in::{ControllerPins, RouterPins, StandIn};
pub use wiring::{End, Wire, WiringError};

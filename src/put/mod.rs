//! PUT: the driver of PCI-DDC.
//!
//! Document: hw/doc/put.md.

mod port;

pub use port::{DmaMemory, RegisterPort};

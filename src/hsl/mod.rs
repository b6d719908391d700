//! HSL: the IEEE 1355 high-speed link, at the level of 9-bit symbols.
//!
//! | part | what |
//! |---|---|
//! | [`Symbol`], [`Line`] | the characters, and what a port carries in one cycle |
//! | [`Credit`], [`Flit`] | the two counters of flow control |
//! | [`Port`] | one end of a link: start-up, credits, FCC, exceptions |
//! | [`PortBank`] | eight ports side by side, for a router |
//! | [`Crc32`] | the check sum of packets |
//! | [`wire_delay_cycles`] | the length of a cable in cycles |
//!
//! Document: hw/doc/hsl.md.

mod bank;
mod crc;
mod credit;
mod life;
mod port;
mod symbol;
mod wire;
pub(crate) mod word;

pub use bank::{Emission, PortBank};
pub use crc::Crc32;
pub use credit::{Credit, CreditError, FLIT, Flit};
pub use life::{Down, LinkConfig, Phase, PortKind, Received};
pub use port::{Port, Slot};
pub use symbol::{Line, Symbol};
pub use wire::{DEFAULT_CABLE_METRES, PS_PER_METRE, cable_delay, wire_delay_cycles};

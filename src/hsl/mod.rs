//! HSL: the IEEE 1355 high-speed link, at the level of 9-bit symbols.
//!
//! | part | what |
//! |---|---|
//! | [`Symbol`], [`Line`] | the characters, and what a port carries in one cycle |
//! | [`Credit`], [`Flit`] | the two counters of flow control |
//! | [`Port`] | one end of a link: start-up, credits, FCC, exceptions |
//! | [`Crc32`] | the check sum of packets |
//! | [`wire_delay_cycles`] | the length of a cable in cycles |
//!
//! Document: hw/doc/hsl.md.

mod crc;
mod credit;
mod port;
mod symbol;
mod wire;

pub use crc::Crc32;
pub use credit::{Credit, CreditError, FLIT, Flit};
pub use port::{Down, LinkConfig, Phase, Port, PortKind, Received, Slot};
pub use symbol::{Line, Symbol};
pub use wire::{DEFAULT_CABLE_METRES, PS_PER_METRE, cable_delay, wire_delay_cycles};

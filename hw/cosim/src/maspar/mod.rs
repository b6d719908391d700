//! The MasPar router: one chip, the wires of the backplane, and the whole router of a
//! machine.
//!
//! Pins and ticks: hw/doc/rtl-maspar.md.

mod backplane;
mod chip;
mod router;

pub use backplane::*;
pub use chip::*;
pub use router::*;

//! HSL: the IEEE 1355 high-speed link, at the level of 9-bit symbols.
//!
//! Document: hw/doc/hsl.md.

mod symbol;

pub use symbol::{Line, Symbol};

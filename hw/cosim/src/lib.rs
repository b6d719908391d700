//! Lock-step of `multipc`'s chip models and their RTL (`hw/rtl`), Verilated.
//!
//! - [`pins!`] declares what goes into and comes out of a device in one cycle.
//! - [`verilated!`] makes a [`Device`] of a top that `build.rs` has compiled.
//! - [`Lockstep`] steps two devices together and compares every output pin of
//!   every cycle. On a difference it shows the last 20 cycles of both and writes
//!   a waveform.
//!
//! A top's file here (`src/<top>.rs`) has its pins, its Verilated device and the
//! model behind the same pins.

pub mod device;
pub mod lockstep;
pub mod pins;
pub mod random;
mod wave;

#[cfg(all(feature = "ddc", feature = "rcube"))]
pub mod board;
#[cfg(feature = "ddc")]
pub mod ddc;
#[cfg(feature = "rcube")]
pub mod hsl_end;
#[cfg(feature = "maspar")]
pub mod maspar;
#[cfg(feature = "rcube")]
pub mod rcube;
#[cfg(feature = "rcube")]
pub mod traffic;

pub use device::Device;
pub use lockstep::{Difference, Lockstep};
pub use pins::{Pins, Wire};
pub use random::Random;

/// Link or bus cycles that a random test runs: `short`, or `long` when the
/// environment has `MULTIPC_LONG`.
pub fn cycles(short: u64, long: u64) -> u64 {
    if std::env::var_os("MULTIPC_LONG").is_some() {
        long
    } else {
        short
    }
}

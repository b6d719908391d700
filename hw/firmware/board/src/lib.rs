//! The hardware of one board by address: a register port, DMA memory, INTA#, time.
//!
//! This is where `unsafe` is: [`port`] dereferences register addresses, [`dma`] hands
//! out the one static that the controller reads and writes. Everything above is the
//! driver of `multipc`, unchanged. [`config`] is the file to edit for a board.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod config;
pub mod dma;
pub mod hardware;
#[cfg(any(test, feature = "plain-ram"))]
pub mod plain_ram;
pub mod port;

pub use dma::{Dma, Region};
pub use hardware::Hardware;
pub use port::{MmioPort, Outside};

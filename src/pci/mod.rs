//! The PCI bus of one board, at signal level: one struct of signals a clock.
//!
//! Document: hw/doc/pci.md.

mod signals;

pub use signals::{Command, Drive, Signals, resolve};

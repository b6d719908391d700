//! The PCI bus of one board, at signal level: one struct of signals a clock.
//!
//! Two agents share it: PCI-DDC (`ddc`) and the [`HostBridge`], which is the
//! memory behind the bus, the configuration accesses of the CPU, and the
//! central arbiter. A harness steps a board so:
//!
//! ```
//! use multipc::mem::Ram;
//! use multipc::pci::{BridgeConfig, ConfigAccess, Drive, HostBridge, resolve};
//!
//! let mut store = [0u8; 64];
//! let mut memory = Ram::new(0, &mut store[..]);
//! let mut bridge = HostBridge::new(BridgeConfig::default());
//! bridge.submit(ConfigAccess::read(0x40))?;
//! let device = Drive::default(); // an empty slot: nobody answers
//! let outcome = loop {
//!     let bus = resolve(&[bridge.drive(), device]);
//!     bridge.step(&bus, true, &mut memory);
//!     if let Some(outcome) = bridge.take() {
//!         break outcome;
//!     }
//! };
//! assert_eq!(outcome.data, 0xFFFF_FFFF); // master abort
//! # Ok::<(), multipc::pci::BridgeError>(())
//! ```
//!
//! Document: hw/doc/pci.md.

mod arbiter;
mod bridge;
mod checker;
mod config;
mod initiator;
mod parity;
mod signals;
mod target;
#[cfg(any(test, feature = "test-utils"))]
mod test_device;
#[cfg(any(test, feature = "test-utils"))]
mod test_master;
#[cfg(test)]
mod tests;

pub use arbiter::Agent;
pub use bridge::{BridgeStats, HostBridge};
pub use checker::{Checker, MAX_VIOLATIONS, Observation, Rule, Violation};
pub use config::{BridgeConfig, BridgeError, DecodeSpeed, TargetResponse};
pub use initiator::{ConfigAccess, ConfigEnd, ConfigKind, ConfigOutcome};
pub use parity::even_parity;
pub use signals::{Command, Drive, Signals, resolve};
#[cfg(any(test, feature = "test-utils"))]
pub use test_device::{DeviceResponse, TestDevice};
#[cfg(any(test, feature = "test-utils"))]
pub use test_master::{MAX_WORDS, TestMaster, TestMasterConfig, TransferEnd, TransferOutcome};

//! Peers for tests: a controller that behaves at register level, and one that
//! does not.
//!
//! They are public (feature `test-utils`) so that a port of the driver, or a
//! layer above it, can be tested without the clocked chip.

mod fake;
mod hostile;

pub use fake::{Access, FakeController, FakeError, Quirks};
pub use hostile::HostileController;

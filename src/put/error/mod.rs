//! What the driver's calls can refuse, one enum per family of calls.

mod post;
mod sap;
mod start;

pub use post::{AddError, CounterError, MAX_PAGE, Protocol};
pub use sap::{AttachError, SapError};
pub use start::{InitError, MAX_ENTRIES, MAX_NODES, TABLE_LEN};

use core::fmt;

use super::port::{DmaMemory, RegisterPort};

/// Reads of one register before the driver gives up on all-ones answers.
pub const READ_TRIES: u8 = 11;

/// The hardware did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PortError<R, M> {
    /// A register access failed.
    Register {
        /// The register.
        offset: u8,
        /// The port's own error.
        error: R,
    },
    /// A memory access failed.
    Memory {
        /// First byte.
        address: u32,
        /// The memory's own error.
        error: M,
    },
    /// A register answered all ones [`READ_TRIES`] times.
    NoAnswer {
        /// The register.
        offset: u8,
    },
}

/// The [`PortError`] of a hardware handle.
pub type PortErrorOf<H> = PortError<<H as RegisterPort>::Error, <H as DmaMemory>::Error>;

impl<R: fmt::Debug, M: fmt::Debug> fmt::Display for PortError<R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register { offset, error } => {
                write!(f, "access to register {offset:#04x} failed: {error:?}")
            }
            Self::Memory { address, error } => {
                write!(f, "access to memory at {address:#010x} failed: {error:?}")
            }
            Self::NoAnswer { offset } => {
                write!(
                    f,
                    "register {offset:#04x} read as 0xffffffff {READ_TRIES} times"
                )
            }
        }
    }
}

impl<R: fmt::Debug, M: fmt::Debug> core::error::Error for PortError<R, M> {}
/// A flush, poll or interrupt that was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ServeError<E> {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// The board was stopped after a fault; close and start it again.
    #[doc(alias = "stop_put")]
    Stopped,
    /// The hardware did not answer; nothing was lost, call again.
    Port(E),
}

impl<E: fmt::Display> fmt::Display for ServeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::Stopped => f.write_str("board was stopped after a fault"),
            Self::Port(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for ServeError<E> {}

impl<E> From<E> for ServeError<E> {
    fn from(error: E) -> Self {
        Self::Port(error)
    }
}

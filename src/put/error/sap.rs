//! Refusals about SAPs and message identifiers.

use core::fmt;

use crate::put::{MI_LIMIT, SAPS};

/// A SAP call that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SapError {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// No SAP of that number is registered.
    #[doc(alias = "EBADF")]
    Unknown {
        /// The number.
        sap: u8,
    },
    /// All SAPs are in use.
    Full,
}

impl fmt::Display for SapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::Unknown { sap } => write!(f, "sap {sap} is not registered"),
            Self::Full => write!(f, "all {} saps are in use", SAPS),
        }
    }
}

impl core::error::Error for SapError {}

/// A range of message identifiers that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum AttachError {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// No SAP of that number is registered.
    #[doc(alias = "EBADF")]
    UnknownSap {
        /// The number.
        sap: u8,
    },
    /// The SAP has a range.
    #[doc(alias = "EBUSY")]
    AlreadyAttached {
        /// Its first identifier.
        start: u32,
        /// Its size.
        size: u32,
    },
    /// The size is not a power of 2.
    #[doc(alias = "EINVAL")]
    NotPowerOfTwo {
        /// The size.
        n: u32,
    },
    /// The first range would take all identifiers or more.
    #[doc(alias = "E2BIG")]
    TooBig {
        /// The size.
        n: u32,
    },
    /// No gap after an existing range is large enough.
    #[doc(alias = "ENOMEM")]
    NoRoom {
        /// The size.
        n: u32,
    },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::UnknownSap { sap } => write!(f, "sap {sap} is not registered"),
            Self::AlreadyAttached { start, size } => {
                write!(f, "sap has {size} message identifiers from {start} already")
            }
            Self::NotPowerOfTwo { n } => {
                write!(f, "range of {n} message identifiers is not a power of 2")
            }
            Self::TooBig { n } => {
                write!(
                    f,
                    "first range of {n} message identifiers, allowed 1..{}",
                    MI_LIMIT
                )
            }
            Self::NoRoom { n } => write!(
                f,
                "no room for {n} message identifiers below {} after the ranges in use",
                MI_LIMIT
            ),
        }
    }
}

impl core::error::Error for AttachError {}

impl From<SapError> for AttachError {
    fn from(error: SapError) -> Self {
        match error {
            SapError::Unknown { sap } => Self::UnknownSap { sap },
            SapError::NotOpen | SapError::Full => Self::NotOpen,
        }
    }
}

//! What a writer refuses.

use core::fmt;

use crate::put::{AddError, AttachError, Fault, MAX_PAGE, MI_LIMIT, SapError, ServeError};

/// A writer that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WriterError {
    /// No SAP.
    Sap(SapError),
    /// No message identifiers.
    Attach(AttachError),
    /// Pages of no bytes, or of more than 65,535.
    PageLength {
        /// The value.
        page: u32,
    },
    /// Messages of no pages.
    NoPages,
    /// A budget of 0 would never get anywhere.
    NoBudget,
    /// No tags.
    NoTags,
}

impl fmt::Display for WriterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sap(error) => error.fmt(f),
            Self::Attach(error) => error.fmt(f),
            Self::PageLength { page } => {
                write!(f, "writer pages of {page} bytes, allowed 1..={MAX_PAGE}")
            }
            Self::NoPages => f.write_str("writer messages of 0 pages, allowed 1.."),
            Self::NoBudget => f.write_str("writer budget of 0, allowed 1..=65535"),
            Self::NoTags => write!(f, "writer with 0 tags, allowed 1..={MI_LIMIT}"),
        }
    }
}

impl core::error::Error for WriterError {}

impl From<SapError> for WriterError {
    fn from(error: SapError) -> Self {
        Self::Sap(error)
    }
}

impl From<AttachError> for WriterError {
    fn from(error: AttachError) -> Self {
        Self::Attach(error)
    }
}

/// A transfer that will not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TransferError {
    /// The board was stopped before the transfer had left.
    Stopped {
        /// Why.
        fault: Fault,
    },
    /// The driver was closed before the transfer had left.
    Closed,
    /// No such transfer was started here.
    Unknown {
        /// Its number.
        id: u64,
    },
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped { fault } => write!(f, "transfer lost, board stopped: {fault}"),
            Self::Closed => f.write_str("transfer lost, driver is closed"),
            Self::Unknown { id } => write!(f, "transfer {id} was not started here"),
        }
    }
}

impl core::error::Error for TransferError {}

/// A remote write that was refused, or a poll that was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WriteError<E> {
    /// As many transfers as fit are in progress; goes away by polling.
    #[doc(alias = "EAGAIN")]
    QueueFull {
        /// Transfers that fit.
        limit: usize,
    },
    /// The tag is outside the writer's range.
    Tag {
        /// The tag.
        tag: u32,
        /// Tags of the writer.
        tags: u32,
    },
    /// A range of bytes that does not lie below 2^32.
    OutOfReach {
        /// Its first byte.
        address: u64,
        /// Its length.
        length: u64,
    },
    /// What the driver refuses.
    Refused(AddError<E>),
    /// A poll was not finished.
    Serve(ServeError<E>),
    /// A transfer will not be finished.
    Transfer(TransferError),
}

impl<E: fmt::Display> fmt::Display for WriteError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueFull { limit } => {
                write!(f, "queue full: {limit} transfers in progress")
            }
            Self::Tag { tag, tags } => write!(f, "tag {tag}, allowed 0..{tags}"),
            Self::OutOfReach { address, length } => {
                write!(f, "{length} bytes at {address:#x} do not end below 2^32")
            }
            Self::Refused(error) => error.fmt(f),
            Self::Serve(error) => error.fmt(f),
            Self::Transfer(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for WriteError<E> {}

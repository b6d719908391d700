//! Why a receive or a message finds no place.

use core::fmt;

/// A queue is full. The value that was to be kept is dropped; nothing else
/// has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MatchError {
    /// No place for another posted receive.
    PostedFull {
        /// Receives that fit.
        capacity: usize,
    },
    /// No place for another unexpected message.
    UnexpectedFull {
        /// Messages that fit.
        capacity: usize,
    },
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PostedFull { capacity } => {
                write!(f, "one more posted receive, at most {capacity}")
            }
            Self::UnexpectedFull { capacity } => {
                write!(f, "one more unexpected message, at most {capacity}")
            }
        }
    }
}

impl core::error::Error for MatchError {}

//! Whom a call addresses, and what a receive says.

use core::fmt;

use crate::mpi::process;

/// A rank of the communicator, or nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Peer {
    /// This rank.
    Rank(u32),
    /// MPI_PROC_NULL: sends vanish, receives are empty, both at once.
    Null,
}

/// Nobody: what a rank at the edge of a grid has as its neighbour.
#[doc(alias = "MPI_PROC_NULL")]
pub const PROC_NULL: Peer = Peer::Null;

/// Whose messages a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Source {
    /// Those of this rank.
    Rank(u32),
    /// Those of any rank.
    Any,
    /// None: see [`PROC_NULL`].
    Null,
}

/// Any source.
#[doc(alias = "MPI_ANY_SOURCE")]
pub const ANY_SOURCE: Source = Source::Any;

/// Which tags a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Tag {
    /// This one, 0 or more.
    Value(i32),
    /// Every one.
    Any,
}

/// Any tag.
#[doc(alias = "MPI_ANY_TAG")]
pub const ANY_TAG: Tag = Tag::Any;

impl From<u32> for Peer {
    fn from(rank: u32) -> Self {
        Self::Rank(rank)
    }
}

impl From<u32> for Source {
    fn from(rank: u32) -> Self {
        Self::Rank(rank)
    }
}

impl From<Peer> for Source {
    fn from(peer: Peer) -> Self {
        match peer {
            Peer::Rank(rank) => Self::Rank(rank),
            Peer::Null => Self::Null,
        }
    }
}

impl From<i32> for Tag {
    fn from(tag: i32) -> Self {
        Self::Value(tag)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank(rank) => write!(f, "rank {rank}"),
            Self::Null => f.write_str("nobody"),
        }
    }
}

/// What was received or probed.
#[doc(alias = "MPI_Status")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Status {
    /// The sender; [`PROC_NULL`] if there was none.
    pub source: Peer,
    /// The tag of the message; [`ANY_TAG`] if there was none.
    pub tag: Tag,
    /// Bytes of the message.
    pub length: u64,
}

impl Status {
    /// What a receive from [`PROC_NULL`] says.
    pub const NULL: Self = Self {
        source: Peer::Null,
        tag: Tag::Any,
        length: 0,
    };

    /// Elements of `T` in the message; `None` if it is no whole number of them.
    #[doc(alias = "MPI_Get_count")]
    pub fn count<T>(&self) -> Option<usize> {
        let element = size_of::<T>() as u64;
        if self.length == 0 {
            return Some(0);
        }
        if element == 0 || !self.length.is_multiple_of(element) {
            return None;
        }
        usize::try_from(self.length / element).ok()
    }
}

impl From<process::Status> for Status {
    fn from(status: process::Status) -> Self {
        Self {
            source: Peer::Rank(status.source),
            tag: Tag::Value(status.tag),
            length: status.length,
        }
    }
}

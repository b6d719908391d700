//! Why a world does not start, or does not come to its end.

use alloc::vec::Vec;
use core::fmt;

use crate::mpi::boot::BootError;
use crate::mpi::endpoint::{Pending, Waits};
use crate::time::{Duration, Instant};

/// A rank that cannot go on, and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// The rank.
    pub rank: u32,
    /// Whether its program was over; it is named if its library has work left.
    pub over: bool,
    /// Its operations that are not complete.
    pub pending: Vec<Pending>,
}

/// Why a world does not start, or does not come to its end; `E` is the
/// machine's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorldError<E> {
    /// No ranks, or more than the message layer takes.
    Ranks {
        /// Ranks asked for.
        ranks: u32,
        /// The most.
        limit: u32,
    },
    /// A node has too little memory.
    Arena {
        /// Bytes that the ranks of a node need.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// A node takes too few reports.
    Reports {
        /// Reports that may wait for the ranks of a node.
        needed: u32,
        /// Reports that fit.
        available: u32,
    },
    /// The processes do not find together.
    Boot(BootError),
    /// The machine failed.
    Medium {
        /// The rank that noticed.
        rank: u32,
        /// What it was.
        error: E,
    },
    /// Nobody can go on: the ranks, and what each waits for.
    Deadlock {
        /// When.
        at: Instant,
        /// Every rank that is not done.
        ranks: Vec<Stuck>,
        /// Ranks whose boards have stopped.
        stopped: Vec<u32>,
    },
    /// The run took too much simulated time.
    TimeLimit {
        /// How much it was given.
        limit: Duration,
        /// Every rank that is not done.
        ranks: Vec<Stuck>,
        /// Ranks whose boards have stopped.
        stopped: Vec<u32>,
    },
    /// A program does not wait for what it asks for.
    NoWait {
        /// Its rank.
        rank: u32,
    },
}

impl<E: fmt::Display> fmt::Display for WorldError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ranks { ranks, limit } => write!(f, "{ranks} ranks, allowed 1..={limit}"),
            Self::Arena { needed, available } => {
                write!(
                    f,
                    "a node needs {needed} bytes for its ranks and has {available}"
                )
            }
            Self::Reports { needed, available } => {
                write!(f, "a node must take {needed} reports and takes {available}")
            }
            Self::Boot(error) => error.fmt(f),
            Self::Medium { rank, error } => write!(f, "rank {rank}: {error}"),
            Self::Deadlock { at, ranks, stopped } => {
                write!(f, "deadlock after {at}:")?;
                list(ranks, f)?;
                boards(stopped, f)
            }
            Self::TimeLimit {
                limit,
                ranks,
                stopped,
            } => {
                write!(f, "run took more than {limit}:")?;
                list(ranks, f)?;
                boards(stopped, f)
            }
            Self::NoWait { rank } => write!(f, "program of rank {rank} never waits"),
        }
    }
}

/// Ranks that are not done, and what each waits for.
fn list(ranks: &[Stuck], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, stuck) in ranks.iter().enumerate() {
        let separator = if i == 0 { "" } else { ";" };
        write!(f, "{separator} rank {}", stuck.rank)?;
        if stuck.over {
            f.write_str(" (over)")?;
        }
        if stuck.pending.is_empty() {
            f.write_str(" waits for nothing of the library")?;
        }
        for (i, pending) in stuck.pending.iter().enumerate() {
            f.write_str(if i == 0 { " " } else { ", " })?;
            describe(pending, f)?;
        }
    }
    Ok(())
}

/// Ranks whose boards have stopped, if there are any.
fn boards(stopped: &[u32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, rank) in stopped.iter().enumerate() {
        let separator = if i == 0 { "; stopped: rank" } else { "," };
        write!(f, "{separator} {rank}")?;
    }
    Ok(())
}

/// What an operation is and what it waits for.
fn describe(pending: &Pending, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (what, toward) = match pending.waits {
        Waits::Message | Waits::Answer | Waits::Data => ("receive", "from"),
        _ => ("send", "to"),
    };
    write!(f, "{what} of {} bytes {toward} ", pending.length)?;
    match (toward, pending.peer, pending.source) {
        ("to", Some(peer), _) | ("from", Some(peer), None) => write!(f, "rank {peer}")?,
        (_, _, Some(source)) => write!(f, "source {source}")?,
        _ => f.write_str("any source")?,
    }
    match pending.tag {
        Some(tag) => write!(f, " tag {tag}")?,
        None => f.write_str(" any tag")?,
    }
    let for_what = match pending.waits {
        Waits::Call => "the processor",
        Waits::Credit => "credits",
        Waits::Match => "a matching receive",
        Waits::Departure => "its bytes to leave",
        Waits::Message => "a message",
        Waits::Answer => "a place to land",
        Waits::Data => "its data",
    };
    write!(f, " context {} waits for {for_what}", pending.context)
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for WorldError<E> {}

impl<E> From<BootError> for WorldError<E> {
    fn from(error: BootError) -> Self {
        Self::Boot(error)
    }
}

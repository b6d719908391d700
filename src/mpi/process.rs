//! What a program can ask of the message layer: one process's point-to-point calls.
//!
//! [`PointToPoint`] is the seam between the machine below (any transport, any
//! notion of time) and the vocabulary of the MPI standard above. Ranks at this
//! level are *world* ranks, except in envelopes, which carry the rank within the
//! communicator, as the wire does.
//!
//! Progress happens only inside calls: [`PointToPoint::poll_wait`],
//! [`PointToPoint::poll_probe`], [`PointToPoint::progress`] and what is made of
//! them. All other calls note what is wanted and return at once.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "alloc")]
use core::future::Future;
#[cfg(feature = "alloc")]
use core::task::{Context, Poll};

#[cfg(feature = "alloc")]
use crate::time::{Duration, Instant};

pub use super::matching::Pattern;

/// An operation started and not yet completed, as its process knows it.
///
/// Ids are never used twice by one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RequestId(pub u64);

/// How a send completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SendMode {
    /// When the data may be overwritten; whether it was matched is left open.
    #[default]
    Standard,
    /// When a receive has matched it.
    Synchronous,
    /// As `Standard`; the program promises that the receive is already posted.
    Ready,
}

/// Where a message goes and the envelope it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Outgoing {
    /// World rank of the destination.
    pub dst: u32,
    /// Context id of the communicator.
    pub context: u32,
    /// Rank of the sender in that communicator.
    pub src_rank: u32,
    /// Tag: 0 or more, negative only with `internal`.
    pub tag: i32,
    /// A message of the library itself (a collective): flag INTERNAL of the header.
    pub internal: bool,
    /// When the send completes.
    pub mode: SendMode,
}

/// The envelope and size of a message that was received, sent or probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: u32,
    /// Tag of the message.
    pub tag: i32,
    /// Bytes received: at most the capacity of the receive. Probes: as `total`.
    pub length: u64,
    /// Bytes of the message as it was sent.
    pub total: u64,
}

impl Status {
    /// Whether the receive had room for a part of the message only.
    pub const fn is_truncated(&self) -> bool {
        self.length < self.total
    }
}

/// A completed operation.
///
/// A message longer than its receive is a completion like others: `data` holds the
/// part that fits, and [`Status::is_truncated`] says so. (The calls of a
/// communicator turn it into [`MpiError::Truncate`].)
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Receives: what came. Sends: own rank, own tag, length sent.
    pub status: Status,
    /// The bytes received; empty for a send.
    pub data: Vec<u8>,
}

#[cfg(all(feature = "alloc", feature = "defmt"))]
impl defmt::Format for Completion {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Completion {{ {}, {} bytes }}",
            self.status,
            self.data.len()
        );
    }
}

/// Work of the library on its process's CPU, for the machine's cost model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Work {
    /// Bytes copied from memory to memory (packing, self exchange).
    Copy {
        /// Bytes.
        bytes: u64,
    },
    /// Bytes combined by a reduction operator.
    Reduce {
        /// Bytes of one operand.
        bytes: u64,
    },
}

/// Messaging of one process with every other of its world.
///
/// The handle is cheap to clone; clones are the same process.
#[cfg(feature = "alloc")]
pub trait PointToPoint: Clone + 'static {
    /// This process's rank in the world.
    fn world_rank(&self) -> u32;

    /// Processes of the world.
    fn world_size(&self) -> u32;

    /// Starts a send. `to.dst` may be this process itself.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`] for a destination outside the world,
    /// [`MpiError::PeerClosed`] when it is known to be unreachable,
    /// [`MpiError::Resource`] without room for another request. Later errors come
    /// with the completion.
    fn isend(&self, to: Outgoing, data: Vec<u8>) -> Result<RequestId, MpiError>;

    /// Starts a receive of at most `capacity` bytes.
    ///
    /// # Errors
    /// [`MpiError::Resource`] without room for another request.
    fn irecv(&self, from: Pattern, capacity: usize) -> Result<RequestId, MpiError>;

    /// As [`irecv`](Self::irecv), of a source whose rank in the world is `peer`:
    /// the receive fails with [`MpiError::PeerClosed`] when the link to it
    /// closes. A pattern alone names ranks of a communicator.
    ///
    /// # Errors
    /// As [`irecv`](Self::irecv).
    fn irecv_from(
        &self,
        from: Pattern,
        peer: Option<u32>,
        capacity: usize,
    ) -> Result<RequestId, MpiError> {
        let _ = peer;
        self.irecv(from, capacity)
    }

    /// The result of `id` if it is known to be complete. No progress is made and no
    /// time passes. A result is given once: afterwards, and for an id that is none
    /// of this process, the answer is [`MpiError::InvalidRequest`].
    fn try_wait(&self, id: RequestId) -> Option<Result<Completion, MpiError>>;

    /// As [`try_wait`](Self::try_wait), from inside a wait: `Pending` means that the
    /// process makes progress and is polled again when something may have changed.
    ///
    /// Several ids may be waited for in one poll (whichever is complete first wakes
    /// the process); what is waited for is said anew at each poll.
    fn poll_wait(&self, id: RequestId, cx: &mut Context<'_>) -> Poll<Result<Completion, MpiError>>;

    /// One round of progress; takes the time of such a round, never waits for a
    /// message.
    fn progress(&self) -> impl Future<Output = ()>;

    /// One round of progress, then [`try_wait`](Self::try_wait).
    fn test(&self, id: RequestId) -> impl Future<Output = Option<Result<Completion, MpiError>>> {
        async move {
            self.progress().await;
            self.try_wait(id)
        }
    }

    /// One round of progress, then the earliest arrived message that the pattern
    /// matches and no receive has matched; it stays where it is.
    fn iprobe(&self, pattern: Pattern) -> impl Future<Output = Option<Status>>;

    /// As [`iprobe`](Self::iprobe), waiting until there is one.
    ///
    /// A pattern names ranks of a communicator, so that a sender that is closed is
    /// the caller's to find: see [`closed`](Self::closed).
    fn poll_probe(&self, pattern: Pattern, cx: &mut Context<'_>) -> Poll<Result<Status, MpiError>>;

    /// Takes back a receive that nothing has matched: `true` when it did, and the
    /// request completes with [`MpiError::Cancelled`]. Sends cannot be taken back.
    fn cancel(&self, id: RequestId) -> impl Future<Output = bool>;

    /// World ranks of the processes that nothing passes to or from any more, in the
    /// order in which this one has learnt of them; they stay closed. A process that
    /// waits is waked when there is another one. A machine that knows of none says
    /// none.
    fn closed(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Nobody will ask for the result of `id`: it completes on its own and is
    /// forgotten.
    fn release(&self, id: RequestId);

    /// Computation of the program: the process's time moves on by `time`, without
    /// progress where progress needs calls.
    fn compute(&self, time: Duration) -> impl Future<Output = ()>;

    /// Work of the library itself: its time is added to the process's before its
    /// next step.
    fn charge(&self, work: Work);

    /// The process's time.
    fn now(&self) -> Instant;

    /// The longest message that a standard send completes without its receive
    /// (bytes); a blocking send to self above it would never end.
    fn eager_limit(&self) -> u64;
}

/// Why a call of the message layer failed.
///
/// An error of one peer leaves requests to and from others as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MpiError {
    /// The message is longer than the receive; the part that fits was received.
    Truncate {
        /// Bytes of the message.
        total: u64,
        /// Bytes there was room for.
        capacity: u64,
    },
    /// The link to a process was closed by a protocol or hardware error.
    PeerClosed {
        /// World rank of that process.
        rank: u32,
    },
    /// A receive from any source, or a probe, while a process that might be the
    /// sender is closed and was not acknowledged. The receive stays posted and may
    /// still complete.
    #[doc(alias = "MPI_ERR_PROC_FAILED_PENDING")]
    PeerClosedPending {
        /// World rank of that process.
        rank: u32,
    },
    /// A persistent request was started before its last start was completed.
    Active,
    /// A fixed table is full (envelopes, requests, arena).
    Resource {
        /// Entries (arena: bytes) of the table.
        limit: u64,
    },
    /// No such rank.
    InvalidRank {
        /// The rank.
        rank: u32,
        /// Ranks there are.
        size: u32,
    },
    /// No such root.
    InvalidRoot {
        /// The rank.
        root: u32,
        /// Ranks there are.
        size: u32,
    },
    /// A tag of a program must be 0 or more.
    InvalidTag {
        /// The tag.
        tag: i32,
    },
    /// A buffer or a list of counts has the wrong number of elements.
    InvalidCount {
        /// Elements given.
        count: u64,
        /// Elements needed.
        expected: u64,
    },
    /// A message is no whole number of elements.
    PartialElement {
        /// Bytes of the message.
        length: u64,
        /// Bytes of an element.
        element: u64,
    },
    /// A layout reaches outside its buffer.
    OutOfBounds {
        /// First element outside (negative: before the buffer).
        index: i64,
        /// Elements of the buffer.
        length: u64,
    },
    /// A message, or a length in it, exceeds what the layer can carry.
    TooLong {
        /// Bytes.
        length: u64,
        /// Bytes at most.
        max: u64,
    },
    /// A blocking send to self without a posted receive would never end.
    SelfDeadlock {
        /// Bytes of the message.
        length: u64,
        /// The longest that completes without its receive.
        limit: u64,
    },
    /// A request that was completed before, or is none of this process.
    InvalidRequest {
        /// The request.
        request: RequestId,
    },
    /// The receive was cancelled.
    Cancelled,
    /// No context id is left for another communicator.
    NoContext {
        /// Ids there are.
        limit: u32,
    },
    /// Messages of a freed communicator were never received.
    MessagesLeft {
        /// The context.
        context: u32,
        /// How many.
        messages: u32,
    },
    /// Bytes of messages that are not all in the memory of the node.
    Unreachable {
        /// The first of them.
        addr: u64,
        /// How many.
        len: u64,
    },
    /// An algorithm that does not do this operation, size or operator.
    Unsupported,
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncate { total, capacity } => {
                write!(f, "message of {total} bytes for a receive of {capacity}")
            }
            Self::PeerClosed { rank } => write!(f, "link to rank {rank} is closed"),
            Self::PeerClosedPending { rank } => write!(
                f,
                "any source may be rank {rank}, whose link is closed and not acknowledged"
            ),
            Self::Active => f.write_str("persistent request is active"),
            Self::Resource { limit } => write!(
                f,
                "no room: all {limit} entries (or bytes of message memory) are in use"
            ),
            Self::InvalidRank { rank, size } => write!(f, "rank {rank} is not below {size}"),
            Self::InvalidRoot { root, size } => write!(f, "root {root} is not below {size}"),
            Self::InvalidTag { tag } => write!(f, "tag {tag} is not 0 or more"),
            Self::InvalidCount { count, expected } => {
                write!(f, "{count} elements where {expected} are needed")
            }
            Self::PartialElement { length, element } => {
                write!(f, "message of {length} bytes is no multiple of {element}")
            }
            Self::OutOfBounds { index, length } => {
                write!(f, "layout reaches element {index} of a buffer of {length}")
            }
            Self::TooLong { length, max } => {
                write!(f, "message of {length} bytes is longer than {max}")
            }
            Self::SelfDeadlock { length, limit } => write!(
                f,
                "blocking send of {length} bytes to self without a receive, {limit} at most"
            ),
            Self::InvalidRequest { request } => {
                write!(f, "request {} is complete or unknown", request.0)
            }
            Self::Cancelled => f.write_str("receive was cancelled"),
            Self::NoContext { limit } => write!(f, "all {limit} context ids are in use"),
            Self::MessagesLeft { context, messages } => {
                write!(
                    f,
                    "context {context} was freed with {messages} messages left"
                )
            }
            Self::Unreachable { addr, len } => {
                write!(
                    f,
                    "{len} bytes of messages at {addr:#x} are not all in memory"
                )
            }
            Self::Unsupported => f.write_str("algorithm does not support this operation"),
        }
    }
}

impl core::error::Error for MpiError {}

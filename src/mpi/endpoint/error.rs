//! What an endpoint refuses, and why requests fail.

use core::fmt;

use crate::mpi::credit::CreditError;
use crate::mpi::wire::WireError;

/// Why the link to a peer was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CloseReason {
    /// A message that is none.
    Wire(WireError),
    /// A breach of the flow control.
    Credit(CreditError),
    /// A notification of a data message that nobody awaits.
    UnknownLanding {
        /// Its index.
        index: u16,
    },
    /// A notification for a slot that has one already.
    Repeated {
        /// The slot.
        slot: u16,
    },
    /// An answer to a send that does not await it.
    UnknownSend {
        /// The send that it names.
        request: u32,
    },
    /// An answer whose parts do not follow each other, or take more than was
    /// offered.
    BadAnswer {
        /// Where the part starts.
        offset: u64,
        /// Where it had to start.
        expected: u64,
    },
    /// An answer whose data would end with a notification that has no
    /// identifier.
    NoLanding {
        /// The landing that it names.
        landing: u32,
    },
    /// A landing offer, or the use of one, that does not fit the receive that
    /// it names.
    BadOffer {
        /// The landing, or the bytes of the message.
        value: u64,
    },
    /// More eager data than was granted.
    Budget {
        /// Bytes that would wait.
        bytes: u64,
        /// Bytes that may.
        limit: u32,
    },
    /// The table of unexpected messages was full; this peer had the most.
    Resource {
        /// Messages that fit.
        limit: usize,
    },
    /// The transport lost a transfer to it, or refused one.
    Transfer,
    /// The own memory could not be read or written.
    Memory,
    /// The peer says that it has closed the link.
    Remote,
    /// This process closed it.
    Local,
}

impl CloseReason {
    /// Whether the peer is told, with the flag ERR: not when it knows, or
    /// cannot be reached.
    pub(super) const fn is_told(self) -> bool {
        !matches!(self, Self::Transfer | Self::Memory | Self::Remote)
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Wire(error) => error.fmt(f),
            Self::Credit(error) => error.fmt(f),
            Self::UnknownLanding { index } => {
                write!(
                    f,
                    "notification of data for receive {index}, which awaits none"
                )
            }
            Self::Repeated { slot } => write!(f, "second notification for slot {slot}"),
            Self::UnknownSend { request } => {
                write!(f, "answer to send {request:#x}, which awaits none")
            }
            Self::BadAnswer { offset, expected } => {
                write!(f, "answer for byte {offset}, expected {expected}")
            }
            Self::NoLanding { landing } => {
                write!(f, "landing {landing}, which no notification can name")
            }
            Self::BadOffer { value } => write!(f, "landing offer that is none: {value}"),
            Self::Budget { bytes, limit } => {
                write!(f, "{bytes} eager bytes unmatched, at most {limit}")
            }
            Self::Resource { limit } => {
                write!(f, "table of {limit} unexpected messages is full")
            }
            Self::Transfer => f.write_str("transfer was lost"),
            Self::Memory => f.write_str("own memory cannot be accessed"),
            Self::Remote => f.write_str("closed by the peer"),
            Self::Local => f.write_str("closed by this process"),
        }
    }
}

impl core::error::Error for CloseReason {}

/// A call that was refused, or a request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EndpointError {
    /// The link to the peer is closed; others go on.
    PeerClosed {
        /// Its rank.
        peer: u32,
        /// Why.
        reason: CloseReason,
    },
    /// The receive was cancelled.
    Cancelled,
    /// All requests are in use.
    NoRequest {
        /// Requests there are.
        limit: usize,
    },
    /// No place for another posted receive.
    PostedFull {
        /// Receives that fit.
        limit: usize,
    },
    /// No place for another message to oneself that nobody has received.
    UnexpectedFull {
        /// Messages that fit.
        limit: usize,
    },
    /// No such rank.
    UnknownPeer {
        /// The rank.
        peer: u32,
        /// Ranks of the world.
        ranks: u32,
    },
    /// A negative tag outside of an internal context.
    BadTag {
        /// The tag.
        tag: i32,
    },
    /// A buffer with a byte that is not mapped, not in memory, or beyond 2^32.
    BadBuffer {
        /// Its first byte.
        addr: u64,
        /// Its bytes.
        len: u64,
    },
    /// The receiver's buffer cannot be reached.
    Refused {
        /// What the receiver says.
        status: u16,
    },
    /// A request that was completed before, or never started here.
    UnknownRequest {
        /// Its name.
        request: u32,
    },
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PeerClosed { peer, reason } => {
                write!(f, "link to rank {peer} is closed: {reason}")
            }
            Self::Cancelled => f.write_str("receive was cancelled"),
            Self::NoRequest { limit } => write!(f, "all {limit} requests are in use"),
            Self::PostedFull { limit } => write!(f, "one more posted receive, at most {limit}"),
            Self::UnexpectedFull { limit } => {
                write!(f, "one more unexpected message, at most {limit}")
            }
            Self::UnknownPeer { peer, ranks } => write!(f, "rank {peer}, allowed 0..{ranks}"),
            Self::BadTag { tag } => write!(f, "tag {tag}, allowed 0 and above"),
            Self::BadBuffer { addr, len } => {
                write!(f, "buffer of {len} bytes at {addr:#x} is not all in memory")
            }
            Self::Refused { status } => write!(f, "refused by the receiver: status {status}"),
            Self::UnknownRequest { request } => {
                write!(f, "request {request:#x} is complete or unknown")
            }
        }
    }
}

impl core::error::Error for EndpointError {}

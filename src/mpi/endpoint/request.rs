//! What the user asks for, and what becomes of it.

use super::error::EndpointError;
use crate::mpi::matching::{Envelope, Handle, Pattern};

/// Names a send or a receive of one endpoint: place in the table and, above, how
/// often the place was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Request(u32);

impl Request {
    pub(super) const fn new(index: u16, generation: u16) -> Self {
        Self((generation as u32) << 16 | index as u32)
    }

    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) const fn index(self) -> u16 {
        self.0 as u16
    }

    pub(super) const fn generation(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// Its name, for reports.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// Bytes of the process: addresses are the process's, the port translates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Buffer {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
}

impl Buffer {
    /// `len` bytes from `addr`.
    #[must_use]
    pub const fn new(addr: u64, len: u64) -> Self {
        Self { addr, len }
    }

    pub(super) const fn bad(self) -> EndpointError {
        EndpointError::BadBuffer {
            addr: self.addr,
            len: self.len,
        }
    }
}

/// When a send completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Mode {
    /// When the buffer may be overwritten.
    #[default]
    Standard,
    /// When a receive has matched it (and the buffer may be overwritten).
    Synchronous,
    /// As standard; the program promises that the receive is posted.
    Ready,
}

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Send {
    /// World rank of the destination; may be the own one.
    pub dst: u32,
    /// Context of the communicator.
    pub context: u32,
    /// Own rank in the communicator.
    pub src_rank: u32,
    /// The tag.
    pub tag: i32,
    /// A message of the library itself: its tag may be negative.
    pub internal: bool,
    /// When it completes.
    pub mode: Mode,
    /// The bytes.
    pub buffer: Buffer,
}

impl Send {
    /// A standard send in context 0, of the process of rank `src_rank`.
    #[must_use]
    pub const fn new(dst: u32, src_rank: u32, tag: i32, buffer: Buffer) -> Self {
        Self {
            dst,
            context: 0,
            src_rank,
            tag,
            internal: false,
            mode: Mode::Standard,
            buffer,
        }
    }

    pub(super) const fn envelope(&self) -> Envelope {
        Envelope {
            context: self.context,
            source: self.src_rank,
            tag: self.tag,
        }
    }

    pub(super) const fn receipt(&self) -> Receipt {
        Receipt {
            peer: self.dst,
            source: self.src_rank,
            tag: self.tag,
            length: self.buffer.len,
            total: self.buffer.len,
        }
    }
}

/// A message to be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Recv {
    /// Which.
    pub pattern: Pattern,
    /// Where its bytes go.
    pub buffer: Buffer,
    /// World rank of the source when it is known: the receive then fails when
    /// the link to it is closed.
    pub peer: Option<u32>,
}

impl Recv {
    /// A receive of a message that matches `pattern`.
    #[must_use]
    pub const fn new(pattern: Pattern, buffer: Buffer) -> Self {
        Self {
            pattern,
            buffer,
            peer: None,
        }
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Receipt {
    /// World rank of the other side.
    pub peer: u32,
    /// Sender's rank in the communicator.
    pub source: u32,
    /// Its tag.
    pub tag: i32,
    /// Bytes that are in the receive's buffer; of a send, all.
    pub length: u64,
    /// Bytes of the message.
    pub total: u64,
}

impl Receipt {
    /// Whether the receive had room for a part only.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.length < self.total
    }
}

/// Where a send stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) enum Sending {
    /// Its call is not over.
    Called,
    /// Its envelope waits for credits.
    Queued,
    /// To oneself, unmatched.
    Own,
    /// REQ sent; bytes answered for so far.
    Asked { answered: u64 },
    /// All answers are here.
    Answered,
    /// All bytes have left; the user is about to be told.
    Left,
}

/// Memory of a receiver that was offered: its address, and the index of the
/// final notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Direct {
    pub(super) phys: u32,
    pub(super) landing: u16,
}

/// A send in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct SendOp {
    pub(super) send: Send,
    pub(super) state: Sending,
    /// Bytes that the receiver takes.
    pub(super) accept: u64,
    /// Bytes posted.
    pub(super) posted: u64,
    /// Transfers that have not left.
    pub(super) flights: u16,
    /// The offered landing that its data goes to.
    pub(super) direct: Option<Direct>,
}

/// Where a receive stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receiving {
    /// Its call is not over.
    Called,
    /// It waits for a message.
    Posted(Handle),
    /// Matched; answers up to this byte are sent.
    Answering { offset: u64 },
    /// All is answered, data is on its way.
    Landing,
}

// Handles have no format that says anything.
#[cfg(feature = "defmt")]
impl defmt::Format for Receiving {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self {
            Self::Called => defmt::write!(f, "Called"),
            Self::Posted(_) => defmt::write!(f, "Posted"),
            Self::Answering { offset } => {
                defmt::write!(f, "Answering {{ offset: {=u64} }}", offset)
            }
            Self::Landing => defmt::write!(f, "Landing"),
        }
    }
}

/// A receive in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct RecvOp {
    pub(super) recv: Recv,
    pub(super) state: Receiving,
    /// The message that matched, once one has.
    pub(super) envelope: Envelope,
    pub(super) peer: u32,
    pub(super) total: u64,
    pub(super) sender_req: u32,
    /// Its landing, once it has one; while it is posted, the one it offered.
    pub(super) landing: Option<u16>,
    /// It waits for its turn to offer.
    pub(super) offering: bool,
    /// Data has come to the offered landing, and its envelope has not.
    pub(super) early: bool,
}

impl RecvOp {
    /// Bytes that there is room for.
    pub(super) fn accept(&self) -> u64 {
        self.total.min(self.recv.buffer.len)
    }

    pub(super) fn receipt(&self) -> Receipt {
        Receipt {
            peer: self.peer,
            source: self.envelope.source,
            tag: self.envelope.tag,
            length: self.accept(),
            total: self.total,
        }
    }
}

/// What a place of the table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) enum Op {
    Free,
    Send(SendOp),
    Recv(RecvOp),
    Done(Result<Receipt, EndpointError>),
}

/// What a request that is not complete waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Waits {
    /// For the processor: its call is not over.
    Call,
    /// A send, for credits.
    Credit,
    /// A send, for a matching receive.
    Match,
    /// A send, for its bytes to leave.
    Departure,
    /// A receive, for a matching message.
    Message,
    /// A receive, for a place to land, or for credits to say so.
    Answer,
    /// A receive, for its bytes.
    Data,
}

/// A request that is not complete, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pending {
    /// Its name.
    pub request: Request,
    /// What it waits for.
    pub waits: Waits,
    /// World rank of the other side, where it is known.
    pub peer: Option<u32>,
    /// Context of the communicator.
    pub context: u32,
    /// Rank of the source in the communicator; none is any.
    pub source: Option<u32>,
    /// The tag; none is any.
    pub tag: Option<i32>,
    /// Bytes of its buffer.
    pub length: u64,
}

impl Pending {
    pub(super) fn of(request: Request, op: &Op) -> Option<Self> {
        match op {
            Op::Send(op) => Some(Self {
                request,
                waits: match op.state {
                    Sending::Called => Waits::Call,
                    Sending::Queued => Waits::Credit,
                    Sending::Own | Sending::Asked { .. } => Waits::Match,
                    Sending::Answered | Sending::Left => Waits::Departure,
                },
                peer: Some(op.send.dst),
                context: op.send.context,
                source: Some(op.send.src_rank),
                tag: Some(op.send.tag),
                length: op.send.buffer.len,
            }),
            Op::Recv(op) => {
                let matched = matches!(op.state, Receiving::Answering { .. } | Receiving::Landing);
                let pattern = op.recv.pattern;
                Some(Self {
                    request,
                    waits: match op.state {
                        Receiving::Called => Waits::Call,
                        Receiving::Posted(_) => Waits::Message,
                        Receiving::Answering { .. } => Waits::Answer,
                        Receiving::Landing => Waits::Data,
                    },
                    peer: if matched { Some(op.peer) } else { op.recv.peer },
                    context: pattern.context,
                    source: pattern.source,
                    tag: pattern.tag,
                    length: op.recv.buffer.len,
                })
            }
            Op::Free | Op::Done(_) => None,
        }
    }
}

//! The one primitive that joins the worlds: remote write.
//!
//! Deposit these bytes at this address of that node, and tell me when it is
//! done. PUT implements it on the MPC boards, the MasPar machine with router
//! cycles, an in-memory one for tests; everything above is generic
//! over it. The core is non-blocking: start, then poll.

mod in_memory;

pub use in_memory::{InMemory, InMemoryError, InMemoryToken, Memories};

/// A request: `length` bytes from `local` here to `remote` there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Transfer {
    /// Destination node.
    pub node: u16,
    /// Physical address of the first byte here.
    pub local: u64,
    /// Physical address of the first byte there.
    pub remote: u64,
    /// Bytes; any length, zero included (which completes at once).
    pub length: u64,
    /// What to tell whom.
    pub flags: Flags,
}

/// How completion is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Flags {
    /// Tell the receiver's software when the last byte is in its memory.
    pub notify_receiver: bool,
    /// A tag that travels with the notification (bits beyond the transport's
    /// width are an error of its own).
    pub tag: u32,
}

/// Progress of a transfer as its sender sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Progress {
    /// Some bytes have not left yet.
    Pending,
    /// All bytes have left local memory: it may be used again. They are in
    /// remote memory once the receiver is notified (or sees the last byte).
    Sent,
}

/// A notification at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Arrival {
    /// The tag of the transfer.
    pub tag: u32,
}

/// Remote write from and to one node.
///
/// `H` is what the transport needs to touch its hardware; it is lent for each
/// call, so that many nodes of one simulated machine can share it.
pub trait RemoteWrite<H: ?Sized> {
    /// Names a transfer in progress; given back by value when it is done.
    type Token;
    /// What can go wrong.
    type Error;

    /// Accepts a transfer whole, or not at all.
    ///
    /// # Errors
    /// The transport's own; a full queue is one that goes away by
    /// [`poll`](Self::poll)ing.
    fn start(&mut self, hw: &mut H, transfer: Transfer) -> Result<Self::Token, Self::Error>;

    /// Does a bounded amount of work on everything in progress.
    ///
    /// # Errors
    /// The transport's own.
    fn poll(&mut self, hw: &mut H) -> Result<(), Self::Error>;

    /// How far a transfer is; after [`Progress::Sent`] the token is spent.
    ///
    /// # Errors
    /// The transport's own, for a transfer that failed.
    fn progress(&mut self, token: &Self::Token) -> Result<Progress, Self::Error>;

    /// The next notification that has arrived here.
    fn arrival(&mut self) -> Option<Arrival>;

    /// Whether an error of [`start`](Self::start) says that the queue is full:
    /// the same transfer may be accepted after some [`poll`](Self::poll)s.
    fn is_full(error: &Self::Error) -> bool;
}

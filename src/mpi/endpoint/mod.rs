//! The engine of one process: everything between its calls and its node.
//!
//! An endpoint never waits and owns no hardware. Calls note what is wanted;
//! [`progress`](Endpoint::progress) does it, step by step, with the node lent as
//! a [`Port`](super::Port). It is a sequential processor: each step has a cost
//! ([`MpiCost`](super::MpiCost)) and takes effect when its time is over. With
//! [`MpiCost::FREE`](super::MpiCost::FREE) it is a message library for a real
//! one.
//!
//! What goes wrong with one peer (a message that is none, a breach of the flow
//! control, a transfer that is lost) closes the link to that peer: requests that
//! concern it fail, all others go on. Protocol: hw/doc/mpi.md.

mod close;
mod context;
mod data;
mod deliver;
mod error;
mod invariants;
mod kernel;
mod offer;
mod own;
mod peer;
mod pool;
mod receive;
mod request;
mod send;
mod step;
mod storage;
mod table;

pub use error::{CloseReason, EndpointError};
pub use invariants::BrokenInvariant;
pub use peer::{Peer, PeerState};
pub use pool::BLOCK;
pub use request::{Buffer, Mode, Pending, Receipt, Recv, Request, Send, Waits};
pub use step::Activity;
pub use storage::{Flight, Footprint, Message, SCRATCH_BYTES, Sizes, Storage};
pub use table::RequestSlot;

use heapless::Deque;
use managed::ManagedSlice;

use super::boot::{BootEntry, BootError, Place, check_index};
use super::config::MpiConfig;
use super::credit::PeerCredit;
use super::layout::Layout;
use super::matching::{Envelope, Matcher, Pattern};
use crate::time::Instant;
use peer::{NOBODY, credits};
use pool::Pool;
use request::{Op, Receiving, RecvOp, SendOp, Sending};
use step::Work;
use storage::Unmatched;
use table::{Queue, Requests};

/// Notifications that an interrupt takes over at once.
const INBOX: usize = 64;

/// What an endpoint has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct EndpointStats {
    /// SHORT messages sent.
    pub shorts: u64,
    /// REQ messages sent.
    pub requests: u64,
    /// RSP messages sent.
    pub answers: u64,
    /// CRDT messages sent, or counters written.
    pub credits: u64,
    /// Landing offers sent.
    pub offers: u64,
    /// Messages sent to a landing that was offered.
    pub direct: u64,
    /// Descriptors of data messages.
    pub pieces: u64,
    /// Control messages taken in.
    pub received: u64,
    /// Data messages that ended here.
    pub landed: u64,
    /// Messages that found no receive when they came.
    pub unexpected: u64,
    /// Notifications for nobody here.
    pub strays: u64,
    /// Times that the transport's queue was full.
    pub full: u64,
    /// Polls of the transport that failed.
    pub port_errors: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Links closed.
    pub closed: u64,
}

/// The engine of one process; `T` names transfers of its node's transport.
#[derive(Debug)]
pub struct Endpoint<'a, T> {
    config: MpiConfig,
    place: Place,
    layout: Layout,
    /// The step under way, and when it ends.
    work: Option<Work>,
    until: Instant,
    requests: Requests<'a>,
    matcher: Matcher<'a, u16, Message>,
    peers: ManagedSlice<'a, Peer>,
    flights: ManagedSlice<'a, Option<Flight<T>>>,
    landings: ManagedSlice<'a, Option<u16>>,
    landing_limit: usize,
    next_landing: usize,
    pool: Pool<'a>,
    /// Eager bytes to oneself that wait.
    own_held: u64,
    scratch: ManagedSlice<'a, u8>,
    /// Calls that are not over; sends whose end has to be told.
    calls: Queue,
    finished: Queue,
    inbox: Deque<u32, INBOX>,
    busy: Ring,
    ready: Ring,
    /// Slot mode: the peer that is looked at first.
    cursor: u32,
    /// Data transfers that have not left; answers that are being served.
    data_flights: u16,
    chunks: u32,
    /// The transport had no room in this call of `progress`.
    full: bool,
    stats: EndpointStats,
    /// Debug builds: the first invariant that did not hold after a call.
    broken: Option<BrokenInvariant>,
}

/// A list of peers through links in [`Peer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ring {
    head: u32,
    tail: u32,
    len: u32,
}

impl Ring {
    const EMPTY: Self = Self {
        head: NOBODY,
        tail: NOBODY,
        len: 0,
    };
}

impl<'a, T: Copy> Endpoint<'a, T> {
    /// The engine of the process at `place` in a world whose processes told
    /// `entries`, by rank.
    ///
    /// # Errors
    /// [`BootError`].
    pub fn new(
        config: MpiConfig,
        place: Place,
        entries: &[BootEntry],
        storage: Storage<'a, T>,
    ) -> Result<Self, BootError> {
        Self::starting_at(config, place, entries, storage, 1)
    }

    /// As [`new`](Self::new), with the number of the first message of each pair
    /// (0 counts as 1), which must be the same everywhere: to come near the
    /// wrap.
    ///
    /// # Errors
    /// [`BootError`].
    pub fn starting_at(
        config: MpiConfig,
        place: Place,
        entries: &[BootEntry],
        storage: Storage<'a, T>,
        seq: u32,
    ) -> Result<Self, BootError> {
        let Place { rank, ranks, .. } = place;
        config.check(ranks)?;
        if rank >= ranks {
            return Err(BootError::Rank { rank, ranks });
        }
        check_index(&config, place.control_index, config.slots)?;
        check_index(&config, place.landing_index, config.landings)?;
        storage.check(&config, ranks)?;
        if entries.len() != ranks as usize {
            return Err(BootError::Entries {
                entries: entries.len(),
                ranks,
            });
        }
        let Storage {
            mut peers,
            requests,
            posted,
            unexpected,
            mut flights,
            mut landings,
            blocks,
            scratch,
        } = storage;
        if let Some(own) = entries.get(rank as usize) {
            own.check_own(&place)?;
        }
        peers.fill(Peer::EMPTY);
        for ((peer, entry), other) in peers.iter_mut().zip(entries).zip(0..ranks) {
            entry.check(&config, other, ranks)?;
            let credit = credits(&config, entry.eager_grant);
            let credit = PeerCredit::starting_at(credit, seq, seq).ok();
            *peer = Peer::new(*entry, credit.filter(|_| other != rank));
        }
        flights.iter_mut().for_each(|flight| *flight = None);
        landings.fill(None);
        let limit = config.landing_limit(ranks).unwrap_or(0);
        Ok(Self {
            layout: Layout::new(&config, rank, ranks, place.base),
            work: None,
            until: Instant::ZERO,
            requests: Requests::new(requests),
            matcher: Matcher::new(posted, unexpected),
            peers,
            flights,
            landing_limit: landings.len().min(usize::from(limit)),
            landings,
            next_landing: 0,
            pool: Pool::new(blocks, Layout::block_count(&config)),
            own_held: 0,
            scratch,
            calls: Queue::EMPTY,
            finished: Queue::EMPTY,
            inbox: Deque::new(),
            busy: Ring::EMPTY,
            ready: Ring::EMPTY,
            cursor: 0,
            data_flights: 0,
            chunks: 0,
            full: false,
            stats: EndpointStats::default(),
            broken: None,
            config,
            place,
        })
    }

    /// Starts a send.
    ///
    /// # Errors
    /// [`EndpointError`]; later ones come with the completion.
    pub fn isend(&mut self, send: Send) -> Result<Request, EndpointError> {
        if send.tag < 0 && !send.internal {
            return Err(EndpointError::BadTag { tag: send.tag });
        }
        self.check_peer(send.dst)?;
        let request = self.requests.take(Op::Send(SendOp {
            send,
            state: Sending::Called,
            accept: 0,
            posted: 0,
            flights: 0,
            direct: None,
        }))?;
        self.requests.push(&mut self.calls, request.index());
        Ok(request)
    }

    /// Starts a receive.
    ///
    /// # Errors
    /// [`EndpointError`]; later ones come with the completion.
    pub fn irecv(&mut self, recv: Recv) -> Result<Request, EndpointError> {
        if let Some(peer) = recv.peer {
            self.check_peer(peer)?;
        }
        let request = self.requests.take(Op::Recv(RecvOp {
            recv,
            state: Receiving::Called,
            envelope: Envelope {
                context: recv.pattern.context,
                source: 0,
                tag: 0,
            },
            peer: NOBODY,
            total: 0,
            sender_req: 0,
            landing: None,
            offering: false,
            early: false,
        }))?;
        self.requests.push(&mut self.calls, request.index());
        Ok(request)
    }

    fn check_peer(&self, peer: u32) -> Result<(), EndpointError> {
        let ranks = self.place.ranks;
        match self.peers.get(peer as usize).map(|peer| peer.state) {
            Some(PeerState::Open) if peer < ranks => Ok(()),
            Some(PeerState::Closed(reason)) if peer < ranks => {
                Err(EndpointError::PeerClosed { peer, reason })
            }
            _ => Err(EndpointError::UnknownPeer { peer, ranks }),
        }
    }

    /// The result of a request, once; none while it is in progress.
    pub fn test(&mut self, request: Request) -> Option<Result<Receipt, EndpointError>> {
        let Some(index) = self.requests.find(request) else {
            let request = request.bits();
            return Some(Err(EndpointError::UnknownRequest { request }));
        };
        let Op::Done(result) = self.requests.op(index) else {
            return None;
        };
        self.requests.release(index);
        Some(result)
    }

    /// Whether [`test`](Self::test) would give a result.
    #[must_use]
    pub fn is_done(&self, request: Request) -> bool {
        let index = self.requests.find(request);
        index.is_none_or(|index| matches!(self.requests.op(index), Op::Done(_)))
    }

    /// Takes back a receive that no message has matched: it then completes with
    /// [`EndpointError::Cancelled`]. Sends cannot be taken back, nor can
    /// receives that have offered their memory
    /// ([`MpiConfig::offers`]).
    pub fn cancel(&mut self, request: Request) -> bool {
        let Some(index) = self.requests.find(request) else {
            return false;
        };
        let Some(op) = self.requests.recv(index) else {
            return false;
        };
        let cancelled = match op.state {
            Receiving::Called => {
                // A step may be under way for it: it finds nothing to do.
                self.requests.remove(&mut self.calls, index);
                true
            }
            // Data may be on its way to what was offered.
            Receiving::Posted(_) if op.landing.is_some() => false,
            Receiving::Posted(handle) => self.matcher.cancel(handle).is_some(),
            Receiving::Answering { .. } | Receiving::Landing => false,
        };
        if cancelled {
            self.complete(index, Err(EndpointError::Cancelled));
        }
        cancelled
    }

    /// The earliest message that a receive of `pattern` would take, of those
    /// that have been taken in.
    #[must_use]
    pub fn iprobe(&self, pattern: &Pattern) -> Option<Receipt> {
        let (envelope, message) = self.matcher.probe(pattern)?;
        let (peer, total) = match message.0 {
            Unmatched::Short { peer, length, .. } => (peer, u64::from(length)),
            Unmatched::Long { peer, total, .. } => (peer, total),
            Unmatched::Own { request } => match self.requests.op(request) {
                Op::Send(op) => (self.place.rank, op.send.buffer.len),
                _ => return None,
            },
        };
        Some(Receipt {
            peer,
            source: envelope.source,
            tag: envelope.tag,
            length: total,
            total,
        })
    }

    /// Requests that are not complete.
    pub fn pending(&self) -> impl Iterator<Item = Pending> + '_ {
        let requests = &self.requests;
        requests
            .iter()
            .filter_map(|(index, op)| Pending::of(requests.name(index), op))
    }

    /// Messages of a context that no receive has matched.
    #[must_use]
    pub fn unexpected(&self, context: u32) -> usize {
        let waiting = self.matcher.unexpected();
        waiting
            .filter(|(_, envelope, _)| envelope.context == context)
            .count()
    }

    /// Requests that were not yet given back by [`test`](Self::test).
    #[must_use]
    pub const fn requests_in_use(&self) -> usize {
        self.requests.used()
    }

    /// Blocks of unexpected data that are free.
    #[must_use]
    pub const fn free_blocks(&self) -> u32 {
        self.pool.left()
    }

    /// The flow control with a peer.
    #[must_use]
    pub fn credit(&self, peer: u32) -> Option<&PeerCredit> {
        self.peers.get(peer as usize)?.credit.as_ref()
    }

    /// Whether the link to a rank is open; none for a rank that is none.
    #[must_use]
    pub fn peer_state(&self, peer: u32) -> Option<PeerState> {
        self.peers.get(peer as usize).map(|peer| peer.state)
    }

    /// What it has done so far.
    #[must_use]
    pub const fn stats(&self) -> EndpointStats {
        self.stats
    }

    /// The first invariant that did not hold at the end of a call of
    /// [`progress`](Self::progress) that changed something: a mistake in this
    /// library. Only builds with debug assertions look; others give none.
    #[must_use]
    pub const fn broken_invariant(&self) -> Option<BrokenInvariant> {
        self.broken
    }

    /// Its choices.
    #[must_use]
    pub const fn config(&self) -> &MpiConfig {
        &self.config
    }

    /// Which process it is.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    fn peer(&mut self, peer: u32) -> Option<&mut Peer> {
        self.peers.get_mut(peer as usize)
    }

    fn complete(&mut self, index: u16, result: Result<Receipt, EndpointError>) {
        self.withdraw(index);
        if let Some(landing) = self.requests.recv(index).and_then(|op| op.landing)
            && let Some(place) = self.landings.get_mut(usize::from(landing))
        {
            *place = None;
        }
        self.requests.put(index, Op::Done(result));
    }

    /// A peer has something to be sent.
    fn wake(&mut self, peer: u32) {
        let last = self.busy.tail;
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return;
        };
        if core::mem::replace(&mut entry.busy, true) {
            return;
        }
        entry.next_busy = NOBODY;
        match self.peers.get_mut(last as usize) {
            Some(last) if self.busy.len > 0 => last.next_busy = peer,
            _ => self.busy.head = peer,
        }
        self.busy.tail = peer;
        self.busy.len += 1;
    }

    fn next_busy(&mut self) -> Option<u32> {
        if self.busy.len == 0 {
            return None;
        }
        let peer = self.busy.head;
        let entry = self.peers.get_mut(peer as usize)?;
        entry.busy = false;
        self.busy.head = entry.next_busy;
        self.busy.len -= 1;
        Some(peer)
    }

    /// A peer has a message to act on.
    fn mark_ready(&mut self, peer: u32) {
        let last = self.ready.tail;
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return;
        };
        if core::mem::replace(&mut entry.ready, true) {
            return;
        }
        entry.next_ready = NOBODY;
        match self.peers.get_mut(last as usize) {
            Some(last) if self.ready.len > 0 => last.next_ready = peer,
            _ => self.ready.head = peer,
        }
        self.ready.tail = peer;
        self.ready.len += 1;
    }

    fn next_ready(&mut self) -> Option<u32> {
        if self.ready.len == 0 {
            return None;
        }
        let peer = self.ready.head;
        let entry = self.peers.get_mut(peer as usize)?;
        entry.ready = false;
        self.ready.head = entry.next_ready;
        self.ready.len -= 1;
        Some(peer)
    }
}

#[cfg(feature = "alloc")]
impl<T: Copy> Endpoint<'static, T> {
    /// As [`new`](Self::new), with storage of its own.
    ///
    /// # Errors
    /// [`BootError`].
    pub fn owned(
        config: MpiConfig,
        place: Place,
        entries: &[BootEntry],
        sizes: Sizes,
    ) -> Result<Self, BootError> {
        let storage = Storage::owned(&config, place.ranks, sizes);
        Self::new(config, place, entries, storage)
    }
}

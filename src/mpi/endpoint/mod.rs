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

mod answer;
mod calls;
mod choose;
mod close;
mod context;
mod costs;
mod credits;
mod data;
mod deliver;
mod error;
mod invariants;
mod kernel;
mod look;
mod offer;
mod own;
mod peer;
mod pool;
mod receive;
mod request;
mod rings;
mod send;
mod stage;
mod start;
mod step;
mod storage;
mod table;

pub use error::{CloseReason, EndpointError};
pub use invariants::BrokenInvariant;
pub use look::EndpointStats;
pub use peer::{Peer, PeerState};
pub use pool::BLOCK;
pub use request::{Buffer, Mode, Pending, Receipt, Recv, Request, Send, Waits};
pub use step::Activity;
pub use storage::{Flight, Footprint, Message, SCRATCH_BYTES, Sizes, Storage};
pub use table::RequestSlot;

use heapless::Deque;
use managed::ManagedSlice;

use super::boot::Place;
use super::config::MpiConfig;
use super::layout::Layout;
use super::matching::Matcher;
use crate::time::Instant;
use pool::Pool;
use request::Op;
use rings::Ring;
use step::Work;
use table::{Queue, Requests};

/// Notifications that an interrupt takes over at once.
const INBOX: usize = 64;

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

impl<T: Copy> Endpoint<'_, T> {
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
}

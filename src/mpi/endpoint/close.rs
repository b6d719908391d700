//! The end of a link: what concerns the peer fails, all else goes on.

use super::Endpoint;
use super::error::{CloseReason, EndpointError};
use super::peer::PeerState;
use super::request::{Op, Receiving, Sending};
use super::storage::Unmatched;
use super::table::Queue;
use crate::mpi::credit::CreditError;
use crate::mpi::matching::Handle;
use crate::mpi::wire::WireError;

/// What goes wrong with a peer while sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Wire(WireError),
    Credit(CreditError),
    Transfer,
    Memory,
}

impl<T: Copy> Endpoint<'_, T> {
    /// Closes the link to a peer: sends to it, receives that it is the known
    /// source of or that await its data, fail; messages of it that nobody has
    /// received are dropped. Data that it was told to send may still come into
    /// the buffers of such receives: the hardware cannot be stopped from here.
    ///
    /// Links are not opened again.
    pub fn close_peer(&mut self, peer: u32) {
        self.close(peer, CloseReason::Local);
    }

    /// As [`close_peer`](Self::close_peer), because nothing gets there any more:
    /// the peer is not told.
    pub fn lose_peer(&mut self, peer: u32) {
        self.close(peer, CloseReason::Transfer);
    }

    pub(super) fn close(&mut self, peer: u32, reason: CloseReason) {
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return;
        };
        if !entry.is_open() {
            return;
        }
        entry.state = PeerState::Closed(reason);
        entry.waiting = Queue::EMPTY;
        entry.answers = Queue::EMPTY;
        entry.offers = Queue::EMPTY;
        entry.direct = Queue::EMPTY;
        entry.offered = Default::default();
        entry.arrived = 0;
        entry.answers_in = 0;
        // Best effort: without a credit the peer has to find out itself.
        entry.farewell = reason.is_told();
        if !entry.farewell {
            entry.unsent = None;
        }
        entry.held = 0;
        entry.unexpected = 0;
        if entry.chunk.take().is_some() {
            self.chunks = self.chunks.saturating_sub(1);
        }
        self.stats.closed += 1;
        if reason.is_told() {
            self.wake(peer);
        }
        debug!("mpi: link to rank {} closed", peer);
        for flight in self.flights.iter_mut().flatten() {
            if flight.peer == peer && flight.request.take().is_some() {
                self.data_flights = self.data_flights.saturating_sub(1);
            }
        }
        let error = EndpointError::PeerClosed { peer, reason };
        for index in 0..self.requests.limit() as u16 {
            let fails = match self.requests.op(index) {
                Op::Send(op) => {
                    // Calls find out when they are over, in their turn.
                    let over = matches!(op.state, Sending::Called | Sending::Left | Sending::Own);
                    op.send.dst == peer && !over
                }
                Op::Recv(op) => match op.state {
                    Receiving::Called => false,
                    Receiving::Posted(handle) => {
                        op.recv.peer == Some(peer) && self.matcher.cancel(handle).is_some()
                    }
                    Receiving::Answering { .. } | Receiving::Landing => op.peer == peer,
                },
                Op::Free | Op::Done(_) => false,
            };
            if fails {
                self.complete(index, Err(error));
            }
        }
        while let Some(handle) = self.message_of(peer) {
            if let Some((_, message)) = self.matcher.discard(handle)
                && let Unmatched::Short { chain, .. } = message.0
            {
                self.pool.give_back(chain);
            }
        }
    }

    fn message_of(&self, peer: u32) -> Option<Handle> {
        let mut waiting = self.matcher.unexpected();
        let found = waiting.find(|(_, _, message)| match message.0 {
            Unmatched::Short { peer: from, .. } | Unmatched::Long { peer: from, .. } => {
                from == peer && from != self.place.rank
            }
            Unmatched::Own { .. } => false,
        });
        found.map(|(handle, _, _)| handle)
    }

    /// The peer that has the most messages waiting here.
    pub(super) fn most_unexpected(&self) -> Option<u32> {
        let peers = (0..).zip(self.peers.iter());
        let open = peers.filter(|(_, peer)| peer.is_open() && peer.unexpected > 0);
        // The first of equals.
        open.max_by_key(|(rank, peer)| (peer.unexpected, u32::MAX - rank))
            .map(|(rank, _)| rank)
    }
}

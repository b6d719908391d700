//! What can be seen of an endpoint from outside.

use super::Endpoint;
use super::invariants::BrokenInvariant;
use super::peer::PeerState;
use super::request::{Op, Pending, Receipt, Receiving};
use super::storage::Unmatched;
use crate::mpi::boot::Place;
use crate::mpi::config::MpiConfig;
use crate::mpi::credit::PeerCredit;
use crate::mpi::matching::Pattern;

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

impl<T: Copy> Endpoint<'_, T> {
    /// The earliest message that a receive of `pattern` would take, of those
    /// that have been taken in.
    ///
    /// None as long as a receive that was called earlier, and whose call is not
    /// over, may take that message: probes keep their place among the calls.
    #[must_use]
    pub fn iprobe(&self, pattern: &Pattern) -> Option<Receipt> {
        let (envelope, message) = self.matcher.probe(pattern)?;
        let mut calls = self.requests.iter().filter_map(|(_, op)| match op {
            Op::Recv(op) if op.state == Receiving::Called => Some(op.recv.pattern),
            _ => None,
        });
        if calls.any(|earlier| earlier.matches(envelope)) {
            return None;
        }
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
}

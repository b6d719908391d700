//! What the user calls: sends, receives, and what became of them.

use super::Endpoint;
use super::error::EndpointError;
use super::peer::{NOBODY, PeerState};
use super::request::{Op, Receipt, Receiving, Recv, RecvOp, Request, Send, SendOp, Sending};
use crate::mpi::matching::Envelope;

impl<T: Copy> Endpoint<'_, T> {
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

    pub(super) fn check_peer(&self, peer: u32) -> Result<(), EndpointError> {
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
    /// ([`MpiConfig::offers`](crate::mpi::MpiConfig::offers)).
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
}

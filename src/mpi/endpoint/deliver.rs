//! Messages meet receives.

use super::Endpoint;
use super::context::{Context, Unreachable, copy_in, scatter};
use super::error::{CloseReason, EndpointError};
use super::pool::{BLOCK, END, counted};
use super::request::{Op, Receiving, RecvOp};
use super::storage::{Message, Unmatched};
use crate::mpi::matching::{Arrived, Envelope, MatchError, Posted};
use crate::mpi::port::Port;

/// A message that has just come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin<'m> {
    /// With its data.
    Short(&'m [u8]),
    /// A question.
    Long { total: u64, sender_req: u32 },
    /// Whose data goes to the landing that the receive has offered.
    Direct { total: u64 },
}

impl<T: Copy> Endpoint<'_, T> {
    /// A message of a peer: to its receive, or to those that wait.
    pub(super) fn arrive<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
        envelope: Envelope,
        origin: Origin<'_>,
    ) -> Result<(), CloseReason> {
        self.check_offer(peer, &envelope, &origin)?;
        let matched = self.matcher.would_match(&envelope).is_some();
        if !matched && self.matcher.unexpected_room() == 0 {
            self.make_room(peer)?;
        }
        let message = match origin {
            Origin::Long { total, sender_req } => Unmatched::Long {
                peer,
                total,
                sender_req,
            },
            // It matches, as was checked.
            Origin::Direct { total } => Unmatched::Long {
                peer,
                total,
                sender_req: 0,
            },
            Origin::Short(bytes) => Unmatched::Short {
                peer,
                length: bytes.len() as u32,
                chain: if matched {
                    END
                } else {
                    self.keep(context, peer, bytes)?
                },
            },
        };
        match self.matcher.arrive(envelope, Message(message)) {
            Ok(Arrived::Matched { receive, .. }) => {
                match origin {
                    Origin::Short(bytes) => {
                        self.matched_short(peer, bytes.len() as u64);
                        self.deliver(context, receive, peer, envelope, bytes);
                    }
                    Origin::Long { total, sender_req } => {
                        self.will_answer(receive, peer, envelope, total, sender_req);
                    }
                    Origin::Direct { total } => self.will_land(receive, peer, envelope, total),
                }
                Ok(())
            }
            Ok(Arrived::Unexpected(_)) => {
                self.stats.unexpected += 1;
                if let Some(peer) = self.peer(peer) {
                    peer.unexpected += 1;
                }
                Ok(())
            }
            // There was room.
            Err(_) => Err(CloseReason::Memory),
        }
    }

    /// Data for which no receive is posted, within what the peer was granted.
    fn keep<P: Port>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
        bytes: &[u8],
    ) -> Result<u32, CloseReason> {
        let counts = counted(bytes.len() as u64);
        let limit = self.config.unexpected_bytes / self.place.ranks.max(1);
        let entry = self.peer(peer).ok_or(CloseReason::Memory)?;
        let held = entry.held + counts;
        if held > u64::from(limit) {
            return Err(CloseReason::Budget { bytes: held, limit });
        }
        entry.held = held;
        // The shares of all are not more than the pool.
        let chain = self.pool.take(bytes.len() as u64);
        let chain = chain.ok_or(CloseReason::Memory)?;
        match self.pool.fill(context.port, &self.layout, chain, bytes) {
            Ok(()) => Ok(chain),
            Err(_) => {
                self.pool.give_back(chain);
                Err(CloseReason::Memory)
            }
        }
    }

    /// The table of messages is full: whoever has the most in it is given up.
    fn make_room(&mut self, peer: u32) -> Result<(), CloseReason> {
        let limit = self.matcher.unexpected_len();
        let reason = CloseReason::Resource { limit };
        match self.most_unexpected() {
            Some(other) if other != peer => {
                self.close(other, reason);
                Ok(())
            }
            _ => Err(reason),
        }
    }

    /// A receive is posted: it takes a message that waits, or waits.
    pub(super) fn post<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>, request: u16) {
        let Op::Recv(mut op) = self.requests.op(request) else {
            return;
        };
        let offers = self.may_offer(context.port, &op.recv);
        match self.matcher.post(op.recv.pattern, request) {
            Ok(Posted::Matched {
                envelope, message, ..
            }) => self.meet(context, request, envelope, message.0),
            Ok(Posted::Waits(handle)) => {
                // A peer that was closed since the call will send nothing.
                let closed = op.recv.peer.and_then(|peer| self.check_peer(peer).err());
                match closed {
                    Some(error) => {
                        self.matcher.cancel(handle);
                        self.complete(request, Err(error));
                    }
                    None => {
                        op.state = Receiving::Posted(handle);
                        self.requests.put(request, Op::Recv(op));
                        if let Some(peer) = offers {
                            self.queue_offer(request, peer);
                        }
                    }
                }
            }
            Err(
                MatchError::PostedFull { capacity: limit }
                | MatchError::UnexpectedFull { capacity: limit },
            ) => {
                self.complete(request, Err(EndpointError::PostedFull { limit }));
            }
        }
    }

    /// A receive meets a message that was waiting.
    fn meet<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        request: u16,
        envelope: Envelope,
        message: Unmatched,
    ) {
        match message {
            Unmatched::Short {
                peer,
                length,
                chain,
            } => {
                self.forget(peer);
                if peer == self.place.rank {
                    self.own_held = self.own_held.saturating_sub(counted(length.into()));
                } else {
                    if let Some(entry) = self.peer(peer) {
                        entry.held = entry.held.saturating_sub(counted(length.into()));
                    }
                    self.matched_short(peer, length.into());
                }
                self.deliver_chain(context, request, peer, envelope, length.into(), chain);
                self.pool.give_back(chain);
            }
            Unmatched::Long {
                peer,
                total,
                sender_req,
            } => {
                self.forget(peer);
                self.will_answer(request, peer, envelope, total, sender_req);
            }
            Unmatched::Own { request: send } => {
                self.forget(self.place.rank);
                self.join(context, send, request);
            }
        }
    }

    /// One message less waits.
    fn forget(&mut self, peer: u32) {
        if let Some(peer) = self.peer(peer) {
            peer.unexpected = peer.unexpected.saturating_sub(1);
        }
    }

    /// The sender's budget has room again: the next message to it says so.
    fn matched_short(&mut self, peer: u32, length: u64) {
        if let Some(credit) = self.peer(peer).and_then(|peer| peer.credit.as_mut()) {
            credit.matched(counted(length) as u32);
        }
    }

    /// The receive, as it will be told of.
    pub(super) fn matched(
        &self,
        request: u16,
        peer: u32,
        envelope: Envelope,
        total: u64,
    ) -> Option<RecvOp> {
        let Op::Recv(mut op) = self.requests.op(request) else {
            return None;
        };
        op.peer = peer;
        op.envelope = envelope;
        op.total = total;
        Some(op)
    }

    fn deliver<P: Port>(
        &mut self,
        context: &mut Context<'_, P>,
        request: u16,
        peer: u32,
        envelope: Envelope,
        bytes: &[u8],
    ) {
        let total = bytes.len() as u64;
        let Some(op) = self.matched(request, peer, envelope, total) else {
            return;
        };
        let part = bytes.get(..op.accept() as usize).unwrap_or(bytes);
        let put = scatter(context.port, op.recv.buffer, part);
        self.received(request, &op, put);
    }

    pub(super) fn received(&mut self, request: u16, op: &RecvOp, put: Result<(), Unreachable>) {
        let result = match put {
            Ok(()) => Ok(op.receipt()),
            Err(Unreachable) => Err(op.recv.buffer.bad()),
        };
        self.complete(request, result);
    }

    fn deliver_chain<P: Port>(
        &mut self,
        context: &mut Context<'_, P>,
        request: u16,
        peer: u32,
        envelope: Envelope,
        length: u64,
        chain: u32,
    ) {
        let Some(op) = self.matched(request, peer, envelope, length) else {
            return;
        };
        let accept = op.accept();
        let (mut at, mut block) = (0, chain);
        let mut put = Ok(());
        while at < accept && put.is_ok() {
            let step = (accept - at).min(BLOCK);
            let from = self.layout.block(block);
            put = match op.recv.buffer.addr.checked_add(at) {
                Some(to) => copy_in(context.port, from, to, step),
                None => Err(Unreachable),
            };
            at += step;
            block = self.pool.following(block);
        }
        self.received(request, &op, put);
    }

    /// A receive has met a REQ: it is answered in its turn.
    fn will_answer(
        &mut self,
        request: u16,
        peer: u32,
        envelope: Envelope,
        total: u64,
        sender_req: u32,
    ) {
        self.withdraw(request);
        let Some(mut op) = self.matched(request, peer, envelope, total) else {
            return;
        };
        op.sender_req = sender_req;
        op.state = Receiving::Answering { offset: 0 };
        self.requests.put(request, Op::Recv(op));
        if let Some(entry) = self.peers.get_mut(peer as usize) {
            self.requests.push(&mut entry.answers, request);
        }
        self.wake(peer);
    }
}

//! Envelopes on their way out: SHORT or REQ, in their turn.

use super::Endpoint;
use super::context::{Context, check_reach, gather};
use super::pool::counted;
use super::request::{Mode, Op, Sending};
use super::stage::Content;
use crate::mpi::port::Port;
use crate::mpi::wire::{Flags, Header, Kind, Req};

impl<T: Copy> Endpoint<'_, T> {
    /// A send waits for its turn.
    pub(super) fn queue(&mut self, request: u16) {
        let Some(op) = self.requests.send(request) else {
            return;
        };
        op.state = Sending::Queued;
        let dst = op.send.dst;
        if let Some(peer) = self.peers.get_mut(dst as usize) {
            self.requests.push(&mut peer.waiting, request);
        }
        self.wake(dst);
    }

    /// Bytes of a send that goes as SHORT now; none for one that goes as REQ.
    pub(super) fn short_length(&self, peer: u32, request: u16) -> Option<u64> {
        let Op::Send(op) = self.requests.op(request) else {
            return None;
        };
        let length = op.send.buffer.len;
        if self.is_long(op.send.mode, length) {
            return None;
        }
        let credit = self.credit(peer)?;
        // At most a slot's payload.
        credit
            .within_budget(counted(length) as u32)
            .then_some(length)
    }

    /// The oldest waiting envelope, as SHORT or REQ.
    pub(super) fn send_envelope<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) {
        let Some(request) = self.next_turn(peer, false) else {
            return;
        };
        let Op::Send(op) = self.requests.op(request) else {
            return;
        };
        let send = op.send;
        let short = self.short_length(peer, request);
        let reached = match short {
            Some(length) => match context.rx.get_mut(..length as usize) {
                Some(bytes) => gather(context.port, send.buffer, bytes),
                None => Ok(()),
            },
            None => check_reach(context.port, send.buffer),
        };
        if reached.is_err() {
            self.pop_waiting(peer);
            self.complete(request, Err(send.buffer.bad()));
            return;
        }
        let offer = self.take_offer(peer, &send);
        let direct = offer.filter(|offer| short.is_none() && offer.fits(send.buffer.len));
        let kind = if short.is_some() {
            Kind::Short
        } else {
            Kind::Req
        };
        let header = Header {
            context: send.context,
            tag: send.tag,
            src_rank: send.src_rank,
            flags: Flags::NONE
                .set(Flags::INTERNAL, send.internal)
                .set(Flags::OFFER, direct.is_some())
                .set(Flags::SYNC, send.mode == Mode::Synchronous),
            ..Header::new(kind)
        };
        self.pop_waiting(peer);
        let sent = match short {
            Some(length) => {
                self.stats.shorts += 1;
                self.complete(request, Ok(send.receipt()));
                self.stage(context, peer, header, Content::Short(length as usize))
            }
            None => {
                self.stats.requests += 1;
                if let Some(op) = self.requests.send(request) {
                    op.state = Sending::Asked { answered: 0 };
                    if let Some(offer) = direct {
                        op.state = Sending::Answered;
                        op.accept = send.buffer.len;
                        op.direct = Some(offer.place);
                    }
                }
                let req = Req {
                    total_len: send.buffer.len,
                    sender_req: self.requests.name(request).bits(),
                };
                self.stage(context, peer, header, Content::Req(req))
            }
        };
        if sent.is_ok() {
            self.envelope_sent(peer, direct.map(|_| request));
        }
        self.settle(peer, sent.map(|_| ()));
    }

    /// The request at the head of a peer's list, when its message can go.
    pub(super) fn next_turn(&self, peer: u32, answers: bool) -> Option<u16> {
        let entry = self.peers.get(peer as usize)?;
        let credit = entry.credit?;
        if !entry.is_open() || entry.unsent.is_some() || !credit.can_send(Kind::Rsp) {
            return None;
        }
        if answers {
            entry.answers.front()
        } else {
            entry.waiting.front()
        }
    }

    fn pop_waiting(&mut self, peer: u32) {
        if let Some(peer) = self.peers.get_mut(peer as usize) {
            self.requests.pop(&mut peer.waiting);
        }
    }

    /// A send whose bytes have all left is complete.
    pub(super) fn end_send(&mut self, request: super::Request) {
        if let Some(index) = self.requests.find(request)
            && let Op::Send(op) = self.requests.op(index)
        {
            self.complete(index, Ok(op.send.receipt()));
        }
    }
}

//! Answers: the pages of a receive on their way to the sender.

use super::Endpoint;
use super::context::{Context, check_reach};
use super::request::{Op, Receiving};
use super::stage::Content;
use crate::mpi::pages::{Piece, Pieces};
use crate::mpi::port::Port;
use crate::mpi::wire::{Entry, Header, Kind, Rsp};

/// Bytes of an entry of an RSP, at most: a multiple of a page, so that what
/// follows stays aligned.
const MAX_ENTRY: u64 = 0xFFFF_F000;

/// The pieces of a receive's buffer as entries of an RSP.
pub(super) struct Pages<F> {
    pieces: Pieces<F>,
    rest: Piece,
}

impl<F: FnMut(u64, u64) -> Option<Piece>> Iterator for Pages<F> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.rest.len == 0 {
            self.rest = self.pieces.next()?;
        }
        let Piece { addr, len } = self.rest;
        let len = len.min(MAX_ENTRY);
        // What ends at 2^64 has no entry, and no rest.
        self.rest.addr = addr.saturating_add(len);
        self.rest.len -= len;
        Entry::new(u32::try_from(addr).ok()?, len as u32).ok()
    }
}

/// Status of an answer whose receiver's buffer cannot be reached.
pub(super) const STATUS_BAD_BUFFER: u16 = 1;

impl<T: Copy> Endpoint<'_, T> {
    /// Whether the oldest receive to be answered has, or can have, a landing.
    pub(super) fn answer_waits(&self, peer: u32) -> bool {
        let front = self.peers.get(peer as usize).map(|peer| peer.answers);
        match front
            .and_then(|answers| answers.front())
            .map(|request| self.requests.op(request))
        {
            Some(Op::Recv(op)) => {
                op.landing.is_some() || op.accept() == 0 || self.free_landing().is_some()
            }
            _ => false,
        }
    }

    /// Bytes that the oldest answer's next part carries, when they are to be
    /// copied to a neighbour; else nobody asks.
    pub(super) fn answer_length<P: Port>(&self, port: &P, peer: u32) -> u64 {
        let front = self
            .peers
            .get(peer as usize)
            .and_then(|peer| peer.answers.front());
        let Some(Op::Recv(op)) = front.map(|request| self.requests.op(request)) else {
            return 0;
        };
        let Receiving::Answering { offset } = op.state else {
            return 0;
        };
        if !self.is_neighbour(peer) {
            return 0;
        }
        let rsp = Rsp {
            sender_req: op.sender_req,
            recv_req: 0,
            accept_len: op.accept(),
            chunk_off: offset,
            status: 0,
        };
        rsp_len(port, rsp, op.recv.buffer.addr) as u64
    }

    /// The next part of the oldest answer.
    pub(super) fn answer<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>, peer: u32) {
        let Some(request) = self.next_turn(peer, true) else {
            return;
        };
        let Op::Recv(mut op) = self.requests.op(request) else {
            return;
        };
        let Receiving::Answering { offset } = op.state else {
            return;
        };
        let mut rsp = Rsp {
            sender_req: op.sender_req,
            recv_req: 0,
            accept_len: op.accept(),
            chunk_off: offset,
            status: 0,
        };
        let buffer = op.recv.buffer;
        let reached = offset > 0
            || check_reach(
                context.port,
                super::Buffer::new(buffer.addr, rsp.accept_len),
            )
            .is_ok();
        if !reached {
            // Said once, before any part.
            rsp.accept_len = 0;
            rsp.status = STATUS_BAD_BUFFER;
        } else if rsp.accept_len > 0 {
            // One that was offered serves, too.
            let landing = match op.landing {
                Some(landing) => landing,
                None => match self.take_landing(request) {
                    Some(landing) => landing,
                    None => return,
                },
            };
            op.landing = Some(landing);
            rsp.recv_req = u32::from(self.place.landing_index) + u32::from(landing);
            self.requests.put(request, Op::Recv(op));
        }
        let header = Header {
            context: op.envelope.context,
            tag: op.envelope.tag.max(0),
            ..Header::new(Kind::Rsp)
        };
        self.stats.answers += 1;
        let sent = self.stage(context, peer, header, Content::Rsp(rsp, buffer.addr));
        if let Ok(end) = sent {
            if end < rsp.accept_len {
                op.state = Receiving::Answering { offset: end };
                self.requests.put(request, Op::Recv(op));
            } else {
                self.pop_answer(peer);
                op.state = Receiving::Landing;
                self.requests.put(request, Op::Recv(op));
                if !reached {
                    self.complete(request, Err(buffer.bad()));
                } else if rsp.accept_len == 0 {
                    self.complete(request, Ok(op.receipt()));
                }
            }
        }
        self.settle(peer, sent.map(|_| ()));
    }

    fn pop_answer(&mut self, peer: u32) {
        if let Some(peer) = self.peers.get_mut(peer as usize) {
            self.requests.pop(&mut peer.answers);
        }
    }
}

/// Bytes of an answer's payload, as far as one slot goes.
pub(super) fn rsp_len<P: Port>(port: &P, rsp: Rsp, addr: u64) -> usize {
    let pages = pages(port, rsp, addr).take(Rsp::MAX_ENTRIES);
    Rsp::HEAD_LEN + Entry::WIRE_LEN * pages.count()
}

pub(super) fn pages<P: Port>(
    port: &P,
    rsp: Rsp,
    addr: u64,
) -> Pages<impl FnMut(u64, u64) -> Option<Piece> + '_> {
    let map = |addr, len| port.piece(addr, len);
    let start = addr.saturating_add(rsp.chunk_off);
    Pages {
        pieces: Pieces::new(map, start, rsp.accept_len.saturating_sub(rsp.chunk_off)),
        rest: Piece::default(),
    }
}

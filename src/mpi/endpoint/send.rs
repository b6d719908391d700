//! Control messages on their way out: staging, credits, the transport.

use super::Endpoint;
use super::close::Trouble;
use super::context::{Context, check_reach, gather};
use super::error::CloseReason;
use super::peer::Unsent;
use super::pool::counted;
use super::request::{Mode, Op, Receiving, Sending};
use super::storage::Flight;
use crate::mpi::config::ArrivalMode;
use crate::mpi::credit::CreditMode;
use crate::mpi::pages::{Piece, Pieces};
use crate::mpi::port::Port;
use crate::mpi::trace::Note;
use crate::mpi::wire::{
    Class, Entry, Flags, HEADER_LEN, Header, Kind, Payload, Req, Rsp, emit, emit_rsp, padded_len,
};
use crate::remote::{self, Transfer};

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
        self.rest.addr += len;
        self.rest.len -= len;
        Entry::new(u32::try_from(addr).ok()?, len as u32).ok()
    }
}

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

    fn pop_answer(&mut self, peer: u32) {
        if let Some(peer) = self.peers.get_mut(peer as usize) {
            self.requests.pop(&mut peer.answers);
        }
    }

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

    /// An explicit CRDT.
    pub(super) fn send_credit<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) {
        let Some(entry) = self.peers.get(peer as usize) else {
            return;
        };
        let goes = entry.credit.is_some_and(|c| c.can_send(Kind::Crdt));
        if !entry.is_open() || entry.unsent.is_some() || !goes {
            return;
        }
        self.stats.credits += 1;
        let header = Header::new(Kind::Crdt);
        let sent = self.stage(context, peer, header, Content::Crdt);
        self.settle(peer, sent.map(|_| ()));
    }

    /// The last message to a peer whose link is closed here.
    pub(super) fn send_farewell<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) {
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return;
        };
        let Some(credit) = entry
            .credit
            .filter(|_| core::mem::take(&mut entry.farewell))
        else {
            return;
        };
        // Beside counter words there is no CRDT.
        let (kind, content) = match credit.config().mode {
            CreditMode::Slot => (Kind::Crdt, Content::Crdt),
            CreditMode::Counter => (Kind::Short, Content::Short(0)),
        };
        if !credit.can_send(kind) {
            return;
        }
        let header = Header {
            flags: Flags::ERR,
            ..Header::new(kind)
        };
        // The link is closed: more trouble changes nothing.
        let _ = self.stage(context, peer, header, content);
    }

    /// A message is written to its staging buffer, counted, and handed over.
    /// Gives, for an answer, where the next part starts.
    pub(super) fn stage<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
        header: Header,
        content: Content,
    ) -> Result<u64, Trouble> {
        let place = self.place;
        let entry = self.peers.get(peer as usize).ok_or(Trouble::Memory)?;
        let mut credit = entry.credit.ok_or(Trouble::Memory)?;
        let length = match content {
            Content::Short(length) => length,
            Content::Req(_) => Req::WIRE_LEN,
            Content::Crdt => 0,
            Content::Rsp(rsp, addr) => rsp_len(&*context.port, rsp, addr),
        };
        let counts = if header.kind == Kind::Short {
            counted(length as u64) as u32
        } else {
            0
        };
        let granted = credit.send(header.kind, counts).map_err(Trouble::Credit)?;
        let staging = self.layout.staging(peer, granted.slot);
        // The trailer must differ from what the slot holds at its place.
        let at = HEADER_LEN + padded_len(length);
        if let Some(word) = context.tx.get_mut(at..at + 4) {
            let loaded = context.port.load(staging + at as u64, word);
            loaded.map_err(|_| Trouble::Memory)?;
        }
        let header = Header {
            incarnation: place.incarnation,
            ..granted.fill(header)
        };
        let (wire_len, end) = match content {
            Content::Short(length) => {
                let bytes = context.rx.get(..length).unwrap_or(&[]);
                (emit(&header, &Payload::Short(bytes), context.tx), 0)
            }
            Content::Req(req) => (emit(&header, &Payload::Req(req), context.tx), 0),
            Content::Crdt => (emit(&header, &Payload::Crdt, context.tx), 0),
            Content::Rsp(rsp, addr) => {
                let mut pages = pages(&*context.port, rsp, addr);
                match emit_rsp(&header, &rsp, &mut pages, context.tx) {
                    // Bytes that were there a moment ago are not any more.
                    Ok(emitted) if emitted.more && emitted.end == rsp.chunk_off => {
                        return Err(Trouble::Memory);
                    }
                    Ok(emitted) => (Ok(emitted.wire_len), emitted.end),
                    Err(error) => (Err(error), 0),
                }
            }
        };
        let wire_len = wire_len.map_err(Trouble::Wire)?;
        let bytes = context.tx.get(..wire_len).unwrap_or(&[]);
        let stored = context.port.store(staging, bytes);
        stored.map_err(|_| Trouble::Memory)?;
        let transfer = self.control_transfer(peer, granted.slot, wire_len as u64);
        let transfer = transfer.ok_or(Trouble::Memory)?;
        if let Some(entry) = self.peers.get_mut(peer as usize) {
            entry.credit = Some(credit);
            entry.unsent = Some(Unsent {
                transfer,
                kind: header.kind,
                seq: header.seq,
                length: length as u32,
            });
        }
        self.retry(context, peer);
        Ok(end)
    }

    fn control_transfer(&self, peer: u32, slot: u16, length: u64) -> Option<Transfer> {
        let entry = &self.peers.get(peer as usize)?.entry;
        let there = super::Layout::new(&self.config, peer, self.place.ranks, entry.base);
        let index = entry.control_index.checked_add(slot)?;
        let rank = u16::try_from(self.place.rank).ok()?;
        Some(Transfer {
            node: entry.node,
            local: self.layout.staging(peer, slot),
            remote: there.slot(self.place.rank, slot),
            length,
            flags: remote::Flags {
                notify_receiver: self.config.arrival == ArrivalMode::Reports,
                tag: self.config.tags.pack(Class::Control, rank, index)?,
            },
        })
    }

    /// Hands over the message that is staged for a peer.
    pub(super) fn retry<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>, peer: u32) {
        let entry = self.peers.get(peer as usize);
        let Some(unsent) = entry.and_then(|entry| entry.unsent) else {
            return;
        };
        match self.start(context, peer, unsent.transfer, None) {
            Ok(true) => {
                if let Some(entry) = self.peers.get_mut(peer as usize) {
                    entry.unsent = None;
                }
                context.trace.sent(Note {
                    peer,
                    kind: Some(unsent.kind),
                    seq: unsent.seq,
                    length: unsent.length.into(),
                    at: context.now,
                });
            }
            Ok(false) => {}
            Err(trouble) => {
                if let Some(entry) = self.peers.get_mut(peer as usize) {
                    entry.unsent = None;
                }
                self.settle(peer, Err(trouble));
            }
        }
    }

    /// Starts a transfer; false when there is no room for it now.
    pub(super) fn start<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
        transfer: Transfer,
        request: Option<u16>,
    ) -> Result<bool, Trouble> {
        let Some(place) = self.flights.iter_mut().find(|place| place.is_none()) else {
            return Ok(false);
        };
        match context.port.start(transfer) {
            Ok(Some(token)) => {
                *place = Some(Flight {
                    token,
                    peer,
                    request,
                });
                Ok(true)
            }
            Ok(None) => {
                self.full = true;
                self.stats.full += 1;
                Ok(false)
            }
            Err(_) => Err(Trouble::Transfer),
        }
    }

    /// Counter form: the peer is told how many slots were consumed.
    pub(super) fn write_counter<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) {
        let Some(entry) = self.peers.get(peer as usize).filter(|peer| peer.is_open()) else {
            return;
        };
        let Some(word) = entry.credit.and_then(|credit| credit.counter_to_write()) else {
            return;
        };
        let there = super::Layout::new(&self.config, peer, self.place.ranks, entry.entry.base);
        let transfer = Transfer {
            node: entry.entry.node,
            local: self.layout.counter_out(peer),
            remote: there.counter_in(self.place.rank),
            length: 4,
            flags: remote::Flags::default(),
        };
        let stored = context.port.store(transfer.local, &word.to_le_bytes());
        let started = match stored {
            Ok(()) => self.start(context, peer, transfer, None),
            Err(_) => Err(Trouble::Memory),
        };
        if started == Ok(true) {
            self.stats.credits += 1;
            if let Some(credit) = self.peer(peer).and_then(|peer| peer.credit.as_mut()) {
                credit.counter_written(word);
            }
        }
        self.settle(peer, started.map(|_| ()));
    }

    /// Counter form: what the peer's word says, when credits are needed.
    pub(super) fn read_counter<P: Port>(&mut self, context: &mut Context<'_, P>, peer: u32) {
        let addr = self.layout.counter_in(peer);
        let Some(credit) = self.peer(peer).and_then(|peer| peer.credit.as_mut()) else {
            return;
        };
        let counted = credit.config().mode == CreditMode::Counter;
        if !counted || credit.can_send(Kind::Rsp) {
            return;
        }
        let mut word = [0; 4];
        let read = match context.port.load(addr, &mut word) {
            Ok(()) => credit
                .counter_read(u32::from_le_bytes(word))
                .map_err(Trouble::Credit),
            Err(_) => Err(Trouble::Memory),
        };
        self.settle(peer, read.map(|_| ()));
    }

    /// A send whose bytes have all left is complete.
    pub(super) fn end_send(&mut self, request: super::Request) {
        if let Some(index) = self.requests.find(request)
            && let Op::Send(op) = self.requests.op(index)
        {
            self.complete(index, Ok(op.send.receipt()));
        }
    }

    /// Closes a peer after trouble with it.
    pub(super) fn settle(&mut self, peer: u32, result: Result<(), Trouble>) {
        if let Err(trouble) = result {
            self.close(peer, trouble.reason());
        }
    }
}

/// Status of an answer whose receiver's buffer cannot be reached.
pub(super) const STATUS_BAD_BUFFER: u16 = 1;

/// What a message is to carry; the bytes of a SHORT lie in the read half of
/// the scratch memory, the pages of an answer start at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Short(usize),
    Req(Req),
    Rsp(Rsp, u64),
    Crdt,
}

/// Bytes of an answer's payload, as far as one slot goes.
fn rsp_len<P: Port>(port: &P, rsp: Rsp, addr: u64) -> usize {
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

impl Trouble {
    pub(super) const fn reason(self) -> CloseReason {
        match self {
            Self::Wire(error) => CloseReason::Wire(error),
            Self::Credit(error) => CloseReason::Credit(error),
            Self::Transfer => CloseReason::Transfer,
            Self::Memory => CloseReason::Memory,
        }
    }
}

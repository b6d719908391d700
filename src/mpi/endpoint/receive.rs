//! Control messages and notifications on their way in.

use super::context::Context;
use super::deliver::Origin;
use super::error::{CloseReason, EndpointError};
use super::peer::Offer;
use super::request::{Op, Sending};
use super::{Endpoint, Request};
use crate::mpi::config::ArrivalMode;
use crate::mpi::matching::Envelope;
use crate::mpi::port::Port;
use crate::mpi::trace::Note;
use crate::mpi::wire::{
    self, Class, Flags, HEADER_LEN, Header, MAX_PAYLOAD, Payload, Req, Rsp, padded_len, peek_seq,
    wire_len,
};

/// What a message was, once all of it was checked.
enum Taken {
    /// User bytes lie behind the header in the scratch memory.
    Short,
    Req(Req),
    Rsp {
        rsp: Rsp,
        entries: u16,
        total: u64,
    },
    Offer(Offer),
    Crdt,
}

impl<T: Copy> Endpoint<'_, T> {
    /// Whether a notification of the node is for this process: with several on
    /// one node, each takes its own.
    #[must_use]
    pub fn owns(&self, tag: u32) -> bool {
        self.claim(tag).is_some()
    }

    /// Class, source and own index of a notification for this process.
    pub(super) fn claim(&self, tag: u32) -> Option<(Class, u32, u16)> {
        let id = self.config.tags.unpack(tag)?;
        let source = u32::from(id.source());
        if source >= self.place.ranks || source == self.place.rank {
            return None;
        }
        let (first, count) = match id.class() {
            Class::Control => (self.place.control_index, self.config.slots),
            Class::Data => (self.place.landing_index, self.config.landings),
            Class::Get | Class::Other => return None,
        };
        let index = id.index().checked_sub(first)?;
        (index < count).then_some((id.class(), source, index))
    }

    /// Takes a notification. A control message waits for its turn; the end of a
    /// data message is given back.
    pub(super) fn notice(&mut self, tag: u32) -> Option<(u32, u16)> {
        let Some((class, source, index)) = self.claim(tag) else {
            self.stats.strays += 1;
            return None;
        };
        let peer = self.peer(source).filter(|peer| peer.is_open())?;
        if class == Class::Data {
            return Some((source, index));
        }
        let bit = 1 << index;
        if peer.arrived & bit != 0 {
            self.close(source, CloseReason::Repeated { slot: index });
            return None;
        }
        peer.arrived |= bit;
        if peer.next_arrived().is_some() {
            self.mark_ready(source);
        }
        None
    }

    /// Slot mode: a peer whose next message is there, round robin starting after
    /// the last one served.
    pub(super) fn look_into_slots<P: Port>(&mut self, context: &mut Context<'_, P>) -> Option<u32> {
        if self.config.arrival != ArrivalMode::Slots {
            return None;
        }
        let ranks = self.place.ranks;
        for step in 0..ranks {
            let rank = (self.cursor + step) % ranks;
            let Some(peer) = self.peers.get(rank as usize).filter(|p| p.is_open()) else {
                continue;
            };
            let Some(credit) = peer.credit else { continue };
            // A slot that was not given back holds an old message.
            if credit.rx_full() + credit.rx_owed() >= credit.config().slots {
                continue;
            }
            let slot = credit.rx_next();
            let addr = self.layout.slot(rank, slot);
            if is_there(context.port, addr, credit.rx_seq()) {
                self.cursor = rank + 1;
                if let Some(peer) = self.peer(rank) {
                    peer.arrived |= 1 << slot;
                }
                return Some(rank);
            }
        }
        None
    }

    /// Acts on the message in a slot.
    pub(super) fn receive<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        rank: u32,
        slot: u16,
    ) {
        let Some(peer) = self.peer(rank).filter(|peer| peer.is_open()) else {
            return;
        };
        if peer.arrived >> slot & 1 == 0 {
            return;
        }
        peer.arrived &= !(1 << slot);
        match self.take_in(context, rank, slot) {
            Ok((header, taken)) => {
                self.stats.received += 1;
                context.trace.received(Note {
                    peer: rank,
                    kind: Some(header.kind),
                    seq: header.seq,
                    length: header.length.into(),
                    at: context.now,
                });
                let acted = self.act_on(context, rank, slot, &header, &taken);
                match acted {
                    Ok(true) => {
                        if let Some(peer) = self.peer(rank) {
                            peer.finish(slot);
                        }
                    }
                    Ok(false) => {}
                    Err(reason) => self.close(rank, reason),
                }
            }
            Err(reason) => self.close(rank, reason),
        }
        if let Some(peer) = self.peers.get(rank as usize) {
            if peer.next_arrived().is_some() {
                self.mark_ready(rank);
            }
            // Credits came, or are owed.
            self.wake(rank);
        }
    }

    /// Reads a message into scratch memory, and holds it against the format and
    /// the flow control.
    fn take_in<P: Port>(
        &mut self,
        context: &mut Context<'_, P>,
        rank: u32,
        slot: u16,
    ) -> Result<(Header, Taken), CloseReason> {
        let addr = self.layout.slot(rank, slot);
        let config = self.config;
        let memory = |_| CloseReason::Memory;
        let mut bytes = [0; HEADER_LEN];
        context.port.load(addr, &mut bytes).map_err(memory)?;
        let header = Header::parse(&bytes).map_err(CloseReason::Wire)?;
        let peer = self.peer(rank).ok_or(CloseReason::Memory)?;
        let incarnation = peer.entry.incarnation;
        header
            .check_incarnation(incarnation)
            .map_err(CloseReason::Wire)?;
        let length = (header.length as usize).min(MAX_PAYLOAD);
        let bytes = context.rx.get_mut(..wire_len(length)).unwrap_or(&mut []);
        context.port.load(addr, bytes).map_err(memory)?;
        // From here on the copy counts: the slot may be written again.
        let view = wire::parse(bytes).map_err(CloseReason::Wire)?;
        let header = view.header;
        let taken = match view.payload {
            Payload::Short(_) => Taken::Short,
            Payload::Req(req) => Taken::Req(req),
            Payload::Rsp(rsp, entries) if header.flags.contains(Flags::OFFER) => {
                Taken::Offer(Offer::of(&config, &header, &rsp, entries)?)
            }
            Payload::Rsp(rsp, entries) => Taken::Rsp {
                rsp,
                entries: entries.count() as u16,
                total: entries.total(),
            },
            Payload::Crdt => Taken::Crdt,
        };
        header
            .check_incarnation(incarnation)
            .map_err(CloseReason::Wire)?;
        let credit = peer.credit.as_mut().ok_or(CloseReason::Memory)?;
        credit
            .receive_in(slot, &header)
            .map_err(CloseReason::Credit)?;
        Ok((header, taken))
    }

    /// Whether the slot is free again.
    fn act_on<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        rank: u32,
        slot: u16,
        header: &Header,
        taken: &Taken,
    ) -> Result<bool, CloseReason> {
        if header.flags.contains(Flags::ERR) {
            return Err(CloseReason::Remote);
        }
        let envelope = Envelope {
            context: header.context,
            source: header.src_rank,
            tag: header.tag,
        };
        if header.kind.has_envelope()
            && let Some(peer) = self.peer(rank)
        {
            peer.envelopes_in = peer.envelopes_in.wrapping_add(1);
        }
        match taken {
            Taken::Short => {
                let end = HEADER_LEN + header.length as usize;
                let rx = core::mem::take(&mut context.rx);
                let bytes = rx.get(HEADER_LEN..end).unwrap_or(&[]);
                let done = self.arrive(context, rank, envelope, Origin::Short(bytes));
                context.rx = rx;
                done.map(|()| true)
            }
            Taken::Req(req) => {
                let total = req.total_len;
                let origin = if header.flags.contains(Flags::OFFER) {
                    Origin::Direct { total }
                } else {
                    Origin::Long {
                        total,
                        sender_req: req.sender_req,
                    }
                };
                self.arrive(context, rank, envelope, origin).map(|()| true)
            }
            Taken::Rsp {
                rsp,
                entries,
                total,
            } => self.answered(rank, slot, rsp, *entries, *total),
            Taken::Offer(offer) => {
                self.keep_offer(rank, *offer);
                Ok(true)
            }
            Taken::Crdt => Ok(true),
        }
    }

    /// An answer to a send.
    fn answered(
        &mut self,
        rank: u32,
        slot: u16,
        rsp: &Rsp,
        entries: u16,
        total: u64,
    ) -> Result<bool, CloseReason> {
        let unknown = CloseReason::UnknownSend {
            request: rsp.sender_req,
        };
        let index = self.requests.find(Request::from_bits(rsp.sender_req));
        let index = index.ok_or(unknown)?;
        let Op::Send(mut op) = self.requests.op(index) else {
            return Err(unknown);
        };
        let Sending::Asked { answered } = op.state else {
            return Err(unknown);
        };
        if op.send.dst != rank {
            return Err(unknown);
        }
        if rsp.status != 0 {
            let status = rsp.status;
            if answered > 0 || rsp.accept_len > 0 {
                return Err(unknown);
            }
            self.complete(index, Err(EndpointError::Refused { status }));
            return Ok(true);
        }
        let bad = |offset, expected| Err(CloseReason::BadAnswer { offset, expected });
        if rsp.chunk_off != answered {
            return bad(rsp.chunk_off, answered);
        }
        let expected = if answered == 0 {
            rsp.accept_len.min(op.send.buffer.len)
        } else {
            op.accept
        };
        if rsp.accept_len != expected {
            return bad(rsp.accept_len, expected);
        }
        let landing = u16::try_from(rsp.recv_req).unwrap_or(u16::MAX);
        if entries > 0 && u32::from(landing) >= self.config.tags.indices() {
            let landing = rsp.recv_req;
            return Err(CloseReason::NoLanding { landing });
        }
        op.accept = rsp.accept_len;
        let end = answered.saturating_add(total);
        if end < op.accept && entries == 0 {
            // It could go on for ever.
            return bad(end, op.accept);
        }
        op.state = if end < op.accept {
            Sending::Asked { answered: end }
        } else {
            Sending::Answered
        };
        self.requests.put(index, Op::Send(op));
        if entries == 0 {
            self.end_when_left(index);
            return Ok(true);
        }
        if let Some(peer) = self.peer(rank) {
            peer.answers_in |= 1 << slot;
        }
        Ok(false)
    }
}

/// Whether message `seq` is in the slot at `addr` with its last byte. Messages
/// that are none are there, too: whoever reads them finds out.
fn is_there<P: Port>(port: &mut P, addr: u64, seq: u32) -> bool {
    let mut bytes = [0; HEADER_LEN];
    if port.load(addr, &mut bytes).is_err() || peek_seq(&bytes) != seq {
        return false;
    }
    let Ok(header) = Header::parse(&bytes) else {
        return true;
    };
    let length = header.length as usize;
    if length > MAX_PAYLOAD {
        return true;
    }
    let at = addr + (HEADER_LEN + padded_len(length)) as u64;
    let mut word = [0; 4];
    port.load(at, &mut word).is_ok() && wire::is_complete(&header, u32::from_le_bytes(word))
}

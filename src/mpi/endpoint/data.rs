//! Data messages: descriptors out, landings in.

use super::Endpoint;
use super::close::Trouble;
use super::context::Context;
use super::error::CloseReason;
use super::peer::Chunk;
use super::request::{Op, Receiving, Sending};
use crate::mpi::pages::{Pieces, cut};
use crate::mpi::port::Port;
use crate::mpi::trace::Note;
use crate::mpi::wire::{Class, Entry, HEADER_LEN, Rsp};
use crate::remote::{Flags, Transfer};

/// The next descriptor of a data message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextPiece {
    chunk: Chunk,
    local: u64,
    remote: u64,
    pub(super) length: u64,
    /// The entry's bytes.
    entry_len: u32,
    /// The first of its chunk.
    pub(super) starts: bool,
    /// Its cost was paid before the transport turned out to be full.
    pub(super) paid: bool,
    trouble: bool,
}

/// Where the parts of an RSP's head lie in the slot.
const HEAD: u64 = HEADER_LEN as u64;

impl<T: Copy> Endpoint<'_, T> {
    /// The chunk that is being served, or the oldest answer that waits.
    fn chunk<P: Port>(&self, port: &mut P, peer: u32) -> Option<(Chunk, bool)> {
        let entry = self.peers.get(peer as usize)?;
        if !entry.is_open() {
            return None;
        }
        if let Some(chunk) = entry.chunk {
            return Some((chunk, false));
        }
        if let Some(request) = entry.direct.front()
            && let Op::Send(op) = self.requests.op(request)
            && let Some(place) = op.direct
        {
            return Some((Chunk::direct(request, place), true));
        }
        // It was checked when it came; what follows from it is checked again.
        let slot = entry.oldest_answer()?;
        let mut head = [0; Rsp::HEAD_LEN];
        let addr = self.layout.slot(peer, slot) + HEAD;
        let loaded = port.load(addr, &mut head).is_ok();
        let [
            s0,
            s1,
            s2,
            s3,
            r0,
            r1,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _, //
            o0,
            o1,
            o2,
            o3,
            o4,
            o5,
            o6,
            o7,
            n0,
            n1,
            ..,
        ] = head;
        let name = super::Request::from_bits(u32::from_le_bytes([s0, s1, s2, s3]));
        let request = self.requests.find(name).filter(|_| loaded);
        Some((
            Chunk {
                slot: Some(slot),
                request: request.unwrap_or(u16::MAX),
                landing: u16::from_le_bytes([r0, r1]),
                entries: u16::from_le_bytes([n0, n1]),
                entry: 0,
                within: 0,
                offset: u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
                paid: false,
            },
            true,
        ))
    }

    /// What is to be posted next to a peer.
    pub(super) fn next_piece<P: Port>(&self, port: &mut P, peer: u32) -> Option<NextPiece> {
        let (chunk, starts) = self.chunk(port, peer)?;
        let trouble = NextPiece {
            chunk,
            local: 0,
            remote: 0,
            length: 0,
            entry_len: 0,
            starts,
            paid: chunk.paid,
            trouble: true,
        };
        Some(self.cut_piece(port, peer, trouble).unwrap_or(trouble))
    }

    fn cut_piece<P: Port>(&self, port: &mut P, peer: u32, next: NextPiece) -> Option<NextPiece> {
        let chunk = next.chunk;
        let Op::Send(op) = self.requests.op(chunk.request) else {
            return None;
        };
        let answered = matches!(op.state, Sending::Asked { .. } | Sending::Answered);
        if op.send.dst != peer || op.posted != chunk.offset || !answered {
            return None;
        }
        let (phys, entry_len) = match (chunk.slot, op.direct) {
            (Some(slot), _) => self.entry(port, peer, slot, chunk.entry)?,
            (None, Some(place)) => (place.phys, u32::try_from(op.accept).ok()?),
            (None, None) => return None,
        };
        // The peer could have changed the answer since it was checked; only
        // bytes that it was offered go, and only to it.
        let there = entry_len
            .checked_sub(chunk.within)
            .filter(|left| *left > 0)?;
        let left = op
            .accept
            .checked_sub(chunk.offset)
            .filter(|left| *left > 0)?;
        let remote = u64::from(phys) + u64::from(chunk.within);
        let local = op.send.buffer.addr.checked_add(chunk.offset)?;
        let here = Pieces::new(|addr, len| port.piece(addr, len), local, left).next()?;
        let length = cut(
            here.len,
            remote,
            u64::from(there).min(left),
            self.config.aligned_cuts,
        );
        Some(NextPiece {
            local: here.addr,
            remote,
            length,
            entry_len,
            trouble: false,
            ..next
        })
    }

    /// Address and length of an entry of an answer, as it reads now.
    fn entry<P: Port>(&self, port: &mut P, peer: u32, slot: u16, entry: u16) -> Option<(u32, u32)> {
        if usize::from(entry) >= Rsp::MAX_ENTRIES {
            return None;
        }
        let mut bytes = [0; Entry::WIRE_LEN];
        let at = HEAD + (Rsp::HEAD_LEN + Entry::WIRE_LEN * usize::from(entry)) as u64;
        port.load(self.layout.slot(peer, slot) + at, &mut bytes)
            .ok()?;
        let [p0, p1, p2, p3, l0, l1, l2, l3] = bytes;
        let phys = u32::from_le_bytes([p0, p1, p2, p3]);
        let entry = Entry::new(phys, u32::from_le_bytes([l0, l1, l2, l3])).ok()?;
        Some((entry.phys(), entry.len()))
    }

    /// Posts a descriptor.
    pub(super) fn send_piece<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) {
        let Some(next) = self.next_piece(context.port, peer) else {
            return;
        };
        if next.trouble {
            return self.settle(peer, Err(Trouble::Memory));
        }
        let Op::Send(mut op) = self.requests.op(next.chunk.request) else {
            return;
        };
        let mut chunk = next.chunk;
        let ends = chunk.offset + next.length == op.accept;
        let rank = self.place.rank as u16;
        let index = chunk.landing;
        let Some(tag) = self.config.tags.pack(Class::Data, rank, index) else {
            return self.close(peer, CloseReason::UnknownLanding { index });
        };
        let transfer = Transfer {
            node: self
                .peers
                .get(peer as usize)
                .map_or(0, |peer| peer.entry.node),
            local: next.local,
            remote: next.remote,
            length: next.length,
            flags: Flags {
                notify_receiver: ends,
                tag: if ends { tag } else { 0 },
            },
        };
        let started = self.start(context, peer, transfer, Some(chunk.request));
        chunk.paid = started == Ok(false);
        if started == Ok(true) {
            self.stats.pieces += 1;
            self.data_flights += 1;
            op.flights += 1;
            op.posted += next.length;
            self.requests.put(chunk.request, Op::Send(op));
            chunk.offset += next.length;
            chunk.within += next.length as u32;
            if chunk.within >= next.entry_len {
                chunk.within = 0;
                chunk.entry += 1;
            }
            if ends {
                context.trace.sent(Note {
                    peer,
                    kind: None,
                    seq: index.into(),
                    length: op.accept,
                    at: context.now,
                });
            }
        }
        let over = ends && started == Ok(true) || chunk.entry >= chunk.entries;
        if let Some(entry) = self.peers.get_mut(peer as usize) {
            if entry.chunk.is_none() {
                match chunk.slot {
                    Some(slot) => entry.answers_in &= !(1 << slot),
                    None => {
                        self.requests.pop(&mut entry.direct);
                    }
                }
                self.chunks += 1;
            }
            entry.chunk = Some(chunk).filter(|_| !over);
            if over {
                self.chunks = self.chunks.saturating_sub(1);
                if let Some(slot) = chunk.slot {
                    entry.finish(slot);
                }
            }
        }
        self.settle(peer, started.map(|_| ()));
    }

    /// A data transfer of a send has left.
    pub(super) fn departed(&mut self, request: u16) {
        self.data_flights = self.data_flights.saturating_sub(1);
        if let Some(op) = self.requests.send(request) {
            op.flights = op.flights.saturating_sub(1);
        }
        self.end_when_left(request);
    }

    /// Completes a send once nothing of it is left to do.
    pub(super) fn end_when_left(&mut self, request: u16) {
        let interrupts = self.config.policy == crate::mpi::Policy::Interrupt;
        let Some(op) = self.requests.send(request) else {
            return;
        };
        if op.state != Sending::Answered || op.posted < op.accept || op.flights > 0 {
            return;
        }
        if interrupts && op.accept > 0 {
            op.state = Sending::Left;
            self.requests.push(&mut self.finished, request);
        } else {
            let receipt = op.send.receipt();
            self.complete(request, Ok(receipt));
        }
    }

    /// A landing that is free.
    pub(super) fn free_landing(&self) -> Option<u16> {
        let limit = self.landing_limit;
        (0..limit)
            .map(|i| (self.next_landing + i) % limit)
            .find(|index| matches!(self.landings.get(*index), Some(None)))
            .map(|index| index as u16)
    }

    pub(super) fn take_landing(&mut self, request: u16) -> Option<u16> {
        let landing = self.free_landing()?;
        // The next one comes after it: an index is used again as late as can be.
        self.next_landing = usize::from(landing) + 1;
        *self.landings.get_mut(usize::from(landing))? = Some(request);
        Some(landing)
    }

    /// The end of a data message.
    pub(super) fn landed<P>(&mut self, context: &mut Context<'_, P>, peer: u32, index: u16) {
        let request = self.landings.get(usize::from(index)).copied().flatten();
        if request.is_some_and(|request| self.lands_early(request, peer)) {
            return;
        }
        let receipt = request.and_then(|request| match self.requests.op(request) {
            Op::Recv(op) if op.peer == peer && op.state == Receiving::Landing => {
                Some((request, op.receipt()))
            }
            _ => None,
        });
        let Some((request, receipt)) = receipt else {
            return self.close(peer, CloseReason::UnknownLanding { index });
        };
        self.stats.landed += 1;
        context.trace.received(Note {
            peer,
            kind: None,
            seq: u32::from(self.place.landing_index) + u32::from(index),
            length: receipt.length,
            at: context.now,
        });
        self.complete(request, Ok(receipt));
    }
}

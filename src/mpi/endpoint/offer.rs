//! Landing offers: a receive says where its data may go before it is asked.
//!
//! Why an offer is used by the right message only: hw/doc/mpi.md, section
//! "Landing offers".

use super::Endpoint;
use super::answer::pages;
use super::context::{Context, check_reach};
use super::deliver::Origin;
use super::error::CloseReason;
use super::peer::{Chunk, Offer, Peer};
use super::request::{Direct, Op, Receiving, Recv, Send};
use super::stage::Content;
use crate::mpi::config::MpiConfig;
use crate::mpi::matching::Envelope;
use crate::mpi::port::Port;
use crate::mpi::wire::{Entries, Flags, Header, Kind, Rsp};

impl Offer {
    /// What an RSP with OFFER says: one piece, all of the receive, and a landing
    /// that a notification can name.
    pub(super) fn of(
        config: &MpiConfig,
        header: &Header,
        rsp: &Rsp,
        mut entries: Entries<'_>,
    ) -> Result<Self, CloseReason> {
        let bad = CloseReason::BadOffer {
            value: rsp.recv_req.into(),
        };
        let (first, more) = (entries.next(), entries.next());
        let entry = first.filter(|_| more.is_none() && rsp.chunk_off == 0 && rsp.status == 0);
        let entry = entry.filter(|entry| u64::from(entry.len()) == rsp.accept_len);
        let entry = entry.filter(|_| config.offers).ok_or(bad)?;
        let landing = u16::try_from(rsp.recv_req).map_err(|_| bad)?;
        if u32::from(landing) >= config.tags.indices() {
            return Err(bad);
        }
        Ok(Self {
            envelope: Envelope {
                context: header.context,
                source: header.src_rank,
                tag: header.tag,
            },
            place: Direct {
                phys: entry.phys(),
                landing,
            },
            len: entry.len(),
            after: rsp.sender_req,
        })
    }

    /// Whether a message of `len` bytes can go there. One without bytes has no
    /// data message.
    pub(super) fn fits(&self, len: u64) -> bool {
        (1..=u64::from(self.len)).contains(&len)
    }
}

impl Chunk {
    /// All data of a send, to one offered piece.
    pub(super) fn direct(request: u16, place: Direct) -> Self {
        Self {
            slot: None,
            request,
            landing: place.landing,
            entries: 1,
            entry: 0,
            within: 0,
            offset: 0,
            paid: false,
        }
    }
}

impl<T: Copy> Endpoint<'_, T> {
    /// The peer that a receive, about to be posted, may offer its memory to.
    ///
    /// No receive that is posted already may be the one that the message goes
    /// to instead.
    pub(super) fn may_offer<P: Port>(&self, port: &mut P, recv: &Recv) -> Option<u32> {
        let peer = recv.peer.filter(|_| self.config.offers)?;
        let envelope = Envelope {
            context: recv.pattern.context,
            source: recv.pattern.source?,
            tag: recv.pattern.tag?,
        };
        let long = recv.buffer.len > u64::from(self.config.eager_max);
        let goes = long
            && peer != self.place.rank
            && self.matcher.would_match(&envelope).is_none()
            && one_piece(port, recv)
            && check_reach(port, recv.buffer).is_ok();
        goes.then_some(peer)
    }

    pub(super) fn queue_offer(&mut self, request: u16, peer: u32) {
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return;
        };
        if let Some(op) = self.requests.recv(request) {
            op.offering = true;
            self.requests.push(&mut entry.offers, request);
        }
        self.wake(peer);
    }

    /// A receive that has not offered yet does not any more.
    pub(super) fn withdraw(&mut self, request: u16) {
        let Some(op) = self.requests.recv(request) else {
            return;
        };
        if !core::mem::take(&mut op.offering) {
            return;
        }
        let peer = op.recv.peer;
        if let Some(entry) = peer.and_then(|peer| self.peers.get_mut(peer as usize)) {
            self.requests.remove(&mut entry.offers, request);
        }
    }

    /// Landings that are offered and not known to be used.
    pub(super) fn offers_out(&self) -> usize {
        let requests = self.landings.iter().flatten();
        let posted = requests.filter(|request| match self.requests.op(**request) {
            Op::Recv(op) => matches!(op.state, Receiving::Posted(_)),
            _ => false,
        });
        posted.count()
    }

    /// Whether a peer's oldest receive can offer now: half of the landings are
    /// for answers, which never wait for a message that may not come.
    pub(super) fn offer_waits(&self, peer: &Peer) -> bool {
        !peer.offers.is_empty()
            && self.offers_out() < self.landing_limit / 2
            && self.free_landing().is_some()
    }

    pub(super) fn send_offer<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) {
        let Some(entry) = self.peers.get(peer as usize).filter(|p| p.is_open()) else {
            return;
        };
        let goes = entry.credit.is_some_and(|c| c.can_send(Kind::Rsp)) && entry.unsent.is_none();
        let (after, front) = (entry.envelopes_in, entry.offers.front());
        let Some(request) = front.filter(|_| goes && self.offer_waits(entry)) else {
            return;
        };
        self.withdraw(request);
        let Op::Recv(op) = self.requests.op(request) else {
            return;
        };
        let (Some(source), Some(tag)) = (op.recv.pattern.source, op.recv.pattern.tag) else {
            return;
        };
        if !one_piece(context.port, &op.recv) {
            return;
        }
        let Some(landing) = self.take_landing(request) else {
            return;
        };
        if let Some(op) = self.requests.recv(request) {
            op.landing = Some(landing);
        }
        let header = Header {
            context: op.recv.pattern.context,
            tag,
            src_rank: source,
            flags: Flags::OFFER.set(Flags::INTERNAL, tag < 0),
            ..Header::new(Kind::Rsp)
        };
        let rsp = Rsp {
            sender_req: after,
            recv_req: u32::from(self.place.landing_index) + u32::from(landing),
            accept_len: op.recv.buffer.len,
            chunk_off: 0,
            status: 0,
        };
        self.stats.offers += 1;
        let content = Content::Rsp(rsp, op.recv.buffer.addr);
        let sent = self.stage(context, peer, header, content);
        self.settle(peer, sent.map(|_| ()));
    }

    /// An offer has come. It is of use when every envelope sent so far was
    /// taken in before it was made: else one of them may be the one that the
    /// receive takes.
    pub(super) fn keep_offer(&mut self, peer: u32, offer: Offer) {
        let Some(entry) = self.peer(peer) else {
            return;
        };
        if offer.after != entry.envelopes_out {
            return;
        }
        if let Some(place) = entry.offered.iter_mut().find(|place| place.is_none()) {
            *place = Some(offer);
        }
    }

    /// The offer for a message that goes now, used or not: the receive will
    /// take this message.
    pub(super) fn take_offer(&mut self, peer: u32, send: &Send) -> Option<Offer> {
        let envelope = send.envelope();
        let entry = self.peer(peer)?;
        let mut offers = entry.offered.iter_mut();
        offers
            .find(|place| place.is_some_and(|offer| offer.envelope == envelope))?
            .take()
    }

    /// An envelope is on its way; the data of `direct` follows it.
    pub(super) fn envelope_sent(&mut self, peer: u32, direct: Option<u16>) {
        let Some(entry) = self.peers.get_mut(peer as usize).filter(|p| p.is_open()) else {
            return;
        };
        entry.envelopes_out = entry.envelopes_out.wrapping_add(1);
        if let Some(request) = direct {
            self.stats.direct += 1;
            self.requests.push(&mut entry.direct, request);
        }
    }

    /// Holds an envelope against the offer of the receive that it goes to.
    pub(super) fn check_offer(
        &self,
        peer: u32,
        envelope: &Envelope,
        origin: &Origin<'_>,
    ) -> Result<(), CloseReason> {
        let receive = self.matcher.would_match(envelope).map(|(_, r)| *r);
        let op = match receive.map(|receive| self.requests.op(receive)) {
            Some(Op::Recv(op)) if op.landing.is_some() => Some(op),
            _ => None,
        };
        let (good, value) = match (op, origin) {
            (Some(op), Origin::Direct { total }) => {
                let fits = (1..=op.recv.buffer.len).contains(total);
                (op.recv.peer == Some(peer) && fits, *total)
            }
            (None, Origin::Direct { total }) => (false, *total),
            // Only the peer that was offered the memory may match, and it has
            // let the offer go unless data has come.
            (Some(op), _) => {
                let landing = op.landing.unwrap_or_default();
                (op.recv.peer == Some(peer) && !op.early, landing.into())
            }
            (None, _) => (true, 0),
        };
        if good {
            return Ok(());
        }
        Err(CloseReason::BadOffer { value })
    }

    /// A receive has met the envelope of data that goes to its offered landing.
    pub(super) fn will_land(&mut self, request: u16, peer: u32, envelope: Envelope, total: u64) {
        let Some(mut op) = self.matched(request, peer, envelope, total) else {
            return;
        };
        op.state = Receiving::Landing;
        self.requests.put(request, Op::Recv(op));
        if op.early {
            self.stats.landed += 1;
            self.complete(request, Ok(op.receipt()));
        }
    }

    /// Data has come to an offered landing before its envelope was looked at:
    /// notifications and slots are two places. Whether it was that.
    pub(super) fn lands_early(&mut self, request: u16, peer: u32) -> bool {
        let Some(op) = self.requests.recv(request) else {
            return false;
        };
        let posted = matches!(op.state, Receiving::Posted(_));
        let first = posted && op.recv.peer == Some(peer) && !op.early;
        op.early |= first;
        first
    }
}

/// Whether a receive's buffer is contiguous memory.
fn one_piece<P: Port>(port: &P, recv: &Recv) -> bool {
    let rsp = Rsp {
        sender_req: 0,
        recv_req: 0,
        accept_len: recv.buffer.len,
        chunk_off: 0,
        status: 0,
    };
    let first = pages(port, rsp, recv.buffer.addr).next();
    first.is_some_and(|entry| u64::from(entry.len()) == recv.buffer.len)
}

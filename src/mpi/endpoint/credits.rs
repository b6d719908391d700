//! Credits on their way out, alone: CRDT, the last message of a link, and counter
//! words; and counter words in.

use super::Endpoint;
use super::close::Trouble;
use super::context::Context;
use super::stage::Content;
use crate::mpi::credit::CreditMode;
use crate::mpi::layout::Layout;
use crate::mpi::port::Port;
use crate::mpi::wire::{Flags, Header, Kind};
use crate::remote::{self, Transfer};

impl<T: Copy> Endpoint<'_, T> {
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
        let there = Layout::new(&self.config, peer, self.place.ranks, entry.entry.base);
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
}

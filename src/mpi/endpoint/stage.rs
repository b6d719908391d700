//! A control message into its staging buffer, and from there to the transport.

use super::Endpoint;
use super::answer::{pages, rsp_len};
use super::close::Trouble;
use super::context::Context;
use super::error::CloseReason;
use super::peer::Unsent;
use super::pool::counted;
use super::storage::Flight;
use crate::mpi::config::ArrivalMode;
use crate::mpi::layout::Layout;
use crate::mpi::port::Port;
use crate::mpi::trace::Note;
use crate::mpi::wire::{
    Class, HEADER_LEN, Header, Kind, Payload, Req, Rsp, emit, emit_rsp, padded_len,
};
use crate::remote::{self, Transfer};

/// What a message is to carry; the bytes of a SHORT lie in the read half of
/// the scratch memory, the pages of an answer start at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Short(usize),
    Req(Req),
    Rsp(Rsp, u64),
    Crdt,
}

impl<T: Copy> Endpoint<'_, T> {
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
        let there = Layout::new(&self.config, peer, self.place.ranks, entry.base);
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

    /// Closes a peer after trouble with it.
    pub(super) fn settle(&mut self, peer: u32, result: Result<(), Trouble>) {
        if let Err(trouble) = result {
            self.close(peer, trouble.reason());
        }
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

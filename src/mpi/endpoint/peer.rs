//! What an endpoint knows of one peer.

use super::error::CloseReason;
use super::request::Direct;
use super::table::Queue;
use crate::mpi::MpiConfig;
use crate::mpi::boot::BootEntry;
use crate::mpi::credit::{CreditConfig, PeerCredit};
use crate::mpi::matching::Envelope;
use crate::mpi::wire::Kind;
use crate::remote::Transfer;

/// No peer.
pub(super) const NOBODY: u32 = u32::MAX;

/// Whether messages to and from a peer can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PeerState {
    /// They can.
    Open,
    /// They cannot any more.
    Closed(CloseReason),
}

/// An answer whose pages data is being sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Chunk {
    /// The slot that the answer lies in; none for data to an offered landing.
    pub(super) slot: Option<u16>,
    /// The send.
    pub(super) request: u16,
    /// Index of the final notification.
    pub(super) landing: u16,
    /// Entries of the answer, and the one that is being filled.
    pub(super) entries: u16,
    pub(super) entry: u16,
    /// Bytes of that entry that are done.
    pub(super) within: u32,
    /// Where the chunk goes on in the message.
    pub(super) offset: u64,
    /// The cost of its next descriptor was paid.
    pub(super) paid: bool,
}

/// Offers of a peer that are kept; others are let go. Chosen: 2.
pub(super) const OFFERS: usize = 2;

/// Memory that a receive of the peer offers for the next message of `envelope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Offer {
    pub(super) envelope: Envelope,
    pub(super) place: Direct,
    pub(super) len: u32,
    /// Envelopes that the receiver had taken in when it offered.
    pub(super) after: u32,
}

/// A control message that is written and counted, but that the transport had
/// no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Unsent {
    pub(super) transfer: Transfer,
    pub(super) kind: Kind,
    pub(super) seq: u32,
    pub(super) length: u32,
}

/// Room for what is known of one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Peer {
    pub(super) entry: BootEntry,
    pub(super) credit: Option<PeerCredit>,
    pub(super) state: PeerState,
    /// Slots that a notification has come for, and was not acted on.
    pub(super) arrived: u64,
    /// Slots whose content is in its place, and that older ones keep from
    /// being freed.
    pub(super) done: u64,
    /// Slots with answers whose data is not posted yet, in ring order.
    pub(super) answers_in: u64,
    pub(super) chunk: Option<Chunk>,
    pub(super) unsent: Option<Unsent>,
    /// The link is closed, and the peer is to be told.
    pub(super) farewell: bool,
    /// Envelopes that wait for credits; receives that have to be answered.
    pub(super) waiting: Queue,
    pub(super) answers: Queue,
    /// Receives that are about to offer their memory; sends whose data goes to
    /// memory that was offered.
    pub(super) offers: Queue,
    pub(super) direct: Queue,
    /// What this peer offered.
    pub(super) offered: [Option<Offer>; OFFERS],
    /// Envelopes sent to it, and taken in from it.
    pub(super) envelopes_out: u32,
    pub(super) envelopes_in: u32,
    /// Unexpected messages of this peer, and bytes of eager ones.
    pub(super) unexpected: u32,
    pub(super) held: u64,
    /// Lists of peers with something to send, and with messages to act on.
    pub(super) busy: bool,
    pub(super) next_busy: u32,
    pub(super) ready: bool,
    pub(super) next_ready: u32,
}

impl Peer {
    /// Room.
    pub const EMPTY: Self = Self {
        entry: BootEntry {
            version: 0,
            rank: 0,
            ranks: 0,
            node: 0,
            slots: 0,
            slot_bytes: 0,
            incarnation: 0,
            base: 0,
            bytes: 0,
            lmr_entries: 0,
            control_index: 0,
            modes: 0,
            eager_grant: 0,
        },
        credit: None,
        state: PeerState::Open,
        arrived: 0,
        done: 0,
        answers_in: 0,
        chunk: None,
        unsent: None,
        farewell: false,
        waiting: Queue::EMPTY,
        answers: Queue::EMPTY,
        offers: Queue::EMPTY,
        direct: Queue::EMPTY,
        offered: [None; OFFERS],
        envelopes_out: 0,
        envelopes_in: 0,
        unexpected: 0,
        held: 0,
        busy: false,
        next_busy: NOBODY,
        ready: false,
        next_ready: NOBODY,
    };

    pub(super) fn new(entry: BootEntry, credit: Option<PeerCredit>) -> Self {
        Self {
            entry,
            credit,
            ..Self::EMPTY
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == PeerState::Open && self.credit.is_some()
    }

    /// The slot of the next message, if a notification of it has come.
    pub(super) fn next_arrived(&self) -> Option<u16> {
        let slot = self.credit.as_ref()?.rx_next();
        (self.is_open() && self.arrived >> slot & 1 == 1).then_some(slot)
    }

    /// The content of `slot` is in its place: it and what it kept back are
    /// freed, oldest first.
    pub(super) fn finish(&mut self, slot: u16) {
        self.done |= 1 << slot;
        let Some(credit) = &mut self.credit else {
            return;
        };
        while credit.rx_full() > 0 {
            let oldest = credit.oldest_full();
            if self.done >> oldest & 1 == 0 || credit.freed(oldest).is_err() {
                break;
            }
            self.done &= !(1 << oldest);
        }
    }

    /// The slot of the oldest answer whose data is not posted.
    pub(super) fn oldest_answer(&self) -> Option<u16> {
        if self.answers_in == 0 {
            return None;
        }
        let credit = self.credit.as_ref()?;
        let slots = credit.config().slots;
        let start = credit.oldest_full();
        (0..slots)
            .map(|i| (start + i) % slots)
            .find(|slot| self.answers_in >> slot & 1 == 1)
    }

    /// Whether there is anything to be sent to it, credits or not.
    pub(super) fn has_work(&self) -> bool {
        if self.credit.is_some() && !self.is_open() {
            return self.farewell || self.unsent.is_some();
        }
        let owed = self.credit.as_ref();
        let owed = owed.is_some_and(|credit| credit.rx_owed() >= credit.config().threshold);
        self.is_open()
            && (owed
                || self.unsent.is_some()
                || self.chunk.is_some()
                || self.answers_in != 0
                || !self.waiting.is_empty()
                || !self.answers.is_empty()
                || !self.offers.is_empty()
                || !self.direct.is_empty())
    }
}

/// The flow control with a peer that grants `grant` bytes of eager data.
pub(super) fn credits(config: &MpiConfig, grant: u32) -> CreditConfig {
    CreditConfig::default()
        .with_slots(config.slots)
        .with_threshold(config.threshold)
        .with_mode(config.credit_mode)
        .with_eager_budget(config.eager_budget.min(grant))
}

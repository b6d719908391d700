//! The counters that one process keeps for one peer.

use super::{CreditConfig, CreditConfigError, CreditError, CreditMode};
use crate::mpi::wire::{Header, Kind, next_seq};

/// What a message that goes now is to be written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Granted {
    /// Slot there, staging buffer here.
    pub slot: u16,
    /// Its number in the pair.
    pub seq: u32,
    /// Credits that it gives back.
    pub credits: u16,
    /// Eager bytes that it reports matched.
    pub released: u32,
}

impl Granted {
    /// `header` with the three fields that flow control fills.
    #[must_use]
    pub const fn fill(&self, header: Header) -> Header {
        Header {
            seq: self.seq,
            credits: self.credits,
            released: self.released,
            ..header
        }
    }
}

/// Whose turn it is to be sent to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Turn {
    /// An explicit CRDT.
    Crdt,
    /// The oldest waiting RSP.
    Rsp,
    /// The oldest waiting SHORT or REQ.
    Envelope,
}

/// Credits to and from one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PeerCredit {
    pub(super) config: CreditConfig,
    pub(super) tx_avail: u16,
    pub(super) tx_next: u16,
    pub(super) tx_seq: u32,
    pub(super) rx_next: u16,
    pub(super) rx_seq: u32,
    pub(super) rx_full: u16,
    pub(super) rx_owed: u16,
    /// Counter form: messages that the peer told us it consumed.
    pub(super) tx_counter: u32,
    /// Counter form: messages that we consumed.
    pub(super) rx_counter: u32,
    pub(super) eager_out: u32,
    pub(super) eager_matched: u32,
}

impl PeerCredit {
    /// All slots free, both directions at message 1.
    ///
    /// # Errors
    /// [`CreditConfigError`].
    pub const fn new(config: CreditConfig) -> Result<Self, CreditConfigError> {
        Self::starting_at(config, 1, 1)
    }

    /// As [`new`](Self::new), with the numbers of the next messages to send
    /// and to receive (0 counts as 1): to come near the wrap.
    ///
    /// # Errors
    /// [`CreditConfigError`].
    pub const fn starting_at(
        config: CreditConfig,
        tx_seq: u32,
        rx_seq: u32,
    ) -> Result<Self, CreditConfigError> {
        if let Err(error) = config.check() {
            return Err(error);
        }
        Ok(Self {
            config,
            tx_avail: config.slots,
            tx_next: 0,
            tx_seq: if tx_seq == 0 { 1 } else { tx_seq },
            rx_next: 0,
            rx_seq: if rx_seq == 0 { 1 } else { rx_seq },
            rx_full: 0,
            rx_owed: 0,
            tx_counter: 0,
            rx_counter: 0,
            eager_out: 0,
            eager_matched: 0,
        })
    }

    /// As if `count` messages had been consumed each way.
    #[cfg(test)]
    pub(super) const fn with_counters(self, count: u32) -> Self {
        Self {
            tx_counter: count,
            rx_counter: count,
            ..self
        }
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &CreditConfig {
        &self.config
    }

    /// Credits that are left for sending.
    #[must_use]
    pub const fn tx_avail(&self) -> u16 {
        self.tx_avail
    }

    /// Slot of the next message to send.
    #[must_use]
    pub const fn tx_next(&self) -> u16 {
        self.tx_next
    }

    /// Number of the next message to send.
    #[must_use]
    pub const fn tx_seq(&self) -> u32 {
        self.tx_seq
    }

    /// Slot where the next message will be.
    #[must_use]
    pub const fn rx_next(&self) -> u16 {
        self.rx_next
    }

    /// Number that the next message will have.
    #[must_use]
    pub const fn rx_seq(&self) -> u32 {
        self.rx_seq
    }

    /// Slots received and not freed.
    #[must_use]
    pub const fn rx_full(&self) -> u16 {
        self.rx_full
    }

    /// Slots freed and not given back.
    #[must_use]
    pub const fn rx_owed(&self) -> u16 {
        self.rx_owed
    }

    /// Whether nothing is out: every credit at home on both sides of the
    /// sending direction.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.tx_avail == self.config.slots
    }

    /// Eager bytes sent and not yet reported matched.
    #[must_use]
    pub const fn eager_out(&self) -> u32 {
        self.eager_out
    }

    /// Eager bytes of the peer that were matched and not yet reported to it:
    /// the next message will.
    #[must_use]
    pub const fn eager_matched(&self) -> u32 {
        self.eager_matched
    }

    /// Whether a SHORT of this many bytes keeps the budget; a REQ has to go
    /// instead otherwise.
    #[must_use]
    pub const fn within_budget(&self, bytes: u32) -> bool {
        match self.eager_out.checked_add(bytes) {
            Some(sum) => sum <= self.config.eager_budget,
            None => false,
        }
    }

    /// R1, R2: whether a message of this kind may go now.
    #[must_use]
    pub const fn can_send(&self, kind: Kind) -> bool {
        match self.needed(kind) {
            Some(needed) => self.tx_avail >= needed,
            None => false,
        }
    }

    /// Credits that this kind needs; a CRDT has no place beside counter words.
    const fn needed(&self, kind: Kind) -> Option<u16> {
        match (self.config.mode, kind) {
            (CreditMode::Slot, Kind::Crdt) => Some(1),
            (CreditMode::Slot, _) => Some(2),
            (CreditMode::Counter, Kind::Crdt) => None,
            (CreditMode::Counter, _) => Some(1),
        }
    }

    /// Takes a credit for a message of this kind with `length` bytes of
    /// payload, and all credits that are owed along with it (R3).
    ///
    /// # Errors
    /// [`CreditError::NoCredit`].
    pub fn send(&mut self, kind: Kind, length: u32) -> Result<Granted, CreditError> {
        if !self.can_send(kind) {
            return Err(CreditError::NoCredit {
                kind,
                available: self.tx_avail,
                needed: self.needed(kind).unwrap_or(u16::MAX),
            });
        }
        let granted = Granted {
            slot: self.tx_next,
            seq: self.tx_seq,
            credits: match self.config.mode {
                CreditMode::Slot => core::mem::take(&mut self.rx_owed),
                CreditMode::Counter => 0,
            },
            released: core::mem::take(&mut self.eager_matched),
        };
        self.tx_avail -= 1;
        self.tx_next = self.after(self.tx_next);
        self.tx_seq = next_seq(self.tx_seq);
        if kind == Kind::Short {
            self.eager_out = self.eager_out.saturating_add(length);
        }
        Ok(granted)
    }

    /// Takes the next message in, its credits included, and says which slot
    /// is full now. [`freed`](Self::freed) has to follow.
    ///
    /// # Errors
    /// [`CreditError::Sequence`], [`CreditError::NotGranted`],
    /// [`CreditError::TooManyCredits`], [`CreditError::TooMuchReleased`],
    /// [`CreditError::CreditsByMessage`].
    pub fn receive(&mut self, header: &Header) -> Result<u16, CreditError> {
        if header.seq != self.rx_seq {
            return Err(CreditError::Sequence {
                found: header.seq,
                expected: self.rx_seq,
            });
        }
        let held = self.rx_full.saturating_add(self.rx_owed);
        if held >= self.config.slots {
            return Err(CreditError::NotGranted { held });
        }
        let credits = header.credits;
        if self.config.mode == CreditMode::Counter && (credits != 0 || header.kind == Kind::Crdt) {
            return Err(CreditError::CreditsByMessage { credits });
        }
        let outstanding = self.config.slots - self.tx_avail;
        if credits > outstanding {
            return Err(CreditError::TooManyCredits {
                credits: credits.into(),
                outstanding,
            });
        }
        let Some(eager_out) = self.eager_out.checked_sub(header.released) else {
            return Err(CreditError::TooMuchReleased {
                released: header.released,
                outstanding: self.eager_out,
            });
        };
        self.tx_avail += credits;
        self.eager_out = eager_out;
        self.rx_full += 1;
        self.rx_seq = next_seq(self.rx_seq);
        let slot = self.rx_next;
        self.rx_next = self.after(slot);
        Ok(slot)
    }

    /// As [`receive`](Self::receive), for a message that a notification places
    /// in `slot`.
    ///
    /// # Errors
    /// Also [`CreditError::Slot`].
    pub fn receive_in(&mut self, slot: u16, header: &Header) -> Result<u16, CreditError> {
        if slot != self.rx_next {
            return Err(CreditError::Slot {
                found: slot,
                expected: self.rx_next,
            });
        }
        self.receive(header)
    }

    /// R4: the content of `slot`, the oldest full one, is in its place.
    ///
    /// # Errors
    /// [`CreditError::NothingToFree`], [`CreditError::FreedOutOfOrder`].
    pub const fn freed(&mut self, slot: u16) -> Result<(), CreditError> {
        if self.rx_full == 0 {
            return Err(CreditError::NothingToFree);
        }
        let expected = self.oldest_full();
        if slot != expected {
            return Err(CreditError::FreedOutOfOrder { slot, expected });
        }
        self.rx_full -= 1;
        self.rx_owed += 1;
        self.rx_counter = self.rx_counter.wrapping_add(1);
        Ok(())
    }

    /// An eager message of this peer met its receive: its bytes no longer
    /// count against the peer's budget. The next message says so.
    pub const fn matched(&mut self, bytes: u32) {
        self.eager_matched = self.eager_matched.saturating_add(bytes);
    }

    /// R5: whether an explicit CRDT has to go now, given whether some ordinary
    /// message to this peer is waiting and can go.
    #[must_use]
    pub const fn wants_crdt(&self, ordinary_goes: bool) -> bool {
        self.rx_owed >= self.config.threshold && !ordinary_goes && self.can_send(Kind::Crdt)
    }

    /// R8: what is to be sent next, given what is waiting.
    #[must_use]
    pub const fn turn(&self, rsp_waits: bool, envelope_waits: bool) -> Option<Turn> {
        // All ordinary kinds need the same.
        let goes = (rsp_waits || envelope_waits) && self.can_send(Kind::Rsp);
        if self.wants_crdt(goes) {
            Some(Turn::Crdt)
        } else if !goes {
            None
        } else if rsp_waits {
            Some(Turn::Rsp)
        } else {
            Some(Turn::Envelope)
        }
    }

    /// The slot that has to be freed next, if `rx_full` is not 0.
    #[must_use]
    pub const fn oldest_full(&self) -> u16 {
        let Self {
            rx_next, rx_full, ..
        } = *self;
        if rx_next >= rx_full {
            rx_next - rx_full
        } else {
            rx_next + (self.config.slots - rx_full)
        }
    }

    const fn after(&self, slot: u16) -> u16 {
        if slot + 1 >= self.config.slots {
            0
        } else {
            slot + 1
        }
    }
}

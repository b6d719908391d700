//! The rules once more, in their shortest form, with the numbers open: so that
//! they can be broken.

use super::{End, Packet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    slots: u8,
    threshold: u8,
    /// Credits that an ordinary message needs: R1 says 2.
    pub ordinary_needs: u8,
    /// R3 says that what is owed is owed once.
    pub owes_again: bool,
    /// What the handler of interrupts needs for a CRDT: T slots that are owed,
    /// and the last credit.
    pub handler_threshold: u8,
    pub handler_needs: u8,
    /// The handler takes CRDT in out of order.
    pub handler_overtakes: bool,
    /// The conservation law is not checked.
    pub looks_away: bool,
    by_word: bool,
    avail: u8,
    full: u8,
    owed: u8,
    sent: u32,
    received: u32,
    consumed: u32,
    credited: u32,
}

impl Book {
    pub fn new(slots: u8, threshold: u8) -> Self {
        Self {
            slots,
            threshold,
            ordinary_needs: 2,
            owes_again: false,
            handler_threshold: threshold,
            handler_needs: 1,
            handler_overtakes: false,
            looks_away: false,
            by_word: false,
            avail: slots,
            full: 0,
            owed: 0,
            sent: 0,
            received: 0,
            consumed: 0,
            credited: 0,
        }
    }

    /// Credits come back by counter word.
    pub fn by_word(slots: u8, threshold: u8) -> Self {
        Self {
            by_word: true,
            ordinary_needs: 1,
            ..Self::new(slots, threshold)
        }
    }

    fn slot(&self, message: u32) -> u16 {
        (message % u32::from(self.slots)) as u16
    }
}

impl End for Book {
    fn ordinary_goes(&self) -> bool {
        self.avail >= self.ordinary_needs
    }

    fn wants_crdt(&self, ordinary_waits: bool) -> bool {
        let ordinary = ordinary_waits && self.ordinary_goes();
        !self.by_word && self.owed >= self.threshold && !ordinary && self.avail >= 1
    }

    fn handler_wants_crdt(&self) -> bool {
        !self.by_word && self.owed >= self.handler_threshold && self.avail >= self.handler_needs
    }

    fn handler_overtakes(&self) -> bool {
        self.handler_overtakes
    }

    fn send(&mut self, crdt: bool) -> Packet {
        self.avail = self.avail.saturating_sub(1);
        self.sent += 1;
        let credits = if self.by_word { 0 } else { self.owed };
        if !self.by_word && !self.owes_again {
            self.owed = 0;
        }
        Packet {
            word: None,
            credits,
            slot: self.slot(self.sent - 1),
            seq: self.sent,
            crdt,
        }
    }

    fn receive(&mut self, packet: &Packet) -> Result<u16, String> {
        self.avail += packet.credits;
        self.received += 1;
        self.full += 1;
        Ok(self.slot(self.received - 1))
    }

    fn consume(&mut self) -> u16 {
        self.full -= 1;
        self.owed += 1;
        self.consumed += 1;
        self.slot(self.consumed - 1)
    }

    fn write_word(&mut self) -> Option<Packet> {
        (self.by_word && self.owed >= self.threshold).then(|| Packet {
            word: Some(self.consumed),
            credits: std::mem::take(&mut self.owed),
            slot: 0,
            seq: 0,
            crdt: false,
        })
    }

    fn read_word(&mut self, word: u32) -> Result<u8, String> {
        let credits = (word - self.credited) as u8;
        self.credited = word;
        self.avail += credits;
        Ok(credits)
    }

    fn counts(&self) -> [u8; 3] {
        [self.avail, self.full, self.owed]
    }

    fn balanced(&self, receiver: &Self, messages: u32, credits_back: u32) -> Result<(), String> {
        let here = u32::from(self.avail) + messages;
        let there = u32::from(receiver.full) + u32::from(receiver.owed) + credits_back;
        let sum = here + there;
        if sum == u32::from(self.slots) || self.looks_away {
            Ok(())
        } else {
            Err(format!("{sum} credits"))
        }
    }
}

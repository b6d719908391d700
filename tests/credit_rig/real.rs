//! The library's flow control, alone and held against the rule book.

use multipc::mpi::credit::{CreditConfig, CreditMode, PeerCredit, conservation};
use multipc::mpi::wire::{Header, Kind};

use super::{Book, End, Packet};

#[derive(Clone, Debug)]
pub struct Real(PeerCredit);

impl Real {
    pub fn new(slots: u16, threshold: u16, mode: CreditMode) -> Self {
        let config = CreditConfig::default()
            .with_slots(slots)
            .with_threshold(threshold)
            .with_mode(mode);
        // Near the wrap, so that each exploration passes it.
        let start = u32::MAX - 2;
        Self(PeerCredit::starting_at(config, start, start).expect("numbers that work"))
    }

    fn kind(crdt: bool) -> Kind {
        if crdt { Kind::Crdt } else { Kind::Short }
    }
}

impl End for Real {
    fn ordinary_goes(&self) -> bool {
        let goes = self.0.can_send(Kind::Short);
        assert_eq!(goes, self.0.can_send(Kind::Req));
        assert_eq!(goes, self.0.can_send(Kind::Rsp));
        goes
    }

    fn wants_crdt(&self, ordinary_waits: bool) -> bool {
        let goes = ordinary_waits && self.ordinary_goes();
        self.0.wants_crdt(goes)
    }

    fn handler_wants_crdt(&self) -> bool {
        // As src/mpi/endpoint/kernel.rs asks: nothing ordinary goes meanwhile.
        self.0.wants_crdt(false)
    }

    fn send(&mut self, crdt: bool) -> Packet {
        let granted = self.0.send(Self::kind(crdt), 0).expect("may go");
        Packet {
            word: None,
            credits: granted.credits as u8,
            slot: granted.slot,
            seq: granted.seq,
            crdt,
        }
    }

    fn receive(&mut self, packet: &Packet) -> Result<u16, String> {
        let header = Header {
            credits: packet.credits.into(),
            seq: packet.seq,
            ..Header::new(Self::kind(packet.crdt))
        };
        let taken = self.0.receive_in(packet.slot, &header);
        taken.map_err(|error| error.to_string())
    }

    fn consume(&mut self) -> u16 {
        let slot = self.0.oldest_full();
        self.0.freed(slot).expect("full");
        slot
    }

    fn write_word(&mut self) -> Option<Packet> {
        let word = self.0.counter_to_write()?;
        let credits = self.0.rx_owed() as u8;
        self.0.counter_written(word);
        Some(Packet {
            word: Some(word),
            credits,
            slot: 0,
            seq: 0,
            crdt: false,
        })
    }

    fn read_word(&mut self, word: u32) -> Result<u8, String> {
        let read = self.0.counter_read(word);
        read.map(|credits| credits as u8).map_err(|e| e.to_string())
    }

    fn counts(&self) -> [u8; 3] {
        [self.0.tx_avail(), self.0.rx_full(), self.0.rx_owed()].map(|n| n as u8)
    }

    fn balanced(&self, receiver: &Self, messages: u32, credits_back: u32) -> Result<(), String> {
        conservation(&self.0, &receiver.0, messages, credits_back).map_err(|e| e.to_string())
    }
}

/// Both side by side; they must agree at each step.
#[derive(Clone, Debug)]
pub struct Both(pub Real, pub Book);

impl Both {
    fn agree<T: PartialEq + std::fmt::Debug>(&self, real: T, book: T) -> T {
        assert_eq!(real, book, "library and rule book differ");
        assert_eq!(self.0.counts(), self.1.counts());
        real
    }
}

impl End for Both {
    fn ordinary_goes(&self) -> bool {
        self.agree(self.0.ordinary_goes(), self.1.ordinary_goes())
    }

    fn wants_crdt(&self, ordinary_waits: bool) -> bool {
        self.agree(
            self.0.wants_crdt(ordinary_waits),
            self.1.wants_crdt(ordinary_waits),
        )
    }

    fn handler_wants_crdt(&self) -> bool {
        self.agree(self.0.handler_wants_crdt(), self.1.handler_wants_crdt())
    }

    fn send(&mut self, crdt: bool) -> Packet {
        let (real, book) = (self.0.send(crdt), self.1.send(crdt));
        self.agree((real.credits, real.slot), (book.credits, book.slot));
        real
    }

    fn receive(&mut self, packet: &Packet) -> Result<u16, String> {
        let (real, book) = (self.0.receive(packet)?, self.1.receive(packet)?);
        Ok(self.agree(real, book))
    }

    fn consume(&mut self) -> u16 {
        let (real, book) = (self.0.consume(), self.1.consume());
        self.agree(real, book)
    }

    fn write_word(&mut self) -> Option<Packet> {
        let (real, book) = (self.0.write_word(), self.1.write_word());
        let fields = |packet: Packet| (packet.word, packet.credits);
        self.agree(real.map(fields), book.map(fields));
        real
    }

    fn read_word(&mut self, word: u32) -> Result<u8, String> {
        let (real, book) = (self.0.read_word(word)?, self.1.read_word(word)?);
        Ok(self.agree(real, book))
    }

    fn counts(&self) -> [u8; 3] {
        self.0.counts()
    }

    fn balanced(&self, receiver: &Self, messages: u32, credits_back: u32) -> Result<(), String> {
        self.1.balanced(&receiver.1, messages, credits_back)?;
        self.0.balanced(&receiver.0, messages, credits_back)
    }
}

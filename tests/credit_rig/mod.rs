//! A small model checker for two processes that send each other messages.
//!
//! Everything that may happen in any order is a move: a program hands a
//! message over, a message leaves, arrives, is consumed, a CRDT or a counter
//! word leaves, a counter word is read. Two states that differ in sequence
//! numbers, in which slot is next, or in what kind a message on the way is,
//! behave alike and count as one. With a handler of interrupts, the kinds differ.

mod book;
mod explore;
mod real;

pub use book::Book;
pub use explore::{Finding, Report, explore, explore_with_handler};
pub use real::{Both, Real};

/// What travels from one side to the other.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// A counter word instead of a message.
    pub word: Option<u32>,
    /// Credits that it gives back.
    pub credits: u8,
    pub slot: u16,
    pub seq: u32,
    pub crdt: bool,
}

impl Packet {
    pub fn is_message(&self) -> bool {
        self.word.is_none()
    }
}

/// One side's flow control, as the explorer drives it.
pub trait End: Clone {
    /// Whether an ordinary message may go.
    fn ordinary_goes(&self) -> bool;
    /// Whether an explicit CRDT has to go.
    fn wants_crdt(&self, ordinary_waits: bool) -> bool;
    /// Whether the handler of interrupts has to send a CRDT.
    fn handler_wants_crdt(&self) -> bool;
    /// Whether the handler takes a CRDT in before what lies ahead of it.
    fn handler_overtakes(&self) -> bool {
        false
    }
    fn send(&mut self, crdt: bool) -> Packet;
    /// The slot that is full now, or why the message is refused.
    fn receive(&mut self, packet: &Packet) -> Result<u16, String>;
    /// Copies the oldest full slot out and frees it.
    fn consume(&mut self) -> u16;
    /// The counter word that has to be written, on its way from here on.
    fn write_word(&mut self) -> Option<Packet>;
    /// Reads the counter word in its memory.
    fn read_word(&mut self, word: u32) -> Result<u8, String>;
    /// Credits left, slots full, slots owed.
    fn counts(&self) -> [u8; 3];
    /// The conservation law.
    fn balanced(&self, receiver: &Self, messages: u32, credits_back: u32) -> Result<(), String>;
}

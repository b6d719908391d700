//! The link half of the transmit block: packets out of a page order and the
//! words of the transmit FIFO.

use super::config::DdcConfig;
use super::fifo::{Crossing, Fifo};
use super::lme::Control;
use super::packet::{END, Tail, Word, crc_word, first_word};
use crate::hsl::Symbol;

/// What the PCI half asks for: stable from `go` until `left`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageOrder {
    pub(super) routing_part: u16,
    pub(super) control: Control,
    /// Remote address, or data 1.
    pub(super) prsa: u32,
    /// Data 2.
    pub(super) second: u32,
    /// Data words of the page on the remote side.
    pub(super) words: u32,
    /// Longest packet in data words.
    pub(super) cut: u16,
    /// Lane of the last byte of the page.
    pub(super) last_lane: u8,
    /// Packets of the message up to the end of this page.
    pub(super) expected: u16,
    /// Erratum 9: the last word of a longer packet is the one before.
    pub(super) race: bool,
}

/// What the next word is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Idle,
    /// Word 0..=3 of a long packet, 0..=4 of a short one.
    Head(u8),
    Data,
    Tail,
    Crc,
    End,
}

/// The packetiser's registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packetiser {
    stage: Stage,
    word: Word,
    /// `word` waits to leave, from byte `lane` on.
    loaded: bool,
    lane: u8,
    /// Orders begun, to compare with `go`.
    begun: u16,
    /// An order is in hand.
    busy: bool,
    /// Data words of the page not yet in a packet begun.
    page_left: u32,
    /// Data words of the packet in hand not yet taken.
    packet_left: u16,
    address: u32,
    crc: u32,
    gap: u8,
    /// The link went away in this packet: the rest of it is dropped.
    dropping: bool,
    /// The data word before in this packet, for erratum 9.
    previous: Option<u32>,
}

impl Packetiser {
    /// The link is gone: the rest of the packet in hand must not leave.
    pub(super) const fn abort(&mut self) {
        let untouched = match self.stage {
            Stage::Idle | Stage::Head(0) => !self.loaded,
            Stage::Head(1) => self.loaded && self.lane == 0,
            _ => false,
        };
        if !untouched {
            self.dropping = true;
        }
    }

    /// One link edge: the symbol that leaves, if `ready` and there is one.
    pub(super) fn step(
        &mut self,
        order: &PageOrder,
        go: u16,
        fifo: &mut Fifo<u32>,
        left: &mut Crossing,
        ready: bool,
        config: &DdcConfig,
    ) -> Option<Symbol> {
        if self.gap > 0 {
            self.gap -= 1;
            return None;
        }
        if !self.loaded {
            self.word = self.next_word(order, go, fifo)?;
            self.loaded = true;
        }
        if !ready && !self.dropping {
            return None;
        }
        let lane = self.lane;
        self.lane = (lane + 1) & 3;
        let symbol = match self.word.mark.symbol() {
            Some(symbol) if lane == 3 => symbol,
            _ => Symbol::data((self.word.value >> (8 * lane)) as u8),
        };
        let dropped = self.dropping;
        if lane == 3 {
            self.loaded = false;
            if self.stage == Stage::Idle {
                // That was EP.
                self.gap = config.packet_gap;
                self.dropping = false;
                if self.page_left == 0 {
                    self.busy = false;
                    left.bump();
                }
            }
        }
        (!dropped).then_some(symbol)
    }

    /// The next word of the packet, if it is known; moves on to the stage behind it.
    fn next_word(&mut self, order: &PageOrder, go: u16, fifo: &mut Fifo<u32>) -> Option<Word> {
        let short = order.control.is_short();
        let (word, stage) = match self.stage {
            Stage::Idle => {
                if !self.busy {
                    if self.begun == go {
                        return None;
                    }
                    self.begun = self.begun.wrapping_add(1);
                    self.busy = true;
                    self.page_left = if short { 0 } else { order.words };
                    self.address = order.prsa;
                }
                self.packet_left = self.page_left.min(u32::from(order.cut)) as u16;
                self.stage = Stage::Head(0);
                return self.next_word(order, go, fifo);
            }
            Stage::Head(0) => {
                // The header leaves when the first data word is there.
                if self.packet_left > 0 && fifo.visible() == 0 {
                    return None;
                }
                self.page_left -= u32::from(self.packet_left).min(self.page_left);
                let word = first_word(order.routing_part);
                self.crc = crc_word(0, word.value);
                (word, Stage::Head(1))
            }
            Stage::Head(1) => (self.covered(order.control.bits()), Stage::Head(2)),
            Stage::Head(2) => {
                let address = self.address;
                let skipped = u32::from(self.packet_left) * 4;
                self.address = (address & !3).wrapping_add(skipped);
                (self.covered(address), Stage::Head(3))
            }
            Stage::Head(3) if short => (self.covered(order.second), Stage::Head(4)),
            Stage::Head(_) => {
                let crc = Word::data(core::mem::take(&mut self.crc));
                let next = if short {
                    Stage::End
                } else if self.packet_left > 0 {
                    Stage::Data
                } else {
                    Stage::Tail
                };
                (crc, next)
            }
            Stage::Data => {
                let mut value = fifo.pop()?;
                self.packet_left -= 1;
                if order.race {
                    let previous = self.previous.replace(value);
                    if self.packet_left == 0 {
                        value = previous.unwrap_or(value);
                        self.previous = None;
                    }
                }
                let next = if self.packet_left > 0 {
                    Stage::Data
                } else {
                    Stage::Tail
                };
                (self.covered(value), next)
            }
            Stage::Tail => {
                let end_of_page = self.page_left == 0;
                let last = end_of_page && order.control.has(Control::LMP);
                let tail = Tail {
                    expected: if last { order.expected } else { 0 },
                    last,
                    crc_disable: false,
                    last_lane: if end_of_page { order.last_lane } else { 3 },
                };
                let word = tail.word();
                self.crc = crc_word(self.crc, word.value);
                (word, Stage::Crc)
            }
            Stage::Crc => (Word::data(self.crc), Stage::End),
            Stage::End => (END, Stage::Idle),
        };
        self.stage = stage;
        Some(word)
    }

    const fn covered(&mut self, value: u32) -> Word {
        self.crc = crc_word(self.crc, value);
        Word::data(value)
    }

    /// Further edges without credit, words or orders change nothing.
    pub(super) fn is_idle(&self, go: u16, fifo: &Fifo<u32>, ready: bool) -> bool {
        if self.gap > 0 || self.dropping {
            return false;
        }
        if self.loaded {
            return !ready;
        }
        match self.stage {
            Stage::Idle => !self.busy && self.begun == go,
            Stage::Head(0) => self.packet_left > 0 && fifo.visible() == 0,
            Stage::Data => fifo.visible() == 0,
            _ => false,
        }
    }
}

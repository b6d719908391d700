//! The PCI half of the receive block: packets out of the receive FIFO, data
//! into memory, completion.
//!
//! One word a PCI cycle is taken apart; data words wait for the bus master.
//! Nothing is written before the header CRC has matched.

use super::assembler::{RxMark, RxWord};
use super::completion::{Completion, Step};
use super::config::DdcConfig;
use super::dma::Beat;
use super::errata::Erratum;
use super::fifo::{Crossing, Fifo};
use super::lme::Control;
use super::master::Transaction;
use super::packet::{Tail, crc_word};
use super::regfile::RegisterFile;
use super::status::Event;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Word 0..=3 of a long packet, 0..=4 of a short one.
    #[default]
    Begin,
    Head(u8),
    /// Data words and the tail word.
    Data,
    /// The data CRC.
    Crc,
    /// The word with EP.
    End,
    /// Counters, report, notification.
    Completing,
    /// The rest of a bad packet.
    Discard,
}

/// The registers of the PCI half.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Receive {
    state: State,
    /// Packet ends written by the link half.
    pub(super) ends: Crossing,
    ends_taken: u16,
    control: Control,
    /// Address of the next data word; data of a short packet in `data`.
    address: u32,
    data: [u32; 2],
    /// Bytes of the next data word, if it is not the last.
    enables: u8,
    crc: u32,
    tail: Tail,
    /// The data CRC matched.
    good: bool,
    /// PCI cycles without progress inside the packet.
    starved: u32,
    completion: Completion,
    /// Erratum 14: what a configuration read left where the next data word lies.
    spoilt: Option<u32>,
    /// Erratum 21: the next message to end is lost.
    losing: bool,
}

impl Receive {
    /// One PCI edge, after the bus master's; `writing` while a data burst is on
    /// the bus.
    pub(super) fn step(
        &mut self,
        regs: &mut RegisterFile,
        fifo: &mut Fifo<RxWord>,
        writing: bool,
        config: &DdcConfig,
    ) {
        match self.state {
            State::Completing => {
                if self.completion.step(regs) == Step::Done {
                    self.state = State::Begin;
                }
            }
            State::Data if writing => self.starved = 0,
            State::Data => self.data_word(regs, fifo, config),
            _ => match self.take(fifo) {
                Some(word) => {
                    self.starved = 0;
                    self.word(word, regs);
                }
                None if self.state != State::Begin => self.starve(regs, config),
                None => {}
            },
        }
    }

    fn take(&mut self, fifo: &mut Fifo<RxWord>) -> Option<RxWord> {
        let word = fifo.pop()?;
        if word.mark.ends_packet() {
            self.ends_taken = self.ends_taken.wrapping_add(1);
            self.spoilt = None;
        }
        Some(word)
    }

    /// A configuration read was answered by `value` at this edge.
    pub(super) fn config_read(&mut self, value: u32, regs: &RegisterFile) {
        if self.state == State::Data && regs.quirks.has(Erratum::ReadSpoilsReception) {
            self.spoilt = Some(value);
        }
    }

    /// A packet was cut.
    fn cut(&mut self, regs: &mut RegisterFile) {
        regs.status.raise(Event::Eep);
        self.losing = regs.quirks.has(Erratum::LinkErrorLosesMessages);
    }

    /// A word of the packet other than data.
    fn word(&mut self, word: RxWord, regs: &mut RegisterFile) {
        if self.state == State::Discard {
            if word.mark.ends_packet() {
                if word.mark == RxMark::Eep {
                    self.cut(regs);
                }
                self.state = State::Begin;
            }
            return;
        }
        let expected = match self.state {
            State::Begin => RxMark::Bp,
            State::End => RxMark::Ep,
            _ => RxMark::Data,
        };
        if word.mark != expected {
            return self.broken(word, regs);
        }
        let covered = crc_word(self.crc, word.value);
        match self.state {
            State::Begin => {
                self.crc = crc_word(0, word.value);
                self.state = State::Head(1);
            }
            State::Head(index) => {
                let short = index > 1 && self.control.is_short();
                if index == if short { 4 } else { 3 } {
                    if word.value != self.crc {
                        regs.status.raise(Event::CrcHeader);
                        self.state = State::Discard;
                        return;
                    }
                    self.crc = 0;
                    self.good = true;
                    self.state = if short { State::End } else { State::Data };
                    return;
                }
                self.crc = covered;
                match index {
                    1 => self.control = Control::from_bits(word.value).without(Control::RESERVED),
                    2 => {
                        self.address = word.value & !3;
                        self.enables = 0xF << (word.value & 3) & 0xF;
                        self.data[0] = word.value;
                    }
                    _ => self.data[1] = word.value,
                }
                self.state = State::Head(index + 1);
            }
            State::Crc => {
                self.good = self.tail.crc_disable || word.value == self.crc;
                if !self.good {
                    regs.status.raise(Event::CrcData);
                }
                self.state = State::End;
            }
            State::End => self.ended(regs),
            State::Data | State::Completing | State::Discard => {}
        }
    }

    /// The packet is whole.
    fn ended(&mut self, regs: &mut RegisterFile) {
        if !self.good {
            self.state = State::Begin;
            return;
        }
        let short = self.control.is_short();
        let tail = if short {
            Tail {
                expected: 1,
                last: self.control.has(Control::LMP),
                ..Tail::default()
            }
        } else {
            self.tail
        };
        if tail.last && core::mem::take(&mut self.losing) {
            self.state = State::Begin;
            return;
        }
        let data = if short { self.data } else { [0; 2] };
        self.completion.packet(self.control, tail, data, regs);
        self.state = State::Completing;
        if self.completion.step(regs) == Step::Done {
            self.state = State::Begin;
        }
    }

    /// A mark where another belongs: the packet is lost.
    fn broken(&mut self, word: RxWord, regs: &mut RegisterFile) {
        match word.mark {
            RxMark::Eep => self.cut(regs),
            _ => regs.status.raise(Event::Ep),
        }
        self.state = match word.mark {
            RxMark::Bp => {
                self.crc = crc_word(0, word.value);
                State::Head(1)
            }
            mark if mark.ends_packet() => State::Begin,
            _ => State::Discard,
        };
    }

    /// The head of the FIFO while data is expected and none is being written.
    fn data_word(&mut self, regs: &mut RegisterFile, fifo: &mut Fifo<RxWord>, config: &DdcConfig) {
        let follower = fifo.peek(1).map_or(RxMark::Data, |word| word.mark);
        match fifo.peek(0).map(|word| word.mark) {
            // What follows shows that this cannot be data: it is lost too.
            Some(RxMark::Data) if !matches!(follower, RxMark::Data | RxMark::Ed) => {
                let _ = self.take(fifo);
                self.starved = 0;
            }
            Some(RxMark::Data) => {
                if self.may_write(fifo, config) {
                    self.starved = 0;
                } else {
                    self.starve(regs, config);
                }
            }
            Some(mark) => {
                self.starved = 0;
                let Some(word) = self.take(fifo) else { return };
                if mark == RxMark::Ed {
                    self.tail = Tail::parse(word.value);
                    self.crc = crc_word(self.crc, word.value);
                    self.state = State::Crc;
                } else {
                    self.broken(word, regs);
                }
            }
            None => self.starve(regs, config),
        }
    }

    /// The data word at `ahead` is there, and so is what decides its bytes.
    fn writable(fifo: &Fifo<RxWord>, ahead: u16) -> bool {
        let mark = |at| fifo.peek(at).map(|word| word.mark);
        mark(ahead) == Some(RxMark::Data)
            && matches!(mark(ahead + 1), Some(RxMark::Data | RxMark::Ed))
    }

    /// A burst is worth its cost: enough words wait, or the packet is all in.
    fn may_write(&self, fifo: &Fifo<RxWord>, config: &DdcConfig) -> bool {
        (self.ends.seen() != self.ends_taken || fifo.visible() > config.rx_burst_words)
            && Self::writable(fifo, 0)
    }

    /// The transfer wanted.
    pub(super) fn wants(&self, fifo: &Fifo<RxWord>, config: &DdcConfig) -> Option<Transaction> {
        match self.state {
            State::Data if self.may_write(fifo, config) => Some(Transaction::DataWrite),
            State::Completing => self.completion.wants(),
            _ => None,
        }
    }

    /// Address of the next word of `kind`.
    pub(super) const fn address(&self, kind: Transaction, regs: &RegisterFile) -> u32 {
        match kind {
            Transaction::DataWrite => self.address,
            _ => self.completion.address(kind, regs),
        }
    }

    /// The next word of `kind`.
    pub(super) fn beat(&self, kind: Transaction, fifo: &Fifo<RxWord>) -> Beat {
        if kind != Transaction::DataWrite {
            return self.completion.beat(kind);
        }
        let head = fifo.peek(0).unwrap_or_default();
        let next = fifo.peek(1).unwrap_or_default();
        let (enables, last) = if next.mark == RxMark::Ed {
            (
                self.enables & (0xF >> (3 - Tail::parse(next.value).last_lane)),
                true,
            )
        } else {
            (self.enables, !Self::writable(fifo, 1))
        };
        Beat {
            data: Some(self.spoilt.unwrap_or(head.value)),
            enables,
            last,
        }
    }

    /// The word of `kind` has moved.
    pub(super) fn moved(
        &mut self,
        kind: Transaction,
        ad: u32,
        regs: &mut RegisterFile,
        fifo: &mut Fifo<RxWord>,
    ) {
        if kind != Transaction::DataWrite {
            return self.completion.moved(kind, ad, regs);
        }
        if let Some(word) = fifo.pop() {
            self.spoilt = None;
            self.crc = crc_word(self.crc, word.value);
            self.address = self.address.wrapping_add(4);
            self.enables = 0xF;
        }
    }

    /// Nothing came at this edge although a packet is under way.
    fn starve(&mut self, regs: &mut RegisterFile, config: &DdcConfig) {
        self.starved = self.starved.saturating_add(1);
        if self.starved == config.rx_timeout_cycles {
            regs.status.raise(Event::Timeout);
        }
    }

    /// Edges that change nothing but the time without progress, once all that the
    /// link counted is seen and while it stands still.
    pub(super) fn idle_for(
        &self,
        regs: &RegisterFile,
        fifo: &Fifo<RxWord>,
        config: &DdcConfig,
    ) -> u64 {
        let starving = match self.state {
            State::Begin if fifo.visible() == 0 => return u64::MAX,
            State::Completing => {
                return if self.completion.is_idle(regs) {
                    u64::MAX
                } else {
                    0
                };
            }
            State::Data => match fifo.peek(0) {
                None => true,
                Some(head) if head.mark == RxMark::Data => {
                    let known = fifo
                        .peek(1)
                        .is_none_or(|next| matches!(next.mark, RxMark::Data | RxMark::Ed));
                    if known && self.may_write(fifo, config) {
                        // Waits for the bus.
                        return if regs.dma_enabled() || self.starved != 0 {
                            0
                        } else {
                            u64::MAX
                        };
                    }
                    known
                }
                Some(_) => false,
            },
            _ => fifo.visible() == 0,
        };
        if !starving {
            return 0;
        }
        let (now, end) = (self.starved, config.rx_timeout_cycles);
        if now == u32::MAX {
            u64::MAX
        } else if now < end {
            u64::from(end - now - 1)
        } else {
            // The counter sticks at its top; up to there it only counts.
            u64::from(u32::MAX - now)
        }
    }

    /// `cycles` edges of waiting at once.
    pub(super) fn skip(&mut self, cycles: u64, fifo: &Fifo<RxWord>, config: &DdcConfig) {
        let waits = match self.state {
            State::Begin | State::Completing => false,
            State::Data => !(fifo.visible() > 0 && self.may_write(fifo, config)),
            _ => true,
        };
        if waits {
            let cycles = u32::try_from(cycles).unwrap_or(u32::MAX);
            self.starved = self.starved.saturating_add(cycles);
        }
    }
}

//! The PCI half of the transmit block: descriptors and page reads.
//!
//! One page at a time: the next descriptor is fetched when the page has left.
//! That is what makes a page cost 0.69 us beside its characters.

use super::config::DdcConfig;
use super::errata::Erratum;
use super::fifo::{Crossing, Fifo};
use super::lme::{Control, Descriptor, Ring};
use super::master::Transaction;
use super::packetiser::PageOrder;
use super::realign::{Realign, words};
use super::regfile::RegisterFile;
use super::status::Event;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Waits for a descriptor.
    #[default]
    Idle,
    /// Reads a descriptor.
    Fetch,
    /// Reads a page.
    Page,
    /// Waits for the end of the page on the link.
    Leaving,
}

/// The registers of the PCI half.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Transmit {
    state: State,
    raw: [u32; 4],
    got: u8,
    /// What the link half works on.
    pub(super) order: PageOrder,
    /// Orders given.
    pub(super) go: Crossing,
    /// Pages that left, counted by the link half.
    pub(super) left: Crossing,
    left_seen: u16,
    local: u32,
    realign: Realign,
    /// Packets of the message so far.
    packets: u32,
    /// The page in hand goes beyond 65535 packets: told when it has left.
    too_many: bool,
    /// The FIFO was full: wait for room before the next burst.
    refilling: bool,
    /// The page in hand leaves nothing for the link half.
    nothing: bool,
    /// Erratum 18 has lost the page in hand: it counts, and with NOS twice.
    lost: bool,
}

impl Transmit {
    /// One PCI edge, after the bus master's.
    pub(super) fn step(&mut self, regs: &mut RegisterFile, fifo: &Fifo<u32>, config: &DdcConfig) {
        if self.state == State::Page && self.realign.local_left() == 0 {
            self.state = State::Leaving;
            self.refilling = false;
        }
        let left = self.left.seen_after(config.link_to_pci_sync);
        if self.state == State::Leaving && (self.nothing || left != self.left_seen) {
            self.left_seen = left;
            self.nothing = false;
            let heard =
                !regs.quirks.has(Erratum::SilentPage) || self.order.control.has(Control::LMP);
            if core::mem::take(&mut self.too_many) {
                regs.status.raise(Event::SentPacketOverflow);
            }
            if self.order.control.has(Control::NOS) && heard {
                regs.status.count_transmitted();
            }
            if core::mem::take(&mut self.lost) {
                regs.status.count_transmitted();
            }
            self.state = State::Idle;
        }
        if self.refilling && fifo.free() >= config.refill_words {
            self.refilling = false;
        }
        if self.state == State::Idle
            && regs.command.tx_init() == 1
            && regs.lpe_current != regs.lpe_new
            && regs.dma_enabled()
        {
            self.state = State::Fetch;
            self.got = 0;
        }
    }

    /// A descriptor or a page is in hand.
    pub(super) fn has_page(&self) -> bool {
        self.state != State::Idle
    }

    /// The transfer wanted.
    pub(super) const fn wants(&self) -> Option<Transaction> {
        match self.state {
            State::Fetch => Some(Transaction::DescriptorRead),
            State::Page if !self.refilling && self.realign.local_left() > 0 => {
                Some(Transaction::PageRead)
            }
            _ => None,
        }
    }

    /// Address of the next word of the wanted transfer.
    pub(super) const fn address(&self, regs: &RegisterFile) -> u32 {
        match self.state {
            State::Fetch => regs.lpe_current.wrapping_add(4 * self.got as u32) & !3,
            _ => self.local,
        }
    }

    /// The word about to be read is the last of the burst.
    pub(super) const fn is_last(&self, fifo: &Fifo<u32>) -> bool {
        match self.state {
            State::Fetch => self.got >= 3,
            // A local word completes at most one remote word, and the last one
            // two; a burst that goes on needs room for this word and the next.
            _ => self.realign.local_left() <= 1 || fifo.free() < 3,
        }
    }

    /// A word arrived from memory.
    pub(super) fn accept(
        &mut self,
        word: u32,
        regs: &mut RegisterFile,
        fifo: &mut Fifo<u32>,
        config: &DdcConfig,
    ) {
        match self.state {
            State::Fetch => {
                if let Some(slot) = self.raw.get_mut(self.got as usize) {
                    *slot = word;
                }
                self.got += 1;
                if self.got >= 4 {
                    self.begin(regs, config);
                }
            }
            State::Page => {
                self.local = self.local.wrapping_add(4);
                for word in self.realign.step(word).into_iter().flatten() {
                    fifo.push(word);
                }
                if fifo.free() < 3 {
                    self.refilling = true;
                }
            }
            State::Idle | State::Leaving => {}
        }
    }

    /// The descriptor is complete: the pointer moves at once.
    fn begin(&mut self, regs: &mut RegisterFile, config: &DdcConfig) {
        let ring = Ring {
            base: regs.lpe_base,
            max: regs.lpe_max,
        };
        regs.lpe_current = ring.next(regs.lpe_current);
        let descriptor = Descriptor::from_words(self.raw);
        let mut local = descriptor.plsa;
        let mut prsa = descriptor.prsa;
        let mut second = descriptor.plsa;
        if !config.revision.is_ideal() {
            if regs.lpe_current != regs.lpe_new {
                self.lost = regs.quirks.page_is_lost();
                if config.revision.has(Erratum::OnePageOnly) {
                    regs.lpe_current = ring.next(regs.lpe_current);
                }
            }
            let length = u32::from(descriptor.page_length);
            let crosses = |address: u32| address & 3 != 0 && (address & 3) + length > 4;
            if descriptor.control.is_short() {
                if descriptor.control.has(Control::SM)
                    && config.revision.has(Erratum::BrokenShortMessages)
                {
                    second = prsa;
                }
            } else {
                if crosses(prsa) && config.revision.has(Erratum::UnalignedRemote) {
                    prsa &= !3;
                }
                if crosses(local) && config.revision.has(Erratum::UnalignedLocal) {
                    local &= !3;
                }
            }
        }
        let control = descriptor.control.without(Control::RESERVED);
        trace!(
            "descriptor: {} bytes to node {}, control {:#010x}",
            descriptor.page_length,
            descriptor.routing_part,
            control.bits()
        );
        let last = control.has(Control::LMP);
        let length = if control.is_short() || self.lost {
            0
        } else {
            u32::from(descriptor.page_length)
        };
        let remote_words = words(prsa, length);
        let cut = regs.packet_limit(config.fifo_words);
        // A page without bytes sends nothing, unless it ends the message.
        let packets = match remote_words.div_ceil(u32::from(cut)) {
            _ if self.lost => 0,
            0 if control.is_short() || last => 1,
            n => n,
        };
        self.packets += packets;
        if self.packets > u32::from(u16::MAX) {
            self.packets = u32::from(u16::MAX);
            self.too_many = true;
        }
        self.order = PageOrder {
            routing_part: descriptor.routing_part,
            control,
            prsa,
            second,
            words: remote_words,
            cut,
            last_lane: (prsa.wrapping_add(length).wrapping_sub(1) & 3) as u8,
            expected: self.packets as u16,
            race: config.revision.has(Erratum::LongPacketRace),
        };
        if last {
            self.packets = 0;
        }
        self.nothing = packets == 0;
        if !self.nothing {
            self.go.bump();
        }
        self.local = local & !3;
        self.realign = Realign::new(local, prsa, length);
        self.refilling = false;
        self.state = if length > 0 {
            State::Page
        } else {
            State::Leaving
        };
    }

    /// Further edges change nothing while `left` and the FIFO stand still.
    pub(super) fn is_idle(
        &self,
        regs: &RegisterFile,
        fifo: &Fifo<u32>,
        config: &DdcConfig,
    ) -> bool {
        let more =
            regs.command.tx_init() == 1 && regs.lpe_current != regs.lpe_new && regs.dma_enabled();
        match self.state {
            State::Idle => !more,
            State::Fetch => !regs.dma_enabled(),
            State::Page if self.refilling => fifo.free() < config.refill_words,
            State::Page => !regs.dma_enabled() && self.realign.local_left() > 0,
            State::Leaving => {
                !self.nothing && self.left.seen_after(config.link_to_pci_sync) == self.left_seen
            }
        }
    }
}

//! The PCI bus master: bursts of 32-bit words for the transmit and receive
//! blocks.
//!
//! IRDY# is asserted in every data phase, so a phase that begins with FRAME#
//! asserted promises another word. A burst ends at the end of the transfer, when
//! the transmit FIFO is full or the receive FIFO empty, when the latency timer
//! has run out and GNT# is gone or the other block waits, or when the target
//! stops it. Walk through one transfer: hw/doc/pci-ddc.md, "Timing".

use super::dma::Dma;
use super::pins::{Pins, line};
use crate::pci::{Command, Signals, even_parity};

/// The kinds of PCI transfer, as STATUS 11:8 numbers them (the numbers are
/// chosen; 0 is none since reset).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
#[non_exhaustive]
pub enum Transaction {
    /// Four words at LPE_CURRENT.
    DescriptorRead = 1,
    /// Words of a page.
    PageRead = 2,
    /// Data of a packet.
    DataWrite = 3,
    /// Four words at LMI_NEW.
    ReportWrite = 4,
    /// A packet counter.
    CounterRead = 5,
    /// A packet counter.
    CounterWrite = 6,
}

impl Transaction {
    /// The transfer of this number.
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::DescriptorRead,
            2 => Self::PageRead,
            3 => Self::DataWrite,
            4 => Self::ReportWrite,
            5 => Self::CounterRead,
            6 => Self::CounterWrite,
            _ => return None,
        })
    }

    pub(super) const fn command(self) -> Command {
        match self {
            Self::DescriptorRead | Self::PageRead | Self::CounterRead => Command::MemoryRead,
            Self::DataWrite | Self::ReportWrite | Self::CounterWrite => Command::MemoryWrite,
        }
    }

    pub(super) const fn is_transmit(self) -> bool {
        matches!(self, Self::DescriptorRead | Self::PageRead)
    }
}

/// Data phases a master waits for DEVSEL#, up to the subtractive decoder.
const DEVSEL_CLOCKS: u8 = 4;
/// Clocks that REQ# stays high after a STOP#.
const BACK_OFF: u8 = 2;
/// A word written just now; PERR# answers it two clocks later, when the bit has
/// moved down to bit 0.
const WRITTEN: u8 = 0b100;

const RECEIVED_TARGET_ABORT: u32 = 1 << 28;
const RECEIVED_MASTER_ABORT: u32 = 1 << 29;
const DATA_PARITY: u32 = 1 << 24;
const DETECTED_PARITY: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Address,
    Data,
    /// FRAME# is deasserted after an abort; IRDY# follows.
    Aborting,
}

/// The bus master's registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Master {
    phase: Phase,
    /// The transfer wanted or in progress.
    kind: Option<Transaction>,
    requesting: bool,
    /// FRAME# is deasserted: this is the last data phase.
    last: bool,
    selected: bool,
    waited: u8,
    clocks: u16,
    back_off: u8,
    /// Words written in the last clocks, a bit each.
    written: u8,
    /// PAR expected for the word read at the last edge.
    check: Option<bool>,
    /// Clocks left of driving PERR#: 2 asserted, 1 released.
    perr: u8,
    /// Turns of the arbiter between the two blocks.
    turn: u8,
    last_was_transmit: bool,
    /// Nothing is driven, checked or counted.
    quiet: bool,
    pins: Pins,
}

impl Master {
    pub(super) fn new() -> Self {
        Self {
            quiet: true,
            ..Self::default()
        }
    }

    pub(super) const fn pins(&self) -> &Pins {
        &self.pins
    }

    pub(super) const fn requests(&self) -> bool {
        self.requesting
    }

    /// The transfer on the bus.
    pub(super) fn on_bus(&self) -> Option<Transaction> {
        self.kind.filter(|_| self.phase != Phase::Idle)
    }

    /// A chip reset. The bus cannot be ours at that edge (the write that resets
    /// came over it), so nothing is cut short.
    pub(super) fn reset(&mut self) {
        if self.phase == Phase::Idle {
            self.kind = None;
            self.requesting = false;
        }
        self.turn = 0;
        self.last_was_transmit = false;
    }

    /// Nothing happens on an idle bus without grants.
    pub(super) fn is_idle(&self) -> bool {
        self.quiet && self.kind.is_none()
    }

    /// One edge of the bus.
    pub(super) fn step(&mut self, bus: &Signals, gnt_n: bool, dma: &mut Dma<'_>) {
        if self.quiet && (!self.requesting || gnt_n) {
            return;
        }
        let was = self.pins;
        self.pins = Pins::default();
        self.parity_of_data(bus, dma);
        match self.phase {
            Phase::Idle => {
                self.back_off = self.back_off.saturating_sub(1);
                if let Some(kind) = self
                    .kind
                    .filter(|_| self.requesting && !gnt_n && bus.is_idle())
                {
                    self.begin(kind, dma);
                }
            }
            Phase::Address => {
                self.clocks += 1;
                self.load(gnt_n, dma);
                self.phase = Phase::Data;
            }
            Phase::Data => self.data(bus, gnt_n, was, dma),
            Phase::Aborting => self.end(),
        }
        // PAR follows what was on AD by one clock.
        if was.drives(line::AD) {
            self.pins.set(line::PAR, even_parity(was.ad(), was.cbe_n()));
        }
        if self.perr > 0 {
            self.perr -= 1;
            self.pins.set(line::PERR, self.perr == 0);
        }
        self.quiet = self.phase == Phase::Idle
            && self.back_off == 0
            && self.written == 0
            && self.check.is_none()
            && self.pins.is_released();
    }

    fn begin(&mut self, kind: Transaction, dma: &mut Dma<'_>) {
        self.phase = Phase::Address;
        self.last = false;
        self.selected = false;
        self.waited = 0;
        self.clocks = 0;
        self.pins.set(line::FRAME, false);
        self.pins.set_ad(Some(dma.address(kind)));
        self.pins.set_cbe_n(kind.command().bits());
        dma.regs.status.transaction = kind as u8;
    }

    /// Begins a data phase.
    fn load(&mut self, gnt_n: bool, dma: &mut Dma<'_>) {
        let Some(kind) = self.kind else { return };
        let beat = dma.beat(kind);
        let expired = self.clocks >= dma.regs.latency_timer();
        self.last =
            beat.last || (expired && (gnt_n || dma.other_wants(kind))) || !dma.regs.dma_enabled();
        if self.last {
            // Nothing more is wanted: let the arbiter serve others.
            self.requesting = false;
        }
        self.pins.set(line::FRAME, self.last);
        self.pins.set(line::IRDY, false);
        self.pins.set_cbe_n(!beat.enables & 0xF);
        self.pins.set_ad(beat.data);
    }

    fn data(&mut self, bus: &Signals, gnt_n: bool, was: Pins, dma: &mut Dma<'_>) {
        let Some(kind) = self.kind else {
            return self.end();
        };
        self.clocks = self.clocks.saturating_add(1);
        let aborted = self.selected && bus.devsel_n && !bus.stop_n;
        self.selected |= !bus.devsel_n;
        if aborted || !self.selected {
            self.waited += 1;
            if aborted || self.waited >= DEVSEL_CLOCKS {
                dma.regs.pci_error(if aborted {
                    RECEIVED_TARGET_ABORT
                } else {
                    RECEIVED_MASTER_ABORT
                });
                self.requesting = false;
                self.back_off = BACK_OFF;
                return if self.last {
                    self.end();
                } else {
                    self.last = true;
                    self.phase = Phase::Aborting;
                    self.hold(was);
                };
            }
            return self.hold(was);
        }
        let moved = !bus.trdy_n;
        let stopped = !bus.stop_n;
        if moved {
            if kind.command().is_write() {
                self.written |= WRITTEN;
            } else {
                self.check = Some(even_parity(bus.ad, bus.cbe_n));
            }
            dma.moved(kind, bus.ad);
        }
        if stopped {
            self.requesting = false;
            self.back_off = BACK_OFF;
        }
        if self.last {
            if moved || stopped {
                self.end()
            } else {
                self.hold(was)
            }
        } else if stopped {
            // One more phase ends the transfer; what it offers is not taken
            // unless the target says so.
            if moved {
                self.load(gnt_n, dma);
            } else {
                self.hold(was);
            }
            self.last = true;
            self.pins.set(line::FRAME, true);
        } else if moved {
            self.load(gnt_n, dma);
        } else {
            self.hold(was);
        }
    }

    /// The phase goes on.
    const fn hold(&mut self, was: Pins) {
        self.pins = was.without(line::PAR | line::PERR);
        self.pins.set(line::FRAME, self.last);
    }

    /// Back to idle; IRDY# is driven high for one clock.
    fn end(&mut self) {
        self.phase = Phase::Idle;
        self.kind = None;
        self.requesting = false;
        self.pins.set(line::IRDY, true);
    }

    fn parity_of_data(&mut self, bus: &Signals, dma: &mut Dma<'_>) {
        let answers = dma.regs.pci.parity_response() == 1;
        if let Some(expected) = self.check.take()
            && expected != bus.par
        {
            dma.regs
                .pci_error(DETECTED_PARITY | if answers { DATA_PARITY } else { 0 });
            if answers {
                self.perr = 2;
            }
        }
        self.written >>= 1;
        if self.written & 1 != 0 && !bus.perr_n && answers {
            dma.regs.pci_error(DATA_PARITY);
        }
    }

    /// Chooses the next transfer, at the end of an edge.
    pub(super) fn arbitrate(
        &mut self,
        transmit: Option<Transaction>,
        receive: Option<Transaction>,
        enabled: bool,
        balance: u32,
    ) {
        if self.phase != Phase::Idle {
            return;
        }
        if !enabled {
            self.kind = None;
            self.requesting = false;
            return;
        }
        if self.kind.is_none() {
            let kind = match (transmit, receive) {
                (Some(t), Some(r)) => {
                    if self.receive_wins(balance) {
                        r
                    } else {
                        t
                    }
                }
                (one, other) => match one.or(other) {
                    Some(kind) => kind,
                    None => return,
                },
            };
            self.last_was_transmit = kind.is_transmit();
            self.kind = Some(kind);
        }
        self.requesting = self.back_off == 0;
    }

    /// The turn of two blocks that both want the bus: alternate at 8, else
    /// `balance` of 16 turns for the receive block, spread evenly.
    fn receive_wins(&mut self, balance: u32) -> bool {
        if balance == 8 {
            return self.last_was_transmit;
        }
        let turn = u32::from(self.turn);
        self.turn = (self.turn + 1) & 15;
        (turn + 1) * balance / 16 > turn * balance / 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns of 160 that the receive block wins when both always want the bus.
    fn wins(balance: u32) -> u32 {
        let mut master = Master::new();
        (0..160)
            .filter(|_| {
                master.kind = None;
                let (t, r) = (Transaction::PageRead, Transaction::DataWrite);
                master.arbitrate(Some(t), Some(r), true, balance);
                master.kind == Some(r)
            })
            .count() as u32
    }

    #[test]
    fn balance_is_the_share_of_the_receive_block_in_16_turns() {
        for balance in 0..16 {
            assert_eq!(wins(balance), 10 * balance, "balance {balance}");
        }
    }

    #[test]
    fn a_block_alone_gets_the_bus_at_any_balance() {
        for balance in [0, 8, 15] {
            for kind in [Transaction::PageRead, Transaction::DataWrite] {
                let mut master = Master::new();
                let (t, r) = if kind.is_transmit() {
                    (Some(kind), None)
                } else {
                    (None, Some(kind))
                };
                master.arbitrate(t, r, true, balance);
                assert!(master.requests() && master.kind == Some(kind));
            }
        }
    }

    #[test]
    fn numbers_of_transfers_are_those_of_the_document() {
        for number in 0..16 {
            let kind = Transaction::from_number(number);
            assert_eq!(
                kind.map(|kind| kind as u32),
                (1..=6).contains(&number).then_some(number)
            );
        }
    }
}

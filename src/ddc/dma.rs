//! What the bus master moves: one word at a time, for either block.

use super::assembler::RxWord;
use super::config::DdcConfig;
use super::fifo::Fifo;
use super::master::Transaction;
use super::receive::Receive;
use super::regfile::RegisterFile;
use super::transmit::Transmit;

/// A data phase about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beat {
    /// The word, when the master drives it.
    pub(super) data: Option<u32>,
    /// Bytes that take part.
    pub(super) enables: u8,
    /// No other word follows for now.
    pub(super) last: bool,
}

/// The two blocks as the bus master sees them.
pub(super) struct Dma<'a> {
    pub(super) regs: &'a mut RegisterFile,
    pub(super) tx: &'a mut Transmit,
    pub(super) rx: &'a mut Receive,
    pub(super) tx_fifo: &'a mut Fifo<u32>,
    pub(super) rx_fifo: &'a mut Fifo<RxWord>,
    pub(super) config: &'a DdcConfig,
}

impl Dma<'_> {
    /// Address of the next word of `kind`.
    pub(super) fn address(&self, kind: Transaction) -> u32 {
        if kind.is_transmit() {
            self.tx.address(self.regs)
        } else {
            self.rx.address(kind, self.regs)
        }
    }

    /// The block that does not own `kind` waits for the bus.
    pub(super) fn other_wants(&self, kind: Transaction) -> bool {
        if kind.is_transmit() {
            self.rx.wants(self.rx_fifo, self.config).is_some()
        } else {
            self.tx.wants().is_some()
        }
    }

    /// The next word of `kind`.
    pub(super) fn beat(&self, kind: Transaction) -> Beat {
        if kind.is_transmit() {
            Beat {
                data: None,
                enables: 0xF,
                last: self.tx.is_last(self.tx_fifo),
            }
        } else {
            self.rx.beat(kind, self.rx_fifo)
        }
    }

    /// The word of `kind` has moved; `ad` is what a read brought.
    pub(super) fn moved(&mut self, kind: Transaction, ad: u32) {
        if kind.is_transmit() {
            self.tx.accept(ad, self.regs, self.tx_fifo, self.config);
        } else {
            self.rx.moved(kind, ad, self.regs, self.rx_fifo);
        }
    }
}

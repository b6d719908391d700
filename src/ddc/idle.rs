//! Idle time: how many edges would change nothing, and passing them at once.

use super::Ddc;
use crate::hsl::Line;

impl Ddc {
    /// The PCI clock has seen all that the link clock counted.
    pub(super) const fn sees_all_of_link(&self) -> bool {
        self.tx_fifo.writer_is_settled()
            && self.rx_fifo.reader_is_settled()
            && self.tx.left.is_settled()
            && self.rx.ends.is_settled()
    }

    /// The link clock has seen all that the PCI clock counted.
    pub(super) const fn sees_all_of_pci(&self) -> bool {
        self.tx_fifo.reader_is_settled()
            && self.rx_fifo.writer_is_settled()
            && self.tx.go.is_settled()
    }

    /// PCI edges that would only advance counters, with an idle bus, no grant and
    /// the link status held; [`u64::MAX`]: until something comes from outside. A
    /// link edge may end it.
    pub fn pci_idle_for(&self) -> u64 {
        let quiet = self.master.is_idle()
            && self.target.is_idle()
            && self.regs.r3_dout.is_none()
            && self.r3_dout.is_none()
            && self.sees_all_of_link()
            && self.tx.is_idle(&self.regs, &self.tx_fifo, &self.config);
        if quiet {
            self.rx
                .idle_for(&self.regs, &self.rx_fifo, &self.config)
                .min(self.regs.quirks_idle_for())
        } else {
            0
        }
    }

    /// The same as that many PCI edges, for at most
    /// [`pci_idle_for`](Self::pci_idle_for) of them.
    pub fn skip_pci(&mut self, cycles: u64) {
        if cycles > 0 {
            self.rx.skip(cycles, &self.rx_fifo, &self.config);
            self.regs.skip_quirks(cycles);
            self.asleep = self.pci_idle_for() == u64::MAX;
        }
    }

    /// Link edges that would change nothing while `input` stays; [`u64::MAX`]:
    /// until something comes from outside. A PCI edge may end it.
    pub fn link_idle_for(&self, input: Line) -> u64 {
        let receives = self.regs.command.rx_init() == 1;
        let loopback = self.regs.command.loopback() == 1;
        let outside = receives && !loopback;
        let up = self.port.is_up();
        let ready = if loopback {
            receives && self.port.has_room()
        } else {
            self.port.has_credit()
        };
        let stands = input.is_quiet()
            && loopback == self.loopback
            && up == (outside && input.has_signal())
            && self.port.is_quiet()
            && self.port.output().has_signal() == outside
            && self.sees_all_of_pci()
            && (self.rx_fifo.free() == 0 || (self.port.is_empty() && self.assembler.is_idle()))
            && self
                .packetiser
                .is_idle(self.tx.go.seen(), &self.tx_fifo, ready);
        if stands { u64::MAX } else { 0 }
    }

    /// The same as that many link edges with `input`, for at most
    /// [`link_idle_for`](Self::link_idle_for) of them.
    pub fn skip_link(&mut self, cycles: u64, input: Line) {
        if cycles > 0 {
            self.sleeps_on = Some(input);
        }
    }
}

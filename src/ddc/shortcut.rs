//! Registers without the bus, and what a machine asks a chip beside its pins.

use super::{Ddc, Transaction};

impl Ddc {
    /// A read of a register as over the bus, at once; whether the chip has to
    /// be stepped for it.
    pub(crate) fn peek(&mut self, offset: u8) -> (u32, bool) {
        let enabled = self.regs.dma_enabled();
        self.regs.touched();
        let value = self.regs.answer(offset);
        self.rx.config_read(value, &self.regs);
        let wakes = self.regs.dma_enabled() != enabled;
        if wakes {
            self.asleep = false;
        }
        (value, wakes)
    }

    /// A write of a register as over the bus, at once. The chip has to be
    /// stepped for it at the next edge.
    pub(crate) fn poke(&mut self, offset: u8, value: u32) {
        self.regs.touched();
        if self.regs.write(offset, value, u32::MAX) {
            if self.regs.quirks.reset_takes() {
                self.reset();
            } else {
                self.regs.lose_header();
            }
        }
        self.asleep = false;
        self.sleeps_on = None;
    }

    /// What tells software of something new: the pointers that the chip moves,
    /// events and counters of STATUS, INTA#.
    #[inline]
    pub(crate) fn seen_by_software(&self) -> [u32; 4] {
        [
            self.regs.lmi_new,
            self.regs.lpe_current,
            self.regs.status.bits() & 0xFFFF_F000,
            u32::from(self.inta),
        ]
    }

    /// Whether it writes to memory at this moment.
    #[inline]
    pub(crate) fn is_writing(&self) -> bool {
        self.master.on_bus() == Some(Transaction::DataWrite)
    }
}

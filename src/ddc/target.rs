//! The configuration target: type 0 accesses to function 0, one data phase.
//!
//! DEVSEL# comes at medium speed together with TRDY#; a burst is disconnected
//! after its first word. Address parity of every transfer on the bus is checked
//! here too.

use super::pins::{Pins, line};
use super::regfile::RegisterFile;
use crate::pci::{Command, Signals, even_parity};

const DETECTED_PARITY: u32 = 1 << 31;
const SIGNALLED_SYSTEM_ERROR: u32 = 1 << 30;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    /// An access for this chip was seen at the last edge.
    Claimed,
    /// DEVSEL# and TRDY# are asserted.
    Data,
    /// STOP# is asserted until the initiator gives up.
    Disconnect,
}

/// The target's registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Target {
    phase: Phase,
    write: bool,
    offset: u8,
    /// FRAME# was asserted at the last edge: no address phase.
    busy: bool,
    /// PAR expected for the address seen at the last edge.
    address_parity: Option<bool>,
    /// PAR expected for the word written at the last edge.
    data_parity: Option<bool>,
    serr: bool,
    /// Clocks left of driving PERR#: 2 asserted, 1 released.
    perr: u8,
    /// Nothing is driven, checked or waited for.
    quiet: bool,
    /// A read was answered at this edge, for erratum 14.
    answered: bool,
    pins: Pins,
}

impl Target {
    pub(super) fn new() -> Self {
        Self {
            quiet: true,
            ..Self::default()
        }
    }

    pub(super) const fn pins(&self) -> &Pins {
        &self.pins
    }

    pub(super) const fn is_idle(&self) -> bool {
        self.quiet
    }

    /// What a configuration read was answered at this edge.
    #[inline]
    pub(super) fn answered(&self) -> Option<u32> {
        self.answered.then_some(self.pins.ad())
    }

    /// One edge of the bus, `own` while the transfer on it is of this chip's
    /// master; returns whether the chip must be reset.
    pub(super) fn step(
        &mut self,
        bus: &Signals,
        idsel: bool,
        own: bool,
        regs: &mut RegisterFile,
    ) -> bool {
        if self.quiet && (bus.frame_n || own) {
            return false;
        }
        let was = core::mem::take(&mut self.pins);
        self.answered = false;
        if was.drives(line::SERR) {
            self.serr = false;
        }
        let address_ok = self.check_parity(bus, regs);
        let mut reset = false;
        match self.phase {
            Phase::Idle if own => {}
            Phase::Idle => self.address(bus, idsel),
            Phase::Claimed if !address_ok => {
                self.phase = Phase::Idle;
                self.write = false;
                self.offset = 0;
            }
            Phase::Claimed => {
                self.phase = Phase::Data;
                self.pins.set(line::DEVSEL | line::TRDY, false);
                // FRAME# still asserted: a second word may be wanted.
                self.pins.set(line::STOP, bus.frame_n);
                if !self.write {
                    regs.touched();
                    self.pins.set_ad(Some(regs.answer(self.offset)));
                    self.answered = true;
                }
            }
            Phase::Data if bus.irdy_n => {
                self.pins = was.without(line::PAR | line::PERR | line::SERR);
            }
            Phase::Data => {
                if self.write {
                    self.data_parity = Some(even_parity(bus.ad, bus.cbe_n));
                    regs.touched();
                    reset = regs.write(self.offset, bus.ad, lanes(bus.cbe_n));
                }
                self.finish(bus);
            }
            Phase::Disconnect => self.finish(bus),
        }
        self.busy = !bus.frame_n;
        if was.drives(line::AD) {
            self.pins.set(line::PAR, even_parity(bus.ad, bus.cbe_n));
        }
        if self.serr {
            self.pins.set(line::SERR, false);
        }
        if self.perr > 0 {
            self.perr -= 1;
            self.pins.set(line::PERR, self.perr == 0);
        }
        self.quiet = self.phase == Phase::Idle
            && !self.busy
            && self.address_parity.is_none()
            && self.data_parity.is_none()
            && !self.serr
            && self.pins.is_released();
        reset
    }

    fn address(&mut self, bus: &Signals, idsel: bool) {
        if bus.frame_n || self.busy {
            return;
        }
        self.address_parity = Some(even_parity(bus.ad, bus.cbe_n));
        let command = Command::from_bits(bus.cbe_n);
        let access = matches!(
            command,
            Command::ConfigurationRead | Command::ConfigurationWrite
        );
        // Type 0, function 0.
        if idsel && access && bus.ad & 0x703 == 0 {
            self.phase = Phase::Claimed;
            self.write = command.is_write();
            self.offset = bus.ad as u8 & 0xFC;
        }
    }

    /// The word has moved: release, or hold STOP# while the initiator wants more.
    fn finish(&mut self, bus: &Signals) {
        let over = bus.frame_n;
        self.phase = if over { Phase::Idle } else { Phase::Disconnect };
        if over {
            self.write = false;
            self.offset = 0;
        }
        self.pins.set(line::TRDY, true);
        self.pins.set(line::DEVSEL | line::STOP, over);
    }

    /// Checks PAR against what was seen one clock ago.
    fn check_parity(&mut self, bus: &Signals, regs: &mut RegisterFile) -> bool {
        let answers = regs.pci.parity_response() == 1;
        let mut address_ok = true;
        if let Some(expected) = self.address_parity.take()
            && expected != bus.par
        {
            address_ok = false;
            self.serr = answers && regs.pci.serr_enable() == 1;
            regs.pci_error(DETECTED_PARITY | if self.serr { SIGNALLED_SYSTEM_ERROR } else { 0 });
        }
        if let Some(expected) = self.data_parity.take()
            && expected != bus.par
        {
            regs.pci_error(DETECTED_PARITY);
            if answers {
                self.perr = 2;
            }
        }
        address_ok
    }
}

/// The bits of the bytes enabled (active low) on C/BE#.
const fn lanes(cbe_n: u8) -> u32 {
    let mut mask = 0;
    let mut lane = 0;
    while lane < 4 {
        if cbe_n >> lane & 1 == 0 {
            mask |= 0xFF << (8 * lane);
        }
        lane += 1;
    }
    mask
}

//! What the driver does about errors: clear, tell, go on or stop.
//!
//! | event | action |
//! |---|---|
//! | EEP, CRC header, CRC data, EP, timeout, illegal LRM access, R3 status, PCI aborts, SERR, data parity | clear, tell, stop |
//! | transmitted, received, sent-packet and received-packet overflow | clear, tell, go on |
//! | LMI overflow | clear, tell, empty the ring, set Bus Master again |
//! | ring pointer that is no entry or was never posted | tell, stop |
//! | page or message counted that does not exist | acknowledge one, tell, stop |
//! | detected parity error (bit 31 of 04h) | ignored: it comes without a cause |

use super::driver::{Hardware, Put};
use super::error::PortErrorOf;
use super::event::{Event, Fault};
use super::start::{BUS_MASTER, ERRORS, PCI_START, write};
use super::wire;

/// PCI status bits that are errors: 30:27 and 24.
pub(crate) const PCI_ERRORS: u32 = 0x7900_0000;
/// STATUS events after which the board goes on: counter overflows, LMI full.
pub(crate) const SURVIVED: u32 = 0x0003_D000;

const LMI_OVERFLOW: u32 = 1 << 12;

impl Put {
    /// Treats the error bits of STATUS and 04h, which are not all 0.
    pub(crate) fn judge<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        status: u32,
        command: u32,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), PortErrorOf<H>> {
        let status = status & ERRORS;
        let pci = command & PCI_ERRORS;
        let fault = Fault::Reported { status, pci };
        if status & !SURVIVED == 0 && pci == 0 {
            let mut clear = status;
            if status & LMI_OVERFLOW != 0 {
                clear = status & !LMI_OVERFLOW | self.settings.capabilities.lmi_overflow_clear();
            }
            write(hw, wire::STATUS, clear)?;
            // The chip has cleared Bus Master; it is set again after the
            // reports were taken, since a full ring would clear it at once.
            self.rearm = true;
            self.tell(fault, false, sink);
            return Ok(());
        }
        let cleared = write(hw, wire::STATUS, status);
        // Write-one-to-clear bits and the command share the register.
        let cleared_pci = write(hw, wire::PCI_COMMAND, pci | command & 0xFFFF & !BUS_MASTER);
        self.stop(hw, fault, sink)?;
        cleared.and(cleared_pci)
    }

    /// Tells the fault and stops the board.
    pub(crate) fn stop<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        fault: Fault,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), PortErrorOf<H>> {
        let stopped = self.emergency_stop(hw, fault);
        self.tell(fault, true, sink);
        stopped
    }

    /// Sets Bus Master again where an error that the board survives cleared it.
    pub(crate) fn set_bus_master<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
    ) -> Result<(), PortErrorOf<H>> {
        if self.rearm {
            write(hw, wire::PCI_COMMAND, PCI_START)?;
            self.rearm = false;
        }
        Ok(())
    }

    fn tell(&mut self, fault: Fault, stopped: bool, sink: &mut dyn FnMut(Event)) {
        self.stats.faults = self.stats.faults.saturating_add(1);
        sink(Event::Error { fault, stopped });
    }
}

//! Serving without reading registers (erratum 14).
//!
//! A configuration read during a reception spoils the data being written, so
//! the driver looks at memory and at the interrupt line, and only writes:
//!
//! 1. the line is sampled, then the reports in memory are taken (a report that
//!    is there has LMI set; a taken one is zeroed) and acknowledged;
//! 2. if the line was up and no report explains it, overflows are cleared and
//!    Bus Master is set, both unseen;
//! 3. if it is still up, the page outstanding is acknowledged: if that brings
//!    the line down, the page had left;
//! 4. if it is still up, it is an error of the hardware, and only then are
//!    registers read.
//!
//! The record's driver stops at "a page was posted, so it has left"; looking at
//! the line once more keeps an error from being taken for the end of a page.
//! Needs one page outstanding, and the spurious interrupts of the start over.

use super::acknowledge::{PAGE_RECEIVED, PAGE_TRANSMITTED};
use super::driver::{Hardware, Phase, Put};
use super::error::PortErrorOf;
use super::event::{Event, Served};
use super::policy::{PCI_ERRORS, SURVIVED};
use super::ring;
use super::start::{EVENTS, PCI_START, load, read, store, write};
use super::walk::Walk;
use crate::ddc::lme::{Control, Descriptor};
use crate::ddc::lmr::Report;
use crate::ddc::registers::{PciCommandStatus, Status};

/// Looks at the line in one call. Each but the last is answered by an
/// acknowledgement, or by reports of the budget.
const LOOKS: u8 = 16;

impl Put {
    /// One round of poll or interrupt.
    pub(super) fn serve_blind<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        [for_lme, for_lmr]: [u16; 2],
        stop_loops: bool,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Served, PortErrorOf<H>> {
        let mut served = Served {
            cause: true,
            ..Served::default()
        };
        let mut cleared = false;
        for _ in 0..LOOKS {
            // In this order: a report is in memory before it is counted, so
            // that a line that was up before is explained by what is there.
            let up = hw.inta() == Some(true);
            let walk = self.walk_memory(hw, for_lmr - served.reports, sink)?;
            served.reports += walk.walked;
            served.more = walk.more;
            if walk.more {
                return Ok(served);
            }
            if !up {
                if self.presumed && served.descriptors < for_lme {
                    served.descriptors += 1;
                    self.page_left(hw, sink)?;
                    continue;
                }
                served.more = self.presumed;
                self.release(hw)?;
                return Ok(served);
            }
            if walk.walked > 0 {
                continue;
            }
            if !cleared {
                cleared = true;
                write(hw, Status::OFFSET, SURVIVED)?;
                write(hw, PciCommandStatus::OFFSET, PCI_START)?;
            } else if self.ring.outstanding() > 0 && !self.presumed {
                write(hw, Status::OFFSET, PAGE_TRANSMITTED)?;
                self.presumed = true;
            } else {
                return self.look(hw, [for_lme, for_lmr], stop_loops, sink);
            }
        }
        Ok(served)
    }

    /// Nothing explains the interrupt: the registers are read after all.
    fn look<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budgets: [u16; 2],
        stop_loops: bool,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Served, PortErrorOf<H>> {
        let status = read(hw, Status::OFFSET)?;
        let command = read(hw, PciCommandStatus::OFFSET)?;
        if status & self.settings.mask() & EVENTS | command & PCI_ERRORS == 0 {
            // Spurious: the guess was wrong.
            self.presumed = false;
            self.stats.spurious = self.stats.spurious.saturating_add(1);
            return Ok(Served::default());
        }
        self.serve(hw, [status, command], budgets, stop_loops, sink)
    }

    /// Takes reports by what memory says.
    pub(super) fn walk_memory<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budget: u16,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Walk, PortErrorOf<H>> {
        let mut walk = Walk::default();
        loop {
            let address = self.layout.lmr(self.report);
            let mut bytes = [0; Report::WIRE_LEN];
            load(hw, address, &mut bytes)?;
            let report = Report::parse(&bytes);
            if !report.is_present() {
                break;
            }
            if walk.walked == budget {
                walk.more = true;
                break;
            }
            let event = self.arrived(hw, report)?;
            store(hw, address, &[0; Report::WIRE_LEN])?;
            if report.control.has(Control::NOR) {
                write(hw, Status::OFFSET, PAGE_RECEIVED)?;
                walk.acknowledged = true;
            }
            self.report = ring::after(self.report, self.layout.entries());
            walk.walked += 1;
            if let Some(event) = event {
                sink(event);
            }
        }
        if self.report != self.report_written {
            let offset = self.settings.capabilities.lmi_current_write_offset();
            write(hw, offset, self.layout.lmr(self.report))?;
            self.report_written = self.report;
        }
        Ok(walk)
    }

    /// The page outstanding has left.
    fn page_left<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), PortErrorOf<H>> {
        let mut bytes = [0; Descriptor::WIRE_LEN];
        load(hw, self.layout.lme(self.ring.current()), &mut bytes)?;
        let event = self.departed(hw, Descriptor::parse(&bytes))?;
        self.presumed = false;
        if self.ring.retire() {
            self.retired += 1;
            self.stats.sent += 1;
        }
        if let Some(event) = event {
            sink(event);
        }
        self.check();
        if self.phase == Phase::Running {
            self.release(hw)?;
        }
        Ok(())
    }
}

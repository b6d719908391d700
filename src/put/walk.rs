//! Walking the rings: entries that have left, reports that have come.

use super::acknowledge::{PAGE_RECEIVED, Side};
use super::config::ReportScan;
use super::driver::{Hardware, Put};
use super::error::PortErrorOf;
use super::event::{Event, Fault};
use super::ring;
use super::start::{load, read, write};
use crate::ddc::lme::{Control, Descriptor};
use crate::ddc::lmr::Report;
use crate::ddc::registers::{LmiNew, LpeCurrent};

/// What one walk over a ring did.
#[derive(Clone, Copy, Default)]
pub(super) struct Walk {
    pub(super) walked: u16,
    pub(super) acknowledged: bool,
    pub(super) more: bool,
}

impl Put {
    /// Takes back at most `budget` entries that LPE_CURRENT has passed.
    pub(super) fn walk_lme<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budget: u16,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Walk, PortErrorOf<H>> {
        let mut walk = Walk::default();
        if self.ring.outstanding() == 0 {
            return Ok(walk);
        }
        let value = read(hw, LpeCurrent::OFFSET)?;
        let Some(passed) = self
            .layout
            .lme_index(value)
            .and_then(|i| self.ring.passed(i))
        else {
            self.stop(
                hw,
                Fault::BadPointer {
                    offset: LpeCurrent::OFFSET,
                    value,
                },
                sink,
            )?;
            return Ok(walk);
        };
        while u32::from(walk.walked) < passed {
            if walk.walked == budget {
                walk.more = true;
                break;
            }
            let mut bytes = [0; Descriptor::WIRE_LEN];
            load(hw, self.layout.lme(self.ring.current()), &mut bytes)?;
            let descriptor = Descriptor::parse(&bytes);
            let notice = descriptor.control.has(Control::NOS.with(Control::LMP));
            // Read by the chip is not sent: the counter says so, or nobody.
            if notice && !self.acknowledge(hw, Side::Transmitted)? {
                break;
            }
            let event = match self.departed(hw, descriptor) {
                Ok(event) => event.filter(|_| notice),
                Err(error) => {
                    self.take_back(Side::Transmitted, notice);
                    return Err(error);
                }
            };
            self.ring.retire();
            self.retired += 1;
            walk.walked += 1;
            if notice {
                walk.acknowledged = true;
                self.stats.sent += 1;
            }
            if let Some(event) = event {
                sink(event);
            }
        }
        self.check();
        Ok(walk)
    }

    /// Takes at most `budget` reports that LMI_NEW has passed.
    pub(super) fn walk_lmr<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        status: u32,
        budget: u16,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Walk, PortErrorOf<H>> {
        let mut walk = Walk::default();
        let early = self.credit.last().is_some_and(|credit| *credit > 0);
        let counted = status & PAGE_RECEIVED != 0 || early;
        if self.settings.scan == ReportScan::WhenCounted && !counted {
            return Ok(walk);
        }
        let value = read(hw, LmiNew::OFFSET)?;
        let Some(new) = self.layout.lmr_index(value) else {
            self.stop(
                hw,
                Fault::BadPointer {
                    offset: LmiNew::OFFSET,
                    value,
                },
                sink,
            )?;
            return Ok(walk);
        };
        while self.report != new {
            if walk.walked == budget {
                walk.more = true;
                break;
            }
            let mut bytes = [0; Report::WIRE_LEN];
            load(hw, self.layout.lmr(self.report), &mut bytes)?;
            let report = Report::parse(&bytes);
            let notice = report.control.has(Control::NOR);
            // The report lies in memory before it is counted. Acknowledging in
            // between would leave a count behind that no report explains.
            if notice && !self.acknowledge(hw, Side::Received)? {
                break;
            }
            let event = match self.arrived(hw, report) {
                Ok(event) => event,
                Err(error) => {
                    self.take_back(Side::Received, notice);
                    return Err(error);
                }
            };
            walk.acknowledged |= notice;
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
        self.check();
        Ok(walk)
    }
}

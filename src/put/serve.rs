//! Taking back entries and reports: flush, poll, interrupt.

use super::acknowledge::{PAGE_RECEIVED, PAGE_TRANSMITTED};
use super::config::ReportScan;
use super::driver::{Hardware, Phase, Put};
use super::error::{PortErrorOf, ServeError};
use super::event::{Event, Fault, Served};
use super::policy::PCI_ERRORS;
use super::start::{BUS_MASTER, ERRORS, EVENTS, read, write};
use super::walk::Walk;
use crate::ddc::registers::{PciCommandStatus, Status};

impl Put {
    /// Takes back what the chip has sent: at most `budget` entries, oldest
    /// first. Entries with NOS wait for PAGE_TRANSMITTED and give an event;
    /// others are taken back silently.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is lost.
    #[doc(alias = "put_flush_lpe")]
    #[doc(alias = "put_flush_lme")]
    pub fn flush_lme<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budget: u16,
        mut sink: impl FnMut(Event),
    ) -> Result<Served, ServeError<PortErrorOf<H>>> {
        if !self.serving()? {
            return Ok(Served {
                cause: true,
                ..Served::default()
            });
        }
        if self.is_blind() {
            return Ok(self.serve_blind(hw, [budget, 0], false, &mut sink)?);
        }
        let lme = self.walk_lme(hw, budget, &mut sink)?;
        self.release(hw)?;
        Ok(Served {
            descriptors: lme.walked,
            reports: 0,
            more: lme.more,
            cause: true,
        })
    }

    /// Takes the reports of messages that arrived: at most `budget`, oldest
    /// first.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is lost.
    #[doc(alias = "put_flush_lmi")]
    #[doc(alias = "put_flush_lmr")]
    pub fn flush_lmr<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budget: u16,
        mut sink: impl FnMut(Event),
    ) -> Result<Served, ServeError<PortErrorOf<H>>> {
        if !self.serving()? {
            return Ok(Served {
                cause: true,
                ..Served::default()
            });
        }
        let lmr = if self.is_blind() {
            self.walk_memory(hw, budget, &mut sink)?
        } else {
            let status = match self.settings.scan {
                ReportScan::Always => 0,
                ReportScan::WhenCounted => read(hw, Status::OFFSET)?,
            };
            self.walk_lmr(hw, status, budget, &mut sink)?
        };
        Ok(Served {
            descriptors: 0,
            reports: lmr.walked,
            more: lmr.more,
            cause: true,
        })
    }

    /// One round of the polling model: errors, then at most `budget` entries
    /// of each ring. Every event goes to `sink` once; what the budget does not
    /// cover stays in the rings.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is lost.
    pub fn poll<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budget: u16,
        mut sink: impl FnMut(Event),
    ) -> Result<Served, ServeError<PortErrorOf<H>>> {
        self.poll_each(hw, [budget, budget], &mut sink)
    }

    /// [`poll`](Self::poll) with a budget of its own for each ring.
    pub(crate) fn poll_each<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budgets: [u16; 2],
        sink: &mut dyn FnMut(Event),
    ) -> Result<Served, ServeError<PortErrorOf<H>>> {
        if !self.serving()? {
            self.flush_start(hw)?;
            return Ok(Served {
                cause: true,
                ..Served::default()
            });
        }
        if self.is_blind() {
            return Ok(self.serve_blind(hw, budgets, false, sink)?);
        }
        let status = read(hw, Status::OFFSET)?;
        let command = read(hw, PciCommandStatus::OFFSET)?;
        Ok(self.serve(hw, [status, command], budgets, false, sink)?)
    }

    /// The interrupt handler; call it while INTA# is asserted, which is a
    /// level: it falls when every cause is acknowledged.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is lost.
    pub fn on_interrupt<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        budget: u16,
        mut sink: impl FnMut(Event),
    ) -> Result<Served, ServeError<PortErrorOf<H>>> {
        if !self.serving()? {
            self.flush_start(hw)?;
            return Ok(Served {
                cause: true,
                ..Served::default()
            });
        }
        if self.is_blind() {
            return Ok(self.serve_blind(hw, [budget; 2], true, &mut sink)?);
        }
        // The cause may show later than the interrupt.
        for _ in 0..self.settings.policy.looks() {
            let status = read(hw, Status::OFFSET)?;
            let command = read(hw, PciCommandStatus::OFFSET)?;
            if status & self.settings.mask() & EVENTS | command & PCI_ERRORS != 0 {
                return Ok(self.serve(hw, [status, command], [budget; 2], true, &mut sink)?);
            }
        }
        self.stats.spurious = self.stats.spurious.saturating_add(1);
        self.set_bus_master(hw)?;
        Ok(Served::default())
    }

    /// Whether the rings may be looked at; false while the board settles.
    fn serving<E>(&self) -> Result<bool, ServeError<E>> {
        match self.phase {
            Phase::Closed => Err(ServeError::NotOpen),
            Phase::Stopped(_) => Err(ServeError::Stopped),
            Phase::Starting => Ok(false),
            Phase::Running => Ok(true),
        }
    }

    const fn is_blind(&self) -> bool {
        !self.settings.capabilities.config_reads
    }

    /// Errors, pages, messages, in the order of the record.
    pub(super) fn serve<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        [status, command]: [u32; 2],
        budgets: [u16; 2],
        stop_loops: bool,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Served, PortErrorOf<H>> {
        let status = status & self.settings.mask() | status & !EVENTS;
        let mut served = Served {
            cause: true,
            ..Served::default()
        };
        if status & ERRORS | command & PCI_ERRORS != 0 {
            self.judge(hw, status, command, sink)?;
        } else if self.settings.recovery && command & BUS_MASTER == 0 {
            // Taken away by an error that was cleared without setting it.
            self.rearm = true;
        }
        let [for_lme, for_lmr] = budgets;
        if self.phase != Phase::Running {
            return Ok(served);
        }
        let lme = self.walk_lme(hw, for_lme, sink)?;
        served.descriptors = lme.walked;
        if self.phase != Phase::Running {
            return Ok(served);
        }
        self.release(hw)?;
        let lmr = self.walk_lmr(hw, status, for_lmr, sink)?;
        served.reports = lmr.walked;
        served.more = lme.more || lmr.more;
        if self.phase != Phase::Running {
            return Ok(served);
        }
        self.set_bus_master(hw)?;
        if stop_loops && self.settings.policy.stops_loops() {
            let unmet = |bit, walk: Walk| status & bit != 0 && !walk.acknowledged && !walk.more;
            let unmet = match (unmet(PAGE_TRANSMITTED, lme), unmet(PAGE_RECEIVED, lmr)) {
                (true, _) => PAGE_TRANSMITTED,
                (_, true) => PAGE_RECEIVED,
                _ => return Ok(served),
            };
            write(hw, Status::OFFSET, unmet)?;
            self.stop(hw, Fault::InterruptLoop { status }, sink)?;
        }
        Ok(served)
    }
}

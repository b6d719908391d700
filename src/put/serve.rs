//! Taking back entries and reports: flush, poll, interrupt.

use super::config::{Acknowledge, ReportScan};
use super::driver::{Hardware, Phase, Put};
use super::error::{PortErrorOf, ServeError};
use super::event::{Event, Fault, Served};
use super::pieces::unforced;
use super::policy::PCI_ERRORS;
use super::ring;
use super::start::{BUS_MASTER, ERRORS, EVENTS, load, read, write};
use crate::ddc::lme::{Control, Descriptor};
use crate::ddc::lmr::Report;
use crate::ddc::registers::{LmiNew, LpeCurrent, PciCommandStatus, Status};

/// Which of the two counters of STATUS.
#[derive(Clone, Copy)]
enum Side {
    Transmitted,
    Received,
}

const PAGE_TRANSMITTED: u32 = 1 << 31;
const PAGE_RECEIVED: u32 = 1 << 30;

impl Side {
    /// Acknowledge bits and what each takes off the counter, largest first.
    const fn weights(self) -> [(u32, u16); 4] {
        match self {
            Self::Transmitted => [
                (1 << 29, 4096),
                (1 << 28, 256),
                (1 << 27, 16),
                (PAGE_TRANSMITTED, 1),
            ],
            Self::Received => [
                (1 << 26, 4096),
                (1 << 25, 256),
                (1 << 24, 16),
                (PAGE_RECEIVED, 1),
            ],
        }
    }
}

/// What one walk over a ring did.
#[derive(Clone, Copy, Default)]
pub(super) struct Walk {
    pub(super) walked: u16,
    pub(super) acknowledged: bool,
    pub(super) more: bool,
}

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

    fn walk_lme<H: Hardware + ?Sized>(
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

    fn walk_lmr<H: Hardware + ?Sized>(
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

    /// Takes one off the counter of a side; false when it stands at 0.
    fn acknowledge<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        side: Side,
    ) -> Result<bool, PortErrorOf<H>> {
        let credit = self.credit.get(side as usize).copied().unwrap_or(0);
        let left = if credit > 0 {
            credit - 1
        } else {
            let status = read(hw, Status::OFFSET)?;
            let weights = side.weights();
            let usable = match self.settings.acknowledge {
                Acknowledge::Single => weights.get(3..),
                Acknowledge::Weighted => weights.get(..),
            };
            let Some((bit, weight)) = usable
                .unwrap_or(&[])
                .iter()
                .find(|(bit, _)| status & bit != 0)
            else {
                return Ok(false);
            };
            write(hw, Status::OFFSET, *bit)?;
            if let Some(count) = self.stats.acknowledged.get_mut(side as usize) {
                *count += u64::from(*weight);
            }
            weight - 1
        };
        if let Some(credit) = self.credit.get_mut(side as usize) {
            *credit = left;
        }
        Ok(true)
    }

    /// An acknowledgement whose entry could not be taken stays good for it.
    fn take_back(&mut self, side: Side, acknowledged: bool) {
        if acknowledged && let Some(credit) = self.credit.get_mut(side as usize) {
            *credit = credit.saturating_add(1);
        }
    }

    /// What a page that has left is told as: nothing where NOS was forced, or
    /// where it was a part of an emulated short message.
    pub(super) fn departed<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        mut descriptor: Descriptor,
    ) -> Result<Option<Event>, PortErrorOf<H>> {
        let mi = descriptor.control.mi();
        if self.is_emulated(mi) {
            let Some((control, [prsa, plsa])) = self.rebuild(hw, mi, true)? else {
                return Ok(None);
            };
            descriptor = Descriptor {
                page_length: 0,
                control,
                prsa,
                plsa,
                ..descriptor
            };
        } else if self.settings.capabilities.one_page {
            descriptor.control = unforced(descriptor.control);
        }
        let told = descriptor.control.has(Control::NOS);
        Ok(told.then(|| self.sent(descriptor)))
    }

    /// What a report is told as: nothing for a part of an emulated short
    /// message.
    pub(super) fn arrived<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        mut report: Report,
    ) -> Result<Option<Event>, PortErrorOf<H>> {
        let mi = report.control.mi();
        if self.is_emulated(mi) {
            let Some((control, data)) = self.rebuild(hw, mi, false)? else {
                return Ok(None);
            };
            report = Report {
                packet_number: 1,
                control,
                data,
                ..report
            };
            if !report.is_present() {
                return Ok(None);
            }
        }
        self.stats.received += 1;
        Ok(Some(self.received(report)))
    }

    fn sent(&mut self, descriptor: Descriptor) -> Event {
        let mi = descriptor.control.mi();
        trace!("put: node {} sent message {:#08x}", self.settings.node, mi);
        match self.saps.owner(mi) {
            Some(sap) => Event::Sent {
                sap,
                mi,
                descriptor,
            },
            None => {
                self.stats.unclaimed += 1;
                Event::UnclaimedSent { descriptor }
            }
        }
    }

    fn received(&mut self, report: Report) -> Event {
        let mi = report.control.mi();
        trace!(
            "put: node {} received message {:#08x}",
            self.settings.node, mi
        );
        match self.saps.owner(mi) {
            Some(sap) => {
                let data = report.control.has(Control::SM).then_some(report.data);
                Event::Received {
                    sap,
                    mi,
                    data,
                    packets: report.packet_number,
                }
            }
            None => {
                self.stats.unclaimed += 1;
                Event::UnclaimedReceived { report }
            }
        }
    }
}

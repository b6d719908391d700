//! What entries and reports are told as.

use super::driver::{Hardware, Put};
use super::error::PortErrorOf;
use super::event::Event;
use super::pieces::unforced;
use crate::ddc::lme::{Control, Descriptor};
use crate::ddc::lmr::Report;

impl Put {
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

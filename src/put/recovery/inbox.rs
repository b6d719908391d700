//! One look at the chip: reports of the layer, events of others, faults.

use heapless::Vec;

use super::Reliable;
use super::config::RANGE;
use super::peer::{Contact, Owed};
use crate::put::driver::Hardware;
use crate::put::error::{PortErrorOf, ServeError};
use crate::put::event::{Event, Fault};
use crate::put::sap::MiRange;

impl<const PEERS: usize, const JOBS: usize, const EVENTS: usize> Reliable<PEERS, JOBS, EVENTS> {
    /// One look at the chip: what arrived goes to `inbox`.
    pub(super) fn serve<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        inbox: &mut Vec<u32, EVENTS>,
    ) -> Result<(), ServeError<PortErrorOf<H>>> {
        let room = EVENTS - self.arrivals.len();
        let reports = room.min(usize::from(self.config.budget)) as u16;
        // Whoever restarts the driver behind the layer's back may have its SAP
        // with other identifiers.
        let own = self.sap;
        let range = MiRange {
            start: self.first,
            size: RANGE,
        };
        let mut lost = false;
        let Self {
            put, events, stats, ..
        } = self;
        let budgets = [self.config.budget, reports];
        let served = put.poll_each(hw, budgets, &mut |event| match event {
            Event::Received { sap, mi, .. } if sap == own && range.contains(mi) => {
                let _ = inbox.push(mi - range.start);
            }
            Event::Sent { sap, .. } if sap == own => {}
            Event::UnclaimedSent { .. } | Event::UnclaimedReceived { .. } => {}
            event => {
                if let Event::Error { fault, .. } = event {
                    stats.count(fault);
                    lost |= matches!(fault, Fault::Reported { .. });
                }
                // The newest matter less than that the ring goes on.
                let _ = events.push_back(event);
            }
        });
        if lost {
            self.link_error();
        }
        served.map(|_| ())
    }

    /// Something was lost, of whom is not known: whoever may be concerned is
    /// asked, or told.
    fn link_error(&mut self) {
        let now = self.now;
        for peer in &mut self.peers {
            if peer.epoch_in != 0 {
                peer.owe(Owed::Missing);
            }
            if peer.contact == Contact::Open && peer.in_flight() > 0 {
                peer.ask(now);
            }
        }
    }
}

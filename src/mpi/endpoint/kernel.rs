//! The kernel's half of MPI-MPC 1: what happens while the process computes.

use super::Endpoint;
use super::context::Context;
use super::costs::{Costs, charge, message};
use super::step::{Activity, Work};
use crate::mpi::port::Port;
use crate::mpi::trace::{Cause, Trace};
use crate::mpi::wire::{Class, Flags, HEADER_LEN, Header, Kind};
use crate::time::Instant;

impl<T: Copy> Endpoint<'_, T> {
    /// The kernel's half of MPI-MPC 1, while the process computes: notifications
    /// are taken over, at the cost of an interrupt, and credits are exchanged
    /// ([`MpiConfig::kernel_credits`](crate::mpi::MpiConfig::kernel_credits)).
    /// Without interrupts there is no such half.
    pub fn interrupt<P: Port<Token = T>>(
        &mut self,
        port: &mut P,
        now: Instant,
        trace: &mut dyn Trace,
    ) -> Activity {
        self.run(port, now, trace, |endpoint, context| {
            endpoint.choose_in_kernel(context)
        })
    }

    pub(super) fn choose_interrupt<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
    ) -> Option<(Work, Costs)> {
        if !self.interrupts() || self.inbox.is_full() {
            return None;
        }
        let arrival = context.port.arrival()?;
        let _ = self.inbox.push_back(arrival.tag);
        let mut costs = Costs::new();
        charge(&mut costs, Cause::Interrupt, self.config.cost.interrupt);
        self.stats.interrupts += 1;
        Some((Work::Interrupt, costs))
    }

    /// What the handler does: notifications first, then credits.
    fn choose_in_kernel<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
    ) -> Option<(Work, Costs)> {
        if let Some(chosen) = self.choose_interrupt(context) {
            return Some(chosen);
        }
        if !self.interrupts() || !self.config.kernel_credits {
            return None;
        }
        if let Some((peer, slot)) = self.credits_in_inbox(context.port) {
            let costs = self.message_costs(context, peer, slot);
            return Some((Work::Message { peer, slot }, costs));
        }
        for _ in 0..self.busy.len {
            let peer = self.next_busy()?;
            self.wake(peer);
            let entry = self.peers.get(peer as usize)?;
            let credit = entry.credit.filter(|_| entry.is_open());
            let Some(credit) = credit.filter(|_| entry.unsent.is_none() && self.has_room()) else {
                continue;
            };
            // Nothing ordinary goes while the process computes.
            let mut costs = Costs::new();
            charge(&mut costs, Cause::Control, self.config.cost.credit);
            if credit.wants_crdt(false) {
                self.put_cost(&mut costs, peer, message(0), true);
                return Some((Work::Credit(peer), costs));
            }
            if credit.counter_to_write().is_some() {
                self.put_cost(&mut costs, peer, 4, true);
                return Some((Work::Counter(peer), costs));
            }
        }
        None
    }

    /// Takes the notification of a CRDT that is its peer's next message out of
    /// those that wait for the process.
    fn credits_in_inbox<P: Port<Token = T>>(&mut self, port: &mut P) -> Option<(u32, u16)> {
        let mut found = None;
        for _ in 0..self.inbox.len() {
            let tag = self.inbox.pop_front()?;
            if found.is_none()
                && let Some(next) = self.next_is_credit(port, tag)
            {
                found = Some((tag, next));
            } else {
                // The others keep their order.
                let _ = self.inbox.push_back(tag);
            }
        }
        let (tag, next) = found?;
        self.notice(tag);
        Some(next)
    }

    /// The end of an interrupt: all that has come meanwhile needs no other one.
    pub(super) fn take_over<P: Port>(&mut self, port: &mut P) {
        while !self.inbox.is_full()
            && let Some(arrival) = port.arrival()
        {
            let _ = self.inbox.push_back(arrival.tag);
        }
    }

    /// The peer and slot of a notification, when it is of an open peer's next
    /// message, and that is a CRDT without trouble.
    fn next_is_credit<P: Port>(&self, port: &mut P, tag: u32) -> Option<(u32, u16)> {
        let (Class::Control, source, slot) = self.claim(tag)? else {
            return None;
        };
        let peer = self.peers.get(source as usize)?;
        let next = peer.credit.filter(|_| peer.is_open())?.rx_next();
        if slot != next || peer.arrived >> slot & 1 == 1 {
            return None;
        }
        let mut bytes = [0; HEADER_LEN];
        port.load(self.layout.slot(source, slot), &mut bytes).ok()?;
        let header = Header::parse(&bytes).ok()?;
        let plain = header.kind == Kind::Crdt && !header.flags.contains(Flags::ERR);
        plain.then_some((source, slot))
    }
}

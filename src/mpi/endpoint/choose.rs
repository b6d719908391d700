//! Which step is next.

use super::Endpoint;
use super::context::Context;
use super::costs::{Costs, charge, message};
use super::step::Work;
use crate::mpi::credit::Turn;
use crate::mpi::port::Port;
use crate::mpi::trace::Cause;
use crate::mpi::wire::{Entry, Req, Rsp};

impl<T: Copy> Endpoint<'_, T> {
    /// The order of spec: calls first, whose processor this is, then news,
    /// then what can be sent.
    pub(super) fn choose<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
    ) -> Option<(Work, Costs)> {
        if let Some(request) = self.requests.pop(&mut self.finished) {
            let mut costs = Costs::new();
            charge(&mut costs, Cause::Interrupt, self.config.cost.interrupt);
            return Some((Work::Finish(self.requests.name(request)), costs));
        }
        if let Some(request) = self.calls.front()
            && let Some(costs) = self.call_costs(request)
        {
            self.requests.pop(&mut self.calls);
            return Some((Work::Call(self.requests.name(request)), costs));
        }
        if let Some(chosen) = self.choose_arrival(context) {
            return Some(chosen);
        }
        for _ in 0..self.busy.len {
            let peer = self.next_busy()?;
            let entry = self.peers.get(peer as usize)?;
            if !entry.has_work() {
                continue;
            }
            self.wake(peer);
            if let Some(chosen) = self.choose_for(context, peer) {
                return Some(chosen);
            }
        }
        None
    }

    fn choose_arrival<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
    ) -> Option<(Work, Costs)> {
        for _ in 0..self.config.budget {
            while let Some(peer) = self.next_ready() {
                let slot = self.peers.get(peer as usize)?.next_arrived();
                if let Some(slot) = slot {
                    let costs = self.message_costs(context, peer, slot);
                    return Some((Work::Message { peer, slot }, costs));
                }
            }
            let tag = match self.inbox.pop_front() {
                Some(tag) => tag,
                None if self.interrupts() => match self.choose_interrupt(context) {
                    Some(chosen) => return Some(chosen),
                    None => break,
                },
                None => match context.port.arrival() {
                    Some(arrival) => arrival.tag,
                    None => break,
                },
            };
            if let Some((peer, index)) = self.notice(tag) {
                let mut costs = self.look_costs();
                let cost = self.config.cost.control_receive;
                charge(&mut costs, Cause::Control, cost);
                return Some((Work::Landed { peer, index }, costs));
            }
        }
        let peer = self.look_into_slots(context)?;
        let slot = self.peers.get(peer as usize)?.next_arrived()?;
        let costs = self.message_costs(context, peer, slot);
        Some((Work::Message { peer, slot }, costs))
    }

    /// Whether another transfer can be kept track of.
    pub(super) fn has_room(&self) -> bool {
        !self.full && self.flights.iter().any(Option::is_none)
    }

    /// Whether a peer lives on this node: what goes to it is copied.
    pub(super) fn is_neighbour(&self, peer: u32) -> bool {
        let entry = self.peers.get(peer as usize);
        entry.is_some_and(|peer| peer.entry.node == self.place.node)
    }

    fn choose_for<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
    ) -> Option<(Work, Costs)> {
        let room = self.has_room();
        if !room {
            return None;
        }
        self.read_counter(context, peer);
        let cost = self.config.cost;
        let entry = self.peers.get(peer as usize)?;
        let credit = entry.credit?;
        if entry.unsent.is_some() {
            return Some((Work::Retry(peer), Costs::new()));
        }
        if entry.farewell {
            let mut costs = Costs::new();
            self.put_cost(&mut costs, peer, message(0), true);
            return Some((Work::Farewell(peer), costs));
        }
        let answer = self.answer_waits(peer);
        let entry = self.peers.get(peer as usize)?;
        let offer = !answer && self.offer_waits(entry);
        let turn = credit.turn(answer || offer, !entry.waiting.is_empty());
        let mut costs = Costs::new();
        let kernel = |costs: &mut Costs| {
            if self.interrupts() {
                charge(costs, Cause::SystemCall, cost.system_call);
            }
        };
        match turn {
            Some(Turn::Crdt) => {
                charge(&mut costs, Cause::Control, cost.credit);
                self.put_cost(&mut costs, peer, message(0), true);
                return Some((Work::Credit(peer), costs));
            }
            Some(Turn::Rsp) => {
                charge(&mut costs, Cause::Control, cost.control_send);
                kernel(&mut costs);
                if offer {
                    let payload = (Rsp::HEAD_LEN + Entry::WIRE_LEN) as u64;
                    self.put_cost(&mut costs, peer, message(payload), true);
                    return Some((Work::Offer(peer), costs));
                }
                let payload = self.answer_length(context.port, peer);
                self.put_cost(&mut costs, peer, message(payload), true);
                return Some((Work::Answer(peer), costs));
            }
            Some(Turn::Envelope) | None => {}
        }
        if credit.counter_to_write().is_some() {
            charge(&mut costs, Cause::Control, cost.credit);
            self.put_cost(&mut costs, peer, 4, true);
            return Some((Work::Counter(peer), costs));
        }
        if self.data_flights < self.config.data_in_flight
            && let Some(piece) = self.next_piece(context.port, peer)
        {
            if piece.starts && !piece.paid {
                kernel(&mut costs);
            }
            if !piece.paid {
                self.put_cost(&mut costs, peer, piece.length, piece.starts);
            }
            return Some((Work::Piece(peer), costs));
        }
        if turn == Some(Turn::Envelope) {
            let request = self.peers.get(peer as usize)?.waiting.front()?;
            let bytes = self.short_length(peer, request);
            charge(&mut costs, Cause::Copy, cost.copy(bytes.unwrap_or(0)));
            kernel(&mut costs);
            // A REQ has a payload of its own.
            let payload = bytes.unwrap_or(Req::WIRE_LEN as u64);
            self.put_cost(&mut costs, peer, message(payload), true);
            return Some((Work::Envelope(peer), costs));
        }
        None
    }
}

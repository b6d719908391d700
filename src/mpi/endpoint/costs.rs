//! What steps cost.

use heapless::Vec;

use super::Endpoint;
use super::context::Context;
use super::request::{Mode, Op, Receiving};
use super::storage::Unmatched;
use crate::mpi::config::Policy;
use crate::mpi::port::Port;
use crate::mpi::trace::Cause;
use crate::mpi::wire::{HEADER_LEN, Header, Kind, MAX_PAYLOAD, wire_len};
use crate::time::Duration;

/// Bytes of a control message with `payload` bytes.
pub(super) const fn message(payload: u64) -> u64 {
    wire_len(payload as usize) as u64
}

/// What a step costs, part after part.
pub(super) type Costs = Vec<(Cause, Duration), 6>;

pub(super) fn charge(costs: &mut Costs, cause: Cause, time: Duration) {
    if time > Duration::ZERO {
        // No step has more parts.
        let _ = costs.push((cause, time));
    }
}

impl<T: Copy> Endpoint<'_, T> {
    pub(super) fn interrupts(&self) -> bool {
        self.config.policy == Policy::Interrupt
    }

    pub(super) fn is_long(&self, mode: Mode, length: u64) -> bool {
        length > u64::from(self.config.eager_max) || mode == Mode::Synchronous
    }

    /// What a call costs; none when it must not begin yet.
    pub(super) fn call_costs(&self, request: u16) -> Option<Costs> {
        let cost = &self.config.cost;
        let mut costs = Costs::new();
        match self.requests.op(request) {
            Op::Send(op) => {
                let length = op.send.buffer.len;
                charge(&mut costs, Cause::SendSoftware, cost.send);
                if op.send.dst == self.place.rank {
                    charge(&mut costs, Cause::Copy, cost.copy(length));
                } else if self.interrupts() && self.is_long(op.send.mode, length) {
                    // Pages are pinned while nothing of this process is under
                    // way: that is what costs the record its bandwidth.
                    if self.data_flights > 0 || self.chunks > 0 {
                        return None;
                    }
                    charge(&mut costs, Cause::Pin, cost.pin(length));
                }
            }
            Op::Recv(op) => {
                let length = op.recv.buffer.len;
                charge(&mut costs, Cause::ReceiveSoftware, cost.post);
                if self.interrupts() && length > u64::from(self.config.eager_max) {
                    charge(&mut costs, Cause::Pin, cost.pin(length));
                }
                if let (Receiving::Called, Some((_, message))) =
                    (op.state, self.matcher.probe(&op.recv.pattern))
                {
                    let bytes = match message.0 {
                        Unmatched::Short { length, .. } => u64::from(length),
                        Unmatched::Own { request } => match self.requests.op(request) {
                            Op::Send(op) => op.send.buffer.len,
                            _ => 0,
                        },
                        Unmatched::Long { .. } => 0,
                    };
                    charge(&mut costs, Cause::Copy, cost.copy(bytes.min(length)));
                }
            }
            Op::Free | Op::Done(_) => {}
        }
        Some(costs)
    }

    /// Finding a notification, and getting it into the process.
    pub(super) fn look_costs(&self) -> Costs {
        let cost = &self.config.cost;
        let mut costs = Costs::new();
        if self.interrupts() {
            // One to fetch the event, one to return from the receive.
            charge(&mut costs, Cause::SystemCall, cost.system_calls(2));
        } else {
            charge(&mut costs, Cause::PollDetect, cost.poll_detect);
        }
        costs
    }

    pub(super) fn message_costs<P: Port>(
        &mut self,
        context: &mut Context<'_, P>,
        peer: u32,
        slot: u16,
    ) -> Costs {
        let cost = self.config.cost;
        let mut bytes = [0; HEADER_LEN];
        let addr = self.layout.slot(peer, slot);
        let header = match context.port.load(addr, &mut bytes) {
            Ok(()) => Header::parse(&bytes).ok(),
            Err(_) => None,
        };
        let mut costs = self.look_costs();
        match header.map(|header| (header.kind, header.length)) {
            Some((Kind::Short, length)) => {
                charge(&mut costs, Cause::ReceiveSoftware, cost.receive);
                let length = length.min(MAX_PAYLOAD as u32);
                charge(&mut costs, Cause::Copy, cost.copy(length.into()));
            }
            Some((Kind::Req, _)) => charge(&mut costs, Cause::ReceiveSoftware, cost.receive),
            Some((Kind::Rsp, _)) => charge(&mut costs, Cause::Control, cost.control_receive),
            Some((Kind::Crdt, _)) | None => {
                // Credits are counted where they are found.
                costs.clear();
                charge(&mut costs, Cause::Control, cost.credit);
            }
        }
        costs
    }

    /// Handing `bytes` to the transport for `peer`.
    pub(super) fn put_cost(&self, costs: &mut Costs, peer: u32, bytes: u64, first: bool) {
        let cost = &self.config.cost;
        if self.is_neighbour(peer) {
            charge(costs, Cause::Copy, cost.copy(bytes));
        } else if first {
            charge(costs, Cause::Put, cost.put);
        } else {
            charge(costs, Cause::Put, cost.posting_period);
        }
    }
}

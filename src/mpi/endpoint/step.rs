//! The sequential processor: steps begin and take effect.

use core::mem;

use managed::ManagedSlice;

use super::Endpoint;
use super::context::Context;
use super::costs::Costs;
use super::request::{Op, Receiving, Request, Sending};
use super::storage::SCRATCH_BYTES;
use crate::mpi::port::Port;
use crate::mpi::trace::Trace;
use crate::remote::Progress;
use crate::time::Instant;

/// What an endpoint is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Activity {
    /// A step is under way: come back at that time, when it takes effect.
    Busy {
        /// When the step ends.
        until: Instant,
    },
    /// There is nothing to do until the port has news, or the user calls.
    Idle,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) enum Work {
    /// The software of a call of the user.
    Call(Request),
    /// Telling of the end of a send.
    Finish(Request),
    /// An interrupt: notifications are taken over.
    Interrupt,
    /// A control message.
    Message { peer: u32, slot: u16 },
    /// The end of a data message.
    Landed { peer: u32, index: u16 },
    /// Handing over what the transport had no room for.
    Retry(u32),
    /// A CRDT.
    Credit(u32),
    /// Telling a peer that the link is closed.
    Farewell(u32),
    /// Writing a counter of consumed slots.
    Counter(u32),
    /// An RSP.
    Answer(u32),
    /// A landing offer.
    Offer(u32),
    /// A SHORT or a REQ.
    Envelope(u32),
    /// A descriptor of a data message.
    Piece(u32),
}

impl<T: Copy> Endpoint<'_, T> {
    /// Does what can be done at `now`, which must not go back: ends the step
    /// that is over by then, and starts others until one takes time or none is
    /// left.
    ///
    /// While the endpoint is busy, calls before the end of the step do nothing.
    pub fn progress<P: Port<Token = T>>(
        &mut self,
        port: &mut P,
        now: Instant,
        trace: &mut dyn Trace,
    ) -> Activity {
        self.run(port, now, trace, Self::choose)
    }

    pub(super) fn run<P: Port<Token = T>>(
        &mut self,
        port: &mut P,
        now: Instant,
        trace: &mut dyn Trace,
        choose: impl Fn(&mut Self, &mut Context<'_, P>) -> Option<(Work, Costs)>,
    ) -> Activity {
        if now < self.until {
            return Activity::Busy { until: self.until };
        }
        if port.poll().is_err() {
            self.stats.port_errors += 1;
        }
        // Lent to the steps; nobody else looks at it.
        let nothing = ManagedSlice::Borrowed(&mut []);
        let mut scratch = mem::replace(&mut self.scratch, nothing);
        let half = scratch.len().min(SCRATCH_BYTES) / 2;
        let (rx, tx) = scratch.split_at_mut(half);
        let mut context = Context {
            port,
            rx,
            tx,
            trace,
            now,
        };
        self.full = false;
        let mut changed = self.reap(&mut context);
        let mut activity = Activity::Busy { until: now };
        for _ in 0..self.config.budget {
            if let Some(work) = self.work.take() {
                self.act(&mut context, work);
                changed = true;
            }
            let Some((work, costs)) = choose(self, &mut context) else {
                activity = Activity::Idle;
                break;
            };
            let mut at = now;
            for (cause, time) in costs {
                context.trace.span(cause, at, at + time);
                at = at + time;
            }
            self.work = Some(work);
            self.until = at;
            if at > now {
                activity = Activity::Busy { until: at };
                break;
            }
        }
        self.scratch = scratch;
        if cfg!(debug_assertions) && changed && self.broken.is_none() {
            self.broken = self.check_invariants().err();
        }
        activity
    }

    fn act<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>, work: Work) {
        match work {
            Work::Call(request) => self.end_call(context, request),
            Work::Finish(request) => self.end_send(request),
            Work::Interrupt => self.take_over(context.port),
            Work::Message { peer, slot } => self.receive(context, peer, slot),
            Work::Landed { peer, index } => self.landed(context, peer, index),
            Work::Retry(peer) => self.retry(context, peer),
            Work::Credit(peer) => self.send_credit(context, peer),
            Work::Farewell(peer) => self.send_farewell(context, peer),
            Work::Counter(peer) => self.write_counter(context, peer),
            Work::Answer(peer) => self.answer(context, peer),
            Work::Offer(peer) => self.send_offer(context, peer),
            Work::Envelope(peer) => self.send_envelope(context, peer),
            Work::Piece(peer) => self.send_piece(context, peer),
        }
    }

    /// Transfers that have left, or are lost; whether there was one.
    fn reap<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>) -> bool {
        let mut any = false;
        for index in 0..self.flights.len() {
            let Some(flight) = self.flights.get(index).copied().flatten() else {
                continue;
            };
            let over = match context.port.progress(&flight.token) {
                Ok(Progress::Pending) => continue,
                Ok(Progress::Sent) => Ok(()),
                Err(_) => Err(()),
            };
            any = true;
            if let Some(place) = self.flights.get_mut(index) {
                *place = None;
            }
            if let Some(request) = flight.request {
                self.departed(request);
            }
            if over.is_err() {
                self.close(flight.peer, super::CloseReason::Transfer);
            }
        }
        any
    }

    /// The end of the software of a call: the request goes where it belongs.
    fn end_call<P: Port<Token = T>>(&mut self, context: &mut Context<'_, P>, request: Request) {
        // It may have been cancelled meanwhile.
        let Some(request) = self.requests.find(request) else {
            return;
        };
        match self.requests.op(request) {
            Op::Send(op) if op.state == Sending::Called => {
                let peer = op.send.dst;
                if let Err(error) = self.check_peer(peer) {
                    self.complete(request, Err(error));
                } else if peer == self.place.rank {
                    self.send_to_self(context, request);
                } else {
                    self.queue(request);
                }
            }
            Op::Recv(op) if op.state == Receiving::Called => self.post(context, request),
            _ => {}
        }
    }
}

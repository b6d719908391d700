//! Messages to oneself: the same queues, one copy, no network.

use super::Endpoint;
use super::context::{Context, check, copy_across, gather};
use super::error::EndpointError;
use super::pool::counted;
use super::request::{Op, Sending};
use super::storage::{Message, Unmatched};
use crate::mpi::matching::Arrived;
use crate::mpi::port::Port;

impl<T: Copy> Endpoint<'_, T> {
    /// A send to oneself, once its call is over. Short ones complete at once;
    /// longer and synchronous ones when a receive takes them.
    pub(super) fn send_to_self<P: Port<Token = T>>(
        &mut self,
        context: &mut Context<'_, P>,
        request: u16,
    ) {
        let Op::Send(mut op) = self.requests.op(request) else {
            return;
        };
        let (rank, buffer) = (self.place.rank, op.send.buffer);
        let envelope = op.send.envelope();
        if check(context.port, buffer).is_err() {
            return self.complete(request, Err(buffer.bad()));
        }
        let waits = self.matcher.would_match(&envelope).is_none();
        if waits && self.matcher.unexpected_room() == 0 {
            let limit = self.matcher.unexpected_len();
            return self.complete(request, Err(EndpointError::UnexpectedFull { limit }));
        }
        let kept = if waits {
            self.keep_own(context, request)
        } else {
            None
        };
        let message = kept.unwrap_or(Unmatched::Own { request });
        op.state = Sending::Own;
        self.requests.put(request, Op::Send(op));
        match self.matcher.arrive(envelope, Message(message)) {
            Ok(Arrived::Matched { receive, .. }) => self.join(context, request, receive),
            Ok(Arrived::Unexpected(_)) => {
                self.stats.unexpected += 1;
                if let Some(own) = self.peer(rank) {
                    own.unexpected += 1;
                }
                if kept.is_some() {
                    self.complete(request, Ok(op.send.receipt()));
                }
            }
            // There was room.
            Err(_) => self.complete(request, Err(buffer.bad())),
        }
    }

    /// A copy of a short message, if the own share of the pool has room.
    fn keep_own<P: Port>(
        &mut self,
        context: &mut Context<'_, P>,
        request: u16,
    ) -> Option<Unmatched> {
        let Op::Send(op) = self.requests.op(request) else {
            return None;
        };
        let length = op.send.buffer.len;
        let held = self.own_held + counted(length.min(1 << 32));
        let share = self.config.unexpected_bytes / self.place.ranks.max(1);
        if self.is_long(op.send.mode, length) || held > u64::from(share) {
            return None;
        }
        let chain = self.pool.take(length)?;
        let bytes = context.rx.get_mut(..length as usize)?;
        let kept = gather(context.port, op.send.buffer, bytes).is_ok_and(|()| {
            self.pool
                .fill(context.port, &self.layout, chain, bytes)
                .is_ok()
        });
        if !kept {
            self.pool.give_back(chain);
            return None;
        }
        self.own_held = held;
        Some(Unmatched::Short {
            peer: self.place.rank,
            length: length as u32,
            chain,
        })
    }

    /// A send to oneself meets its receive.
    pub(super) fn join<P: Port>(&mut self, context: &mut Context<'_, P>, send: u16, receive: u16) {
        let Op::Send(op) = self.requests.op(send) else {
            return;
        };
        let (rank, from) = (self.place.rank, op.send.buffer);
        let Some(recv) = self.matched(receive, rank, op.send.envelope(), from.len) else {
            return;
        };
        let put = copy_across(
            context.port,
            from.addr,
            recv.recv.buffer.addr,
            recv.accept(),
        );
        self.received(receive, &recv, put);
        self.complete(send, Ok(op.send.receipt()));
    }
}

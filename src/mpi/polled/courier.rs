//! The messages of the operations, between them and their endpoint.

use core::cell::RefCell;

use super::desk::{Desk, Message, ShareId, Ticket};
use crate::mpi::endpoint::{Activity, Endpoint};
use crate::mpi::port::Port;
use crate::mpi::process::{MpiError, Status};
use crate::mpi::trace::Trace;
use crate::time::Instant;

/// Carries the messages of collective operations, `N` at once, between the slices of
/// the program and the node's memory.
///
/// Bytes of messages that are under way lie in the caller's `staging` and, at the same
/// offsets, in a window of the node's memory. An operation takes its part of messages
/// and bytes when it begins and gives it back at its end.
#[derive(Debug)]
pub struct Courier<'a, const N: usize> {
    desk: RefCell<Desk<'a, N>>,
}

#[cfg(feature = "defmt")]
impl<const N: usize> defmt::Format for Courier<'_, N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Courier {{ {} of {} }}", self.messages(), N);
    }
}

impl<'a, const N: usize> Courier<'a, N> {
    /// Messages pass through `staging` and as many bytes of the node's memory from the
    /// process's address `window` on, which nobody else may use.
    pub const fn new(staging: &'a mut [u8], window: u64) -> Self {
        Self {
            desk: RefCell::new(Desk::new(staging, window)),
        }
    }

    /// Bytes of messages that may be under way.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.desk.borrow().capacity()
    }

    /// Messages under way: of operations that are not at their end, or that were
    /// dropped before it.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.desk.borrow().messages()
    }

    /// Gives the endpoint what operations have asked for, and the operations what has
    /// become of it. The endpoint makes no progress.
    pub fn serve<T: Copy, P: Port<Token = T>>(&self, endpoint: &mut Endpoint<'_, T>, port: &mut P) {
        let desk = &mut *self.desk.borrow_mut();
        desk.collect(endpoint, port);
        while let Some(index) = desk.next_call() {
            desk.begin(index, endpoint, port);
        }
    }

    /// A step of the endpoint with the messages of the operations: to be called until
    /// they are at their end. Its answer is the endpoint's.
    pub fn progress<T: Copy, P: Port<Token = T>>(
        &self,
        endpoint: &mut Endpoint<'_, T>,
        port: &mut P,
        now: Instant,
        trace: &mut dyn Trace,
    ) -> Activity {
        self.serve(endpoint, port);
        let activity = endpoint.progress(port, now, trace);
        self.serve(endpoint, port);
        activity
    }

    /// Takes a share for an operation; none for no messages.
    pub(super) fn take(&self, messages: usize, bytes: usize) -> Result<Option<ShareId>, MpiError> {
        match messages {
            0 => Ok(None),
            _ => self.desk.borrow_mut().take(messages, bytes).map(Some),
        }
    }

    /// The operation is gone.
    pub(super) fn give_back(&self, share: ShareId) {
        self.desk.borrow_mut().give_back(share);
    }

    /// Asks for messages of the same bytes, one for each of `messages`; `write` puts
    /// the bytes of sends.
    pub(super) fn ask(
        &self,
        share: ShareId,
        messages: impl Iterator<Item = Message>,
        length: usize,
        write: impl FnOnce(&mut [u8]),
        mut each: impl FnMut(Ticket) -> Result<(), MpiError>,
    ) -> Result<(), MpiError> {
        let mut messages = messages.peekable();
        if messages.peek().is_none() {
            return Ok(());
        }
        let start = self.desk.borrow_mut().write(share, length, write)?;
        for message in messages {
            let called = self.desk.borrow_mut().call(share, message, start, length);
            each(called?)?;
        }
        Ok(())
    }

    /// The result of a message; `read` is given the bytes of a receive. The ticket is
    /// spent with it.
    pub(super) fn result(
        &self,
        ticket: &Ticket,
        read: impl FnOnce(&Status, &[u8]) -> Result<(), MpiError>,
    ) -> Option<Result<(), MpiError>> {
        self.desk.borrow_mut().result(ticket, read)
    }

    /// Nobody will ask for the result: the message goes on by itself.
    pub(super) fn release(&self, ticket: &Ticket) {
        self.desk.borrow_mut().release(ticket);
    }
}

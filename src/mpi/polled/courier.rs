//! The messages of the operations, between them and their endpoint.

use core::cell::RefCell;

use crate::mpi::convert;
use crate::mpi::endpoint::{Activity, Endpoint, Request};
use crate::mpi::port::Port;
use crate::mpi::process::{MpiError, Outgoing, Pattern, Status};
use crate::mpi::trace::Trace;
use crate::time::Instant;

/// Carries the messages of collective operations, `N` at once, between the slices of
/// the program and the node's memory.
///
/// Bytes of messages that are under way lie in the caller's `staging` and, at the same
/// offsets, in a window of the node's memory. Each operation takes its part of both
/// while it needs it.
#[derive(Debug)]
pub struct Courier<'a, const N: usize> {
    desk: RefCell<Desk<'a, N>>,
}

#[derive(Debug)]
struct Desk<'a, const N: usize> {
    staging: &'a mut [u8],
    /// Address of the window.
    window: u64,
    jobs: [Job; N],
    /// Messages called so far.
    calls: u64,
}

/// A message that an operation has asked for.
#[derive(Clone, Copy, Debug)]
struct Job {
    phase: Phase,
    /// Its operation is gone: nobody asks for the result.
    released: bool,
    /// Its place in the order of calls.
    call: u64,
    /// Where its bytes lie.
    start: usize,
    length: usize,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Free,
    /// The endpoint does not know it yet.
    Called(Message),
    Started {
        request: Request,
        receive: bool,
    },
    Done(Result<Status, MpiError>),
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Message {
    Send(Outgoing),
    Receive { pattern: Pattern, peer: Option<u32> },
}

/// Names a message of an operation, until it is given back.
#[derive(Debug)]
pub(super) struct Ticket(usize);

#[cfg(feature = "defmt")]
impl<const N: usize> defmt::Format for Courier<'_, N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Courier {{ {} of {} }}", self.messages(), N);
    }
}

impl Job {
    const FREE: Self = Self {
        phase: Phase::Free,
        released: false,
        call: 0,
        start: 0,
        length: 0,
    };

    const fn is_free(&self) -> bool {
        matches!(self.phase, Phase::Free)
    }

    const fn end(&self) -> usize {
        self.start.saturating_add(self.length)
    }

    fn finish(&mut self, result: Result<Status, MpiError>) {
        self.phase = match self.released {
            true => Phase::Free,
            false => Phase::Done(result),
        };
    }
}

impl<'a, const N: usize> Courier<'a, N> {
    /// Messages pass through `staging` and as many bytes of the node's memory from the
    /// process's address `window` on, which nobody else may use.
    pub const fn new(staging: &'a mut [u8], window: u64) -> Self {
        let desk = Desk {
            staging,
            window,
            jobs: [Job::FREE; N],
            calls: 0,
        };
        Self {
            desk: RefCell::new(desk),
        }
    }

    /// Bytes of messages that may be under way.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.desk.borrow().staging.len()
    }

    /// Messages under way: of operations that are not at their end, or that were
    /// dropped before it.
    #[must_use]
    pub fn messages(&self) -> usize {
        let desk = self.desk.borrow();
        desk.jobs.iter().filter(|job| !job.is_free()).count()
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

    /// Asks for messages of the same bytes, one for each of `messages`; `write` puts
    /// the bytes of sends.
    pub(super) fn ask(
        &self,
        messages: impl Iterator<Item = Message>,
        length: usize,
        write: impl FnOnce(&mut [u8]),
        mut each: impl FnMut(Ticket) -> Result<(), MpiError>,
    ) -> Result<(), MpiError> {
        let mut messages = messages.peekable();
        if messages.peek().is_none() {
            return Ok(());
        }
        let start = self.desk.borrow_mut().room(length, write)?;
        for message in messages {
            let ticket = self.desk.borrow_mut().call(message, start, length)?;
            each(ticket)?;
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
        let desk = &mut *self.desk.borrow_mut();
        let job = desk.jobs.get_mut(ticket.0)?;
        let Phase::Done(result) = job.phase else {
            return None;
        };
        let (start, end) = (job.start, job.end());
        *job = Job::FREE;
        let bytes = desk.staging.get(start..end).unwrap_or(&[]);
        Some(result.and_then(|status| {
            let length = usize::try_from(status.length).unwrap_or(usize::MAX);
            read(&status, bytes.get(..length).unwrap_or(bytes))
        }))
    }

    /// Nobody will ask for the result: the message goes on by itself.
    pub(super) fn release(&self, ticket: &Ticket) {
        if let Some(job) = self.desk.borrow_mut().jobs.get_mut(ticket.0) {
            match job.phase {
                Phase::Done(_) => *job = Job::FREE,
                _ => job.released = true,
            }
        }
    }
}

impl<const N: usize> Desk<'_, N> {
    /// The lowest place for `length` bytes, which `write` puts there.
    fn room(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> Result<usize, MpiError> {
        let mut start = 0usize;
        if length > 0 {
            let jobs = || self.jobs.iter().filter(|job| !job.is_free());
            // Each step goes beyond a message, so it ends.
            while let Some(job) = jobs()
                .filter(|job| job.length > 0)
                .find(|job| job.start < start.saturating_add(length) && start < job.end())
            {
                start = job.end();
            }
        }
        let limit = self.staging.len() as u64;
        let place = self.staging.get_mut(start..start.saturating_add(length));
        write(place.ok_or(MpiError::Resource { limit })?);
        Ok(start)
    }

    fn call(&mut self, message: Message, start: usize, length: usize) -> Result<Ticket, MpiError> {
        let full = MpiError::Resource { limit: N as u64 };
        let index = self.jobs.iter().position(Job::is_free).ok_or(full)?;
        if let Some(job) = self.jobs.get_mut(index) {
            *job = Job {
                phase: Phase::Called(message),
                released: false,
                call: self.calls,
                start,
                length,
            };
            self.calls += 1;
        }
        Ok(Ticket(index))
    }

    /// Takes in what is complete.
    fn collect<T: Copy, P: Port<Token = T>>(
        &mut self,
        endpoint: &mut Endpoint<'_, T>,
        port: &mut P,
    ) {
        for job in &mut self.jobs {
            let Phase::Started { request, receive } = job.phase else {
                continue;
            };
            let Some(result) = endpoint.test(request) else {
                continue;
            };
            let mut result = result.map(convert::status).map_err(convert::error);
            if let (true, Ok(status)) = (receive, &result) {
                let length = usize::try_from(status.length).unwrap_or(usize::MAX);
                let end = job.start.saturating_add(length.min(job.length));
                let addr = self.window.saturating_add(job.start as u64);
                let place = self.staging.get_mut(job.start..end).unwrap_or(&mut []);
                if !load(port, addr, place) {
                    let len = place.len() as u64;
                    result = Err(MpiError::Unreachable { addr, len });
                }
            }
            job.finish(result);
        }
    }

    /// The message that was asked for first, of those that the endpoint does not know.
    fn next_call(&self) -> Option<usize> {
        let jobs = self.jobs.iter().enumerate();
        let called = jobs.filter(|(_, job)| matches!(job.phase, Phase::Called(_)));
        called
            .min_by_key(|(_, job)| job.call)
            .map(|(index, _)| index)
    }

    fn begin<T: Copy, P: Port<Token = T>>(
        &mut self,
        index: usize,
        endpoint: &mut Endpoint<'_, T>,
        port: &mut P,
    ) {
        let Some(job) = self.jobs.get_mut(index) else {
            return;
        };
        let Phase::Called(message) = job.phase else {
            return;
        };
        let addr = self.window.saturating_add(job.start as u64);
        let len = job.length as u64;
        let started = match message {
            Message::Receive { pattern, peer } => {
                endpoint.irecv(convert::receive(&pattern, peer, addr, len))
            }
            Message::Send(to) => {
                let bytes = self.staging.get(job.start..job.end()).unwrap_or(&[]);
                if !store(port, addr, bytes) {
                    return job.finish(Err(MpiError::Unreachable { addr, len }));
                }
                endpoint.isend(convert::send(&to, addr, len))
            }
        };
        let receive = matches!(message, Message::Receive { .. });
        match started {
            Ok(request) => job.phase = Phase::Started { request, receive },
            Err(error) => job.finish(Err(convert::error(error))),
        }
    }
}

/// Copies from the process's address `addr`; whether all of it was there.
fn load<P: Port>(port: &mut P, mut addr: u64, mut place: &mut [u8]) -> bool {
    while !place.is_empty() {
        let Some(piece) = port.piece(addr, place.len() as u64) else {
            return false;
        };
        let Some((now, later)) = place.split_at_mut_checked(piece.len as usize) else {
            return false;
        };
        if now.is_empty() || port.load(piece.addr, now).is_err() {
            return false;
        }
        addr = addr.saturating_add(piece.len);
        place = later;
    }
    true
}

/// Copies to the process's address `addr`; whether all of it is there.
fn store<P: Port>(port: &mut P, mut addr: u64, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let Some(piece) = port.piece(addr, bytes.len() as u64) else {
            return false;
        };
        let Some((now, later)) = bytes.split_at_checked(piece.len as usize) else {
            return false;
        };
        if now.is_empty() || port.store(piece.addr, now).is_err() {
            return false;
        }
        addr = addr.saturating_add(piece.len);
        bytes = later;
    }
    true
}

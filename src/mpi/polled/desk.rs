//! What a courier keeps: messages, and who has taken which part of its bytes.

use crate::mpi::convert;
use crate::mpi::endpoint::{Endpoint, Request};
use crate::mpi::port::Port;
use crate::mpi::process::{MpiError, Outgoing, Pattern, Status};

#[derive(Debug)]
pub(super) struct Desk<'a, const N: usize> {
    staging: &'a mut [u8],
    /// Address of the window.
    window: u64,
    jobs: [Job; N],
    /// What the operations under way have taken.
    shares: [Share; N],
    /// Messages called so far.
    calls: u64,
}

/// What an operation has taken: so many messages, in these bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// 0: nobody's.
    messages: usize,
    start: usize,
    length: usize,
}

/// Names the share of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShareId(usize);

/// A message that an operation has asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    phase: Phase,
    /// Nobody asks for the result.
    released: bool,
    /// None when its operation is gone.
    share: Option<ShareId>,
    /// Its place in the order of calls.
    call: u64,
    /// Where its bytes lie.
    start: usize,
    length: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
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

impl Share {
    const FREE: Self = Self {
        messages: 0,
        start: 0,
        length: 0,
    };

    const fn end(&self) -> usize {
        self.start.saturating_add(self.length)
    }
}

impl Job {
    const FREE: Self = Self {
        phase: Phase::Free,
        released: false,
        share: None,
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

impl<'a, const N: usize> Desk<'a, N> {
    pub(super) const fn new(staging: &'a mut [u8], window: u64) -> Self {
        Self {
            staging,
            window,
            jobs: [Job::FREE; N],
            shares: [Share::FREE; N],
            calls: 0,
        }
    }

    pub(super) const fn capacity(&self) -> usize {
        self.staging.len()
    }

    pub(super) fn messages(&self) -> usize {
        self.jobs.iter().filter(|job| !job.is_free()).count()
    }

    /// The operation of a share is gone; what it has called goes on.
    pub(super) fn give_back(&mut self, share: ShareId) {
        for job in &mut self.jobs {
            job.share = job.share.filter(|of| *of != share);
        }
        if let Some(share) = self.shares.get_mut(share.0) {
            *share = Share::FREE;
        }
    }

    /// The result of a message, once; `read` is given the bytes of a receive.
    pub(super) fn result(
        &mut self,
        ticket: &Ticket,
        read: impl FnOnce(&Status, &[u8]) -> Result<(), MpiError>,
    ) -> Option<Result<(), MpiError>> {
        let job = self.jobs.get_mut(ticket.0)?;
        let Phase::Done(result) = job.phase else {
            return None;
        };
        let (start, end) = (job.start, job.end());
        *job = Job::FREE;
        let bytes = self.staging.get(start..end).unwrap_or(&[]);
        Some(result.and_then(|status| {
            let length = usize::try_from(status.length).unwrap_or(usize::MAX);
            read(&status, bytes.get(..length).unwrap_or(bytes))
        }))
    }

    pub(super) fn release(&mut self, ticket: &Ticket) {
        if let Some(job) = self.jobs.get_mut(ticket.0) {
            match job.phase {
                Phase::Done(_) => *job = Job::FREE,
                _ => job.released = true,
            }
        }
    }

    /// A share beside the others, and beside messages whose operations are gone.
    pub(super) fn take(&mut self, messages: usize, length: usize) -> Result<ShareId, MpiError> {
        let full = MpiError::Resource { limit: N as u64 };
        let taken: usize = self.shares.iter().map(|share| share.messages).sum();
        let orphans = || {
            let jobs = self.jobs.iter();
            jobs.filter(|job| !job.is_free() && job.share.is_none())
        };
        if taken.saturating_add(orphans().count()) > N.saturating_sub(messages) || messages > N {
            return Err(full);
        }
        let shares = || self.shares.iter().map(|share| (share.start, share.end()));
        let used = || shares().chain(orphans().map(|job| (job.start, job.end())));
        let start = lowest(0, length, used);
        let limit = self.staging.len();
        if start.saturating_add(length) > limit {
            return Err(MpiError::Resource {
                limit: limit as u64,
            });
        }
        let free = self.shares.iter().position(|share| share.messages == 0);
        let index = free.ok_or(full)?;
        if let Some(share) = self.shares.get_mut(index) {
            *share = Share {
                messages,
                start,
                length,
            };
        }
        Ok(ShareId(index))
    }

    /// The lowest place for `length` bytes in a share, which `write` puts there.
    pub(super) fn write(
        &mut self,
        share: ShareId,
        length: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<usize, MpiError> {
        let whole = self.shares.get(share.0).copied().unwrap_or(Share::FREE);
        let jobs = || self.jobs.iter().filter(|job| !job.is_free());
        let own = || jobs().filter(|job| job.share == Some(share));
        let used = || own().map(|job| (job.start, job.end()));
        let start = lowest(whole.start, length, used);
        let end = start.saturating_add(length);
        let place = self.staging.get_mut(start..end);
        let place = place.filter(|_| end <= whole.end());
        write(place.ok_or(MpiError::Resource {
            limit: whole.length as u64,
        })?);
        Ok(start)
    }

    pub(super) fn call(
        &mut self,
        share: ShareId,
        message: Message,
        start: usize,
        length: usize,
    ) -> Result<Ticket, MpiError> {
        let full = MpiError::Resource { limit: N as u64 };
        let index = self.jobs.iter().position(Job::is_free).ok_or(full)?;
        if let Some(job) = self.jobs.get_mut(index) {
            *job = Job {
                phase: Phase::Called(message),
                released: false,
                share: Some(share),
                call: self.calls,
                start,
                length,
            };
            self.calls += 1;
        }
        Ok(Ticket(index))
    }

    /// Takes in what is complete.
    pub(super) fn collect<T: Copy, P: Port<Token = T>>(
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
    pub(super) fn next_call(&self) -> Option<usize> {
        let jobs = self.jobs.iter().enumerate();
        let called = jobs.filter(|(_, job)| matches!(job.phase, Phase::Called(_)));
        called
            .min_by_key(|(_, job)| job.call)
            .map(|(index, _)| index)
    }

    pub(super) fn begin<T: Copy, P: Port<Token = T>>(
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

/// The lowest start from `from` on of `length` bytes beside the used ones.
fn lowest<I: Iterator<Item = (usize, usize)>>(
    from: usize,
    length: usize,
    used: impl Fn() -> I,
) -> usize {
    let mut start = from;
    if length > 0 {
        // Each step goes beyond a place that is used, so it ends.
        let inside = |start: usize, (first, end): (usize, usize)| {
            first < end && first < start.saturating_add(length) && start < end
        };
        while let Some((_, end)) = used().find(|place| inside(start, *place)) {
            start = end;
        }
    }
    start
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

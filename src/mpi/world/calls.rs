//! What a program asks for, carried out on its rank's engine.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::future::Future;
use core::task::{Context, Poll, Waker};

use super::cpu::{Cpu, Live, Program, Stretch};
use super::mailbox::{Answer, Call, Ticket};
use super::media::Medium;
use super::port;
use super::site::Site;
use crate::mpi::Policy;
use crate::mpi::convert;
use crate::mpi::process::{Completion, MpiError, Work};
use crate::mpi::timeline::Part;
use crate::time::{Duration, Instant};

/// A look at the messages takes at least this long, also where software is
/// free: a program that looks in a loop must not stop the world.
const SHORTEST_LOOK: Duration = Duration::from_ns(10);

impl<T: Copy + PartialEq + fmt::Debug + 'static> Cpu<T> {
    /// Tells the program the outcome of a call.
    pub(super) fn answer(&mut self, ticket: Ticket, answer: Answer) {
        self.mailbox.borrow_mut().answers.insert(ticket, answer);
        self.answered = true;
    }

    /// Starts what the program has asked for, up to the first call that takes
    /// time of its own.
    pub(super) fn start_requests<M>(&mut self, site: &mut Site<M>) -> Result<(), M::Error>
    where
        M: Medium<Token = T>,
    {
        loop {
            let mut mailbox = self.mailbox.borrow_mut();
            let call = match mailbox.calls.front() {
                Some(Call::Send { .. } | Call::Receive { .. } | Call::Cancel { .. }) => {
                    mailbox.calls.pop_front()
                }
                _ => return Ok(()),
            };
            drop(mailbox);
            match call {
                Some(Call::Send { id, to, data, addr }) => {
                    self.store(site, addr, &data)?;
                    let bytes = data.len() as u64;
                    let request = self.engine.isend(convert::send(&to, addr, bytes));
                    self.started(id, request, addr, bytes, false);
                }
                Some(Call::Receive {
                    id,
                    from,
                    peer,
                    addr,
                    capacity,
                }) => {
                    let request = self
                        .engine
                        .irecv(convert::receive(&from, peer, addr, capacity));
                    self.started(id, request, addr, capacity, true);
                }
                Some(Call::Cancel { id, ticket }) => {
                    let live = self.live.get(&id);
                    let done = live.is_some_and(|live| self.engine.cancel(live.request));
                    self.answer(ticket, Answer::Cancelled(done));
                }
                _ => {}
            }
        }
    }

    fn started(
        &mut self,
        id: u64,
        request: Result<crate::mpi::endpoint::Request, crate::mpi::endpoint::EndpointError>,
        addr: u64,
        bytes: u64,
        receive: bool,
    ) {
        match request {
            Ok(request) => {
                let live = Live {
                    request,
                    addr,
                    bytes,
                    receive,
                };
                self.live.insert(id, live);
            }
            Err(error) => {
                let mut mailbox = self.mailbox.borrow_mut();
                mailbox.heap.give(addr, bytes);
                mailbox.complete(id, Err(convert::error(error)));
                drop(mailbox);
                self.answered = true;
            }
        }
    }

    /// The next call that takes time of its own.
    pub(super) fn next_call(&mut self) -> Option<Call> {
        self.mailbox.borrow_mut().calls.pop_front()
    }

    /// Carries it out, the engine being idle; whether it is busy with it.
    pub(super) fn carry_out(&mut self, call: Call, now: Instant) -> bool {
        let (part, left, ticket) = match call {
            Call::Compute { time, ticket } => (Part::Computing, time, Some(ticket)),
            Call::Work(Work::Copy { bytes }) => (Part::Copy, self.cost.copy(bytes), None),
            // Chosen: combining takes as long as copying, both wait for memory.
            Call::Work(Work::Reduce { bytes }) => (Part::Computing, self.cost.copy(bytes), None),
            Call::Progress { probe, ticket } if self.looked => {
                self.looked = false;
                let answer = match probe {
                    None => Answer::Done,
                    Some(pattern) => {
                        let found = self.engine.iprobe(&pattern);
                        Answer::Probed(found.map(convert::status))
                    }
                };
                self.answer(ticket, answer);
                return false;
            }
            Call::Progress { .. } => {
                // Looks first; what was found is taken in before the answer.
                self.looked = true;
                self.mailbox.borrow_mut().calls.push_front(call);
                let (part, time) = match self.policy {
                    Policy::Interrupt => (Part::SystemCall, self.cost.system_call),
                    _ => (Part::Polling, self.cost.poll_period),
                };
                (part, time.max(SHORTEST_LOOK), None)
            }
            Call::Send { .. } | Call::Receive { .. } | Call::Cancel { .. } => {
                // A request behind a call that took time: its turn now.
                self.mailbox.borrow_mut().calls.push_front(call);
                return false;
            }
        };
        if left == Duration::ZERO {
            if let Some(ticket) = ticket {
                self.answer(ticket, Answer::Done);
            }
            return false;
        }
        let from = now;
        self.stretch(Stretch {
            part,
            left,
            from,
            ticket,
        });
        true
    }

    /// Whether something that the program waits for is there.
    pub(super) fn is_wanted(&mut self) -> bool {
        let is_busy = self.is_busy();
        let Self {
            mailbox,
            live,
            engine,
            ..
        } = self;
        let mailbox = mailbox.borrow();
        if mailbox.closed.len() > mailbox.told {
            return true;
        }
        let done = |id| {
            let live = live.get(id);
            live.is_some_and(|live| engine.is_done(live.request))
        };
        if mailbox.awaited.iter().any(done) {
            return true;
        }
        // A receive whose call is not over, or still to be carried out, may take what
        // is there.
        let calm = !is_busy && mailbox.calls.is_empty();
        let mut probes = mailbox.probes.iter();
        calm && probes.any(|pattern| engine.iprobe(pattern).is_some())
    }

    /// Tells the program what is known and lets it go on.
    pub(super) fn run_program<M, F>(
        &mut self,
        site: &mut Site<M>,
        program: &mut Program<F>,
        now: Instant,
    ) -> Result<(), M::Error>
    where
        M: Medium<Token = T>,
        F: Future,
    {
        self.harvest(site)?;
        self.answered = false;
        let mut mailbox = self.mailbox.borrow_mut();
        mailbox.now = now;
        mailbox.told = mailbox.closed.len();
        mailbox.awaited.clear();
        let probes = core::mem::take(&mut mailbox.probes);
        mailbox.found.clear();
        let calm = !self.is_busy() && mailbox.calls.is_empty();
        for pattern in probes.into_iter().filter(|_| calm) {
            if let Some(found) = self.engine.iprobe(&pattern) {
                mailbox.found.push((pattern, convert::status(found)));
            }
        }
        drop(mailbox);
        if let Some(future) = &mut program.future {
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                program.result = Some(result);
                program.future = None;
                self.lane.append(Part::Waiting, now);
            }
        }
        Ok(())
    }

    /// Takes in what is complete.
    fn harvest<M: Medium<Token = T>>(&mut self, site: &mut Site<M>) -> Result<(), M::Error> {
        let engine = &self.engine;
        let is_done = |(id, live): (&u64, &Live)| engine.is_done(live.request).then_some(*id);
        let done: Vec<u64> = self.live.iter().filter_map(is_done).collect();
        for id in done {
            let Some(live) = self.live.get(&id) else {
                continue;
            };
            let Some(result) = self.engine.test(live.request) else {
                continue;
            };
            let Some(live) = self.live.remove(&id) else {
                continue;
            };
            let result = match result {
                Ok(receipt) => {
                    let status = convert::status(receipt);
                    let bytes = if live.receive {
                        status.length.min(live.bytes)
                    } else {
                        0
                    };
                    let data = self.load(site, live.addr, bytes)?;
                    Ok(Completion { status, data })
                }
                Err(error) => Err::<Completion, MpiError>(convert::error(error)),
            };
            let mut mailbox = self.mailbox.borrow_mut();
            mailbox.heap.give(live.addr, live.bytes);
            mailbox.complete(id, result);
        }
        Ok(())
    }

    fn store<M>(&self, site: &mut Site<M>, addr: u64, mut bytes: &[u8]) -> Result<(), M::Error>
    where
        M: Medium<Token = T>,
    {
        let mut at = addr;
        while !bytes.is_empty() {
            let (place, len) = port::piece(self.scattered, at, bytes.len() as u64);
            let (now, later) = bytes.split_at(usize::try_from(len).unwrap_or(0).min(bytes.len()));
            if now.is_empty() {
                break;
            }
            site.medium.store(self.node, place, now)?;
            at += len;
            bytes = later;
        }
        Ok(())
    }

    fn load<M>(&self, site: &Site<M>, addr: u64, bytes: u64) -> Result<Vec<u8>, M::Error>
    where
        M: Medium<Token = T>,
    {
        let mut data = vec![0; usize::try_from(bytes).unwrap_or(0)];
        let (mut at, mut left) = (addr, &mut data[..]);
        while !left.is_empty() {
            let (place, len) = port::piece(self.scattered, at, left.len() as u64);
            let len = usize::try_from(len).unwrap_or(0).min(left.len());
            let (now, later) = core::mem::take(&mut left).split_at_mut(len);
            if now.is_empty() {
                break;
            }
            site.medium.load(self.node, place, now)?;
            at += len as u64;
            left = later;
        }
        Ok(data)
    }
}

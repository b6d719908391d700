//! The handle that a rank's program is given.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::future::poll_fn;
use core::task::{Context, Poll};

use super::mailbox::{Answer, Call, Mailbox, Ticket};
use crate::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, Status, Work,
};
use crate::time::{Duration, Instant};

/// One rank of a [`World`](super::World), as its program sees it.
///
/// Time passes in what is awaited; the other calls are carried out at the next
/// point where the program waits, and their cost is charged then.
#[derive(Clone, Debug)]
pub struct Process {
    mailbox: Rc<RefCell<Mailbox>>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Process {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Process {{ rank: {=u32} }}", self.world_rank());
    }
}

impl Process {
    pub(super) fn new(mailbox: Rc<RefCell<Mailbox>>) -> Self {
        Self { mailbox }
    }

    fn ask(&self, call: impl FnOnce(Ticket) -> Call) -> Ticket {
        let mut mailbox = self.mailbox.borrow_mut();
        let ticket = mailbox.number();
        mailbox.calls.push_back(call(ticket));
        ticket
    }

    async fn call(&self, call: impl FnOnce(Ticket) -> Call) -> Answer {
        let ticket = self.ask(call);
        let answer = || self.mailbox.borrow_mut().answers.remove(&ticket);
        poll_fn(|_| answer().map_or(Poll::Pending, Poll::Ready)).await
    }
}

impl PointToPoint for Process {
    fn world_rank(&self) -> u32 {
        self.mailbox.borrow().rank
    }

    fn world_size(&self) -> u32 {
        self.mailbox.borrow().ranks
    }

    fn isend(&self, to: Outgoing, data: Vec<u8>) -> Result<RequestId, MpiError> {
        let mut mailbox = self.mailbox.borrow_mut();
        if to.dst >= mailbox.ranks {
            return Err(MpiError::InvalidRank {
                rank: to.dst,
                size: mailbox.ranks,
            });
        }
        let (id, addr) = mailbox.open(data.len() as u64)?;
        mailbox.calls.push_back(Call::Send { id, to, data, addr });
        Ok(RequestId(id))
    }

    fn irecv(&self, from: Pattern, capacity: usize) -> Result<RequestId, MpiError> {
        self.irecv_from(from, None, capacity)
    }

    fn irecv_from(
        &self,
        from: Pattern,
        peer: Option<u32>,
        capacity: usize,
    ) -> Result<RequestId, MpiError> {
        let mut mailbox = self.mailbox.borrow_mut();
        let capacity = capacity as u64;
        let (id, addr) = mailbox.open(capacity)?;
        mailbox.calls.push_back(Call::Receive {
            id,
            from,
            peer,
            addr,
            capacity,
        });
        Ok(RequestId(id))
    }

    fn try_wait(&self, id: RequestId) -> Option<Result<Completion, MpiError>> {
        self.mailbox.borrow_mut().take(id)
    }

    fn poll_wait(&self, id: RequestId, _: &mut Context<'_>) -> Poll<Result<Completion, MpiError>> {
        let mut mailbox = self.mailbox.borrow_mut();
        match mailbox.take(id) {
            Some(result) => Poll::Ready(result),
            None => {
                mailbox.awaited.push(id.0);
                Poll::Pending
            }
        }
    }

    async fn progress(&self) {
        let answer = self.call(|ticket| Call::Progress {
            probe: None,
            ticket,
        });
        answer.await;
    }

    async fn iprobe(&self, pattern: Pattern) -> Option<Status> {
        let answer = self.call(|ticket| Call::Progress {
            probe: Some(pattern),
            ticket,
        });
        match answer.await {
            Answer::Probed(status) => status,
            _ => None,
        }
    }

    fn poll_probe(&self, pattern: Pattern, _: &mut Context<'_>) -> Poll<Result<Status, MpiError>> {
        let mut mailbox = self.mailbox.borrow_mut();
        let found = mailbox.found.iter().find(|(asked, _)| *asked == pattern);
        match found.map(|(_, status)| *status) {
            Some(status) => {
                // What was found may be received next: it is known no longer.
                mailbox.found.clear();
                Poll::Ready(Ok(status))
            }
            None => {
                mailbox.probes.push(pattern);
                Poll::Pending
            }
        }
    }

    async fn cancel(&self, id: RequestId) -> bool {
        let answer = self.call(|ticket| Call::Cancel { id: id.0, ticket });
        matches!(answer.await, Answer::Cancelled(true))
    }

    fn closed(&self) -> Vec<u32> {
        self.mailbox.borrow().closed.clone()
    }

    fn release(&self, id: RequestId) {
        self.mailbox.borrow_mut().release(id);
    }

    async fn compute(&self, time: Duration) {
        self.call(|ticket| Call::Compute { time, ticket }).await;
    }

    fn charge(&self, work: Work) {
        self.mailbox.borrow_mut().calls.push_back(Call::Work(work));
    }

    fn now(&self) -> Instant {
        self.mailbox.borrow().now
    }

    fn eager_limit(&self) -> u64 {
        self.mailbox.borrow().eager
    }
}

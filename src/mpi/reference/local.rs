//! One rank of the reference.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::future::{Future, poll_fn};
use core::task::{Context, Poll};

use super::state::{State, Want};
use crate::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, Status, Work,
};
use crate::time::{Duration, Instant};

/// A process of the reference. Its time is what it has computed.
#[derive(Clone)]
pub struct Local {
    state: Rc<RefCell<State>>,
    rank: u32,
    size: u32,
}

impl Local {
    pub(super) fn new(state: &Rc<RefCell<State>>, rank: u32) -> Self {
        let size = state.borrow().ranks.len() as u32;
        let local = Self {
            state: Rc::clone(state),
            rank,
            size,
        };
        // The first poll of a rank is due.
        state.borrow_mut().want(rank, Want::Turn);
        local
    }

    /// Lets others go first, once.
    fn turn(&self) -> impl Future<Output = ()> + use<> {
        let (state, rank) = (Rc::clone(&self.state), self.rank);
        let mut asked = false;
        poll_fn(move |_| {
            if asked {
                return Poll::Ready(());
            }
            asked = true;
            state.borrow_mut().want(rank, Want::Turn);
            Poll::Pending
        })
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Local {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Local {{ rank: {} of {} }}", self.rank, self.size);
    }
}

impl PointToPoint for Local {
    fn world_rank(&self) -> u32 {
        self.rank
    }

    fn world_size(&self) -> u32 {
        self.size
    }

    fn isend(&self, to: Outgoing, data: Vec<u8>) -> Result<RequestId, MpiError> {
        self.state.borrow_mut().isend(self.rank, to, data)
    }

    fn irecv(&self, from: Pattern, capacity: usize) -> Result<RequestId, MpiError> {
        self.state.borrow_mut().irecv(self.rank, from, capacity)
    }

    fn try_wait(&self, id: RequestId) -> Option<Result<Completion, MpiError>> {
        self.state.borrow_mut().take(self.rank, id)
    }

    fn poll_wait(&self, id: RequestId, _: &mut Context<'_>) -> Poll<Result<Completion, MpiError>> {
        let mut state = self.state.borrow_mut();
        match state.take(self.rank, id) {
            Some(result) => Poll::Ready(result),
            None => {
                state.want(self.rank, Want::Request(id));
                Poll::Pending
            }
        }
    }

    fn progress(&self) -> impl Future<Output = ()> {
        self.turn()
    }

    async fn iprobe(&self, pattern: Pattern) -> Option<Status> {
        self.turn().await;
        self.state.borrow().probe(self.rank, &pattern)
    }

    fn poll_probe(&self, pattern: Pattern, _: &mut Context<'_>) -> Poll<Result<Status, MpiError>> {
        let mut state = self.state.borrow_mut();
        match state.probe(self.rank, &pattern) {
            Some(status) => Poll::Ready(Ok(status)),
            None => {
                state.want(self.rank, Want::Probe(pattern));
                Poll::Pending
            }
        }
    }

    async fn cancel(&self, id: RequestId) -> bool {
        self.turn().await;
        self.state.borrow_mut().cancel(self.rank, id)
    }

    fn release(&self, id: RequestId) {
        self.state.borrow_mut().release(self.rank, id);
    }

    async fn compute(&self, time: Duration) {
        self.turn().await;
        if let Some(rank) = self.state.borrow_mut().ranks.get_mut(self.rank as usize) {
            rank.now = rank.now + time;
        }
    }

    fn charge(&self, _: Work) {}

    fn now(&self) -> Instant {
        let state = self.state.borrow();
        let rank = state.ranks.get(self.rank as usize);
        rank.map_or(Instant::ZERO, |rank| rank.now)
    }

    fn eager_limit(&self) -> u64 {
        self.state.borrow().eager_limit
    }
}

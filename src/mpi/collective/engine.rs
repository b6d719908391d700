//! Operations that need several messages, driven from inside the calls of their
//! process.
//!
//! Every wait, test or probe of a process drives all of its outstanding collective
//! operations, as the standard's progress rule wants it: a rank that blocks in a
//! receive still plays its part in a barrier it has started. No progress is made
//! while the program computes.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use crate::mpi::process::{Completion, MpiError, PointToPoint, RequestId};

/// Where an operation leaves its result.
pub(crate) type Slot<R> = Rc<RefCell<Option<Result<R, MpiError>>>>;

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// One process's outstanding operations and its count of context ids.
pub(crate) struct Engine<P> {
    pub(crate) process: P,
    tasks: RefCell<Vec<Task>>,
    /// Operations are looked at and nothing is waited for. Shared with the waits
    /// inside the tasks.
    testing: Rc<Cell<bool>>,
    /// The lowest communicator number this process has not used.
    pub(crate) next_context: Cell<u32>,
}

impl<P: PointToPoint> Engine<P> {
    pub(crate) fn new(process: P) -> Self {
        Self {
            process,
            tasks: RefCell::new(Vec::new()),
            testing: Rc::new(Cell::new(false)),
            next_context: Cell::new(1),
        }
    }

    pub(crate) fn testing(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.testing)
    }

    /// Starts an operation: its first messages are sent before this returns.
    pub(crate) fn start<R: 'static>(
        &self,
        operation: impl Future<Output = Result<R, MpiError>> + 'static,
    ) -> Slot<R> {
        let slot: Slot<R> = Rc::new(RefCell::new(None));
        let place = Rc::clone(&slot);
        let mut task: Task = Box::pin(async move {
            let result = operation.await;
            *place.borrow_mut() = Some(result);
        });
        let before = self.testing.replace(true);
        let first = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.testing.set(before);
        if first.is_pending() {
            self.tasks.borrow_mut().push(task);
        }
        slot
    }

    /// Lets every operation go as far as it can, in the order they were started.
    /// With `wait`, the process is waked when one could go further.
    pub(crate) fn drive(&self, cx: &mut Context<'_>, wait: bool) {
        // Taken out, so that an operation that starts another one finds the list free.
        let mut tasks = self.tasks.take();
        let before = self.testing.replace(!wait);
        tasks.retain_mut(|task| task.as_mut().poll(cx).is_pending());
        self.testing.set(before);
        let mut list = self.tasks.borrow_mut();
        tasks.append(&mut list);
        *list = tasks;
    }

    /// As [`drive`](Self::drive) without waiting.
    pub(crate) fn look(&self) {
        self.drive(&mut Context::from_waker(Waker::noop()), false);
    }
}

/// A started send or receive inside an operation. Dropped, it is released.
pub(super) struct Pending<P: PointToPoint> {
    process: P,
    id: RequestId,
    testing: Rc<Cell<bool>>,
    done: bool,
}

impl<P: PointToPoint> Pending<P> {
    pub(super) fn new(process: &P, id: RequestId, testing: &Rc<Cell<bool>>) -> Self {
        Self {
            process: process.clone(),
            id,
            testing: Rc::clone(testing),
            done: false,
        }
    }
}

impl<P: PointToPoint> Future for Pending<P> {
    type Output = Result<Completion, MpiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = if self.testing.get() {
            match self.process.try_wait(self.id) {
                Some(result) => Poll::Ready(result),
                None => Poll::Pending,
            }
        } else {
            self.process.poll_wait(self.id, cx)
        };
        self.done = self.done || result.is_ready();
        result
    }
}

// No field is pinned in place.
impl<P: PointToPoint> Unpin for Pending<P> {}

impl<P: PointToPoint> Drop for Pending<P> {
    fn drop(&mut self) {
        if !self.done {
            self.process.release(self.id);
        }
    }
}

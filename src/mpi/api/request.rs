//! Operations that were started and are completed later.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::future::poll_fn;
use core::task::{Context, Poll};

use crate::mpi::collective::engine::{Engine, Slot};
use crate::mpi::process::{Completion, MpiError, PointToPoint, RequestId};

type Finish<R> = Box<dyn FnOnce(Completion) -> Result<R, MpiError>>;

enum State<R> {
    /// A send or a receive, and what becomes of its completion.
    Message(RequestId, Finish<R>),
    /// A collective operation; its result lands here.
    Operation(Slot<R>),
    /// The result, not taken yet.
    Done(Result<R, MpiError>),
    /// The result was taken.
    Taken,
}

/// A started operation that gives an `R`.
///
/// Progress is made inside calls of the library only, but inside *all* of them: a
/// rank that waits for one request also advances its other ones.
///
/// A request that is dropped goes on by itself (the standard's
/// `MPI_Request_free`). A program that ends before its collective operations are
/// complete leaves the other ranks waiting.
#[must_use = "an operation is complete when it was waited for"]
pub struct Request<P: PointToPoint, R> {
    engine: Rc<Engine<P>>,
    state: State<R>,
}

impl<P: PointToPoint, R> core::fmt::Debug for Request<P, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let state = match &self.state {
            State::Message(..) => "message",
            State::Operation(_) => "operation",
            State::Done(_) => "done",
            State::Taken => "taken",
        };
        f.debug_struct("Request").field("state", &state).finish()
    }
}

#[cfg(feature = "defmt")]
impl<P: PointToPoint, R> defmt::Format for Request<P, R> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Request");
    }
}

impl<P: PointToPoint, R> Request<P, R> {
    pub(super) fn message(
        engine: &Rc<Engine<P>>,
        id: RequestId,
        finish: impl FnOnce(Completion) -> Result<R, MpiError> + 'static,
    ) -> Self {
        Self {
            engine: Rc::clone(engine),
            state: State::Message(id, Box::new(finish)),
        }
    }

    pub(super) fn operation(engine: &Rc<Engine<P>>, slot: Slot<R>) -> Self {
        Self {
            engine: Rc::clone(engine),
            state: State::Operation(slot),
        }
    }

    pub(super) fn done(engine: &Rc<Engine<P>>, result: Result<R, MpiError>) -> Self {
        Self {
            engine: Rc::clone(engine),
            state: State::Done(result),
        }
    }

    /// Notes the completion if there is one. With a context the process waits.
    fn look(&mut self, cx: Option<&mut Context<'_>>) -> bool {
        match &mut self.state {
            State::Message(id, _) => {
                let process = &self.engine.process;
                let result = match cx {
                    None => process.try_wait(*id),
                    Some(cx) => match process.poll_wait(*id, cx) {
                        Poll::Ready(result) => Some(result),
                        Poll::Pending => None,
                    },
                };
                let Some(result) = result else {
                    return false;
                };
                if let State::Message(_, finish) = core::mem::replace(&mut self.state, State::Taken)
                {
                    self.state = State::Done(result.and_then(finish));
                }
                true
            }
            State::Operation(slot) => {
                let Some(result) = slot.borrow_mut().take() else {
                    return false;
                };
                self.state = State::Done(result);
                true
            }
            State::Done(_) | State::Taken => true,
        }
    }

    fn take(&mut self) -> Result<R, MpiError> {
        match core::mem::replace(&mut self.state, State::Taken) {
            State::Done(result) => result,
            State::Message(request, _) => Err(MpiError::InvalidRequest { request }),
            State::Operation(_) | State::Taken => Err(MpiError::InvalidRequest {
                request: RequestId(u64::MAX),
            }),
        }
    }

    /// Completes the operation.
    ///
    /// # Errors
    /// Those of the operation.
    #[doc(alias = "MPI_Wait")]
    pub async fn wait(mut self) -> Result<R, MpiError> {
        poll_fn(|cx| {
            self.engine.drive(cx, true);
            match self.look(Some(cx)) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        self.take()
    }

    /// Makes a round of progress and gives the result if the operation is complete.
    /// The result is given once; a request that was tested to its end is done with.
    ///
    /// # Errors
    /// Those of the operation; [`MpiError::InvalidRequest`] after its end.
    #[doc(alias = "MPI_Test")]
    pub async fn test(&mut self) -> Option<Result<R, MpiError>> {
        self.engine.process.progress().await;
        self.engine.look();
        self.look(None).then(|| self.take())
    }

    /// Takes a receive back that no message has matched. `true`: it is cancelled, and
    /// waiting for it gives [`MpiError::Cancelled`]. `false`: it will complete.
    #[doc(alias = "MPI_Cancel")]
    pub async fn cancel(&self) -> bool {
        match &self.state {
            State::Message(id, _) => self.engine.process.cancel(*id).await,
            _ => false,
        }
    }
}

impl<P: PointToPoint, R> Drop for Request<P, R> {
    fn drop(&mut self) {
        if let State::Message(id, _) = &self.state {
            self.engine.process.release(*id);
        }
    }
}

mod sealed {
    use core::task::Context;

    /// A request whatever it gives.
    pub trait Sealed {
        /// Advances all operations of the process.
        fn drive(&self, cx: &mut Context<'_>);
        /// Notes the completion, waiting for it.
        fn poll_complete(&mut self, cx: &mut Context<'_>) -> bool;
        /// Notes the completion.
        fn complete(&mut self) -> bool;
        /// The result was taken before.
        fn is_taken(&self) -> bool;
    }
}

/// A request of any result, for [`waitany`] and its like over different ones.
///
/// After such a call the result is still in the request:
/// [`wait`](Request::wait) gives it at once.
pub trait AnyRequest: sealed::Sealed {}

impl<P: PointToPoint, R> AnyRequest for Request<P, R> {}

impl<P: PointToPoint, R> sealed::Sealed for Request<P, R> {
    fn drive(&self, cx: &mut Context<'_>) {
        self.engine.drive(cx, true);
    }

    fn poll_complete(&mut self, cx: &mut Context<'_>) -> bool {
        self.look(Some(cx))
    }

    fn complete(&mut self) -> bool {
        self.look(None)
    }

    fn is_taken(&self) -> bool {
        matches!(self.state, State::Taken)
    }
}

/// Completes all requests; the results in the order of the requests.
///
/// # Errors
/// The first error in that order, after all are complete.
#[doc(alias = "MPI_Waitall")]
pub async fn waitall<P: PointToPoint, R>(
    requests: impl IntoIterator<Item = Request<P, R>>,
) -> Result<Vec<R>, MpiError> {
    let mut requests: Vec<Request<P, R>> = requests.into_iter().collect();
    {
        let mut all: Vec<&mut dyn AnyRequest> = Vec::with_capacity(requests.len());
        for request in &mut requests {
            all.push(request);
        }
        complete_all(&mut all).await;
    }
    let results: Vec<_> = requests.iter_mut().map(Request::take).collect();
    results.into_iter().collect()
}

/// Waits until all requests are complete; their results stay in them.
pub async fn complete_all(requests: &mut [&mut dyn AnyRequest]) {
    poll_fn(|cx| {
        if let Some(first) = requests.first() {
            first.drive(cx);
        }
        // Each one is asked, so that all of them are waited for.
        let mut open = 0;
        for request in requests.iter_mut() {
            open += usize::from(!request.poll_complete(cx));
        }
        match open {
            0 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
}

/// Waits until a request is complete and gives its place (the lowest, if several
/// are). Requests whose result was taken are passed over; `None` if all were.
#[doc(alias = "MPI_Waitany")]
pub async fn waitany(requests: &mut [&mut dyn AnyRequest]) -> Option<usize> {
    poll_fn(|cx| {
        if let Some(first) = requests.first() {
            first.drive(cx);
        }
        let mut active = false;
        for (i, request) in requests.iter_mut().enumerate() {
            if request.is_taken() {
                continue;
            }
            active = true;
            if request.poll_complete(cx) {
                return Poll::Ready(Some(i));
            }
        }
        match active {
            true => Poll::Pending,
            false => Poll::Ready(None),
        }
    })
    .await
}

/// Makes a round of progress; whether all requests are complete. Their results stay
/// in them.
#[doc(alias = "MPI_Testall")]
pub async fn testall<P: PointToPoint, R>(requests: &mut [Request<P, R>]) -> bool {
    let Some(first) = requests.first() else {
        return true;
    };
    first.engine.process.progress().await;
    first.engine.look();
    // Each one is asked, complete or not.
    let open = requests
        .iter_mut()
        .filter_map(|request| (!request.look(None)).then_some(()));
    open.count() == 0
}

/// Makes a round of progress; the place of a complete request whose result was not
/// taken, if there is one. The result stays in it.
#[doc(alias = "MPI_Testany")]
pub async fn testany<P: PointToPoint, R>(requests: &mut [Request<P, R>]) -> Option<usize> {
    let first = requests.first()?;
    first.engine.process.progress().await;
    first.engine.look();
    requests
        .iter_mut()
        .position(|request| !sealed::Sealed::is_taken(request) && sealed::Sealed::complete(request))
}

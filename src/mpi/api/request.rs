//! Operations that were started and are completed later.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll};

use super::failed::Senders;
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
    /// Who may send what a receive from any source waits for.
    senders: Option<Senders>,
    /// Why it is not complete and nevertheless to be told of.
    noted: Option<MpiError>,
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
    fn new(engine: &Rc<Engine<P>>, state: State<R>) -> Self {
        Self {
            engine: Rc::clone(engine),
            state,
            senders: None,
            noted: None,
        }
    }

    pub(super) fn message(
        engine: &Rc<Engine<P>>,
        id: RequestId,
        finish: impl FnOnce(Completion) -> Result<R, MpiError> + 'static,
    ) -> Self {
        Self::new(engine, State::Message(id, Box::new(finish)))
    }

    /// A receive whose message may come from any of `senders`.
    pub(super) fn awaiting(mut self, senders: Option<Senders>) -> Self {
        self.senders = senders;
        self
    }

    pub(super) fn operation(engine: &Rc<Engine<P>>, slot: Slot<R>) -> Self {
        Self::new(engine, State::Operation(slot))
    }

    pub(super) fn done(engine: &Rc<Engine<P>>, result: Result<R, MpiError>) -> Self {
        Self::new(engine, State::Done(result))
    }

    /// The same operation, with `more` done to its result.
    pub(super) fn and_then<S: 'static>(
        mut self,
        more: impl FnOnce(R) -> Result<S, MpiError> + 'static,
    ) -> Request<P, S>
    where
        R: 'static,
    {
        let state = match core::mem::replace(&mut self.state, State::Taken) {
            State::Message(id, finish) => {
                State::Message(id, Box::new(|completion| finish(completion).and_then(more)))
            }
            State::Done(result) => State::Done(result.and_then(more)),
            // Messages only.
            State::Operation(_) | State::Taken => State::Taken,
        };
        Request::new(&self.engine, state).awaiting(self.senders.take())
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
                    let senders = self.senders.as_ref();
                    self.noted = senders.and_then(|senders| senders.check(process).err());
                    return self.noted.is_some();
                };
                self.noted = None;
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

    pub(super) fn take(&mut self) -> Result<R, MpiError> {
        if let Some(error) = self.noted.take() {
            return Err(error);
        }
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
    /// Those of the operation. With [`MpiError::PeerClosedPending`] the receive was
    /// taken back: no message is lost.
    #[doc(alias = "MPI_Wait")]
    pub async fn wait(mut self) -> Result<R, MpiError> {
        let result = self.complete().await;
        match result {
            Err(MpiError::PeerClosedPending { .. }) if !self.cancel().await => {
                // Its message has come meanwhile.
                self.senders = None;
                self.complete().await
            }
            result => result,
        }
    }

    /// As [`wait`](Self::wait), of a request that is kept: after
    /// [`MpiError::PeerClosedPending`] it is as it was, and may be completed when the
    /// loss is [acknowledged](super::Communicator::acknowledge_failed). After all
    /// else it is done with.
    ///
    /// # Errors
    /// Those of the operation; [`MpiError::InvalidRequest`] after its end.
    #[doc(alias = "MPI_Wait")]
    pub async fn complete(&mut self) -> Result<R, MpiError> {
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
    /// With [`MpiError::PeerClosedPending`] it is not, as in
    /// [`complete`](Self::complete).
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

pub(super) mod sealed {
    use super::{Box, Context, Future, Pin};

    /// A request whatever it gives.
    pub trait Sealed {
        /// Advances all operations of the process.
        fn drive(&self, cx: &mut Context<'_>);
        /// Makes a round of progress.
        fn progress(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;
        /// Notes the completion, waiting for it.
        fn poll_complete(&mut self, cx: &mut Context<'_>) -> bool;
        /// Notes the completion.
        fn complete(&mut self) -> bool;
        /// Nothing to wait for: its result was taken, or it was never started.
        fn is_inactive(&self) -> bool;
    }
}

/// A request of any kind and result, for [`waitany`](super::waitany) and its like.
/// Over different ones: `waitany::<&mut dyn AnyRequest>(&mut [&mut a, &mut b])`.
///
/// After such a call the result is still in the request: its `wait` gives it at
/// once. Until then the request counts as complete.
pub trait AnyRequest: sealed::Sealed {}

impl<P: PointToPoint, R> AnyRequest for Request<P, R> {}

impl<P: PointToPoint, R> sealed::Sealed for Request<P, R> {
    fn drive(&self, cx: &mut Context<'_>) {
        self.engine.drive(cx, true);
    }

    fn progress(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(async {
            self.engine.process.progress().await;
            self.engine.look();
        })
    }

    fn poll_complete(&mut self, cx: &mut Context<'_>) -> bool {
        self.look(Some(cx))
    }

    fn complete(&mut self) -> bool {
        self.look(None)
    }

    fn is_inactive(&self) -> bool {
        matches!(self.state, State::Taken)
    }
}

impl<A: AnyRequest + ?Sized> AnyRequest for &mut A {}

impl<A: AnyRequest + ?Sized> sealed::Sealed for &mut A {
    fn drive(&self, cx: &mut Context<'_>) {
        (**self).drive(cx);
    }

    fn progress(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        (**self).progress()
    }

    fn poll_complete(&mut self, cx: &mut Context<'_>) -> bool {
        (**self).poll_complete(cx)
    }

    fn complete(&mut self) -> bool {
        sealed::Sealed::complete(&mut **self)
    }

    fn is_inactive(&self) -> bool {
        (**self).is_inactive()
    }
}

//! A started operation.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// An operation that was started: a future and, at its end, what it gave.
///
/// ```
/// use core::pin::pin;
/// use multipc::mpi::polled::Operation;
///
/// let future = pin!(async { 7 });
/// let mut operation = Operation::start(future);
/// while !operation.look() {
///     // A step of the endpoint.
/// }
/// assert_eq!(operation.take(), Some(7));
/// assert_eq!(operation.take(), None);
/// ```
#[derive(Debug)]
#[must_use = "an operation goes on when it is looked at"]
pub struct Operation<'o, F: Future> {
    /// None at its end.
    future: Option<Pin<&'o mut F>>,
    result: Option<F::Output>,
}

#[cfg(feature = "defmt")]
impl<F: Future> defmt::Format for Operation<'_, F> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Operation {{ done: {} }}", self.is_done());
    }
}

impl<'o, F: Future> Operation<'o, F> {
    /// Starts it: its first messages are on their way to the endpoint when this
    /// returns.
    pub fn start(future: Pin<&'o mut F>) -> Self {
        let mut operation = Self {
            future: Some(future),
            result: None,
        };
        operation.look();
        operation
    }

    /// Lets it go as far as it can; whether it is at its end.
    pub fn look(&mut self) -> bool {
        let Some(future) = &mut self.future else {
            return true;
        };
        let mut nobody = Context::from_waker(Waker::noop());
        match future.as_mut().poll(&mut nobody) {
            Poll::Pending => false,
            Poll::Ready(result) => {
                self.result = Some(result);
                self.future = None;
                true
            }
        }
    }

    /// Whether it is at its end.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.future.is_none()
    }

    /// Its result, once.
    pub fn take(&mut self) -> Option<F::Output> {
        self.result.take()
    }
}

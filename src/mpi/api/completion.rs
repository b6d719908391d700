//! Many requests at once: wait for, or test, all, any or some of them.
//!
//! An inactive request (its result was taken; a persistent one that was not started)
//! counts as the standard's null request: all of them are complete when the others
//! are, and any or some pass it over.

use alloc::vec::Vec;
use core::future::poll_fn;
use core::task::Poll;

use super::request::{AnyRequest, Request, sealed::Sealed};
use crate::mpi::process::{MpiError, PointToPoint};

/// Completes all requests; the results in the order of the requests.
///
/// # Errors
/// The first error in that order, after all are complete.
#[doc(alias = "MPI_Waitall")]
pub async fn waitall<P: PointToPoint, R>(
    requests: impl IntoIterator<Item = Request<P, R>>,
) -> Result<Vec<R>, MpiError> {
    let mut requests: Vec<Request<P, R>> = requests.into_iter().collect();
    complete_all(&mut requests).await;
    let mut results = Vec::with_capacity(requests.len());
    let mut first = Ok(());
    for request in requests {
        // At once, but for one that has to be taken back.
        match request.wait().await {
            Ok(result) => results.push(result),
            Err(error) => first = first.and(Err(error)),
        }
    }
    first.map(|()| results)
}

/// Waits until all requests are complete; their results stay in them.
#[doc(alias = "MPI_Waitall")]
pub async fn complete_all<A: AnyRequest>(requests: &mut [A]) {
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
/// are). The result stays in it. `None` (MPI_UNDEFINED) if none is active.
#[doc(alias = "MPI_Waitany")]
pub async fn waitany<A: AnyRequest>(requests: &mut [A]) -> Option<usize> {
    poll_fn(|cx| {
        if let Some(first) = requests.first() {
            first.drive(cx);
        }
        let mut active = false;
        for (i, request) in requests.iter_mut().enumerate() {
            if request.is_inactive() {
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

/// Waits until a request is complete and gives the places of all that are, in order:
/// whoever serves many peers so starves none. The results stay in them. `None`
/// (MPI_UNDEFINED) if none is active.
#[doc(alias = "MPI_Waitsome")]
pub async fn waitsome<A: AnyRequest>(requests: &mut [A]) -> Option<Vec<usize>> {
    poll_fn(|cx| {
        if let Some(first) = requests.first() {
            first.drive(cx);
        }
        let mut active = false;
        let mut complete = Vec::new();
        for (i, request) in requests.iter_mut().enumerate() {
            if request.is_inactive() {
                continue;
            }
            active = true;
            if request.poll_complete(cx) {
                complete.push(i);
            }
        }
        match (active, complete.is_empty()) {
            (false, _) => Poll::Ready(None),
            (true, true) => Poll::Pending,
            (true, false) => Poll::Ready(Some(complete)),
        }
    })
    .await
}

/// Makes a round of progress; whether all requests are complete. Their results stay
/// in them.
#[doc(alias = "MPI_Testall")]
pub async fn testall<A: AnyRequest>(requests: &mut [A]) -> bool {
    look(requests).await;
    // Each one is asked, complete or not.
    let open = requests
        .iter_mut()
        .filter_map(|request| (!request.complete()).then_some(()));
    open.count() == 0
}

/// Makes a round of progress; what [`waitany`] would give, if that would not have to
/// wait: `None` is the standard's flag = false, `Some(None)` its index MPI_UNDEFINED.
#[doc(alias = "MPI_Testany")]
pub async fn testany<A: AnyRequest>(requests: &mut [A]) -> Option<Option<usize>> {
    match testsome(requests).await {
        None => Some(None),
        Some(complete) => complete.first().map(|i| Some(*i)),
    }
}

/// Makes a round of progress; the places of all requests that are complete, in order.
/// The results stay in them. `None` (MPI_UNDEFINED) if none is active.
#[doc(alias = "MPI_Testsome")]
pub async fn testsome<A: AnyRequest>(requests: &mut [A]) -> Option<Vec<usize>> {
    look(requests).await;
    let mut active = false;
    let mut complete = Vec::new();
    for (i, request) in requests.iter_mut().enumerate() {
        if request.is_inactive() {
            continue;
        }
        active = true;
        if request.complete() {
            complete.push(i);
        }
    }
    active.then_some(complete)
}

/// A round of progress, which is the same for all requests of a process.
async fn look<A: AnyRequest>(requests: &mut [A]) {
    if let Some(first) = requests.first() {
        first.progress().await;
    }
}

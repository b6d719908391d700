//! Operations whose arguments are given once, and that are started again and again.
//!
//! A persistent request is *inactive* until it is started, and again once it was
//! waited for or tested to its end. Waiting for an inactive one gives the standard's
//! empty status at once: here `Ok(None)`, of a send `Ok(())`. Dropped while active it
//! goes on by itself, as [`Request`] does.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::future::Future;
use core::pin::Pin;
use core::task::Context;

use bytemuck::Pod;

use super::communicator::Communicator;
use super::point::Received;
use super::request::{AnyRequest, Request, sealed};
use super::status::{Peer, Source, Tag};
use crate::mpi::process::{MpiError, PointToPoint, SendMode};

/// What was started, if it was.
struct Active<P: PointToPoint, R>(Option<Request<P, R>>);

impl<P: PointToPoint, R> Active<P, R> {
    /// Starts what `start` starts.
    fn start(
        &mut self,
        start: impl FnOnce() -> Result<Request<P, R>, MpiError>,
    ) -> Result<(), MpiError> {
        if self.0.is_some() {
            return Err(MpiError::Active);
        }
        self.0 = Some(start()?);
        Ok(())
    }

    /// The request is inactive, unless it may still be completed.
    fn ended(&mut self, result: Result<R, MpiError>) -> Result<Option<R>, MpiError> {
        if !matches!(result, Err(MpiError::PeerClosedPending { .. })) {
            self.0 = None;
        }
        result.map(Some)
    }

    async fn wait(&mut self) -> Result<Option<R>, MpiError> {
        let Some(request) = &mut self.0 else {
            return Ok(None);
        };
        let result = request.complete().await;
        self.ended(result)
    }

    async fn test(&mut self) -> Option<Result<Option<R>, MpiError>> {
        let Some(request) = &mut self.0 else {
            return Some(Ok(None));
        };
        let result = request.test().await?;
        Some(self.ended(result))
    }

    async fn cancel(&self) -> bool {
        match &self.0 {
            Some(request) => request.cancel().await,
            None => false,
        }
    }
}

/// A send that may be started again and again.
///
/// The data is its own; it is taken over at each start, and may be changed at any
/// time for the next one.
#[must_use = "nothing is sent before it is started"]
pub struct PersistentSend<P: PointToPoint, T> {
    comm: Communicator<P>,
    data: Vec<T>,
    dst: Peer,
    tag: i32,
    mode: SendMode,
    active: Active<P, ()>,
}

/// A receive that may be started again and again.
#[must_use = "nothing is received before it is started"]
pub struct PersistentRecv<P: PointToPoint, T> {
    comm: Communicator<P>,
    count: usize,
    source: Source,
    tag: Tag,
    active: Active<P, Received<T>>,
}

impl<P: PointToPoint> Communicator<P> {
    fn init<T: Pod>(
        &self,
        data: &[T],
        dst: Peer,
        tag: i32,
        mode: SendMode,
    ) -> Result<PersistentSend<P, T>, MpiError> {
        self.outgoing(dst, tag, mode)?;
        Ok(PersistentSend {
            comm: self.clone(),
            data: data.to_vec(),
            dst,
            tag,
            mode,
            active: Active(None),
        })
    }

    /// A send to be started later, at first of `data`, which is copied.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`], [`MpiError::InvalidTag`].
    #[doc(alias = "MPI_Send_init")]
    pub fn send_init<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<PersistentSend<P, T>, MpiError> {
        self.init(data, dst.into(), tag, SendMode::Standard)
    }

    /// As [`send_init`](Self::send_init); complete when a receive has matched it.
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "MPI_Ssend_init")]
    pub fn ssend_init<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<PersistentSend<P, T>, MpiError> {
        self.init(data, dst.into(), tag, SendMode::Synchronous)
    }

    /// As [`send_init`](Self::send_init); its receive must be posted when it is
    /// started.
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "MPI_Rsend_init")]
    pub fn rsend_init<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<PersistentSend<P, T>, MpiError> {
        self.init(data, dst.into(), tag, SendMode::Ready)
    }

    /// A receive of `count` elements at most, to be started later.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`], [`MpiError::InvalidTag`]; [`MpiError::TooLong`].
    #[doc(alias = "MPI_Recv_init")]
    pub fn recv_init<T: Pod>(
        &self,
        count: usize,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<PersistentRecv<P, T>, MpiError> {
        let (source, tag) = (source.into(), tag.into());
        self.pattern(source, tag)?;
        crate::mpi::collective::link::bytes_of::<T>(count)?;
        Ok(PersistentRecv {
            comm: self.clone(),
            count,
            source,
            tag,
            active: Active(None),
        })
    }
}

impl<P: PointToPoint, T: Pod> PersistentSend<P, T> {
    /// What the next start sends.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The same, to be changed.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Whether it was started and not completed.
    pub const fn is_active(&self) -> bool {
        self.active.0.is_some()
    }

    /// Starts the send.
    ///
    /// # Errors
    /// [`MpiError::Active`]; as [`isend`](Communicator::isend).
    #[doc(alias = "MPI_Start")]
    pub fn start(&mut self) -> Result<(), MpiError> {
        let Self {
            comm,
            data,
            dst,
            tag,
            mode,
            active,
        } = self;
        active.start(|| comm.start_send(data, *dst, *tag, *mode))
    }

    /// Completes it: inactive from then on. At once if it is not active.
    ///
    /// # Errors
    /// Those of the send.
    pub async fn wait(&mut self) -> Result<(), MpiError> {
        self.active.wait().await.map(|_| ())
    }

    /// Makes a round of progress, if it is active; `Some` if it is inactive now.
    ///
    /// # Errors
    /// Those of the send.
    pub async fn test(&mut self) -> Option<Result<(), MpiError>> {
        let result = self.active.test().await?;
        Some(result.map(|_| ()))
    }
}

impl<P: PointToPoint, T: Pod> PersistentRecv<P, T> {
    /// Whether it was started and not completed.
    pub const fn is_active(&self) -> bool {
        self.active.0.is_some()
    }

    /// Posts the receive.
    ///
    /// # Errors
    /// [`MpiError::Active`]; as [`irecv`](Communicator::irecv).
    #[doc(alias = "MPI_Start")]
    pub fn start(&mut self) -> Result<(), MpiError> {
        let Self {
            comm,
            count,
            source,
            tag,
            active,
        } = self;
        active.start(|| comm.irecv(*count, *source, *tag))
    }

    /// Completes it: inactive from then on, but after
    /// [`MpiError::PeerClosedPending`]. `None` at once if it is not active.
    ///
    /// # Errors
    /// Those of the receive; [`MpiError::Cancelled`].
    pub async fn wait(&mut self) -> Result<Option<Received<T>>, MpiError> {
        self.active.wait().await
    }

    /// Makes a round of progress, if it is active; `Some` if it is inactive now.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub async fn test(&mut self) -> Option<Result<Option<Received<T>>, MpiError>> {
        self.active.test().await
    }

    /// Takes back what was started, as [`Request::cancel`]: it still has to be waited
    /// for, and may then be started again.
    pub async fn cancel(&self) -> bool {
        self.active.cancel().await
    }
}

/// A persistent request, for [`startall`].
pub trait Start: AnyRequest {
    /// Starts it.
    ///
    /// # Errors
    /// [`MpiError::Active`]; those of the operation.
    fn start(&mut self) -> Result<(), MpiError>;
}

impl<P: PointToPoint, T: Pod> Start for PersistentSend<P, T> {
    fn start(&mut self) -> Result<(), MpiError> {
        self.start()
    }
}

impl<P: PointToPoint, T: Pod> Start for PersistentRecv<P, T> {
    fn start(&mut self) -> Result<(), MpiError> {
        self.start()
    }
}

impl<S: Start + ?Sized> Start for &mut S {
    fn start(&mut self) -> Result<(), MpiError> {
        (**self).start()
    }
}

/// Starts all requests, in order.
///
/// # Errors
/// The first one; those before it are started, it and those behind it are not.
#[doc(alias = "MPI_Startall")]
pub fn startall<S: Start>(requests: &mut [S]) -> Result<(), MpiError> {
    requests.iter_mut().try_for_each(Start::start)
}

macro_rules! any_request {
    ($name:ident) => {
        impl<P: PointToPoint, T> core::fmt::Debug for $name<P, T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("active", &self.active.0)
                    .field("tag", &self.tag)
                    .finish_non_exhaustive()
            }
        }

        #[cfg(feature = "defmt")]
        impl<P: PointToPoint, T> defmt::Format for $name<P, T> {
            fn format(&self, f: defmt::Formatter<'_>) {
                let active = self.active.0.is_some();
                defmt::write!(f, "persistent, active: {=bool}", active);
            }
        }

        impl<P: PointToPoint, T> AnyRequest for $name<P, T> {}

        impl<P: PointToPoint, T> sealed::Sealed for $name<P, T> {
            fn drive(&self, cx: &mut Context<'_>) {
                self.comm.engine().drive(cx, true);
            }

            fn progress(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
                Box::pin(async {
                    self.comm.process().progress().await;
                    self.comm.engine().look();
                })
            }

            fn poll_complete(&mut self, cx: &mut Context<'_>) -> bool {
                let active = self.active.0.as_mut();
                active.is_none_or(|request| request.poll_complete(cx))
            }

            fn complete(&mut self) -> bool {
                let active = self.active.0.as_mut();
                active.is_none_or(sealed::Sealed::complete)
            }

            fn is_inactive(&self) -> bool {
                self.active.0.is_none()
            }
        }
    };
}

any_request!(PersistentSend);
any_request!(PersistentRecv);

//! Probes that take what they find: whoever found a message receives it, however many
//! parts of a program look for messages.

use alloc::vec::Vec;
use core::future::poll_fn;
use core::task::Poll;

use bytemuck::Pod;

use super::communicator::Communicator;
use super::point::{Received, received};
use super::request::Request;
use super::status::{Source, Status, Tag};
use crate::mpi::collective::channel::elements;
use crate::mpi::collective::link::bytes_of;
use crate::mpi::process::{self, MpiError, Pattern, PointToPoint};

/// A message that a matched probe has found: no other receive or probe finds it.
///
/// It is on its way into memory of its own as soon as it was found, so that a
/// synchronous send may complete before [`recv`](Self::recv) is called. A message
/// that is dropped is lost.
#[doc(alias = "MPI_Message")]
#[must_use = "a message that is dropped is lost"]
#[derive(Debug)]
pub struct Message<P: PointToPoint> {
    status: Status,
    request: Request<P, Received<u8>>,
}

#[cfg(feature = "defmt")]
impl<P: PointToPoint> defmt::Format for Message<P> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Message {{ {} }}", self.status);
    }
}

/// The elements of a message, if a receive of `capacity` bytes takes it.
fn fitting<T: Pod>((data, status): Received<u8>, capacity: usize) -> Result<Received<T>, MpiError> {
    if data.len() > capacity {
        return Err(MpiError::Truncate {
            total: data.len() as u64,
            capacity: capacity as u64,
        });
    }
    Ok((elements(&data)?, status))
}

impl<P: PointToPoint> Message<P> {
    /// Whose message it is, its tag and length.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Receives it: `count` elements at most.
    ///
    /// # Errors
    /// [`MpiError::Truncate`], [`MpiError::PartialElement`]; those of the peer.
    #[doc(alias = "MPI_Mrecv")]
    pub async fn recv<T: Pod>(self, count: usize) -> Result<Received<T>, MpiError> {
        self.irecv(count)?.wait().await
    }

    /// Starts to receive it.
    ///
    /// # Errors
    /// As [`recv`](Self::recv), with the completion.
    #[doc(alias = "MPI_Imrecv")]
    pub fn irecv<T: Pod>(self, count: usize) -> Result<Request<P, Received<T>>, MpiError> {
        let capacity = bytes_of::<T>(count)?;
        let fits = move |found| fitting(found, capacity);
        Ok(self.request.and_then(fits))
    }
}

impl<P: PointToPoint> Communicator<P> {
    /// Whether a message of `source` may be waited for.
    fn check_source(&self, source: Source) -> Result<(), MpiError> {
        match source {
            Source::Any => self.senders().check(self.process()),
            Source::Rank(rank) => match self.world_rank(rank) {
                Some(rank) if self.process().closed().contains(&rank) => {
                    Err(MpiError::PeerClosed { rank })
                }
                _ => Ok(()),
            },
            Source::Null => Ok(()),
        }
    }

    async fn find(&self, pattern: Pattern, source: Source) -> Result<process::Status, MpiError> {
        let found = poll_fn(|cx| {
            self.engine().drive(cx, true);
            match self.process().poll_probe(pattern, cx) {
                Poll::Ready(result) => Poll::Ready(result),
                Poll::Pending => match self.check_source(source) {
                    Ok(()) => Poll::Pending,
                    Err(error) => Poll::Ready(Err(error)),
                },
            }
        });
        found.await
    }

    async fn look_for(
        &self,
        pattern: Pattern,
        source: Source,
    ) -> Result<Option<process::Status>, MpiError> {
        let found = self.process().iprobe(pattern).await;
        self.engine().look();
        match found {
            Some(found) => Ok(Some(found)),
            None => self.check_source(source).map(|()| None),
        }
    }

    /// Nothing comes between the probe that has found this and its receive.
    fn claim(&self, found: process::Status) -> Result<Message<P>, MpiError> {
        let exact = Pattern {
            context: self.context(),
            source: Some(found.source),
            tag: Some(found.tag),
        };
        let max = usize::MAX as u64;
        let length = usize::try_from(found.length).map_err(|_| MpiError::TooLong {
            length: found.length,
            max,
        })?;
        let id = self.post_receive(exact, length)?;
        Ok(Message {
            status: found.into(),
            request: Request::message(self.engine(), id, received),
        })
    }

    fn nobody(&self) -> Message<P> {
        Message {
            status: Status::NULL,
            request: Request::done(self.engine(), Ok((Vec::new(), Status::NULL))),
        }
    }

    /// Waits for a message that no receive has taken; it stays where it is.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`], [`MpiError::InvalidTag`];
    /// [`MpiError::PeerClosed`], [`MpiError::PeerClosedPending`] when there is none
    /// and its sender, or a possible one, is lost.
    #[doc(alias = "MPI_Probe")]
    pub async fn probe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status, MpiError> {
        let source = source.into();
        match self.pattern(source, tag.into())? {
            Some(pattern) => self.find(pattern, source).await.map(Status::from),
            None => Ok(Status::NULL),
        }
    }

    /// Makes a round of progress and looks for a message that no receive has taken.
    ///
    /// # Errors
    /// As [`probe`](Self::probe).
    #[doc(alias = "MPI_Iprobe")]
    pub async fn iprobe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Status>, MpiError> {
        let source = source.into();
        let Some(pattern) = self.pattern(source, tag.into())? else {
            return Ok(Some(Status::NULL));
        };
        let found = self.look_for(pattern, source).await?;
        Ok(found.map(Status::from))
    }

    /// Waits for a message that no receive has taken, and takes it.
    ///
    /// # Errors
    /// As [`probe`](Self::probe); [`MpiError::Resource`].
    #[doc(alias = "MPI_Mprobe")]
    pub async fn mprobe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Message<P>, MpiError> {
        let source = source.into();
        match self.pattern(source, tag.into())? {
            Some(pattern) => self.claim(self.find(pattern, source).await?),
            None => Ok(self.nobody()),
        }
    }

    /// Makes a round of progress, and takes a message that no receive has taken, if
    /// there is one.
    ///
    /// # Errors
    /// As [`mprobe`](Self::mprobe).
    #[doc(alias = "MPI_Improbe")]
    pub async fn improbe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Message<P>>, MpiError> {
        let source = source.into();
        let Some(pattern) = self.pattern(source, tag.into())? else {
            return Ok(Some(self.nobody()));
        };
        let found = self.look_for(pattern, source).await?;
        found.map(|found| self.claim(found)).transpose()
    }

    /// Receives a message of any length: [`mprobe`](Self::mprobe), then
    /// [`Message::recv`].
    ///
    /// # Errors
    /// As there.
    pub async fn recv_probed<T: Pod>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Received<T>, MpiError> {
        let found = self.mprobe(source, tag).await?;
        let whole = move |found: Received<u8>| {
            let length = found.0.len();
            fitting(found, length)
        };
        found.request.and_then(whole).wait().await
    }
}

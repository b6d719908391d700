//! Point-to-point calls.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::communicator::Communicator;
use super::failed::Senders;
use super::request::Request;
use super::status::{Peer, Source, Status, Tag};
use crate::mpi::collective::channel::elements;
use crate::mpi::collective::link::bytes_of;
use crate::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, SendMode,
};

/// What a receive gives.
pub type Received<T> = (Vec<T>, Status);

fn truncated(completion: &Completion) -> Result<(), MpiError> {
    let status = &completion.status;
    if status.is_truncated() {
        return Err(MpiError::Truncate {
            total: status.total,
            capacity: status.length,
        });
    }
    Ok(())
}

pub(super) fn received<T: Pod>(completion: Completion) -> Result<Received<T>, MpiError> {
    truncated(&completion)?;
    Ok((elements(&completion.data)?, completion.status.into()))
}

impl<P: PointToPoint> Communicator<P> {
    fn check(&self, rank: u32) -> Result<u32, MpiError> {
        let size = self.size();
        self.world_rank(rank)
            .ok_or(MpiError::InvalidRank { rank, size })
    }

    /// `None`: to nobody.
    pub(super) fn outgoing(
        &self,
        dst: Peer,
        tag: i32,
        mode: SendMode,
    ) -> Result<Option<Outgoing>, MpiError> {
        if tag < 0 {
            return Err(MpiError::InvalidTag { tag });
        }
        let Peer::Rank(rank) = dst else {
            return Ok(None);
        };
        Ok(Some(Outgoing {
            dst: self.check(rank)?,
            context: self.context(),
            src_rank: self.rank(),
            tag,
            internal: false,
            mode,
        }))
    }

    /// `None`: from nobody.
    pub(super) fn pattern(&self, source: Source, tag: Tag) -> Result<Option<Pattern>, MpiError> {
        let tag = match tag {
            Tag::Value(tag) if tag < 0 => return Err(MpiError::InvalidTag { tag }),
            Tag::Value(tag) => Some(tag),
            Tag::Any => None,
        };
        let source = match source {
            Source::Rank(rank) => {
                self.check(rank)?;
                Some(rank)
            }
            Source::Any => None,
            Source::Null => return Ok(None),
        };
        Ok(Some(Pattern {
            context: self.context(),
            source,
            tag,
        }))
    }

    /// Posts a receive, which a link that closes fails if its source is known.
    pub(super) fn post_receive(
        &self,
        pattern: Pattern,
        capacity: usize,
    ) -> Result<RequestId, MpiError> {
        let peer = pattern.source.and_then(|rank| self.world_rank(rank));
        self.process().irecv_from(pattern, peer, capacity)
    }

    /// Those who may send what a receive from any source waits for.
    fn any_of(&self, pattern: &Pattern) -> Option<Senders> {
        pattern.source.is_none().then(|| self.senders().clone())
    }

    pub(super) fn start_send<T: Pod>(
        &self,
        data: &[T],
        dst: Peer,
        tag: i32,
        mode: SendMode,
    ) -> Result<Request<P, ()>, MpiError> {
        let Some(to) = self.outgoing(dst, tag, mode)? else {
            return Ok(Request::done(self.engine(), Ok(())));
        };
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let id = self.process().isend(to, bytes.to_vec())?;
        Ok(Request::message(self.engine(), id, |_| Ok(())))
    }

    /// A blocking send; to self it must find its receive posted or fit the eager path.
    async fn blocking_send<T: Pod>(
        &self,
        data: &[T],
        dst: Peer,
        tag: i32,
        mode: SendMode,
    ) -> Result<(), MpiError> {
        let mut request = self.start_send(data, dst, tag, mode)?;
        if dst == Peer::Rank(self.rank()) {
            // A message to self needs no network: what is not complete now waits for
            // a receive that this blocked process will never post.
            return match request.test().await {
                Some(result) => result,
                None => Err(MpiError::SelfDeadlock {
                    length: size_of_val(data) as u64,
                    limit: match mode {
                        SendMode::Synchronous => 0,
                        _ => self.process().eager_limit(),
                    },
                }),
            };
        }
        request.wait().await
    }

    /// Sends and waits until `data` may be overwritten.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`], [`MpiError::InvalidTag`]; [`MpiError::SelfDeadlock`]
    /// for a message to this rank itself that would wait for its receive for ever;
    /// those of the peer.
    #[doc(alias = "MPI_Send")]
    pub async fn send<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<(), MpiError> {
        self.blocking_send(data, dst.into(), tag, SendMode::Standard)
            .await
    }

    /// Sends and waits until a receive has matched the message.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[doc(alias = "MPI_Ssend")]
    pub async fn ssend<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<(), MpiError> {
        self.blocking_send(data, dst.into(), tag, SendMode::Synchronous)
            .await
    }

    /// Starts a send; the data is taken over at once.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`], [`MpiError::InvalidTag`]; those of the peer.
    #[doc(alias = "MPI_Isend")]
    pub fn isend<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<Request<P, ()>, MpiError> {
        self.start_send(data, dst.into(), tag, SendMode::Standard)
    }

    /// Starts a send that is complete when a receive has matched it.
    ///
    /// # Errors
    /// As [`isend`](Self::isend).
    #[doc(alias = "MPI_Issend")]
    pub fn issend<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<Request<P, ()>, MpiError> {
        self.start_send(data, dst.into(), tag, SendMode::Synchronous)
    }

    /// Starts a send whose receive is known to be posted.
    ///
    /// # Errors
    /// As [`isend`](Self::isend).
    #[doc(alias = "MPI_Irsend")]
    pub fn irsend<T: Pod>(
        &self,
        data: &[T],
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<Request<P, ()>, MpiError> {
        self.start_send(data, dst.into(), tag, SendMode::Ready)
    }

    /// Starts a receive of `count` elements at most.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`], [`MpiError::InvalidTag`]. With the completion:
    /// [`MpiError::Truncate`] for a longer message (it is used up),
    /// [`MpiError::PartialElement`]; those of the peer;
    /// [`MpiError::PeerClosedPending`] of a receive from any source.
    #[doc(alias = "MPI_Irecv")]
    pub fn irecv<T: Pod>(
        &self,
        count: usize,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<P, Received<T>>, MpiError> {
        let engine = self.engine();
        let Some(pattern) = self.pattern(source.into(), tag.into())? else {
            return Ok(Request::done(engine, Ok((Vec::new(), Status::NULL))));
        };
        let id = self.post_receive(pattern, bytes_of::<T>(count)?)?;
        Ok(Request::message(engine, id, received).awaiting(self.any_of(&pattern)))
    }

    /// Receives `count` elements at most.
    ///
    /// # Errors
    /// As [`irecv`](Self::irecv).
    #[doc(alias = "MPI_Recv")]
    pub async fn recv<T: Pod>(
        &self,
        count: usize,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Received<T>, MpiError> {
        self.irecv(count, source, tag)?.wait().await
    }

    /// Receives into `buffer`; what is beyond the message stays as it was.
    ///
    /// # Errors
    /// As [`irecv`](Self::irecv); with [`MpiError::Truncate`] the buffer holds the
    /// beginning of the message.
    pub async fn recv_into<T: Pod>(
        &self,
        buffer: &mut [T],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status, MpiError> {
        let Some(pattern) = self.pattern(source.into(), tag.into())? else {
            return Ok(Status::NULL);
        };
        let id = self.post_receive(pattern, size_of_val(buffer))?;
        let request = Request::message(self.engine(), id, Ok);
        let request = request.awaiting(self.any_of(&pattern));
        let completion = request.wait().await?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
        for (place, byte) in bytes.iter_mut().zip(&completion.data) {
            *place = *byte;
        }
        truncated(&completion)?;
        Ok(completion.status.into())
    }

    /// Sends to one rank and receives from one, in whatever order they come.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`recv`](Self::recv).
    #[doc(alias = "MPI_Sendrecv")]
    pub async fn sendrecv<S: Pod, T: Pod>(
        &self,
        data: &[S],
        dst: impl Into<Peer>,
        send_tag: i32,
        count: usize,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Received<T>, MpiError> {
        let receive = self.irecv(count, source, tag)?;
        let send = self.isend(data, dst, send_tag)?;
        let received = receive.wait().await;
        send.wait().await?;
        received
    }
}

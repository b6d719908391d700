//! The messages of one collective operation of a process whose data is allocated.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytemuck::Pod;

use super::engine::Pending;
use super::link::{self, Link, List, bytes, bytes_of};
use crate::mpi::process::{MpiError, Outgoing, Pattern, PointToPoint, SendMode, Work};

/// The elements that `bytes` are, which must be a whole number of them.
pub(crate) fn elements<T: Pod>(bytes: &[u8]) -> Result<Vec<T>, MpiError> {
    let count = bytes.len() / size_of::<T>().max(1);
    let mut data = alloc::vec![T::zeroed(); count];
    link::fill(&mut data, bytes)?;
    Ok(data)
}

impl<X> List<X> for Vec<X> {
    fn add(&mut self, item: X) -> Result<(), MpiError> {
        self.push(item);
        Ok(())
    }
}

/// A send in progress.
pub(crate) struct Sending<P: PointToPoint>(Pending<P>);

impl<P: PointToPoint> Future for Sending<P> {
    type Output = Result<(), MpiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(cx)
            .map(|result| result.map(drop))
    }
}

/// A receive in progress.
pub(crate) struct Receiving<P: PointToPoint>(Pending<P>);

impl<P: PointToPoint> link::Receiving for Receiving<P> {
    async fn fill<T: Pod>(self, place: &mut [T]) -> Result<(), MpiError> {
        let completion = self.0.await?;
        if completion.status.is_truncated() {
            return Err(MpiError::Truncate {
                total: completion.status.total,
                capacity: completion.status.length,
            });
        }
        link::fill(place, &completion.data)
    }
}

/// One operation's messages: the collective context of a communicator and a tag of
/// the operation's own. Ranks are those of the communicator.
pub(crate) struct Channel<P> {
    pub(crate) process: P,
    pub(crate) ranks: Rc<[u32]>,
    pub(crate) rank: usize,
    pub(crate) context: u32,
    pub(crate) tag: i32,
    pub(crate) testing: Rc<Cell<bool>>,
}

impl<P: PointToPoint> Link for Channel<P> {
    type Sending = Sending<P>;
    type Receiving = Receiving<P>;
    type List<X> = Vec<X>;

    fn size(&self) -> usize {
        self.ranks.len()
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn isend_pieces<T: Pod>(
        &self,
        to: usize,
        first: &[T],
        second: &[T],
    ) -> Result<Sending<P>, MpiError> {
        let size = self.size() as u32;
        let rank = to as u32;
        let Some(&dst) = self.ranks.get(to) else {
            return Err(MpiError::InvalidRank { rank, size });
        };
        let to = Outgoing {
            dst,
            context: self.context,
            src_rank: self.rank as u32,
            tag: self.tag,
            internal: true,
            mode: SendMode::Standard,
        };
        let data = [bytes(first), bytes(second)].concat();
        let id = self.process.isend(to, data)?;
        Ok(Sending(Pending::new(&self.process, id, &self.testing)))
    }

    fn isend_each<T: Pod>(
        &self,
        ranks: impl Iterator<Item = usize>,
        data: &[T],
        sends: &mut Vec<Sending<P>>,
    ) -> Result<(), MpiError> {
        for to in ranks {
            sends.push(self.isend(to, data)?);
        }
        Ok(())
    }

    fn irecv<T: Pod>(&self, from: usize, count: usize) -> Result<Receiving<P>, MpiError> {
        let pattern = Pattern {
            context: self.context,
            source: Some(from as u32),
            tag: Some(self.tag),
        };
        let peer = self.ranks.get(from).copied();
        let id = self
            .process
            .irecv_from(pattern, peer, bytes_of::<T>(count)?)?;
        Ok(Receiving(Pending::new(&self.process, id, &self.testing)))
    }

    fn charge(&self, work: Work) {
        self.process.charge(work);
    }
}

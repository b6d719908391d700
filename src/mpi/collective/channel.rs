//! The messages of one collective operation.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::marker::PhantomData;

use bytemuck::Pod;

use super::engine::Pending;
use crate::mpi::process::{MpiError, Outgoing, Pattern, PointToPoint, SendMode, Work};

/// Bytes of `count` elements of `T`.
pub(crate) fn bytes_of<T>(count: usize) -> Result<usize, MpiError> {
    let size = size_of::<T>();
    count.checked_mul(size).ok_or(MpiError::TooLong {
        length: (count as u64).saturating_mul(size as u64),
        max: usize::MAX as u64,
    })
}

/// The elements that `bytes` are, which must be a whole number of them.
pub(crate) fn elements<T: Pod>(bytes: &[u8]) -> Result<Vec<T>, MpiError> {
    let element = size_of::<T>();
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    if element == 0 || !bytes.len().is_multiple_of(element) {
        return Err(MpiError::PartialElement {
            length: bytes.len() as u64,
            element: element as u64,
        });
    }
    Ok(bytemuck::pod_collect_to_vec(bytes))
}

/// `count` where `expected` elements were needed, or nothing wrong.
pub(crate) fn check_count(count: usize, expected: usize) -> Result<(), MpiError> {
    if count == expected {
        return Ok(());
    }
    Err(MpiError::InvalidCount {
        count: count as u64,
        expected: expected as u64,
    })
}

/// `length` elements of `data` from `start`.
pub(crate) fn part<T>(data: &[T], start: usize, length: usize) -> Result<&[T], MpiError> {
    let end = start.saturating_add(length);
    data.get(start..end).ok_or(MpiError::InvalidCount {
        count: data.len() as u64,
        expected: end as u64,
    })
}

/// Puts `from` into `data` at `start`.
pub(crate) fn place<T: Copy>(data: &mut [T], start: usize, from: &[T]) -> Result<(), MpiError> {
    let end = start.saturating_add(from.len());
    let count = data.len() as u64;
    let room = data.get_mut(start..end).ok_or(MpiError::InvalidCount {
        count,
        expected: end as u64,
    })?;
    room.copy_from_slice(from);
    Ok(())
}

/// Start of each block when they lie one behind the other, and their sum at the end.
pub(crate) fn starts(counts: &[usize]) -> Result<Vec<usize>, MpiError> {
    let mut sum = 0usize;
    let mut starts = Vec::with_capacity(counts.len() + 1);
    starts.push(0);
    for count in counts {
        sum = sum.checked_add(*count).ok_or(MpiError::TooLong {
            length: u64::MAX,
            max: usize::MAX as u64,
        })?;
        starts.push(sum);
    }
    Ok(starts)
}

/// `count` elements cut into `parts` blocks whose sizes differ by one at most.
pub(super) fn even_blocks(count: usize, parts: usize) -> Vec<usize> {
    let parts = parts.max(1);
    let (each, more) = (count / parts, count % parts);
    (0..parts).map(|i| each + usize::from(i < more)).collect()
}

/// A receive of a known number of elements.
pub(super) struct Receiving<P: PointToPoint, T> {
    pending: Pending<P>,
    count: usize,
    element: PhantomData<T>,
}

impl<P: PointToPoint, T: Pod> Receiving<P, T> {
    /// The elements, exactly as many as were asked for.
    pub(super) async fn done(self) -> Result<Vec<T>, MpiError> {
        let completion = self.pending.await?;
        if completion.status.is_truncated() {
            return Err(MpiError::Truncate {
                total: completion.status.total,
                capacity: completion.status.length,
            });
        }
        let data = elements(&completion.data)?;
        check_count(data.len(), self.count)?;
        Ok(data)
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

impl<P: PointToPoint> Channel<P> {
    pub(super) fn size(&self) -> usize {
        self.ranks.len()
    }

    /// The rank `distance` above this one, around the ring.
    pub(super) fn above(&self, distance: usize) -> usize {
        let size = self.size().max(1);
        (self.rank + distance % size) % size
    }

    /// The rank `distance` below this one, around the ring.
    pub(super) fn below(&self, distance: usize) -> usize {
        let size = self.size().max(1);
        (self.rank + size - distance % size) % size
    }

    pub(super) fn isend<T: Pod>(&self, to: usize, data: &[T]) -> Result<Pending<P>, MpiError> {
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
        let data: &[u8] = bytemuck::cast_slice(data);
        let id = self.process.isend(to, data.to_vec())?;
        Ok(Pending::new(&self.process, id, &self.testing))
    }

    pub(super) fn irecv<T: Pod>(
        &self,
        from: usize,
        count: usize,
    ) -> Result<Receiving<P, T>, MpiError> {
        let pattern = Pattern {
            context: self.context,
            source: Some(from as u32),
            tag: Some(self.tag),
        };
        let peer = self.ranks.get(from).copied();
        let id = self
            .process
            .irecv_from(pattern, peer, bytes_of::<T>(count)?)?;
        Ok(Receiving {
            pending: Pending::new(&self.process, id, &self.testing),
            count,
            element: PhantomData,
        })
    }

    pub(super) async fn send<T: Pod>(&self, to: usize, data: &[T]) -> Result<(), MpiError> {
        self.isend(to, data)?.await.map(drop)
    }

    pub(super) async fn recv<T: Pod>(&self, from: usize, count: usize) -> Result<Vec<T>, MpiError> {
        self.irecv(from, count)?.done().await
    }

    /// Sends to one rank while receiving from another (or the same).
    pub(super) async fn exchange<T: Pod>(
        &self,
        to: usize,
        data: &[T],
        from: usize,
        count: usize,
    ) -> Result<Vec<T>, MpiError> {
        let receiving = self.irecv(from, count)?;
        let sending = self.isend(to, data)?;
        let received = receiving.done().await?;
        sending.await?;
        Ok(received)
    }

    /// As [`exchange`](Self::exchange), where an empty half is no message. Both ends
    /// must know the counts.
    pub(super) async fn exchange_some<T: Pod>(
        &self,
        to: usize,
        data: &[T],
        from: usize,
        count: usize,
    ) -> Result<Vec<T>, MpiError> {
        let receiving = match count {
            0 => None,
            _ => Some(self.irecv(from, count)?),
        };
        let sending = match data.len() {
            0 => None,
            _ => Some(self.isend(to, data)?),
        };
        let received = match receiving {
            Some(receiving) => receiving.done().await?,
            None => Vec::new(),
        };
        if let Some(sending) = sending {
            sending.await?;
        }
        Ok(received)
    }

    /// Waits for all sends.
    pub(super) async fn all_sent(sends: Vec<Pending<P>>) -> Result<(), MpiError> {
        for send in sends {
            send.await?;
        }
        Ok(())
    }

    /// Elements copied by this process.
    pub(super) fn copied<T>(&self, count: usize) {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        if bytes > 0 {
            self.process.charge(Work::Copy { bytes });
        }
    }
}

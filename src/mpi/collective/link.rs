//! What an algorithm asks of the messages below it.
//!
//! The algorithms move slices that somebody else owns. Two kinds of messages carry
//! them: those of a process whose data is allocated ([`PointToPoint`], the programs of
//! a world), and those of an endpoint over fixed storage ([`polled`]). Both send the
//! same messages in the same order, so ranks of both kinds may meet in one operation.
//!
//! [`PointToPoint`]: crate::mpi::process::PointToPoint
//! [`polled`]: crate::mpi::polled

use core::future::Future;

use bytemuck::Pod;

use super::op::Combine;
use crate::mpi::process::{MpiError, Work};

/// Where a block lies: first element and how many.
pub(crate) type Run = (usize, usize);

/// Started messages that are completed later.
pub(crate) trait List<X>: Default + IntoIterator<Item = X> {
    /// One more.
    fn add(&mut self, item: X) -> Result<(), MpiError>;
}

/// A started receive of a known number of elements.
pub(crate) trait Receiving {
    /// Fills `place`, whose length is what was asked for.
    fn fill<T: Pod>(self, place: &mut [T]) -> impl Future<Output = Result<(), MpiError>>;
}

/// One operation's messages among the ranks of a communicator.
pub(crate) trait Link {
    type Sending: Future<Output = Result<(), MpiError>>;
    type Receiving: Receiving;
    type List<X>: List<X>;

    fn size(&self) -> usize;

    fn rank(&self) -> usize;

    /// Starts a send of two pieces as one message. They are copied before it returns.
    fn isend_pieces<T: Pod>(
        &self,
        to: usize,
        first: &[T],
        second: &[T],
    ) -> Result<Self::Sending, MpiError>;

    /// Starts a send of the same data to each of `ranks`, in their order.
    fn isend_each<T: Pod>(
        &self,
        ranks: impl Iterator<Item = usize>,
        data: &[T],
        sends: &mut Self::List<Self::Sending>,
    ) -> Result<(), MpiError>;

    /// Starts a receive of `count` elements.
    fn irecv<T: Pod>(&self, from: usize, count: usize) -> Result<Self::Receiving, MpiError>;

    /// The process's CPU has worked.
    fn charge(&self, work: Work);

    /// Starts a send; the data is copied before it returns.
    fn isend<T: Pod>(&self, to: usize, data: &[T]) -> Result<Self::Sending, MpiError> {
        self.isend_pieces(to, data, &[])
    }

    /// The rank `distance` above this one, around the ring.
    fn above(&self, distance: usize) -> usize {
        let size = self.size().max(1);
        (self.rank() + distance % size) % size
    }

    /// The rank `distance` below this one, around the ring.
    fn below(&self, distance: usize) -> usize {
        let size = self.size().max(1);
        (self.rank() + size - distance % size) % size
    }

    async fn send<T: Pod>(&self, to: usize, data: &[T]) -> Result<(), MpiError> {
        self.isend(to, data)?.await
    }

    async fn recv<T: Pod>(&self, from: usize, place: &mut [T]) -> Result<(), MpiError> {
        self.irecv::<T>(from, place.len())?.fill(place).await
    }

    /// Sends to one rank while receiving from another (or the same).
    async fn exchange<T: Pod>(
        &self,
        to: usize,
        data: &[T],
        from: usize,
        place: &mut [T],
    ) -> Result<(), MpiError> {
        let receiving = self.irecv::<T>(from, place.len())?;
        let sending = self.isend(to, data)?;
        receiving.fill(place).await?;
        sending.await
    }

    /// As [`exchange`](Self::exchange), where an empty half is no message. Both ends
    /// must know the counts.
    async fn exchange_some<T: Pod>(
        &self,
        to: usize,
        data: &[T],
        from: usize,
        place: &mut [T],
    ) -> Result<(), MpiError> {
        let receiving = match place.len() {
            0 => None,
            count => Some(self.irecv::<T>(from, count)?),
        };
        let sending = match data.len() {
            0 => None,
            _ => Some(self.isend(to, data)?),
        };
        if let Some(receiving) = receiving {
            receiving.fill(place).await?;
        }
        match sending {
            Some(sending) => sending.await,
            None => Ok(()),
        }
    }

    /// As [`exchange_some`](Self::exchange_some), from one block of `data` into another
    /// one, or the same.
    async fn exchange_within<T: Pod>(
        &self,
        data: &mut [T],
        to: usize,
        sent: Run,
        from: usize,
        wanted: Run,
    ) -> Result<(), MpiError> {
        let receiving = match wanted.1 {
            0 => None,
            count => Some(self.irecv::<T>(from, count)?),
        };
        let sending = match sent.1 {
            0 => None,
            _ => Some(self.isend(to, part(data, sent.0, sent.1)?)?),
        };
        if let Some(receiving) = receiving {
            let place = part_mut(data, wanted.0, wanted.1)?;
            receiving.fill(place).await?;
        }
        match sending {
            Some(sending) => sending.await,
            None => Ok(()),
        }
    }

    /// Waits for all sends.
    async fn all_sent(sends: Self::List<Self::Sending>) -> Result<(), MpiError> {
        for send in sends {
            send.await?;
        }
        Ok(())
    }

    /// Elements copied by this process.
    fn copied<T>(&self, count: usize) {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        if bytes > 0 {
            self.charge(Work::Copy { bytes });
        }
    }

    /// `sum` becomes `sum` with `right`, which comes from higher ranks.
    fn join<T: Pod>(
        &self,
        op: &impl Combine<T>,
        sum: &mut [T],
        right: &[T],
    ) -> Result<(), MpiError> {
        check_count(right.len(), sum.len())?;
        self.combined::<T>(sum.len());
        for (sum, right) in sum.iter_mut().zip(right) {
            *sum = op.combine(sum, right);
        }
        Ok(())
    }

    /// `sum` becomes `left`, which comes from lower ranks, with `sum`.
    fn join_below<T: Pod>(
        &self,
        op: &impl Combine<T>,
        left: &[T],
        sum: &mut [T],
    ) -> Result<(), MpiError> {
        check_count(sum.len(), left.len())?;
        self.combined::<T>(left.len());
        for (left, sum) in left.iter().zip(sum) {
            *sum = op.combine(left, sum);
        }
        Ok(())
    }

    /// Elements combined by this process.
    fn combined<T>(&self, count: usize) {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        if bytes > 0 {
            self.charge(Work::Reduce { bytes });
        }
    }
}

/// The tag of a collective operation: from -1 downwards, -2^31 is followed by -1.
pub(crate) fn tag_of(sequence: u32) -> i32 {
    -1 - (sequence & 0x7fff_ffff).cast_signed()
}

/// Bytes of `count` elements of `T`.
pub(crate) fn bytes_of<T>(count: usize) -> Result<usize, MpiError> {
    let size = size_of::<T>();
    count.checked_mul(size).ok_or(MpiError::TooLong {
        length: (count as u64).saturating_mul(size as u64),
        max: usize::MAX as u64,
    })
}

/// The bytes that elements are.
pub(crate) fn bytes<T: Pod>(data: &[T]) -> &[u8] {
    bytemuck::try_cast_slice(data).unwrap_or(&[])
}

/// Makes elements of the `bytes` of a message: as many as `place` has.
pub(crate) fn fill<T: Pod>(place: &mut [T], bytes: &[u8]) -> Result<(), MpiError> {
    if bytes.is_empty() {
        return check_count(0, place.len());
    }
    let element = size_of::<T>();
    if element == 0 || !bytes.len().is_multiple_of(element) {
        return Err(MpiError::PartialElement {
            length: bytes.len() as u64,
            element: element as u64,
        });
    }
    check_count(bytes.len() / element, place.len())?;
    let room: &mut [u8] = bytemuck::try_cast_slice_mut(place).unwrap_or(&mut []);
    check_count(bytes.len(), room.len())?;
    room.copy_from_slice(bytes);
    Ok(())
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

/// Room for `count` elements where `expected` are needed, or more than enough.
pub(crate) fn check_room(count: usize, expected: usize) -> Result<(), MpiError> {
    check_count(count.min(expected), expected)
}

/// `length` elements of `data` from `start`.
pub(crate) fn part<T>(data: &[T], start: usize, length: usize) -> Result<&[T], MpiError> {
    let end = start.saturating_add(length);
    data.get(start..end).ok_or(MpiError::InvalidCount {
        count: data.len() as u64,
        expected: end as u64,
    })
}

/// As [`part`], to be written.
pub(crate) fn part_mut<T>(
    data: &mut [T],
    start: usize,
    length: usize,
) -> Result<&mut [T], MpiError> {
    let end = start.saturating_add(length);
    let count = data.len() as u64;
    data.get_mut(start..end).ok_or(MpiError::InvalidCount {
        count,
        expected: end as u64,
    })
}

/// Puts `from` into `data` at `start`.
pub(crate) fn place<T: Copy>(data: &mut [T], start: usize, from: &[T]) -> Result<(), MpiError> {
    part_mut(data, start, from.len())?.copy_from_slice(from);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::tag_of;

    #[test]
    fn tags_of_collectives_are_negative_and_wrap() {
        assert_eq!(tag_of(0), -1);
        assert_eq!(tag_of(5), -6);
        assert_eq!(tag_of(0x7fff_ffff), i32::MIN);
        assert_eq!(tag_of(0x8000_0000), -1);
        assert_eq!(tag_of(u32::MAX), i32::MIN);
    }
}

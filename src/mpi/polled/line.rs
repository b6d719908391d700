//! The messages of one operation.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytemuck::Pod;

use super::courier::Courier;
use super::desk::{Message, ShareId, Ticket};
use super::need::Need;
use crate::mpi::collective::link::{self, Link, List, bytes, bytes_of};
use crate::mpi::process::{MpiError, Outgoing, Pattern, SendMode, Status, Work};

/// The ranks of a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ranks<'c> {
    /// The world, of so many.
    All(u32),
    /// World rank of each.
    Some(&'c [u32]),
}

impl Ranks<'_> {
    pub(super) fn size(&self) -> usize {
        match self {
            Self::All(size) => *size as usize,
            Self::Some(ranks) => ranks.len(),
        }
    }

    pub(super) fn world(&self, rank: usize) -> Option<u32> {
        match self {
            Self::All(size) => u32::try_from(rank).ok().filter(|rank| rank < size),
            Self::Some(ranks) => ranks.get(rank).copied(),
        }
    }
}

/// One operation's messages: the collective context of a communicator and a tag of the
/// operation's own.
#[derive(Debug)]
pub(super) struct Line<'c, 'a, const N: usize> {
    pub(super) courier: &'c Courier<'a, N>,
    pub(super) ranks: Ranks<'c>,
    pub(super) rank: usize,
    pub(super) context: u32,
    pub(super) tag: i32,
    /// What the operation has taken of the courier.
    pub(super) share: Option<ShareId>,
}

impl<const N: usize> Drop for Line<'_, '_, N> {
    fn drop(&mut self) {
        if let Some(share) = self.share {
            self.courier.give_back(share);
        }
    }
}

impl<X, const N: usize> List<X> for heapless::Vec<X, N> {
    fn add(&mut self, item: X) -> Result<(), MpiError> {
        let full = MpiError::Resource { limit: N as u64 };
        self.push(item).map_err(|_| full)
    }
}

/// A message in progress. Dropped, it goes on by itself.
#[derive(Debug)]
pub(super) struct Carried<'c, 'a, const N: usize> {
    courier: &'c Courier<'a, N>,
    /// None once the result was taken.
    ticket: Option<Ticket>,
}

impl<const N: usize> Carried<'_, '_, N> {
    fn look(
        &mut self,
        read: impl FnOnce(&Status, &[u8]) -> Result<(), MpiError>,
    ) -> Poll<Result<(), MpiError>> {
        let Some(ticket) = &self.ticket else {
            return Poll::Pending;
        };
        let Some(result) = self.courier.result(ticket, read) else {
            return Poll::Pending;
        };
        self.ticket = None;
        Poll::Ready(result)
    }
}

impl<const N: usize> Drop for Carried<'_, '_, N> {
    fn drop(&mut self) {
        if let Some(ticket) = &self.ticket {
            self.courier.release(ticket);
        }
    }
}

/// A send in progress.
#[derive(Debug)]
pub(super) struct Sending<'c, 'a, const N: usize>(Carried<'c, 'a, N>);

impl<const N: usize> Future for Sending<'_, '_, N> {
    type Output = Result<(), MpiError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.look(|_, _| Ok(()))
    }
}

/// A receive in progress.
#[derive(Debug)]
pub(super) struct Receiving<'c, 'a, const N: usize>(Carried<'c, 'a, N>);

impl<const N: usize> link::Receiving for Receiving<'_, '_, N> {
    async fn fill<T: Pod>(mut self, place: &mut [T]) -> Result<(), MpiError> {
        core::future::poll_fn(|_| {
            self.0.look(|status, bytes| {
                if status.is_truncated() {
                    return Err(MpiError::Truncate {
                        total: status.total,
                        capacity: status.length,
                    });
                }
                link::fill(place, bytes)
            })
        })
        .await
    }
}

impl<'c, 'a, const N: usize> Line<'c, 'a, N> {
    /// Takes what the operation needs of the courier, for elements of `T`.
    pub(super) fn take<T>(&mut self, need: Need) -> Result<(), MpiError> {
        // A rank alone sends nothing.
        if self.ranks.size() > 1 && self.share.is_none() {
            self.share = need.take::<T, N>(self.courier)?;
        }
        Ok(())
    }

    fn share(&self) -> Result<ShareId, MpiError> {
        self.share.ok_or(MpiError::Resource { limit: 0 })
    }

    fn outgoing(&self, to: usize) -> Result<Outgoing, MpiError> {
        let missing = MpiError::InvalidRank {
            rank: to as u32,
            size: self.ranks.size() as u32,
        };
        Ok(Outgoing {
            dst: self.ranks.world(to).ok_or(missing)?,
            context: self.context,
            src_rank: self.rank as u32,
            tag: self.tag,
            internal: true,
            mode: SendMode::Standard,
        })
    }

    fn carried(&self, ticket: Ticket) -> Carried<'c, 'a, N> {
        Carried {
            courier: self.courier,
            ticket: Some(ticket),
        }
    }

    fn one(
        &self,
        message: Message,
        length: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<Carried<'c, 'a, N>, MpiError> {
        let mut carried = None;
        let message = core::iter::once(message);
        self.courier
            .ask(self.share()?, message, length, write, |ticket| {
                carried = Some(self.carried(ticket));
                Ok(())
            })?;
        carried.ok_or(MpiError::Resource { limit: N as u64 })
    }
}

impl<'c, 'a, const N: usize> Link for Line<'c, 'a, N> {
    type Sending = Sending<'c, 'a, N>;
    type Receiving = Receiving<'c, 'a, N>;
    type List<X> = heapless::Vec<X, N>;

    fn size(&self) -> usize {
        self.ranks.size()
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn isend_pieces<T: Pod>(
        &self,
        to: usize,
        first: &[T],
        second: &[T],
    ) -> Result<Self::Sending, MpiError> {
        let (first, second) = (bytes(first), bytes(second));
        let message = Message::Send(self.outgoing(to)?);
        let length = first.len().saturating_add(second.len());
        let write = |place: &mut [u8]| {
            let pieces = first.iter().chain(second);
            place
                .iter_mut()
                .zip(pieces)
                .for_each(|(to, from)| *to = *from);
        };
        Ok(Sending(self.one(message, length, write)?))
    }

    fn isend_each<T: Pod>(
        &self,
        ranks: impl Iterator<Item = usize>,
        data: &[T],
        sends: &mut Self::List<Self::Sending>,
    ) -> Result<(), MpiError> {
        let Some(share) = self.share else {
            // A rank alone: there are no others.
            return Ok(());
        };
        let data = bytes(data);
        let mut wrong = None;
        let messages = ranks.map_while(|to| match self.outgoing(to) {
            Ok(to) => Some(Message::Send(to)),
            Err(error) => {
                wrong = Some(error);
                None
            }
        });
        let write = |place: &mut [u8]| {
            place
                .iter_mut()
                .zip(data)
                .for_each(|(to, from)| *to = *from);
        };
        self.courier
            .ask(share, messages, data.len(), write, |ticket| {
                sends.add(Sending(self.carried(ticket)))
            })?;
        wrong.map_or(Ok(()), Err)
    }

    fn irecv<T: Pod>(&self, from: usize, count: usize) -> Result<Self::Receiving, MpiError> {
        let pattern = Pattern {
            context: self.context,
            source: Some(from as u32),
            tag: Some(self.tag),
        };
        let peer = self.ranks.world(from);
        let message = Message::Receive { pattern, peer };
        Ok(Receiving(self.one(
            message,
            bytes_of::<T>(count)?,
            |_| (),
        )?))
    }

    /// The processor is a real one: its work takes the time it takes.
    fn charge(&self, _: Work) {}
}

//! A communicator over a courier.

use core::cell::Cell;
use core::future::Future;

use super::courier::Courier;
use super::line::{Line, Ranks};
use super::need::Seat;
use crate::mpi::boot::Place;
use crate::mpi::collective::link::tag_of;
use crate::mpi::collective::{Algorithms, barrier};
use crate::mpi::process::MpiError;

/// Ranks that make collective calls among themselves, all of them the same calls in the
/// same order.
///
/// Each call gives a future. It takes its tag at once, in the order of calls, and sends
/// nothing before it is first looked at ([`Operation::start`](super::Operation::start)).
/// Several may be under way. A call that is refused on one rank only, or whose future is
/// dropped before its end, leaves the others waiting.
///
/// # Errors
/// Of every call, before anything is sent: [`MpiError::InvalidRoot`];
/// [`MpiError::InvalidCount`] for a buffer, or room for operands, of the wrong length;
/// [`MpiError::TooLong`] when the courier has fewer bytes than the messages of this rank
/// take, [`MpiError::Resource`] when it has fewer messages or bytes left beside the
/// operations under way. Later: those of messages ([`MpiError::PeerClosed`] for a link
/// that is closed, [`MpiError::Truncate`] and [`MpiError::InvalidCount`] for a peer that
/// sends another length).
///
/// # Example
/// One rank alone; `mpi_no_alloc` among the examples has two.
/// ```
/// use core::pin::pin;
/// use multipc::mpi::boot::Place;
/// use multipc::mpi::collective::FixedOp;
/// use multipc::mpi::polled::{Courier, Group, Operation};
///
/// let mut staging = [0; 64];
/// let courier: Courier<'_, 4> = Courier::new(&mut staging, 0x8000);
/// let group = Group::world(&courier, &Place::alone(0, 1, 0x1000));
/// let mut sum = [3u32, 4];
/// let op = FixedOp::sum();
/// let call = pin!(group.allreduce(&mut sum, &op, &mut []));
/// let mut operation = Operation::start(call);
/// assert_eq!(operation.take(), Some(Ok(())));
/// ```
#[derive(Debug)]
pub struct Group<'c, 'a, const N: usize> {
    courier: &'c Courier<'a, N>,
    ranks: Ranks<'c>,
    rank: u32,
    /// The number `c`: its operations use context `2c + 1`.
    number: u32,
    /// Operations called so far.
    sequence: Cell<u32>,
    algorithms: Cell<Algorithms>,
}

#[cfg(feature = "defmt")]
impl<const N: usize> defmt::Format for Group<'_, '_, N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Group {{ number: {}, rank: {} of {} }}",
            self.number,
            self.rank,
            self.size()
        );
    }
}

impl<'c, 'a, const N: usize> Group<'c, 'a, N> {
    /// All ranks of the world, of which the process at `place` is one: number 0. To be
    /// made once.
    pub const fn world(courier: &'c Courier<'a, N>, place: &Place) -> Self {
        Self::make(courier, Ranks::All(place.ranks), place.rank, 0)
    }

    /// The processes with these world ranks, of which this one has place `rank` in the
    /// list; `number` is the same on all of them, below 2^31, and used by no other group
    /// of theirs.
    ///
    /// # Errors
    /// [`MpiError::InvalidRank`], [`MpiError::NoContext`].
    pub fn new(
        courier: &'c Courier<'a, N>,
        ranks: &'c [u32],
        rank: u32,
        number: u32,
    ) -> Result<Self, MpiError> {
        let size = ranks.len() as u32;
        if rank >= size {
            return Err(MpiError::InvalidRank { rank, size });
        }
        let limit = 1 << 31;
        if number >= limit {
            return Err(MpiError::NoContext { limit });
        }
        Ok(Self::make(courier, Ranks::Some(ranks), rank, number))
    }

    /// Some of the ranks of this group's process: as [`new`](Self::new), over the same
    /// courier.
    ///
    /// # Errors
    /// As there.
    pub fn part(&self, ranks: &'c [u32], rank: u32, number: u32) -> Result<Self, MpiError> {
        Self::new(self.courier, ranks, rank, number)
    }

    const fn make(courier: &'c Courier<'a, N>, ranks: Ranks<'c>, rank: u32, number: u32) -> Self {
        Self {
            courier,
            ranks,
            rank,
            number,
            sequence: Cell::new(0),
            algorithms: Cell::new(Algorithms::DEFAULT),
        }
    }

    /// This process's rank.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// How many ranks.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.ranks.size() as u32
    }

    /// The algorithms of calls.
    #[must_use]
    pub const fn algorithms(&self) -> Algorithms {
        self.algorithms.get()
    }

    /// Chooses the algorithms of later calls; to be done alike on all ranks.
    pub fn set_algorithms(&self, algorithms: Algorithms) {
        self.algorithms.set(algorithms);
    }

    /// The messages of the next operation.
    pub(super) fn line(&self) -> Line<'c, 'a, N> {
        let sequence = self.sequence.get();
        self.sequence.set(sequence.wrapping_add(1));
        Line {
            courier: self.courier,
            ranks: self.ranks,
            rank: self.rank as usize,
            context: self.number.wrapping_mul(2) | 1,
            tag: tag_of(sequence),
            share: None,
        }
    }

    pub(super) fn seat(&self, root: u32) -> Result<Seat, MpiError> {
        let size = self.size();
        if root >= size {
            return Err(MpiError::InvalidRoot { root, size });
        }
        Ok(Seat {
            rank: self.rank as usize,
            size: size as usize,
            root: root as usize,
        })
    }

    /// At its end every rank has called it. What a program does between two looks
    /// overlaps with it.
    #[doc(alias = "MPI_Barrier")]
    #[doc(alias = "MPI_Ibarrier")]
    pub fn barrier(&self) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().barrier);
        async move {
            let seat = self.seat(0)?;
            line.take::<u8>(seat.barrier(chosen))?;
            barrier::barrier(&line, chosen).await
        }
    }
}

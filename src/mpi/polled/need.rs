//! What an operation needs of its courier: messages at once, and their bytes.
//!
//! Upper bounds for one rank, operation by operation and algorithm by algorithm, checked
//! before the first message.

use super::courier::Courier;
use super::desk::ShareId;
use crate::mpi::collective::cut::Cut;
use crate::mpi::collective::link::bytes_of;
use crate::mpi::collective::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Reduce, ReduceScatter,
    Rooted, Scan, allgather, allreduce, alltoall, bcast, tree,
};
use crate::mpi::process::MpiError;

/// Who is asking: a rank of so many, and the root of the operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) root: usize,
}

/// Messages at once, and elements in them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Need {
    messages: usize,
    elements: usize,
}

impl Need {
    const fn of(messages: usize, elements: usize) -> Self {
        Self { messages, elements }
    }

    /// Two phases, one after the other.
    fn or(self, other: Self) -> Self {
        Self {
            messages: self.messages.max(other.messages),
            elements: self.elements.max(other.elements),
        }
    }

    /// Takes as much of a courier.
    pub(super) fn take<T, const N: usize>(
        self,
        courier: &Courier<'_, N>,
    ) -> Result<Option<ShareId>, MpiError> {
        let (length, max) = (bytes_of::<T>(self.elements)?, courier.capacity());
        if length > max {
            return Err(MpiError::TooLong {
                length: length as u64,
                max: max as u64,
            });
        }
        courier.take(self.messages, length)
    }
}

impl Seat {
    fn v(&self) -> usize {
        tree::from_root(self.rank, self.root, self.size)
    }

    fn children(&self) -> usize {
        tree::children(self.v(), self.size).count()
    }

    /// Ranks of the own subtree.
    fn subtree(&self) -> usize {
        tree::end(self.v(), self.size) - self.v()
    }

    const fn at(self, root: usize) -> Self {
        Self { root, ..self }
    }

    pub(super) fn barrier(&self, algorithm: Barrier) -> Need {
        match algorithm {
            Barrier::Dissemination => Need::of(2, 0),
            Barrier::Tree => Need::of(self.children().max(1), 0),
        }
    }

    pub(super) fn bcast<T>(&self, algorithms: &Algorithms, count: usize) -> Need {
        match bcast::choose::<T>(algorithms, count, self.size) {
            Bcast::Auto | Bcast::Binomial => self.pass_on(count),
            Bcast::Chain => Need::of(count.div_ceil(bcast::segment::<T>(algorithms)), count),
            Bcast::ScatterAllgather => {
                let cut = Cut::Even {
                    total: count,
                    parts: self.size,
                };
                let run = cut.around(self.v(), self.subtree());
                self.pass_on(run).or(Need::of(2, cut.longest() * 2))
            }
        }
    }

    /// One message down a tree, or one run of blocks down or up.
    fn pass_on(&self, elements: usize) -> Need {
        Need::of(self.children().max(1), elements)
    }

    /// The operands of all children at once.
    fn reduce_up(&self, count: usize) -> Need {
        let messages = self.children().max(1);
        Need::of(messages, count.saturating_mul(messages))
    }

    /// A message of the root with each other rank, `total` elements in all; one of
    /// `own` elsewhere.
    fn with_each(&self, total: usize, own: usize) -> Need {
        match self.rank == self.root {
            true => Need::of(self.size - 1, total),
            false => Need::of(1, own),
        }
    }

    /// Gather and scatter.
    pub(super) fn rooted(&self, algorithm: Rooted, each: usize) -> Need {
        match algorithm {
            Rooted::Linear => self.with_each((self.size - 1).saturating_mul(each), each),
            Rooted::Binomial => self.pass_on(self.subtree().saturating_mul(each)),
        }
    }

    /// Gather and scatter with counts.
    pub(super) fn rooted_cut(&self, cut: Cut<'_>, own: usize) -> Need {
        self.with_each(cut.end(), own)
    }

    pub(super) fn allgather<T>(&self, algorithms: &Algorithms, cut: Cut<'_>) -> Need {
        let total = cut.end();
        match allgather::choose::<T>(algorithms, total) {
            Allgather::Auto | Allgather::Ring => Need::of(2, cut.longest().saturating_mul(2)),
            Allgather::Bruck => Need::of(2, total),
            Allgather::Linear => Need::of((self.size - 1).saturating_mul(2), total),
            Allgather::GatherBcast => {
                let seat = self.at(0);
                seat.with_each(total, total).or(seat.pass_on(total))
            }
        }
    }

    pub(super) fn alltoall<T>(&self, algorithms: &Algorithms, each: usize) -> Need {
        let size = self.size;
        let (messages, blocks) = match alltoall::choose::<T>(algorithms, each, size) {
            Alltoall::Auto | Alltoall::Pairwise => (2, 2),
            Alltoall::Linear => ((size - 1) * 2, (size - 1) * 2),
            Alltoall::Bruck => (2, size / 2 * 2),
        };
        Need::of(messages, blocks.saturating_mul(each))
    }

    pub(super) fn alltoallv(&self, algorithm: Alltoallv, from: Cut<'_>, to: Cut<'_>) -> Need {
        match algorithm {
            Alltoallv::Pairwise => Need::of(2, from.longest().saturating_add(to.longest())),
            Alltoallv::Linear => {
                let others = (0..self.size).filter(|rank| *rank != self.rank);
                let elements = others.map(|rank| from.count(rank).saturating_add(to.count(rank)));
                let elements = elements.fold(0, usize::saturating_add);
                Need::of((self.size - 1) * 2, elements)
            }
        }
    }

    pub(super) fn reduce(&self, algorithm: Reduce, count: usize, commutative: bool) -> Need {
        match algorithm {
            Reduce::Binomial if commutative => self.reduce_up(count),
            Reduce::Binomial => self.at(0).reduce_up(count),
            Reduce::Linear => self.with_each((self.size - 1).saturating_mul(count), count),
        }
    }

    pub(super) fn allreduce(&self, chosen: Allreduce, count: usize) -> Need {
        match chosen {
            Allreduce::Auto | Allreduce::RecursiveDoubling => Need::of(2, count.saturating_mul(2)),
            Allreduce::Ring => Need::of(2, allreduce::room(chosen, self.size, count) * 2),
            Allreduce::ReduceBcast => self.at(0).reduce_up(count),
        }
    }

    pub(super) fn scan(&self, algorithm: Scan, count: usize) -> Need {
        match algorithm {
            Scan::Linear => Need::of(1, count),
            Scan::RecursiveDoubling => Need::of(2, count.saturating_mul(2)),
        }
    }

    pub(super) fn reduce_scatter(&self, algorithm: ReduceScatter, cut: Cut<'_>) -> Need {
        match algorithm {
            ReduceScatter::Pairwise | ReduceScatter::Ring => {
                Need::of(2, cut.longest().saturating_mul(2))
            }
            ReduceScatter::ReduceScatterv => {
                let seat = self.at(0);
                let own = cut.count(self.rank);
                seat.reduce_up(cut.end()).or(seat.rooted_cut(cut, own))
            }
        }
    }
}

//! Collective calls that move data.

use core::future::Future;

use bytemuck::Pod;

use super::group::Group;
use crate::mpi::collective::cut::Cut;
use crate::mpi::collective::link::{check_count, check_room};
use crate::mpi::collective::{allgather, alltoall, bcast, gather, scatter};
use crate::mpi::process::MpiError;

impl<const N: usize> Group<'_, '_, N> {
    /// The root's `data` becomes everybody's; all give the same length.
    #[doc(alias = "MPI_Bcast")]
    #[doc(alias = "MPI_Ibcast")]
    pub fn bcast<T: Pod>(
        &self,
        data: &mut [T],
        root: u32,
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms());
        async move {
            let seat = self.seat(root)?;
            line.take::<T>(seat.bcast::<T>(&chosen, data.len()))?;
            bcast::bcast(&line, &chosen, data, seat.root).await
        }
    }

    /// Everybody's `data` (the same length everywhere) in rank order in the root's
    /// `all`, one block for each rank. Elsewhere `all` is room for
    /// [`gather_room`](Self::gather_room) elements.
    #[doc(alias = "MPI_Gather")]
    #[doc(alias = "MPI_Igather")]
    pub fn gather<T: Pod>(
        &self,
        data: &[T],
        all: &mut [T],
        root: u32,
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().gather);
        async move {
            let seat = self.seat(root)?;
            let needed = self.gather_room(data.len(), root)?;
            match seat.rank == seat.root {
                true => check_count(all.len(), needed)?,
                false => check_room(all.len(), needed)?,
            }
            line.take::<T>(seat.rooted(chosen, data.len()))?;
            gather::gather(&line, chosen, data, all, seat.root).await
        }
    }

    /// Elements of `all` that a [`gather`](Self::gather) of blocks of `each` needs at
    /// this rank.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    pub fn gather_room(&self, each: usize, root: u32) -> Result<usize, MpiError> {
        let (seat, chosen) = (self.seat(root)?, self.algorithms().gather);
        Ok(gather::room(chosen, seat.rank, seat.size, each, seat.root))
    }

    /// Everybody's `data`, `counts[rank]` elements of each, at the root. `counts` and
    /// `all` matter at the root only.
    #[doc(alias = "MPI_Gatherv")]
    #[doc(alias = "MPI_Igatherv")]
    pub fn gatherv<T: Pod>(
        &self,
        data: &[T],
        all: &mut [T],
        counts: &[usize],
        root: u32,
    ) -> impl Future<Output = Result<(), MpiError>> {
        let mut line = self.line();
        async move {
            let seat = self.seat(root)?;
            let cut = match seat.rank == seat.root {
                true => Cut::counts(counts, seat.size)?,
                false => Cut::Counts(&[]),
            };
            line.take::<T>(seat.rooted_cut(cut, data.len()))?;
            if seat.rank == seat.root {
                check_count(all.len(), cut.end())?;
            }
            gather::gatherv(&line, data, cut, all, seat.root).await
        }
    }

    /// A block of the root's `data` to each rank, in rank order; `data` matters at the
    /// root only, `own` has the same length everywhere. `work` is room for
    /// [`scatter_room`](Self::scatter_room) elements.
    #[doc(alias = "MPI_Scatter")]
    #[doc(alias = "MPI_Iscatter")]
    pub fn scatter<T: Pod>(
        &self,
        data: &[T],
        own: &mut [T],
        root: u32,
        work: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().scatter);
        async move {
            let seat = self.seat(root)?;
            line.take::<T>(seat.rooted(chosen, own.len()))?;
            scatter::scatter(&line, chosen, data, own, seat.root, work).await
        }
    }

    /// Elements of `work` that a [`scatter`](Self::scatter) of blocks of `each` needs at
    /// this rank.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    pub fn scatter_room(&self, each: usize, root: u32) -> Result<usize, MpiError> {
        let (seat, chosen) = (self.seat(root)?, self.algorithms().scatter);
        Ok(scatter::room(chosen, seat.rank, seat.size, each, seat.root))
    }

    /// `counts[rank]` elements to each rank out of the root's `data`; `data` and
    /// `counts` matter at the root only.
    #[doc(alias = "MPI_Scatterv")]
    #[doc(alias = "MPI_Iscatterv")]
    pub fn scatterv<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
        own: &mut [T],
        root: u32,
    ) -> impl Future<Output = Result<(), MpiError>> {
        let mut line = self.line();
        async move {
            let seat = self.seat(root)?;
            let cut = match seat.rank == seat.root {
                true => Cut::counts(counts, seat.size)?,
                false => Cut::Counts(&[]),
            };
            line.take::<T>(seat.rooted_cut(cut, own.len()))?;
            scatter::scatterv(&line, data, cut, own, seat.root).await
        }
    }

    /// Everybody's `data` (the same length everywhere) in rank order in `all`, one block
    /// for each rank.
    #[doc(alias = "MPI_Allgather")]
    #[doc(alias = "MPI_Iallgather")]
    pub fn allgather<T: Pod>(
        &self,
        data: &[T],
        all: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms());
        async move {
            let seat = self.seat(0)?;
            let cut = Cut::same(data.len(), seat.size)?;
            line.take::<T>(seat.allgather::<T>(&chosen, cut))?;
            allgather::allgatherv(&line, &chosen, data, cut, all).await
        }
    }

    /// Everybody's `data`, `counts[rank]` elements of each (the same `counts`
    /// everywhere), in rank order in `all`.
    #[doc(alias = "MPI_Allgatherv")]
    #[doc(alias = "MPI_Iallgatherv")]
    pub fn allgatherv<T: Pod>(
        &self,
        data: &[T],
        all: &mut [T],
        counts: &[usize],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms());
        async move {
            let seat = self.seat(0)?;
            let cut = Cut::counts(counts, seat.size)?;
            line.take::<T>(seat.allgather::<T>(&chosen, cut))?;
            allgather::allgatherv(&line, &chosen, data, cut, all).await
        }
    }

    /// Block `j` of `data` to rank `j`; everybody's block for this rank in rank order in
    /// `out`. `work` is room for [`alltoall_room`](Self::alltoall_room) elements.
    #[doc(alias = "MPI_Alltoall")]
    #[doc(alias = "MPI_Ialltoall")]
    pub fn alltoall<T: Pod>(
        &self,
        data: &[T],
        out: &mut [T],
        work: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms());
        async move {
            let seat = self.seat(0)?;
            let need = seat.alltoall::<T>(&chosen, data.len() / seat.size);
            line.take::<T>(need)?;
            alltoall::alltoall(&line, &chosen, data, out, work).await
        }
    }

    /// Elements of `work` that an [`alltoall`](Self::alltoall) of blocks of `each`
    /// elements of `T` needs.
    #[must_use]
    pub fn alltoall_room<T>(&self, each: usize) -> usize {
        let size = self.size() as usize;
        let chosen = alltoall::choose::<T>(&self.algorithms(), each, size);
        alltoall::room(chosen, size, each)
    }

    /// Block `j` of `data`, of `sent[j]` elements, to rank `j`; what rank `i` has for
    /// this rank, `wanted[i]` elements, in rank order in `out`.
    #[doc(alias = "MPI_Alltoallv")]
    #[doc(alias = "MPI_Ialltoallv")]
    pub fn alltoallv<T: Pod>(
        &self,
        data: &[T],
        sent: &[usize],
        out: &mut [T],
        wanted: &[usize],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().alltoallv);
        async move {
            let seat = self.seat(0)?;
            let from = Cut::counts(sent, seat.size)?;
            let to = Cut::counts(wanted, seat.size)?;
            check_count(data.len(), from.end())?;
            check_count(out.len(), to.end())?;
            check_count(from.count(seat.rank), to.count(seat.rank))?;
            line.take::<T>(seat.alltoallv(chosen, from, to))?;
            alltoall::alltoallv(&line, chosen, data, from, out, to).await
        }
    }
}

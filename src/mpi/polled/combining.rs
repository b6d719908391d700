//! Collective calls that combine data.

use core::future::Future;

use bytemuck::Pod;

use super::group::Group;
use crate::mpi::collective::cut::Cut;
use crate::mpi::collective::{Combine, allreduce, reduce, reduce_scatter, scan};
use crate::mpi::process::MpiError;

impl<const N: usize> Group<'_, '_, N> {
    /// The root's `data` becomes, element by element, the reduction of everybody's;
    /// elsewhere it holds nothing of use afterwards. `work` is room for
    /// [`reduce_room`](Self::reduce_room) elements.
    #[doc(alias = "MPI_Reduce")]
    #[doc(alias = "MPI_Ireduce")]
    pub fn reduce<T: Pod>(
        &self,
        data: &mut [T],
        op: &impl Combine<T>,
        root: u32,
        work: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().reduce);
        async move {
            let seat = self.seat(root)?;
            let need = seat.reduce(chosen, data.len(), op.is_commutative());
            line.take::<T>(need)?;
            reduce::reduce(&line, chosen, data, op, seat.root, work).await
        }
    }

    /// Elements of `work` that a [`reduce`](Self::reduce) of `count` needs at this rank.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    pub fn reduce_room(&self, count: usize, root: u32) -> Result<usize, MpiError> {
        let (seat, chosen) = (self.seat(root)?, self.algorithms().reduce);
        Ok(reduce::room(chosen, seat.rank, seat.size, count, seat.root))
    }

    /// Everybody's `data` becomes, element by element, the reduction of all; all get the
    /// same bits. `work` is room for as many elements as `data` (of which the ring uses
    /// one block).
    ///
    /// Refused with [`MpiError::Unsupported`]: a ring with an operator that does not
    /// commute.
    #[doc(alias = "MPI_Allreduce")]
    #[doc(alias = "MPI_Iallreduce")]
    pub fn allreduce<T: Pod>(
        &self,
        data: &mut [T],
        op: &impl Combine<T>,
        work: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, algorithms) = (self.line(), self.algorithms());
        async move {
            let seat = self.seat(0)?;
            let chosen = allreduce::choose::<T>(&algorithms, data.len(), op.is_commutative());
            line.take::<T>(seat.allreduce(chosen, data.len()))?;
            allreduce::allreduce(&line, &algorithms, data, op, work).await
        }
    }

    /// `data` becomes the reduction over ranks 0 to this one. `work` is room for as many
    /// elements.
    #[doc(alias = "MPI_Scan")]
    #[doc(alias = "MPI_Iscan")]
    pub fn scan<T: Pod>(
        &self,
        data: &mut [T],
        op: &impl Combine<T>,
        work: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().scan);
        async move {
            let seat = self.seat(0)?;
            line.take::<T>(seat.scan(chosen, data.len()))?;
            scan::scan(&line, chosen, data, None, op, work).await
        }
    }

    /// `below` becomes the reduction over the ranks below this one (at rank 0 it stays
    /// as it is), `data` that with this rank. All have one length, and `work` is room
    /// for as many elements.
    #[doc(alias = "MPI_Exscan")]
    #[doc(alias = "MPI_Iexscan")]
    pub fn exscan<T: Pod>(
        &self,
        data: &mut [T],
        below: &mut [T],
        op: &impl Combine<T>,
        work: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().scan);
        async move {
            let seat = self.seat(0)?;
            line.take::<T>(seat.scan(chosen, data.len()))?;
            scan::scan(&line, chosen, data, Some(below), op, work).await
        }
    }

    /// The reduction of everybody's `data`, of which each rank gets `counts[rank]`
    /// elements in `own`; `data` holds nothing of use afterwards. `work` is room for
    /// [`reduce_scatter_room`](Self::reduce_scatter_room) elements.
    ///
    /// Refused with [`MpiError::Unsupported`]: a ring with an operator that does not
    /// commute.
    #[doc(alias = "MPI_Reduce_scatter")]
    #[doc(alias = "MPI_Ireduce_scatter")]
    pub fn reduce_scatter<T: Pod>(
        &self,
        data: &mut [T],
        counts: &[usize],
        op: &impl Combine<T>,
        own: &mut [T],
        work: &mut [T],
    ) -> impl Future<Output = Result<(), MpiError>> {
        let (mut line, chosen) = (self.line(), self.algorithms().reduce_scatter);
        async move {
            let seat = self.seat(0)?;
            let cut = Cut::counts(counts, seat.size)?;
            line.take::<T>(seat.reduce_scatter(chosen, cut))?;
            reduce_scatter::reduce_scatter(&line, chosen, data, cut, op, own, work).await
        }
    }

    /// Elements of `work` that a [`reduce_scatter`](Self::reduce_scatter) needs at this
    /// rank.
    ///
    /// # Errors
    /// [`MpiError::InvalidCount`] without a count for each rank.
    pub fn reduce_scatter_room(&self, counts: &[usize]) -> Result<usize, MpiError> {
        let (seat, chosen) = (self.seat(0)?, self.algorithms().reduce_scatter);
        let cut = Cut::counts(counts, seat.size)?;
        Ok(reduce_scatter::room(chosen, seat.rank, cut))
    }
}

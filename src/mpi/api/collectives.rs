//! Collective calls that move data, blocking and not.
//!
//! All ranks of a communicator make the same calls in the same order. A call that is
//! refused on one rank only (a wrong count, say) leaves the others waiting.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::communicator::Communicator;
use super::request::Request;
use crate::mpi::collective::link::{check_count, place};
use crate::mpi::collective::{Blocks, barrier, owned};
use crate::mpi::process::{MpiError, PointToPoint};

impl<P: PointToPoint> Communicator<P> {
    pub(super) fn root(&self, root: u32) -> Result<usize, MpiError> {
        let size = self.size();
        match root < size {
            true => Ok(root as usize),
            false => Err(MpiError::InvalidRoot { root, size }),
        }
    }

    /// Starts a barrier.
    #[doc(alias = "MPI_Ibarrier")]
    pub fn ibarrier(&self) -> Request<P, ()> {
        let (channel, chosen) = (self.channel(), self.algorithms().barrier);
        self.start(async move { barrier::barrier(&channel, chosen).await })
    }

    /// Waits until every rank has called it.
    ///
    /// # Errors
    /// Those of messages.
    #[doc(alias = "MPI_Barrier")]
    pub async fn barrier(&self) -> Result<(), MpiError> {
        self.ibarrier().wait().await
    }

    /// Starts a broadcast: every rank gives a buffer of the same length and gets
    /// the root's.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    #[doc(alias = "MPI_Ibcast")]
    pub fn ibcast<T: Pod>(&self, data: &[T], root: u32) -> Result<Request<P, Vec<T>>, MpiError> {
        let root = self.root(root)?;
        let (channel, chosen, data) = (self.channel(), self.algorithms(), data.to_vec());
        Ok(self.start(async move { owned::bcast(&channel, &chosen, data, root).await }))
    }

    /// The root's `data` becomes everybody's.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`]; those of messages.
    #[doc(alias = "MPI_Bcast")]
    pub async fn bcast<T: Pod>(&self, data: &mut [T], root: u32) -> Result<(), MpiError> {
        let result = self.ibcast(data, root)?.wait().await?;
        check_count(result.len(), data.len())?;
        data.copy_from_slice(&result);
        Ok(())
    }

    /// Starts a gather; the root gets `Some`.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    #[doc(alias = "MPI_Igather")]
    pub fn igather<T: Pod>(
        &self,
        data: &[T],
        root: u32,
    ) -> Result<Request<P, Option<Vec<T>>>, MpiError> {
        let root = self.root(root)?;
        let (channel, chosen, data) = (self.channel(), self.algorithms().gather, data.to_vec());
        Ok(self.start(async move { owned::gather(&channel, chosen, data, root).await }))
    }

    /// Everybody's `data` (the same length everywhere) in rank order, at the root.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`]; those of messages.
    #[doc(alias = "MPI_Gather")]
    pub async fn gather<T: Pod>(&self, data: &[T], root: u32) -> Result<Option<Vec<T>>, MpiError> {
        self.igather(data, root)?.wait().await
    }

    /// Starts a gather with counts.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    #[doc(alias = "MPI_Igatherv")]
    pub fn igatherv<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
        root: u32,
    ) -> Result<Request<P, Option<Vec<T>>>, MpiError> {
        let root = self.root(root)?;
        let (channel, data, counts) = (self.channel(), data.to_vec(), counts.to_vec());
        Ok(self.start(async move { owned::gatherv(&channel, data, &counts, root).await }))
    }

    /// Everybody's `data`, `counts[rank]` elements of each, at the root. `counts`
    /// matters at the root only.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`], [`MpiError::InvalidCount`]; those of messages.
    #[doc(alias = "MPI_Gatherv")]
    pub async fn gatherv<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
        root: u32,
    ) -> Result<Option<Vec<T>>, MpiError> {
        self.igatherv(data, counts, root)?.wait().await
    }

    /// Starts a scatter.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    #[doc(alias = "MPI_Iscatter")]
    pub fn iscatter<T: Pod>(
        &self,
        data: &[T],
        count: usize,
        root: u32,
    ) -> Result<Request<P, Vec<T>>, MpiError> {
        let root = self.root(root)?;
        let (channel, chosen, data) = (self.channel(), self.algorithms().scatter, data.to_vec());
        Ok(self.start(async move { owned::scatter(&channel, chosen, data, count, root).await }))
    }

    /// `count` elements to each rank, in rank order, out of the root's `data` (which
    /// matters there only).
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`], [`MpiError::InvalidCount`]; those of messages.
    #[doc(alias = "MPI_Scatter")]
    pub async fn scatter<T: Pod>(
        &self,
        data: &[T],
        count: usize,
        root: u32,
    ) -> Result<Vec<T>, MpiError> {
        self.iscatter(data, count, root)?.wait().await
    }

    /// Starts a scatter with counts.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    #[doc(alias = "MPI_Iscatterv")]
    pub fn iscatterv<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
        count: usize,
        root: u32,
    ) -> Result<Request<P, Vec<T>>, MpiError> {
        let root = self.root(root)?;
        let (channel, data, counts) = (self.channel(), data.to_vec(), counts.to_vec());
        Ok(self.start(async move { owned::scatterv(&channel, data, &counts, count, root).await }))
    }

    /// `counts[rank]` elements to each rank out of the root's `data`; `data` and
    /// `counts` matter at the root only, `count` is what this rank gets.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`], [`MpiError::InvalidCount`]; those of messages.
    #[doc(alias = "MPI_Scatterv")]
    pub async fn scatterv<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
        count: usize,
        root: u32,
    ) -> Result<Vec<T>, MpiError> {
        self.iscatterv(data, counts, count, root)?.wait().await
    }

    /// Starts a gather to all.
    #[doc(alias = "MPI_Iallgather")]
    pub fn iallgather<T: Pod>(&self, data: &[T]) -> Request<P, Vec<T>> {
        let (channel, chosen, data) = (self.channel(), self.algorithms(), data.to_vec());
        self.start(async move { owned::allgather(&channel, &chosen, data).await })
    }

    /// Everybody's `data` (the same length everywhere) in rank order.
    ///
    /// # Errors
    /// Those of messages.
    #[doc(alias = "MPI_Allgather")]
    pub async fn allgather<T: Pod>(&self, data: &[T]) -> Result<Vec<T>, MpiError> {
        self.iallgather(data).wait().await
    }

    /// Starts a gather to all with counts.
    #[doc(alias = "MPI_Iallgatherv")]
    pub fn iallgatherv<T: Pod>(&self, data: &[T], counts: &[usize]) -> Request<P, Vec<T>> {
        let (channel, chosen) = (self.channel(), self.algorithms());
        let (data, counts) = (data.to_vec(), counts.to_vec());
        self.start(async move { owned::allgatherv(&channel, &chosen, data, &counts).await })
    }

    /// Everybody's `data`, `counts[rank]` elements of each (the same `counts`
    /// everywhere), in rank order.
    ///
    /// # Errors
    /// [`MpiError::InvalidCount`]; those of messages.
    #[doc(alias = "MPI_Allgatherv")]
    pub async fn allgatherv<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
    ) -> Result<Vec<T>, MpiError> {
        self.iallgatherv(data, counts).wait().await
    }

    /// Starts a total exchange.
    #[doc(alias = "MPI_Ialltoall")]
    pub fn ialltoall<T: Pod>(&self, data: &[T]) -> Request<P, Vec<T>> {
        let (channel, chosen, data) = (self.channel(), self.algorithms(), data.to_vec());
        self.start(async move { owned::alltoall(&channel, &chosen, data).await })
    }

    /// `data` is one block for each rank, all of one length; the result is everybody's
    /// block for this rank.
    ///
    /// # Errors
    /// [`MpiError::InvalidCount`] when `data` is no whole number of blocks; those of
    /// messages.
    #[doc(alias = "MPI_Alltoall")]
    pub async fn alltoall<T: Pod>(&self, data: &[T]) -> Result<Vec<T>, MpiError> {
        self.ialltoall(data).wait().await
    }

    /// Starts a total exchange with counts. The result is a buffer of
    /// [`Blocks::end`] elements; those of no block are zero.
    ///
    /// # Errors
    /// [`MpiError::OutOfBounds`] when two blocks of `to` overlap: which one stays
    /// would depend on arrival.
    #[doc(alias = "MPI_Ialltoallv")]
    pub fn ialltoallv<T: Pod>(
        &self,
        data: &[T],
        from: &Blocks,
        to: &Blocks,
    ) -> Result<Request<P, Vec<T>>, MpiError> {
        if let Some(element) = to.overlap() {
            return Err(MpiError::OutOfBounds {
                index: i64::try_from(element).unwrap_or(i64::MAX),
                length: to.end() as u64,
            });
        }
        let (channel, chosen) = (self.channel(), self.algorithms().alltoallv);
        let (data, from, to) = (data.to_vec(), from.clone(), to.clone());
        Ok(self.start(async move { owned::alltoallv(&channel, chosen, data, &from, &to).await }))
    }

    /// Block `j` of `data` to rank `j`, what rank `i` has for this rank into block `i`
    /// of `buffer`; elements of no block stay as they were. Blocks of `from` may
    /// overlap, those of `to` may not.
    ///
    /// # Errors
    /// [`MpiError::InvalidCount`] for blocks outside of their buffer or own counts
    /// that differ, [`MpiError::OutOfBounds`] for blocks of `to` that overlap; those of
    /// messages.
    #[doc(alias = "MPI_Alltoallv")]
    pub async fn alltoallv<T: Pod>(
        &self,
        data: &[T],
        from: &Blocks,
        buffer: &mut [T],
        to: &Blocks,
    ) -> Result<(), MpiError> {
        if to.end() > buffer.len() {
            check_count(buffer.len(), to.end())?;
        }
        let received = self.ialltoallv(data, from, to)?.wait().await?;
        let blocks = to.displacements.iter().zip(&to.counts);
        for (&start, &count) in blocks.filter(|(_, count)| **count > 0) {
            if let Some(block) = received.get(start..start.saturating_add(count)) {
                place(buffer, start, block)?;
            }
        }
        Ok(())
    }
}

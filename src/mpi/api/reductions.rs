//! Collective calls that combine data, blocking and not.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::communicator::Communicator;
use super::request::Request;
use crate::mpi::collective::{Op, owned};
use crate::mpi::process::{MpiError, PointToPoint};

impl<P: PointToPoint> Communicator<P> {
    /// Starts a reduction to `root`, which gets `Some`.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`].
    #[doc(alias = "MPI_Ireduce")]
    pub fn ireduce<T: Pod>(
        &self,
        data: &[T],
        op: &Op<T>,
        root: u32,
    ) -> Result<Request<P, Option<Vec<T>>>, MpiError> {
        let root = self.root(root)?;
        let (channel, chosen) = (self.channel(), self.algorithms().reduce);
        let (data, op) = (data.to_vec(), op.clone());
        Ok(self.start(async move { owned::reduce(&channel, chosen, data, &op, root).await }))
    }

    /// Element by element the reduction of everybody's `data`, at the root.
    ///
    /// # Errors
    /// [`MpiError::InvalidRoot`]; those of messages.
    #[doc(alias = "MPI_Reduce")]
    pub async fn reduce<T: Pod>(
        &self,
        data: &[T],
        op: &Op<T>,
        root: u32,
    ) -> Result<Option<Vec<T>>, MpiError> {
        self.ireduce(data, op, root)?.wait().await
    }

    /// Starts a reduction to all.
    #[doc(alias = "MPI_Iallreduce")]
    pub fn iallreduce<T: Pod>(&self, data: &[T], op: &Op<T>) -> Request<P, Vec<T>> {
        let (channel, chosen) = (self.channel(), self.algorithms());
        let (data, op) = (data.to_vec(), op.clone());
        self.start(async move { owned::allreduce(&channel, &chosen, data, &op).await })
    }

    /// Element by element the reduction of everybody's `data`, at all ranks. All get
    /// the same bits.
    ///
    /// # Errors
    /// [`MpiError::Unsupported`] for a ring with an operator that does not commute;
    /// those of messages.
    #[doc(alias = "MPI_Allreduce")]
    pub async fn allreduce<T: Pod>(&self, data: &[T], op: &Op<T>) -> Result<Vec<T>, MpiError> {
        self.iallreduce(data, op).wait().await
    }

    /// Starts an inclusive prefix reduction.
    #[doc(alias = "MPI_Iscan")]
    pub fn iscan<T: Pod>(&self, data: &[T], op: &Op<T>) -> Request<P, Vec<T>> {
        let (channel, chosen) = (self.channel(), self.algorithms().scan);
        let (data, op) = (data.to_vec(), op.clone());
        self.start(async move {
            let prefix = owned::scan(&channel, chosen, data, &op).await?;
            Ok(prefix.with)
        })
    }

    /// The reduction over ranks 0 to this one.
    ///
    /// # Errors
    /// Those of messages.
    #[doc(alias = "MPI_Scan")]
    pub async fn scan<T: Pod>(&self, data: &[T], op: &Op<T>) -> Result<Vec<T>, MpiError> {
        self.iscan(data, op).wait().await
    }

    /// Starts an exclusive prefix reduction.
    #[doc(alias = "MPI_Iexscan")]
    pub fn iexscan<T: Pod>(&self, data: &[T], op: &Op<T>) -> Request<P, Option<Vec<T>>> {
        let (channel, chosen) = (self.channel(), self.algorithms().scan);
        let (data, op) = (data.to_vec(), op.clone());
        self.start(async move {
            let prefix = owned::scan(&channel, chosen, data, &op).await?;
            Ok(prefix.below)
        })
    }

    /// The reduction over the ranks below this one; `None` at rank 0.
    ///
    /// # Errors
    /// Those of messages.
    #[doc(alias = "MPI_Exscan")]
    pub async fn exscan<T: Pod>(&self, data: &[T], op: &Op<T>) -> Result<Option<Vec<T>>, MpiError> {
        self.iexscan(data, op).wait().await
    }

    /// Starts a reduction with the result scattered.
    #[doc(alias = "MPI_Ireduce_scatter")]
    pub fn ireduce_scatter<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
        op: &Op<T>,
    ) -> Request<P, Vec<T>> {
        let (channel, chosen) = (self.channel(), self.algorithms().reduce_scatter);
        let (data, counts, op) = (data.to_vec(), counts.to_vec(), op.clone());
        self.start(async move { owned::reduce_scatter(&channel, chosen, data, &counts, &op).await })
    }

    /// The reduction of everybody's `data`; each rank gets its `counts[rank]`
    /// elements of it.
    ///
    /// # Errors
    /// [`MpiError::InvalidCount`]; [`MpiError::Unsupported`] for a ring with an
    /// operator that does not commute; those of messages.
    #[doc(alias = "MPI_Reduce_scatter")]
    pub async fn reduce_scatter<T: Pod>(
        &self,
        data: &[T],
        counts: &[usize],
        op: &Op<T>,
    ) -> Result<Vec<T>, MpiError> {
        self.ireduce_scatter(data, counts, op).wait().await
    }

    /// [`reduce_scatter`](Self::reduce_scatter) with blocks of one length.
    ///
    /// # Errors
    /// As there; [`MpiError::InvalidCount`] when `data` is no whole number of blocks.
    #[doc(alias = "MPI_Reduce_scatter_block")]
    pub async fn reduce_scatter_block<T: Pod>(
        &self,
        data: &[T],
        op: &Op<T>,
    ) -> Result<Vec<T>, MpiError> {
        let size = self.size() as usize;
        let counts = alloc::vec![data.len() / size.max(1); size];
        self.reduce_scatter(data, &counts, op).await
    }
}

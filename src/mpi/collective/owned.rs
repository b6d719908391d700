//! The operations with buffers that they allocate, for programs that own their data.

use alloc::vec;
use alloc::vec::Vec;

use bytemuck::Pod;

use super::channel::Channel;
use super::cut::Cut;
use super::link::{Link, bytes_of, check_count};
use super::{
    Algorithms, Alltoallv, Blocks, Op, Reduce, ReduceScatter, Rooted, Scan, allgather, allreduce,
    alltoall, bcast, gather, reduce, reduce_scatter, scan, scatter,
};
use crate::mpi::process::{MpiError, PointToPoint};

/// `count` elements to be overwritten.
fn zeros<T: Pod>(count: usize) -> Result<Vec<T>, MpiError> {
    bytes_of::<T>(count)?;
    Ok(vec![T::zeroed(); count])
}

/// Start of each block when they lie one behind the other, and their sum at the end.
fn starts(counts: &[usize]) -> Result<Vec<usize>, MpiError> {
    Cut::counts(counts, counts.len())?;
    let sums = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    Ok(core::iter::once(0).chain(sums).collect())
}

pub(crate) async fn bcast<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    mut data: Vec<T>,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    bcast::bcast(channel, algorithms, &mut data, root).await?;
    Ok(data)
}

pub(crate) async fn gather<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Rooted,
    data: Vec<T>,
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    bytes_of::<T>(data.len().saturating_mul(channel.size()))?;
    let room = gather::room(algorithm, channel.rank, channel.size(), data.len(), root);
    let mut all = zeros(room)?;
    gather::gather(channel, algorithm, &data, &mut all, root).await?;
    Ok((channel.rank == root).then_some(all))
}

/// `counts` matters at the root.
pub(crate) async fn gatherv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    counts: &[usize],
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    if channel.rank != root {
        let cut = Cut::Counts(&[]);
        gather::gatherv(channel, &data, cut, &mut [], root).await?;
        return Ok(None);
    }
    check_count(counts.len(), channel.size())?;
    let at = starts(counts)?;
    let cut = Cut::Starts(&at);
    let mut all = zeros(cut.end())?;
    gather::gatherv(channel, &data, cut, &mut all, root).await?;
    Ok(Some(all))
}

/// `count` elements to each rank out of the root's `data`.
pub(crate) async fn scatter<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Rooted,
    data: Vec<T>,
    count: usize,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    Cut::same(count, channel.size())?;
    let room = scatter::room(algorithm, channel.rank, channel.size(), count, root);
    let (mut own, mut work) = (zeros(count)?, zeros(room)?);
    scatter::scatter(channel, algorithm, &data, &mut own, root, &mut work).await?;
    Ok(own)
}

/// `counts` and `data` matter at the root; `count` is what this rank gets.
pub(crate) async fn scatterv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    counts: &[usize],
    count: usize,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    let at = match channel.rank == root {
        true => {
            check_count(counts.len(), channel.size())?;
            starts(counts)?
        }
        false => Vec::new(),
    };
    let mut own = zeros(count)?;
    scatter::scatterv(channel, &data, Cut::Starts(&at), &mut own, root).await?;
    Ok(own)
}

/// Everybody's `data` (equally many elements) in rank order.
pub(crate) async fn allgather<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    data: Vec<T>,
) -> Result<Vec<T>, MpiError> {
    let cut = Cut::same(data.len(), channel.size())?;
    let mut all = zeros(cut.end())?;
    allgather::allgatherv(channel, algorithms, &data, cut, &mut all).await?;
    Ok(all)
}

/// Everybody's `data`, `counts[rank]` elements of each, in rank order.
pub(crate) async fn allgatherv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    data: Vec<T>,
    counts: &[usize],
) -> Result<Vec<T>, MpiError> {
    check_count(counts.len(), channel.size())?;
    let at = starts(counts)?;
    let cut = Cut::Starts(&at);
    let mut all = zeros(cut.end())?;
    allgather::allgatherv(channel, algorithms, &data, cut, &mut all).await?;
    Ok(all)
}

/// Block `j` of `data` to rank `j`; the blocks for this rank in rank order.
pub(crate) async fn alltoall<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    data: Vec<T>,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let each = data.len() / size.max(1);
    let chosen = alltoall::choose::<T>(algorithms, each, size);
    let mut work = zeros(alltoall::room(chosen, size, each))?;
    let mut out = zeros(data.len())?;
    alltoall::alltoall(channel, algorithms, &data, &mut out, &mut work).await?;
    Ok(out)
}

/// The received blocks where `to` wants them; elements of no block are zero.
pub(crate) async fn alltoallv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Alltoallv,
    data: Vec<T>,
    from: &Blocks,
    to: &Blocks,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let (from, to) = (from.cut(size)?, to.cut(size)?);
    let mut out = zeros(to.end())?;
    alltoall::alltoallv(channel, algorithm, &data, from, &mut out, to).await?;
    Ok(out)
}

pub(crate) async fn reduce<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Reduce,
    mut data: Vec<T>,
    op: &Op<T>,
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    let room = reduce::room(algorithm, channel.rank, channel.size(), data.len(), root);
    let mut work = zeros(room)?;
    reduce::reduce(channel, algorithm, &mut data, op, root, &mut work).await?;
    Ok((channel.rank == root).then_some(data))
}

pub(crate) async fn allreduce<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    mut data: Vec<T>,
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    let chosen = allreduce::choose::<T>(algorithms, data.len(), op.is_commutative());
    let mut work = zeros(allreduce::room(chosen, channel.size(), data.len()))?;
    allreduce::allreduce(channel, algorithms, &mut data, op, &mut work).await?;
    Ok(data)
}

/// What lies below a rank, and that with the rank itself.
pub(crate) struct Prefix<T> {
    /// Reduction over lower ranks; none at rank 0.
    pub(crate) below: Option<Vec<T>>,
    /// Reduction up to and with this rank.
    pub(crate) with: Vec<T>,
}

pub(crate) async fn scan<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Scan,
    mut data: Vec<T>,
    op: &Op<T>,
) -> Result<Prefix<T>, MpiError> {
    let mut work = zeros(scan::room(channel.size(), data.len()))?;
    let mut below = zeros(data.len())?;
    let both = Some(&mut below[..]);
    scan::scan(channel, algorithm, &mut data, both, op, &mut work).await?;
    Ok(Prefix {
        below: (channel.rank > 0).then_some(below),
        with: data,
    })
}

/// Block `rank` of the reduction, `counts[rank]` elements.
pub(crate) async fn reduce_scatter<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: ReduceScatter,
    mut data: Vec<T>,
    counts: &[usize],
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    check_count(counts.len(), channel.size())?;
    let at = starts(counts)?;
    let cut = Cut::Starts(&at);
    check_count(data.len(), cut.end())?;
    let mut own = zeros(cut.count(channel.rank))?;
    let mut work = zeros(reduce_scatter::room(algorithm, channel.rank, cut))?;
    let (data, own_place) = (&mut data, &mut own);
    reduce_scatter::reduce_scatter(channel, algorithm, data, cut, op, own_place, &mut work).await?;
    Ok(own)
}

//! Gather to all, with and without counts.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::{Algorithms, Allgather};
use super::channel::{Channel, bytes_of, check_count, part, place, starts};
use super::{bcast, gather, tree};
use crate::mpi::process::{MpiError, PointToPoint};

/// Everybody's `data`, `counts[rank]` elements of each, in rank order.
pub(crate) async fn allgatherv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    data: Vec<T>,
    counts: &[usize],
) -> Result<Vec<T>, MpiError> {
    check_count(counts.len(), channel.size())?;
    let own = counts.get(channel.rank).copied().unwrap_or(0);
    check_count(data.len(), own)?;
    let at = starts(counts)?;
    let total = at.last().copied().unwrap_or(0);
    let bytes = bytes_of::<T>(total)?;
    match algorithms.allgather {
        Allgather::Auto if bytes <= algorithms.short_bytes => bruck(channel, data, counts).await,
        Allgather::Auto | Allgather::Ring => ring(channel, data, counts, channel.rank).await,
        Allgather::Bruck => bruck(channel, data, counts).await,
        Allgather::Linear => linear(channel, data, counts).await,
        Allgather::GatherBcast => {
            let all = gather::gatherv(channel, data, counts, 0).await?;
            let all = all.unwrap_or_else(|| alloc::vec![T::zeroed(); total]);
            bcast::binomial(channel, all, 0).await
        }
    }
}

/// Around the ring. Block `v` is this rank's own; the blocks of the ranks above
/// follow it. (The broadcast counts blocks from its root.)
pub(super) async fn ring<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    own: Vec<T>,
    counts: &[usize],
    v: usize,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let at = starts(counts)?;
    let mut all = alloc::vec![T::zeroed(); at.last().copied().unwrap_or(0)];
    let start = |block: usize| at.get(block).copied().unwrap_or(0);
    let count = |block: usize| counts.get(block).copied().unwrap_or(0);
    place(&mut all, start(v), &own)?;
    channel.copied::<T>(own.len());
    let mut block = own;
    for step in 1..size {
        let next = (v + size - step) % size;
        let (to, from) = (channel.above(1), channel.below(1));
        block = channel.exchange_some(to, &block, from, count(next)).await?;
        place(&mut all, start(next), &block)?;
    }
    Ok(all)
}

async fn bruck<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    counts: &[usize],
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    // The blocks of this rank and those above it, around the ring.
    let rotated: Vec<usize> = (0..size)
        .map(|i| counts.get(channel.above(i)).copied().unwrap_or(0))
        .collect();
    let at = starts(&rotated)?;
    let start = |block: usize| at.get(block).copied().unwrap_or(0);
    let mut run = data;
    for distance in tree::distances(size) {
        let blocks = distance.min(size - distance);
        let wanted = start(distance + blocks) - start(distance);
        let sent = part(&run, 0, start(blocks))?;
        let (to, from) = (channel.below(distance), channel.above(distance));
        let more = channel.exchange_some(to, sent, from, wanted).await?;
        run.extend(more);
    }
    // Rank 0's block is `size - rank` blocks on.
    let cut = start(size - channel.rank).min(run.len());
    if channel.rank > 0 {
        run.rotate_left(cut);
        channel.copied::<T>(run.len());
    }
    Ok(run)
}

async fn linear<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    counts: &[usize],
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let at = starts(counts)?;
    let mut all = alloc::vec![T::zeroed(); at.last().copied().unwrap_or(0)];
    let start = |block: usize| at.get(block).copied().unwrap_or(0);
    let mut receives = Vec::new();
    let mut sends = Vec::new();
    for step in 1..size {
        let from = channel.below(step);
        let count = counts.get(from).copied().unwrap_or(0);
        if count > 0 {
            receives.push((start(from), channel.irecv(from, count)?));
        }
    }
    for step in 1..size {
        if !data.is_empty() {
            sends.push(channel.isend(channel.above(step), &data)?);
        }
    }
    place(&mut all, start(channel.rank), &data)?;
    channel.copied::<T>(data.len());
    for (start, receive) in receives {
        place(&mut all, start, &receive.done().await?)?;
    }
    Channel::all_sent(sends).await?;
    Ok(all)
}

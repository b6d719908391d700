//! Reduction with the result scattered.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::ReduceScatter;
use super::channel::{Channel, check_count, part, starts};
use super::op::Op;
use super::{reduce, scatter};
use crate::mpi::process::{MpiError, PointToPoint};

/// Block `rank` of the reduction, `counts[rank]` elements.
pub(crate) async fn reduce_scatter<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: ReduceScatter,
    data: Vec<T>,
    counts: &[usize],
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    check_count(counts.len(), channel.size())?;
    let total = starts(counts)?.last().copied().unwrap_or(0);
    check_count(data.len(), total)?;
    match algorithm {
        ReduceScatter::Pairwise => pairwise(channel, &data, counts, op).await,
        ReduceScatter::Ring if !op.is_commutative() => Err(MpiError::Unsupported),
        ReduceScatter::Ring => ring(channel, &data, counts, op).await,
        ReduceScatter::ReduceScatterv => {
            let own = counts.get(channel.rank).copied().unwrap_or(0);
            let sum = reduce::up(channel, data, op, 0).await?;
            scatter::scatterv(channel, sum.unwrap_or_default(), counts, own, 0).await
        }
    }
}

async fn pairwise<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: &[T],
    counts: &[usize],
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let at = starts(counts)?;
    let block = |rank: usize| {
        let start = at.get(rank).copied().unwrap_or(0);
        part(data, start, counts.get(rank).copied().unwrap_or(0))
    };
    let own = block(channel.rank)?;
    let mut parts: Vec<(usize, Vec<T>)> = Vec::with_capacity(size);
    parts.push((channel.rank, own.to_vec()));
    for step in 1..size {
        let (to, from) = (channel.above(step), channel.below(step));
        let theirs = channel
            .exchange_some(to, block(to)?, from, own.len())
            .await?;
        parts.push((from, theirs));
    }
    // In rank order, whatever the order of arrival.
    parts.sort_by_key(|(rank, _)| *rank);
    let mut sum: Option<Vec<T>> = None;
    for (_, next) in parts {
        sum = Some(match sum {
            Some(sum) => op.join(channel, &sum, &next)?,
            None => next,
        });
    }
    Ok(sum.unwrap_or_default())
}

/// Each block starts one above its owner and is folded at each rank on its way.
pub(super) async fn ring<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: &[T],
    counts: &[usize],
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let at = starts(counts)?;
    let block = |rank: usize| {
        let start = at.get(rank).copied().unwrap_or(0);
        part(data, start, counts.get(rank).copied().unwrap_or(0))
    };
    let mut running = block(channel.below(1))?.to_vec();
    for step in 2..=size {
        let mine = block(channel.below(step))?;
        let (to, from) = (channel.above(1), channel.below(1));
        let theirs = channel
            .exchange_some(to, &running, from, mine.len())
            .await?;
        running = op.join(channel, &theirs, mine)?;
    }
    Ok(running)
}

//! Reduction to all.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::{Algorithms, Allreduce};
use super::channel::{Channel, even_blocks};
use super::op::Op;
use super::{allgather, bcast, reduce, reduce_scatter, tree};
use crate::mpi::process::{MpiError, PointToPoint};

pub(crate) async fn allreduce<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    data: Vec<T>,
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    let long = size_of_val(data.as_slice()) > algorithms.short_bytes;
    match algorithms.allreduce {
        Allreduce::Auto if long && op.is_commutative() => ring(channel, data, op).await,
        Allreduce::Auto | Allreduce::RecursiveDoubling => {
            recursive_doubling(channel, data, op).await
        }
        Allreduce::Ring if !op.is_commutative() => Err(MpiError::Unsupported),
        Allreduce::Ring => ring(channel, data, op).await,
        Allreduce::ReduceBcast => {
            let count = data.len();
            let sum = reduce::up(channel, data, op, 0).await?;
            let sum = sum.unwrap_or_else(|| alloc::vec![T::zeroed(); count]);
            bcast::binomial(channel, sum, 0).await
        }
    }
}

/// Neighbours are folded and partners hold neighbouring runs, so the order of ranks
/// is kept; both partners compute the same expression, so all results are equal.
async fn recursive_doubling<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    let (size, rank) = (channel.size(), channel.rank);
    let count = data.len();
    if size < 2 {
        return Ok(data);
    }
    let power = 1usize << size.ilog2();
    // Ranks below `2 * extra` are folded in pairs onto the odd one.
    let extra = size - power;
    let mut sum = data;
    let place = if rank >= 2 * extra {
        rank - extra
    } else if rank.is_multiple_of(2) {
        channel.send(rank + 1, &sum).await?;
        return channel.recv(rank + 1, count).await;
    } else {
        let left = channel.recv(rank - 1, count).await?;
        sum = op.join(channel, &left, &sum)?;
        rank / 2
    };
    for distance in tree::distances(power) {
        let partner = place ^ distance;
        let other = match partner < extra {
            true => partner * 2 + 1,
            false => partner + extra,
        };
        let theirs = channel.exchange(other, &sum, other, count).await?;
        sum = match partner < place {
            true => op.join(channel, &theirs, &sum)?,
            false => op.join(channel, &sum, &theirs)?,
        };
    }
    if rank < 2 * extra {
        channel.send(rank - 1, &sum).await?;
    }
    Ok(sum)
}

async fn ring<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    op: &Op<T>,
) -> Result<Vec<T>, MpiError> {
    let counts = even_blocks(data.len(), channel.size());
    let own = reduce_scatter::ring(channel, &data, &counts, op).await?;
    allgather::ring(channel, own, &counts, channel.rank).await
}

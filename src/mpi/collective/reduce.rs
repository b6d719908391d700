//! Reduction to a root.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::Reduce;
use super::channel::Channel;
use super::op::Op;
use super::tree;
use crate::mpi::process::{MpiError, PointToPoint};

pub(crate) async fn reduce<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Reduce,
    data: Vec<T>,
    op: &Op<T>,
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    match algorithm {
        Reduce::Linear => linear(channel, data, op, root).await,
        Reduce::Binomial if op.is_commutative() => up(channel, data, op, root).await,
        Reduce::Binomial => {
            // A tree that starts elsewhere would turn the ranks around.
            let count = data.len();
            let result = up(channel, data, op, 0).await?;
            if root == 0 {
                return Ok(result);
            }
            if let Some(result) = result {
                channel.send(root, &result).await?;
            }
            if channel.rank == root {
                return channel.recv(0, count).await.map(Some);
            }
            Ok(None)
        }
    }
}

/// Up the binomial tree of `root`.
pub(super) async fn up<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    op: &Op<T>,
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    let size = channel.size();
    let v = tree::from_root(channel.rank, root, size);
    let mut receives = Vec::new();
    for child in tree::children(v, size) {
        receives.push(channel.irecv(tree::to_rank(child, root, size), data.len())?);
    }
    let mut sum = data;
    // The nearest child first: runs of neighbours grow from the left.
    for receive in receives {
        sum = op.join(channel, &sum, &receive.done().await?)?;
    }
    match tree::parent(v) {
        Some(parent) => {
            channel
                .send(tree::to_rank(parent, root, size), &sum)
                .await?;
            Ok(None)
        }
        None => Ok(Some(sum)),
    }
}

async fn linear<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    op: &Op<T>,
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    if channel.rank != root {
        channel.send(root, &data).await?;
        return Ok(None);
    }
    let mut receives = Vec::new();
    for rank in 0..channel.size() {
        receives.push(match rank == root {
            true => None,
            false => Some(channel.irecv(rank, data.len())?),
        });
    }
    let mut sum: Option<Vec<T>> = None;
    for receive in receives {
        let next = match receive {
            Some(receive) => receive.done().await?,
            None => data.clone(),
        };
        sum = Some(match sum {
            Some(sum) => op.join(channel, &sum, &next)?,
            None => next,
        });
    }
    Ok(sum)
}

//! Scatter, with and without counts.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::Rooted;
use super::channel::{Channel, bytes_of, check_count, part, starts};
use super::tree;
use crate::mpi::process::{MpiError, PointToPoint};

/// `count` elements to each rank out of the root's `data`.
pub(crate) async fn scatter<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Rooted,
    data: Vec<T>,
    count: usize,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let counts = alloc::vec![count; size];
    match algorithm {
        Rooted::Linear => scatterv(channel, data, &counts, count, root).await,
        Rooted::Binomial => {
            let at = starts(&counts)?;
            let mut ordered = Vec::new();
            if channel.rank == root {
                check_count(data.len(), at.last().copied().unwrap_or(0))?;
                // Blocks in the order of the tree: the root's first.
                let cut = count.saturating_mul(root);
                ordered.extend_from_slice(part(&data, cut, data.len() - cut.min(data.len()))?);
                ordered.extend_from_slice(part(&data, 0, cut)?);
                if root > 0 {
                    channel.copied::<T>(data.len());
                }
            }
            down(channel, &at, ordered, root).await
        }
    }
}

/// `counts` and `data` matter at the root; `count` is what this rank gets.
pub(crate) async fn scatterv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    counts: &[usize],
    count: usize,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    if channel.rank != root {
        return match count {
            0 => Ok(Vec::new()),
            _ => channel.recv(root, count).await,
        };
    }
    check_count(counts.len(), channel.size())?;
    let at = starts(counts)?;
    check_count(data.len(), at.last().copied().unwrap_or(0))?;
    bytes_of::<T>(data.len())?;
    let mut own = Vec::new();
    let mut sends = Vec::new();
    for (rank, (&start, &length)) in at.iter().zip(counts).enumerate() {
        let block = part(&data, start, length)?;
        if rank == root {
            check_count(count, length)?;
            own = block.to_vec();
            channel.copied::<T>(length);
        } else if length > 0 {
            sends.push(channel.isend(rank, block)?);
        }
    }
    Channel::all_sent(sends).await?;
    Ok(own)
}

/// Blocks down the binomial tree of `root`. Block `v` begins at `at[v]`, `v` counted
/// from the root; the last entry of `at` is the end. Only the root's `data` matters.
pub(super) async fn down<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    at: &[usize],
    data: Vec<T>,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let v = tree::from_root(channel.rank, root, size);
    let start = |v: usize| at.get(v).copied().unwrap_or(0);
    let base = start(v);
    let length = start(tree::end(v, size)).saturating_sub(base);
    let run = match tree::parent(v) {
        None => data,
        Some(_) if length == 0 => Vec::new(),
        Some(parent) => {
            channel
                .recv(tree::to_rank(parent, root, size), length)
                .await?
        }
    };
    let mut sends = Vec::new();
    for child in tree::children(v, size).rev() {
        let (from, to) = (start(child), start(tree::end(child, size)));
        if to > from {
            let block = part(&run, from - base, to - from)?;
            sends.push(channel.isend(tree::to_rank(child, root, size), block)?);
        }
    }
    Channel::all_sent(sends).await?;
    let own = start(v + 1).saturating_sub(base);
    part(&run, 0, own).map(<[T]>::to_vec)
}

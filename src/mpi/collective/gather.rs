//! Gather, with and without counts.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::Rooted;
use super::channel::{Channel, bytes_of, check_count, place, starts};
use super::tree;
use crate::mpi::process::{MpiError, PointToPoint};

/// Everybody's `data` (equally many elements) in rank order at the root.
pub(crate) async fn gather<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Rooted,
    data: Vec<T>,
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    let counts = alloc::vec![data.len(); channel.size()];
    match algorithm {
        Rooted::Linear => gatherv(channel, data, &counts, root).await,
        Rooted::Binomial => up(channel, data, root).await,
    }
}

/// `counts` matters at the root.
pub(crate) async fn gatherv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    counts: &[usize],
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    if channel.rank != root {
        if !data.is_empty() {
            channel.send(root, &data).await?;
        }
        return Ok(None);
    }
    check_count(counts.len(), channel.size())?;
    let at = starts(counts)?;
    let total = at.last().copied().unwrap_or(0);
    bytes_of::<T>(total)?;
    let mut all = alloc::vec![T::zeroed(); total];
    let mut receives = Vec::new();
    for (rank, (&start, &count)) in at.iter().zip(counts).enumerate() {
        if rank == root {
            check_count(data.len(), count)?;
            place(&mut all, start, &data)?;
            channel.copied::<T>(count);
        } else if count > 0 {
            receives.push((start, channel.irecv(rank, count)?));
        }
    }
    for (start, receive) in receives {
        place(&mut all, start, &receive.done().await?)?;
    }
    Ok(Some(all))
}

async fn up<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    root: usize,
) -> Result<Option<Vec<T>>, MpiError> {
    let size = channel.size();
    let count = data.len();
    bytes_of::<T>(count.saturating_mul(size))?;
    let v = tree::from_root(channel.rank, root, size);
    // Runs of the children follow one another behind this rank's own block.
    let mut receives = Vec::new();
    if count > 0 {
        for child in tree::children(v, size) {
            let blocks = tree::end(child, size) - child;
            receives.push(channel.irecv::<T>(tree::to_rank(child, root, size), blocks * count)?);
        }
    }
    let mut run = data;
    for receive in receives {
        run.extend(receive.done().await?);
    }
    if let Some(parent) = tree::parent(v) {
        if count > 0 {
            channel
                .send(tree::to_rank(parent, root, size), &run)
                .await?;
        }
        return Ok(None);
    }
    if root > 0 {
        // The run starts with the root's block; rank 0's comes `size - root` later.
        let cut = ((size - root) * count).min(run.len());
        run.rotate_left(cut);
        channel.copied::<T>(run.len());
    }
    Ok(Some(run))
}

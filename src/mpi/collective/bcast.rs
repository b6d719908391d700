//! Broadcast.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::{Algorithms, Bcast};
use super::channel::{Channel, check_count, even_blocks, part, starts};
use super::{allgather, scatter, tree};
use crate::mpi::process::{MpiError, PointToPoint};

/// Every rank gives as many elements as the root; theirs are replaced.
pub(crate) async fn bcast<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    data: Vec<T>,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    let long = size_of_val(data.as_slice()) > algorithms.short_bytes;
    match algorithms.bcast {
        Bcast::Auto if long && channel.size() >= 8 => scatter_allgather(channel, data, root).await,
        Bcast::Auto | Bcast::Binomial => binomial(channel, data, root).await,
        Bcast::Chain => {
            let segment = algorithms.segment_bytes / size_of::<T>().max(1);
            chain(channel, data, root, segment.max(1)).await
        }
        Bcast::ScatterAllgather => scatter_allgather(channel, data, root).await,
    }
}

pub(super) async fn binomial<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    mut data: Vec<T>,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let v = tree::from_root(channel.rank, root, size);
    if let Some(parent) = tree::parent(v) {
        let parent = tree::to_rank(parent, root, size);
        data = channel.recv(parent, data.len()).await?;
    }
    // The largest subtree first: it takes longest.
    let mut sends = Vec::new();
    for child in tree::children(v, size).rev() {
        sends.push(channel.isend(tree::to_rank(child, root, size), &data)?);
    }
    Channel::all_sent(sends).await?;
    Ok(data)
}

async fn chain<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    root: usize,
    segment: usize,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let v = tree::from_root(channel.rank, root, size);
    let next = (v + 1 < size).then(|| channel.above(1));
    let mut sends = Vec::new();
    let mut out = Vec::with_capacity(data.len());
    let mut receives = Vec::new();
    if v > 0 {
        for piece in data.chunks(segment) {
            receives.push(channel.irecv::<T>(channel.below(1), piece.len())?);
        }
        for receive in receives {
            let piece = receive.done().await?;
            if let Some(next) = next {
                sends.push(channel.isend(next, &piece)?);
            }
            out.extend(piece);
        }
    } else {
        if let Some(next) = next {
            for piece in data.chunks(segment) {
                sends.push(channel.isend(next, piece)?);
            }
        }
        out = data;
    }
    Channel::all_sent(sends).await?;
    Ok(out)
}

/// Blocks are numbered from the root, so that the tree holds runs of them.
async fn scatter_allgather<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    root: usize,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let counts = even_blocks(data.len(), size);
    let at = starts(&counts)?;
    let v = tree::from_root(channel.rank, root, size);
    let count = data.len();
    let own = scatter::down(channel, &at, data, root).await?;
    let all = allgather::ring(channel, own, &counts, v).await?;
    check_count(all.len(), count)?;
    part(&all, 0, count).map(<[T]>::to_vec)
}

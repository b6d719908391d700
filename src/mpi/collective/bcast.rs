//! Broadcast.

use bytemuck::Pod;

use super::algorithms::{Algorithms, Bcast};
use super::cut::Cut;
use super::link::{Link, List, Receiving, part_mut};
use super::{allgather, scatter, tree};
use crate::mpi::process::MpiError;

/// What `Auto` means for so many elements.
pub(crate) fn choose<T>(algorithms: &Algorithms, count: usize, size: usize) -> Bcast {
    let long = count.saturating_mul(size_of::<T>()) > algorithms.short_bytes;
    match algorithms.bcast {
        Bcast::Auto if long && size >= 8 => Bcast::ScatterAllgather,
        Bcast::Auto => Bcast::Binomial,
        chosen => chosen,
    }
}

/// Elements of a segment of the chain.
pub(crate) fn segment<T>(algorithms: &Algorithms) -> usize {
    (algorithms.segment_bytes / size_of::<T>().max(1)).max(1)
}

/// Every rank gives as many elements as the root; theirs are replaced.
pub(crate) async fn bcast<L: Link, T: Pod>(
    link: &L,
    algorithms: &Algorithms,
    data: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    match choose::<T>(algorithms, data.len(), link.size()) {
        Bcast::Auto | Bcast::Binomial => binomial(link, data, root).await,
        Bcast::Chain => chain(link, data, root, segment::<T>(algorithms)).await,
        Bcast::ScatterAllgather => scatter_allgather(link, data, root).await,
    }
}

pub(super) async fn binomial<L: Link, T: Pod>(
    link: &L,
    data: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    let size = link.size();
    let v = tree::from_root(link.rank(), root, size);
    if let Some(parent) = tree::parent(v) {
        let parent = tree::to_rank(parent, root, size);
        link.recv(parent, data).await?;
    }
    // The largest subtree first: it takes longest.
    let children = tree::children(v, size).rev();
    let ranks = children.map(|child| tree::to_rank(child, root, size));
    let mut sends = L::List::default();
    link.isend_each(ranks, data, &mut sends)?;
    L::all_sent(sends).await
}

async fn chain<L: Link, T: Pod>(
    link: &L,
    data: &mut [T],
    root: usize,
    segment: usize,
) -> Result<(), MpiError> {
    let size = link.size();
    let v = tree::from_root(link.rank(), root, size);
    let next = (v + 1 < size).then(|| link.above(1));
    let mut sends = L::List::default();
    if v > 0 {
        let mut receives = L::List::default();
        for piece in data.chunks(segment) {
            receives.add(link.irecv::<T>(link.below(1), piece.len())?)?;
        }
        for (piece, receive) in data.chunks_mut(segment).zip(receives) {
            receive.fill(piece).await?;
            if let Some(next) = next {
                sends.add(link.isend(next, piece)?)?;
            }
        }
    } else if let Some(next) = next {
        for piece in data.chunks(segment) {
            sends.add(link.isend(next, piece)?)?;
        }
    }
    L::all_sent(sends).await
}

/// Blocks are numbered from the root, so that the tree holds runs of them.
async fn scatter_allgather<L: Link, T: Pod>(
    link: &L,
    data: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    let size = link.size();
    let cut = Cut::Even {
        total: data.len(),
        parts: size,
    };
    let v = tree::from_root(link.rank(), root, size);
    let (start, end) = (cut.start(v), cut.start(tree::end(v, size)));
    scatter::down(link, cut, part_mut(data, start, end - start)?, root).await?;
    allgather::ring(link, data, cut, v).await
}

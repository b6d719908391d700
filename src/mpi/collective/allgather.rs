//! Gather to all, with and without counts.

use bytemuck::Pod;

use super::algorithms::{Algorithms, Allgather};
use super::cut::Cut;
use super::link::{Link, List, Receiving, bytes_of, check_count, part_mut, place};
use super::{bcast, gather, tree};
use crate::mpi::process::MpiError;

/// What `Auto` means for so many elements in all.
pub(crate) fn choose<T>(algorithms: &Algorithms, total: usize) -> Allgather {
    let long = total.saturating_mul(size_of::<T>()) > algorithms.short_bytes;
    match algorithms.allgather {
        Allgather::Auto if long => Allgather::Ring,
        Allgather::Auto => Allgather::Bruck,
        chosen => chosen,
    }
}

/// Everybody's `data`, a block of `cut` from each, in rank order.
pub(crate) async fn allgatherv<L: Link, T: Pod>(
    link: &L,
    algorithms: &Algorithms,
    data: &[T],
    cut: Cut<'_>,
    all: &mut [T],
) -> Result<(), MpiError> {
    check_count(cut.parts(), link.size())?;
    let (start, count) = cut.run(link.rank());
    check_count(data.len(), count)?;
    let total = cut.end();
    bytes_of::<T>(total)?;
    check_count(all.len(), total)?;
    match choose::<T>(algorithms, total) {
        Allgather::Bruck => bruck(link, data, cut, all).await,
        Allgather::Auto | Allgather::Ring => {
            place(all, start, data)?;
            ring(link, all, cut, link.rank()).await
        }
        Allgather::Linear => linear(link, data, cut, all).await,
        Allgather::GatherBcast => {
            gather::gatherv(link, data, cut, all, 0).await?;
            bcast::binomial(link, all, 0).await
        }
    }
}

/// Around the ring. Block `v` is this rank's own, and in its place; the blocks of the
/// ranks above follow it. (The broadcast counts blocks from its root.)
pub(super) async fn ring<L: Link, T: Pod>(
    link: &L,
    all: &mut [T],
    cut: Cut<'_>,
    v: usize,
) -> Result<(), MpiError> {
    let size = link.size();
    link.copied::<T>(cut.count(v));
    let mut block = v;
    for step in 1..size {
        let next = (v + size - step) % size;
        let (to, from) = (link.above(1), link.below(1));
        let (sent, wanted) = (cut.run(block), cut.run(next));
        link.exchange_within(all, to, sent, from, wanted).await?;
        block = next;
    }
    Ok(())
}

async fn bruck<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    cut: Cut<'_>,
    all: &mut [T],
) -> Result<(), MpiError> {
    let (size, rank) = (link.size(), link.rank());
    // The blocks of this rank and those above it, around the ring.
    place(all, 0, data)?;
    for distance in tree::distances(size) {
        let blocks = distance.min(size - distance);
        let start = cut.around(rank, distance);
        let wanted = (start, cut.around(rank, distance + blocks) - start);
        let sent = (0, cut.around(rank, blocks));
        let (to, from) = (link.below(distance), link.above(distance));
        link.exchange_within(all, to, sent, from, wanted).await?;
    }
    // Rank 0's block is `size - rank` blocks on.
    if rank > 0 {
        let cut = cut.around(rank, size - rank).min(all.len());
        all.rotate_left(cut);
        link.copied::<T>(all.len());
    }
    Ok(())
}

async fn linear<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    cut: Cut<'_>,
    all: &mut [T],
) -> Result<(), MpiError> {
    let size = link.size();
    let mut receives = L::List::default();
    for step in 1..size {
        let from = link.below(step);
        let count = cut.count(from);
        if count > 0 {
            receives.add((from, link.irecv::<T>(from, count)?))?;
        }
    }
    let mut sends = L::List::default();
    if !data.is_empty() {
        let ranks = (1..size).map(|step| link.above(step));
        link.isend_each(ranks, data, &mut sends)?;
    }
    place(all, cut.start(link.rank()), data)?;
    link.copied::<T>(data.len());
    for (from, receive) in receives {
        let (start, count) = cut.run(from);
        receive.fill(part_mut(all, start, count)?).await?;
    }
    L::all_sent(sends).await
}

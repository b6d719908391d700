//! Reduction with the result scattered.

use bytemuck::Pod;

use super::algorithms::ReduceScatter;
use super::cut::Cut;
use super::link::{Link, check_count, check_room, part, part_mut, place};
use super::op::Combine;
use super::{reduce, scatter};
use crate::mpi::process::MpiError;

/// Elements of room that a rank needs.
pub(crate) fn room(algorithm: ReduceScatter, rank: usize, cut: Cut<'_>) -> usize {
    match algorithm {
        _ if cut.parts() < 2 => 0,
        ReduceScatter::Pairwise => cut.count(rank).saturating_mul(cut.parts()),
        ReduceScatter::Ring => cut.longest(),
        ReduceScatter::ReduceScatterv => cut.end(),
    }
}

/// Block `rank` of the reduction into `own`. `data` holds nothing of use afterwards. In
/// `work` there must be [`room`].
pub(crate) async fn reduce_scatter<L: Link, T: Pod>(
    link: &L,
    algorithm: ReduceScatter,
    data: &mut [T],
    cut: Cut<'_>,
    op: &impl Combine<T>,
    own: &mut [T],
    work: &mut [T],
) -> Result<(), MpiError> {
    let rank = link.rank();
    check_count(cut.parts(), link.size())?;
    check_count(data.len(), cut.end())?;
    check_count(own.len(), cut.count(rank))?;
    if algorithm == ReduceScatter::Ring && !op.is_commutative() {
        return Err(MpiError::Unsupported);
    }
    check_room(work.len(), room(algorithm, rank, cut))?;
    match algorithm {
        ReduceScatter::Pairwise => pairwise(link, data, cut, op, own, work).await,
        ReduceScatter::Ring => {
            ring(link, data, cut, op, work).await?;
            own.copy_from_slice(part(data, cut.start(rank), own.len())?);
            Ok(())
        }
        ReduceScatter::ReduceScatterv => {
            reduce::up(link, data, op, 0, work).await?;
            scatter::scatterv(link, data, cut, own, 0).await
        }
    }
}

async fn pairwise<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    cut: Cut<'_>,
    op: &impl Combine<T>,
    own: &mut [T],
    work: &mut [T],
) -> Result<(), MpiError> {
    let (size, rank, count) = (link.size(), link.rank(), own.len());
    let block = |rank: usize| part(data, cut.start(rank), cut.count(rank));
    own.copy_from_slice(block(rank)?);
    if size < 2 {
        return Ok(());
    }
    place(work, rank * count, own)?;
    for step in 1..size {
        let (to, from) = (link.above(step), link.below(step));
        let theirs = part_mut(work, from * count, count)?;
        link.exchange_some(to, block(to)?, from, theirs).await?;
    }
    // In rank order, whatever the order of arrival.
    own.copy_from_slice(part(work, 0, count)?);
    for rank in 1..size {
        link.join(op, own, part(work, rank * count, count)?)?;
    }
    Ok(())
}

/// Each block starts one above its owner and is folded at each rank on its way; it ends
/// in its place in `data`.
pub(super) async fn ring<L: Link, T: Pod>(
    link: &L,
    data: &mut [T],
    cut: Cut<'_>,
    op: &impl Combine<T>,
    work: &mut [T],
) -> Result<(), MpiError> {
    for step in 2..=link.size() {
        let (start, count) = cut.run(link.below(step - 1));
        let (mine, length) = cut.run(link.below(step));
        let (to, from) = (link.above(1), link.below(1));
        let theirs = part_mut(work, 0, length)?;
        let running = part(data, start, count)?;
        link.exchange_some(to, running, from, theirs).await?;
        link.join_below(op, theirs, part_mut(data, mine, length)?)?;
    }
    Ok(())
}

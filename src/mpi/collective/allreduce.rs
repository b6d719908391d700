//! Reduction to all.

use bytemuck::Pod;

use super::algorithms::{Algorithms, Allreduce};
use super::cut::Cut;
use super::link::{Link, check_room, part_mut};
use super::op::Combine;
use super::{allgather, bcast, reduce, reduce_scatter, tree};
use crate::mpi::process::MpiError;

/// What `Auto` means for so many elements.
pub(crate) fn choose<T>(algorithms: &Algorithms, count: usize, commutative: bool) -> Allreduce {
    let long = count.saturating_mul(size_of::<T>()) > algorithms.short_bytes;
    match algorithms.allreduce {
        Allreduce::Auto if long && commutative => Allreduce::Ring,
        Allreduce::Auto => Allreduce::RecursiveDoubling,
        chosen => chosen,
    }
}

/// Elements of room that a rank needs for `count` of its own.
pub(crate) fn room(chosen: Allreduce, size: usize, count: usize) -> usize {
    match chosen {
        _ if size < 2 => 0,
        Allreduce::Ring => count.div_ceil(size),
        _ => count,
    }
}

/// Everybody's `data` becomes the result. In `work` there must be [`room`].
pub(crate) async fn allreduce<L: Link, T: Pod>(
    link: &L,
    algorithms: &Algorithms,
    data: &mut [T],
    op: &impl Combine<T>,
    work: &mut [T],
) -> Result<(), MpiError> {
    let chosen = choose::<T>(algorithms, data.len(), op.is_commutative());
    if chosen == Allreduce::Ring && !op.is_commutative() {
        return Err(MpiError::Unsupported);
    }
    check_room(work.len(), room(chosen, link.size(), data.len()))?;
    match chosen {
        Allreduce::Auto | Allreduce::RecursiveDoubling => {
            recursive_doubling(link, data, op, work).await
        }
        Allreduce::Ring => ring(link, data, op, work).await,
        Allreduce::ReduceBcast => {
            reduce::up(link, data, op, 0, work).await?;
            bcast::binomial(link, data, 0).await
        }
    }
}

/// Neighbours are folded and partners hold neighbouring runs, so the order of ranks
/// is kept; both partners compute the same expression, so all results are equal.
async fn recursive_doubling<L: Link, T: Pod>(
    link: &L,
    sum: &mut [T],
    op: &impl Combine<T>,
    work: &mut [T],
) -> Result<(), MpiError> {
    let (size, rank) = (link.size(), link.rank());
    if size < 2 {
        return Ok(());
    }
    let theirs = part_mut(work, 0, sum.len())?;
    let power = 1usize << size.ilog2();
    // Ranks below `2 * extra` are folded in pairs onto the odd one.
    let extra = size - power;
    let place = if rank >= 2 * extra {
        rank - extra
    } else if rank.is_multiple_of(2) {
        link.send(rank + 1, sum).await?;
        return link.recv(rank + 1, sum).await;
    } else {
        link.recv(rank - 1, theirs).await?;
        link.join_below(op, theirs, sum)?;
        rank / 2
    };
    for distance in tree::distances(power) {
        let partner = place ^ distance;
        let other = match partner < extra {
            true => partner * 2 + 1,
            false => partner + extra,
        };
        link.exchange(other, sum, other, theirs).await?;
        match partner < place {
            true => link.join_below(op, theirs, sum)?,
            false => link.join(op, sum, theirs)?,
        }
    }
    if rank < 2 * extra {
        link.send(rank - 1, sum).await?;
    }
    Ok(())
}

async fn ring<L: Link, T: Pod>(
    link: &L,
    data: &mut [T],
    op: &impl Combine<T>,
    work: &mut [T],
) -> Result<(), MpiError> {
    let cut = Cut::Even {
        total: data.len(),
        parts: link.size(),
    };
    reduce_scatter::ring(link, data, cut, op, work).await?;
    allgather::ring(link, data, cut, link.rank()).await
}

//! Reduction to a root.

use bytemuck::Pod;

use super::algorithms::Reduce;
use super::link::{Link, List, Receiving, check_room, part_mut};
use super::op::Combine;
use super::tree;
use crate::mpi::process::MpiError;

/// Elements of room that a rank needs for `count` of its own.
pub(crate) fn room(
    algorithm: Reduce,
    rank: usize,
    size: usize,
    count: usize,
    root: usize,
) -> usize {
    match algorithm {
        Reduce::Binomial if size > 1 => count,
        Reduce::Linear if size > 1 && rank == root => count.saturating_mul(2),
        _ => 0,
    }
}

/// The root's `data` becomes the result; elsewhere it holds nothing of use afterwards.
/// In `work` there must be [`room`].
pub(crate) async fn reduce<L: Link, T: Pod>(
    link: &L,
    algorithm: Reduce,
    data: &mut [T],
    op: &impl Combine<T>,
    root: usize,
    work: &mut [T],
) -> Result<(), MpiError> {
    let needed = room(algorithm, link.rank(), link.size(), data.len(), root);
    check_room(work.len(), needed)?;
    match algorithm {
        Reduce::Linear => linear(link, data, op, root, work).await,
        Reduce::Binomial if op.is_commutative() => up(link, data, op, root, work).await,
        Reduce::Binomial => {
            // A tree that starts elsewhere would turn the ranks around.
            up(link, data, op, 0, work).await?;
            if root == 0 {
                return Ok(());
            }
            if link.rank() == 0 {
                link.send(root, data).await?;
            }
            if link.rank() == root {
                link.recv(0, data).await?;
            }
            Ok(())
        }
    }
}

/// Up the binomial tree of `root`; in `work` there must be room for the operand of a
/// child.
pub(super) async fn up<L: Link, T: Pod>(
    link: &L,
    data: &mut [T],
    op: &impl Combine<T>,
    root: usize,
    work: &mut [T],
) -> Result<(), MpiError> {
    let (size, count) = (link.size(), data.len());
    let v = tree::from_root(link.rank(), root, size);
    let mut receives = L::List::default();
    for child in tree::children(v, size) {
        receives.add(link.irecv::<T>(tree::to_rank(child, root, size), count)?)?;
    }
    // The nearest child first: runs of neighbours grow from the left.
    for receive in receives {
        let theirs = part_mut(work, 0, count)?;
        receive.fill(theirs).await?;
        link.join(op, data, theirs)?;
    }
    match tree::parent(v) {
        Some(parent) => link.send(tree::to_rank(parent, root, size), data).await,
        None => Ok(()),
    }
}

async fn linear<L: Link, T: Pod>(
    link: &L,
    data: &mut [T],
    op: &impl Combine<T>,
    root: usize,
    work: &mut [T],
) -> Result<(), MpiError> {
    if link.rank() != root {
        return link.send(root, data).await;
    }
    if link.size() < 2 {
        return Ok(());
    }
    let count = data.len();
    let mut receives = L::List::default();
    for rank in (0..link.size()).filter(|rank| *rank != root) {
        receives.add((rank, link.irecv::<T>(rank, count)?))?;
    }
    let (sum, theirs) = work.split_at_mut(count.min(work.len()));
    let theirs = part_mut(theirs, 0, count)?;
    if root == 0 {
        sum.copy_from_slice(data);
    }
    for (rank, receive) in receives {
        if rank == 0 {
            receive.fill(sum).await?;
        } else {
            receive.fill(theirs).await?;
            link.join(op, sum, theirs)?;
        }
        if rank + 1 == root {
            link.join(op, sum, data)?;
        }
    }
    data.copy_from_slice(sum);
    Ok(())
}

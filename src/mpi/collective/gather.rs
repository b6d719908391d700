//! Gather, with and without counts.

use bytemuck::Pod;

use super::algorithms::Rooted;
use super::cut::Cut;
use super::link::{Link, List, Receiving, check_count, check_room, part_mut, place};
use super::tree;
use crate::mpi::process::MpiError;

/// Elements of room that a rank needs: at the root for the result, elsewhere to pass
/// blocks of `each` on.
pub(crate) fn room(algorithm: Rooted, rank: usize, size: usize, each: usize, root: usize) -> usize {
    let v = tree::from_root(rank, root, size);
    match (algorithm, tree::end(v, size) - v) {
        _ if v == 0 => each.saturating_mul(size),
        (Rooted::Binomial, blocks @ 2..) => blocks.saturating_mul(each),
        _ => 0,
    }
}

/// Everybody's `data` (equally many elements) in rank order in the root's `all`. In
/// `all` there must be [`room`].
pub(crate) async fn gather<L: Link, T: Pod>(
    link: &L,
    algorithm: Rooted,
    data: &[T],
    all: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    let needed = room(algorithm, link.rank(), link.size(), data.len(), root);
    check_room(all.len(), needed)?;
    match algorithm {
        Rooted::Linear => {
            let cut = Cut::same(data.len(), link.size())?;
            gatherv(link, data, cut, all, root).await
        }
        Rooted::Binomial => up(link, data, part_mut(all, 0, needed)?, root).await,
    }
}

/// `cut` and `all` matter at the root.
pub(crate) async fn gatherv<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    cut: Cut<'_>,
    all: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    if link.rank() != root {
        if !data.is_empty() {
            link.send(root, data).await?;
        }
        return Ok(());
    }
    check_count(cut.parts(), link.size())?;
    check_count(data.len(), cut.count(root))?;
    check_room(all.len(), cut.end())?;
    let mut receives = L::List::default();
    for rank in 0..link.size() {
        let (start, count) = cut.run(rank);
        if rank == root {
            place(all, start, data)?;
            link.copied::<T>(count);
        } else if count > 0 {
            receives.add(((start, count), link.irecv::<T>(rank, count)?))?;
        }
    }
    for ((start, count), receive) in receives {
        receive.fill(part_mut(all, start, count)?).await?;
    }
    Ok(())
}

async fn up<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    run: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    let (size, count) = (link.size(), data.len());
    let v = tree::from_root(link.rank(), root, size);
    // Runs of the children follow one another behind this rank's own block.
    let mut receives = L::List::default();
    if count > 0 {
        for child in tree::children(v, size) {
            let length = (tree::end(child, size) - child) * count;
            let from = tree::to_rank(child, root, size);
            receives.add(((child - v) * count, length, link.irecv::<T>(from, length)?))?;
        }
    }
    if !run.is_empty() {
        place(run, 0, data)?;
    }
    for (start, length, receive) in receives {
        receive.fill(part_mut(run, start, length)?).await?;
    }
    if let Some(parent) = tree::parent(v) {
        if count > 0 {
            let sent = if run.is_empty() { data } else { run };
            link.send(tree::to_rank(parent, root, size), sent).await?;
        }
        return Ok(());
    }
    if root > 0 {
        // The run starts with the root's block; rank 0's comes `size - root` later.
        run.rotate_left(((size - root) * count).min(run.len()));
        link.copied::<T>(run.len());
    }
    Ok(())
}

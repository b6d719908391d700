//! Scatter, with and without counts.

use bytemuck::Pod;

use super::algorithms::Rooted;
use super::cut::Cut;
use super::link::{Link, List, check_count, check_room, part, part_mut};
use super::tree;
use crate::mpi::process::MpiError;

/// Elements of room that a rank needs to pass blocks of `each` on.
pub(crate) fn room(algorithm: Rooted, rank: usize, size: usize, each: usize, root: usize) -> usize {
    let v = tree::from_root(rank, root, size);
    match (algorithm, tree::end(v, size) - v) {
        (Rooted::Binomial, blocks @ 2..) if v > 0 => blocks * each,
        _ => 0,
    }
}

/// A block to each rank, `own.len()` elements, out of the root's `data`. In `work`
/// there must be [`room`].
pub(crate) async fn scatter<L: Link, T: Pod>(
    link: &L,
    algorithm: Rooted,
    data: &[T],
    own: &mut [T],
    root: usize,
    work: &mut [T],
) -> Result<(), MpiError> {
    let (size, each) = (link.size(), own.len());
    let cut = Cut::same(each, size)?;
    match algorithm {
        Rooted::Linear => scatterv(link, data, cut, own, root).await,
        Rooted::Binomial if link.rank() == root => {
            let total = cut.end();
            check_count(data.len(), total)?;
            own.copy_from_slice(part(data, cut.start(root), each)?);
            if root > 0 {
                // Blocks in the order of the tree: the root's first.
                link.copied::<T>(total);
            }
            pass_on(link, cut, root, |from, to| {
                let (from, to) = (cut.start(root) + from, cut.start(root) + to);
                match from.checked_sub(total) {
                    Some(from) => Ok((part(data, from, to - total - from)?, &[][..])),
                    None if to <= total => Ok((part(data, from, to - from)?, &[][..])),
                    None => Ok((part(data, from, total - from)?, part(data, 0, to - total)?)),
                }
            })
            .await
        }
        Rooted::Binomial => match room(algorithm, link.rank(), size, each, root) {
            0 => down(link, cut, own, root).await,
            needed => {
                check_room(work.len(), needed)?;
                let run = part_mut(work, 0, needed)?;
                down(link, cut, run, root).await?;
                own.copy_from_slice(part(run, 0, each)?);
                Ok(())
            }
        },
    }
}

/// `cut` and `data` matter at the root; `own` is what this rank gets.
pub(crate) async fn scatterv<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    cut: Cut<'_>,
    own: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    if link.rank() != root {
        return match own.len() {
            0 => Ok(()),
            _ => link.recv(root, own).await,
        };
    }
    check_count(cut.parts(), link.size())?;
    check_count(data.len(), cut.end())?;
    check_count(own.len(), cut.count(root))?;
    let mut sends = L::List::default();
    for rank in 0..link.size() {
        let (start, length) = cut.run(rank);
        let block = part(data, start, length)?;
        if rank == root {
            own.copy_from_slice(block);
            link.copied::<T>(length);
        } else if length > 0 {
            sends.add(link.isend(rank, block)?)?;
        }
    }
    L::all_sent(sends).await
}

/// Blocks down the binomial tree of `root`, blocks counted from it. `run` is the run of
/// this rank's subtree, its own block first; only the root's is given.
pub(super) async fn down<L: Link, T: Pod>(
    link: &L,
    cut: Cut<'_>,
    run: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    let size = link.size();
    let v = tree::from_root(link.rank(), root, size);
    if let Some(parent) = tree::parent(v)
        && !run.is_empty()
    {
        link.recv(tree::to_rank(parent, root, size), run).await?;
    }
    pass_on(link, cut, root, |from, to| {
        Ok((part(run, from, to - from)?, &[][..]))
    })
    .await
}

/// To each child its run, which is `pieces` of this rank's from one element to another.
async fn pass_on<'d, L: Link, T: Pod>(
    link: &L,
    cut: Cut<'_>,
    root: usize,
    pieces: impl Fn(usize, usize) -> Result<(&'d [T], &'d [T]), MpiError>,
) -> Result<(), MpiError> {
    let size = link.size();
    let v = tree::from_root(link.rank(), root, size);
    let base = cut.start(v);
    let mut sends = L::List::default();
    for child in tree::children(v, size).rev() {
        let (from, to) = (cut.start(child), cut.start(tree::end(child, size)));
        if to > from {
            let (first, second) = pieces(from - base, to - base)?;
            let to = tree::to_rank(child, root, size);
            sends.add(link.isend_pieces(to, first, second)?)?;
        }
    }
    L::all_sent(sends).await
}

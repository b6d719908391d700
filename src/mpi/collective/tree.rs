//! The binomial tree over 0..P, root 0.
//!
//! The parent of `v` is `v` without its lowest set bit; the subtree of `v` is the run
//! `v .. v + 2^k` cut at P, `2^k` being that bit. Runs of neighbours make it fit for
//! operators that do not commute.

use core::iter;

/// Lowest set bit of `v`; of the root: the first power of two that reaches `size`.
fn bit(v: usize, size: usize) -> usize {
    if v == 0 {
        size.next_power_of_two()
    } else {
        1 << v.trailing_zeros()
    }
}

/// The parent; none of the root.
pub(crate) fn parent(v: usize) -> Option<usize> {
    (v != 0).then(|| v & (v - 1))
}

/// The children, the nearest (smallest subtree) first.
pub(crate) fn children(v: usize, size: usize) -> impl DoubleEndedIterator<Item = usize> {
    let top = bit(v, size).trailing_zeros();
    (0..top)
        .map(move |k| v + (1 << k))
        .filter(move |child| *child < size)
}

/// One past the last rank of the subtree.
pub(crate) fn end(v: usize, size: usize) -> usize {
    (v + bit(v, size)).min(size)
}

/// Rank seen from a root: 0 is the root.
pub(crate) fn from_root(rank: usize, root: usize, size: usize) -> usize {
    let size = size.max(1);
    (rank + size - root % size) % size
}

/// Inverse of [`from_root`].
pub(crate) fn to_rank(v: usize, root: usize, size: usize) -> usize {
    (v + root) % size.max(1)
}

/// 1, 2, 4... below `size`.
pub(crate) fn distances(size: usize) -> impl Iterator<Item = usize> {
    iter::successors(Some(1usize), |d| d.checked_mul(2)).take_while(move |d| *d < size)
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn each_rank_is_the_child_of_its_parent_and_subtrees_are_runs() {
        for size in 1..40 {
            for v in 0..size {
                let mut next = v + 1;
                for child in children(v, size) {
                    assert_eq!(parent(child), Some(v));
                    assert_eq!(child, next);
                    next = end(child, size);
                }
                assert_eq!(next, end(v, size));
            }
        }
    }

    #[test]
    fn distances_are_powers_of_two() {
        assert_eq!(distances(9).collect::<Vec<_>>(), [1, 2, 4, 8]);
        assert_eq!(distances(1).count(), 0);
    }
}

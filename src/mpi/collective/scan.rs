//! Prefix reductions.

use bytemuck::Pod;

use super::algorithms::Scan;
use super::link::{Link, Receiving, check_count, check_room, part_mut};
use super::op::Combine;
use super::tree;
use crate::mpi::process::MpiError;

/// Elements of room that a rank needs for `count` of its own.
pub(crate) fn room(size: usize, count: usize) -> usize {
    if size > 1 { count } else { 0 }
}

/// `with` becomes the reduction up to and with this rank; `below` that over lower ranks
/// (at rank 0 it stays as it is). In `work` there must be [`room`].
pub(crate) async fn scan<L: Link, T: Pod>(
    link: &L,
    algorithm: Scan,
    with: &mut [T],
    below: Option<&mut [T]>,
    op: &impl Combine<T>,
    work: &mut [T],
) -> Result<(), MpiError> {
    if let Some(below) = &below {
        check_count(below.len(), with.len())?;
    }
    let needed = room(link.size(), with.len());
    check_room(work.len(), needed)?;
    let left = part_mut(work, 0, needed)?;
    match algorithm {
        Scan::Linear => linear(link, with, below, op, left).await,
        Scan::RecursiveDoubling => doubling(link, with, below, op, left).await,
    }
}

async fn linear<L: Link, T: Pod>(
    link: &L,
    with: &mut [T],
    below: Option<&mut [T]>,
    op: &impl Combine<T>,
    left: &mut [T],
) -> Result<(), MpiError> {
    if link.rank() > 0 {
        link.recv(link.rank() - 1, left).await?;
        link.join_below(op, left, with)?;
        if let Some(below) = below {
            below.copy_from_slice(left);
        }
    }
    if link.rank() + 1 < link.size() {
        link.send(link.rank() + 1, with).await?;
    }
    Ok(())
}

/// Before the round of distance `d`, `with` covers the `d` ranks up to this one.
async fn doubling<L: Link, T: Pod>(
    link: &L,
    with: &mut [T],
    mut below: Option<&mut [T]>,
    op: &impl Combine<T>,
    left: &mut [T],
) -> Result<(), MpiError> {
    let rank = link.rank();
    for distance in tree::distances(link.size()) {
        let receiving = match rank >= distance {
            true => Some(link.irecv::<T>(rank - distance, with.len())?),
            false => None,
        };
        let sending = match rank + distance < link.size() {
            true => Some(link.isend(rank + distance, with)?),
            false => None,
        };
        if let Some(receiving) = receiving {
            receiving.fill(left).await?;
            link.join_below(op, left, with)?;
            match &mut below {
                Some(below) if distance > 1 => link.join_below(op, left, below)?,
                Some(below) => below.copy_from_slice(left),
                None => {}
            }
        }
        if let Some(sending) = sending {
            sending.await?;
        }
    }
    Ok(())
}

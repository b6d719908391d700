//! Prefix reductions.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::Scan;
use super::channel::Channel;
use super::op::Op;
use super::tree;
use crate::mpi::process::{MpiError, PointToPoint};

/// What lies below a rank, and that with the rank itself.
pub(crate) struct Prefix<T> {
    /// Reduction over lower ranks; none at rank 0.
    pub(crate) below: Option<Vec<T>>,
    /// Reduction up to and with this rank.
    pub(crate) with: Vec<T>,
}

pub(crate) async fn scan<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Scan,
    data: Vec<T>,
    op: &Op<T>,
) -> Result<Prefix<T>, MpiError> {
    match algorithm {
        Scan::Linear => linear(channel, data, op).await,
        Scan::RecursiveDoubling => doubling(channel, data, op).await,
    }
}

async fn linear<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    op: &Op<T>,
) -> Result<Prefix<T>, MpiError> {
    let mut prefix = Prefix {
        below: None,
        with: data,
    };
    if channel.rank > 0 {
        let below = channel.recv(channel.rank - 1, prefix.with.len()).await?;
        prefix.with = op.join(channel, &below, &prefix.with)?;
        prefix.below = Some(below);
    }
    if channel.rank + 1 < channel.size() {
        channel.send(channel.rank + 1, &prefix.with).await?;
    }
    Ok(prefix)
}

/// Before the round of distance `d`, `with` covers the `d` ranks up to this one.
async fn doubling<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: Vec<T>,
    op: &Op<T>,
) -> Result<Prefix<T>, MpiError> {
    let count = data.len();
    let mut prefix = Prefix {
        below: None,
        with: data,
    };
    for distance in tree::distances(channel.size()) {
        let receiving = match channel.rank >= distance {
            true => Some(channel.irecv(channel.rank - distance, count)?),
            false => None,
        };
        let sending = match channel.rank + distance < channel.size() {
            true => Some(channel.isend(channel.rank + distance, &prefix.with)?),
            false => None,
        };
        if let Some(receiving) = receiving {
            let left = receiving.done().await?;
            prefix.with = op.join(channel, &left, &prefix.with)?;
            prefix.below = Some(match prefix.below {
                Some(below) => op.join(channel, &left, &below)?,
                None => left,
            });
        }
        if let Some(sending) = sending {
            sending.await?;
        }
    }
    Ok(prefix)
}

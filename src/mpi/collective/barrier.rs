//! Barrier.

use super::algorithms::Barrier;
use super::bcast::binomial as binomial_bcast;
use super::channel::Channel;
use super::tree;
use crate::mpi::process::{MpiError, PointToPoint};

pub(crate) async fn barrier<P: PointToPoint>(
    channel: &Channel<P>,
    algorithm: Barrier,
) -> Result<(), MpiError> {
    match algorithm {
        Barrier::Dissemination => {
            let mut distance = 1;
            while distance < channel.size() {
                let (to, from) = (channel.above(distance), channel.below(distance));
                channel.exchange::<u8>(to, &[], from, 0).await?;
                distance *= 2;
            }
            Ok(())
        }
        Barrier::Tree => {
            for child in tree::children(channel.rank, channel.size()) {
                channel.recv::<u8>(child, 0).await?;
            }
            if let Some(parent) = tree::parent(channel.rank) {
                channel.send::<u8>(parent, &[]).await?;
            }
            binomial_bcast::<P, u8>(channel, alloc::vec::Vec::new(), 0).await?;
            Ok(())
        }
    }
}

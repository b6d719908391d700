//! Barrier.

use super::algorithms::Barrier;
use super::bcast::binomial as binomial_bcast;
use super::link::Link;
use super::tree;
use crate::mpi::process::MpiError;

pub(crate) async fn barrier<L: Link>(link: &L, algorithm: Barrier) -> Result<(), MpiError> {
    match algorithm {
        Barrier::Dissemination => {
            for distance in tree::distances(link.size()) {
                let (to, from) = (link.above(distance), link.below(distance));
                link.exchange::<u8>(to, &[], from, &mut []).await?;
            }
            Ok(())
        }
        Barrier::Tree => {
            for child in tree::children(link.rank(), link.size()) {
                link.recv::<u8>(child, &mut []).await?;
            }
            if let Some(parent) = tree::parent(link.rank()) {
                link.send::<u8>(parent, &[]).await?;
            }
            binomial_bcast::<L, u8>(link, &mut [], 0).await
        }
    }
}

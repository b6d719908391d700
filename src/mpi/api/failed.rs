//! Processes that are lost, as a communicator knows them.
//!
//! In the manner of the user-level failure mitigation proposed for the MPI standard:
//! what names a lost process fails; what might be for it, but also for others, says
//! so until the program has acknowledged the loss.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::communicator::Communicator;
use crate::mpi::process::{MpiError, PointToPoint};

/// The ranks of a communicator and what its program knows of them.
#[derive(Clone)]
pub(super) struct Senders {
    /// World rank of each rank.
    pub(super) ranks: Rc<[u32]>,
    /// World ranks that are known to be closed.
    acknowledged: Rc<RefCell<Vec<u32>>>,
}

impl Senders {
    pub(super) fn new(ranks: Rc<[u32]>) -> Self {
        Self {
            ranks,
            acknowledged: Rc::default(),
        }
    }

    /// Whether a message of any of them may be waited for.
    pub(super) fn check<P: PointToPoint>(&self, process: &P) -> Result<(), MpiError> {
        let closed = process.closed();
        let acknowledged = self.acknowledged.borrow();
        let mut news = closed.iter().filter(|rank| !acknowledged.contains(rank));
        match news.find(|rank| self.ranks.contains(rank)) {
            Some(&rank) => Err(MpiError::PeerClosedPending { rank }),
            None => Ok(()),
        }
    }
}

impl<P: PointToPoint> Communicator<P> {
    /// Ranks of this communicator that nothing passes to or from any more, as far as
    /// this rank knows, in rank order.
    #[doc(alias = "MPIX_Comm_get_failed")]
    pub fn failed(&self) -> Vec<u32> {
        let closed = self.process().closed();
        let ranks = (0..self.size()).filter(|rank| {
            let world = self.world_rank(*rank);
            world.is_some_and(|world| closed.contains(&world))
        });
        ranks.collect()
    }

    /// The ranks of [`failed`](Self::failed) are known to the program: receives from
    /// any source and probes go on without them. Gives them. Communicators made from
    /// this one do not know of it.
    #[doc(alias = "MPIX_Comm_ack_failed")]
    #[doc(alias = "MPIX_Comm_failure_ack")]
    pub fn acknowledge_failed(&self) -> Vec<u32> {
        *self.senders().acknowledged.borrow_mut() = self.process().closed();
        self.failed()
    }
}

//! Parts of the machine that are lost, and the links that go with them.

use alloc::vec::Vec;
use core::fmt;

use super::cpu::Cpu;
use super::media::Medium;
use super::site::Site;
use crate::mpi::endpoint::PeerState;

/// What the machine has lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// Nothing passes between this node and others.
    Node(u16),
    /// Nothing passes between these two.
    Pair(u16, u16),
}

impl Loss {
    /// Whether it parts two nodes; what stays within a node is never lost.
    fn parts(self, a: u16, b: u16) -> bool {
        a != b
            && match self {
                Self::Node(node) => node == a || node == b,
                Self::Pair(one, other) => (one, other) == (a, b) || (one, other) == (b, a),
            }
    }
}

impl<M: Medium> Site<M> {
    /// Asks the machine which pairs have parted; whether there are any.
    pub(super) fn note_partings(&mut self) -> bool {
        let Self { medium, losses, .. } = self;
        let before = losses.len();
        medium.take_partings(&mut |a, b| losses.push(Loss::Pair(a, b)));
        losses.len() > before
    }

    /// Ranks of the nodes that are lost to all others.
    pub(super) fn stopped_ranks(&self) -> Vec<u32> {
        let homes = (0..).zip(&self.homes);
        let stopped = homes.filter(|(_, home)| self.losses.contains(&Loss::Node(home.node)));
        stopped.map(|(rank, _)| rank).collect()
    }
}

impl<T: Copy + PartialEq + fmt::Debug + 'static> Cpu<T> {
    /// Takes note of losses: the links that lead over what is lost are closed.
    /// Whether there were any that it did not know of.
    pub(super) fn note_losses<M: Medium<Token = T>>(&mut self, site: &Site<M>) -> bool {
        let news = site.losses.get(self.losses..).unwrap_or_default();
        if news.is_empty() {
            return false;
        }
        self.losses = site.losses.len();
        for (rank, home) in (0..).zip(&site.homes) {
            if news.iter().any(|loss| loss.parts(self.node, home.node)) {
                self.engine.lose_peer(rank);
            }
        }
        true
    }

    /// Tells the program of links that were closed, for whatever reason.
    pub(super) fn note_closed(&mut self) {
        let closed = self.engine.stats().closed;
        if closed == self.closed {
            return;
        }
        self.closed = closed;
        let mut mailbox = self.mailbox.borrow_mut();
        for rank in 0..mailbox.ranks {
            let state = self.engine.peer_state(rank);
            let open = matches!(state, None | Some(PeerState::Open));
            if !open && !mailbox.closed.contains(&rank) {
                mailbox.closed.push(rank);
            }
        }
    }
}

//! What a rank's engine is lent of its node.

use alloc::vec;

use super::media::Medium;
use super::site::Site;
use crate::mpi::{PAGE, Piece, Port};
use crate::remote::{Arrival, Progress, Transfer};

/// Names a transfer of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<T> {
    /// To a rank of the same node: a copy, over at once.
    Local,
    /// Over the network.
    Remote(T),
}

/// A rank's access to its node.
pub(super) struct RankPort<'s, M: Medium> {
    pub(super) site: &'s mut Site<M>,
    pub(super) rank: u32,
    pub(super) node: u16,
    /// First address of the rank's own memory whose pages are scattered.
    pub(super) scattered: Option<u64>,
}

/// The piece at `addr` of a process, at most `len` bytes. Its pages from
/// `scattered` on are exchanged in pairs: no two that follow each other are
/// neighbours in memory.
pub(super) fn piece(scattered: Option<u64>, addr: u64, len: u64) -> (u64, u64) {
    match scattered {
        Some(first) if addr >= first => (addr ^ PAGE, len.min(PAGE - addr % PAGE)),
        Some(first) => (addr, len.min(first - addr)),
        None => (addr, len),
    }
}

impl<M: Medium> RankPort<'_, M> {
    fn neighbour(&mut self, transfer: &Transfer) -> Result<(), M::Error> {
        let mut bytes = vec![0; usize::try_from(transfer.length).unwrap_or(0)];
        let medium = &mut self.site.medium;
        medium.load(self.node, transfer.local, &mut bytes)?;
        medium.store(self.node, transfer.remote, &bytes)?;
        self.site.copied = true;
        if transfer.flags.notify_receiver {
            self.site.departs(self.rank, transfer, None);
            let tag = transfer.flags.tag;
            self.site.deliver(self.node, Arrival { tag });
        } else {
            let Site { wakes, .. } = &mut *self.site;
            let mut siblings = core::mem::take(wakes);
            siblings.extend_from_slice(self.site.ranks(self.node));
            self.site.wakes = siblings;
        }
        Ok(())
    }
}

impl<M: Medium> Port for RankPort<'_, M> {
    type Token = Token<M::Token>;
    type Error = M::Error;

    fn start(&mut self, transfer: Transfer) -> Result<Option<Self::Token>, M::Error> {
        if transfer.node == self.node {
            self.neighbour(&transfer)?;
            return Ok(Some(Token::Local));
        }
        let token = self.site.medium.start(self.node, transfer)?;
        if token.is_some() {
            self.site.departs(self.rank, &transfer, token);
        }
        Ok(token.map(Token::Remote))
    }

    fn poll(&mut self) -> Result<(), M::Error> {
        self.site.poll(self.node)
    }

    fn progress(&mut self, token: &Self::Token) -> Result<Progress, M::Error> {
        let Token::Remote(token) = *token else {
            return Ok(Progress::Sent);
        };
        let progress = self.site.medium.progress(self.node, token);
        if !matches!(progress, Ok(Progress::Pending))
            && let Some(home) = self.site.home(self.rank)
        {
            home.leaving.retain(|(leaving, _)| *leaving != token);
        }
        progress
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.site.home(self.rank)?.queue.pop_front()
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), M::Error> {
        self.site.medium.load(self.node, addr, into)
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), M::Error> {
        self.site.medium.store(self.node, addr, bytes)
    }

    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        let (addr, len) = piece(self.scattered, addr, len);
        (len > 0).then_some(Piece { addr, len })
    }
}

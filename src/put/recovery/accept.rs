//! Taking in a transfer: what it becomes, or why it is refused.

use super::board::Board;
use super::jobs::{Job, State};
use super::{Error, Reliable, ReliableError};
use crate::put::driver::Phase;
use crate::remote::Transfer;

impl<const PEERS: usize, const JOBS: usize, const EVENTS: usize> Reliable<PEERS, JOBS, EVENTS> {
    /// The job of a transfer; `None` for one of no bytes that tells nobody.
    pub(super) fn job<E>(&self, transfer: &Transfer) -> Result<Option<Job>, ReliableError<E>> {
        let Transfer {
            node,
            local,
            remote,
            length,
            flags,
        } = *transfer;
        let nodes = self.nodes();
        if node >= nodes {
            return Err(Error::UnknownNode { node, nodes });
        }
        match (self.board, self.put.phase()) {
            (Board::Lost, _) => {
                return Err(Error::BoardLost {
                    restarts: self.failed_restarts,
                });
            }
            (Board::Running, phase @ (Phase::Closed | Phase::Starting)) => {
                return Err(Error::NotOpen { phase });
            }
            _ => {}
        }
        if length == 0 && !flags.notify_receiver {
            return Ok(None);
        }
        let (local, remote, length) = if length == 0 {
            (0, 0, 0)
        } else {
            let address = |address| self.reach(address, length);
            // Cannot be cut: it ends below 2^32.
            (address(local)?, address(remote)?, length as u32)
        };
        Ok(Some(Job {
            node,
            local,
            remote,
            length,
            notify: flags.notify_receiver,
            tag: flags.tag,
            count: length.div_ceil(self.config.segment).max(1),
            posted: 0,
            first: None,
            state: State::Pending,
        }))
    }

    /// The address, when `length` bytes from it lie in 1..2^32 beside the
    /// records.
    fn reach<E>(&self, address: u64, length: u64) -> Result<u32, ReliableError<E>> {
        let end = address.checked_add(length);
        let end = end
            .filter(|end| *end <= 1 << 32)
            .ok_or(Error::OutOfReach { address, length })?;
        let control = u64::from(self.config.control_at);
        let control_end = control + self.config.control_bytes(self.nodes());
        match u32::try_from(address) {
            Ok(start @ 1..) if end <= control || address >= control_end => Ok(start),
            _ => Err(Error::OutOfReach { address, length }),
        }
    }
}

//! A transfer in progress: what it becomes, and its next page.

use super::config::{Completion, WriterConfig};
use super::{WriteError, Writer};
use crate::ddc::lme::Control;
use crate::put::config::Model;
use crate::put::driver::Sequence;
use crate::put::entry::Entry;
use crate::put::error::{AddError, Protocol};
use crate::remote::Transfer;

/// What is left of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Job {
    node: u16,
    /// Bits 31:25 of the last page's control word, and its identifier.
    last: Control,
    local: u32,
    remote: u32,
    left: u64,
    /// Pages of the current message so far.
    pages: u32,
    /// The last page, once it is posted.
    pub(super) posted: Option<Sequence>,
}

impl<const JOBS: usize, const EVENTS: usize> Writer<JOBS, EVENTS> {
    /// What a transfer becomes, or why it is refused; `None` for one of no
    /// bytes that tells nobody.
    pub(super) fn job<E>(&self, transfer: &Transfer) -> Result<Option<Job>, WriteError<E>> {
        let Transfer {
            node,
            local,
            remote,
            length,
            flags,
        } = *transfer;
        self.put.ready().map_err(WriteError::Refused)?;
        self.put.reachable(node).map_err(WriteError::Refused)?;
        let tags = self.config.tags;
        if flags.tag >= tags {
            return Err(WriteError::Tag {
                tag: flags.tag,
                tags,
            });
        }
        let mut last = Control::LMP.with_mi(self.first + flags.tag);
        if flags.notify_receiver {
            // NOR raises the receiver's interrupt; pollers see the report.
            last = last.with(Control::LMI);
            if self.put.model() == Model::Interrupt {
                last = last.with(Control::NOR);
            }
        }
        if self.config.completion == Completion::Counted {
            last = last.with(Control::NOS);
        }
        if length == 0 {
            // Nothing to deposit, somebody to tell: a short message.
            let short = last.with(Control::SM);
            let job = Job {
                node,
                last: short,
                local: 0,
                remote: 0,
                left: 0,
                pages: 0,
                posted: None,
            };
            return Ok(flags.notify_receiver.then_some(job));
        }
        let refused = |protocol| WriteError::Refused(AddError::Protocol(protocol));
        let remote = reach(remote, length, refused(Protocol::ZeroRemote))?;
        let local = reach(local, length, refused(Protocol::ZeroLocal))?;
        Ok(Some(Job {
            node,
            last,
            local,
            remote,
            left: length,
            pages: 0,
            posted: None,
        }))
    }
}

/// The address, when `length` bytes from it lie below 2^32 and it is not 0.
fn reach<E>(address: u64, length: u64, zero: WriteError<E>) -> Result<u32, WriteError<E>> {
    let ends = address
        .checked_add(length)
        .is_some_and(|end| end <= 1 << 32);
    match u32::try_from(address) {
        Ok(0) if ends => Err(zero),
        Ok(address) if ends => Ok(address),
        _ => Err(WriteError::OutOfReach { address, length }),
    }
}

impl Job {
    /// The next entry, which will be posted as `sequence`.
    pub(super) fn page(&mut self, config: &WriterConfig, sequence: Sequence) -> Entry {
        let length = self.left.min(u64::from(config.page)) as u32;
        let (local, remote) = (self.local, self.remote);
        self.left -= u64::from(length);
        // May wrap to 0 after the last page only.
        self.local = local.wrapping_add(length);
        self.remote = remote.wrapping_add(length);
        self.pages += 1;
        let flags = if self.left == 0 {
            self.posted = Some(sequence);
            self.last
        } else if self.pages >= config.pages_per_message {
            self.pages = 0;
            Control::LMP
        } else {
            Control::default()
        };
        Entry::page(self.node, self.last.mi(), local, remote, length, flags)
    }
}

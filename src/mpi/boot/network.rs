//! The control network, and one within a machine.

use core::task::Poll;

use managed::ManagedSlice;

use super::{BootEntry, BootError};

/// The network over which boot entries travel: Ethernet in the record.
pub trait ControlNetwork {
    /// What can go wrong.
    type Error;

    /// Gives the own entry to all, and takes theirs, in the order of ranks. To
    /// be called again while it is pending.
    ///
    /// # Errors
    /// The network's own.
    fn all_gather(
        &mut self,
        mine: &BootEntry,
        all: &mut [BootEntry],
    ) -> Result<Poll<()>, Self::Error>;
}

/// A control network within one machine: a board on which each process pins its
/// entry.
#[derive(Debug)]
pub struct Exchange<'a> {
    entries: ManagedSlice<'a, Option<BootEntry>>,
}

impl<'a> Exchange<'a> {
    /// A board with one place a rank.
    pub fn new<S: Into<ManagedSlice<'a, Option<BootEntry>>>>(entries: S) -> Self {
        let mut entries = entries.into();
        entries.fill(None);
        Self { entries }
    }
}

impl ControlNetwork for Exchange<'_> {
    type Error = BootError;

    fn all_gather(
        &mut self,
        mine: &BootEntry,
        all: &mut [BootEntry],
    ) -> Result<Poll<()>, BootError> {
        let ranks = self.entries.len() as u32;
        let place = self.entries.get_mut(mine.rank as usize);
        let place = place.ok_or(BootError::Rank {
            rank: mine.rank,
            ranks,
        })?;
        *place = Some(*mine);
        if all.len() != self.entries.len() {
            return Err(BootError::Entries {
                entries: all.len(),
                ranks,
            });
        }
        for (to, from) in all.iter_mut().zip(self.entries.iter()) {
            let Some(entry) = from else {
                return Ok(Poll::Pending);
            };
            *to = *entry;
        }
        Ok(Poll::Ready(()))
    }
}

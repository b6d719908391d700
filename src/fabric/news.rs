//! Waiting for what the software of a node could see.

use super::machine::{FOREVER, Machine};
use super::node::Node;
use super::probe::Probe;
use crate::time::Instant;

/// What the software of a node waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Watch {
    /// Nothing: it is busy.
    #[default]
    Nothing,
    /// A change of the controller's registers: reports, pages taken or sent,
    /// errors, INTA#.
    Registers,
    /// The same, and the beginning and the end of each write into memory.
    Memory,
}

impl Node<'_> {
    #[inline]
    pub(super) fn seen_by_software(&self) -> ([u32; 4], bool) {
        let writing = self.watch == Watch::Memory && self.ddc.is_writing();
        (self.ddc.seen_by_software(), writing)
    }
}

impl<P: Probe> Machine<'_, P> {
    /// Says what counts as news of a node; nothing happens for a node that the
    /// machine lacks.
    pub fn watch(&mut self, node: u16, watch: Watch) {
        if let Some(node) = self.nodes.get_mut(usize::from(node)) {
            node.watch = watch;
        }
    }

    /// Runs to `end`, or to the first edge that brings a watched node news; true
    /// in that case, and at once while there is news that nobody has
    /// [taken](Self::take_news).
    pub fn run_to_news(&mut self, end: Instant) -> bool {
        while !self.news {
            if self.advance(end).is_none() {
                self.finish(end);
                return false;
            }
        }
        self.catch_up();
        true
    }

    /// The nodes with news since the last call go to `each`, in the order of
    /// their numbers.
    pub fn take_news(&mut self, mut each: impl FnMut(u16)) {
        if !core::mem::take(&mut self.news) {
            return;
        }
        for (number, node) in (0..).zip(self.nodes.iter_mut()) {
            if core::mem::take(&mut node.news) {
                each(number);
            }
        }
    }

    /// When something happens next if nobody gives the machine more to do;
    /// `None`: never. A machine that does not skip idle time always has a next
    /// edge.
    pub fn next_activity(&self) -> Option<Instant> {
        let [link, pci] = self.due();
        let at = link.min(pci);
        (at != FOREVER).then_some(at)
    }
}

//! The three software indices of the send ring, without memory or registers.
//!
//! Cyclic order `current <= new <= softnew`; empty when `current == softnew`,
//! full when the entry after `softnew` is `current`, so that `entries - 1` of
//! them are usable and the two states never look the same.

/// Indices into a ring of `entries` descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct SendRing {
    entries: u32,
    current: u32,
    new: u32,
    /// What must stay staged when later entries are dropped.
    committed: u32,
    softnew: u32,
}

/// Steps forward from `from` to `to` in a ring of `entries`.
pub(crate) const fn distance(from: u32, to: u32, entries: u32) -> u32 {
    if to >= from {
        to - from
    } else {
        entries - from + to
    }
}

/// The index after `index`.
pub(crate) const fn after(index: u32, entries: u32) -> u32 {
    if index + 1 >= entries { 0 } else { index + 1 }
}

impl SendRing {
    pub(crate) const fn new(entries: u32) -> Self {
        Self {
            entries,
            current: 0,
            new: 0,
            committed: 0,
            softnew: 0,
        }
    }

    /// Oldest entry not yet acknowledged.
    pub(crate) const fn current(&self) -> u32 {
        self.current
    }

    /// Where the next entry is written.
    pub(crate) const fn softnew(&self) -> u32 {
        self.softnew
    }

    /// Entries that can still be staged.
    pub(crate) const fn free(&self) -> u32 {
        self.entries.saturating_sub(1 + self.used())
    }

    /// Entries staged or posted and not yet acknowledged.
    pub(crate) const fn used(&self) -> u32 {
        distance(self.current, self.softnew, self.entries)
    }

    /// Entries the controller may read or have read.
    pub(crate) const fn outstanding(&self) -> u32 {
        distance(self.current, self.new, self.entries)
    }

    /// Takes the entry at `softnew`; false when the ring is full.
    pub(crate) const fn stage(&mut self) -> bool {
        if self.free() == 0 {
            return false;
        }
        self.softnew = after(self.softnew, self.entries);
        true
    }

    /// Forgets what was staged and neither published nor committed.
    pub(crate) const fn unstage(&mut self) {
        self.softnew = self.committed;
    }

    /// What is staged will be published later, one by one; says how many.
    pub(crate) const fn commit(&mut self) -> u32 {
        let more = distance(self.committed, self.softnew, self.entries);
        self.committed = self.softnew;
        more
    }

    /// Index of the next staged entry, if there is one.
    pub(crate) const fn staged(&self) -> Option<u32> {
        if self.new == self.softnew {
            None
        } else {
            Some(self.new)
        }
    }

    /// The next staged entry belongs to the controller now.
    pub(crate) const fn publish_one(&mut self) {
        if self.new != self.softnew {
            self.new = after(self.new, self.entries);
        }
    }

    /// Everything staged belongs to the controller now.
    pub(crate) const fn publish(&mut self) {
        self.new = self.softnew;
        self.committed = self.softnew;
    }

    /// How many entries the controller has passed when it says its own
    /// pointer is `index`; `None` when it lies outside `current..=new`.
    pub(crate) const fn passed(&self, index: u32) -> Option<u32> {
        if index >= self.entries {
            return None;
        }
        let n = distance(self.current, index, self.entries);
        if n <= self.outstanding() {
            Some(n)
        } else {
            None
        }
    }

    /// Gives the entry at `current` back to software; false when there is none
    /// with the controller.
    pub(crate) const fn retire(&mut self) -> bool {
        if self.current == self.new {
            return false;
        }
        self.current = after(self.current, self.entries);
        true
    }

    /// The invariant.
    pub(crate) const fn is_ordered(&self) -> bool {
        let (entries, current) = (self.entries, self.current);
        self.softnew < entries
            && self.new < entries
            && current < entries
            && distance(current, self.new, entries) <= distance(current, self.softnew, entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::collections::HashSet;
    use std::vec::Vec;

    /// The reference: three counters that never wrap.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    struct Reference {
        current: u32,
        new: u32,
        softnew: u32,
    }

    #[test]
    fn every_sequence_of_2n_operations_matches_counters_that_never_wrap() {
        for entries in 2..=8u32 {
            let start = (
                SendRing::new(entries),
                Reference {
                    current: 0,
                    new: 0,
                    softnew: 0,
                },
            );
            let mut states = Vec::from([start]);
            for _ in 0..2 * entries {
                // Different histories that meet in one state have one future.
                let mut seen = HashSet::new();
                let mut next = Vec::new();
                for (ring, reference) in &states {
                    for op in 0..4 {
                        let (mut ring, mut reference) = (*ring, *reference);
                        match op {
                            0 => {
                                let fits = reference.softnew - reference.current < entries - 1;
                                assert_eq!(ring.stage(), fits, "{ring:?}");
                                reference.softnew += u32::from(fits);
                            }
                            1 => {
                                ring.publish();
                                reference.new = reference.softnew;
                            }
                            2 => {
                                let any = reference.current < reference.new;
                                assert_eq!(ring.retire(), any, "{ring:?}");
                                reference.current += u32::from(any);
                            }
                            _ => {
                                ring.unstage();
                                reference.softnew = reference.new;
                            }
                        }
                        check(&ring, &reference, entries);
                        if seen.insert(reference) {
                            next.push((ring, reference));
                        }
                    }
                }
                states = next;
            }
        }
    }

    fn check(ring: &SendRing, reference: &Reference, entries: u32) {
        let Reference {
            current,
            new,
            softnew,
        } = *reference;
        assert!(ring.is_ordered());
        assert_eq!(ring.current(), current % entries);
        assert_eq!(ring.softnew(), softnew % entries);
        assert_eq!(ring.used(), softnew - current);
        assert_eq!(ring.free(), entries - 1 - (softnew - current));
        assert_eq!(ring.outstanding(), new - current);
        for index in 0..2 * entries {
            // The controller may stand anywhere from `current` to `new`.
            let honest = (current..=new).find(|at| at % entries == index);
            assert_eq!(
                ring.passed(index),
                honest.map(|at| at - current),
                "index {index}"
            );
        }
    }
}

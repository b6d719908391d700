//! What the faults did, for explaining a run.

use core::fmt;

use managed::ManagedSlice;

use super::event::Place;
use crate::fabric::End;
use crate::hsl::Line;
use crate::pci::TargetResponse;

/// What a fault did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Effect {
    /// The far end will see something else.
    Changed {
        /// What was driven.
        before: Line,
        /// What goes on.
        after: Line,
        /// Characters driven so far on this direction, this one included.
        character: u64,
    },
    /// The signal is gone from now on.
    Cut {
        /// For so many link cycles.
        cycles: u64,
    },
    /// The signal is back.
    Restored,
    /// The memory answers a transaction in this way.
    Responded {
        /// The number of the transaction, from 1.
        transaction: u64,
        /// A memory write.
        write: bool,
        /// Its address.
        address: u32,
        /// The answer.
        response: TargetResponse,
    },
    /// Reads are slow from now on.
    ReadsSlow {
        /// Clocks more.
        extra: u32,
        /// For so many PCI cycles.
        cycles: u64,
    },
    /// GNT# is withheld from now on.
    GrantHeld {
        /// For so many PCI cycles.
        cycles: u64,
    },
    /// GNT# is given again.
    GrantBack,
}

/// One thing that a fault did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct FaultRecord {
    /// The edge: of the link clock for a cable, of the PCI clock for a bus.
    pub cycle: u64,
    /// Where.
    pub place: Place,
    /// What.
    pub effect: Effect,
}

impl FaultRecord {
    /// Nothing yet: for the storage of a log.
    pub const EMPTY: Self = Self {
        cycle: 0,
        place: Place::Cable(End::Node(0)),
        effect: Effect::Restored,
    };
}

impl fmt::Display for FaultRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = match self.place {
            Place::Cable(_) => "link",
            Place::Bus(_) => "PCI",
        };
        write!(f, "{clock} cycle {}, {}: ", self.cycle, self.place)?;
        match self.effect {
            Effect::Changed {
                before,
                after,
                character,
            } => write!(
                f,
                "character {character} is {after:?} instead of {before:?}"
            ),
            Effect::Cut { cycles: u64::MAX } => f.write_str("no signal any more"),
            Effect::Cut { cycles } => write!(f, "no signal for {cycles} cycles"),
            Effect::Restored => f.write_str("signal back"),
            Effect::Responded {
                transaction,
                write,
                address,
                response,
            } => write!(
                f,
                "transaction {transaction}, {} at {address:#010x}: {response:?}",
                if write { "write" } else { "read" }
            ),
            Effect::ReadsSlow { extra, cycles } => {
                write!(f, "reads {extra} clocks slower for {cycles} cycles")
            }
            Effect::GrantHeld { cycles } => write!(f, "GNT# withheld for {cycles} cycles"),
            Effect::GrantBack => f.write_str("GNT# given again"),
        }
    }
}

/// The newest records, as many as the storage holds.
#[derive(Debug)]
pub(super) struct Log<'a> {
    pub(super) slots: ManagedSlice<'a, FaultRecord>,
    pub(super) total: u64,
}

impl Log<'_> {
    pub(super) fn push(&mut self, record: FaultRecord) {
        let len = self.slots.len() as u64;
        if let Some(at) = self.total.checked_rem(len)
            && let Some(slot) = self.slots.get_mut(at as usize)
        {
            *slot = record;
        }
        self.total += 1;
    }

    /// Oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &FaultRecord> {
        let len = self.slots.len() as u64;
        let kept = self.total.min(len);
        (self.total - kept..self.total)
            .filter_map(move |n| self.slots.get(n.checked_rem(len)? as usize))
    }
}

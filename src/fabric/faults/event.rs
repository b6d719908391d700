//! What can go wrong, where and when: the events of a script.

use core::fmt;

use crate::fabric::End;
use crate::hsl::{Line, Symbol};
use crate::pci::TargetResponse;

/// What is counted on one direction of a cable. A character can be of several
/// kinds; each kind is counted apart, from the moment the faults were set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Kind {
    /// Every character but IDLE, those of the start-up and FCC included.
    Character,
    /// What belongs to packets: data, EP, EEP and other control characters that
    /// the link passes.
    Packet,
    /// Data characters.
    Data,
    /// EP and EEP.
    End,
    /// FCC: the character of a serial port, the pulse of a parallel one.
    #[doc(alias = "FCC")]
    Grant,
}

impl Kind {
    pub(super) const COUNT: usize = 5;
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Character,
        Self::Packet,
        Self::Data,
        Self::End,
        Self::Grant,
    ];

    /// Whether what a line carries counts as this kind.
    pub fn holds(self, line: Line) -> bool {
        let symbol = line.symbol();
        line.has_signal()
            && match self {
                Self::Character => symbol != Symbol::IDLE,
                Self::Packet => !symbol.is_link_level(),
                Self::Data => !symbol.is_control(),
                Self::End => symbol.ends_packet(),
                Self::Grant => symbol == Symbol::FCC || line.fcc_pulse(),
            }
    }
}

/// When a fault on a cable comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CableWhen {
    /// To what the near end drives after this edge of the link clock.
    Cycle(u64),
    /// To the character of this number, counted from 1.
    Count {
        /// What is counted.
        of: Kind,
        /// Which one.
        number: u64,
    },
}

/// What happens on one direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CableFault {
    /// The 9 bits of the character are inverted where the mask has ones.
    Corrupt(u16),
    /// The character does not arrive: the far end sees IDLE. A pulse that was
    /// counted as [`Kind::Grant`] is taken off, and the character beside it
    /// stays.
    Drop,
    /// This character takes the place of the next IDLE.
    Insert(Symbol),
    /// No signal for this many link cycles: 1 is what an invalid code on the
    /// wire looks like, `u64::MAX` is for ever.
    Cut {
        /// Link cycles, 0 acts as 1.
        cycles: u64,
        /// The other direction, too: the cable is pulled, rather than one of
        /// its two conductors broken.
        both: bool,
    },
}

/// Which memory transactions of PCI-DDC are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Transfers {
    /// All that the memory decodes, those that it is made to ignore included.
    /// One that was ended early and is tried again counts again.
    All,
    /// Memory reads: descriptors, pages, packet counters.
    Reads,
    /// Memory writes: packets, reports, packet counters.
    Writes,
}

impl Transfers {
    pub(super) const COUNT: usize = 3;
    pub(super) const EACH: [Self; Self::COUNT] = [Self::All, Self::Reads, Self::Writes];

    pub(super) const fn holds(self, write: bool) -> bool {
        match self {
            Self::All => true,
            Self::Reads => !write,
            Self::Writes => write,
        }
    }
}

/// When a fault on a bus comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BusWhen {
    /// At this edge of the PCI clock; a response is for the first transaction
    /// that begins there or later.
    Cycle(u64),
    /// With the transaction of this number, counted from 1 from the moment the
    /// faults were set.
    Count {
        /// What is counted.
        of: Transfers,
        /// Which one.
        number: u64,
    },
}

/// What happens on a PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BusFault {
    /// The memory answers so, this many transactions in a row (0 acts as 1).
    Respond {
        /// The answer.
        response: TargetResponse,
        /// How often.
        times: u32,
    },
    /// Reads take this many PCI clocks more, for a while.
    SlowReads {
        /// Clocks before the first word.
        extra: u32,
        /// For this many PCI cycles, `u64::MAX` is for ever.
        cycles: u64,
    },
    /// The arbiter keeps GNT# from PCI-DDC for this many PCI cycles.
    HoldGrant {
        /// PCI cycles, `u64::MAX` is for ever.
        cycles: u64,
    },
}

/// One line of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FaultEvent {
    /// On one direction of a cable.
    Cable {
        /// The end that drives this direction.
        from: End,
        /// When.
        when: CableWhen,
        /// What.
        fault: CableFault,
    },
    /// On the PCI bus of a node.
    Bus {
        /// The node.
        node: u16,
        /// When.
        when: BusWhen,
        /// What.
        fault: BusFault,
    },
}

impl FaultEvent {
    /// On the direction of a cable that `from` drives, at a link cycle.
    pub const fn cable_at(from: End, cycle: u64, fault: CableFault) -> Self {
        let when = CableWhen::Cycle(cycle);
        Self::Cable { from, when, fault }
    }

    /// On the direction of a cable that `from` drives, to the character of a
    /// number (from 1) among those of a kind.
    pub const fn cable(from: End, of: Kind, number: u64, fault: CableFault) -> Self {
        let when = CableWhen::Count { of, number };
        Self::Cable { from, when, fault }
    }

    /// On the bus of a node, at a PCI cycle.
    pub const fn bus_at(node: u16, cycle: u64, fault: BusFault) -> Self {
        let when = BusWhen::Cycle(cycle);
        Self::Bus { node, when, fault }
    }

    /// On the bus of a node, with the transaction of a number (from 1).
    pub const fn bus(node: u16, of: Transfers, number: u64, fault: BusFault) -> Self {
        let when = BusWhen::Count { of, number };
        Self::Bus { node, when, fault }
    }

    /// The memory answers one transaction so.
    pub const fn respond(node: u16, of: Transfers, number: u64, response: TargetResponse) -> Self {
        Self::bus(node, of, number, BusFault::Respond { response, times: 1 })
    }

    /// The stream that counts for the event (0: cycles), and its number there.
    pub(super) const fn key(&self) -> (u8, u64) {
        match *self {
            Self::Cable { when, .. } => match when {
                CableWhen::Cycle(cycle) => (0, cycle),
                CableWhen::Count { of, number } => (of as u8 + 1, number),
            },
            Self::Bus { when, .. } => match when {
                BusWhen::Cycle(cycle) => (0, cycle),
                BusWhen::Count { of, number } => (of as u8 + 1, number),
            },
        }
    }
}

/// Where a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Place {
    /// The direction of a cable that this end drives.
    Cable(End),
    /// The bus of this node.
    Bus(u16),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cable(from) => write!(f, "cable from {from}"),
            Self::Bus(node) => write!(f, "bus of node {node}"),
        }
    }
}

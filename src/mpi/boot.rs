//! What the processes of a world tell each other before the first message, over
//! the control network.

use core::fmt;
use core::task::Poll;

use managed::ManagedSlice;

use super::config::{ArrivalMode, MpiConfig, SLOT_BYTES};
use super::credit::CreditMode;
use super::layout::{ARENA_ALIGN, Layout};

/// Version of the formats; others are refused.
pub const VERSION: u32 = 1;

/// Which process this is, and where its memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Place {
    /// Its rank in the world.
    pub rank: u32,
    /// Ranks of the world.
    pub ranks: u32,
    /// Its node.
    pub node: u16,
    /// Physical address of its arena, a multiple of 64.
    pub base: u64,
    /// First index of its slots in the message identifiers of the node, 0 for
    /// the only rank of a node; it takes as many as it has slots a pair.
    pub control_index: u16,
    /// First index of its landings, likewise.
    pub landing_index: u16,
    /// A number that differs from those of earlier starts of this process.
    pub incarnation: u32,
}

impl Place {
    /// The only rank of node `rank`, with its arena at `base`.
    #[must_use]
    pub const fn alone(rank: u16, ranks: u32, base: u64) -> Self {
        Self {
            rank: rank as u32,
            ranks,
            node: rank,
            base,
            control_index: 0,
            landing_index: 0,
            incarnation: 1,
        }
    }
}

/// What one process tells all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BootEntry {
    /// Version of the formats.
    pub version: u32,
    /// Its rank.
    pub rank: u32,
    /// Ranks of its world.
    pub ranks: u32,
    /// Its node.
    pub node: u16,
    /// Slots of a pair.
    pub slots: u16,
    /// Bytes of a slot.
    pub slot_bytes: u32,
    /// Its incarnation.
    pub incarnation: u32,
    /// Its arena.
    pub base: u64,
    /// Bytes of its arena.
    pub bytes: u64,
    /// Notifications that it has room for.
    pub lmr_entries: u32,
    /// First index of its slots in message identifiers.
    pub control_index: u16,
    /// Whether it gives slots back by counter, and looks into slots, knows offers (bits 0..=2).
    pub modes: u16,
    /// Bytes of eager data that each peer may leave unmatched there.
    pub eager_grant: u32,
}

impl BootEntry {
    /// Bytes on the control network.
    pub const WIRE_LEN: usize = 64;

    /// What the process at `place` tells.
    #[must_use]
    pub fn new(config: &MpiConfig, place: &Place) -> Self {
        Self {
            version: VERSION,
            rank: place.rank,
            ranks: place.ranks,
            node: place.node,
            slots: config.slots,
            slot_bytes: SLOT_BYTES as u32,
            incarnation: place.incarnation,
            base: place.base,
            bytes: Layout::bytes(config, place.ranks),
            lmr_entries: config.lmr_entries,
            control_index: place.control_index,
            modes: modes(config),
            eager_grant: config.unexpected_bytes / place.ranks.max(1),
        }
    }

    /// The bytes that travel, little-endian.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::WIRE_LEN] {
        let pair = |high: u16, low: u16| u64::from(high) << 16 | u64::from(low);
        let words = [
            u64::from(self.rank) << 32 | u64::from(self.version),
            pair(self.slots, self.node) << 32 | u64::from(self.ranks),
            u64::from(self.incarnation) << 32 | u64::from(self.slot_bytes),
            self.base,
            self.bytes,
            pair(self.modes, self.control_index) << 32 | u64::from(self.lmr_entries),
            u64::from(self.eager_grant),
            0,
        ];
        let mut bytes = [0; Self::WIRE_LEN];
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// Inverse of [`emit`](Self::emit); any bytes give an entry, which
    /// [`check`](Self::check) judges.
    #[must_use]
    pub fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Self {
        let mut words = [0u64; 8];
        for (word, place) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*place);
        }
        let [a, b, c, base, bytes, d, e, _] = words;
        Self {
            version: a as u32,
            rank: (a >> 32) as u32,
            ranks: b as u32,
            node: (b >> 32) as u16,
            slots: (b >> 48) as u16,
            slot_bytes: c as u32,
            incarnation: (c >> 32) as u32,
            base,
            bytes,
            lmr_entries: d as u32,
            control_index: (d >> 32) as u16,
            modes: (d >> 48) as u16,
            eager_grant: e as u32,
        }
    }

    /// Holds what `rank` tells against the own choices.
    ///
    /// # Errors
    /// [`BootError::Peer`] with the first difference.
    pub fn check(&self, config: &MpiConfig, rank: u32, ranks: u32) -> Result<(), BootError> {
        let pairs = [
            ("version", u64::from(self.version), u64::from(VERSION)),
            ("rank", self.rank.into(), rank.into()),
            ("ranks", self.ranks.into(), ranks.into()),
            ("slot size", self.slot_bytes.into(), SLOT_BYTES),
            ("slots", self.slots.into(), config.slots.into()),
            ("modes", self.modes.into(), modes(config).into()),
        ];
        for (what, found, expected) in pairs {
            if found != expected {
                return Err(BootError::Peer {
                    rank,
                    what,
                    found,
                    expected,
                });
            }
        }
        check_arena(self.base, self.bytes)?;
        // What lies behind is the peer's own.
        let least = Layout::control_bytes(config, ranks);
        if self.bytes < least {
            return Err(BootError::Peer {
                rank,
                what: "least arena",
                found: self.bytes,
                expected: least,
            });
        }
        check_index(config, self.control_index, self.slots)
    }

    /// Holds what the process at `place` has told against what it is.
    ///
    /// # Errors
    /// [`BootError::Peer`] with the first difference.
    pub fn check_own(&self, place: &Place) -> Result<(), BootError> {
        let pairs = [
            ("node", u64::from(self.node), u64::from(place.node)),
            ("arena", self.base, place.base),
            (
                "incarnation",
                self.incarnation.into(),
                place.incarnation.into(),
            ),
            (
                "first index",
                self.control_index.into(),
                place.control_index.into(),
            ),
        ];
        for (what, found, expected) in pairs {
            if found != expected {
                return Err(BootError::Peer {
                    rank: place.rank,
                    what,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}

/// Whether `count` indices from `first` on have message identifiers.
pub(super) fn check_index(config: &MpiConfig, first: u16, count: u16) -> Result<(), BootError> {
    let limit = config.tags.indices();
    let index = (u32::from(first) + u32::from(count)).saturating_sub(1);
    if index < limit {
        return Ok(());
    }
    Err(BootError::Index { index, limit })
}

fn modes(config: &MpiConfig) -> u16 {
    let counter = u16::from(config.credit_mode == CreditMode::Counter);
    let slots = u16::from(config.arrival == ArrivalMode::Slots);
    let offers = u16::from(config.offers);
    offers << 2 | slots << 1 | counter
}

fn check_arena(base: u64, bytes: u64) -> Result<(), BootError> {
    let end = base.checked_add(bytes);
    if base.is_multiple_of(ARENA_ALIGN) && end.is_some_and(|end| end <= 1 << 32) {
        return Ok(());
    }
    Err(BootError::Arena { base, bytes })
}

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

/// An endpoint that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BootError {
    /// A setting outside its range.
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The least allowed.
        least: u32,
        /// The most allowed.
        most: u32,
    },
    /// The control messages of all peers could overrun the notifications.
    TooFewReports {
        /// Entries that are needed.
        needed: u64,
        /// Entries there are.
        entries: u32,
    },
    /// No such rank.
    Rank {
        /// The rank.
        rank: u32,
        /// Ranks of the world.
        ranks: u32,
    },
    /// Not one entry a rank.
    Entries {
        /// Entries.
        entries: usize,
        /// Ranks of the world.
        ranks: u32,
    },
    /// An arena that is not at a multiple of 64, or passes 2^32.
    Arena {
        /// Its first byte.
        base: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// A peer whose choices differ.
    Peer {
        /// Its rank.
        rank: u32,
        /// In what.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The own value.
        expected: u64,
    },
    /// Storage of the wrong size.
    Storage {
        /// Which part.
        what: &'static str,
        /// Its entries.
        len: usize,
        /// Entries that are needed, at least.
        needed: usize,
    },
    /// Message identifiers of this rank that do not fit.
    Index {
        /// The last one.
        index: u32,
        /// Indices there are.
        limit: u32,
    },
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Setting {
                what,
                value,
                least,
                most,
            } => write!(f, "{what} of {value}, allowed {least}..={most}"),
            Self::TooFewReports { needed, entries } => {
                write!(f, "{entries} entries for notifications, at least {needed}")
            }
            Self::Rank { rank, ranks } => write!(f, "rank {rank}, allowed 0..{ranks}"),
            Self::Entries { entries, ranks } => {
                write!(f, "{entries} boot entries for {ranks} ranks")
            }
            Self::Arena { base, bytes } => write!(
                f,
                "arena of {bytes} bytes at {base:#x}, allowed multiples of 64 that end below 2^32"
            ),
            Self::Peer {
                rank,
                what,
                found,
                expected,
            } => write!(f, "{what} of rank {rank} is {found}, here {expected}"),
            Self::Storage { what, len, needed } => {
                write!(f, "storage of {len} {what}, at least {needed}")
            }
            Self::Index { index, limit } => {
                write!(f, "message identifier index {index}, allowed 0..{limit}")
            }
        }
    }
}

impl core::error::Error for BootError {}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn entries_survive_the_wire() {
        let mut place = Place::alone(3, 9, 0x12340);
        place.control_index = 0x102;
        place.incarnation = 0xDEAD_BEEF;
        let entry = BootEntry::new(&MpiConfig::default(), &place);
        assert_eq!(BootEntry::parse(&entry.emit()), entry);
    }

    #[test]
    fn all_gather_is_over_when_the_last_has_come() {
        let mut board = [None; 2];
        let mut network = Exchange::new(&mut board[..]);
        let mut all = [BootEntry::default(); 2];
        let entry = |rank| BootEntry::new(&MpiConfig::default(), &Place::alone(rank, 2, 0));
        assert_eq!(network.all_gather(&entry(1), &mut all), Ok(Poll::Pending));
        assert_eq!(network.all_gather(&entry(0), &mut all), Ok(Poll::Ready(())));
        assert_eq!(all, [entry(0), entry(1)]);
        let error = network.all_gather(&entry(2), &mut all).unwrap_err();
        assert_eq!(error.to_string(), "rank 2, allowed 0..2");
    }

    #[test]
    fn peers_with_other_choices_are_named() {
        let config = MpiConfig::default();
        let mut entry = BootEntry::new(&config, &Place::alone(1, 2, 0));
        assert_eq!(entry.check(&config, 1, 2), Ok(()));
        entry.slot_bytes = 8192;
        assert_eq!(
            entry.check(&config, 1, 2).unwrap_err().to_string(),
            "slot size of rank 1 is 8192, here 16384"
        );
        entry.version = 2;
        let error = entry.check(&config, 1, 2).unwrap_err();
        assert_eq!(error.to_string(), "version of rank 1 is 2, here 1");
    }
}

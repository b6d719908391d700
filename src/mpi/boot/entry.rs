//! An entry of the boot table: what it holds, its bytes, and what is held against
//! it.

use super::{BootError, Place, VERSION};
use crate::mpi::config::{ArrivalMode, MpiConfig, SLOT_BYTES};
use crate::mpi::credit::CreditMode;
use crate::mpi::layout::{ARENA_ALIGN, Layout};

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
pub(in crate::mpi) fn check_index(
    config: &MpiConfig,
    first: u16,
    count: u16,
) -> Result<(), BootError> {
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

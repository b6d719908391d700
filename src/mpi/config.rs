//! Choices of the message layer.

use super::boot::BootError;
use super::cost::MpiCost;
use super::credit::CreditMode;
use super::wire::{Class, MAX_PAYLOAD, MessageId};

/// Bytes of a slot: control messages are at most 16 KB (the record).
pub const SLOT_BYTES: u64 = 16_384;
/// Slots of a pair at most: one machine word keeps track of them.
pub const MAX_SLOTS: u16 = 64;
/// Bytes of a descriptor of a data message at most: the largest multiple of
/// 4096 whose length fits 16 bits (65,536 would wrap to 0).
pub const MAX_PIECE: u64 = 61_440;
/// Ranks at most: what a source has room for in a message identifier.
pub const MAX_RANKS: u32 = 1024;

/// How the layer learns of messages, and what runs in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Policy {
    /// MPI-MPC 2: all at user level, by polling, inside library calls.
    #[default]
    Polling,
    /// MPI-MPC 1: interrupts and system calls; pages are pinned for each
    /// transfer.
    Interrupt,
}

/// Where a receiver looks for control messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ArrivalMode {
    /// In the notifications of the transport (the ring of reports, LMR): one
    /// place for all peers.
    #[default]
    Reports,
    /// In the next slot of each peer, by sequence number and trailer. Needs a
    /// network that keeps the packets of a pair in order, and arenas that are
    /// zero at boot.
    Slots,
}

/// Where the parts of a message identifier lie in a tag: index lowest, then
/// source, then two bits of class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TagPacking {
    /// Bits of the source rank, 1..=10.
    pub source_bits: u8,
    /// Bits of the slot or receive, 1..=12.
    pub index_bits: u8,
}

impl TagPacking {
    /// 10 + 12 bits below the class: the 24 bits of the chip in full.
    pub const FULL: Self = Self {
        source_bits: 10,
        index_bits: 12,
    };
    /// 9 + 12 bits: 512 ranks in 23 bits. Chosen as default, since the driver
    /// refuses a first user who wants all 2^24 identifiers; half of them are
    /// given.
    pub const COMPACT: Self = Self {
        source_bits: 9,
        index_bits: 12,
    };

    /// Tags that the transport must have: all are below.
    #[must_use]
    pub const fn tags(self) -> u32 {
        4 << (self.source() + self.index())
    }

    const fn source(self) -> u32 {
        if self.source_bits > 10 {
            10
        } else {
            self.source_bits as u32
        }
    }

    const fn index(self) -> u32 {
        if self.index_bits > 12 {
            12
        } else {
            self.index_bits as u32
        }
    }

    /// Sources that fit.
    #[must_use]
    pub const fn sources(self) -> u32 {
        1 << self.source()
    }

    /// Indices that fit.
    #[must_use]
    pub const fn indices(self) -> u32 {
        1 << self.index()
    }

    /// The tag of an identifier; none when it does not fit.
    #[must_use]
    pub const fn pack(self, class: Class, source: u16, index: u16) -> Option<u32> {
        let (source, index) = (source as u32, index as u32);
        if source >= self.sources() || index >= self.indices() {
            return None;
        }
        Some((class as u32) << (self.source() + self.index()) | source << self.index() | index)
    }

    /// The identifier of a tag; none for one that has other bits set.
    #[must_use]
    pub fn unpack(self, tag: u32) -> Option<MessageId> {
        if tag >= self.tags() {
            return None;
        }
        let class = match tag >> (self.source() + self.index()) {
            0 => Class::Control,
            1 => Class::Data,
            2 => Class::Get,
            _ => Class::Other,
        };
        let source = (tag >> self.index()) & (self.sources() - 1);
        let index = tag & (self.indices() - 1);
        MessageId::new(class, source as u16, index as u16).ok()
    }
}

impl Default for TagPacking {
    fn default() -> Self {
        Self::COMPACT
    }
}

/// Choices of an endpoint; all endpoints of a world should have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct MpiConfig {
    /// Slots of an ordered pair (K), 3..=64. Chosen: 16; 16 nodes then need
    /// 3.75 MB, inside the 10 MB that the record's kernel keeps.
    pub slots: u16,
    /// Slots that are owed before a CRDT is worth it (T), 2..=K-1. Chosen:
    /// K/2.
    pub threshold: u16,
    /// Bytes of a message that is sent with its envelope, at most, 0..=16,348.
    /// Chosen: 2048 for MPI-MPC 2 and 4096 for MPI-MPC 1, below the sizes at
    /// which two copies cost more than two more control messages.
    pub eager_max: u32,
    /// Bytes that a sender may have at one receiver unmatched, each message
    /// rounded up to [`BLOCK`](super::endpoint::BLOCK). Chosen: 1 MB, as MPICH
    /// of the time. The receiver's share of `unexpected_bytes` limits it, too.
    pub eager_budget: u32,
    /// How slots are given back.
    pub credit_mode: CreditMode,
    /// Where messages are looked for.
    pub arrival: ArrivalMode,
    /// Polling or interrupts.
    pub policy: Policy,
    /// With interrupts: the handler takes CRDT messages in and gives slots back
    /// while the process computes. Chosen: on; the record's handler does so.
    pub kernel_credits: bool,
    /// Landing offers: a receive of known source that is posted before its
    /// message says where the data may go, so that a long message needs no
    /// answer. Such a receive cannot be cancelled. Chosen: off, since a program
    /// that cancels receives has to know.
    pub offers: bool,
    /// What software costs.
    pub cost: MpiCost,
    /// Notifications that the transport keeps for this rank, whose sum must
    /// never be exceeded: `sum of K + landings + gets <= lmr_entries - 1`.
    /// 1024 is the chip's ring in the record; ranks of one node share it.
    pub lmr_entries: u32,
    /// Data messages that may be on their way to this rank at once (R), at
    /// most; fewer when `lmr_entries` says so. Chosen: 32.
    pub landings: u16,
    /// Descriptors of data that may be in the transport at once; control
    /// messages have the rest of its queue for themselves. Must be less than
    /// that queue holds. Chosen: 6, for the default queue of 8.
    pub data_in_flight: u16,
    /// Memory for eager data that nobody has received yet. Chosen: 1 MB,
    /// shared equally by the peers.
    pub unexpected_bytes: u32,
    /// Cut data so that remote addresses of later pieces are multiples of 4:
    /// for the first-run controller.
    pub aligned_cuts: bool,
    /// The form of tags.
    pub tags: TagPacking,
    /// Steps without cost that one call of progress may do. Chosen: 256.
    pub budget: u16,
}

impl Default for MpiConfig {
    fn default() -> Self {
        Self::mpi2()
    }
}

impl MpiConfig {
    /// MPI-MPC 2: user level, polling.
    #[must_use]
    pub fn mpi2() -> Self {
        Self {
            slots: 16,
            threshold: 8,
            eager_max: 2048,
            eager_budget: 1 << 20,
            credit_mode: CreditMode::Slot,
            arrival: ArrivalMode::Reports,
            policy: Policy::Polling,
            kernel_credits: true,
            offers: false,
            cost: MpiCost::default(),
            lmr_entries: 1024,
            landings: 32,
            data_in_flight: 6,
            unexpected_bytes: 1 << 20,
            aligned_cuts: false,
            tags: TagPacking::COMPACT,
            budget: 256,
        }
    }

    /// MPI-MPC 1: system calls, interrupts, pinned pages.
    #[must_use]
    pub fn mpi1() -> Self {
        Self {
            policy: Policy::Interrupt,
            eager_max: 4096,
            ..Self::mpi2()
        }
    }

    /// With these costs.
    #[must_use]
    pub const fn with_cost(mut self, cost: MpiCost) -> Self {
        self.cost = cost;
        self
    }

    /// With `slots` slots a pair, and half as threshold.
    #[must_use]
    pub const fn with_slots(mut self, slots: u16) -> Self {
        self.slots = slots;
        self.threshold = if slots / 2 < 2 { 2 } else { slots / 2 };
        self
    }

    /// With this arrival mode.
    #[must_use]
    pub const fn with_arrival(mut self, arrival: ArrivalMode) -> Self {
        self.arrival = arrival;
        self
    }

    /// With this way to give slots back.
    #[must_use]
    pub const fn with_credit_mode(mut self, credit_mode: CreditMode) -> Self {
        self.credit_mode = credit_mode;
        self
    }

    /// Data messages that may be on their way here at once, by the bound on
    /// notifications; none when even the control messages break it.
    #[must_use]
    pub fn landing_limit(&self, ranks: u32) -> Option<u16> {
        let peers = u64::from(ranks.saturating_sub(1));
        let control = match self.arrival {
            ArrivalMode::Reports => peers * u64::from(self.slots),
            ArrivalMode::Slots => 0,
        };
        let usable = u64::from(self.lmr_entries.saturating_sub(1));
        let left = usable.checked_sub(control)?;
        if peers > 0 && left == 0 {
            return None;
        }
        Some(left.min(u64::from(self.landings)) as u16)
    }

    /// Checks the choices for a world of `ranks` ranks.
    ///
    /// # Errors
    /// [`BootError`], with the first value that does not fit.
    pub fn check(&self, ranks: u32) -> Result<(), BootError> {
        let setting = |what, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(BootError::Setting {
                what,
                value,
                least,
                most,
            })
        };
        let slots = u32::from(self.slots);
        setting("slots", slots, 3, MAX_SLOTS.into())?;
        setting("threshold", self.threshold.into(), 2, slots - 1)?;
        setting("eager_max", self.eager_max, 0, MAX_PAYLOAD as u32)?;
        setting("landings", self.landings.into(), 1, self.tags.indices())?;
        setting("data_in_flight", self.data_in_flight.into(), 1, 65_535)?;
        setting("budget", self.budget.into(), 1, 65_535)?;
        setting("source_bits", self.tags.source_bits.into(), 1, 10)?;
        setting("index_bits", self.tags.index_bits.into(), 1, 12)?;
        setting("ranks", ranks, 1, self.tags.sources())?;
        if self.landing_limit(ranks).is_none() {
            return Err(BootError::TooFewReports {
                needed: u64::from(ranks - 1) * u64::from(slots) + 2,
                entries: self.lmr_entries,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_tags_are_the_message_identifiers_of_the_chip() {
        for (class, source, index) in [
            (Class::Control, 0, 0),
            (Class::Data, 1023, 4095),
            (Class::Get, 77, 5),
            (Class::Other, 1, 4000),
        ] {
            let id = MessageId::new(class, source, index).unwrap();
            let tag = TagPacking::FULL.pack(class, source, index).unwrap();
            assert_eq!(tag, id.bits());
            assert_eq!(TagPacking::FULL.unpack(tag), Some(id));
        }
        assert_eq!(TagPacking::FULL.tags(), 1 << 24);
        assert_eq!(TagPacking::FULL.unpack(1 << 24), None);
    }

    #[test]
    fn compact_tags_fit_the_range_that_the_driver_gives() {
        let packing = TagPacking::COMPACT;
        assert_eq!(packing.tags(), 1 << 23);
        let tag = packing.pack(Class::Other, 511, 4095).unwrap();
        assert_eq!(tag, (1 << 23) - 1);
        assert_eq!(packing.pack(Class::Control, 512, 0), None);
    }

    #[test]
    fn reports_bound_the_landings() {
        let config = MpiConfig::default();
        // 1023 usable entries, 63 peers with 16 slots: 15 are left.
        assert_eq!(config.landing_limit(64), Some(15));
        assert_eq!(config.landing_limit(2), Some(32));
        assert_eq!(config.landing_limit(65), None);
        assert_eq!(
            config.check(65),
            Err(BootError::TooFewReports {
                needed: 1026,
                entries: 1024
            })
        );
        assert_eq!(MpiConfig::default().with_slots(4).check(200), Ok(()));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        extern crate std;
        use std::string::ToString;
        let config = MpiConfig::default().with_slots(2);
        assert_eq!(
            config.check(2).unwrap_err().to_string(),
            "slots of 2, allowed 3..=64"
        );
        let config = MpiConfig {
            threshold: 16,
            ..MpiConfig::default()
        };
        assert_eq!(
            config.check(2).unwrap_err().to_string(),
            "threshold of 16, allowed 2..=15"
        );
    }
}

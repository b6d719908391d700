//! Numbers of the flow control between two processes.

use core::fmt;

use crate::mpi::wire::MessageId;

/// How credits come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CreditMode {
    /// In the header of every message, or alone in a CRDT, which takes a slot
    /// as any message does.
    #[default]
    Slot,
    /// The receiver writes the number of messages that it has consumed so far
    /// into a word of the sender's memory. Needs no slot, cannot stall. The
    /// words of a pair must arrive in order (one path, or one at a time).
    Counter,
}

/// Flow control between two processes; both sides use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct CreditConfig {
    /// Slots of each direction (K), 3 to 4096. Default 16.
    ///
    /// chosen: 16 nodes then reserve 3.75 MB each, inside of the 10 MB that
    /// the original driver set aside.
    pub slots: u16,
    /// Freed slots that are worth a message of their own (T), 2 to K - 1.
    /// Default 8.
    ///
    /// chosen: half of the slots, so that the sender is told before it runs
    /// dry, and seldom.
    pub threshold: u16,
    /// How credits come back.
    pub mode: CreditMode,
    /// Eager bytes that may wait unmatched at the receiver, for each sender.
    /// Default 1 MiB.
    ///
    /// chosen: as the flow control of MPICH 1.2.
    pub eager_budget: u32,
}

impl CreditConfig {
    /// The fewest slots: one for CRDT, two that make a CRDT worth its slot.
    pub const MIN_SLOTS: u16 = 3;
    /// The most slots: a slot is an index of a message identifier.
    pub const MAX_SLOTS: u16 = MessageId::MAX_INDEX + 1;

    /// `slots` slots and the threshold that goes with them.
    #[must_use]
    pub const fn with_slots(self, slots: u16) -> Self {
        let half = slots / 2;
        Self {
            slots,
            threshold: if half < 2 { 2 } else { half },
            ..self
        }
    }

    /// With another threshold.
    #[must_use]
    pub const fn with_threshold(self, threshold: u16) -> Self {
        Self { threshold, ..self }
    }

    /// With credits coming back that way.
    #[must_use]
    pub const fn with_mode(self, mode: CreditMode) -> Self {
        Self { mode, ..self }
    }

    /// With another budget of eager bytes.
    #[must_use]
    pub const fn with_eager_budget(self, eager_budget: u32) -> Self {
        Self {
            eager_budget,
            ..self
        }
    }

    /// Rule R6.
    ///
    /// # Errors
    /// [`CreditConfigError`].
    pub const fn check(&self) -> Result<(), CreditConfigError> {
        let Self {
            slots, threshold, ..
        } = *self;
        if slots < Self::MIN_SLOTS || slots > Self::MAX_SLOTS {
            return Err(CreditConfigError::Slots { slots });
        }
        if threshold < 2 || threshold >= slots {
            return Err(CreditConfigError::Threshold {
                threshold,
                max: slots - 1,
            });
        }
        Ok(())
    }
}

impl Default for CreditConfig {
    fn default() -> Self {
        Self {
            slots: 16,
            threshold: 8,
            mode: CreditMode::Slot,
            eager_budget: 1 << 20,
        }
    }
}

/// Numbers with which flow control would stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CreditConfigError {
    /// Too few or too many slots.
    Slots {
        /// The number.
        slots: u16,
    },
    /// A threshold of 1 answers each CRDT by a CRDT for ever; one of K or more
    /// is never reached.
    Threshold {
        /// The number.
        threshold: u16,
        /// The largest that works.
        max: u16,
    },
}

impl fmt::Display for CreditConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Slots { slots } => write!(
                f,
                "{slots} slots, allowed {} to {}",
                CreditConfig::MIN_SLOTS,
                CreditConfig::MAX_SLOTS
            ),
            Self::Threshold { threshold, max } => {
                write!(f, "credit threshold {threshold}, allowed 2 to {max}")
            }
        }
    }
}

impl core::error::Error for CreditConfigError {}

//! What a peer, or a caller, does against the rules of flow control.

use core::fmt;

use crate::mpi::wire::Kind;

/// A breach of the flow control. All but [`NoCredit`](Self::NoCredit),
/// [`NothingToFree`](Self::NothingToFree) and [`FreedOutOfOrder`](Self::FreedOutOfOrder)
/// (mistakes of the caller) are the peer's: the link to it is to be closed.
/// Nothing has changed when an error is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CreditError {
    /// This kind may not be sent now.
    NoCredit {
        /// The kind.
        kind: Kind,
        /// Credits that are left.
        available: u16,
        /// Credits that it needs.
        needed: u16,
    },
    /// A repeated or skipped sequence number.
    Sequence {
        /// What the message carries.
        found: u32,
        /// What had to come.
        expected: u32,
    },
    /// A message in another slot than the next one.
    Slot {
        /// Where it lies.
        found: u16,
        /// Where it had to lie.
        expected: u16,
    },
    /// A message into a slot that was not given back.
    NotGranted {
        /// Slots that are full or whose credit is still here.
        held: u16,
    },
    /// More credits than slots are out.
    TooManyCredits {
        /// Credits that came.
        credits: u32,
        /// Credits that were out.
        outstanding: u16,
    },
    /// More eager bytes reported matched than were sent.
    TooMuchReleased {
        /// Bytes that came back.
        released: u32,
        /// Bytes that were out.
        outstanding: u32,
    },
    /// A CRDT, or credits in a header, where a counter word is agreed.
    CreditsByMessage {
        /// Credits of the header.
        credits: u16,
    },
    /// No slot is full.
    NothingToFree,
    /// A slot freed before an older one, whose credit would be used for it.
    FreedOutOfOrder {
        /// The slot.
        slot: u16,
        /// The oldest full slot.
        expected: u16,
    },
}

impl fmt::Display for CreditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoCredit {
                kind,
                available,
                needed,
            } => write!(f, "{kind} with {available} credits, at least {needed}"),
            Self::Sequence { found, expected } => {
                write!(f, "message number {found}, expected {expected}")
            }
            Self::Slot { found, expected } => {
                write!(f, "message in slot {found}, expected in slot {expected}")
            }
            Self::NotGranted { held } => {
                write!(f, "message into a slot not given back, all {held} are held")
            }
            Self::TooManyCredits {
                credits,
                outstanding,
            } => write!(f, "{credits} credits given back, at most {outstanding}"),
            Self::TooMuchReleased {
                released,
                outstanding,
            } => write!(
                f,
                "{released} eager bytes reported matched, at most {outstanding}"
            ),
            Self::CreditsByMessage { credits } => write!(
                f,
                "{credits} credits by message where a counter word is agreed"
            ),
            Self::NothingToFree => f.write_str("slot freed while none is full"),
            Self::FreedOutOfOrder { slot, expected } => {
                write!(f, "slot {slot} freed, expected slot {expected}")
            }
        }
    }
}

impl core::error::Error for CreditError {}

//! What adds up in each direction, at any time.

use core::fmt;

use super::PeerCredit;

/// The law of [`credit`](super) does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Unbalanced {
    /// What the terms add up to.
    pub sum: u32,
    /// What they have to: K.
    pub slots: u16,
}

impl fmt::Display for Unbalanced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} credits in a direction of {} slots",
            self.sum, self.slots
        )
    }
}

impl core::error::Error for Unbalanced {}

/// Holds the direction from `sender` to `receiver` against the conservation
/// law, given the messages on the way and the credits on the way back (in
/// headers, or in the counter word: written and not yet read).
///
/// # Errors
/// [`Unbalanced`].
pub fn conservation(
    sender: &PeerCredit,
    receiver: &PeerCredit,
    messages: u32,
    credits_back: u32,
) -> Result<(), Unbalanced> {
    let sum = u32::from(sender.tx_avail)
        .saturating_add(messages)
        .saturating_add(receiver.rx_full.into())
        .saturating_add(receiver.rx_owed.into())
        .saturating_add(credits_back);
    let slots = sender.config.slots;
    if sum == u32::from(slots) {
        Ok(())
    } else {
        Err(Unbalanced { sum, slots })
    }
}

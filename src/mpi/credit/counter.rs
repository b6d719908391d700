//! Credits by counter word: the receiver writes how many slots it has consumed
//! into a word of the sender's memory.

use super::{CreditError, CreditMode, PeerCredit};

impl PeerCredit {
    /// Counter form: credits that `receiver` has written for this sender and
    /// that it has not taken yet.
    #[must_use]
    pub const fn counter_unread(&self, receiver: &Self) -> u32 {
        match self.config.mode {
            CreditMode::Counter => receiver
                .rx_counter
                .wrapping_sub(receiver.rx_owed as u32)
                .wrapping_sub(self.tx_counter),
            _ => 0,
        }
    }

    /// Counter form: the word to write into the peer's memory now, if T or
    /// more slots were freed since the last one. Confirm by
    /// [`counter_written`](Self::counter_written) once the write is accepted.
    #[must_use]
    pub const fn counter_to_write(&self) -> Option<u32> {
        match self.config.mode {
            CreditMode::Counter if self.rx_owed >= self.config.threshold => Some(self.rx_counter),
            _ => None,
        }
    }

    /// Counter form: `word`, given by
    /// [`counter_to_write`](Self::counter_to_write), is on its way.
    pub const fn counter_written(&mut self, word: u32) {
        let unwritten = self.rx_counter.wrapping_sub(word);
        if unwritten <= self.rx_owed as u32 {
            self.rx_owed = unwritten as u16;
        }
    }

    /// Counter form: takes what the peer's word in our memory says now, and
    /// gives the credits that came. The same word again gives none; so does
    /// one from before (which only an overtaken write can leave there).
    ///
    /// # Errors
    /// [`CreditError::TooManyCredits`], when it counts messages that were
    /// never sent.
    pub const fn counter_read(&mut self, word: u32) -> Result<u16, CreditError> {
        let outstanding = self.config.slots - self.tx_avail;
        let credits = word.wrapping_sub(self.tx_counter);
        if credits > i32::MAX as u32 {
            return Ok(0);
        }
        if credits > outstanding as u32 {
            return Err(CreditError::TooManyCredits {
                credits,
                outstanding,
            });
        }
        self.tx_counter = word;
        self.tx_avail += credits as u16;
        Ok(credits as u16)
    }
}

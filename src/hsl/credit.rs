//! The two counters of flow control. Document: hw/doc/hsl.md, "Flow control".

use core::fmt;

/// Characters that one FCC grants.
#[doc(alias = "flit")]
pub const FLIT: u8 = 32;

/// Emission credit: characters that the other end can still take.
///
/// Data, EP and EEP cost one each; FCC, IDLE and start-up characters are free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Credit(u8);

impl Credit {
    /// Nothing may be sent.
    pub const NONE: Self = Self(0);

    /// This many characters may be sent.
    pub(super) const fn of(characters: u8) -> Self {
        Self(characters)
    }

    /// Characters that may be sent.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// At least one character may be sent.
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Pays for one character; false (and nothing paid) without credit.
    #[inline]
    pub const fn spend(&mut self) -> bool {
        match self.0.checked_sub(1) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// An FCC came in: 32 characters more.
    ///
    /// # Errors
    /// [`CreditError`] when that exceeds `limit`; the credit stays as it was.
    pub const fn grant(&mut self, limit: u8) -> Result<(), CreditError> {
        let credit = self.0 as u16 + FLIT as u16;
        if credit > limit as u16 {
            return Err(CreditError { credit, limit });
        }
        self.0 = credit as u8;
        Ok(())
    }
}

/// The other end granted more than any receiver of this link can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct CreditError {
    /// Characters after the grant.
    pub credit: u16,
    /// Characters allowed.
    pub limit: u8,
}

impl fmt::Display for CreditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "credit of {} characters is above the limit of {}",
            self.credit, self.limit
        )
    }
}

impl core::error::Error for CreditError {}

/// Counts characters that left a reception FIFO; each 32nd owes an FCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Flit(u8);

impl Flit {
    /// Nothing of the current flit has left.
    pub const EMPTY: Self = Self(0);

    /// One character left; true when it was the 32nd of its flit.
    #[inline]
    pub const fn free(&mut self) -> bool {
        self.0 = (self.0 + 1) & (FLIT - 1);
        self.0 == 0
    }

    /// Characters of the current flit that have left.
    pub const fn get(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_worth_32_characters() {
        let mut credit = Credit::NONE;
        assert!(!credit.spend());
        assert_eq!(credit.grant(64), Ok(()));
        for _ in 0..32 {
            assert!(credit.spend());
        }
        assert!(!credit.spend());
    }

    #[test]
    fn a_grant_above_the_limit_is_refused_whole() {
        let mut credit = Credit::NONE;
        assert_eq!(credit.grant(64), Ok(()));
        assert_eq!(credit.grant(64), Ok(()));
        assert_eq!(
            credit.grant(64),
            Err(CreditError {
                credit: 96,
                limit: 64
            })
        );
        assert_eq!(credit.get(), 64);
        let mut high = Credit(255);
        assert_eq!(
            high.grant(255),
            Err(CreditError {
                credit: 287,
                limit: 255
            })
        );
    }

    #[test]
    fn each_32nd_character_owes_an_fcc() {
        let mut flit = Flit::EMPTY;
        for n in 1..=320u32 {
            assert_eq!(flit.free(), n % 32 == 0, "character {n}");
        }
    }
}

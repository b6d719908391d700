//! What one half of the chip drives on the bus, as one small word.

use crate::pci::Drive;

/// A line, as a bit.
pub(super) mod line {
    pub(in crate::ddc) const AD: u16 = 1;
    pub(in crate::ddc) const CBE: u16 = 1 << 1;
    pub(in crate::ddc) const PAR: u16 = 1 << 2;
    pub(in crate::ddc) const FRAME: u16 = 1 << 3;
    pub(in crate::ddc) const IRDY: u16 = 1 << 4;
    pub(in crate::ddc) const TRDY: u16 = 1 << 5;
    pub(in crate::ddc) const DEVSEL: u16 = 1 << 6;
    pub(in crate::ddc) const STOP: u16 = 1 << 7;
    pub(in crate::ddc) const PERR: u16 = 1 << 8;
    pub(in crate::ddc) const SERR: u16 = 1 << 9;
}

/// Which lines are driven, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pins {
    ad: u32,
    cbe_n: u8,
    driven: u16,
    high: u16,
}

impl Pins {
    /// Nothing is driven.
    pub(super) const fn is_released(&self) -> bool {
        self.driven == 0
    }

    /// Drives one line.
    pub(super) const fn set(&mut self, line: u16, high: bool) {
        self.driven |= line;
        self.high = if high {
            self.high | line
        } else {
            self.high & !line
        };
    }

    /// Drives AD, or not.
    pub(super) const fn set_ad(&mut self, ad: Option<u32>) {
        match ad {
            Some(ad) => {
                self.ad = ad;
                self.driven |= line::AD;
            }
            None => {
                self.ad = 0;
                self.driven &= !line::AD;
            }
        }
    }

    /// Drives C/BE#.
    pub(super) const fn set_cbe_n(&mut self, cbe_n: u8) {
        self.cbe_n = cbe_n;
        self.driven |= line::CBE;
    }

    /// Without these lines.
    #[must_use]
    pub(super) const fn without(mut self, lines: u16) -> Self {
        self.driven &= !lines;
        self.high &= !lines;
        self
    }

    /// All these lines are driven.
    pub(super) const fn drives(&self, lines: u16) -> bool {
        self.driven & lines == lines
    }

    /// AD.
    pub(super) const fn ad(&self) -> u32 {
        self.ad
    }

    /// C/BE#.
    pub(super) const fn cbe_n(&self) -> u8 {
        self.cbe_n
    }

    /// What the chip drives when its two halves drive these; they never drive
    /// the same line.
    pub(super) const fn both(a: &Self, b: &Self) -> Drive {
        let driven = a.driven | b.driven;
        if driven == 0 {
            return Drive::RELEASED;
        }
        let high = a.high | b.high;
        macro_rules! level {
            ($line:ident) => {
                if driven & line::$line != 0 {
                    Some(high & line::$line != 0)
                } else {
                    None
                }
            };
        }
        let ad = if a.drives(line::AD) {
            Some(a.ad)
        } else if b.drives(line::AD) {
            Some(b.ad)
        } else {
            None
        };
        Drive {
            ad,
            cbe_n: if driven & line::CBE != 0 {
                Some(a.cbe_n | b.cbe_n)
            } else {
                None
            },
            par: level!(PAR),
            frame_n: level!(FRAME),
            irdy_n: level!(IRDY),
            trdy_n: level!(TRDY),
            devsel_n: level!(DEVSEL),
            stop_n: level!(STOP),
            perr_n: level!(PERR),
            serr_n: level!(SERR),
        }
    }
}

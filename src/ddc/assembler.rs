//! Symbols into words, with the framing check: link clock.

use super::fifo::{Crossing, Fifo};
use crate::hsl::Symbol;

/// What the receive FIFO carries beside the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RxMark {
    #[default]
    Data,
    Bp,
    Ed,
    /// The packet ended as it should.
    Ep,
    /// The packet was cut by an exceptional end, or by the loss of the link.
    Eep,
    /// The packet ended in the wrong byte, or had a control symbol where none
    /// belongs.
    Misplaced,
}

impl RxMark {
    pub(super) const fn ends_packet(self) -> bool {
        matches!(self, Self::Ep | Self::Eep | Self::Misplaced)
    }
}

/// A word of the receive FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RxWord {
    pub(super) value: u32,
    pub(super) mark: RxMark,
}

impl RxWord {
    pub(super) const EMPTY: Self = Self {
        value: 0,
        mark: RxMark::Data,
    };
}

/// The assembler's registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Assembler {
    word: u32,
    lane: u8,
    in_packet: bool,
    /// The packet is spoilt: wait for its end.
    skipping: bool,
    /// An end that must be written before anything else.
    closing: bool,
}

impl Assembler {
    /// The link is gone: what is in transit ends here.
    pub(super) const fn close(&mut self) {
        if self.in_packet {
            self.closing = true;
        }
        self.lane = 0;
        self.word = 0;
        self.in_packet = false;
        self.skipping = false;
    }

    /// Nothing to write by itself.
    pub(super) const fn is_idle(&self) -> bool {
        !self.closing
    }

    /// Writes a pending end; `true` when it may take a symbol at this edge.
    pub(super) fn ready(&mut self, fifo: &mut Fifo<RxWord>, ends: &mut Crossing) -> bool {
        if fifo.free() == 0 {
            return false;
        }
        if self.closing {
            self.closing = false;
            fifo.push(RxWord {
                value: 0,
                mark: RxMark::Eep,
            });
            ends.bump();
            return false;
        }
        true
    }

    /// Takes one symbol; `ready` said so.
    pub(super) fn take(&mut self, symbol: Symbol, fifo: &mut Fifo<RxWord>, ends: &mut Crossing) {
        let mark = if !symbol.is_control() {
            if self.lane < 3 {
                None
            } else {
                Some(RxMark::Data)
            }
        } else if symbol == Symbol::EEP {
            Some(RxMark::Eep)
        } else if symbol == Symbol::EP {
            let placed = self.lane == 3 && !self.skipping;
            Some(if placed {
                RxMark::Ep
            } else {
                RxMark::Misplaced
            })
        } else if self.lane == 3 && symbol == Symbol::BP {
            Some(RxMark::Bp)
        } else if self.lane == 3 && symbol == Symbol::ED {
            Some(RxMark::Ed)
        } else {
            self.skipping = true;
            None
        };
        self.word |= u32::from(symbol.value()) << (8 * self.lane);
        self.lane = (self.lane + 1) & 3;
        self.in_packet = true;
        let Some(mark) = mark else { return };
        if mark.ends_packet() || !self.skipping {
            fifo.push(RxWord {
                value: self.word,
                mark,
            });
        }
        self.word = 0;
        if mark.ends_packet() {
            ends.bump();
            self.lane = 0;
            self.in_packet = false;
            self.skipping = false;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn assemble(symbols: &[Symbol]) -> (Vec<RxMark>, u16) {
        let mut fifo = Fifo::new(16, RxWord::default());
        let mut ends = Crossing::default();
        let mut unit = Assembler::default();
        for &symbol in symbols {
            assert!(unit.ready(&mut fifo, &mut ends));
            unit.take(symbol, &mut fifo, &mut ends);
        }
        fifo.clock_reader();
        fifo.clock_reader();
        let marks = core::iter::from_fn(|| fifo.pop()).map(|w| w.mark).collect();
        (marks, ends.source())
    }

    const D: Symbol = Symbol::data(1);

    #[test]
    fn well_framed_words_keep_their_marks() {
        use Symbol as S;
        let symbols = [D, D, D, S::BP, D, D, D, D, D, D, D, S::ED, D, D, D, S::EP];
        let (marks, ends) = assemble(&symbols);
        assert_eq!(marks, [RxMark::Bp, RxMark::Data, RxMark::Ed, RxMark::Ep]);
        assert_eq!(ends, 1);
    }

    #[test]
    fn an_end_in_the_wrong_byte_is_misplaced() {
        for lead in 0..3 {
            let mut symbols = std::vec![D; lead];
            symbols.extend([Symbol::EP, D, D, D, Symbol::EP]);
            assert_eq!(
                assemble(&symbols),
                (std::vec![RxMark::Misplaced, RxMark::Ep], 2)
            );
        }
    }

    #[test]
    fn an_exceptional_end_is_told_apart_in_any_byte() {
        for lead in 0..4 {
            let mut symbols = std::vec![D; lead];
            symbols.push(Symbol::EEP);
            assert_eq!(assemble(&symbols), (std::vec![RxMark::Eep], 1));
        }
    }

    #[test]
    fn a_stray_control_symbol_spoils_the_packet_up_to_its_end() {
        for stray in [Symbol::BP, Symbol::ED, Symbol::from_bits(0x1FF)] {
            let symbols = [
                D,
                stray,
                D,
                D,
                D,
                D,
                D,
                D,
                D,
                D,
                D,
                Symbol::EP,
                D,
                D,
                D,
                Symbol::BP,
            ];
            assert_eq!(assemble(&symbols).0, [RxMark::Misplaced, RxMark::Bp]);
        }
    }
}

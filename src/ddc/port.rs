//! The parallel port to the router: credit, input FIFO, flow control pulses.
//!
//! The port drives no signal until Rx_INIT is set (or while LOOPBACK is). When
//! it sees the router's signal it comes up: it sends two FCC pulses, each worth
//! 32 symbols, and one more for each 32 symbols taken out of its FIFO of 64.

use super::config::DdcConfig;
use crate::hsl::{Line, Symbol};

/// Symbols of the input FIFO, and the credit of an idle port.
const DEPTH: usize = 64;
/// Symbols an FCC stands for.
const FLIT: u8 = 32;
/// Link cycles from coming up to the first pulse: the other side sees the
/// signal before it sees a pulse.
const FIRST_PULSE: u8 = 2;

/// The port's registers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Port {
    up: bool,
    credit: u8,
    input: [u16; DEPTH],
    head: u8,
    len: u8,
    /// Symbols taken and not yet credited.
    taken: u8,
    /// Pulses to send.
    owed: u8,
    /// Initial pulses to come, and cycles to the next.
    initial: u8,
    timer: u8,
    /// More credit came than the other side can have: the port goes down.
    broken: bool,
    output: Line,
}

impl Port {
    pub(super) const fn new() -> Self {
        Self {
            up: false,
            credit: 0,
            input: [0; DEPTH],
            head: 0,
            len: 0,
            taken: 0,
            owed: 0,
            initial: 0,
            timer: 0,
            broken: false,
            output: Line::DEAD,
        }
    }

    pub(super) const fn output(&self) -> Line {
        self.output
    }

    pub(super) const fn is_up(&self) -> bool {
        self.up
    }

    pub(super) const fn has_credit(&self) -> bool {
        self.up && self.credit > 0
    }

    pub(super) const fn has_room(&self) -> bool {
        (self.len as usize) < DEPTH
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest symbol received; from the router it earns credit.
    pub(super) const fn pop(&mut self) -> Option<Symbol> {
        if self.len == 0 {
            return None;
        }
        let symbol = Symbol::from_bits(self.input[self.head as usize % DEPTH]);
        self.head = (self.head + 1) % DEPTH as u8;
        self.len -= 1;
        self.taken += 1;
        if self.taken == FLIT {
            self.taken = 0;
            if self.up {
                self.owed += 1;
            }
        }
        Some(symbol)
    }

    /// Stores a symbol; one that was sent without credit is lost, and the
    /// framing check will tell.
    pub(super) const fn push(&mut self, symbol: Symbol) {
        if self.has_room() {
            self.input[(self.head as usize + self.len as usize) % DEPTH] = symbol.bits();
            self.len += 1;
        }
    }

    /// The port goes down: what it holds is lost.
    pub(super) const fn down(&mut self) {
        self.up = false;
        self.credit = 0;
        self.len = 0;
        self.head = 0;
        self.taken = 0;
        self.owed = 0;
        self.initial = 0;
        self.timer = 0;
        self.broken = false;
    }

    /// Drives nothing.
    pub(super) const fn silence(&mut self) {
        self.output = Line::DEAD;
    }

    /// The port comes up.
    pub(super) const fn come_up(&mut self) {
        self.down();
        self.up = true;
        self.initial = 2;
        self.timer = FIRST_PULSE;
    }

    /// The output register: `symbol` costs a credit.
    pub(super) const fn drive(&mut self, symbol: Option<Symbol>, config: &DdcConfig) {
        self.output = match symbol {
            Some(symbol) => {
                self.credit = self.credit.saturating_sub(1);
                Line::symbol_of(symbol)
            }
            None => Line::IDLE,
        };
        if self.initial > 0 {
            self.timer = self.timer.saturating_sub(1);
            if self.timer == 0 {
                self.initial -= 1;
                self.timer = config.initial_fcc_spacing;
                self.owed += 1;
            }
        }
        if self.owed > 0 {
            self.owed -= 1;
            self.output = self.output.with_fcc_pulse();
        }
    }

    /// What came in at this edge.
    pub(super) const fn receive(&mut self, line: Line) {
        if line.fcc_pulse() {
            let more = self.credit + FLIT;
            self.credit = if more > DEPTH as u8 {
                self.broken = true;
                DEPTH as u8
            } else {
                more
            };
        }
        let symbol = line.symbol();
        if !symbol.is_link_level() {
            self.push(symbol);
        }
    }

    /// More credit came than the input FIFO of the other side has places.
    pub(super) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// No pulse is due and the output is quiet.
    pub(super) const fn is_quiet(&self) -> bool {
        self.initial == 0 && !self.broken && self.owed == 0 && self.output.is_quiet()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn up() -> (Port, DdcConfig) {
        let mut port = Port::new();
        port.come_up();
        (port, DdcConfig::default())
    }

    #[test]
    fn two_pulses_8_cycles_apart_follow_the_signal() {
        let (mut port, config) = up();
        let pulses: Vec<usize> = (0..100)
            .filter(|_| {
                port.drive(None, &config);
                port.output().fcc_pulse()
            })
            .collect();
        assert_eq!(pulses, [1, 9]);
        assert!(port.is_quiet());
    }

    #[test]
    fn each_32_symbols_taken_give_one_pulse() {
        let (mut port, config) = up();
        (0..20).for_each(|_| port.drive(None, &config));
        let mut pulses = 0;
        for taken in 1..=640u32 {
            port.push(Symbol::data(1));
            assert!(port.pop().is_some());
            port.drive(None, &config);
            pulses += u32::from(port.output().fcc_pulse());
            assert_eq!(pulses, taken / 32);
        }
    }

    #[test]
    fn credit_is_what_was_pulsed_less_what_was_sent_and_more_than_64_is_an_error() {
        let (mut port, config) = up();
        assert!(!port.has_credit());
        (0..2).for_each(|_| port.receive(Line::IDLE.with_fcc_pulse()));
        assert!(!port.is_broken());
        port.receive(Line::IDLE.with_fcc_pulse());
        assert!(port.is_broken());
        for _ in 0..64 {
            assert!(port.has_credit());
            port.drive(Some(Symbol::data(0)), &config);
        }
        assert!(!port.has_credit());
        port.receive(Line::symbol_of(Symbol::data(7)).with_fcc_pulse());
        assert!(port.has_credit());
        port.down();
        assert!(!port.has_credit() && port.is_empty());
    }

    #[test]
    fn symbols_keep_their_order_and_the_65th_is_lost() {
        let (mut port, _) = up();
        (0..70u8).for_each(|k| port.receive(Line::symbol_of(Symbol::data(k))));
        let got: Vec<u8> = core::iter::from_fn(|| port.pop())
            .map(Symbol::value)
            .collect();
        assert_eq!(got, (0..64).collect::<Vec<u8>>());
    }
}

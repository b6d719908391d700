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

    /// No pulse is due and the output is quiet.
    pub(super) const fn is_quiet(&self) -> bool {
        self.initial == 0 && self.owed == 0 && self.output.is_quiet()
    }
}

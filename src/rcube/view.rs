//! Looks inside, without side effects: for probes, and for a watchdog that
//! follows who waits for whom.

use super::{PORTS, Rcube, RoutingTable};
use crate::hsl::word::byte;
use crate::hsl::{Phase, Symbol};

/// What an input is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InputState {
    /// Waits for the header of the next packet.
    Header,
    /// Waits for one of these outputs (bit `k` = output `k`).
    Request {
        /// Eligible outputs.
        outputs: u8,
    },
    /// Has this output.
    Stream {
        /// The output.
        output: usize,
    },
    /// Drops the rest of a packet.
    Drop,
    /// Its link went down: the output is to get an EEP.
    Close {
        /// The output.
        output: usize,
    },
}

/// What an output is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct OutputState {
    /// The input that has this output.
    pub holder: Option<usize>,
    /// Symbols in the output FIFO.
    pub queued: u8,
    /// Emission credit, in characters.
    pub credit: u8,
    /// Where the link is in its life.
    pub phase: Phase,
}

impl Rcube {
    /// What input `port` (modulo 8) is at.
    pub fn input_state(&self, port: usize) -> InputState {
        let port = port & (PORTS - 1);
        let is = |set: u8| set >> port & 1 == 1;
        let output = usize::from(self.switch.route[port]);
        if is(self.switch.streaming) {
            InputState::Stream { output }
        } else if is(self.switch.closing) {
            InputState::Close { output }
        } else if is(self.switch.dropping) {
            InputState::Drop
        } else if is(self.switch.requesting()) {
            InputState::Request {
                outputs: byte(self.switch.requests, port),
            }
        } else {
            InputState::Header
        }
    }

    /// The table in force: what was in the chain when the router last left
    /// reset.
    pub const fn table(&self) -> &RoutingTable {
        &self.table
    }

    /// Whether the router is out of reset.
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// The symbol `k` places behind the front of the input FIFO of `port`
    /// (modulo 8), if it holds that many.
    pub fn input_symbol(&self, port: usize, k: u8) -> Option<Symbol> {
        let port = port & (PORTS - 1);
        (k < self.input_fifo.len(port)).then(|| self.input_fifo.peek(port, k))
    }

    /// The symbol `k` places behind the front of the output FIFO of `port`
    /// (modulo 8), if it holds that many.
    pub fn output_symbol(&self, port: usize, k: u8) -> Option<Symbol> {
        let port = port & (PORTS - 1);
        (k < self.output_fifo.len(port)).then(|| self.output_fifo.peek(port, k))
    }

    /// Symbols in the input FIFO of `port` (modulo 8).
    pub fn input_queued(&self, port: usize) -> u8 {
        self.input_fifo.len(port)
    }

    /// What output `port` (modulo 8) is at.
    pub fn output_state(&self, port: usize) -> OutputState {
        let port = port & (PORTS - 1);
        let holders = self.switch.leading_to(1 << port);
        OutputState {
            holder: (holders != 0).then(|| holders.trailing_zeros() as usize),
            queued: self.output_fifo.len(port),
            credit: self.ports.credit(port),
            phase: self.ports.phase(port),
        }
    }
}

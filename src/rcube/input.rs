//! Input side: reception, input FIFOs, headers.
//!
//! ```text
//!             header complete             granted
//!  +-> HEADER ---------------> REQUEST ------------> STREAM --+ EP or EEP
//!  |     | mask 0, or shorter     | link down          | link down
//!  |     v than its header        v                    v
//!  +--- DROP <--------          HEADER               CLOSE: EEP
//!  +---- EP or EEP                                     |
//!  +---------------------------------------------------+
//! ```

use super::matrix::{self, Ports};
use super::stats::note;
use super::{Before, PORTS, Rcube};
use crate::hsl::{Down, Line, Received, Symbol};

/// What the front of an input FIFO is, for an input that waits for a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// The header is incomplete.
    Partial,
    /// The packet ends within its header.
    Short,
    /// A header with these eligible outputs.
    Header(u8),
}

/// Symbols of an input FIFO.
const CAPACITY: u8 = 64;

impl Rcube {
    // One lookup for each input whose header is complete; the request is
    // registered.
    #[inline]
    pub(super) fn decode(&mut self, before: &Before) {
        for input in Ports(before.heading()) {
            match self.front(input) {
                Front::Partial => {}
                Front::Header(outputs) if outputs != 0 => {
                    self.switch.requests |= matrix::row(input, outputs);
                }
                Front::Header(_) => {
                    self.switch.dropping |= 1 << input;
                    note(&mut self.counters.no_route, input);
                }
                Front::Short => {
                    self.switch.dropping |= 1 << input;
                    note(&mut self.counters.short, input);
                }
            }
        }
    }

    /// The front of the FIFO of an input that waits for a header.
    pub(super) fn front(&self, input: usize) -> Front {
        let fifo = &self.input_fifo[input];
        if fifo.is_empty() {
            return Front::Partial;
        }
        let first = fifo.peek(0);
        if first.ends_packet() {
            return Front::Short;
        }
        if self.table.header_length >> input & 1 == 0 {
            return Front::Header(self.table.select(input, first.value().into()));
        }
        let second = fifo.peek(1);
        if fifo.len() < 2 {
            Front::Partial
        } else if second.ends_packet() {
            Front::Short
        } else {
            Front::Header(
                self.table
                    .select(input, u16::from_be_bytes([first.value(), second.value()])),
            )
        }
    }

    // The caller has seen that the FIFO is not empty.
    #[inline]
    pub(super) fn pop_input(&mut self, input: usize) -> Symbol {
        let fifo = &mut self.input_fifo[input];
        let symbol = fifo.pop();
        if fifo.is_empty() {
            self.input_ready &= !(1 << input);
        }
        self.ports[input].freed();
        symbol
    }

    // What came out of the deserialisers goes to the ports, and from there to
    // the FIFOs.
    #[inline]
    pub(super) fn receive(&mut self, lines: &[Line; PORTS]) {
        let up = self.up;
        for input in Ports(up) {
            match self.ports[input].receive(lines[input], &self.config.link) {
                Received::Symbol(symbol) => self.store(input, symbol),
                Received::Nothing => {}
                event => self.link_event(input, event),
            }
        }
        for input in Ports(!up) {
            if self.ports[input].idle_for(lines[input], &self.config.link) != u64::MAX {
                self.start_up(input, lines[input]);
            }
        }
    }

    #[inline]
    fn store(&mut self, input: usize, symbol: Symbol) {
        let fifo = &mut self.input_fifo[input];
        if fifo.len() < CAPACITY {
            fifo.push(symbol);
            self.input_ready |= 1 << input;
        } else {
            note(&mut self.counters.overflow, input);
        }
    }

    #[cold]
    #[inline(never)]
    fn start_up(&mut self, input: usize, line: Line) {
        let event = self.ports[input].receive(line, &self.config.link);
        self.link_event(input, event);
    }

    #[cold]
    #[inline(never)]
    fn link_event(&mut self, port: usize, event: Received) {
        match event {
            Received::Up => self.up |= 1 << port,
            Received::Down(cause) => self.link_lost(port, cause),
            _ => {}
        }
        self.fillers[port] = self.ports[port].filler();
    }

    // Both directions of a link go down together.
    fn link_lost(&mut self, port: usize, cause: Down) {
        let bit = 1 << port;
        self.up &= !bit;
        note(&mut self.counters.link_losses, port);
        if cause == Down::Credit {
            note(&mut self.counters.credit_errors, port);
        }
        self.output_lost(port);

        self.input_fifo[port].clear();
        self.input_ready &= !bit;
        self.switch.requests = matrix::without(self.switch.requests, bit);
        self.switch.dropping &= !bit;
        if self.switch.streaming & bit != 0 {
            self.switch.streaming &= !bit;
            self.switch.closing |= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcube::{RcubeConfig, RoutingTable};

    #[test]
    fn headers_of_one_and_two_characters() {
        let mut router = Rcube::new(RcubeConfig::default());
        router.table = RoutingTable::uniform(
            [0, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700],
            [1, 2, 4, 8, 16, 32, 64, 128],
        );
        router.table.header_length = 0b01;
        assert_eq!(router.front(0), Front::Partial);
        for input in [0, 1] {
            router.store(input, Symbol::data(2));
        }
        assert_eq!(
            (router.front(0), router.front(1)),
            (Front::Partial, Front::Header(4))
        );
        router.store(0, Symbol::data(0xFF));
        assert_eq!(router.front(0), Front::Header(4));
        router.store(2, Symbol::EEP);
        assert_eq!(router.front(2), Front::Short);
    }

    #[test]
    fn an_overflow_is_counted_and_dropped() {
        let mut router = Rcube::new(RcubeConfig::default());
        for n in 0..70 {
            router.store(3, Symbol::data(n));
        }
        assert_eq!(router.port_stats(3).events.overflow, 6);
        assert_eq!(
            (router.input_fifo[3].len(), router.input_fifo[3].peek(63)),
            (64, Symbol::data(63))
        );
    }
}

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

use super::config::INPUT_FIFO;
use super::stats::note;
use super::{Before, PORTS, Rcube};
use crate::hsl::word::{Set, only_byte, without};
use crate::hsl::{Down, Line, PortBank, Received};

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

impl Rcube {
    // One lookup for each input whose header is complete; the request is
    // registered.
    #[inline]
    pub(super) fn decode(&mut self, before: &Before) {
        for input in Set(before.heading()) {
            match self.front(input) {
                Front::Partial => {}
                Front::Header(outputs) if outputs != 0 => {
                    self.switch.requests |= only_byte(input, outputs);
                }
                Front::Header(_) => {
                    self.switch.dropping |= 1 << input;
                    debug!("router: no route, packet dropped at link {}", input);
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
        let fifo = &self.input_fifo;
        let length = fifo.len(input);
        if length == 0 {
            return Front::Partial;
        }
        let first = fifo.peek(input, 0);
        if first.ends_packet() {
            return Front::Short;
        }
        if self.table.header_length >> input & 1 == 0 {
            return Front::Header(self.table.select(input, first.value().into()));
        }
        let second = fifo.peek(input, 1);
        if length < 2 {
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

    // What came out of the deserialisers goes to the ports, and from there to
    // the FIFOs.
    #[inline]
    pub(super) fn receive(&mut self, lines: &[Line; PORTS]) {
        // Sorted without branches: on a busy link whether a symbol comes is
        // anybody's guess.
        let (mut plain, mut idle) = (0, 0);
        for (input, line) in lines.iter().enumerate() {
            plain |= u8::from(PortBank::is_plain(*line)) << input;
            idle |= u8::from(*line == Line::IDLE) << input;
        }
        let up = self.ports.up();
        let pushed = plain & up & !self.input_fifo.holding(INPUT_FIFO as u8);
        let mut others = !(pushed | idle & up);
        if others != 0 {
            others &= !self.ports.deserted(lines);
        }
        for input in Set(pushed) {
            self.input_fifo.put(input, lines[input].symbol());
        }
        self.input_fifo.pushed(pushed);
        for input in Set(others) {
            let event = self.ports.receive(input, lines[input], &self.config.link);
            if event != Received::Nothing {
                self.link_event(input, event);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn link_event(&mut self, port: usize, event: Received) {
        match event {
            Received::Symbol(symbol) if self.input_fifo.len(port) < INPUT_FIFO as u8 => {
                self.input_fifo.put(port, symbol);
                self.input_fifo.pushed(1 << port);
            }
            Received::Symbol(_) => note(&mut self.counters.overflow, port),
            Received::Down(cause) => self.link_lost(port, cause),
            Received::Up | Received::Nothing => {}
        }
    }

    // Both directions of a link go down together.
    fn link_lost(&mut self, port: usize, cause: Down) {
        let bit = 1 << port;
        note(&mut self.counters.link_losses, port);
        if cause == Down::Credit {
            note(&mut self.counters.credit_errors, port);
        }
        self.output_lost(port);

        self.input_fifo.clear(bit);
        self.switch.requests = without(self.switch.requests, bit);
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
    use crate::hsl::Symbol;
    use crate::rcube::{RcubeConfig, RoutingTable};

    fn store(router: &mut Rcube, port: usize, symbol: Symbol) {
        router.link_event(port, Received::Symbol(symbol));
    }

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
            store(&mut router, input, Symbol::data(2));
        }
        assert_eq!(
            (router.front(0), router.front(1)),
            (Front::Partial, Front::Header(4))
        );
        store(&mut router, 0, Symbol::data(0xFF));
        assert_eq!(router.front(0), Front::Header(4));
        store(&mut router, 2, Symbol::EEP);
        assert_eq!(router.front(2), Front::Short);
    }

    #[test]
    fn an_overflow_is_counted_and_dropped() {
        let mut router = Rcube::new(RcubeConfig::default());
        for n in 0..70 {
            router.link_event(3, Received::Symbol(Symbol::data(n)));
        }
        assert_eq!(router.port_stats(3).events.overflow, 6);
        assert_eq!(
            (router.input_fifo.len(3), router.input_fifo.peek(3, 63)),
            (64, Symbol::data(63))
        );
    }
}

//! Output side: output FIFOs and what goes to the serialisers.

use super::stats::note;
use super::{Before, Moved, PORTS, Rcube};
use crate::hsl::word::Set;
use crate::hsl::{Line, Symbol};

impl Rcube {
    // The next line of each port: FCC, else a symbol if there is credit, else
    // IDLE.
    #[inline]
    pub(super) fn transmit(&mut self, before: &Before, moved: &mut Moved) -> [Line; PORTS] {
        let mut lines = *self.ports.fillers();
        let emission = self.ports.transmit(before.output_ready);
        for output in Set(emission.symbols) {
            lines[output] = Line::symbol_of(self.output_fifo.peek(output, 0));
        }
        self.output_fifo.popped(emission.symbols);
        for output in Set(emission.fcc) {
            lines[output] = Line::symbol_of(Symbol::FCC);
        }
        for output in Set(emission.pulses) {
            lines[output] = lines[output].with_fcc_pulse();
        }
        moved.sent = emission.symbols;
        moved.fcc = emission.fcc;
        lines
    }

    // The link is gone: what is here is lost, and the packet that has this
    // output drains to its end without going anywhere.
    pub(super) fn output_lost(&mut self, output: usize) {
        let bit = 1 << output;
        self.output_fifo.clear(bit);
        if self.switch.held & bit != 0 {
            if self.switch.draining & bit == 0 {
                note(&mut self.counters.drained, output);
            }
            self.switch.draining |= bit;
        }
    }
}

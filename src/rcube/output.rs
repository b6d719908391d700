//! Output side: output FIFOs and what goes to the serialisers.

use super::matrix::Ports;
use super::stats::note;
use super::{Before, Moved, PORTS, Rcube};
use crate::hsl::{Line, Slot, Symbol};

impl Rcube {
    // The next line of each port: FCC, else a symbol if there is credit, else
    // IDLE.
    #[inline]
    pub(super) fn transmit(&mut self, before: &Before, moved: &mut Moved) -> [Line; PORTS] {
        let mut lines = self.fillers;
        for output in Ports(before.up) {
            let bit = 1 << output;
            let fifo = &mut self.output_fifo[output];
            let offered = if fifo.is_empty() {
                None
            } else {
                Some(fifo.peek(0))
            };
            let (line, slot) = self.ports[output].transmit(offered);
            lines[output] = line;
            match slot {
                Slot::Symbol => {
                    fifo.pop();
                    if fifo.is_empty() {
                        self.output_ready &= !bit;
                    }
                    self.output_full &= !bit;
                    moved.sent |= bit;
                }
                Slot::Fcc => moved.fcc |= bit,
                Slot::NoCredit | Slot::Idle | Slot::Down => {}
            }
        }
        lines
    }

    // From the crossbar; the caller has seen that the FIFO is not full.
    #[inline]
    pub(super) fn push_output(&mut self, output: usize, symbol: Symbol) {
        let fifo = &mut self.output_fifo[output];
        fifo.push(symbol);
        self.output_ready |= 1 << output;
        if fifo.len() >= self.config.output_fifo {
            self.output_full |= 1 << output;
        }
    }

    // The link is gone: what is here is lost, and the packet that has this
    // output drains to its end without going anywhere.
    pub(super) fn output_lost(&mut self, output: usize) {
        let bit = 1 << output;
        self.output_fifo[output].clear();
        self.output_ready &= !bit;
        self.output_full &= !bit;
        if self.switch.held & bit != 0 {
            if self.switch.draining & bit == 0 {
                note(&mut self.counters.drained, output);
            }
            self.switch.draining |= bit;
        }
    }
}

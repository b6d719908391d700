//! Crossbar and arbitration.
//!
//! A circuit is one bit: row = input, column = output. Requests are rows of
//! eligible outputs; one cycle of arbitration is
//!
//! ```text
//! requests and free     input i picks one output, searching upwards from i
//!        | transpose
//! requesters of output  output picks one input, searching after its last winner
//!        | transpose
//! new circuits
//! ```
//!
//! which is done for all ports at once on a 64-bit word.

use super::matrix::{self, ALL, FROM_DIAGONAL};
use super::stats::{Doing, note};
use super::{Before, Moved, PORTS, Rcube};
use crate::hsl::Symbol;
use crate::hsl::word::{Set, broadcast, byte, nonzero, without};

/// Who has what.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Switch {
    // Row i: eligible outputs of the packet that waits at input i.
    pub(super) requests: u64,
    // Row i: the output that input i has.
    pub(super) circuits: u64,
    // Row o: inputs above the last winner of output o.
    priority: u64,
    // The output of each input in a circuit, as a number.
    pub(super) route: [u8; PORTS],
    // Header characters still to be deleted, by input.
    delete: [u8; PORTS],
    // Outputs in a circuit, and of these the ones that lost their link.
    pub(super) held: u8,
    pub(super) draining: u8,
    // Inputs by state; an input in none of these and without request waits for
    // a header.
    pub(super) streaming: u8,
    pub(super) dropping: u8,
    pub(super) closing: u8,
    // Inputs with header characters to delete.
    deleting: u8,
}

impl Switch {
    pub(super) const fn new() -> Self {
        Self {
            requests: 0,
            circuits: 0,
            priority: ALL,
            route: [0; PORTS],
            delete: [0; PORTS],
            held: 0,
            draining: 0,
            streaming: 0,
            dropping: 0,
            closing: 0,
            deleting: 0,
        }
    }

    /// Inputs that wait for an output.
    #[inline]
    pub(super) const fn requesting(&self) -> u8 {
        if self.requests == 0 {
            0
        } else {
            nonzero(self.requests)
        }
    }

    /// Inputs whose circuit leads to one of these outputs.
    #[inline]
    pub(super) const fn leading_to(&self, outputs: u8) -> u8 {
        if outputs == 0 {
            0
        } else {
            nonzero(self.circuits & broadcast(outputs))
        }
    }

    /// The circuits that arbitration would grant with these outputs free.
    #[inline]
    fn grants(&self, free: u8) -> u64 {
        let picks = matrix::pick(self.requests & broadcast(free), FROM_DIAGONAL);
        matrix::pick(matrix::transpose(picks), self.priority)
    }

    pub(super) fn release(&mut self, input: usize) {
        self.held &= !byte(self.circuits, input);
        self.draining &= self.held;
        self.circuits = without(self.circuits, 1 << input);
    }
}

impl Before {
    /// Inputs that can pass a symbol of a circuit.
    #[inline]
    pub(super) const fn crossing(&self) -> u8 {
        self.streaming & self.input_ready & !self.blocked
    }

    /// Inputs that have a symbol to drop.
    pub(super) const fn discarding(&self) -> u8 {
        self.dropping & self.input_ready
    }

    /// Inputs that can pass the EEP that closes a circuit.
    pub(super) const fn ending(&self) -> u8 {
        self.closing & !self.blocked
    }

    /// Inputs with symbols of a header.
    #[inline]
    pub(super) const fn heading(&self) -> u8 {
        self.input_ready & !(self.streaming | self.dropping | self.closing | self.requesting)
    }

    /// Outputs that can be granted.
    pub(super) const fn free(&self) -> u8 {
        self.up & !self.held
    }
}

impl Rcube {
    // Each circuit passes one symbol, each dropped packet loses one.
    #[inline]
    pub(super) fn cross(&mut self, before: &Before, moved: &mut Moved) {
        let crossing = before.crossing();
        let special = self.switch.deleting != 0 || self.switch.draining != 0;
        let (mut pushed, mut ended) = (0, 0);
        for input in Set(crossing) {
            let symbol = self.input_fifo.peek(input, 0);
            let output = usize::from(self.switch.route[input]) & (PORTS - 1);
            ended |= u8::from(symbol.ends_packet()) << input;
            if special && self.vanishes(input, output) {
                continue;
            }
            self.output_fifo.put(output, symbol);
            pushed |= 1 << output;
        }
        self.output_fifo.pushed(pushed);
        moved.popped = crossing;
        if ended != 0 {
            self.end(ended);
        }
        if before.dropping | before.closing != 0 {
            self.cross_rare(before, moved);
        }
        let left = moved.popped & !before.closing;
        self.input_fifo.popped(left);
        self.ports.freed(left);
    }

    // EP or EEP has passed from these inputs: their circuits are released.
    fn end(&mut self, inputs: u8) {
        self.switch.streaming &= !inputs;
        for input in Set(inputs) {
            self.switch.release(input);
            let output = usize::from(self.switch.route[input]) & (PORTS - 1);
            self.counters.packets_in[input] = self.counters.packets_in[input].wrapping_add(1);
            self.counters.packets_out[output] = self.counters.packets_out[output].wrapping_add(1);
        }
    }

    // A header character that the output removes takes its cycle all the same;
    // an output that lost its link swallows the rest of its packet.
    #[cold]
    #[inline(never)]
    fn vanishes(&mut self, input: usize, output: usize) -> bool {
        if self.switch.deleting >> input & 1 == 0 {
            return self.switch.draining >> output & 1 == 1;
        }
        self.switch.delete[input] = self.switch.delete[input].saturating_sub(1);
        if self.switch.delete[input] == 0 {
            self.switch.deleting &= !(1 << input);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn cross_rare(&mut self, before: &Before, moved: &mut Moved) {
        for input in Set(before.discarding()) {
            if self.input_fifo.peek(input, 0).ends_packet() {
                self.switch.dropping &= !(1 << input);
            }
        }
        for input in Set(before.ending()) {
            let output = usize::from(self.switch.route[input]) & (PORTS - 1);
            if self.switch.draining >> output & 1 == 0 {
                self.output_fifo.put(output, Symbol::EEP);
                self.output_fifo.pushed(1 << output);
            }
            self.switch.closing &= !(1 << input);
            self.switch.release(input);
            note(&mut self.counters.closed, input);
        }
        moved.popped |= before.discarding() | before.ending();
    }

    // Free outputs go to waiting packets.
    #[inline]
    pub(super) fn arbitrate(&mut self, before: &Before, moved: &mut Moved) {
        if before.requesting != 0 {
            self.grant(before.free(), moved);
        }
    }

    fn grant(&mut self, free: u8, moved: &mut Moved) {
        let winners = self.switch.grants(free);
        if winners == 0 {
            return;
        }
        let circuits = matrix::transpose(winners);
        let outputs = nonzero(winners);
        let inputs = nonzero(circuits);
        let switch = &mut self.switch;
        switch.priority = matrix::after(winners, switch.priority);
        switch.circuits |= circuits;
        switch.requests = without(switch.requests, inputs);
        switch.held |= outputs;
        switch.streaming |= inputs;
        // A circuit that was broken off may have left characters to delete.
        switch.deleting &= !inputs;
        for input in Set(inputs) {
            let output = byte(circuits, input).trailing_zeros() as u8 & 7;
            switch.route[input] = output;
            if self.table.header_deletion >> output & 1 == 1 {
                switch.delete[input] = 1 + (self.table.header_length >> input & 1);
                switch.deleting |= 1 << input;
            }
        }
        moved.granted = inputs;
    }

    /// Whether arbitration would grant something.
    pub(super) fn would_grant(&self, before: &Before) -> bool {
        before.requesting != 0 && self.switch.grants(before.free()) != 0
    }

    /// What each port does in this cycle.
    #[inline]
    pub(super) fn doing(&self, before: &Before, moved: &Moved) -> Doing {
        let Before {
            up,
            input_ready,
            output_ready,
            held,
            closing,
            requesting,
            ..
        } = *before;
        let waiting = requesting & !moved.granted;
        // Only asked for when somebody waits. A request still there is one that
        // was not granted.
        let reachable = if waiting == 0 {
            0
        } else {
            waiting & nonzero(self.switch.requests & broadcast(up))
        };
        let quiet = !(moved.sent | moved.fcc | output_ready) & up;
        [
            moved.popped,
            up & !input_ready & !closing,
            before.heading() | moved.granted,
            reachable,
            waiting & !reachable,
            before.blocked & (closing | input_ready),
            !up & !closing,
            moved.sent,
            moved.fcc,
            quiet & !held,
            quiet & held,
            up & output_ready & !moved.sent & !moved.fcc,
            !up,
        ]
    }
}

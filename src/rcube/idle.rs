//! Many cycles at once while nothing moves.

use super::input::Front;
use super::{Moved, PORTS, Rcube};
use crate::hsl::Line;
use crate::hsl::word::Set;

impl Rcube {
    /// Link cycles during which, with these lines held, a [`step`](Self::step)
    /// only advances counters and the outputs stay as they are: 0 when it has
    /// to be stepped, `u64::MAX` when nothing happens for ever.
    ///
    /// A router full of blocked packets is as idle as an empty one.
    pub fn idle_for(&self, inputs: &[Line; PORTS]) -> u64 {
        if self.running != self.chain.init() {
            return 0;
        }
        if !self.running {
            return u64::MAX;
        }
        if !inputs.iter().all(|line| line.is_quiet())
            || !self.deserialiser.settled(inputs)
            || !self.serialiser.settled(self.ports.fillers())
            || self.outputs != *self.ports.fillers()
            || self.would_move()
        {
            return 0;
        }
        self.ports.idle_for(inputs, &self.config.link)
    }

    // A symbol or a state would move at the next edge.
    fn would_move(&self) -> bool {
        let before = self.before();
        self.ports.payable() & before.output_ready != 0
            || before.crossing() | before.discarding() | before.ending() != 0
            || self.would_grant(&before)
            || Set(before.heading()).any(|input| self.front(input) != Front::Partial)
    }

    /// Passes `cycles` edges with these lines held: the same state as that
    /// many [`step`](Self::step)s, in one go where
    /// [`idle_for`](Self::idle_for) allows, else edge by edge.
    pub fn skip(&mut self, cycles: u64, inputs: &[Line; PORTS]) {
        let mut left = cycles;
        while left > 0 {
            let idle = self.idle_for(inputs).min(left);
            if idle == 0 {
                self.step(inputs);
                left -= 1;
            } else {
                self.pass(idle, inputs);
                left -= idle;
            }
        }
    }

    fn pass(&mut self, cycles: u64, inputs: &[Line; PORTS]) {
        if !self.running {
            return;
        }
        let doing = self.doing(&self.before(), &Moved::default());
        self.counters.count_many(&doing, cycles);
        self.ports.skip(cycles, inputs);
    }
}

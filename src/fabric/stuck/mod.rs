//! Is the machine stuck, and who waits for whom?
//!
//! **Still** is a state, not a guess after a while. A chip is a synchronous
//! machine: its next state follows from its state and its pins. So when every
//! chip stays as it is at its next edge while its pins hold, and every pin
//! holds, then the edge after next finds the same and so does every edge for
//! ever, until a host does something. [`Machine::is_still`] asks exactly that:
//!
//! - nothing is under way on any cable, and each carries what it will go on to
//!   carry (FCC, data and start-up symbols do not count as that);
//! - every router says that, with these pins held, it would do nothing for ever
//!   but count cycles ([`Rcube::idle_for`](crate::rcube::Rcube::idle_for) is
//!   `u64::MAX`): no symbol can cross, no output can be granted, no header is
//!   waiting to be compared, no link is starting or timing out, no FCC is owed;
//! - every controller says the same of both of its clocks, time-outs of
//!   transfers included, and every bus: no transaction, no access of a host;
//! - the pins between the clocks agree: the link status that a controller has
//!   sampled is the one its router shows, and so are the configuration pins.
//!
//! The same answers carry the skipping of idle cycles, which is held against
//! stepping edge by edge elsewhere. So the decision is exact both ways: a
//! machine that is still never moves by itself, and one that will never move
//! is still as soon as its counters of waiting cycles have run out.
//!
//! **Stuck** is still with something left to do: a packet inside a router, or a
//! page that a controller was told to send and has not. [`Machine::stuck`] says
//! who waits for what.
//!
//! Document: hw/doc/topology.md, "Stuck machines".

use super::machine::Machine;
use super::probe::Probe;
use crate::hsl::Line;
use crate::time::Duration;

#[cfg(feature = "alloc")]
mod report;
#[cfg(feature = "alloc")]
mod text;
#[cfg(feature = "alloc")]
mod trace;

#[cfg(feature = "alloc")]
pub use report::{Reason, Report, Waiter};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Ending {
    /// The condition held.
    Done,
    /// Nothing moves any more, and something is left to do.
    Stuck,
    /// Nothing moves any more, and nothing is left to do: the network is empty
    /// and every posted page is sent. What the condition waits for must come
    /// from a host.
    AtRest,
    /// The time is over, and things still move.
    OutOfTime,
}

impl<P: Probe> Machine<'_, P> {
    /// Whether nothing can change any more until a host does something. See
    /// the [module](self).
    pub fn is_still(&self) -> bool {
        self.is_still_from(&mut 0)
    }

    /// Whether something is left to do: symbols inside a router, an output that
    /// belongs to a packet, a page posted and not sent.
    pub fn has_work(&self) -> bool {
        let routers = self.routers.iter().any(|router| {
            let chip = &router.chip;
            (0..8).any(|port| {
                let output = chip.output_state(port);
                chip.input_queued(port) > 0 || output.queued > 0 || output.holder.is_some()
            })
        });
        routers || (0..self.nodes.len()).any(|node| self.has_unsent(node))
    }

    /// Runs until `done` holds after an edge, the machine is
    /// [still](Self::is_still), or `limit` is over. `done` is also asked once
    /// at the start, and first.
    pub fn run_until_stuck_or(
        &mut self,
        limit: Duration,
        mut done: impl FnMut(&Self) -> bool,
    ) -> Ending {
        let mut held = false;
        // Most edges find the chip busy that was so at the last one.
        let mut first = 0;
        let ended = self.run_while_not(limit, |machine| {
            held = done(machine);
            held || machine.is_still_from(&mut first)
        });
        if held {
            Ending::Done
        } else if !ended && !self.is_still() {
            Ending::OutOfTime
        } else if self.has_work() {
            Ending::Stuck
        } else {
            Ending::AtRest
        }
    }

    /// Asks the chips from number `first` on; leaves it at one that is busy.
    fn is_still_from(&self, first: &mut usize) -> bool {
        let chips = self.routers.len() + self.nodes.len();
        for step in 0..chips {
            let chip = (*first + step) % chips;
            let still = match chip.checked_sub(self.routers.len()) {
                None => self.router_is_still(chip),
                Some(node) => self.node_is_still(node),
            };
            if !still {
                *first = chip;
                return false;
            }
        }
        true
    }

    fn router_is_still(&self, index: usize) -> bool {
        let Some(router) = self.routers.get(index) else {
            return true;
        };
        let next = self.link_cycle() + 1;
        let mut lines = [Line::DEAD; 8];
        for (line, rx) in lines.iter_mut().zip(router.rx) {
            if let Some(wire) = self.wires.get(usize::from(rx)) {
                if !wire.line.is_settled(next) {
                    return false;
                }
                *line = wire.line.read(next);
            }
        }
        router.shown.is_none() && router.chip.idle_for(&lines) == u64::MAX
    }

    fn node_is_still(&self, index: usize) -> bool {
        let Some(node) = self.nodes.get(index) else {
            return true;
        };
        let next = self.link_cycle() + 1;
        let mut line = Line::DEAD;
        if let Some(wire) = self.wires.get(usize::from(node.rx)) {
            if !wire.line.is_settled(next) {
                return false;
            }
            line = wire.line.read(next);
        }
        let pins = node.pci_outputs();
        let router = self.routers.get(usize::from(node.router));
        node.shown.is_none()
            && node.ddc.link_idle_for(line) == u64::MAX
            && node.pci_idle_for() == u64::MAX
            && pins.r3_dout.is_none()
            && router.is_none_or(|router| {
                router.link_status() == node.r3_status
                    && (!node.owns_router || router.r3_init == pins.r3_init)
            })
    }

    /// Whether the controller of a node has pages that have not left whole.
    pub(super) fn has_unsent(&self, node: usize) -> bool {
        self.nodes
            .get(node)
            .is_some_and(|node| node.ddc.has_unsent())
    }
}

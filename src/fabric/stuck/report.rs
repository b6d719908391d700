//! Who waits for whom, as data.

use alloc::vec;
use alloc::vec::Vec;

use super::trace;
use crate::fabric::machine::Machine;
use crate::fabric::probe::Probe;
use crate::fabric::topology::PortId;
use crate::fabric::wiring::End;
use crate::hsl::word::Set;
use crate::rcube::InputState;
use crate::time::Instant;

/// Why a packet does not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Reason {
    /// No output that its header may take is free.
    Outputs {
        /// The outputs that it may take, bit `k` = port `k`.
        wanted: u8,
        /// Of these, the ones without a usable link.
        down: u8,
        /// For each of the others the input whose packet holds it.
        holders: [Option<u8>; 8],
    },
    /// It has an output, and what is beyond takes no more: no credit.
    Credit {
        /// The output.
        output: u8,
        /// Who takes no more; none when nothing is plugged in.
        beyond: Option<End>,
    },
    /// The rest of it does not come.
    Rest {
        /// The output it has, if it has one.
        output: Option<u8>,
        /// Where the rest should come from; none when nothing is plugged in.
        from: Option<End>,
    },
}

/// One packet at one router. A long packet stands at several routers and is
/// listed at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Waiter {
    /// Where it stands: an input port.
    pub at: PortId,
    /// Its header, the number of the node it is for; none when it cannot be
    /// seen any more, or not yet.
    pub header: Option<u16>,
    /// Symbols in the input FIFO, of this packet and those behind it.
    pub queued: u8,
    /// What it waits for.
    pub reason: Reason,
}

/// What stands in a machine. Final when the machine is still; a snapshot
/// otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// When.
    pub at: Instant,
    /// Whether nothing moves any more.
    pub still: bool,
    /// All that wait, root first: the ring of [`cycle`](Self::cycle), then
    /// whoever waits for no packet, then those who wait for them, and so on.
    pub waiters: Vec<Waiter>,
    /// The inputs that wait for each other in a ring, each for the next, if
    /// there is such a ring. Where a packet may take one of several outputs,
    /// one of its holders is in the ring.
    pub cycle: Vec<PortId>,
    /// Nodes with pages posted and not sent.
    pub senders: Vec<u16>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Report {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Report {{ at: {}, still: {}, waiters: {}, cycle: {}, senders: {} }}",
            self.at,
            self.still,
            self.waiters.as_slice(),
            self.cycle.as_slice(),
            self.senders.as_slice()
        );
    }
}

impl Report {
    /// The waiter at an input.
    pub fn waiter(&self, at: PortId) -> Option<&Waiter> {
        self.waiters.iter().find(|waiter| waiter.at == at)
    }
}

impl<P: Probe> Machine<'_, P> {
    /// Who waits for whom, if the machine is stuck; none when it moves or has
    /// nothing left to do.
    pub fn stuck(&self) -> Option<Report> {
        (self.is_still() && self.has_work()).then(|| self.waiting())
    }

    /// Who waits for whom right now. While the machine moves, most of these
    /// wait for a few cycles only.
    pub fn waiting(&self) -> Report {
        let mut waiters: Vec<Waiter> = (0..self.routers.len())
            .flat_map(|router| (0..8u8).map(move |port| PortId::new(router as u16, port)))
            .filter_map(|at| self.waiter(at))
            .collect();
        let (order, cycle) = rooted(&self.waits(&waiters));
        let name = |&i: &usize| waiters.get(i).map(|waiter| waiter.at);
        let cycle = cycle.iter().filter_map(name).collect();
        waiters = order
            .iter()
            .filter_map(|&i| waiters.get(i).copied())
            .collect();
        let senders = (0..self.nodes.len()).filter(|&node| self.has_unsent(node));
        Report {
            at: self.now(),
            still: self.is_still(),
            waiters,
            cycle,
            senders: senders.map(|node| node as u16).collect(),
        }
    }

    fn waiter(&self, at: PortId) -> Option<Waiter> {
        let chip = &self.routers.get(usize::from(at.router))?.chip;
        let port = usize::from(at.port);
        let queued = chip.input_queued(port);
        let rest = |output| Reason::Rest {
            output,
            from: self.far_end(at),
        };
        let reason = match chip.input_state(port) {
            InputState::Header if queued == 0 => return None,
            InputState::Header | InputState::Drop => rest(None),
            InputState::Request { outputs } => {
                let status = chip.link_status();
                let mut holders = [None; 8];
                for output in Set(outputs & status) {
                    if let Some(slot) = holders.get_mut(output) {
                        *slot = chip.output_state(output).holder.map(|input| input as u8);
                    }
                }
                Reason::Outputs {
                    wanted: outputs,
                    down: outputs & !status,
                    holders,
                }
            }
            InputState::Stream { output } if queued == 0 => rest(Some(output as u8)),
            InputState::Stream { output } | InputState::Close { output } => Reason::Credit {
                output: output as u8,
                beyond: self.far_end(PortId::new(at.router, output as u8)),
            },
        };
        Some(Waiter {
            at,
            header: trace::header(self, at),
            queued,
            reason,
        })
    }

    /// What is at the other end of the cable on a router port.
    pub(super) fn far_end(&self, at: PortId) -> Option<End> {
        let router = self.routers.get(usize::from(at.router))?;
        let wire = *router.tx.get(usize::from(at.port))?;
        self.wires.get(usize::from(wire))?.to
    }

    /// For each waiter the waiters it waits for.
    fn waits(&self, waiters: &[Waiter]) -> Vec<Vec<usize>> {
        let find = |at: PortId| waiters.binary_search_by_key(&at, |waiter| waiter.at).ok();
        let targets = |waiter: &Waiter| -> Vec<usize> {
            let router = waiter.at.router;
            match waiter.reason {
                Reason::Outputs { holders, .. } => holders
                    .iter()
                    .flatten()
                    .filter_map(|&input| find(PortId::new(router, input)))
                    .collect(),
                Reason::Credit {
                    beyond: Some(End::Router { router, port }),
                    ..
                } => find(PortId::new(router, port)).into_iter().collect(),
                // Whoever has the output at the other end of this cable.
                Reason::Rest {
                    from: Some(End::Router { router, port }),
                    ..
                } => self
                    .routers
                    .get(usize::from(router))
                    .and_then(|far| far.chip.output_state(port.into()).holder)
                    .and_then(|input| find(PortId::new(router, input as u8)))
                    .into_iter()
                    .collect(),
                Reason::Credit { .. } | Reason::Rest { .. } => Vec::new(),
            }
        };
        waiters.iter().map(targets).collect()
    }
}

/// The order to list waiters in, and a ring, from what each waits for.
fn rooted(waits: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
    let cycle = ring(waits);
    let mut listed = vec![false; waits.len()];
    let mut order = Vec::with_capacity(waits.len());
    let mut list = |i: usize, order: &mut Vec<usize>| {
        if let Some(flag) = listed.get_mut(i)
            && !core::mem::replace(flag, true)
        {
            order.push(i);
        }
    };
    cycle.iter().for_each(|&i| list(i, &mut order));
    let roots = waits.iter().enumerate().filter(|(_, on)| on.is_empty());
    roots.for_each(|(i, _)| list(i, &mut order));
    let mut waiting_for = vec![Vec::new(); waits.len()];
    for (i, on) in waits.iter().enumerate() {
        for &target in on {
            if let Some(behind) = waiting_for.get_mut(target) {
                behind.push(i);
            }
        }
    }
    let mut next = 0;
    while let Some(&i) = order.get(next) {
        next += 1;
        for &behind in waiting_for.get(i).map_or(&[][..], Vec::as_slice) {
            list(behind, &mut order);
        }
    }
    // Those that lead to other rings only.
    (0..waits.len()).for_each(|i| list(i, &mut order));
    (order, cycle)
}

/// A ring of waiters, if there is one: depth first.
fn ring(waits: &[Vec<usize>]) -> Vec<usize> {
    let mut entered = vec![false; waits.len()];
    for start in 0..waits.len() {
        // The way in, each with how many of its targets were tried.
        let mut way: Vec<(usize, usize)> = Vec::new();
        let mut next = Some(start);
        loop {
            if let Some(i) = next.take() {
                if let Some(from) = way.iter().position(|&(on_way, _)| on_way == i) {
                    return way.iter().skip(from).map(|&(i, _)| i).collect();
                }
                if let Some(flag) = entered.get_mut(i)
                    && !core::mem::replace(flag, true)
                {
                    way.push((i, 0));
                }
            }
            let Some((i, tried)) = way.last_mut() else {
                break;
            };
            next = waits.get(*i).and_then(|on| on.get(*tried)).copied();
            *tried += 1;
            if next.is_none() {
                way.pop();
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_comes_first_then_who_waits_for_it() {
        // 0 waits for 1, the ring is 1, 2, 3; 4 waits for nobody, 5 for 4.
        let waits = [vec![1], vec![2], vec![3], vec![1], vec![], vec![4]];
        let (order, cycle) = rooted(&waits);
        assert_eq!(cycle, [1, 2, 3]);
        assert_eq!(order, [1, 2, 3, 4, 0, 5]);
    }

    #[test]
    fn a_way_met_twice_is_no_ring() {
        let waits = [vec![1, 2], vec![3], vec![3], vec![]];
        assert_eq!(rooted(&waits), (vec![3, 1, 2, 0], vec![]));
        assert_eq!(ring(&[vec![0]]), [0]);
    }
}

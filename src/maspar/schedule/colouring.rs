//! Edge colouring of the cluster graph (König), repaired by Kempe swaps.
//!
//! Clusters that send on one side, clusters that receive on the other, a
//! request is an edge, a phase a colour: as many colours as the busiest
//! cluster has requests are enough. Colours may then ask too much of a stage-1
//! share; exchanging two colours along an alternating path keeps the
//! colouring, and is kept when the excess does not grow.

use super::demand::{Bound, Demand};
use super::{NO_PHASE, Schedule, ScheduleError, Scheduler};
use crate::maspar::geometry::{CLUSTERS, MAX_CLUSTERS, MAX_PES};
use crate::maspar::pattern::Pattern;
use crate::maspar::random::Draws;
use crate::maspar::router::Router;

/// Most phases that the tables hold.
const COLOURS: usize = 64;
const NO_EDGE: u16 = u16::MAX;
/// Rows of the tables: clusters that send, then clusters that receive.
const NODES: usize = 2 * MAX_CLUSTERS;

/// The edge-colouring scheduler. Its tables take about 450 KiB: keep it in a
/// `Box` or a `static` where stacks are small.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Colouring {
    /// Seed of the swaps.
    pub seed: u64,
    /// Phases to use; [`None`] for the bound, then one more.
    pub phases: Option<u32>,
    /// Swaps tried before it gives up. Default 100,000 (chosen: about a second
    /// in the worst case).
    pub effort: u32,
    // The edge of each colour at each node.
    edge: [[u16; COLOURS]; NODES],
    // Requests of each share in each colour.
    load: [[u8; COLOURS]; MAX_CLUSTERS],
    demand: [Demand; MAX_PES],
    colour: [u8; MAX_PES],
    // Edges of the alternating path at hand.
    path: [u16; NODES],
}

impl Default for Colouring {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Colouring {
    /// A scheduler with that seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            phases: None,
            effort: 100_000,
            edge: [[NO_EDGE; COLOURS]; NODES],
            load: [[0; COLOURS]; MAX_CLUSTERS],
            demand: [Demand {
                source: 0,
                target: 0,
                share: 0,
            }; MAX_PES],
            colour: [0; MAX_PES],
            path: [0; NODES],
        }
    }

    fn ends(&self, edge: u16) -> (usize, usize) {
        let demand = self.demand[edge as usize & (MAX_PES - 1)];
        (
            demand.source as usize & (MAX_CLUSTERS - 1),
            MAX_CLUSTERS | demand.target as usize & (MAX_CLUSTERS - 1),
        )
    }

    fn share(&self, edge: u16) -> usize {
        self.demand[edge as usize & (MAX_PES - 1)].share as usize & (MAX_CLUSTERS - 1)
    }

    /// Colours that no edge of a node has, of the first `colours`.
    fn free(&self, node: usize, colours: usize) -> u64 {
        let edges = &self.edge[node & (NODES - 1)];
        edges
            .iter()
            .take(colours)
            .enumerate()
            .fold(0, |free, (colour, &edge)| {
                free | u64::from(edge == NO_EDGE) << colour
            })
    }

    /// Colours every edge; no node may have more edges than `colours`.
    fn colour_all(&mut self, router: &Router, pattern: &Pattern, colours: usize) {
        self.edge = [[NO_EDGE; COLOURS]; NODES];
        self.load = [[0; COLOURS]; MAX_CLUSTERS];
        for (source, target) in pattern.pairs() {
            self.demand[source as usize & (MAX_PES - 1)] = Demand::of(router, source, target);
            let (from, to) = self.ends(source);
            let (here, there) = (self.free(from, colours), self.free(to, colours));
            let share = self.share(source);
            let colour = if here & there != 0 {
                // The common colour that the share uses least.
                let load = &self.load[share];
                (0..colours)
                    .filter(|&c| (here & there) >> c & 1 == 1)
                    .min_by_key(|&c| load[c])
            } else {
                // Free `a` at the far end too, by exchanging it with `b` along
                // the path that starts there; it cannot end at this end.
                let (a, b) = (
                    here.trailing_zeros() as usize,
                    there.trailing_zeros() as usize,
                );
                if a < colours && b < colours {
                    let len = self.walk(to, a, b, 0);
                    self.exchange(len, a, b);
                    Some(a)
                } else {
                    None
                }
            };
            let Some(colour) = colour.map(|colour| colour & (COLOURS - 1)) else {
                continue;
            };
            self.colour[source as usize & (MAX_PES - 1)] = colour as u8;
            self.edge[from][colour] = source;
            self.edge[to][colour] = source;
            self.load[share][colour] += 1;
        }
    }

    /// Collects the path that leaves `node` by colour `a`, then `b`, `a`, ...
    /// behind the first `len` edges of the list; returns its new length.
    fn walk(&mut self, mut node: usize, a: usize, b: usize, mut len: usize) -> usize {
        let (mut next, mut other) = (a & (COLOURS - 1), b & (COLOURS - 1));
        let start = len;
        while len < NODES {
            let edge = self.edge[node & (NODES - 1)][next];
            // A cycle comes back to its first edge.
            if edge == NO_EDGE || (len > start && edge == self.path[start]) {
                break;
            }
            self.path[len] = edge;
            len += 1;
            let (from, to) = self.ends(edge);
            node = if node == from { to } else { from };
            (next, other) = (other, next);
        }
        len
    }

    /// Exchanges colours `a` and `b` on the first `len` edges of the list.
    fn exchange(&mut self, len: usize, a: usize, b: usize) {
        let (a, b) = (a & (COLOURS - 1), b & (COLOURS - 1));
        for i in 0..len.min(NODES) {
            let (from, to) = self.ends(self.path[i]);
            let old = usize::from(self.colour[self.path[i] as usize & (MAX_PES - 1)]);
            for node in [from, to] {
                // Only where the neighbour has not been written already.
                if self.edge[node][old & (COLOURS - 1)] == self.path[i] {
                    self.edge[node][old & (COLOURS - 1)] = NO_EDGE;
                }
            }
            let new = if old == a { b } else { a };
            let share = self.share(self.path[i]);
            self.load[share][old & (COLOURS - 1)] -= 1;
            self.load[share][new] += 1;
            self.colour[self.path[i] as usize & (MAX_PES - 1)] = new as u8;
        }
        for i in 0..len.min(NODES) {
            let edge = self.path[i];
            let (from, to) = self.ends(edge);
            let colour = usize::from(self.colour[edge as usize & (MAX_PES - 1)]) & (COLOURS - 1);
            self.edge[from][colour] = edge;
            self.edge[to][colour] = edge;
        }
    }

    /// PEs too many in two colours, over all shares.
    fn excess_of(&self, capacity: u32, colours: [usize; 2]) -> u32 {
        let mut excess = 0;
        for load in &self.load {
            for colour in colours {
                excess += u32::from(load[colour & (COLOURS - 1)]).saturating_sub(capacity);
            }
        }
        excess
    }

    fn excess(&self, capacity: u32, colours: usize) -> u32 {
        let loads = self.load.iter().flat_map(|load| load.iter().take(colours));
        loads
            .map(|&load| u32::from(load).saturating_sub(capacity))
            .sum()
    }

    /// Swaps colours until no share is asked too much. `Err` is the excess
    /// that is left.
    fn repair(&mut self, router: &Router, colours: usize) -> Result<(), u32> {
        let capacity = Demand::share_capacity(router);
        let per_board = if capacity == 1 {
            CLUSTERS
        } else {
            CLUSTERS / 4
        };
        let mut draws = Draws::new(self.seed);
        let mut excess = self.excess(capacity, colours);
        // A cell is a (share, colour); the search goes round over all of them.
        let cells = MAX_CLUSTERS * colours;
        let mut cell = 0;
        for _ in 0..self.effort {
            if excess == 0 {
                return Ok(());
            }
            for _ in 0..cells {
                cell = if cell + 1 < cells { cell + 1 } else { 0 };
                if u32::from(self.load[cell / colours][cell % colours]) > capacity {
                    break;
                }
            }
            let (share, a) = (cell / colours, cell % colours);
            let load = u32::from(self.load[share][a]);
            // One of the edges in that cell, and another colour for it.
            let mut skip = draws.below(load);
            let board = share / per_board;
            let mut edge = NO_EDGE;
            for cluster in board * CLUSTERS..(board + 1) * CLUSTERS {
                let candidate = self.edge[cluster & (MAX_CLUSTERS - 1)][a & (COLOURS - 1)];
                if candidate != NO_EDGE && self.share(candidate) == share {
                    if skip == 0 {
                        edge = candidate;
                        break;
                    }
                    skip -= 1;
                }
            }
            let b = draws.below(colours as u32) as usize;
            if edge == NO_EDGE || a == b {
                continue;
            }
            // The whole alternating path through it: over the edge and on,
            // then back from its source unless that has closed a cycle.
            let (from, _) = self.ends(edge);
            let forth = self.walk(from, a, b, 0);
            let back = self.edge[from][b & (COLOURS - 1)];
            let closed = forth > 0 && back == self.path[(forth - 1) & (NODES - 1)];
            let len = if closed {
                forth
            } else {
                self.walk(from, b, a, forth)
            };
            let before = self.excess_of(capacity, [a, b]);
            self.exchange(len, a, b);
            let after = self.excess_of(capacity, [a, b]);
            if after > before {
                self.exchange(len, a, b);
            } else {
                excess = excess - before + after;
            }
        }
        if excess == 0 { Ok(()) } else { Err(excess) }
    }

    fn attempt(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
        phases: u32,
    ) -> Result<Schedule, ScheduleError> {
        let colours = phases as usize;
        self.colour_all(router, pattern, colours);
        self.repair(router, colours)
            .map_err(|excess| ScheduleError::GaveUp {
                phases,
                excess,
                effort: self.effort,
            })?;
        let mut phase = [NO_PHASE; MAX_PES];
        let mut number = [NO_PHASE; COLOURS];
        let mut next = 0;
        for (id, _) in pattern.pairs() {
            let colour = usize::from(self.colour[id as usize & (MAX_PES - 1)]) & (COLOURS - 1);
            if number[colour] == NO_PHASE {
                number[colour] = next;
                next += 1;
            }
            phase[id as usize & (MAX_PES - 1)] = number[colour];
        }
        let pes = router.size().pes();
        Schedule::checked(router, pattern, phase.get(..pes).unwrap_or(&phase))
    }
}

impl Scheduler for Colouring {
    fn name(&self) -> &'static str {
        "edge colouring"
    }

    fn schedule(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
    ) -> Result<Schedule, ScheduleError> {
        let bound = Bound::of(router, pattern)?;
        let fewest = bound.phases.max(1);
        let phases = self.phases.unwrap_or(fewest);
        let limit = COLOURS as u32;
        if phases > limit {
            return Err(ScheduleError::TooManyPhases { phases, limit });
        }
        if phases < fewest {
            let excess = fewest - phases;
            return Err(ScheduleError::GaveUp {
                phases,
                excess,
                effort: 0,
            });
        }
        match self.attempt(router, pattern, phases) {
            Err(ScheduleError::GaveUp { .. }) if self.phases.is_none() && phases < limit => {
                self.attempt(router, pattern, phases + 1)
            }
            other => other,
        }
    }
}

//! What a request takes of the router, and the bound that follows.
//!
//! A set of PEs is connected whole in one cycle if and only if no source
//! cluster, target cluster or stage-1 share is asked for more than it has. The
//! wires into a target board never are, when those hold.

use core::fmt;

use crate::maspar::chip::Personality;
use crate::maspar::geometry::{CLUSTERS, GROUPS, MAX_CLUSTERS, WIRES};
use crate::maspar::pattern::{Pattern, SizeMismatch};
use crate::maspar::router::Router;

/// What one request takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Demand {
    /// The source's cluster, over all boards.
    pub source: u16,
    /// The target's cluster, over all boards.
    pub target: u16,
    /// The stage-1 share: (board, group) with hyperbars, (board, group,
    /// crossbar) with crossbars.
    pub share: u16,
}

impl Demand {
    /// The demand of PE `source` asking for PE `target`.
    pub fn of(router: &Router, source: u16, target: u16) -> Self {
        let geometry = router.wiring().geometry();
        let (from, to) = (geometry.slot(source), geometry.slot(target));
        let group = u16::from(router.wiring().group((to >> 4 & 63) as u8));
        let pair = ((from >> 10) * GROUPS as u16) | group;
        let share = match router.config().stage1_personality() {
            Personality::Hyperbar => pair,
            Personality::Crossbars(masks) => {
                let lane = from >> 4 & 63;
                let crossbar = masks
                    .iter()
                    .position(|mask| mask >> lane & 1 == 1)
                    .unwrap_or(0);
                (pair * WIRES as u16) | crossbar as u16
            }
        };
        Self {
            source: from >> 4,
            target: to >> 4,
            share,
        }
    }

    /// Requests that one share can serve in a cycle.
    pub fn share_capacity(router: &Router) -> u32 {
        match router.config().stage1_personality() {
            Personality::Hyperbar => WIRES as u32,
            Personality::Crossbars(_) => 1,
        }
    }
}

/// What limits a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Limit {
    /// A cluster has one wire out.
    SourceCluster {
        /// The busiest one.
        cluster: u16,
    },
    /// A cluster has one wire in.
    TargetCluster {
        /// The busiest one.
        cluster: u16,
    },
    /// A board has four wires to a group.
    Stage1 {
        /// The busiest board.
        board: u8,
        /// Its busiest group.
        group: u8,
    },
}

/// The fewest phases that any schedule can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Bound {
    /// Requests of the busiest source cluster.
    pub source: u32,
    /// Requests for the busiest target cluster.
    pub target: u32,
    /// Cycles that the busiest stage-1 share needs.
    pub stage1: u32,
    /// The largest of them: no schedule has fewer phases.
    pub phases: u32,
    /// What sets it.
    pub limit: Limit,
}

impl Bound {
    /// The bound of a pattern on a router.
    ///
    /// # Errors
    /// [`SizeMismatch`] when they do not fit.
    pub fn of(router: &Router, pattern: &Pattern) -> Result<Self, SizeMismatch> {
        pattern.fits(router.size())?;
        let mut source = [0u32; MAX_CLUSTERS];
        let mut target = [0u32; MAX_CLUSTERS];
        let mut share = [0u32; GROUPS * CLUSTERS];
        for (from, to) in pattern.pairs() {
            let demand = Demand::of(router, from, to);
            source[demand.source as usize & (MAX_CLUSTERS - 1)] += 1;
            target[demand.target as usize & (MAX_CLUSTERS - 1)] += 1;
            share[demand.share as usize & (GROUPS * CLUSTERS - 1)] += 1;
        }
        let busiest = |loads: &[u32]| {
            let most = loads.iter().copied().max().unwrap_or(0);
            (
                most,
                loads.iter().position(|&load| load == most).unwrap_or(0),
            )
        };
        let ((source, from), (target, to)) = (busiest(&source), busiest(&target));
        let (most, at) = busiest(&share);
        let capacity = Demand::share_capacity(router);
        let stage1 = most.div_ceil(capacity);
        let phases = source.max(target).max(stage1);
        let limit = if source == phases {
            Limit::SourceCluster {
                cluster: from as u16,
            }
        } else if target == phases {
            Limit::TargetCluster { cluster: to as u16 }
        } else {
            let pair = if capacity == 1 { at / WIRES } else { at };
            Limit::Stage1 {
                board: (pair / GROUPS) as u8,
                group: (pair % GROUPS) as u8,
            }
        };
        Ok(Self {
            source,
            target,
            stage1,
            phases,
            limit,
        })
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Limit::SourceCluster { cluster } => {
                write!(
                    f,
                    "{} requests leave cluster {cluster} by one wire",
                    self.source
                )
            }
            Limit::TargetCluster { cluster } => {
                write!(
                    f,
                    "{} requests enter cluster {cluster} by one wire",
                    self.target
                )
            }
            Limit::Stage1 { board, group } => write!(
                f,
                "the wires of board {board} to group {group} need {} cycles",
                self.stage1
            ),
        }
    }
}

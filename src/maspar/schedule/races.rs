//! Stores: all but one sender of each target PE may be dropped.
//!
//! MPL lets any of several stores to one variable survive, so a scheduler may
//! pick the survivor. Reads must keep all.

use super::demand::Demand;
use crate::maspar::geometry::{MAX_CLUSTERS, MAX_PES};
use crate::maspar::pattern::{Pattern, SizeMismatch};
use crate::maspar::router::Router;

/// Keeps the lowest sender of each target PE.
#[must_use]
pub fn one_sender_each(pattern: Pattern) -> Pattern {
    let mut taken = crate::maspar::set::PeSet::EMPTY;
    let targets = pattern.clone();
    pattern.only(|id| match targets.target(id) {
        Some(to) if !taken.contains(to) => {
            taken.insert(to);
            true
        }
        _ => false,
    })
}

/// Keeps, for each target PE, the sender that keeps the loads of the source
/// clusters and of the stage-1 shares low. Targets with one sender are settled
/// first; the others follow by id, each taking the sender with the least load.
///
/// # Errors
/// [`SizeMismatch`] when pattern and router do not fit.
pub fn one_sender_each_by_load(router: &Router, pattern: Pattern) -> Result<Pattern, SizeMismatch> {
    pattern.fits(router.size())?;
    const NONE: u16 = u16::MAX;
    // Senders of each target, as lists, highest first.
    let mut first = [NONE; MAX_PES];
    let mut next = [NONE; MAX_PES];
    for (source, target) in pattern.pairs() {
        if let (Some(head), Some(link)) = (
            first.get_mut(target as usize),
            next.get_mut(source as usize),
        ) {
            *link = *head;
            *head = source;
        }
    }
    let follow = |id: u16| next.get(id as usize).copied().unwrap_or(NONE);
    let capacity = Demand::share_capacity(router);
    let mut cluster = [0u32; MAX_CLUSTERS];
    let mut share = [0u32; MAX_CLUSTERS];
    let mut kept = crate::maspar::set::PeSet::EMPTY;
    for alone in [true, false] {
        for (target, &head) in first.iter().enumerate() {
            if head == NONE || (follow(head) == NONE) != alone {
                continue;
            }
            let mut best = None;
            let mut sender = head;
            while sender != NONE {
                let demand = Demand::of(router, sender, target as u16);
                let at = (
                    demand.source as usize & (MAX_CLUSTERS - 1),
                    demand.share as usize & (MAX_CLUSTERS - 1),
                );
                // Cycles that the busier of the two would need, then the sum.
                let (c, s) = (cluster[at.0], share[at.1]);
                let cost = (c.max(s / capacity), c * capacity + s, sender);
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, at));
                }
                sender = follow(sender);
            }
            if let Some(((_, _, sender), (c, s))) = best {
                kept.insert(sender);
                cluster[c] += 1;
                share[s] += 1;
            }
        }
    }
    Ok(pattern.only(|id| kept.contains(id)))
}

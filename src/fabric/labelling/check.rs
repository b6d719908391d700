//! What [`Method::Auto`](super::Method::Auto) must know of labels before it
//! takes them: that they deliver, that they cannot deadlock, how far they go.
//!
//! The table of a router is the same for all its inputs, so for one destination
//! each router has one next router, and the ways of all sources together are
//! walked in a time linear in the routers.

use super::{NodeEntry, RouterLabels};
use crate::fabric::topology::{Port, PortId, Topology};

const UNKNOWN: u8 = 0;
const ON_THE_WAY: u8 = 1;
const ARRIVES: u8 = 2;
/// No node has this number: there are at most 65,535.
const NO_NODE: u16 = u16::MAX;
/// No input: the first channel of a search.
const FIRST: u8 = u8::MAX;

/// Scratch of the check, for one router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Scratch {
    /// The destination that `state` and `distance` are about.
    to: u16,
    state: u8,
    /// Routers from here to `to`.
    distance: u16,
    /// For each input, the outputs that its packets go on to.
    waits: [u8; 8],
    /// Search for rings: the input before, inputs seen, inputs on the path.
    before: [u8; 8],
    seen: u8,
    path: u8,
}

impl Scratch {
    pub(super) const EMPTY: Self = Self {
        to: NO_NODE,
        state: UNKNOWN,
        distance: 0,
        waits: [0; 8],
        before: [FIRST; 8],
        seen: 0,
        path: 0,
    };
}

/// Routers crossed by packets of all pairs together; `None` when a pair is not
/// served, when ports that are not parallel share a label, or when packets
/// could wait for each other in a ring.
pub(super) fn total_if_sound(
    topology: &Topology<'_>,
    routers: &mut [RouterLabels],
    nodes: &[NodeEntry],
) -> Option<u64> {
    let total = check(topology, routers, nodes);
    // Equal labels are equal, whether they were checked or not.
    routers
        .iter_mut()
        .for_each(|labels| labels.check = Scratch::EMPTY);
    total
}

fn check(
    topology: &Topology<'_>,
    routers: &mut [RouterLabels],
    nodes: &[NodeEntry],
) -> Option<u64> {
    if routers
        .iter()
        .any(|labels| (0..8).any(|port| labels.shared_with(port).is_some()))
    {
        return None;
    }
    let mut total = 0u64;
    for (to, entry) in (0..=u16::MAX).zip(nodes.iter().take(topology.generators().len())) {
        for source in topology.generators() {
            let distance = to_destination(topology, routers, source.router, to, entry.generator)?;
            total = total.saturating_add(u64::from(distance));
        }
    }
    (!waits_in_ring(topology, routers)).then_some(total)
}

/// Routers from `source` to the generator of node `to`; `None` if the packet
/// does not arrive there.
fn to_destination(
    topology: &Topology<'_>,
    routers: &mut [RouterLabels],
    source: u16,
    to: u16,
    generator: u16,
) -> Option<u16> {
    let mut router = source;
    let mut input = None;
    let mut steps = 0u16;
    // Forward, until the rest of the way is known.
    let rest = loop {
        let labels = routers.get_mut(usize::from(router))?;
        let eligible = labels.intervals.eligible(to);
        if eligible == 0 {
            return None;
        }
        let output = eligible.trailing_zeros() as u8;
        let scratch = &mut labels.check;
        if let Some(waits) = input.and_then(|input: u8| scratch.waits.get_mut(usize::from(input))) {
            *waits |= 1 << output;
        }
        let state = if scratch.to == to {
            scratch.state
        } else {
            UNKNOWN
        };
        match state {
            ON_THE_WAY => return None,
            ARRIVES => break scratch.distance,
            _ => (scratch.to, scratch.state) = (to, ON_THE_WAY),
        }
        steps = steps.saturating_add(1);
        match topology.port(PortId::new(router, output)) {
            Port::Generator(arrived) if arrived == generator => break 0,
            Port::Empty | Port::Generator(_) => return None,
            Port::Cable { peer, .. } => {
                router = peer.router;
                input = Some(peer.port);
            }
        }
    };
    // Once more, to note what is now known.
    let all = rest.saturating_add(steps);
    let mut router = source;
    for done in 0..steps {
        let labels = routers.get_mut(usize::from(router))?;
        labels.check.state = ARRIVES;
        labels.check.distance = all - done;
        let output = labels.intervals.eligible(to).trailing_zeros() as u8;
        if let Some(peer) = topology.peer(PortId::new(router, output)) {
            router = peer.router;
        }
    }
    Some(all)
}

/// Whether cables wait for cables in a ring: a depth-first search over the
/// receiving ends of the cables, along `waits`, which it uses up.
fn waits_in_ring(topology: &Topology<'_>, routers: &mut [RouterLabels]) -> bool {
    for router in 0..topology.routers() {
        for port in 0..8 {
            if ring_from(topology, routers, PortId::new(router, port)).unwrap_or(false) {
                return true;
            }
        }
    }
    false
}

/// Never `None` with ports that exist.
fn ring_from(topology: &Topology<'_>, routers: &mut [RouterLabels], start: PortId) -> Option<bool> {
    let mut at = start;
    let mut before = FIRST;
    loop {
        // Enter `at`, a receiving end not seen before (or the start).
        let scratch = &mut routers.get_mut(usize::from(at.router))?.check;
        let bit = 1u8 << (at.port & 7);
        if scratch.seen & bit != 0 {
            if scratch.path & bit != 0 {
                return Some(true);
            }
            // Nothing new behind it: go back to where it was met.
            if before == FIRST {
                return Some(false);
            }
            at = PortId::new(topology.peer(at)?.router, before);
        } else {
            scratch.seen |= bit;
            scratch.path |= bit;
            *scratch.before.get_mut(usize::from(at.port))? = before;
        }
        // Go on from `at`, back over everything that is used up.
        loop {
            let scratch = &mut routers.get_mut(usize::from(at.router))?.check;
            let waits = scratch.waits.get_mut(usize::from(at.port))?;
            if *waits == 0 {
                scratch.path &= !(1u8 << (at.port & 7));
                before = *scratch.before.get(usize::from(at.port))?;
                if before == FIRST {
                    return Some(false);
                }
                at = PortId::new(topology.peer(at)?.router, before);
                continue;
            }
            let output = waits.trailing_zeros() as u8;
            *waits &= *waits - 1;
            // A generator takes everything: nothing to wait for.
            if let Some(next) = topology.peer(PortId::new(at.router, output)) {
                before = at.port;
                at = next;
                break;
            }
        }
    }
}

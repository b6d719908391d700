//! Only the cables of a spanning tree: always served, never deadlocked.
//!
//! The tree is breadth first from a centre (the router whose farthest router is
//! nearest; the lowest numbered of several), so its depth is the least any
//! spanning tree of this machine can have. Nodes are numbered depth first, so a
//! subtree is an interval `[first, end)`: each child's port has the first number
//! of its subtree, the parent's port the end of one's own.
//!
//! A packet climbs, then descends: a cable downwards never waits for one
//! upwards, so no ring of waiting packets can close.

use super::storage::{NO_PORT, check_connected, neighbour, number_generators};
use super::{Label, LabellingError, NodeEntry, RouterLabels};
use crate::fabric::topology::{PORTS, PortId, Topology};

pub(super) fn label(
    topology: &Topology<'_>,
    routers: &mut [RouterLabels],
    nodes: &mut [NodeEntry],
) -> Result<(), LabellingError> {
    // Routers that the first one does not reach have no part in the tree.
    grow(topology, routers, 0);
    check_connected(topology, routers)?;
    let mut best = (u16::MAX, 0);
    for root in 0..topology.routers() {
        // `visited` after growing from 0 stays as it is for routers in the
        // same component, whichever of them is the root.
        if routers.get(usize::from(root)).is_some_and(|r| r.visited) {
            best = best.min((grow(topology, routers, root), root));
        }
    }
    let (_, root) = best;
    grow(topology, routers, root);
    number(topology, routers, nodes, root);
    Ok(())
}

/// Breadth-first search: sets `parent` of every router reached, and returns the
/// distance of the farthest. `scratch` links the queue.
fn grow(topology: &Topology<'_>, routers: &mut [RouterLabels], root: u16) -> u16 {
    for labels in routers.iter_mut() {
        labels.visited = false;
        labels.parent = NO_PORT;
    }
    let (mut head, mut tail) = (root, root);
    if let Some(labels) = routers.get_mut(usize::from(root)) {
        labels.visited = true;
        labels.logical = 0;
        labels.scratch = root;
    }
    loop {
        let distance = routers
            .get(usize::from(head))
            .map_or(0, |labels| labels.logical);
        for port in 0..PORTS {
            let Some(peer) = neighbour(topology, routers, PortId::new(head, port)) else {
                continue;
            };
            let Some(next) = routers.get_mut(usize::from(peer.router)) else {
                continue;
            };
            if next.visited {
                continue;
            }
            next.visited = true;
            next.parent = peer.port;
            next.logical = distance.saturating_add(1);
            next.scratch = peer.router;
            if let Some(last) = routers.get_mut(usize::from(tail)) {
                last.scratch = peer.router;
            }
            tail = peer.router;
        }
        let after = routers
            .get(usize::from(head))
            .map_or(head, |labels| labels.scratch);
        // The last router of the queue is linked to itself.
        if after == head {
            return distance;
        }
        head = after;
    }
}

/// Numbers and labels the tree depth first.
fn number(
    topology: &Topology<'_>,
    routers: &mut [RouterLabels],
    nodes: &mut [NodeEntry],
    root: u16,
) {
    let count = topology.generators().len() as u32;
    // Node numbers below `count`, and one past the last: does not overflow.
    let mut next = 0u16;
    let mut v = root;
    let mut entering = true;
    loop {
        let Some(own) = routers.get_mut(usize::from(v)) else {
            return;
        };
        if entering {
            own.number = next;
            own.cursor = 0;
            next += number_generators(topology, v, next, own, nodes);
            entering = false;
        }
        let (port, parent, first) = (own.cursor, own.parent, own.number);
        if port < PORTS {
            own.cursor += 1;
            let child = neighbour(topology, routers, PortId::new(v, port)).filter(|peer| {
                // The child's parent port is the other end of this cable.
                routers
                    .get(usize::from(peer.router))
                    .is_some_and(|w| w.parent == peer.port)
            });
            if let Some(peer) = child {
                v = peer.router;
                entering = true;
            }
            continue;
        }
        let inside = next - first;
        // All nodes below: nothing to send up.
        if parent != NO_PORT && u32::from(inside) < count {
            let end = if u32::from(next) == count { 0 } else { next };
            own.set(parent, Label::Bound(end));
        }
        let Some(up) = topology.peer(PortId::new(v, parent)) else {
            return;
        };
        let above = routers
            .get_mut(usize::from(up.router))
            .filter(|_| inside > 0);
        if let Some(above) = above {
            above.set(up.port, Label::Bound(first));
        }
        v = up.router;
    }
}

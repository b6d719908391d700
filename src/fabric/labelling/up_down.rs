//! Up and down a fat tree: a packet climbs to the first switch above its
//! destination, then descends.
//!
//! With boards numbered from left to right, what is below a port down is an
//! interval, and what is not below a switch at all is the rest, cut into one
//! piece for each port up:
//!
//! ```text
//! switch of arity 4 above the boards s .. s+4k, of n
//! s .. s+k  s+k .. s+2k  s+2k ..  s+3k ..  s+4k ..   ..       ..       .. n, 0 .. s
//! port 0    port 1       port 2   port 3   port 4    port 5   port 6   port 7
//! ```
//!
//! That is `2 h` intervals, all eight with arity 4. Any way up is a right one,
//! so the cuts are free: they follow the piece of the destinations that comes
//! here from below, cut evenly, so that the ways up carry about the same. With
//! adaptive tables every piece offers all ports up.
//!
//! Routes are as short as they can be, and as a packet that descends never
//! climbs again no ring of waiting packets can close.

use super::storage::number_generators;
use super::{Label, LabellingError, NodeEntry, RouterLabels};
use crate::fabric::topology::{FatTree, PORTS, Port, PortId, Topology};

pub(super) fn label(
    topology: &Topology<'_>,
    tree: &FatTree,
    routers: &mut [RouterLabels],
    nodes: &mut [NodeEntry],
) -> Result<(), LabellingError> {
    check(topology, tree)?;
    let n = u32::from(tree.boards());
    for (router, labels) in (0..topology.routers()).zip(routers.iter_mut()) {
        labels.visited = true;
        labels.number = router;
        let Some(own) = tree.switch(router) else {
            number_generators(topology, router, router, labels, nodes);
            labels.set(1, Label::Bound(((u32::from(router) + 1) % n) as u16));
            continue;
        };
        // Parallel cables would be aliases; each has its own part here.
        labels.labels = [Label::None; PORTS as usize];
        let step = u32::from(tree.below(own.level - 1));
        let below = u32::from(tree.below(own.level));
        let first = below * u32::from(own.prefix);
        for port in 0..tree.down(own.level) {
            let at = first + step * u32::from(port);
            labels.set(port, Label::Bound(at as u16));
        }
        // What comes here from below, as part of all that is not below.
        let h = u32::from(tree.arity());
        let (mut start, mut length) = (0, n - below);
        for digit in digits(own.rank, h, own.level - 1) {
            let from = digit * length / h;
            length = (digit + 1) * length / h - from;
            start += from;
        }
        for way in 0..tree.up(own.level) {
            // The first piece also takes what should not come.
            let cut = match way {
                0 => 0,
                way => start + u32::from(way) * length / h,
            };
            let port = tree.down(own.level) + way;
            labels.set(port, Label::Bound(((first + below + cut) % n) as u16));
            labels.alike |= 1 << port;
        }
    }
    Ok(())
}

/// The digits of `number` to the base `base`, the highest first.
fn digits(number: u16, base: u32, count: u8) -> impl Iterator<Item = u32> {
    (0..u32::from(count))
        .rev()
        .map(move |place| u32::from(number) / base.saturating_pow(place) % base)
}

/// The machine must be this fat tree, cable for cable.
fn check(topology: &Topology<'_>, tree: &FatTree) -> Result<(), LabellingError> {
    if tree.routers() != topology.routers() {
        return Err(LabellingError::FatTreeSize {
            fat_tree: tree.routers(),
            routers: topology.routers(),
        });
    }
    for (at, router) in tree.generators().zip(0..) {
        if topology.port(at) != Port::Generator(router)
            || topology.generators().len() != usize::from(tree.boards())
        {
            return Err(LabellingError::FatTreeGenerator { router });
        }
    }
    for cable in tree.cables() {
        let [upper, lower]: [PortId; 2] = cable.ends;
        if topology.peer(upper) != Some(lower) {
            return Err(LabellingError::FatTreeCable { upper, lower });
        }
    }
    Ok(())
}

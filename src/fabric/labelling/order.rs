//! Dimension order on a mesh or a hypercube, highest dimension first.
//!
//! With row-major numbers, the nodes with another highest coordinate are two
//! intervals (those below, those above), the nodes that differ in the next
//! coordinate two more inside the remaining one, and so on down to the node
//! itself. In two dimensions, for a router in column `c` of a row of `w` that
//! starts with node `s`:
//!
//! ```text
//! 0 .. s-1     s .. s+c-1    s+c     s+c+1 .. s+w-1    s+w ..
//! y-1 port     x-1 port      board   x+1 port          y+1 port
//! ```
//!
//! That is `2 d + 1` intervals at most, `d + 1` on a hypercube: up to 3-D
//! meshes and 7-D hypercubes fit into eight. Routes are minimal, and dimensions
//! are never taken up again, so no ring of waiting packets can close.

use super::storage::{neighbour, number_generators};
use super::{Label, LabellingError, NodeEntry, RouterLabels};
use crate::fabric::topology::{Grid, PORTS, Port, PortId, Topology};

pub(super) fn label(
    topology: &Topology<'_>,
    grid: &Grid,
    routers: &mut [RouterLabels],
    nodes: &mut [NodeEntry],
) -> Result<(), LabellingError> {
    if grid.routers() != topology.routers() {
        let (grid, routers) = (grid.routers(), topology.routers());
        return Err(LabellingError::GridSize { grid, routers });
    }
    for v in 0..topology.routers() {
        let mut own = topology.ports(v).iter().filter_map(|port| match *port {
            Port::Generator(generator) => Some(generator),
            _ => None,
        });
        if (own.next(), own.next()) != (Some(v), None) {
            return Err(LabellingError::GridGenerator { router: v });
        }
        if let Some(labels) = routers.get_mut(usize::from(v)) {
            labels.visited = true;
            labels.number = v;
            number_generators(topology, v, v, labels, nodes);
        }
        for (stride, length) in grid.strides() {
            let at = (v / stride) % length;
            // The first node that agrees with `v` in all higher coordinates.
            let base = v - at * stride - v % stride;
            if at > 0 {
                let port = port_to(topology, routers, v, v - stride)?;
                set(routers, v, port, base);
            }
            if at + 1 < length {
                let port = port_to(topology, routers, v, v + stride)?;
                set(routers, v, port, base + (at + 1) * stride);
            }
        }
    }
    Ok(())
}

fn set(routers: &mut [RouterLabels], router: u16, port: u8, label: u16) {
    if let Some(labels) = routers.get_mut(usize::from(router)) {
        labels.set(port, Label::Bound(label));
    }
}

fn port_to(
    topology: &Topology<'_>,
    routers: &[RouterLabels],
    router: u16,
    to: u16,
) -> Result<u8, LabellingError> {
    (0..PORTS)
        .find(|&port| {
            neighbour(topology, routers, PortId::new(router, port)).is_some_and(|p| p.router == to)
        })
        .ok_or(LabellingError::GridCable {
            router,
            neighbour: to,
        })
}

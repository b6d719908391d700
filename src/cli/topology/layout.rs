//! Where to put each router on the paper.

use std::collections::VecDeque;
use std::vec;
use std::vec::Vec;

use super::Machine;
use crate::fabric::topology::{FatTree, Grid, PORTS, PortId, Shape, Topology};

/// A point, in pixels, y downwards.
pub type Point = (f64, f64);

/// The paper.
pub struct Layout {
    /// Middle of each router.
    pub routers: Vec<Point>,
    /// Radius of a router's circle.
    pub radius: f64,
    /// Lines between levels may pass over routers only at their ends.
    pub levels: bool,
    pub width: f64,
    pub height: f64,
}

/// Room around the drawing.
const MARGIN: f64 = 36.0;

impl Layout {
    pub fn new(machine: &Machine) -> Self {
        let topology = &machine.topology;
        let routers = usize::from(topology.routers());
        let (step, radius) = match routers {
            0..=16 => (110.0, 20.0),
            17..=64 => (84.0, 16.0),
            65..=256 => (68.0, 13.0),
            _ => (34.0, 7.0),
        };
        let mut levels = false;
        let points = match &machine.shape {
            Some(Shape::Grid(grid)) if grid.lengths().len() == 1 && grid.wraps() => {
                circle(routers, step)
            }
            Some(Shape::Grid(grid)) => on_grid(grid, step),
            Some(Shape::FatTree(tree)) => {
                levels = true;
                fat_tree(tree, step)
            }
            _ if topology.cables().len() + 1 == routers => {
                levels = true;
                tree(topology, step)
            }
            _ => circle(routers, step),
        };
        let least = |f: fn(&Point) -> f64| points.iter().map(f).fold(f64::INFINITY, f64::min);
        let most = |f: fn(&Point) -> f64| points.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
        let (left, top) = (least(|p| p.0), least(|p| p.1));
        let margin = MARGIN + step / 2.0;
        Self {
            routers: points
                .iter()
                .map(|p| (p.0 - left + margin, p.1 - top + margin))
                .collect(),
            radius,
            levels,
            width: most(|p| p.0) - left + 2.0 * margin,
            height: most(|p| p.1) - top + 2.0 * margin,
        }
    }
}

/// Dimensions go to x and y in turn; a dimension on an axis that is taken
/// repeats what is there, with a gap.
fn on_grid(grid: &Grid, step: f64) -> Vec<Point> {
    let place = |router: u16| {
        let mut at = [0.0; 2];
        let mut extent = [1.0f64; 2];
        for (d, (stride, length)) in grid.strides().enumerate() {
            let coordinate = f64::from((router / stride) % length);
            at[d % 2] += coordinate * extent[d % 2];
            let gap = if d < 2 { 0.6 } else { 0.8 };
            extent[d % 2] = extent[d % 2] * f64::from(length) + gap;
            if d < 2 && grid.lengths().len() <= d + 2 {
                extent[d % 2] -= gap;
            }
        }
        (at[0] * step, at[1] * step)
    };
    (0..grid.routers()).map(place).collect()
}

fn circle(routers: usize, step: f64) -> Vec<Point> {
    let radius = (step * routers as f64 / std::f64::consts::TAU).max(step);
    (0..routers)
        .map(|i| {
            let turn = std::f64::consts::TAU * i as f64 / routers as f64;
            (radius * turn.sin(), -radius * turn.cos())
        })
        .collect()
}

fn fat_tree(tree: &FatTree, step: f64) -> Vec<Point> {
    let boards = f64::from(tree.boards());
    let width = (boards * step * 0.55).max(step);
    let mut count = vec![0u16; usize::from(tree.levels()) + 1];
    let level = |router| tree.switch(router).map_or(0, |own| usize::from(own.level));
    for router in 0..tree.routers() {
        count[level(router)] += 1;
    }
    let mut next = vec![0u16; count.len()];
    (0..tree.routers())
        .map(|router| {
            let level = level(router);
            let along = (f64::from(next[level]) + 0.5) / f64::from(count[level]);
            next[level] += 1;
            // The way to a leaf switch is short, the others fan out.
            let height = (width / 8.0).clamp(step * 1.6, 560.0);
            let rise = if level == 0 { 0.0 } else { 0.55 * height };
            (width * along, rise - level as f64 * height)
        })
        .collect()
}

/// Levels from router 0 down, each over the middle of what is below.
fn tree(topology: &Topology<'_>, step: f64) -> Vec<Point> {
    let routers = usize::from(topology.routers());
    let mut depth = vec![usize::MAX; routers];
    let mut order = Vec::with_capacity(routers);
    let mut parent = vec![0; routers];
    for start in 0..routers {
        if depth[start] != usize::MAX {
            continue;
        }
        depth[start] = 0;
        parent[start] = start;
        let mut queue = VecDeque::from([start]);
        while let Some(router) = queue.pop_front() {
            order.push(router);
            for port in 0..PORTS {
                let peer = topology.peer(PortId::new(router as u16, port));
                if let Some(next) = peer.map(|peer| usize::from(peer.router))
                    && depth[next] == usize::MAX
                {
                    depth[next] = depth[router] + 1;
                    parent[next] = router;
                    queue.push_back(next);
                }
            }
        }
    }
    let mut children = vec![Vec::new(); routers];
    for &router in &order {
        if parent[router] != router {
            children[parent[router]].push(router);
        }
    }
    // Leaves from left to right, depth first.
    let mut x = vec![0.0; routers];
    let mut leaves = 0.0f64;
    let mut stack: Vec<usize> = (0..routers).rev().filter(|&r| parent[r] == r).collect();
    while let Some(router) = stack.pop() {
        if children[router].is_empty() {
            x[router] = leaves;
            leaves += 1.0;
        }
        stack.extend(children[router].iter().rev());
    }
    for &router in order.iter().rev() {
        if let (Some(&first), Some(&last)) = (children[router].first(), children[router].last()) {
            x[router] = (x[first] + x[last]) / 2.0;
        }
    }
    let narrow = if leaves > 24.0 { 0.6 } else { 1.0 };
    let height = (leaves * 4.0).clamp(step, 240.0);
    (0..routers)
        .map(|router| (x[router] * step * narrow, depth[router] as f64 * height))
        .collect()
}

//! Which pairs of nodes a router that is off parts.

use alloc::vec::Vec;

use crate::fabric::labelling::{Labelling, Method};
use crate::fabric::topology::{Topology, walk};

/// The ways of a machine whose boards may stop with their routers.
#[derive(Debug)]
pub(super) struct Ways {
    topology: Topology<'static>,
    method: Method,
    /// Nodes whose boards have stopped.
    stopped: Vec<u16>,
    /// Pairs that nobody was told of.
    parted: Vec<(u16, u16)>,
}

impl Ways {
    pub(super) fn new(topology: &Topology<'_>, method: Method) -> Self {
        Self {
            topology: topology.to_owned(),
            method,
            stopped: Vec::new(),
            parted: Vec::new(),
        }
    }

    /// The board of a node has stopped. If it configures a router, that is off with
    /// it: of several boards at one router it is the first that does.
    pub(super) fn stop(&mut self, node: u16) {
        if self.stopped.contains(&node) {
            return;
        }
        self.stopped.push(node);
        let topology = &self.topology;
        // As when it was booted.
        let Ok(labelling) = Labelling::new(topology, self.method) else {
            return;
        };
        let generators = topology.generators();
        let plug = labelling.generator_of(node);
        let Some(router) = plug
            .and_then(|plug| generators.get(usize::from(plug)))
            .map(|at| at.router)
        else {
            return;
        };
        let first = (0..).zip(generators).find(|(_, at)| at.router == router);
        if first.map(|(generator, _)| generator) != plug {
            return;
        }
        let plugs = || {
            let nodes = 0..generators.len() as u16;
            nodes.filter_map(|node| Some((node, labelling.generator_of(node)?)))
        };
        for (from, plug) in plugs() {
            for (to, _) in plugs().filter(|(to, _)| *to != from) {
                let mut way = walk(topology, &labelling, plug, to);
                if way.any(|hop| hop.is_ok_and(|hop| hop.router == router)) {
                    self.parted.push((from, to));
                }
            }
        }
    }

    pub(super) fn take_partings(&mut self, each: &mut dyn FnMut(u16, u16)) {
        for (a, b) in self.parted.drain(..) {
            each(a, b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(topology: &Topology<'_>, node: u16) -> Vec<(u16, u16)> {
        let mut ways = Ways::new(topology, Method::default());
        ways.stop(node);
        ways.stop(node);
        let mut parted = Vec::new();
        ways.take_partings(&mut |a, b| parted.push((a.min(b), a.max(b))));
        parted.sort_unstable();
        parted.dedup();
        parted
    }

    #[test]
    fn a_board_with_the_router_of_all_parts_all_and_others_nobody() {
        let star = Topology::star(3).unwrap();
        let labelling = Labelling::new(&star, Method::default()).unwrap();
        let owner = labelling.node_of(0).unwrap();
        for node in 0..3 {
            let all = [(0, 1), (0, 2), (1, 2)];
            let expected: &[_] = if node == owner { &all } else { &[] };
            assert_eq!(parted(&star, node), expected, "node {node}");
        }
    }

    #[test]
    fn a_router_in_a_row_parts_those_on_both_sides_of_it() {
        let line = Topology::line(4).unwrap();
        let labelling = Labelling::new(&line, Method::default()).unwrap();
        let at = |node: u16| {
            let plug = labelling.generator_of(node).unwrap();
            line.generators()[usize::from(plug)].router
        };
        let inner = (0..4).find(|node| at(*node) == 1).unwrap();
        let expected: Vec<_> = (0..4)
            .flat_map(|a| (a + 1..4).map(move |b| (a, b)))
            // The others beyond it, 2 and 3, keep each other.
            .filter(|(a, b)| at(*a) < 2 || at(*b) < 2)
            .collect();
        assert_eq!(parted(&line, inner), expected);
    }
}

//! The depth-first labelling of the recorded tool `ir`, step for step, its
//! oddities included (hw/doc/topology.md, "The tool ir"). The recursion is a
//! walk along parent ports, so it needs no stack.

use super::storage::{NO_PORT, check_connected, neighbour, number_generators};
use super::{Label, LabellingError, NodeEntry, RouterLabels};
use crate::fabric::topology::{PORTS, PortId, Topology};

struct Pass<'p, 'a> {
    topology: &'p Topology<'a>,
    routers: &'p mut [RouterLabels],
    nodes: &'p mut [NodeEntry],
    /// The next node number, modulo `count`: after the last one it is 0.
    i: u16,
    count: u16,
    last_group: u16,
    order: u16,
}

pub(super) fn label(
    topology: &Topology<'_>,
    routers: &mut [RouterLabels],
    nodes: &mut [NodeEntry],
) -> Result<(), LabellingError> {
    let count = topology.generators().len() as u16;
    let mut pass = Pass {
        topology,
        routers,
        nodes,
        i: 0,
        count,
        last_group: 0,
        order: 0,
    };
    pass.run();
    check_connected(topology, pass.routers)
}

impl Pass<'_, '_> {
    fn get(&self, router: u16) -> RouterLabels {
        self.routers
            .get(usize::from(router))
            .copied()
            .unwrap_or_default()
    }

    fn with(&mut self, router: u16, change: impl FnOnce(&mut RouterLabels)) {
        if let Some(labels) = self.routers.get_mut(usize::from(router)) {
            change(labels);
        }
    }

    fn run(&mut self) {
        let mut v = 0;
        self.enter(v, NO_PORT);
        loop {
            let port = self.get(v).cursor;
            if port < PORTS {
                v = self.link(v, port);
                continue;
            }
            self.leave(v);
            let Some(up) = self.topology.peer(PortId::new(v, self.get(v).parent)) else {
                break;
            };
            v = up.router;
            self.returned(v);
        }
    }

    /// Steps 1 to 3: the router's number, its processors.
    fn enter(&mut self, v: u16, parent: u8) {
        let t = self.i;
        let mut labels = self.get(v);
        labels.visited = true;
        labels.parent = parent;
        labels.number = t;
        labels.last_group = self.last_group;
        labels.logical = self.order;
        self.order = self.order.wrapping_add(1);
        let got = number_generators(self.topology, v, t, &mut labels, self.nodes);
        if got > 0 {
            self.i = ((u32::from(t) + u32::from(got)) % u32::from(self.count.max(1))) as u16;
            self.last_group = t;
        }
        self.with(v, |slot| *slot = labels);
    }

    /// Step 4 for one port of `v`; the router to go on with.
    fn link(&mut self, v: u16, port: u8) -> u16 {
        let own = self.get(v);
        let Some(peer) = neighbour(self.topology, self.routers, PortId::new(v, port)) else {
            self.with(v, |v| v.cursor += 1);
            return v;
        };
        let w = peer.router;
        let other = self.get(w);
        if !other.visited {
            let i = self.i;
            self.with(v, |v| {
                v.set(port, Label::Bound(i));
                v.scratch = i;
            });
            self.enter(w, peer.port);
            return w;
        }
        if self.topology.has_generator(w) {
            if port != own.parent {
                self.with(v, |v| {
                    v.set(port, Label::Bound(other.number));
                    v.mark |= other.number == 0;
                });
            }
        } else if other.childless {
            self.one_way(v, port);
        } else {
            let later = own.number == other.number && own.logical > other.logical;
            let label = if later {
                other.last_group
            } else {
                other.number
            };
            self.with(v, |v| v.set(port, Label::Bound(label)));
        }
        self.with(v, |v| v.cursor += 1);
        v
    }

    /// Step 4 after the recursion: a router without processors makes the link
    /// to a subtree without processors one-way.
    fn returned(&mut self, v: u16) {
        let own = self.get(v);
        if self.i == own.scratch && !self.topology.has_generator(v) {
            self.one_way(v, own.cursor);
        }
        self.with(v, |v| v.cursor += 1);
    }

    fn one_way(&mut self, v: u16, port: u8) {
        self.with(v, |v| {
            v.set(port, Label::None);
            v.one_way |= 1 << port;
        });
    }

    /// Steps 5 and 6: what is not below `v` lies behind its parent.
    fn leave(&mut self, v: u16) {
        let i = self.i;
        let own = self.get(v);
        let parent = self.topology.peer(PortId::new(v, own.parent));
        let parent_number = parent.map(|parent| self.get(parent.router).number);
        self.with(v, |v| {
            v.childless |= i == v.number;
            if let Some(number) = parent_number {
                let label = if i == 0 && v.mark { number } else { i };
                v.set(v.parent, Label::Bound(label));
            }
        });
    }
}

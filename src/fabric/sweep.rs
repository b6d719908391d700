//! One clock edge: the chips that are due are stepped, and what they leave
//! behind wakes others.

use super::faults::Faults;
use super::news::Watch;
use super::node::{NOWHERE, Node, Router, Schedule};
use super::probe::Probe;
use super::stand_in::{ControllerPins, RouterPins};
use super::wiring::{End, Wire};
use crate::hsl::Line;
use crate::hsl::word::Set;

/// A pass over the chips of a machine at one edge of one of its clocks.
pub(super) struct Sweep<'e, 'a, P> {
    pub(super) nodes: &'e mut [Node<'a>],
    pub(super) routers: &'e mut [Router],
    pub(super) wires: &'e mut [Wire],
    /// Edges of the two clocks so far, this one included.
    pub(super) link: u64,
    pub(super) pci: u64,
    /// Step every chip, due or not.
    pub(super) all: bool,
    /// No chip of the domain has to be stepped before this edge.
    pub(super) link_due: u64,
    pub(super) pci_due: u64,
    /// A watched node has news.
    pub(super) news: bool,
    pub(super) faults: Option<&'e mut Faults<'a>>,
    pub(super) probe: &'e mut P,
}

impl<P: Probe> Sweep<'_, '_, P> {
    /// A link edge of every router and every controller.
    pub(super) fn link_edge(&mut self, scramble: Option<u64>) {
        self.link_due = u64::MAX;
        if let Some(seed) = scramble {
            return self.link_edge_scrambled(seed);
        }
        for router in 0..self.routers.len() {
            self.router(router);
        }
        for node in 0..self.nodes.len() {
            self.node_link(node);
        }
    }

    #[cold]
    #[inline(never)]
    fn link_edge_scrambled(&mut self, seed: u64) {
        let (routers, nodes) = (self.routers.len(), self.nodes.len());
        let order = Order::new(seed, self.link, routers + nodes);
        for i in 0..routers + nodes {
            let i = order.at(i);
            if i < routers {
                self.router(i);
            } else {
                self.node_link(i - routers);
            }
        }
    }

    /// A PCI edge of every board.
    pub(super) fn pci_edge(&mut self, scramble: Option<u64>) {
        self.pci_due = u64::MAX;
        if let Some(seed) = scramble {
            let order = Order::new(seed, self.pci, self.nodes.len());
            for i in 0..self.nodes.len() {
                self.node_pci(order.at(i), order.reversed);
            }
            return;
        }
        for node in 0..self.nodes.len() {
            self.node_pci(node, false);
        }
    }

    #[inline]
    fn router(&mut self, index: usize) {
        let cycle = self.link;
        let Some(router) = self.routers.get_mut(index) else {
            return;
        };
        if !self.all && router.schedule.due > cycle {
            self.link_due = self.link_due.min(router.schedule.due);
            return;
        }
        router.catch_up(cycle - 1);
        let status = router.chip.link_status();
        router.sample(cycle, self.wires);
        if let Some(stand_in) = self.probe.stand_in()
            && let Some(pins) = stand_in.router_edge(index as u16, &router.inputs)
        {
            return self.show_router(index, pins);
        }
        router.chip.step(&router.inputs);
        router.schedule.seen = cycle;
        let outputs = *router.chip.outputs();
        // Sleep when no input can change before somebody writes one. An input
        // that will, at the next edge, is sampled then: probes see the pins.
        let mut due = cycle + 1;
        if outputs.iter().all(|line| line.is_quiet()) && router.inputs_hold(cycle + 1, self.wires) {
            due = due.saturating_add(router.chip.idle_for(&router.inputs));
        }
        router.schedule.due = due;
        self.link_due = self.link_due.min(due);
        let status_changed = router.chip.link_status() != status;
        let tx = router.tx;
        for port in Set(router.cabled) {
            self.drive(tx[port], outputs[port]);
        }
        if status_changed {
            self.tell_status(index);
        }
    }

    /// The edge of a router that somebody plays, who may never be skipped.
    #[cold]
    #[inline(never)]
    fn show_router(&mut self, index: usize, pins: RouterPins) {
        let Some(router) = self.routers.get_mut(index) else {
            return;
        };
        let status_changed = router.link_status() != pins.link_status;
        router.shown = Some(pins);
        router.schedule.seen = self.link;
        router.schedule.due = self.link + 1;
        self.link_due = self.link_due.min(self.link + 1);
        let (tx, cabled) = (router.tx, router.cabled);
        for port in Set(cabled) {
            self.drive(tx[port], pins.outputs[port]);
        }
        if status_changed {
            self.tell_status(index);
        }
    }

    /// The link status of a router has changed: its boards see it at their next
    /// PCI edge.
    #[cold]
    #[inline(never)]
    fn tell_status(&mut self, router: usize) {
        let next = self.pci + 1;
        for node in self.nodes.iter_mut() {
            if usize::from(node.router) == router {
                node.pci_schedule.wake(next);
            }
        }
        self.pci_due = self.pci_due.min(next);
    }

    #[inline]
    fn node_link(&mut self, index: usize) {
        let cycle = self.link;
        let Some(node) = self.nodes.get_mut(index) else {
            return;
        };
        if !self.all && node.link_schedule.due > cycle {
            self.link_due = self.link_due.min(node.link_schedule.due);
            return;
        }
        node.catch_up_link(cycle - 1);
        node.catch_up_pci(self.pci);
        let wire = self.wires.get(usize::from(node.rx)).map(|wire| &wire.line);
        let input = wire.map_or(Line::DEAD, |line| line.read(cycle));
        if let Some(stand_in) = self.probe.stand_in()
            && let Some(pins) = stand_in.controller_link_edge(index as u16, input)
        {
            return self.show_controller(index, pins);
        }
        node.ddc.step_link(input);
        node.link_schedule.seen = cycle;
        let mut due = cycle + 1;
        if wire.is_none_or(|line| line.is_settled(cycle + 1)) {
            node.held = wire.map_or(Line::DEAD, |line| line.last());
            due = due.saturating_add(node.ddc.link_idle_for(node.held));
        }
        node.link_schedule.due = due;
        self.link_due = self.link_due.min(due);
        // The bus side may have something to do now.
        let next = self.pci + 1;
        if node.pci_schedule.due > next {
            let bus = next.saturating_add(node.ddc.pci_idle_for());
            node.pci_schedule.wake(bus);
            self.pci_due = self.pci_due.min(bus);
        }
        let (line, tx) = (node.ddc.link_output(), node.tx);
        self.drive(tx, line);
    }

    /// The link edge of a controller that somebody plays, who may never be
    /// skipped. Its PCI side is due at each PCI edge anyway.
    #[cold]
    #[inline(never)]
    fn show_controller(&mut self, index: usize, pins: ControllerPins) {
        let Some(node) = self.nodes.get_mut(index) else {
            return;
        };
        node.shown = Some(pins);
        node.link_schedule.seen = self.link;
        node.link_schedule.due = self.link + 1;
        self.link_due = self.link_due.min(self.link + 1);
        let tx = node.tx;
        self.drive(tx, pins.link);
    }

    /// What a chip drives after this link edge.
    #[inline]
    fn drive(&mut self, wire: u16, line: Line) {
        match self.wires.get_mut(usize::from(wire)) {
            Some(wire) if wire.fault => wire.offered = line,
            _ => self.send(wire, line),
        }
    }

    /// Puts `line` on a wire after this link edge and wakes who will see it.
    #[inline]
    pub(super) fn send(&mut self, wire: u16, line: Line) {
        let Some(wire) = self.wires.get_mut(usize::from(wire)) else {
            return;
        };
        if !wire.line.write(self.link, line) {
            return;
        }
        let at = self.link + wire.line.delay();
        let schedule: Option<&mut Schedule> = match wire.to {
            Some(End::Node(node)) => self
                .nodes
                .get_mut(usize::from(node))
                .map(|node| &mut node.link_schedule),
            Some(End::Router { router, .. }) => self
                .routers
                .get_mut(usize::from(router))
                .map(|router| &mut router.schedule),
            None => None,
        };
        if let Some(schedule) = schedule {
            schedule.wake(at);
            self.link_due = self.link_due.min(at);
        }
    }

    #[inline]
    fn node_pci(&mut self, index: usize, ddc_first: bool) {
        let cycle = self.pci;
        let Some(node) = self.nodes.get_mut(index) else {
            return;
        };
        if !self.all && node.pci_schedule.due > cycle {
            self.pci_due = self.pci_due.min(node.pci_schedule.due);
            return;
        }
        node.catch_up_pci(cycle - 1);
        node.catch_up_link(self.link);
        // Constant, and the model's pins without a look, when nobody stands in.
        let played = self.probe.stand_in().is_some();
        let router = self.routers.get_mut(usize::from(node.router));
        let status = router.as_ref().map_or(0, |router| match played {
            true => router.link_status(),
            false => router.chip.link_status(),
        });
        if node.fault != NOWHERE
            && let Some(faults) = &mut self.faults
        {
            faults.disturb_bus(node, cycle);
        }
        if node.watch == Watch::Nothing {
            node.step_pci(index as u16, status, ddc_first, self.probe);
        } else {
            let before = node.seen_by_software();
            node.step_pci(index as u16, status, ddc_first, self.probe);
            let played = played && node.shown.is_some();
            node.news |= played || node.seen_by_software() != before;
            self.news |= node.news;
        }
        node.pci_schedule.seen = cycle;
        let played = played && node.shown.is_some();
        let idle = if played { 0 } else { node.pci_idle_for() };
        let due = (cycle + 1).saturating_add(idle);
        let due = due.min(node.fault_due);
        node.pci_schedule.due = due;
        self.pci_due = self.pci_due.min(due);
        // The link side may have something to do now.
        let next = self.link + 1;
        if node.link_schedule.due > next {
            let mut link = next.saturating_add(node.ddc.link_idle_for(node.held));
            // A soft reset takes the parallel port's signal away at once: idle
            // from then on, but the cable has to learn of it.
            let tx = self.wires.get(usize::from(node.tx));
            if tx.is_some_and(|wire| wire.driven() != node.ddc.link_output()) {
                link = next;
            }
            node.link_schedule.wake(link);
            self.link_due = self.link_due.min(link);
        }
        if node.owns_router
            && let Some(router) = router
        {
            let (r3_init, r3_dout) = if played {
                let pins = node.pci_outputs();
                (pins.r3_init, pins.r3_dout)
            } else {
                node.ddc.chain_pins()
            };
            if router.take_chain(r3_init, r3_dout, self.link) {
                self.link_due = self.link_due.min(next);
                if let Some(stand_in) = self.probe.stand_in() {
                    stand_in.router_chain(node.router, r3_init, r3_dout);
                }
            }
        }
    }
}

/// The order in which the chips of an edge are visited, drawn from a seed.
struct Order {
    len: usize,
    start: usize,
    reversed: bool,
}

impl Order {
    fn new(seed: u64, cycle: u64, len: usize) -> Self {
        // The finaliser of SplitMix64 spreads (seed, cycle) over all bits.
        let mut x = seed ^ cycle.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
        let start = if len == 0 { 0 } else { (x >> 1) as usize % len };
        Self {
            len,
            start,
            reversed: x & 1 == 1,
        }
    }

    fn at(&self, i: usize) -> usize {
        let i = if self.reversed { self.len - 1 - i } else { i };
        let i = self.start + i;
        if i >= self.len { i - self.len } else { i }
    }
}

//! The machine that steps it all: nodes, routers, cables, two clocks.
//!
//! [`Machine::step`] carries out one clock edge and is the definition of
//! truth. The `run_*` methods leave out the steps that would change nothing:
//! a chip says for how long it is idle, sleeps, and is woken by a change on
//! one of its cables or by its host. The result is the same, cycle for cycle
//! (held by `tests/fast_paths.rs`). At coincident edges the link clock goes
//! first. Inside an edge the order of the chips does not matter (held by
//! `tests/order.rs`), since all outputs are registers.

use managed::ManagedSlice;

use super::faults::Faults;
use super::host::{Host, HostError};
use super::node::{NOWHERE, Node, Router, Schedule};
use super::probe::{Domain, Edge, NoProbe, Probe};
use super::wiring::{End, Wire};
use crate::hsl::Line;
use crate::time::{Clock, Duration, Frequency, Instant};

/// Clocks and stepping of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct MachineConfig {
    /// The link clock. Default 66 MHz, the board of the published figures.
    pub link: Frequency,
    /// The PCI clock. Default 33.33 MHz.
    pub pci: Frequency,
    /// Whether `run_*` leaves out steps that change nothing. Default true;
    /// the result is the same.
    pub skip_idle: bool,
    /// Visits the chips of each edge in an order drawn from this seed; the
    /// result is the same. Default none: in the order of their numbers.
    pub scramble: Option<u64>,
}

impl Default for MachineConfig {
    fn default() -> Self {
        Self {
            link: Frequency::LINK_66_MHZ,
            pci: Frequency::PCI_33_MHZ,
            skip_idle: true,
            scramble: None,
        }
    }
}

/// The parts of a machine, for probes.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'m, 'a> {
    /// Hosts with their controllers.
    pub nodes: &'m [Node<'a>],
    /// Routers.
    pub routers: &'m [Router],
}

/// Nodes, routers and cables on two clocks. See the [module](self).
#[derive(Debug)]
pub struct Machine<'a, P = NoProbe> {
    pub(super) link: Clock,
    pub(super) pci: Clock,
    now: Instant,
    pub(super) nodes: ManagedSlice<'a, Node<'a>>,
    pub(super) routers: ManagedSlice<'a, Router>,
    pub(super) wires: ManagedSlice<'a, Wire>,
    pub(super) wires_used: usize,
    // No chip of the domain has to be stepped before this edge.
    pub(super) link_due: u64,
    pci_due: u64,
    skip_idle: bool,
    scramble: Option<u64>,
    pub(super) faults: Option<Faults<'a>>,
    probe: P,
}

impl<'a> Machine<'a> {
    /// A machine of these parts, not cabled yet; see
    /// [`connect`](Self::connect). `wires` holds one [`Wire`] for each
    /// direction of each cable, two a cable.
    pub fn new(
        config: MachineConfig,
        nodes: impl Into<ManagedSlice<'a, Node<'a>>>,
        routers: impl Into<ManagedSlice<'a, Router>>,
        wires: impl Into<ManagedSlice<'a, Wire>>,
    ) -> Self {
        Self {
            link: Clock::new(config.link),
            pci: Clock::new(config.pci),
            now: Instant::ZERO,
            nodes: nodes.into(),
            routers: routers.into(),
            wires: wires.into(),
            wires_used: 0,
            link_due: 0,
            pci_due: 0,
            skip_idle: config.skip_idle,
            scramble: config.scramble,
            faults: None,
            probe: NoProbe,
        }
    }

    /// The same machine with a probe.
    pub fn with_probe<P: Probe>(self, probe: P) -> Machine<'a, P> {
        let Machine {
            link,
            pci,
            now,
            nodes,
            routers,
            wires,
            wires_used,
            ..
        } = self;
        let Machine {
            link_due,
            pci_due,
            skip_idle,
            scramble,
            faults,
            ..
        } = self;
        Machine {
            link,
            pci,
            now,
            nodes,
            routers,
            wires,
            wires_used,
            link_due,
            pci_due,
            skip_idle,
            scramble,
            faults,
            probe,
        }
    }
}

impl<'a, P: Probe> Machine<'a, P> {
    /// The present: the last edge, or the end of the last `run_*`.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The frequencies of link clock and PCI clock.
    pub fn clocks(&self) -> [Frequency; 2] {
        [self.link.frequency(), self.pci.frequency()]
    }

    /// Edges of the link clock so far.
    pub fn link_cycle(&self) -> u64 {
        self.link.cycle()
    }

    /// Edges of the PCI clock so far.
    pub fn pci_cycle(&self) -> u64 {
        self.pci.cycle()
    }

    /// The hosts with their controllers.
    pub fn nodes(&self) -> &[Node<'a>] {
        &self.nodes
    }

    /// The routers.
    pub fn routers(&self) -> &[Router] {
        &self.routers
    }

    /// The probe.
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// The probe, to change what it watches.
    pub fn probe_mut(&mut self) -> &mut P {
        &mut self.probe
    }

    /// Gives the probe back and drops the machine.
    pub fn into_probe(self) -> P {
        self.probe
    }

    /// The CPU side of a node: registers, memory, interrupt line, time.
    ///
    /// # Errors
    /// [`HostError::UnknownNode`].
    pub fn host(&mut self, node: u16) -> Result<Host<'_, 'a, P>, HostError> {
        if usize::from(node) < self.nodes.len() {
            Ok(Host::new(self, node))
        } else {
            Err(HostError::UnknownNode {
                node,
                nodes: self.nodes.len(),
            })
        }
    }

    /// Carries out the next clock edge, stepping every chip of its clock.
    pub fn step(&mut self) -> Edge {
        self.catch_up();
        let edge = if self.link.next_edge() <= self.pci.next_edge() {
            self.link_edge(true)
        } else {
            self.pci_edge(true)
        };
        self.catch_up();
        edge
    }

    /// Runs up to and including `end`.
    pub fn run_until(&mut self, end: Instant) {
        while self.advance(end).is_some() {}
        self.finish(end);
    }

    /// Runs for `time`.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    /// Runs until `done` holds after an edge, or to the end of `limit`; true
    /// when it held. `done` is also asked once at the start. While the run goes
    /// on it sees memory, registers and pins as they are; counters of sleeping
    /// chips may lag.
    pub fn run_while_not(&mut self, limit: Duration, mut done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + limit;
        let mut held = done(self);
        while !held {
            if self.advance(end).is_none() {
                self.finish(end);
                return false;
            }
            held = done(self);
        }
        self.catch_up();
        true
    }

    /// The next edge that matters, at or before `end`.
    fn advance(&mut self, end: Instant) -> Option<Edge> {
        let (link, pci) = if self.skip_idle {
            (
                due_at(&self.link, self.link_due),
                due_at(&self.pci, self.pci_due),
            )
        } else {
            (self.link.next_edge(), self.pci.next_edge())
        };
        let at = link.min(pci);
        if at > end || at == FOREVER {
            return None;
        }
        let before = Instant::from_ps(at.ps().saturating_sub(1));
        Some(if link <= pci {
            pass(&mut self.pci, before);
            pass(&mut self.link, before);
            self.link_edge(!self.skip_idle)
        } else {
            pass(&mut self.link, at);
            pass(&mut self.pci, before);
            self.pci_edge(!self.skip_idle)
        })
    }

    fn finish(&mut self, end: Instant) {
        pass(&mut self.link, end);
        pass(&mut self.pci, end);
        self.now = self.now.max(end);
        self.catch_up();
    }

    /// Lets every chip see the edges it slept through.
    fn catch_up(&mut self) {
        let (link, pci) = (self.link.cycle(), self.pci.cycle());
        for router in self.routers.iter_mut() {
            router.catch_up(link);
        }
        for node in self.nodes.iter_mut() {
            node.catch_up_link(link, &self.wires);
            node.catch_up_pci(pci);
        }
    }

    fn link_edge(&mut self, all: bool) -> Edge {
        let at = self.link.next_edge();
        self.link.tick();
        self.now = at;
        let cycle = self.link.cycle();
        self.link_due = u64::MAX;
        let (routers, nodes) = (self.routers.len(), self.nodes.len());
        let order = Order::new(self.scramble, cycle, routers + nodes);
        for i in 0..routers + nodes {
            let i = order.at(i);
            if i < routers {
                self.visit_router(i, cycle, all);
            } else {
                self.visit_node_link(i - routers, cycle, all);
            }
        }
        if self.faults.is_some() {
            self.disturb_cables(cycle);
        }
        let edge = Edge {
            domain: Domain::Link,
            cycle,
            at,
        };
        self.probe.after_edge(
            edge,
            Parts {
                nodes: &self.nodes,
                routers: &self.routers,
            },
        );
        edge
    }

    fn visit_router(&mut self, index: usize, cycle: u64, all: bool) {
        let Some(router) = self.routers.get_mut(index) else {
            return;
        };
        if !all && router.schedule.due > cycle {
            self.link_due = self.link_due.min(router.schedule.due);
            return;
        }
        router.catch_up(cycle - 1);
        let status = router.chip.link_status();
        router.sample(cycle, &self.wires);
        router.chip.step(&router.inputs);
        router.schedule.seen = cycle;
        let (outputs, tx) = (*router.chip.outputs(), router.tx);
        let status_changed = router.chip.link_status() != status;
        // Sleep when no input can change before somebody writes one.
        let mut due = cycle + 1;
        if router.inputs_settled(cycle + 1, &self.wires) {
            router.sample(cycle + 1, &self.wires);
            due = due.saturating_add(router.chip.idle_for(&router.inputs));
        }
        router.schedule.due = due;
        self.link_due = self.link_due.min(due);
        for (line, wire) in outputs.into_iter().zip(tx) {
            self.drive(wire, cycle, line);
        }
        if status_changed {
            let next = self.pci.cycle() + 1;
            for node in self
                .nodes
                .iter_mut()
                .filter(|n| usize::from(n.router) == index)
            {
                node.pci_schedule.wake(next);
            }
            self.pci_due = self.pci_due.min(next);
        }
    }

    fn visit_node_link(&mut self, index: usize, cycle: u64, all: bool) {
        let pci_cycle = self.pci.cycle();
        let Some(node) = self.nodes.get_mut(index) else {
            return;
        };
        if !all && node.link_schedule.due > cycle {
            self.link_due = self.link_due.min(node.link_schedule.due);
            return;
        }
        node.catch_up_link(cycle - 1, &self.wires);
        node.catch_up_pci(pci_cycle);
        let wire = self.wires.get(usize::from(node.rx));
        node.ddc
            .step_link(wire.map_or(Line::DEAD, |wire| wire.line.read(cycle)));
        node.link_schedule.seen = cycle;
        let mut due = cycle + 1;
        if wire.is_none_or(|wire| wire.line.is_settled(cycle + 1)) {
            let held = wire.map_or(Line::DEAD, |wire| wire.line.last());
            due = due.saturating_add(node.ddc.link_idle_for(held));
        }
        node.link_schedule.due = due;
        self.link_due = self.link_due.min(due);
        // The bus side may have something to do now.
        let bus = (pci_cycle + 1).saturating_add(node.ddc.pci_idle_for());
        node.pci_schedule.wake(bus);
        self.pci_due = self.pci_due.min(bus);
        let (line, tx) = (node.ddc.link_output(), node.tx);
        self.drive(tx, cycle, line);
    }

    /// What a chip drives after edge `cycle`.
    pub(super) fn drive(&mut self, wire: u16, cycle: u64, line: Line) {
        match self.wires.get_mut(usize::from(wire)) {
            Some(wire) if wire.fault => wire.offered = line,
            _ => self.send(wire, cycle, line),
        }
    }

    /// Puts `line` on a wire after edge `cycle` and wakes who will see it.
    pub(super) fn send(&mut self, wire: u16, cycle: u64, line: Line) {
        let Some(wire) = self.wires.get_mut(usize::from(wire)) else {
            return;
        };
        if !wire.line.write(cycle, line) {
            return;
        }
        let at = cycle + wire.line.delay();
        let schedule: Option<&mut Schedule> = match wire.to {
            Some(End::Node(node)) => self
                .nodes
                .get_mut(usize::from(node))
                .map(|n| &mut n.link_schedule),
            Some(End::Router { router, .. }) => self
                .routers
                .get_mut(usize::from(router))
                .map(|r| &mut r.schedule),
            None => None,
        };
        if let Some(schedule) = schedule {
            schedule.wake(at);
            self.link_due = self.link_due.min(at);
        }
    }

    fn pci_edge(&mut self, all: bool) -> Edge {
        let at = self.pci.next_edge();
        self.pci.tick();
        self.now = at;
        let cycle = self.pci.cycle();
        self.pci_due = u64::MAX;
        let order = Order::new(self.scramble, cycle, self.nodes.len());
        for i in 0..self.nodes.len() {
            self.visit_node_pci(order.at(i), cycle, all, order.reversed);
        }
        let edge = Edge {
            domain: Domain::Pci,
            cycle,
            at,
        };
        self.probe.after_edge(
            edge,
            Parts {
                nodes: &self.nodes,
                routers: &self.routers,
            },
        );
        edge
    }

    fn visit_node_pci(&mut self, index: usize, cycle: u64, all: bool, ddc_first: bool) {
        let link_cycle = self.link.cycle();
        let Some(node) = self.nodes.get_mut(index) else {
            return;
        };
        if !all && node.pci_schedule.due > cycle {
            self.pci_due = self.pci_due.min(node.pci_schedule.due);
            return;
        }
        node.catch_up_pci(cycle - 1);
        node.catch_up_link(link_cycle, &self.wires);
        let router = self.routers.get_mut(usize::from(node.router));
        let status = router
            .as_ref()
            .map_or(0, |router| router.chip.link_status());
        if node.fault != NOWHERE
            && let Some(faults) = &mut self.faults
        {
            faults.disturb_bus(node, cycle);
        }
        node.step_pci(status, ddc_first);
        node.pci_schedule.seen = cycle;
        let due = (cycle + 1).saturating_add(node.pci_idle_for());
        let due = due.min(node.fault_due);
        node.pci_schedule.due = due;
        self.pci_due = self.pci_due.min(due);
        // The link side may have something to do now.
        let wire = self.wires.get(usize::from(node.rx));
        let held = wire.map_or(Line::DEAD, |wire| wire.line.last());
        let link = (link_cycle + 1).saturating_add(node.ddc.link_idle_for(held));
        node.link_schedule.wake(link);
        self.link_due = self.link_due.min(link);
        if node.owns_router
            && let Some(router) = router
            && router.take_chain(node.ddc.pci_outputs(), link_cycle)
        {
            self.link_due = self.link_due.min(link_cycle + 1);
        }
    }

    /// Tells the machine that a host has given `node`'s bridge work to do.
    pub(super) fn wake_bus(&mut self, node: u16) {
        let next = self.pci.cycle() + 1;
        if let Some(node) = self.nodes.get_mut(usize::from(node)) {
            node.pci_schedule.wake(next);
            self.pci_due = self.pci_due.min(next);
        }
    }

    /// Forgets what is known of idle chips; after a change of the cabling.
    pub(super) fn wake_all(&mut self) {
        for node in self.nodes.iter_mut() {
            node.link_schedule.due = 0;
            node.pci_schedule.due = 0;
        }
        for router in self.routers.iter_mut() {
            router.schedule.due = 0;
        }
        self.link_due = 0;
        self.pci_due = 0;
    }
}

const FOREVER: Instant = Instant::from_ps(u64::MAX);

/// When edge `due` of a clock falls; its next edge when that is later.
fn due_at(clock: &Clock, due: u64) -> Instant {
    if due <= clock.cycle() + 1 {
        clock.next_edge()
    } else if due == u64::MAX {
        FOREVER
    } else {
        clock.frequency().edge(due)
    }
}

/// Passes the edges of a clock up to and including `time`.
fn pass(clock: &mut Clock, time: Instant) {
    if clock.next_edge() <= time {
        clock.skip(clock.edges_until(time));
    }
}

/// The order in which the chips of an edge are visited.
struct Order {
    len: usize,
    start: usize,
    reversed: bool,
}

impl Order {
    fn new(seed: Option<u64>, cycle: u64, len: usize) -> Self {
        let Some(seed) = seed else {
            return Self {
                len,
                start: 0,
                reversed: false,
            };
        };
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

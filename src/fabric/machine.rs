//! The machine that steps it all: nodes, routers, cables, two clocks.

use managed::ManagedSlice;

use super::faults::Faults;
use super::host::{Host, HostError};
use super::node::{Node, Router};
use super::probe::{Domain, Edge, NoProbe, Probe};
use super::sweep::Sweep;
use super::wiring::Wire;
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

/// Nodes, routers and cables on two clocks.
///
/// [`step`](Self::step) carries out one clock edge and is the definition of
/// truth. The `run_*` methods leave out the steps that would change nothing:
/// a chip says for how long it is idle, sleeps, and is woken by a change on
/// one of its cables or by its host. The result is the same, cycle for cycle
/// (held by `tests/fast_paths.rs`). At coincident edges the link clock goes
/// first. Inside an edge the order of the chips does not matter (held by
/// `tests/order.rs`), since all outputs are registers.
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
    /// A watched node has news.
    pub(super) news: bool,
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
            news: false,
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
            news,
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
            news,
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
    #[inline]
    pub(super) fn advance(&mut self, end: Instant) -> Option<Edge> {
        let [link, pci] = self.due();
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

    /// When each clock has an edge that matters; [`FOREVER`]: never.
    #[inline]
    pub(super) fn due(&self) -> [Instant; 2] {
        if self.skip_idle {
            [
                due_at(&self.link, self.link_due),
                due_at(&self.pci, self.pci_due),
            ]
        } else {
            [self.link.next_edge(), self.pci.next_edge()]
        }
    }

    pub(super) fn finish(&mut self, end: Instant) {
        pass(&mut self.link, end);
        pass(&mut self.pci, end);
        self.now = self.now.max(end);
        self.catch_up();
    }

    /// Lets every chip see the edges it slept through.
    pub(super) fn catch_up(&mut self) {
        let (link, pci) = (self.link.cycle(), self.pci.cycle());
        for router in self.routers.iter_mut() {
            router.catch_up(link);
        }
        for node in self.nodes.iter_mut() {
            node.catch_up_link(link);
            node.catch_up_pci(pci);
        }
    }

    fn link_edge(&mut self, all: bool) -> Edge {
        let at = self.link.next_edge();
        self.link.tick();
        let scramble = self.scramble;
        self.sweep(all, |sweep| sweep.link_edge(scramble));
        if self.faults.is_some() {
            self.disturb_cables(self.link.cycle());
        }
        self.report(Edge {
            domain: Domain::Link,
            cycle: self.link.cycle(),
            at,
        })
    }

    fn pci_edge(&mut self, all: bool) -> Edge {
        let at = self.pci.next_edge();
        self.pci.tick();
        let scramble = self.scramble;
        self.sweep(all, |sweep| sweep.pci_edge(scramble));
        self.report(Edge {
            domain: Domain::Pci,
            cycle: self.pci.cycle(),
            at,
        })
    }

    #[inline]
    fn sweep(&mut self, all: bool, pass: impl FnOnce(&mut Sweep<'_, 'a, P>)) {
        let mut sweep = Sweep {
            nodes: &mut self.nodes,
            routers: &mut self.routers,
            wires: &mut self.wires,
            link: self.link.cycle(),
            pci: self.pci.cycle(),
            all,
            link_due: self.link_due,
            pci_due: self.pci_due,
            news: false,
            faults: self.faults.as_mut(),
            probe: &mut self.probe,
        };
        pass(&mut sweep);
        (self.link_due, self.pci_due) = (sweep.link_due, sweep.pci_due);
        self.news |= sweep.news;
    }

    /// Puts `line` on a wire after link edge `cycle`, past its faults.
    pub(super) fn send(&mut self, wire: u16, cycle: u64, line: Line) {
        self.sweep(false, |sweep| {
            sweep.link = cycle;
            sweep.send(wire, line);
        });
    }

    #[inline]
    fn report(&mut self, edge: Edge) -> Edge {
        self.now = edge.at;
        let parts = Parts {
            nodes: &self.nodes,
            routers: &self.routers,
        };
        self.probe.after_edge(edge, parts);
        edge
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

pub(super) const FOREVER: Instant = Instant::from_ps(u64::MAX);

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

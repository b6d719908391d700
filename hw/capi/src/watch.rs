//! Pins of a machine that are watched, and what happened to them.

use std::collections::VecDeque;

use multipc::fabric::{Domain, Edge, Parts, Probe};

/// The link clock: routers, cables, the link side of the controllers.
pub const MULTIPC_CLOCK_LINK: u32 = 0;
/// The PCI clock: buses, host bridges, the PCI side of the controllers.
pub const MULTIPC_CLOCK_PCI: u32 = 1;

/// INTA# of a node, 0 is asserted.
pub const MULTIPC_PIN_INTA: u32 = 1;
/// REQ# of a node's controller, 0 is asserted.
pub const MULTIPC_PIN_REQ: u32 = 2;
/// The link status of a router, 8 bits.
pub const MULTIPC_PIN_LINK_STATUS: u32 = 4;
/// The line that a port of a router drives.
pub const MULTIPC_PIN_LINE: u32 = 8;

/// Most events that wait to be taken; more are lost and counted.
pub const MULTIPC_EVENTS_MAX: usize = 65536;

/// A watched pin has changed.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_event {
    /// The edge of `clock` after which the pin carries `after`, from 1.
    pub cycle: u64,
    /// When that edge is, in picoseconds.
    pub time_ps: u64,
    /// `MULTIPC_CLOCK_...`.
    pub clock: u32,
    /// `MULTIPC_PIN_...`.
    pub pin: u32,
    /// The node or the router.
    pub index: u32,
    /// The port of `MULTIPC_PIN_LINE`, else 0.
    pub port: u32,
    /// What it carried.
    pub before: u32,
    /// What it carries.
    pub after: u32,
}

/// What was seen last, and what changed since somebody asked.
pub(crate) struct Watch {
    mask: u32,
    nodes: Vec<[u32; 2]>,
    routers: Vec<[u32; 9]>,
    events: VecDeque<multipc_event>,
    lost: u64,
}

impl Watch {
    pub(crate) const KNOWN: u32 =
        MULTIPC_PIN_INTA | MULTIPC_PIN_REQ | MULTIPC_PIN_LINK_STATUS | MULTIPC_PIN_LINE;

    pub(crate) fn nothing() -> Self {
        Self {
            mask: 0,
            nodes: Vec::new(),
            routers: Vec::new(),
            events: VecDeque::new(),
            lost: 0,
        }
    }

    /// Watches these kinds of pin from now on.
    pub(crate) fn set(mask: u32, parts: Parts<'_, '_>) -> Self {
        let mut watch = Self::nothing();
        watch.nodes = parts.nodes.iter().map(node).collect();
        watch.routers = parts.routers.iter().map(router).collect();
        watch.mask = mask;
        watch
    }

    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Moves the oldest events out; how many.
    pub(crate) fn take(&mut self, out: &mut [multipc_event]) -> usize {
        let n = self.events.len().min(out.len());
        for (slot, event) in out.iter_mut().zip(self.events.drain(..n)) {
            *slot = event;
        }
        n
    }

    fn note(&mut self, event: multipc_event) {
        if self.mask & event.pin == 0 || event.before == event.after {
            return;
        }
        if self.events.len() < MULTIPC_EVENTS_MAX {
            self.events.push_back(event);
        } else {
            self.lost = self.lost.saturating_add(1);
        }
    }
}

/// INTA# and REQ#.
fn node(node: &multipc::fabric::Node<'_>) -> [u32; 2] {
    let pins = node.ddc().pci_outputs();
    [pins.inta_n.into(), pins.req_n.into()]
}

/// Link status, then the lines.
fn router(router: &multipc::fabric::Router) -> [u32; 9] {
    let mut pins = [0; 9];
    let (status, lines) = (router.chip().link_status(), router.chip().outputs());
    let values = core::iter::once(u32::from(status)).chain(lines.iter().map(|l| l.bits().into()));
    for (pin, value) in pins.iter_mut().zip(values) {
        *pin = value;
    }
    pins
}

impl Probe for Watch {
    fn after_edge(&mut self, edge: Edge, parts: Parts<'_, '_>) {
        if self.mask == 0 {
            return;
        }
        let event = |clock, pin, index: usize, port: usize, before, after| multipc_event {
            cycle: edge.cycle,
            time_ps: edge.at.ps(),
            clock,
            pin,
            index: index as u32,
            port: port as u32,
            before,
            after,
        };
        match edge.domain {
            Domain::Pci => {
                for index in 0..self.nodes.len().min(parts.nodes.len()) {
                    let now = node(&parts.nodes[index]);
                    let was = core::mem::replace(&mut self.nodes[index], now);
                    let kinds = [MULTIPC_PIN_INTA, MULTIPC_PIN_REQ];
                    for ((pin, was), now) in kinds.into_iter().zip(was).zip(now) {
                        self.note(event(MULTIPC_CLOCK_PCI, pin, index, 0, was, now));
                    }
                }
            }
            Domain::Link => {
                for index in 0..self.routers.len().min(parts.routers.len()) {
                    let now = router(&parts.routers[index]);
                    let was = core::mem::replace(&mut self.routers[index], now);
                    for (at, (was, now)) in was.into_iter().zip(now).enumerate() {
                        let (pin, port) = match at {
                            0 => (MULTIPC_PIN_LINK_STATUS, 0),
                            port => (MULTIPC_PIN_LINE, port - 1),
                        };
                        self.note(event(MULTIPC_CLOCK_LINK, pin, index, port, was, now));
                    }
                }
            }
        }
    }
}

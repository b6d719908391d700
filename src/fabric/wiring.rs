//! Which pin goes to which: cables between routers and controllers.

use core::fmt;

use super::channel::{Channel, DelayError};
use super::machine::Machine;
use super::node::NOWHERE;
use super::probe::Probe;
use crate::hsl::Line;
use crate::time::Duration;

/// One end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum End {
    /// The parallel port of a node's PCI-DDC.
    Node(u16),
    /// A port of a router.
    Router {
        /// The router's number.
        router: u16,
        /// 0..=7.
        port: u8,
    },
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => write!(f, "node {node}"),
            Self::Router { router, port } => write!(f, "router {router} port {port}"),
        }
    }
}

/// One direction of a cable: the delay line and the chip that reads it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
// A short cable is one line of the cache.
#[repr(C, align(64))]
pub struct Wire {
    pub(super) to: Option<End>,
    /// Faults stand between what the near end drives and the line.
    pub(super) fault: bool,
    pub(super) offered: Line,
    pub(super) line: Channel,
}

impl Wire {
    /// A free wire, for the storage of [`Machine::new`].
    pub const fn free() -> Self {
        Self {
            to: None,
            fault: false,
            offered: Line::DEAD,
            line: Channel::DIRECT,
        }
    }

    /// What its near end drives.
    pub(super) fn driven(&self) -> Line {
        if self.fault {
            self.offered
        } else {
            self.line.last()
        }
    }
}

/// A cable that cannot be laid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WiringError {
    /// An end that the machine does not have.
    NoSuchEnd {
        /// The offending end.
        end: End,
        /// Nodes of the machine.
        nodes: usize,
        /// Routers of the machine.
        routers: usize,
    },
    /// An end with a cable on it already.
    InUse {
        /// The offending end.
        end: End,
    },
    /// Both ends are nodes, or both are the same port.
    Senseless {
        /// One end.
        a: End,
        /// The other.
        b: End,
    },
    /// The storage holds no two further wires.
    NoWireLeft {
        /// Wires in the storage.
        wires: usize,
    },
    /// The cable is too long.
    Delay(DelayError),
}

impl fmt::Display for WiringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEnd {
                end,
                nodes,
                routers,
            } => write!(
                f,
                "cable to {end}: the machine has {nodes} nodes and {routers} routers of ports 0..=7"
            ),
            Self::InUse { end } => write!(f, "cable to {end}, which has one already"),
            Self::Senseless { a, b } => write!(
                f,
                "cable from {a} to {b}: one end must be a router port, and the ends must differ"
            ),
            Self::NoWireLeft { wires } => {
                write!(f, "no wire left of {wires}: a cable takes two")
            }
            Self::Delay(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for WiringError {}

impl From<DelayError> for WiringError {
    fn from(error: DelayError) -> Self {
        Self::Delay(error)
    }
}

impl<P: Probe> Machine<'_, P> {
    /// Lays a cable of `wire` delay between two ends.
    ///
    /// A node on a router port is the board connection by the parallel port;
    /// the first node that is attached to a router also gets its configuration
    /// chain.
    ///
    /// # Errors
    /// [`WiringError`]; nothing is changed then.
    pub fn connect(&mut self, a: End, b: End, wire: Duration) -> Result<(), WiringError> {
        for end in [a, b] {
            if !is_nowhere(self.transmit_wire(end)?) {
                return Err(WiringError::InUse { end });
            }
        }
        if a == b || matches!((a, b), (End::Node(_), End::Node(_))) {
            return Err(WiringError::Senseless { a, b });
        }
        let channel = Channel::for_wire(wire, self.link.frequency())?;
        let first = self.wires_used;
        if self.wires.len() < first + 2 || first + 2 > usize::from(NOWHERE) {
            return Err(WiringError::NoWireLeft {
                wires: self.wires.len(),
            });
        }
        for (offset, to) in [(0, b), (1, a)] {
            if let Some(slot) = self.wires.get_mut(first + offset) {
                *slot = Wire {
                    line: channel.clone(),
                    to: Some(to),
                    ..Wire::free()
                };
            }
        }
        self.wires_used += 2;
        self.plug(a, first as u16, first as u16 + 1);
        self.plug(b, first as u16 + 1, first as u16);
        for (node, end) in [(a, b), (b, a)] {
            if let (End::Node(node), End::Router { router, .. }) = (node, end) {
                self.attach(node, router);
            }
        }
        self.wake_all();
        Ok(())
    }

    fn transmit_wire(&self, end: End) -> Result<u16, WiringError> {
        let wire = match end {
            End::Node(node) => self.nodes.get(usize::from(node)).map(|node| node.tx),
            End::Router { router, port } => self
                .routers
                .get(usize::from(router))
                .and_then(|router| router.tx.get(usize::from(port)))
                .copied(),
        };
        wire.ok_or(WiringError::NoSuchEnd {
            end,
            nodes: self.nodes.len(),
            routers: self.routers.len(),
        })
    }

    fn plug(&mut self, end: End, tx: u16, rx: u16) {
        match end {
            End::Node(node) => {
                if let Some(node) = self.nodes.get_mut(usize::from(node)) {
                    (node.tx, node.rx) = (tx, rx);
                }
            }
            End::Router { router, port } => {
                if let Some(router) = self.routers.get_mut(usize::from(router)) {
                    let port = usize::from(port & 7);
                    (router.tx[port], router.rx[port]) = (tx, rx);
                    router.cabled |= 1 << port;
                }
            }
        }
    }

    fn attach(&mut self, node: u16, router: u16) {
        let Some(chip) = self.routers.get_mut(usize::from(router)) else {
            return;
        };
        let Some(board) = self.nodes.get_mut(usize::from(node)) else {
            return;
        };
        board.router = router;
        if is_nowhere(chip.owner) {
            chip.owner = node;
            board.owns_router = true;
        }
    }
}

const fn is_nowhere(index: u16) -> bool {
    index == NOWHERE
}

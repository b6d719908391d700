//! What is kept of each router and node while labelling and after, and the
//! steps that all methods share.

use super::{Intervals, LabellingError, check};
use crate::fabric::topology::{PORTS, Port, PortId, Topology};

/// What the labelling says of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Label {
    /// Not used as an output.
    #[default]
    None,
    /// Takes the headers from this one up to the router's next label.
    Bound(u16),
    /// A cable parallel to the one on this port, whose label it shares.
    Alias(u8),
}

/// Storage for one router while labelling and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RouterLabels {
    pub(super) labels: [Label; PORTS as usize],
    pub(super) intervals: Intervals,
    /// Ports whose link became one-way.
    pub(super) one_way: u8,
    /// Ports that all lead on to wherever one of them does, whatever their
    /// labels: an adaptive table may offer all of them.
    pub(super) alike: u8,
    pub(super) visited: bool,
    /// `ir`: flag bit 0 (nothing below) and mark (a short cut to node 0).
    pub(super) childless: bool,
    pub(super) mark: bool,
    /// Port to the parent, or `NO_PORT`.
    pub(super) parent: u8,
    /// The port whose subtree is being labelled.
    pub(super) cursor: u8,
    pub(super) number: u16,
    pub(super) logical: u16,
    pub(super) last_group: u16,
    /// `ir`: the counter before the recursion. Tree: next router of the queue.
    pub(super) scratch: u16,
    pub(super) check: check::Scratch,
}

pub(super) const NO_PORT: u8 = u8::MAX;

impl RouterLabels {
    /// Nothing labelled yet.
    pub const EMPTY: Self = Self {
        labels: [Label::None; PORTS as usize],
        intervals: Intervals::NONE,
        one_way: 0,
        alike: 0,
        visited: false,
        childless: false,
        mark: false,
        parent: NO_PORT,
        cursor: 0,
        number: 0,
        logical: 0,
        last_group: 0,
        scratch: 0,
        check: check::Scratch::EMPTY,
    };

    pub(super) fn label(&self, port: u8) -> Label {
        self.labels
            .get(usize::from(port))
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn set(&mut self, port: u8, label: Label) {
        if let Some(slot) = self.labels.get_mut(usize::from(port)) {
            *slot = label;
        }
    }

    /// The lowest port with the label of this one that is not parallel to it.
    pub(super) fn shared_with(&self, port: u8) -> Option<u8> {
        match self.label(port) {
            label @ Label::Bound(_) => (0..port).find(|&other| self.label(other) == label),
            Label::None | Label::Alias(_) => None,
        }
    }

    /// The label of a port, through its aliases (at most 7 of them).
    pub(super) fn bound(&self, port: u8) -> Option<u16> {
        let mut port = port;
        for _ in 0..PORTS {
            match self.label(port) {
                Label::None => return None,
                Label::Bound(bound) => return Some(bound),
                Label::Alias(of) => port = of,
            }
        }
        None
    }
}

impl Default for RouterLabels {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Storage for one node number: entry `i` holds the generator of node `i` and
/// the node of generator `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NodeEntry {
    pub(super) generator: u16,
    pub(super) node: u16,
}

/// Of parallel cables only the newest gets a label; the older ones become
/// aliases of it.
pub(super) fn mark_aliases(topology: &Topology<'_>, routers: &mut [RouterLabels]) {
    for (cable, spec) in (0..=u16::MAX).zip(topology.cables()) {
        let [a, b] = spec.ends;
        for (near, far) in [(a, b), (b, a)] {
            let Some(labels) = routers.get_mut(usize::from(near.router)) else {
                continue;
            };
            for (port, content) in (0u8..).zip(topology.ports(near.router)) {
                let older = matches!(*content, Port::Cable { cable: other, peer }
                    if other < cable && peer.router == far.router);
                if older && port != near.port && labels.label(port) == Label::None {
                    labels.set(port, Label::Alias(near.port));
                }
            }
        }
    }
}

/// Numbers the generators of `router` from `next` on, each with its own number
/// as the label of its port; returns how many there were.
pub(super) fn number_generators(
    topology: &Topology<'_>,
    router: u16,
    next: u16,
    labels: &mut RouterLabels,
    nodes: &mut [NodeEntry],
) -> u16 {
    let mut count = 0;
    for (port, content) in (0u8..).zip(topology.ports(router)) {
        let Port::Generator(generator) = *content else {
            continue;
        };
        let node = next.wrapping_add(count);
        labels.set(port, Label::Bound(node));
        if let Some(entry) = nodes.get_mut(usize::from(node)) {
            entry.generator = generator;
        }
        if let Some(entry) = nodes.get_mut(usize::from(generator)) {
            entry.node = node;
        }
        count += 1;
    }
    count
}

/// The router behind a cable that may carry a label: not parallel to a newer
/// one, not back to the same router.
pub(super) fn neighbour(
    topology: &Topology<'_>,
    labels: &[RouterLabels],
    at: PortId,
) -> Option<PortId> {
    let peer = topology.peer(at)?;
    let own = labels.get(usize::from(at.router))?;
    let usable = peer.router != at.router && !matches!(own.label(at.port), Label::Alias(_));
    usable.then_some(peer)
}

/// Every generator must have been met from the first router.
pub(super) fn check_connected(
    topology: &Topology<'_>,
    routers: &[RouterLabels],
) -> Result<(), LabellingError> {
    let unseen = |router: u16| {
        routers
            .get(usize::from(router))
            .is_none_or(|labels| !labels.visited)
    };
    match (0..=u16::MAX)
        .zip(topology.generators())
        .find(|(_, at)| unseen(at.router))
    {
        None => Ok(()),
        Some((generator, at)) => Err(LabellingError::Disconnected {
            generator,
            router: at.router,
        }),
    }
}

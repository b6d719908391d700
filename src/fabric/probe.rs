//! Watching a run from outside.

use super::machine::Parts;
use super::stand_in::StandIn;
use crate::time::Instant;

/// The clock of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Domain {
    /// The link clock: routers, cables, the link side of PCI-DDC.
    Link,
    /// The PCI clock: buses, host bridges, the PCI side of PCI-DDC.
    Pci,
}

/// One clock edge of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Edge {
    /// Which clock.
    pub domain: Domain,
    /// The number of this edge, from 1.
    pub cycle: u64,
    /// When.
    pub at: Instant,
}

/// Called after each edge that the machine carries out. Edges at which nothing
/// can change are skipped and not reported; while a chip sleeps its pins stand
/// still.
pub trait Probe {
    /// Looks at the machine after `edge`.
    fn after_edge(&mut self, edge: Edge, parts: Parts<'_, '_>);

    /// Who plays chips of this machine; none by default, which costs nothing.
    #[inline(always)]
    fn stand_in(&mut self) -> Option<&mut dyn StandIn> {
        None
    }
}

/// No probe: costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoProbe;

impl Probe for NoProbe {
    #[inline(always)]
    fn after_edge(&mut self, _: Edge, _: Parts<'_, '_>) {}
}

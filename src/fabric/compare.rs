//! Two machines compared, bit for bit.

use super::machine::Machine;
use super::probe::Probe;

/// The first thing in which two machines differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Difference {
    /// The number of nodes, routers or wires.
    Shape,
    /// The present, or the state of a clock.
    Time,
    /// The memory of this node.
    Memory(usize),
    /// The PCI-DDC of this node.
    Ddc(usize),
    /// The host bridge or the bus of this node.
    Bus(usize),
    /// This router.
    Router(usize),
    /// What is under way on this wire.
    Wire(usize),
    /// The faults, or what they have done.
    Faults,
}

impl<P: Probe> Machine<'_, P> {
    /// The first difference to another machine in anything that can influence
    /// or be seen in a run; none when both will behave the same for ever.
    pub fn difference<Q: Probe>(&self, other: &Machine<'_, Q>) -> Option<Difference> {
        if self.nodes.len() != other.nodes.len()
            || self.routers.len() != other.routers.len()
            || self.wires_used != other.wires_used
        {
            return Some(Difference::Shape);
        }
        if self.now() != other.now() || self.link != other.link || self.pci != other.pci {
            return Some(Difference::Time);
        }
        for (i, (a, b)) in self.nodes.iter().zip(other.nodes.iter()).enumerate() {
            if a.memory != b.memory {
                return Some(Difference::Memory(i));
            }
            if a.ddc != b.ddc {
                return Some(Difference::Ddc(i));
            }
            // The bus of a sleeping board is idle whenever it is looked at.
            if a.bridge != b.bridge || a.bus != b.bus {
                return Some(Difference::Bus(i));
            }
        }
        for (i, (a, b)) in self.routers.iter().zip(other.routers.iter()).enumerate() {
            if a.chip != b.chip {
                return Some(Difference::Router(i));
            }
        }
        let same = match (&self.faults, &other.faults) {
            (Some(a), Some(b)) => a.same(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !same {
            return Some(Difference::Faults);
        }
        let cycle = self.link_cycle();
        self.wires
            .iter()
            .zip(other.wires.iter())
            .take(self.wires_used)
            .position(|(a, b)| !a.line.same_after(&b.line, cycle))
            .map(Difference::Wire)
    }
}

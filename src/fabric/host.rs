//! The CPU side of a node: what a driver runs on.

use core::convert::Infallible;
use core::fmt;

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{ErrorType, InputPin};

use super::machine::Machine;
use super::probe::{NoProbe, Probe};
use crate::ddc::Ddc;
use crate::mem::OutOfMemory;
use crate::pci::{BridgeError, ConfigAccess, ConfigEnd, ConfigOutcome};
use crate::time::{Duration, Instant};

/// PCI cycles after which a configuration access is given up. A bus that a
/// controller may hold for its whole latency timer (255 cycles) answers long
/// before.
const ACCESS_LIMIT_CYCLES: u64 = 1 << 16;

/// One node's CPU: registers by configuration accesses that take their bus
/// cycles, memory, the interrupt line, and time. Borrowed for each use, so
/// that many drivers share one machine.
///
/// It offers what the driver's traits ask for (`put::RegisterPort`,
/// `put::DmaMemory`), `embedded_hal`'s `InputPin` for INTA# and `DelayNs`.
#[derive(Debug)]
pub struct Host<'m, 'a, P = NoProbe> {
    machine: &'m mut Machine<'a, P>,
    node: u16,
}

impl<'m, 'a, P: Probe> Host<'m, 'a, P> {
    pub(super) fn new(machine: &'m mut Machine<'a, P>, node: u16) -> Self {
        Self { machine, node }
    }

    /// The number of this node.
    pub fn node(&self) -> u16 {
        self.node
    }

    /// The machine, to run it or to look at it.
    pub fn machine(&mut self) -> &mut Machine<'a, P> {
        self.machine
    }

    /// The present.
    pub fn now(&self) -> Instant {
        self.machine.now()
    }

    /// Reads a register by a configuration cycle on the bus; time goes on until
    /// it is over. Master abort reads as all ones, as on a PC.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn read_register(&mut self, offset: u8) -> Result<u32, HostError> {
        let outcome = self.access(ConfigAccess::read(offset))?;
        match outcome.end {
            ConfigEnd::MasterAbort => Ok(outcome.data),
            _ => outcome.result().map_err(HostError::Bus),
        }
    }

    /// Writes a register by a configuration cycle on the bus; time goes on
    /// until it is over. A master abort is lost silently, as on a PC.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn write_register(&mut self, offset: u8, value: u32) -> Result<(), HostError> {
        let outcome = self.access(ConfigAccess::write(offset, value))?;
        match outcome.end {
            ConfigEnd::MasterAbort => Ok(()),
            _ => outcome.result().map(|_| ()).map_err(HostError::Bus),
        }
    }

    /// What a read of the register is answered, without the bus and its time.
    ///
    /// For software whose time is charged elsewhere. To the chip it is an
    /// access like any other; only the bus does not see it.
    ///
    /// # Errors
    /// [`HostError::UnknownNode`].
    pub fn peek_register(&mut self, offset: u8) -> Result<u32, HostError> {
        let value = self.shortcut(|ddc| ddc.peek(offset))?;
        if value.1 {
            self.machine.wake_bus(self.node);
        }
        Ok(value.0)
    }

    /// Writes the register at once, without the bus and its time; as
    /// [`peek_register`](Self::peek_register). Pins follow at the next edges.
    ///
    /// # Errors
    /// [`HostError::UnknownNode`].
    pub fn poke_register(&mut self, offset: u8, value: u32) -> Result<(), HostError> {
        self.shortcut(|ddc| ddc.poke(offset, value))?;
        self.machine.wake_bus(self.node);
        Ok(())
    }

    fn shortcut<R>(&mut self, work: impl FnOnce(&mut Ddc) -> R) -> Result<R, HostError> {
        let unknown = HostError::UnknownNode {
            node: self.node,
            nodes: self.machine.nodes.len(),
        };
        let (link, pci) = (self.machine.link.cycle(), self.machine.pci.cycle());
        let node = self.machine.nodes.get_mut(usize::from(self.node));
        let node = node.ok_or(unknown)?;
        // It must have slept as what it was before.
        node.catch_up_link(link);
        node.catch_up_pci(pci);
        Ok(work(&mut node.ddc))
    }

    fn access(&mut self, access: ConfigAccess) -> Result<ConfigOutcome, HostError> {
        let index = usize::from(self.node);
        let unknown = HostError::UnknownNode {
            node: self.node,
            nodes: self.machine.nodes.len(),
        };
        let node = self.machine.nodes.get_mut(index).ok_or(unknown)?;
        node.bridge.submit(access).map_err(HostError::Bus)?;
        self.machine.wake_bus(self.node);
        let cycle = self.machine.pci_cycle();
        let limit = self
            .machine
            .pci
            .frequency()
            .period()
            .ps()
            .saturating_mul(ACCESS_LIMIT_CYCLES);
        self.machine
            .run_while_not(Duration::from_ps(limit), |machine| {
                machine
                    .nodes
                    .get(index)
                    .is_none_or(|node| node.bridge.outcome().is_some())
            });
        let node = self.machine.nodes.get_mut(index).ok_or(unknown)?;
        node.bridge.take().ok_or(HostError::NoAnswer {
            offset: access.offset,
            cycles: self.machine.pci.cycle() - cycle,
        })
    }

    /// Copies bytes out of this node's memory; takes no time.
    ///
    /// # Errors
    /// [`OutOfMemory`] when any byte is outside.
    pub fn load(&self, addr: u32, bytes: &mut [u8]) -> Result<(), OutOfMemory> {
        if let Some(node) = self.machine.nodes.get(usize::from(self.node)) {
            bytes.copy_from_slice(node.memory.slice(addr, bytes.len())?);
        }
        Ok(())
    }

    /// Copies bytes into this node's memory; takes no time.
    ///
    /// # Errors
    /// [`OutOfMemory`] when any byte is outside.
    pub fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), OutOfMemory> {
        if let Some(node) = self.machine.nodes.get_mut(usize::from(self.node)) {
            node.memory
                .slice_mut(addr, bytes.len())?
                .copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Whether INTA# is asserted.
    pub fn interrupt(&self) -> bool {
        self.machine
            .nodes
            .get(usize::from(self.node))
            .is_some_and(|node| !node.inta_n())
    }
}

impl<P: Probe> DelayNs for Host<'_, '_, P> {
    fn delay_ns(&mut self, ns: u32) {
        self.machine.run_for(Duration::from_ns(ns.into()));
    }
}

impl<P> ErrorType for Host<'_, '_, P> {
    type Error = Infallible;
}

/// INTA# as a pin: low is asserted.
impl<P: Probe> InputPin for Host<'_, '_, P> {
    fn is_high(&mut self) -> Result<bool, Infallible> {
        Ok(!self.interrupt())
    }

    fn is_low(&mut self) -> Result<bool, Infallible> {
        Ok(self.interrupt())
    }
}

/// Why the CPU side of a node could not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum HostError {
    /// No node of this number.
    UnknownNode {
        /// The offending number.
        node: u16,
        /// Nodes of the machine.
        nodes: usize,
    },
    /// The bridge did not take the access, or it ended badly on the bus.
    Bus(BridgeError),
    /// The bus gave no answer.
    NoAnswer {
        /// The register.
        offset: u8,
        /// PCI cycles waited.
        cycles: u64,
    },
    /// Outside the node's memory.
    Memory(OutOfMemory),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode { node, nodes } => {
                write!(
                    f,
                    "node {node} is not one of the machine's {nodes} (0..{nodes})"
                )
            }
            Self::Bus(error) => error.fmt(f),
            Self::NoAnswer { offset, cycles } => {
                write!(
                    f,
                    "configuration access to {offset:#04x} without answer for {cycles} PCI cycles"
                )
            }
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for HostError {}

impl From<OutOfMemory> for HostError {
    fn from(error: OutOfMemory) -> Self {
        Self::Memory(error)
    }
}

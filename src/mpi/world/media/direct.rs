//! The driver's view of a board whose register accesses take no time.

use crate::ddc::registers::{Command, R3Dout};
use crate::fabric::{Host, HostError, Probe};
use crate::mem::OutOfMemory;
use crate::put::{DmaMemory, RegisterPort};

/// A node's CPU side for software whose time is charged elsewhere.
pub(super) struct Direct<'m, 'a, P>(pub(super) Host<'m, 'a, P>);

impl<P: Probe> RegisterPort for Direct<'_, '_, P> {
    type Error = HostError;

    fn read(&mut self, offset: u8) -> Result<u32, HostError> {
        self.0.peek_register(offset)
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), HostError> {
        self.0.poke_register(offset, value)
    }

    fn inta(&mut self) -> Option<bool> {
        Some(self.0.interrupt())
    }
}

impl<P: Probe> DmaMemory for Direct<'_, '_, P> {
    type Error = HostError;

    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), HostError> {
        Ok(self.0.load(addr, bytes)?)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), HostError> {
        Ok(self.0.store(addr, bytes)?)
    }
}

/// The same for software that starts a board again: the writes that the router
/// sees by its pins go over the bus, and take their time. Written at once, all
/// of them would fall between two edges: R3_INIT would not be seen low, and the
/// router would go on with what it had.
pub(super) struct Restartable<'m, 'a, P>(pub(super) Host<'m, 'a, P>);

impl<P: Probe> RegisterPort for Restartable<'_, '_, P> {
    type Error = HostError;

    fn read(&mut self, offset: u8) -> Result<u32, HostError> {
        self.0.peek_register(offset)
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), HostError> {
        match offset {
            Command::OFFSET | R3Dout::OFFSET => self.0.write_register(offset, value),
            _ => self.0.poke_register(offset, value),
        }
    }

    fn inta(&mut self) -> Option<bool> {
        Some(self.0.interrupt())
    }
}

impl<P: Probe> DmaMemory for Restartable<'_, '_, P> {
    type Error = HostError;

    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), HostError> {
        Ok(self.0.load(addr, bytes)?)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), HostError> {
        Ok(self.0.store(addr, bytes)?)
    }
}

/// A 64-bit address on the 32-bit bus of a board.
pub(super) fn physical(addr: u64, len: usize) -> Result<u32, HostError> {
    u32::try_from(addr).map_err(|_| {
        HostError::Memory(OutOfMemory {
            addr: u32::MAX,
            len,
            base: 0,
            size: 0,
        })
    })
}

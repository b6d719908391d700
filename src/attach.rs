//! The driver on the models: the traits of `put` for the CPU side of a
//! simulated node.
//!
//! It stands above both, since the driver knows no model and the models know
//! no driver.

use crate::fabric::{Host, HostError, Probe};
use crate::put::{DmaMemory, RegisterPort};

impl<P: Probe> RegisterPort for Host<'_, '_, P> {
    type Error = HostError;

    fn read(&mut self, offset: u8) -> Result<u32, HostError> {
        self.read_register(offset)
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), HostError> {
        self.write_register(offset, value)
    }

    fn inta(&mut self) -> Option<bool> {
        Some(self.interrupt())
    }
}

impl<P: Probe> DmaMemory for Host<'_, '_, P> {
    type Error = HostError;

    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), HostError> {
        Ok(Host::load(self, addr, bytes)?)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), HostError> {
        Ok(Host::store(self, addr, bytes)?)
    }
}

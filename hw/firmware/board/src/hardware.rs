//! Port, memory, interrupt line and time of one board, as the driver wants them.

use core::convert::Infallible;

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{ErrorType, InputPin};
use multipc::put::{DmaMemory, RegisterPort};

use crate::dma::{Dma, OutsideRegion};
use crate::port::{MmioPort, Outside};

/// One board.
#[derive(Debug)]
pub struct Hardware {
    port: MmioPort,
    dma: Dma,
    inta: Option<Line>,
    hz: u32,
}

/// A bit of an input register.
#[derive(Clone, Copy, Debug)]
struct Line {
    register: *const u32,
    mask: u32,
}

// SAFETY: promised to `with_inta`: reading has no side effects, in any context.
unsafe impl Send for Line {}

impl Hardware {
    /// A board without interrupt line, on a processor of `hz` cycles a second.
    pub const fn new(port: MmioPort, dma: Dma, hz: u32) -> Self {
        Self {
            port,
            dma,
            inta: None,
            hz,
        }
    }

    /// The same with INTA# at the bits `mask` of an input register; low is asserted.
    ///
    /// # Safety
    /// `register` must be a multiple of 4 and readable without side effects.
    #[must_use]
    pub const unsafe fn with_inta(mut self, register: *const u32, mask: u32) -> Self {
        self.inta = Some(Line { register, mask });
        self
    }

    /// Bus address of the first byte of the DMA memory.
    pub const fn dma_base(&self) -> u32 {
        self.dma.base()
    }
}

impl RegisterPort for Hardware {
    type Error = Outside;

    fn read(&mut self, offset: u8) -> Result<u32, Outside> {
        self.port.read(offset)
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), Outside> {
        self.port.write(offset, value)
    }

    fn inta(&mut self) -> Option<bool> {
        let Line { register, mask } = self.inta?;
        // SAFETY: promised to `with_inta`.
        Some(unsafe { register.read_volatile() } & mask == 0)
    }
}

impl DmaMemory for Hardware {
    type Error = OutsideRegion;

    fn load(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), OutsideRegion> {
        self.dma.load(address, bytes)
    }

    fn store(&mut self, address: u32, bytes: &[u8]) -> Result<(), OutsideRegion> {
        self.dma.store(address, bytes)
    }
}

impl DelayNs for Hardware {
    fn delay_ns(&mut self, ns: u32) {
        let cycles = u64::from(ns) * u64::from(self.hz) / 1_000_000_000 + 1;
        spin(cycles.min(u32::MAX.into()) as u32);
    }
}

#[cfg(target_arch = "arm")]
fn spin(cycles: u32) {
    cortex_m::asm::delay(cycles);
}

#[cfg(target_arch = "riscv32")]
fn spin(cycles: u32) {
    riscv::asm::delay(cycles);
}

#[cfg(not(any(target_arch = "arm", target_arch = "riscv32")))]
fn spin(_cycles: u32) {
    // A host only runs the tests.
}

impl ErrorType for Hardware {
    type Error = Infallible;
}

/// INTA#; without a line it is never asserted.
impl InputPin for Hardware {
    fn is_high(&mut self) -> Result<bool, Infallible> {
        Ok(!self.inta().unwrap_or(false))
    }

    fn is_low(&mut self) -> Result<bool, Infallible> {
        Ok(self.inta().unwrap_or(false))
    }
}

//! 32-bit registers at an address.

use multipc::put::RegisterPort;

/// Bytes of the configuration space of a function.
pub const SPACE: u32 = 256;

/// A register that is not there: its offset is no multiple of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub struct Outside {
    /// The offset.
    pub offset: u8,
}

/// The registers of one controller, memory-mapped.
#[derive(Debug)]
pub struct MmioPort {
    base: *mut u32,
}

// SAFETY: the one port on its registers; which context uses it makes no difference.
unsafe impl Send for MmioPort {}

impl MmioPort {
    /// The registers at `base`, the first of [`SPACE`] bytes.
    ///
    /// # Safety
    /// `base` must be a multiple of 4, its [`SPACE`] bytes must be registers (or
    /// memory) that may be read and written as 32-bit words, and nobody else may use
    /// them while the port lives.
    pub const unsafe fn new(base: *mut u32) -> Self {
        Self { base }
    }

    fn register(&self, offset: u8) -> Result<*mut u32, Outside> {
        if offset.is_multiple_of(4) {
            // An offset below 256 stays inside the space.
            Ok(self.base.wrapping_add(usize::from(offset / 4)))
        } else {
            Err(Outside { offset })
        }
    }
}

impl RegisterPort for MmioPort {
    type Error = Outside;

    fn read(&mut self, offset: u8) -> Result<u32, Outside> {
        let register = self.register(offset)?;
        // SAFETY: inside the space that `new` was promised.
        let value = unsafe { register.read_volatile() };
        // The registers of PCI are little-endian.
        Ok(u32::from_le(value))
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), Outside> {
        let register = self.register(offset)?;
        // SAFETY: as above.
        unsafe { register.write_volatile(value.to_le()) };
        Ok(())
    }
}

//! What the driver knows of the hardware: traits, never models.
//!
//! Beside the two traits here the driver uses `embedded_hal::delay::DelayNs`
//! for time and, optionally, `embedded_hal::digital::InputPin` for INTA#.

/// 32-bit registers of one controller, by configuration-space offset.
pub trait RegisterPort {
    /// Why an access failed.
    type Error: core::fmt::Debug;
    /// Reads the register at `offset` (a multiple of 4).
    ///
    /// # Errors
    /// The port's own.
    fn read(&mut self, offset: u8) -> Result<u32, Self::Error>;
    /// Writes the register at `offset` (a multiple of 4).
    ///
    /// # Errors
    /// The port's own.
    fn write(&mut self, offset: u8, value: u32) -> Result<(), Self::Error>;
    /// Whether INTA# is asserted; `None`, the default, when the port cannot
    /// tell. Only silicon whose registers must not be read while it receives
    /// needs it ([`Capabilities::config_reads`](super::Capabilities::config_reads)).
    fn inta(&mut self) -> Option<bool> {
        None
    }
}

/// Memory that the controller reaches by the same physical addresses.
///
/// Accesses are ordered: a byte written before a later register write is seen
/// by the controller after it.
pub trait DmaMemory {
    /// Why an access failed.
    type Error: core::fmt::Debug;
    /// Copies `bytes.len()` bytes from physical address `addr`.
    ///
    /// # Errors
    /// The memory's own, when any byte is outside.
    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), Self::Error>;
    /// Copies `bytes` to physical address `addr`.
    ///
    /// # Errors
    /// The memory's own, when any byte is outside.
    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), Self::Error>;
}

//! A controller that answers anything: for fuzzing the driver.

use embedded_hal::delay::DelayNs;

use super::fake::FakeError;
use crate::put::{DmaMemory, RegisterPort};

/// Registers and memory that answer a script, then pseudo-random values of a
/// seed; some accesses fail.
///
/// A driver must neither panic nor hang on it. Half of the unscripted answers
/// are near values the driver wrote before, since those get past more checks
/// than noise does.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HostileController<'a> {
    script: &'a [u8],
    state: u64,
    written: [u32; 8],
    accesses: u64,
    stored: (u64, u64),
    /// One access in this many fails; 0: none.
    pub failures: u32,
    /// Answer what a healthy start needs: identity 0, STATUS without errors.
    pub quiet: bool,
}

impl<'a> HostileController<'a> {
    /// A controller that answers the bytes of `script`, then noise of `seed`.
    pub const fn new(script: &'a [u8], seed: u64) -> Self {
        Self {
            script,
            state: seed | 1,
            written: [0; 8],
            accesses: 0,
            stored: (u64::MAX, 0),
            failures: 0,
            quiet: false,
        }
    }

    /// Accesses so far.
    pub const fn accesses(&self) -> u64 {
        self.accesses
    }

    /// The lowest address that was stored to, and one past the highest.
    pub const fn stored(&self) -> (u64, u64) {
        self.stored
    }

    fn noise(&mut self) -> u32 {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    fn byte(&mut self) -> u8 {
        match self.script {
            [first, rest @ ..] => {
                self.script = rest;
                *first
            }
            [] => self.noise() as u8,
        }
    }

    fn word(&mut self) -> u32 {
        if self.script.is_empty() && self.noise() & 1 == 0 {
            let pick = self.noise();
            let near = (pick >> 8 & 3) * 16;
            return self.written[pick as usize & 7].wrapping_add(near);
        }
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    fn access(&mut self) -> Result<(), FakeError> {
        self.accesses += 1;
        if self.failures > 0 && self.noise().is_multiple_of(self.failures) {
            return Err(FakeError::Injected);
        }
        Ok(())
    }
}

impl RegisterPort for HostileController<'_> {
    type Error = FakeError;

    fn read(&mut self, _offset: u8) -> Result<u32, FakeError> {
        self.access()?;
        if self.quiet { Ok(0) } else { Ok(self.word()) }
    }

    fn write(&mut self, _offset: u8, value: u32) -> Result<(), FakeError> {
        self.access()?;
        self.written[self.accesses as usize & 7] = value;
        Ok(())
    }

    fn inta(&mut self) -> Option<bool> {
        Some(!self.quiet && self.noise() & 1 == 0)
    }
}

impl DmaMemory for HostileController<'_> {
    type Error = FakeError;

    fn load(&mut self, _addr: u32, bytes: &mut [u8]) -> Result<(), FakeError> {
        self.access()?;
        for byte in bytes {
            *byte = self.byte();
        }
        Ok(())
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), FakeError> {
        let (low, high) = self.stored;
        let (first, end) = (u64::from(addr), u64::from(addr) + bytes.len() as u64);
        self.stored = (low.min(first), high.max(end));
        self.access()
    }
}

impl DelayNs for HostileController<'_> {
    fn delay_ns(&mut self, _ns: u32) {}
}

//! The memory that processor and controller share: one static region.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use multipc::put::DmaMemory;

/// An access that is not whole inside the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub struct OutsideRegion {
    /// Bus address of its first byte.
    pub address: u32,
    /// Its bytes.
    pub len: usize,
    /// Bus address of the region.
    pub base: u32,
    /// Bytes of the region.
    pub size: usize,
}

/// Room for a region; put it into a static.
#[repr(C, align(64))]
pub struct Region<const N: usize> {
    bytes: UnsafeCell<[u8; N]>,
    taken: AtomicBool,
}

// SAFETY: the bytes are reached through the one `Dma` that `take` gives out.
unsafe impl<const N: usize> Sync for Region<N> {}

impl<const N: usize> Region<N> {
    /// Zeroes.
    pub const fn new() -> Self {
        Self {
            bytes: UnsafeCell::new([0; N]),
            taken: AtomicBool::new(false),
        }
    }

    /// The region as memory, once. `bus` is the address at which the controller
    /// finds its first byte.
    pub fn take(&'static self, bus: u32) -> Option<Dma> {
        if self.taken.swap(true, Ordering::Relaxed) {
            return None;
        }
        Some(Dma {
            bytes: self.bytes.get().cast(),
            len: N,
            bus,
        })
    }

    /// Where the processor finds it.
    pub fn address(&'static self) -> usize {
        self.bytes.get().addr()
    }
}

impl<const N: usize> Default for Region<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Memory that the controller reads and writes behind the compiler's back.
#[derive(Debug)]
pub struct Dma {
    bytes: *mut u8,
    len: usize,
    bus: u32,
}

// SAFETY: the one handle on its region; which context uses it makes no difference.
unsafe impl Send for Dma {}

impl Dma {
    /// The bus address of the first byte.
    pub const fn base(&self) -> u32 {
        self.bus
    }

    fn at(&self, address: u32, len: usize) -> Result<*mut u8, OutsideRegion> {
        let start = address.wrapping_sub(self.bus) as usize;
        match start.checked_add(len) {
            Some(end) if end <= self.len => Ok(self.bytes.wrapping_add(start)),
            _ => Err(OutsideRegion {
                address,
                len,
                base: self.bus,
                size: self.len,
            }),
        }
    }
}

impl DmaMemory for Dma {
    type Error = OutsideRegion;

    fn load(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), OutsideRegion> {
        let first = self.at(address, bytes.len())?;
        // After the register that told of them, not before.
        barrier();
        for (i, byte) in bytes.iter_mut().enumerate() {
            // SAFETY: `at` has checked that the bytes are inside the static; the
            // controller may write them meanwhile, hence volatile.
            *byte = unsafe { first.wrapping_add(i).read_volatile() };
        }
        Ok(())
    }

    fn store(&mut self, address: u32, bytes: &[u8]) -> Result<(), OutsideRegion> {
        let first = self.at(address, bytes.len())?;
        for (i, byte) in bytes.iter().enumerate() {
            // SAFETY: as above.
            unsafe { first.wrapping_add(i).write_volatile(*byte) };
        }
        // Before the register that will tell of them.
        barrier();
        Ok(())
    }
}

/// Memory before, registers after; and the reverse. A processor with a data cache
/// also needs the region in uncached memory.
fn barrier() {
    #[cfg(target_arch = "arm")]
    cortex_m::asm::dmb();
    #[cfg(target_arch = "riscv32")]
    riscv::asm::fence();
    #[cfg(not(any(target_arch = "arm", target_arch = "riscv32")))]
    core::sync::atomic::fence(Ordering::SeqCst);
}

//! How much stack a run has used.

use core::ptr;

/// What unused stack holds.
const PAINT: u32 = 0x57AC_57AC;
/// Left unpainted below the painter itself.
const MARGIN_BYTES: usize = 256;

/// The stack of the image, painted.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    bottom: *mut u32,
    top: *mut u32,
}

// Symbols of the runtimes' linker scripts: where the statics end (the heap is
// empty) and where the stack begins.
unsafe extern "C" {
    #[cfg_attr(target_arch = "arm", link_name = "__sheap")]
    #[cfg_attr(target_arch = "riscv32", link_name = "__sheap")]
    static mut STATICS_END: u32;
    #[link_name = "_stack_start"]
    static mut STACK_START: u32;
}

impl Stack {
    /// Paints what is free of the stack; call it first.
    #[inline(never)]
    pub fn paint() -> Self {
        let mut here = 0u32;
        let bottom = &raw mut STATICS_END;
        let top = &raw mut STACK_START;
        let end = (&raw mut here as usize).saturating_sub(MARGIN_BYTES);
        let mut at = bottom;
        while (at as usize) < end {
            // SAFETY: the words between the end of the statics and this frame
            // belong to nobody: one core, no heap, and a handler that interrupts
            // this has left them when this goes on.
            unsafe { ptr::write_volatile(at, PAINT) };
            at = at.wrapping_add(1);
        }
        Self { bottom, top }
    }

    /// Bytes of the stack used at most since it was painted.
    pub fn peak_bytes(&self) -> usize {
        let mut at = self.bottom;
        // SAFETY: as above, reading; the search ends inside the used stack.
        while at < self.top && unsafe { ptr::read_volatile(at) } == PAINT {
            at = at.wrapping_add(1);
        }
        self.top as usize - at as usize
    }
}

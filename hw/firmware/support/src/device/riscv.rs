//! The RISC-V part: its line for INTA#, its timer.
//!
//! On a real part the vendor's crate has the addresses and numbers. Two ways lead to the
//! processor: an input of the PLIC, for a real wire ([`Input`]), and the software
//! interrupt of the hart, for the wire of a model ([`Line`]): no input of the emulated
//! PLIC is free and none can be raised by software.

use riscv::interrupt::{Interrupt, disable_interrupt, enable_interrupt};

/// Marks a handler.
pub use riscv_rt::{core_interrupt, external_interrupt};

riscv_peripheral::clint_codegen!(Clint, base 0x0200_0000, mtime_freq 10_000_000);

/// Ticks a microsecond of the emulated board.
const TICKS_PER_US: u64 = 10;

/// INTA# of models: the software interrupt, pending as long as its bit is 1.
#[derive(Clone, Copy, Debug)]
pub struct Line;

impl Line {
    /// Lets it interrupt.
    pub fn enable() {
        Self::unmask();
    }

    /// Lets it interrupt again.
    pub fn unmask() {
        // SAFETY: critical sections here mask all interrupts, not some sources.
        unsafe { enable_interrupt(Interrupt::MachineSoft) };
    }

    /// Keeps it from interrupting.
    pub fn mask() {
        disable_interrupt(Interrupt::MachineSoft);
    }

    /// The wire: call it whenever the level may have changed, also at the end of the
    /// handler. The bit is a level as INTA# is: nothing forgets it but this.
    pub fn drive(asserted: bool) {
        let line = Clint::new().mswi().msip0();
        if asserted {
            line.pend();
        } else {
            line.unpend();
        }
    }
}

/// A timer that interrupts once, as `MachineTimer`.
#[derive(Clone, Copy, Debug)]
pub struct Timer;

impl Timer {
    /// Interrupts after so long.
    pub fn arm(us: u32) {
        let timer = Clint::new().mtimer();
        let now = timer.mtime().read();
        timer.mtimecmp0().write(now + u64::from(us) * TICKS_PER_US);
        // SAFETY: as above.
        unsafe { enable_interrupt(Interrupt::MachineTimer) };
    }

    /// Call it from the handler: the interrupt is pending as long as the time is past.
    pub fn disarm() {
        Clint::new().mtimer().mtimecmp0().write(u64::MAX);
    }
}

/// Lets the processor take interrupts.
pub fn enable_interrupts() {
    // SAFETY: outside of any critical section, by contract of the caller's place: the
    // start of an image.
    unsafe { riscv::interrupt::enable() };
}

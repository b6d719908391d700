//! The RISC-V part: its line for INTA#, its timer.
//!
//! On a real part the vendor's crate has the addresses and numbers. Two ways lead to the
//! processor: an input of the PLIC, for a real wire ([`Input`]), and the software
//! interrupt of the hart, for the wire of a model ([`Line`]): software cannot raise an
//! input of the PLIC.

use riscv::interrupt::{Interrupt, disable_interrupt, enable_interrupt};

/// Marks a handler.
pub use riscv_rt::{core_interrupt, external_interrupt};

riscv_peripheral::clint_codegen!(Clint, base 0x0200_0000, mtime_freq 10_000_000);
riscv_peripheral::plic_codegen!(Plic, base 0x0C00_0000);

/// Inputs of the PLIC.
// SAFETY: the emulated board has this input.
#[riscv::pac_enum(unsafe ExternalInterruptNumber)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalInterrupt {
    /// INTA# of the controller. On the emulated board the serial port is there.
    INTA = 10,
}

/// Priorities of the PLIC; an input of the lowest never interrupts.
// SAFETY: every PLIC has these.
#[riscv::pac_enum(unsafe PriorityNumber)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Priority {
    Never = 0,
    Line = 1,
}

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

/// INTA# at an input of the PLIC. The wire is level-triggered: the PLIC asks again after
/// a handler as long as the line is low (inverted to the PLIC's active level on the way).
#[derive(Clone, Copy, Debug)]
pub struct Input;

impl Input {
    /// Enables it, and lets it interrupt.
    pub fn enable() {
        let context = Plic::new().ctx0();
        // SAFETY: critical sections here mask all interrupts, not some sources.
        unsafe {
            context.threshold().set_threshold(Priority::Never);
            critical_section::with(|_| context.enables().enable(ExternalInterrupt::INTA));
        }
        Self::unmask();
        // SAFETY: as above.
        unsafe { enable_interrupt(Interrupt::MachineExternal) };
    }

    /// Lets it interrupt again.
    pub fn unmask() {
        set_priority(Priority::Line);
    }

    /// Keeps it from interrupting. By its priority: the PLIC ignores the completion of
    /// an input that is not enabled, so a handler that took the enable away would never
    /// be entered again.
    pub fn mask() {
        set_priority(Priority::Never);
    }

    /// The wire, on the emulated board, which has none: call it whenever the level may
    /// have changed, also at the end of the handler. The serial port asserts its input
    /// while it may tell that it can send.
    pub fn drive(asserted: bool) {
        /// Interrupt enable register of the serial port, and its bit for the transmitter.
        const ENABLE: usize = 0x1000_0001;
        const TRANSMITTER_EMPTY: u8 = 1 << 1;
        let enable: *mut u8 = core::ptr::with_exposed_provenance_mut(ENABLE);
        // SAFETY: a register of the emulated board that nobody else uses. The zero in
        // between makes the emulated PLIC look at the level again.
        unsafe {
            enable.write_volatile(0);
            if asserted {
                enable.write_volatile(TRANSMITTER_EMPTY);
            }
        }
    }
}

fn set_priority(priority: Priority) {
    let priorities = Plic::new().priorities();
    // SAFETY: critical sections here mask all interrupts, not some priorities.
    unsafe { priorities.set_priority(ExternalInterrupt::INTA, priority) };
}

/// From the hart's external interrupt to the handler of the input that asks for it.
#[core_interrupt(Interrupt::MachineExternal)]
fn machine_external() {
    let claim = Plic::new().ctx0().claim();
    // Nothing to claim: the input was masked meanwhile.
    if let Some(source) = claim.claim::<ExternalInterrupt>() {
        // SAFETY: the number of an input, in the place of its handler.
        unsafe { _dispatch_external_interrupt(source as usize) };
        claim.complete(source);
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

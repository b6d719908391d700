//! The Cortex-M part: its vector table, its line for INTA#, its timer.
//!
//! On a real part the vendor's crate (made by svd2rust) has the vector table and the
//! numbers; `INTA` is then the number of the input to which the board wires the line.

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{NVIC, SYST};

/// Marks a handler of an interrupt, and names the interrupts, as vendors' crates do.
pub use self::Interrupt as interrupt;
pub use cortex_m_rt::{exception, interrupt};

/// Inputs of the interrupt controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// INTA# of the controllers. On the emulated board no device has this input.
    INTA = 20,
}

// SAFETY: the numbers are constant, below those of the vector table.
unsafe impl InterruptNumber for Interrupt {
    fn number(self) -> u16 {
        self as u16
    }
}

/// Inputs of the emulated interrupt controller.
const INPUTS: usize = 32;
/// Cycles a microsecond of the emulated board.
const CYCLES_PER_US: u32 = 25;
/// Longest time of the timer, whose counter has 24 bits.
const LONGEST: u32 = (1 << 24) - 1;
/// Of the line and of the timer: equal, so neither interrupts the other's handler.
/// A controller has its priorities in the upper bits; this is neither first nor last.
const PRIORITY: u8 = 0x80;

unsafe extern "C" {
    fn INTA();
    fn DefaultHandler();
}

/// The part of the vector table behind the processor's own exceptions.
// SAFETY: the section and the name that the runtime's linker script asks for.
#[unsafe(link_section = ".vector_table.interrupts")]
#[unsafe(no_mangle)]
pub static __INTERRUPTS: [unsafe extern "C" fn(); INPUTS] = {
    let mut vectors = [DefaultHandler as unsafe extern "C" fn(); INPUTS];
    vectors[Interrupt::INTA as usize] = INTA;
    vectors
};

/// INTA# at an input of the interrupt controller.
#[derive(Clone, Copy, Debug)]
pub struct Line;

/// The input for a real wire. Here the same, since software can pend it.
pub type Input = Line;

impl Line {
    /// Gives it its priority and lets it interrupt.
    pub fn enable() {
        critical_section::with(|_| {
            // SAFETY: inside a critical section nobody else is at these registers.
            let mut controller = unsafe { cortex_m::Peripherals::steal() }.NVIC;
            // SAFETY: critical sections here mask all interrupts, not some priorities.
            unsafe { controller.set_priority(Interrupt::INTA, PRIORITY) };
        });
        Self::unmask();
    }

    /// Lets it interrupt again.
    pub fn unmask() {
        // SAFETY: as above.
        unsafe { NVIC::unmask(Interrupt::INTA) };
    }

    /// Keeps it from interrupting.
    pub fn mask() {
        NVIC::mask(Interrupt::INTA);
    }

    /// The wire, where INTA# is that of a model: call it whenever the level may have
    /// changed, also at the end of the handler.
    ///
    /// An input pends as long as its level asks for it, and the controller forgets the
    /// request when the handler is entered; so an asserted line has to pend again as the
    /// handler ends.
    pub fn drive(asserted: bool) {
        if asserted {
            NVIC::pend(Interrupt::INTA);
        } else {
            NVIC::unpend(Interrupt::INTA);
        }
    }
}

/// A timer that interrupts once, as `SysTick`.
#[derive(Clone, Copy, Debug)]
pub struct Timer;

impl Timer {
    /// Interrupts after so long, 671 ms at most.
    pub fn arm(us: u32) {
        with_timer(|timer| {
            timer.disable_counter();
            timer.set_clock_source(SystClkSource::Core);
            timer.set_reload(us.saturating_mul(CYCLES_PER_US).clamp(1, LONGEST));
            timer.clear_current();
            timer.enable_interrupt();
            timer.enable_counter();
        });
    }

    /// Call it from the handler: the counter would start again by itself.
    pub fn disarm() {
        with_timer(SYST::disable_counter);
    }
}

fn with_timer(work: impl FnOnce(&mut SYST)) {
    critical_section::with(|_| {
        // SAFETY: inside a critical section nobody else is at these registers.
        let mut peripherals = unsafe { cortex_m::Peripherals::steal() };
        work(&mut peripherals.SYST);
    });
}

/// Lets the processor take interrupts.
pub fn enable_interrupts() {
    // SAFETY: outside of any critical section, by contract of the caller's place: the
    // start of an image.
    unsafe { cortex_m::interrupt::enable() };
}

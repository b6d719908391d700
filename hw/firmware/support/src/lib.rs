//! What the images share, on Cortex-M and RISC-V alike: start-up, a log by defmt
//! over semihosting, an exit status, the stack, interrupts and sleep.
//!
//! An image says `use firmware_support as _;`, marks its first function with
//! [`entry`], and ends with [`exit`].
#![no_std]

use defmt_semihosting as _;

#[cfg_attr(target_arch = "arm", path = "device/arm.rs")]
#[cfg_attr(target_arch = "riscv32", path = "device/riscv.rs")]
pub mod device;
mod sleep;
mod stack;

pub use sleep::{sleep, sleep_unless};
pub use stack::Stack;

/// Marks the first function of the image.
#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
/// Marks the first function of the image.
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

/// How an image ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub enum Verdict {
    /// Status 0.
    Passed,
    /// Status 1.
    Failed,
}

/// Ends the run with a status that the host sees.
pub fn exit(verdict: Verdict) -> ! {
    semihosting::process::exit(match verdict {
        Verdict::Passed => 0,
        Verdict::Failed => 1,
    })
}

/// Tells how the run went and ends it.
pub fn finish<E: defmt::Format>(result: Result<(), E>) -> ! {
    let verdict = match result {
        Ok(()) => Verdict::Passed,
        Err(failure) => {
            defmt::error!("{}", failure);
            Verdict::Failed
        }
    };
    defmt::info!("{}", verdict);
    exit(verdict)
}

/// Whether the command line of the emulator holds `word`.
pub fn asked(word: &str) -> bool {
    // A longer line than ours is not asked for anything.
    let Ok(args) = semihosting::experimental::env::args::<256>() else {
        return false;
    };
    (&args).into_iter().any(|arg| arg == Ok(word))
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    exit(Verdict::Failed)
}

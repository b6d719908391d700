//! The PUT driver on bare metal, alone: what `cargo run -p xtask -- size` weighs.
//!
//! With the feature `driver` the entry brings the driver up over two opaque ports;
//! without it, it touches the same ports once. The difference of the two images
//! is the driver.
#![no_std]
#![no_main]

#[cfg(not(feature = "driver"))]
mod baseline;
mod ports;
#[cfg(feature = "driver")]
mod with_driver;

use core::panic::PanicInfo;

/// Entry of the image; it is linked and weighed, never run.
// The linker looks for this name.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    #[cfg(feature = "driver")]
    with_driver::run();
    #[cfg(not(feature = "driver"))]
    baseline::run();
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

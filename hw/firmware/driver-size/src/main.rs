//! The PUT driver on bare metal, alone: what `cargo run -p xtask -- size` weighs.
//!
//! Without features the image touches a board once; with `driver` it makes every
//! call of the driver on that board, with `writer` remote writes on top, with `models`
//! on two boards of models instead. The differences of the images are the driver, the
//! writer, and two boards with their drivers.
#![no_std]
#![no_main]

mod board;
#[cfg(feature = "driver")]
mod driver;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "writer")]
mod writer;

use core::panic::PanicInfo;

/// Entry of the image; it is linked and weighed, never run.
// The linker looks for this name.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let mut board = board::Board;
    board::touch(&mut board);
    #[cfg(all(feature = "driver", not(feature = "models")))]
    driver::run(&mut board);
    #[cfg(feature = "models")]
    models::run();
    #[cfg(feature = "writer")]
    writer::run(&mut board);
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

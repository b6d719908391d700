//! The PUT driver on bare metal, alone: what `cargo run -p xtask -- size` weighs.
//!
//! Without features the image touches a board once; with `driver` it makes every
//! call of the driver on that board, with `writer` remote writes on top. The
//! differences of the images are the driver and the writer.
#![no_std]
#![no_main]

mod board;
#[cfg(feature = "driver")]
mod driver;
#[cfg(feature = "writer")]
mod writer;

use core::panic::PanicInfo;

/// Entry of the image; it is linked and weighed, never run.
// The linker looks for this name.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let mut board = board::Board;
    board::touch(&mut board);
    #[cfg(feature = "driver")]
    driver::run(&mut board);
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

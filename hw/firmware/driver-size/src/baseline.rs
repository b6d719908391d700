//! The ports without the driver.

use core::hint::black_box;

use multipc::put::{DmaMemory, RegisterPort};

use crate::ports::{Memory, Registers};

/// Touches every function of the ports once.
pub fn run() {
    let mut bytes = [0; 16];
    let value = Registers.read(black_box(0));
    let _ = black_box(Registers.write(black_box(4), value.unwrap_or(0)));
    let _ = black_box(Memory.load(black_box(0), &mut bytes));
    let _ = black_box(Memory.store(black_box(16), &bytes));
}

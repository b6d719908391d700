//! A board that the optimiser cannot see through.

use core::hint::{black_box, spin_loop};
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use embedded_hal::delay::DelayNs;
use multipc::put::{DmaMemory, RegisterPort};

static REGISTERS: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
static MEMORY: [AtomicU8; 64] = [const { AtomicU8::new(0) }; 64];

/// Registers, memory and time of one board.
pub struct Board;

/// An access that missed.
#[derive(Debug)]
pub struct Outside;

impl RegisterPort for Board {
    type Error = Outside;

    #[inline(never)]
    fn read(&mut self, offset: u8) -> Result<u32, Outside> {
        let register = black_box(&REGISTERS).get(usize::from(offset) / 4);
        Ok(register.ok_or(Outside)?.load(Ordering::Relaxed))
    }

    #[inline(never)]
    fn write(&mut self, offset: u8, value: u32) -> Result<(), Outside> {
        let register = black_box(&REGISTERS).get(usize::from(offset) / 4);
        register.ok_or(Outside)?.store(value, Ordering::Relaxed);
        Ok(())
    }
}

impl DmaMemory for Board {
    type Error = Outside;

    #[inline(never)]
    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), Outside> {
        let cells = black_box(&MEMORY).get(addr as usize..).ok_or(Outside)?;
        for (byte, cell) in bytes.iter_mut().zip(cells) {
            *byte = cell.load(Ordering::Relaxed);
        }
        Ok(())
    }

    #[inline(never)]
    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), Outside> {
        let cells = black_box(&MEMORY).get(addr as usize..).ok_or(Outside)?;
        for (byte, cell) in bytes.iter().zip(cells) {
            cell.store(*byte, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl DelayNs for Board {
    #[inline(never)]
    fn delay_ns(&mut self, ns: u32) {
        for _ in 0..black_box(ns) {
            spin_loop();
        }
    }
}

/// Uses everything of the board once, so that it is in each image.
pub fn touch(board: &mut Board) {
    let mut bytes = [0; 16];
    let value = board.read(black_box(0));
    let _ = black_box(board.write(black_box(4), value.unwrap_or(0)));
    let _ = black_box(board.load(black_box(0), &mut bytes));
    let _ = black_box(board.store(black_box(16), &bytes));
    board.delay_us(black_box(1));
    // The memory functions of the compiler, which any firmware has: fill, copy,
    // compare.
    let large = black_box([0u8; 512]);
    let copy = black_box(large);
    black_box(copy == large);
}

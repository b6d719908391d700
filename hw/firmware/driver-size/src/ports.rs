//! Registers and memory that the optimiser cannot see through.

use core::hint::black_box;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use multipc::put::{DmaMemory, RegisterPort};

const MEMORY_BYTES: usize = 64;

static REGISTERS: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
static MEMORY: [AtomicU8; MEMORY_BYTES] = [const { AtomicU8::new(0) }; MEMORY_BYTES];

/// The register file of a controller.
pub struct Registers;

/// An access that missed.
#[derive(Debug)]
pub struct Outside;

impl RegisterPort for Registers {
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

/// Memory shared with the controller.
pub struct Memory;

impl DmaMemory for Memory {
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

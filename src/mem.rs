//! Physical memory: what a bus target or a CPU reads and writes.
//!
//! Addresses are 32-bit physical byte addresses; words are 32 bits,
//! little-endian (byte 0 of a word lies at the lowest address).

use core::fmt;

use managed::ManagedSlice;

/// Memory that a host bridge answers for.
///
/// Word accesses are the ones of a PCI data phase: `addr` is taken modulo 4
/// as zero, and byte `i` of the word takes part when bit `i` of `enables` is 1.
pub trait Memory {
    /// Whether the word at `addr` exists (a PCI target claims it).
    fn claims(&self, addr: u32) -> bool;
    /// The word at `addr`; all ones where there is no memory.
    fn read_word(&self, addr: u32) -> u32;
    /// Writes the enabled bytes of the word at `addr`; nothing where there is
    /// no memory.
    fn write_word(&mut self, addr: u32, value: u32, enables: u8);
}

/// An access outside the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct OutOfMemory {
    /// First byte of the access.
    pub addr: u32,
    /// Bytes of the access.
    pub len: usize,
    /// First byte of the memory.
    pub base: u32,
    /// Bytes of the memory.
    pub size: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes at {:#010x} are outside the memory of {} bytes at {:#010x}",
            self.len, self.addr, self.size, self.base
        )
    }
}

impl core::error::Error for OutOfMemory {}

/// RAM over a borrowed or owned slice, at a physical base address.
#[derive(Debug)]
pub struct Ram<'a> {
    base: u32,
    bytes: ManagedSlice<'a, u8>,
}

impl<'a> Ram<'a> {
    /// RAM at `base`, rounded down to a multiple of 4, over `bytes`; a tail
    /// shorter than a word is reachable by the CPU only.
    pub fn new<T: Into<ManagedSlice<'a, u8>>>(base: u32, bytes: T) -> Self {
        Self {
            base: base & !3,
            bytes: bytes.into(),
        }
    }

    /// First physical address.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, from the base address up.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// `len` bytes at `addr`, as the CPU sees them.
    ///
    /// # Errors
    /// [`OutOfMemory`] when any byte is outside.
    pub fn slice(&self, addr: u32, len: usize) -> Result<&[u8], OutOfMemory> {
        self.offset(addr, len)
            .and_then(|at| self.bytes.get(at..at + len))
            .ok_or(self.outside(addr, len))
    }

    /// The same for writing.
    ///
    /// # Errors
    /// [`OutOfMemory`] when any byte is outside.
    pub fn slice_mut(&mut self, addr: u32, len: usize) -> Result<&mut [u8], OutOfMemory> {
        let error = self.outside(addr, len);
        let at = self.offset(addr, len).ok_or(error)?;
        self.bytes.get_mut(at..at + len).ok_or(error)
    }

    fn outside(&self, addr: u32, len: usize) -> OutOfMemory {
        OutOfMemory {
            addr,
            len,
            base: self.base,
            size: self.bytes.len(),
        }
    }

    fn offset(&self, addr: u32, len: usize) -> Option<usize> {
        let at = addr.checked_sub(self.base)? as usize;
        let end = at.checked_add(len)?;
        (end <= self.bytes.len()).then_some(at)
    }
}

impl PartialEq for Ram<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.base == other.base && self.bytes[..] == other.bytes[..]
    }
}

impl Memory for Ram<'_> {
    fn claims(&self, addr: u32) -> bool {
        self.offset(addr & !3, 4).is_some()
    }

    fn read_word(&self, addr: u32) -> u32 {
        match self.slice(addr & !3, 4) {
            Ok(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            _ => u32::MAX,
        }
    }

    fn write_word(&mut self, addr: u32, value: u32, enables: u8) {
        if let Ok(word) = self.slice_mut(addr & !3, 4) {
            for (i, (byte, new)) in word.iter_mut().zip(value.to_le_bytes()).enumerate() {
                if enables >> i & 1 == 1 {
                    *byte = new;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enables_select_bytes() {
        let mut store = [0u8; 8];
        let mut ram = Ram::new(0x100, &mut store[..]);
        ram.write_word(0x104, 0x4433_2211, 0b0110);
        assert_eq!(ram.slice(0x104, 4), Ok(&[0x00, 0x22, 0x33, 0x00][..]));
        assert_eq!(ram.read_word(0x106), 0x0033_2200);
        assert!(ram.claims(0x104) && !ram.claims(0x108) && !ram.claims(0xFC));
        assert_eq!(ram.read_word(0x108), u32::MAX);
    }

    #[test]
    fn outside_is_named() {
        extern crate std;
        use std::string::ToString;
        let mut store = [0u8; 8];
        let ram = Ram::new(0x100, &mut store[..]);
        assert_eq!(
            ram.slice(0x106, 4).unwrap_err().to_string(),
            "4 bytes at 0x00000106 are outside the memory of 8 bytes at 0x00000100"
        );
        assert!(ram.slice(u32::MAX, 4).is_err());
    }
}

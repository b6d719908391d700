//! What is sent, and whether it has arrived: every byte, and none beside it.

use crate::failure::Failure;

/// Bytes before and after a page that must not change.
pub const GUARD: u32 = 8;
/// What lies in the receiver's memory before.
const BACKGROUND: u8 = 0xA5;

/// A byte that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub struct Wrong {
    /// Its physical address.
    pub address: u32,
    pub found: u8,
    pub expected: u8,
}

/// Byte `i` of page number `seed`: no page is like the one before it, nor like
/// itself shifted by a word.
pub fn byte(seed: u32, i: u32) -> u8 {
    let x = (i ^ seed << 16).wrapping_mul(0x9E37_79B1);
    (x ^ x >> 15).to_be_bytes()[0]
}

/// What the byte at `i` of the receiver's window must be: the page of `length`
/// bytes between two guards.
fn expected(seed: u32, length: u32, i: u32) -> u8 {
    match i.checked_sub(GUARD) {
        Some(i) if i < length => byte(seed, i),
        _ => BACKGROUND,
    }
}

/// Fills the piece of the sender's page that begins at its byte `from`.
pub fn fill(piece: &mut [u8], seed: u32, from: u32) {
    for (i, byte) in (from..).zip(piece) {
        *byte = self::byte(seed, i);
    }
}

/// Fills a piece of the receiver's memory.
pub fn clear(piece: &mut [u8]) {
    piece.fill(BACKGROUND);
}

/// What a window of the receiver's memory must hold.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Its first byte.
    pub address: u32,
    /// Bytes of the page inside.
    pub length: u32,
    /// Which page.
    pub seed: u32,
}

impl Window {
    /// Page and guards.
    pub const fn bytes(&self) -> u32 {
        self.length + 2 * GUARD
    }

    /// Compares the piece of the window that begins at its byte `from`.
    pub fn compare(&self, piece: &[u8], from: u32) -> Result<(), Wrong> {
        for (i, &found) in (from..).zip(piece) {
            let expected = expected(self.seed, self.length, i);
            if found != expected {
                return Err(Wrong {
                    address: self.address.wrapping_add(i),
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}

/// Changes each byte of a good window in turn: the comparison has to name it.
pub fn finds_every_wrong_byte() -> Result<(), Failure> {
    const LENGTH: usize = 21;
    let guard = GUARD as usize;
    let window = Window {
        address: 0x1003,
        length: LENGTH as u32,
        seed: 7,
    };
    let mut good = [0; LENGTH + 2 * GUARD as usize];
    clear(&mut good);
    if let Some(page) = good.get_mut(guard..guard + LENGTH) {
        fill(page, window.seed, 0);
    }
    window.compare(&good, 0)?;
    for at in 0..good.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut bad = good;
            if let Some(byte) = bad.get_mut(at) {
                *byte ^= flip;
            }
            let named = window.compare(&bad, 0).err().map(|wrong| wrong.address);
            if named != Some(window.address + at as u32) {
                return Err(Failure::Checker { at });
            }
        }
    }
    let other = Window { seed: 8, ..window };
    if other.compare(&good, 0).is_ok() {
        return Err(Failure::Checker { at: guard });
    }
    Ok(())
}

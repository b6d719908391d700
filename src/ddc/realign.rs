//! The realigner: local words in, words on the remote byte lanes out.
//!
//! The page is a run of bytes. It starts in lane `plsa & 3` of the first local
//! word and must start in lane `prsa & 3` of the first remote word, so the
//! stream is rotated by the difference; what does not fit into a remote word
//! is carried into the next one. Bytes beside the page become 0: they belong to
//! somebody else.

/// One page through the barrel shifter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Realign {
    shift: u8,
    swallow: bool,
    carry: u32,
    remote_left: u32,
    local_left: u32,
    /// Bytes of the next local word that belong to the page, if it is not the last.
    keep: u32,
    /// The same for the last.
    keep_last: u32,
}

impl Realign {
    /// For a page of `length` bytes from `local` to `remote`.
    pub(super) const fn new(local: u32, remote: u32, length: u32) -> Self {
        let (from, to) = (local & 3, remote & 3);
        Self {
            // Bits by which the stream moves to higher lanes, modulo a word.
            shift: (8 * (to.wrapping_sub(from) & 3)) as u8,
            // It moves to lower lanes: the first local word completes nothing.
            swallow: to < from,
            carry: 0,
            remote_left: words(remote, length),
            local_left: words(local, length),
            keep: u32::MAX << (8 * from),
            keep_last: u32::MAX >> (24 - 8 * (local.wrapping_add(length).wrapping_sub(1) & 3)),
        }
    }

    /// Local words still to come.
    pub(super) const fn local_left(&self) -> u32 {
        self.local_left
    }

    /// Takes a local word; gives the remote word it completes, and the last one
    /// when that lies beyond the last local word.
    pub(super) const fn step(&mut self, word: u32) -> [Option<u32>; 2] {
        let mut word = word & self.keep;
        self.keep = u32::MAX;
        if self.local_left == 1 {
            word &= self.keep_last;
        }
        let wide = (word as u64) << self.shift | self.carry as u64;
        self.carry = (wide >> 32) as u32;
        self.local_left = self.local_left.saturating_sub(1);
        let mut out = [None; 2];
        if self.swallow {
            self.swallow = false;
        } else if self.remote_left > 0 {
            self.remote_left -= 1;
            out[0] = Some(wide as u32);
        }
        if self.local_left == 0 && self.remote_left > 0 {
            self.remote_left = 0;
            out[1] = Some(self.carry);
        }
        out
    }
}

/// Words touched by `length` bytes at `address`.
pub(super) const fn words(address: u32, length: u32) -> u32 {
    if length == 0 {
        0
    } else {
        ((address & 3) + length).div_ceil(4)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_alignment_and_length_is_a_copy() {
        let memory: Vec<u8> = (0..96u8).map(|b| b.wrapping_mul(37)).collect();
        for local in 0..4usize {
            for remote in 0..4usize {
                for length in 1..=70usize {
                    let mut unit = Realign::new(local as u32, remote as u32, length as u32);
                    let mut out = Vec::new();
                    for chunk in memory.chunks(4).take(unit.local_left() as usize) {
                        let word = u32::from_le_bytes(chunk.try_into().unwrap());
                        out.extend(unit.step(word).into_iter().flatten());
                    }
                    assert_eq!(out.len() as u32, words(remote as u32, length as u32));
                    let bytes: Vec<u8> = out.iter().flat_map(|w| w.to_le_bytes()).collect();
                    assert_eq!(
                        bytes[remote..remote + length],
                        memory[local..local + length],
                        "{local} to {remote}, {length} bytes"
                    );
                    let beside = bytes[..remote].iter().chain(&bytes[remote + length..]);
                    assert!(beside.into_iter().all(|&byte| byte == 0));
                }
            }
        }
    }
}

//! Memory for eager data that nobody has received yet: chains of small blocks.

use managed::ManagedSlice;

use crate::mpi::layout::Layout;
use crate::mpi::port::Port;

/// Bytes of a block, and what lengths are rounded up to when eager data is
/// counted. Chosen: 64, a power of two that wastes little on small messages
/// while the chain of a full slot stays at 256.
pub const BLOCK: u64 = 64;

/// No block.
pub(super) const END: u32 = u32::MAX;

/// What `length` bytes of eager data count as.
pub(super) const fn counted(length: u64) -> u64 {
    length.next_multiple_of(BLOCK)
}

/// The blocks; of each, the next in its chain.
#[derive(Debug)]
pub(super) struct Pool<'a> {
    next: ManagedSlice<'a, u32>,
    free: u32,
    left: u32,
    blocks: u32,
}

impl<'a> Pool<'a> {
    /// Of `blocks` blocks, one link each.
    pub(super) fn new(mut next: ManagedSlice<'a, u32>, blocks: u32) -> Self {
        let blocks = blocks.min(next.len() as u32);
        for (index, link) in next.iter_mut().enumerate() {
            let following = index as u32 + 1;
            *link = if following < blocks { following } else { END };
        }
        Self {
            next,
            free: if blocks == 0 { END } else { 0 },
            left: blocks,
            blocks,
        }
    }

    /// Blocks that are free.
    pub(super) const fn left(&self) -> u32 {
        self.left
    }

    /// Blocks in all.
    pub(super) const fn blocks(&self) -> u32 {
        self.blocks
    }

    pub(super) fn following(&self, block: u32) -> u32 {
        self.next.get(block as usize).copied().unwrap_or(END)
    }

    /// A chain for `length` bytes: its first block.
    pub(super) fn take(&mut self, length: u64) -> Option<u32> {
        let blocks = length.div_ceil(BLOCK);
        if blocks > u64::from(self.left) {
            return None;
        }
        let (first, mut last) = (self.free, END);
        for _ in 0..blocks {
            last = self.free;
            self.free = self.following(last);
        }
        if last == END {
            return Some(END);
        }
        if let Some(link) = self.next.get_mut(last as usize) {
            *link = END;
        }
        self.left -= blocks as u32;
        Some(first)
    }

    pub(super) fn give_back(&mut self, chain: u32) {
        let mut block = chain;
        while block != END && self.left < self.blocks {
            let following = self.following(block);
            if let Some(link) = self.next.get_mut(block as usize) {
                *link = self.free;
            }
            self.free = block;
            self.left += 1;
            block = following;
        }
    }

    /// Writes `bytes` into a chain.
    pub(super) fn fill<P: Port>(
        &self,
        port: &mut P,
        layout: &Layout,
        chain: u32,
        bytes: &[u8],
    ) -> Result<(), P::Error> {
        let mut block = chain;
        for part in bytes.chunks(BLOCK as usize) {
            port.store(layout.block(block), part)?;
            block = self.following(block);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_come_and_go() {
        let mut links = [0; 5];
        let mut pool = Pool::new(ManagedSlice::Borrowed(&mut links), 4);
        assert_eq!(pool.take(0), Some(END));
        let one = pool.take(1).unwrap();
        let two = pool.take(65).unwrap();
        assert_eq!(pool.left(), 1);
        assert_eq!(pool.take(65), None);
        assert_ne!(pool.following(two), END);
        assert_eq!(pool.following(pool.following(two)), END);
        pool.give_back(one);
        pool.give_back(two);
        pool.give_back(END);
        assert_eq!(pool.left(), 4);
        assert!(pool.take(256).is_some());
        assert_eq!((pool.left(), pool.take(0)), (0, Some(END)));
    }
}

//! A process's memory for the data of its messages.

use alloc::vec::Vec;
use core::ops::Range;

/// Alignment of what is handed out: two cache lines of the machine.
const ALIGN: u64 = 64;

/// First fit over a contiguous range; neighbours are joined when freed.
#[derive(Debug)]
pub(super) struct Heap {
    size: u64,
    /// What is free, in order, never adjacent.
    free: Vec<Range<u64>>,
}

impl Heap {
    pub(super) fn new(range: Range<u64>) -> Self {
        let start = range.start.next_multiple_of(ALIGN);
        let end = range.end - range.end % ALIGN;
        let size = end.saturating_sub(start);
        let mut free = Vec::new();
        if size > 0 {
            free.push(start..end);
        }
        Self { size, free }
    }

    /// Bytes in all.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The first byte of `bytes` bytes, not none even for 0.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        let bytes = rounded(bytes)?;
        let fits = |range: &Range<u64>| range.end - range.start >= bytes;
        let index = self.free.iter().position(fits)?;
        let range = self.free.get_mut(index)?;
        let start = range.start;
        range.start += bytes;
        if range.is_empty() {
            self.free.remove(index);
        }
        Some(start)
    }

    /// Gives back what [`take`](Self::take) gave for `bytes`.
    pub(super) fn give(&mut self, start: u64, bytes: u64) {
        let Some(bytes) = rounded(bytes) else { return };
        let end = start + bytes;
        let index = self.free.partition_point(|range| range.start < start);
        let before = index.checked_sub(1).and_then(|i| self.free.get(i));
        let joins_before = before.is_some_and(|range| range.end == start);
        let joins_after = self.free.get(index).is_some_and(|range| range.start == end);
        match (joins_before, joins_after) {
            (true, true) => {
                let after = self.free.remove(index);
                if let Some(range) = self.free.get_mut(index - 1) {
                    range.end = after.end;
                }
            }
            (true, false) => {
                if let Some(range) = self.free.get_mut(index - 1) {
                    range.end = end;
                }
            }
            (false, true) => {
                if let Some(range) = self.free.get_mut(index) {
                    range.start = start;
                }
            }
            (false, false) => self.free.insert(index, start..end),
        }
    }
}

fn rounded(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(ALIGN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn whatever_the_order_all_comes_back_as_one_piece() {
        let sizes = [0, 1, 64, 65, 1000];
        for rotation in 0..sizes.len() {
            for step in [1, 2, 3, 4] {
                let mut heap = Heap::new(0x1001..0x2000);
                let mut taken: Vec<(u64, u64)> = sizes
                    .iter()
                    .map(|&bytes| (heap.take(bytes).unwrap(), bytes))
                    .collect();
                for window in taken.windows(2) {
                    assert!(window[0].0 + window[0].1.max(1) <= window[1].0);
                }
                for i in 0..sizes.len() {
                    let (start, bytes) = taken[(rotation + i * step) % sizes.len()];
                    heap.give(start, bytes);
                }
                taken.clear();
                assert_eq!(heap.free, vec![0x1040..0x2000]);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_is_lost() {
        let mut heap = Heap::new(0..256);
        assert_eq!(heap.take(257), None);
        assert_eq!(heap.take(u64::MAX), None);
        assert_eq!(heap.take(256), Some(0));
        assert_eq!(heap.take(0), None);
        heap.give(0, 256);
        assert_eq!(heap.take(200), Some(0));
    }
}

//! The crossings between the two clocks: counters through flip-flops, and the
//! word FIFOs built from them.
//!
//! The writer owns `written`, the reader owns `read`; each side sees the
//! other's counter through two flip-flops of its own clock. A stale counter is
//! always on the safe side: the reader sees too few words, the writer too few
//! free places.

/// Words of storage in a FIFO; the usable capacity is a parameter.
pub(super) const DEPTH: usize = 256;

/// A counter of one clock, seen from the other clock through flip-flops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Crossing {
    source: u16,
    stages: [u16; 2],
}

impl Crossing {
    /// Adds one, in the clock of the source.
    pub(super) fn bump(&mut self) {
        self.source = self.source.wrapping_add(1);
    }

    /// The counter in its own clock.
    pub(super) const fn source(&self) -> u16 {
        self.source
    }

    /// The counter as the other clock sees it after two flip-flops.
    pub(super) const fn seen(&self) -> u16 {
        self.stages[1]
    }

    /// The counter after `stages` flip-flops, 0 to 2 (more count as 2).
    pub(super) const fn seen_after(&self, stages: u8) -> u16 {
        match stages {
            0 => self.source,
            1 => self.stages[0],
            _ => self.stages[1],
        }
    }

    /// One edge of the other clock.
    pub(super) const fn clock(&mut self) {
        self.stages = [self.source, self.stages[0]];
    }

    /// Further edges of the other clock change nothing.
    pub(super) const fn is_settled(&self) -> bool {
        self.stages[0] == self.source && self.stages[1] == self.source
    }
}

/// A FIFO of words between the two clocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fifo<T> {
    words: [T; DEPTH],
    capacity: u16,
    written: Crossing,
    read: Crossing,
}

impl<T: Copy> Fifo<T> {
    /// An empty FIFO of `capacity` words; `fill` is never read.
    pub(super) const fn new(capacity: u16, fill: T) -> Self {
        Self {
            words: [fill; DEPTH],
            capacity,
            written: Crossing {
                source: 0,
                stages: [0; 2],
            },
            read: Crossing {
                source: 0,
                stages: [0; 2],
            },
        }
    }

    /// Free places as the writer sees them.
    pub(super) const fn free(&self) -> u16 {
        self.capacity
            .saturating_sub(self.written.source().wrapping_sub(self.read.seen()))
    }

    /// Stores a word; `false` when there is no room (the word is dropped).
    pub(super) fn push(&mut self, word: T) -> bool {
        if self.free() == 0 {
            return false;
        }
        self.words[self.written.source() as usize % DEPTH] = word;
        self.written.bump();
        true
    }

    /// Words as the reader sees them.
    pub(super) const fn visible(&self) -> u16 {
        self.written.seen().wrapping_sub(self.read.source())
    }

    /// The word `ahead` places behind the head, if the reader sees it.
    pub(super) fn peek(&self, ahead: u16) -> Option<T> {
        (ahead < self.visible())
            .then(|| self.words[self.read.source().wrapping_add(ahead) as usize % DEPTH])
    }

    /// Takes the head.
    pub(super) fn pop(&mut self) -> Option<T> {
        let head = self.peek(0)?;
        self.read.bump();
        Some(head)
    }

    /// One edge of the reader's clock.
    pub(super) const fn clock_reader(&mut self) {
        self.written.clock();
    }

    /// One edge of the writer's clock.
    pub(super) const fn clock_writer(&mut self) {
        self.read.clock();
    }

    /// The reader sees all that was written.
    pub(super) const fn reader_is_settled(&self) -> bool {
        self.written.is_settled()
    }

    /// The writer sees all that was read.
    pub(super) const fn writer_is_settled(&self) -> bool {
        self.read.is_settled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_seen_after_two_edges_of_the_reader() {
        let mut fifo = Fifo::new(4, 0u32);
        assert!(fifo.push(7));
        assert_eq!(fifo.peek(0), None);
        fifo.clock_reader();
        assert_eq!(fifo.peek(0), None);
        fifo.clock_reader();
        assert_eq!(fifo.pop(), Some(7));
        assert!(fifo.reader_is_settled());
    }

    #[test]
    fn room_comes_back_after_two_edges_of_the_writer() {
        let mut fifo = Fifo::new(2, 0u32);
        assert!(fifo.push(1) && fifo.push(2) && !fifo.push(3));
        fifo.clock_reader();
        fifo.clock_reader();
        assert_eq!(fifo.pop(), Some(1));
        fifo.clock_writer();
        assert_eq!(fifo.free(), 0);
        fifo.clock_writer();
        assert_eq!(fifo.free(), 1);
    }

    #[test]
    fn counters_wrap_without_loss() {
        let mut fifo = Fifo::new(3, 0u32);
        for k in 0..200_000u32 {
            assert!(fifo.push(k));
            fifo.clock_reader();
            fifo.clock_reader();
            assert_eq!(fifo.pop(), Some(k));
            fifo.clock_writer();
            fifo.clock_writer();
        }
    }
}

//! An ordered set of keys that is found by pattern: hash chains inside of a
//! slab.
//!
//! A cell holds an entry, or is free. The entry has `N` *nodes*, one for each
//! pattern that finds it; node `n` of cell `i` has the number `i * N + n`. A
//! cell also holds `N` buckets of the hash table, which have nothing to do with
//! its entry: so there are as many buckets as nodes, whatever the size.

use managed::ManagedSlice;

use super::{Envelope, Pattern};

/// No node, no cell.
const NONE: u32 = u32::MAX;

/// A key of `N` nodes.
pub(super) trait Key<const N: usize> {
    /// The pattern that finds node `node`, if the node is used at all.
    fn pattern(&self, node: usize) -> Option<Pattern>;
}

impl Key<1> for Pattern {
    fn pattern(&self, _: usize) -> Option<Pattern> {
        Some(*self)
    }
}

impl Key<4> for Envelope {
    fn pattern(&self, node: usize) -> Option<Pattern> {
        Self::pattern(self, node)
    }
}

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
}

const UNLINKED: Link = Link {
    previous: NONE,
    next: NONE,
};

/// First and last node of a chain.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    head: u32,
    tail: u32,
}

const EMPTY: Bucket = Bucket {
    head: NONE,
    tail: NONE,
};

/// Room for an entry; the storage that a [`Matcher`](super::Matcher) is given.
#[derive(Clone, Debug)]
pub struct Cell<K, V, const N: usize> {
    entry: Option<(K, V)>,
    sequence: u64,
    /// Of a free cell, `links[0].next` is the next free cell.
    links: [Link; N],
    buckets: [Bucket; N],
}

/// Room for a posted receive that is known by a `P`.
pub type PostedCell<P> = Cell<Pattern, P, 1>;

/// Room for an unexpected message that is known by a `U`.
pub type UnexpectedCell<U> = Cell<Envelope, U, 4>;

impl<K, V, const N: usize> Cell<K, V, N> {
    /// Room.
    pub const EMPTY: Self = Self {
        entry: None,
        sequence: 0,
        links: [UNLINKED; N],
        buckets: [EMPTY; N],
    };
}

impl<K, V, const N: usize> Default for Cell<K, V, N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

#[derive(Debug)]
pub(super) struct Table<'s, K, V, const N: usize> {
    cells: ManagedSlice<'s, Cell<K, V, N>>,
    free: u32,
    len: usize,
}

impl<'s, K: Key<N>, V, const N: usize> Table<'s, K, V, N> {
    pub fn new(mut cells: ManagedSlice<'s, Cell<K, V, N>>) -> Self {
        let usable = usable::<N>(cells.len());
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = Cell::EMPTY;
            if let Some(link) = cell.links.first_mut()
                && i + 1 < usable
            {
                link.next = i as u32 + 1;
            }
        }
        Self {
            cells,
            free: if usable == 0 { NONE } else { 0 },
            len: 0,
        }
    }

    pub fn capacity(&self) -> usize {
        usable::<N>(self.cells.len())
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends an entry, unless the table is full; gives its cell.
    pub fn insert(&mut self, key: K, value: V, sequence: u64) -> Option<u32> {
        let index = self.free;
        let cell = self.cells.get_mut(index as usize)?;
        self.free = cell.links.first()?.next;
        let patterns: [_; N] = core::array::from_fn(|n| key.pattern(n));
        cell.entry = Some((key, value));
        cell.sequence = sequence;
        cell.links = [UNLINKED; N];
        self.len += 1;
        for (n, pattern) in patterns.into_iter().enumerate() {
            if let Some(pattern) = pattern {
                self.append(index * N as u32 + n as u32, &pattern);
            }
        }
        Some(index)
    }

    /// The earliest entry that this pattern finds, and its sequence number.
    pub fn find(&self, pattern: &Pattern) -> Option<(u32, u64)> {
        let mut node = self.bucket(pattern)?.head;
        while let Some((cell, n)) = self.node(node) {
            if let Some((key, _)) = &cell.entry
                && key.pattern(n).as_ref() == Some(pattern)
            {
                return Some((node / N as u32, cell.sequence));
            }
            node = cell.links.get(n)?.next;
        }
        None
    }

    /// The entry in a cell, if it is the one of this sequence number.
    pub fn get(&self, index: u32, sequence: u64) -> Option<&(K, V)> {
        let cell = self.cells.get(index as usize)?;
        cell.entry.as_ref().filter(|_| cell.sequence == sequence)
    }

    pub fn get_mut(&mut self, index: u32, sequence: u64) -> Option<&mut V> {
        let cell = self.cells.get_mut(index as usize)?;
        let (_, value) = cell.entry.as_mut()?;
        (cell.sequence == sequence).then_some(value)
    }

    /// Takes an entry out, if it is the one of this sequence number.
    pub fn remove(&mut self, index: u32, sequence: u64) -> Option<(K, V)> {
        self.get(index, sequence)?;
        let cell = self.cells.get_mut(index as usize)?;
        let (key, value) = cell.entry.take()?;
        for n in 0..N {
            if let Some(pattern) = key.pattern(n) {
                self.unlink(index * N as u32 + n as u32, &pattern);
            }
        }
        let free = self.free;
        if let Some(link) = self.link_mut(index * N as u32) {
            link.next = free;
        }
        self.free = index;
        self.len -= 1;
        Some((key, value))
    }

    /// Entries in the order of their cells, with cell and sequence number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64, &K, &V)> {
        let cells = self.cells.iter().enumerate();
        cells.filter_map(|(i, cell)| {
            let (key, value) = cell.entry.as_ref()?;
            Some((i as u32, cell.sequence, key, value))
        })
    }

    /// Behind the last node of the pattern's chain.
    fn append(&mut self, node: u32, pattern: &Pattern) {
        let Some(bucket) = self.bucket_mut(pattern) else {
            return;
        };
        let last = core::mem::replace(&mut bucket.tail, node);
        if last == NONE {
            bucket.head = node;
        } else if let Some(link) = self.link_mut(last) {
            link.next = node;
        }
        if let Some(link) = self.link_mut(node) {
            link.previous = last;
        }
    }

    fn unlink(&mut self, node: u32, pattern: &Pattern) {
        let Some(link) = self.link_mut(node) else {
            return;
        };
        let Link { previous, next } = core::mem::replace(link, UNLINKED);
        if let Some(link) = self.link_mut(previous) {
            link.next = next;
        } else if let Some(bucket) = self.bucket_mut(pattern) {
            bucket.head = next;
        }
        if let Some(link) = self.link_mut(next) {
            link.previous = previous;
        } else if let Some(bucket) = self.bucket_mut(pattern) {
            bucket.tail = previous;
        }
    }

    fn node(&self, node: u32) -> Option<(&Cell<K, V, N>, usize)> {
        if node == NONE {
            return None;
        }
        let cell = self.cells.get(node as usize / N)?;
        Some((cell, node as usize % N))
    }

    fn link_mut(&mut self, node: u32) -> Option<&mut Link> {
        if node == NONE {
            return None;
        }
        let cell = self.cells.get_mut(node as usize / N)?;
        cell.links.get_mut(node as usize % N)
    }

    /// A number of nodes times a fraction of 2^32: every bucket as likely.
    fn place(&self, pattern: &Pattern) -> usize {
        let buckets = (self.capacity() * N) as u64;
        ((buckets * u64::from(pattern.hash())) >> 32) as usize
    }

    fn bucket(&self, pattern: &Pattern) -> Option<&Bucket> {
        let place = self.place(pattern);
        self.cells.get(place / N)?.buckets.get(place % N)
    }

    fn bucket_mut(&mut self, pattern: &Pattern) -> Option<&mut Bucket> {
        let place = self.place(pattern);
        self.cells.get_mut(place / N)?.buckets.get_mut(place % N)
    }
}

/// Cells whose nodes can be numbered.
fn usable<const N: usize>(cells: usize) -> usize {
    cells.min(NONE as usize / N.max(1) - 1)
}

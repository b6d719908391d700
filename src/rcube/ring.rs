//! A FIFO of symbols in a fixed ring.

use crate::hsl::Symbol;

/// `N` symbols, a power of two up to 128. The two indices run freely and are
/// masked on use, so that full and empty differ.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Ring<const N: usize> {
    slots: [Symbol; N],
    head: u8,
    tail: u8,
}

impl<const N: usize> Ring<N> {
    const MASK: usize = {
        assert!(N.is_power_of_two() && N <= 128, "index must wrap with u8");
        N - 1
    };

    pub(super) const fn new() -> Self {
        Self {
            slots: [Symbol::data(0); N],
            head: 0,
            tail: 0,
        }
    }

    #[inline]
    pub(super) const fn len(&self) -> u8 {
        self.tail.wrapping_sub(self.head)
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    pub(super) const fn clear(&mut self) {
        self.head = self.tail;
    }

    /// The symbol `k` places behind the front; whatever was there when the
    /// ring is shorter.
    #[inline]
    pub(super) const fn peek(&self, k: u8) -> Symbol {
        self.slots[self.head.wrapping_add(k) as usize & Self::MASK]
    }

    /// Takes the front off a ring that is not empty.
    #[inline]
    pub(super) const fn pop(&mut self) -> Symbol {
        let symbol = self.peek(0);
        self.head = self.head.wrapping_add(1);
        symbol
    }

    /// Appends to a ring that is not full.
    #[inline]
    pub(super) const fn push(&mut self, symbol: Symbol) {
        self.slots[self.tail as usize & Self::MASK] = symbol;
        self.tail = self.tail.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_come_out_in_order_across_the_wrap() {
        let mut ring = Ring::<8>::new();
        let (mut next, mut expected) = (0u8, 0u8);
        for round in 0..1_000u32 {
            let room = 8 - ring.len();
            for _ in 0..(round % 9).min(room.into()) {
                ring.push(Symbol::data(next));
                next = next.wrapping_add(1);
            }
            for _ in 0..(round % 7).min(ring.len().into()) {
                assert_eq!(ring.peek(0), Symbol::data(expected));
                assert_eq!(ring.pop(), Symbol::data(expected));
                expected = expected.wrapping_add(1);
            }
            assert_eq!(ring.len(), next.wrapping_sub(expected));
        }
    }
}

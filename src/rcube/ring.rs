//! FIFOs of symbols in fixed rings, one a port, their indices side by side.

use super::PORTS;
use crate::hsl::Symbol;
use crate::hsl::word::{at_least, broadcast, byte, nonzero, ones, without};

/// Eight rings of `N` symbols, a power of two up to 64.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Rings<const N: usize> {
    slots: [[Symbol; N]; PORTS],
    // Slot of the front, first slot behind the back: bytes for one port, a word
    // for all.
    heads: [u8; PORTS],
    tails: [u8; PORTS],
    // Symbols, a byte a port.
    lengths: u64,
}

impl<const N: usize> Rings<N> {
    const MASK: usize = {
        assert!(
            N.is_power_of_two() && N <= 64,
            "index must fit a byte with room to carry"
        );
        N - 1
    };
    const MASKS: u64 = broadcast(Self::MASK as u8);

    pub(super) const fn new() -> Self {
        Self {
            slots: [[Symbol::data(0); N]; PORTS],
            heads: [0; PORTS],
            tails: [0; PORTS],
            lengths: 0,
        }
    }

    // The next slots of the rings with a 1 in `step`.
    #[inline]
    const fn advance(slots: [u8; PORTS], step: u64) -> [u8; PORTS] {
        ((u64::from_le_bytes(slots) + step) & Self::MASKS).to_le_bytes()
    }

    /// The rings that are not empty.
    #[inline]
    pub(super) const fn ready(&self) -> u8 {
        nonzero(self.lengths)
    }

    /// The rings with at least this many symbols.
    #[inline]
    pub(super) const fn holding(&self, symbols: u8) -> u8 {
        at_least(self.lengths, symbols)
    }

    pub(super) const fn len(&self, port: usize) -> u8 {
        byte(self.lengths, port)
    }

    /// The symbol `k` places behind the front; whatever was there when the
    /// ring is shorter.
    #[inline]
    pub(super) const fn peek(&self, port: usize, k: u8) -> Symbol {
        let port = port & (PORTS - 1);
        self.slots[port][(self.heads[port] as usize).wrapping_add(k as usize) & Self::MASK]
    }

    /// The fronts were taken off these rings, none of which was empty.
    #[inline]
    pub(super) fn popped(&mut self, ports: u8) {
        let step = ones(ports);
        self.heads = Self::advance(self.heads, step);
        self.lengths -= step;
    }

    /// Writes behind the back of a ring; it counts once
    /// [`pushed`](Self::pushed).
    #[inline]
    pub(super) const fn put(&mut self, port: usize, symbol: Symbol) {
        let port = port & (PORTS - 1);
        self.slots[port][self.tails[port] as usize & Self::MASK] = symbol;
    }

    /// One symbol more in each of these rings, none of which was full.
    #[inline]
    pub(super) fn pushed(&mut self, ports: u8) {
        let step = ones(ports);
        self.tails = Self::advance(self.tails, step);
        self.lengths += step;
    }

    pub(super) fn clear(&mut self, ports: u8) {
        let (heads, tails) = (
            u64::from_le_bytes(self.heads),
            u64::from_le_bytes(self.tails),
        );
        self.tails = (without(tails, ports) | without(heads, !ports)).to_le_bytes();
        self.lengths = without(self.lengths, ports);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::hsl::word::Set;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn rings_are_queues(steps in prop::collection::vec((any::<u8>(), any::<u8>(), prop::bool::weighted(0.05)), 1..400)) {
            let mut rings = Rings::<8>::new();
            let mut queues: [VecDeque<Symbol>; PORTS] = Default::default();
            for (n, (pop, push, clear)) in steps.into_iter().enumerate() {
                let pop = pop & rings.ready();
                for k in Set(pop) {
                    prop_assert_eq!(Some(rings.peek(k, 0)), queues[k].pop_front());
                }
                rings.popped(pop);
                let push = push & !rings.holding(8);
                for k in Set(push) {
                    let symbol = Symbol::data((n * 8 + k) as u8);
                    rings.put(k, symbol);
                    queues[k].push_back(symbol);
                }
                rings.pushed(push);
                if clear {
                    rings.clear(push);
                    Set(push).for_each(|k| queues[k].clear());
                }
                for (k, queue) in queues.iter().enumerate() {
                    prop_assert_eq!(usize::from(rings.len(k)), queue.len());
                    prop_assert_eq!(rings.ready() >> k & 1 == 1, !queue.is_empty());
                    prop_assert_eq!(rings.holding(5) >> k & 1 == 1, queue.len() >= 5);
                    if let Some(second) = queue.get(1) {
                        prop_assert_eq!(rings.peek(k, 1), *second);
                    }
                }
            }
        }
    }
}

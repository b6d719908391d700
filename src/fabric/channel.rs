//! One direction of a cable: a delay line between two pins.
//!
//! A chip that sleeps writes nothing, so the line stores changes only: what
//! was written last holds until the next change. A reader that finds the line
//! settled may sleep as well.

use core::fmt;

use crate::hsl::Line;
use crate::time::{Duration, Frequency};

const SLOTS: usize = 64;

/// The delay line of one direction of a cable.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Channel {
    // In this order, so that what a short cable uses lies together.
    filled: u64,
    last: Line,
    delay: u8,
    // Of the slots, `mask + 1` are used: enough for the delay, and no more.
    mask: u8,
    // Slot `c & mask` is what the reader samples at its edge `c`, for
    // `c <= filled`; beyond that it samples `last`.
    ring: [Line; SLOTS],
}

impl Channel {
    /// The longest delay, in link cycles: about 900 ns at 66 MHz, twice what
    /// the longest fibre of the record needs.
    pub const MAX_DELAY: u64 = SLOTS as u64 - 1;

    /// The shortest line: what one chip drives after an edge, the other samples
    /// at the next.
    pub const DIRECT: Self = Self::of(1);

    const fn of(delay: u64) -> Self {
        Self {
            filled: 0,
            last: Line::DEAD,
            delay: delay as u8,
            mask: (delay as u8 + 1).next_power_of_two() - 1,
            ring: [Line::DEAD; SLOTS],
        }
    }

    /// A line of `delay` link cycles from pin to pin (at least 1, the sender's
    /// own register) without signal.
    ///
    /// # Errors
    /// [`DelayError`] when the delay is 0 or over [`MAX_DELAY`](Self::MAX_DELAY).
    pub const fn new(delay: u64) -> Result<Self, DelayError> {
        if delay == 0 || delay > Self::MAX_DELAY {
            return Err(DelayError { cycles: delay });
        }
        Ok(Self::of(delay))
    }

    /// A line for a wire of `wire` at a link clock.
    ///
    /// # Errors
    /// [`DelayError`] when the wire is too long.
    pub const fn for_wire(wire: Duration, link: Frequency) -> Result<Self, DelayError> {
        let cycles = link.cycles_covering(wire);
        Self::new(if cycles == 0 { 1 } else { cycles })
    }

    /// Link cycles from pin to pin.
    pub const fn delay(&self) -> u64 {
        self.delay as u64
    }

    const fn slot(&self, cycle: u64) -> usize {
        (cycle as u8 & self.mask) as usize % SLOTS
    }

    /// What the far end samples at its edge `cycle`; it may ask for the present
    /// edge of the link clock and later ones.
    #[inline]
    pub fn read(&self, cycle: u64) -> Line {
        if cycle > self.filled {
            self.last
        } else {
            self.ring[self.slot(cycle)]
        }
    }

    /// Takes what the near end drives after its edge `cycle`; true when the far
    /// end has to be woken for it, at edge `cycle + delay`. Behind a line that
    /// is not quiet it is awake anyway.
    #[inline]
    pub fn write(&mut self, cycle: u64, line: Line) -> bool {
        if line == self.last && line.is_quiet() {
            return false;
        }
        let wakes = self.last.is_quiet();
        let at = cycle + self.delay();
        // What nobody wrote while the sender slept was its last line. The
        // reader may still ask for this edge.
        let mut gap = (self.filled + 1).max(cycle);
        while gap < at {
            let slot = self.slot(gap);
            self.ring[slot] = self.last;
            gap += 1;
        }
        let slot = self.slot(at);
        self.ring[slot] = line;
        self.filled = at;
        self.last = line;
        wakes
    }

    /// From edge `cycle` on, and until the next [`write`](Self::write) of
    /// another line, the far end samples the same quiet line.
    #[inline]
    pub fn is_settled(&self, cycle: u64) -> bool {
        cycle >= self.filled && self.last.is_quiet()
    }

    /// Whether a reader that has seen edge `cycle` will see the same on both.
    pub fn same_after(&self, other: &Self, cycle: u64) -> bool {
        self.delay == other.delay
            && self.last == other.last
            && (cycle + 1..=cycle + self.delay()).all(|c| self.read(c) == other.read(c))
    }

    /// The line that holds when [settled](Self::is_settled).
    pub fn last(&self) -> Line {
        self.last
    }
}

/// A delay that no channel can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct DelayError {
    /// The offending value, in link cycles.
    pub cycles: u64,
}

impl fmt::Display for DelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cable delay of {} link cycles is outside 1..={}",
            self.cycles,
            Channel::MAX_DELAY
        )
    }
}

impl core::error::Error for DelayError {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;
    use std::vec::Vec;

    use super::*;
    use crate::hsl::Symbol;

    #[test]
    fn delays_exactly_with_and_without_writes() {
        for delay in [1, 2, 7, 63] {
            let mut always = Channel::new(delay).unwrap();
            let mut sparse = Channel::new(delay).unwrap();
            let mut sent: Vec<Line> = Vec::new();
            let mut seed = delay;
            for cycle in 1..5_000u64 {
                let check = |always: &Channel, sparse: &Channel, sent: &[Line]| {
                    for channel in [always, sparse] {
                        let expected = cycle
                            .checked_sub(delay + 1)
                            .and_then(|i| sent.get(i as usize).copied())
                            .unwrap_or(Line::DEAD);
                        assert_eq!(channel.read(cycle), expected, "cycle {cycle}");
                    }
                };
                check(&always, &sparse, &sent);
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let line = match (seed >> 60, sent.last().copied()) {
                    (0, _) => Line::IDLE,
                    (1, _) => Line::DEAD,
                    (2..4, _) => Line::symbol_of(Symbol::data((seed >> 40) as u8)),
                    (_, Some(same)) if same.is_quiet() => same,
                    _ => Line::IDLE,
                };
                always.write(cycle, line);
                // A sleeping sender writes changes only.
                if sent.last() != Some(&line) || !line.is_quiet() {
                    sparse.write(cycle, line);
                }
                // The reader may be visited after the writer.
                check(&always, &sparse, &sent);
                sent.push(line);
            }
        }
    }

    #[test]
    fn settles_after_its_delay() {
        let mut channel = Channel::new(3).unwrap();
        assert!(channel.is_settled(0));
        assert!(channel.write(10, Line::symbol_of(Symbol::EP)));
        assert!(!channel.is_settled(100));
        assert!(!channel.write(11, Line::IDLE));
        assert!(!channel.is_settled(13));
        assert!(channel.is_settled(14));
        assert!(!channel.write(12, Line::IDLE));
    }

    #[test]
    fn bad_delays_are_named() {
        assert_eq!(
            Channel::new(64).unwrap_err().to_string(),
            "cable delay of 64 link cycles is outside 1..=63"
        );
        assert!(Channel::new(0).is_err());
        let fibre = Channel::for_wire(Duration::from_ns(350), Frequency::LINK_66_MHZ).unwrap();
        assert_eq!(fibre.delay(), 24);
        let short = Channel::for_wire(Duration::from_ns(15), Frequency::LINK_66_MHZ).unwrap();
        assert_eq!(short.delay(), 1);
    }
}

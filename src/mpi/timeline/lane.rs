//! One rank's time, without gaps.

use alloc::vec::Vec;

use super::breakdown::{Breakdown, Part};
use crate::time::Instant;

/// A stretch of time spent on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Span {
    /// On what.
    pub part: Part,
    /// From when.
    pub start: Instant,
    /// Until when.
    pub end: Instant,
}

/// One rank's time, without gaps, from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// The node that the rank runs on.
    pub node: u16,
    /// When the run started, and up to when the lane is filled.
    pub start: Instant,
    /// Up to when the lane is filled.
    pub end: Instant,
    /// What was done when, in order; empty when the run did not record.
    pub spans: Vec<Span>,
    /// The sums.
    pub breakdown: Breakdown,
    record: bool,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Lane {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Lane {{ node: {=u16}, start: {}, end: {}, {} }}",
            self.node,
            self.start,
            self.end,
            self.breakdown
        );
    }
}

impl Lane {
    /// An empty lane; `record` keeps the spans, not only their sums.
    pub fn new(node: u16, start: Instant, record: bool) -> Self {
        Self {
            node,
            start,
            end: start,
            record,
            ..Self::default()
        }
    }

    /// Appends a stretch. What lies before the end of the lane is cut off, and
    /// a gap is waiting.
    pub fn push(&mut self, part: Part, start: Instant, end: Instant) {
        if start > self.end {
            self.append(Part::Waiting, start);
        }
        self.append(part, end);
    }

    /// Fills the lane up to `end`.
    pub fn append(&mut self, part: Part, end: Instant) {
        if end <= self.end {
            return;
        }
        self.breakdown.add(part, end - self.end);
        if self.record {
            match self.spans.last_mut() {
                Some(last) if last.part == part => last.end = end,
                _ => self.spans.push(Span {
                    part,
                    start: self.end,
                    end,
                }),
            }
        }
        self.end = end;
    }
}

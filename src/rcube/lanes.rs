//! Registers of all eight ports side by side: the deserialisers and the
//! serialisers, one 16-bit lane a port, so that a shift moves a machine word
//! or two a stage.

use super::PORTS;
use super::config::STAGES;
use crate::hsl::Line;

/// Up to four registers behind each other, for each port.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Stages([[Line; PORTS]; STAGES]);

impl Stages {
    pub(super) const DEAD: Self = Self([[Line::DEAD; PORTS]; STAGES]);

    /// One edge.
    #[inline]
    pub(super) fn shift(&mut self, lines: &[Line; PORTS]) {
        let [a, b, c, _] = self.0;
        self.0 = [*lines, a, b, c];
    }

    /// What left register `depth` (from 1) at the last edge.
    #[inline]
    pub(super) fn tap(&self, depth: u8) -> &[Line; PORTS] {
        &self.0[usize::from(depth).wrapping_sub(1) & (STAGES - 1)]
    }

    /// All registers hold these lines: more edges change nothing.
    pub(super) fn settled(&self, lines: &[Line; PORTS]) -> bool {
        self.0.iter().all(|stage| stage == lines)
    }
}

/// Where the parallel ports are, as a mask of lanes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Blend([u16; PORTS]);

impl Blend {
    pub(super) fn new(parallel: u8) -> Self {
        let mut lanes = [0; PORTS];
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane = if parallel >> k & 1 == 1 { u16::MAX } else { 0 };
        }
        Self(lanes)
    }

    /// The lanes of the parallel ports from `parallel`, the others from
    /// `serial`.
    #[inline]
    pub(super) fn of(&self, serial: &[Line; PORTS], parallel: &[Line; PORTS]) -> [Line; PORTS] {
        let mut lines = [Line::DEAD; PORTS];
        for k in 0..PORTS {
            let bits = (serial[k].bits() & !self.0[k]) | (parallel[k].bits() & self.0[k]);
            lines[k] = Line::from_bits(bits);
        }
        lines
    }
}

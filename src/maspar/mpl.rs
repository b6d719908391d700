//! `router[]`: the loop that serves every request, and the data it moves.
//!
//! ```text
//! tflag = enabled;
//! do { ropen; rfetchc32; __routerCount++; } while (gor1(tflag));
//! ```
//!
//! In MPL, `router[i].v` names a PE for each active PE. Every request is
//! served, in as many cycles as it takes. Source: hw/doc/maspar.md, section
//! "Instructions and ticks".

use core::fmt;

use super::geometry::MAX_PES;
use super::pattern::{Pattern, SizeMismatch};
use super::router::{Connection, Router};
use super::ticks::Width;

/// What a loop did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct LoopReport {
    /// Times round the loop: router cycles. 0 when nobody asked.
    #[doc(alias = "__routerCount")]
    pub cycles: u32,
    /// PEs served.
    pub served: u32,
    /// Ticks, from the first `ropen` to the last branch.
    pub ticks: u64,
}

/// A value that fits the router's data widths.
pub trait Word: Copy + sealed::Sealed {
    /// How wide it is.
    const WIDTH: Width;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! words {
    ($($kind:ty => $width:ident),*) => {$(
        impl sealed::Sealed for $kind {}
        impl Word for $kind {
            const WIDTH: Width = Width::$width;
        }
    )*};
}
words!(u8 => W8, i8 => W8, u16 => W16, i16 => W16, u32 => W32, i32 => W32, f32 => W32,
       u64 => W64, i64 => W64, f64 => W64);

impl Router {
    /// Runs the hardware loop over a pattern. `carry` is told the number of
    /// the cycle, from 0, and each path of it.
    ///
    /// # Errors
    /// [`SizeMismatch`] when the pattern is for a machine of another size.
    pub fn route(
        &mut self,
        pattern: &Pattern,
        width: Width,
        mut carry: impl FnMut(u32, Connection),
    ) -> Result<LoopReport, SizeMismatch> {
        self.load(pattern)?;
        let start = self.ticks();
        let mut report = LoopReport::default();
        while self.pending() {
            self.ropen();
            report.served += self.rfetch(width, |path| carry(report.cycles, path));
            self.gor1();
            report.cycles += 1;
        }
        report.ticks = self.ticks() - start;
        Ok(report)
    }

    /// `v = router[i].v`: each PE that takes part gets `values[target]` into
    /// its entry of `into`; the other entries stay.
    ///
    /// # Errors
    /// [`MoveError`] when the arrays or the pattern do not fit the machine.
    pub fn fetch<T: Word>(
        &mut self,
        pattern: &Pattern,
        values: &[T],
        into: &mut [T],
    ) -> Result<LoopReport, MoveError> {
        self.arrays_fit(values.len(), into.len())?;
        let report = self.route(pattern, T::WIDTH, |_, path| {
            if let (Some(to), Some(from)) = (
                into.get_mut(path.source as usize),
                values.get(path.target as usize),
            ) {
                *to = *from;
            }
        })?;
        Ok(report)
    }

    /// `router[i].v = v`: the entry of each PE that takes part goes to
    /// `into[target]`. Of several senders to one PE the one served in the
    /// highest cycle survives (chosen: MPL allows any).
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn send<T: Word>(
        &mut self,
        pattern: &Pattern,
        values: &[T],
        into: &mut [T],
    ) -> Result<LoopReport, MoveError> {
        self.arrays_fit(values.len(), into.len())?;
        let report = self.route(pattern, T::WIDTH, |_, path| {
            if let (Some(to), Some(from)) = (
                into.get_mut(path.target as usize),
                values.get(path.source as usize),
            ) {
                *to = *from;
            }
        })?;
        Ok(report)
    }

    fn arrays_fit(&self, from: usize, into: usize) -> Result<(), MoveError> {
        let pes = self.size().pes();
        for len in [from, into] {
            if len != pes {
                return Err(MoveError::Length { len, pes });
            }
        }
        Ok(())
    }

    /// The cycle of each PE when the hardware loop runs a pattern, without
    /// ticks.
    ///
    /// # Errors
    /// [`SizeMismatch`] when the pattern is for a machine of another size.
    pub fn timetable(&mut self, pattern: &Pattern) -> Result<Timetable, SizeMismatch> {
        self.load(pattern)?;
        let mut table = Timetable {
            pes: self.size().pes(),
            cycles: 0,
            when: [NEVER; MAX_PES],
        };
        let geometry = self.wiring().geometry().clone();
        loop {
            let cycle = table.cycles as u16;
            let served = self.cycle(|slot| {
                if let Some(when) = table.when.get_mut(geometry.id(slot) as usize) {
                    *when = cycle;
                }
            });
            if served == 0 {
                return Ok(table);
            }
            table.cycles += 1;
        }
    }

    /// Runs the loop over the `tflag`s that are set and returns its cycles,
    /// without ticks.
    pub fn drain(&mut self) -> u32 {
        let mut cycles = 0;
        while self.cycle(|_| {}) != 0 {
            cycles += 1;
        }
        cycles
    }
}

const NEVER: u16 = u16::MAX;

/// The cycle in which each PE was served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Timetable {
    pes: usize,
    cycles: u32,
    when: [u16; MAX_PES],
}

impl Timetable {
    /// Cycles in all.
    pub const fn cycles(&self) -> u32 {
        self.cycles
    }

    /// The cycle of a PE, from 0; [`None`] for one that did not take part.
    pub fn when(&self, id: u16) -> Option<u16> {
        self.raw()
            .get(id as usize)
            .copied()
            .filter(|&cycle| cycle != NEVER)
    }

    /// The cycle of each PE, 65,535 for one that did not take part.
    pub fn raw(&self) -> &[u16] {
        self.when.get(..self.pes).unwrap_or(&self.when)
    }

    /// Fills `counts` with the PEs served in each cycle; cycles beyond its
    /// length are left out. Returns the part that was filled.
    pub fn profile<'a>(&self, counts: &'a mut [u32]) -> &'a [u32] {
        let used = counts.len().min(self.cycles as usize);
        let (counts, _) = counts.split_at_mut(used);
        counts.fill(0);
        for &cycle in self.raw() {
            if let Some(count) = counts.get_mut(cycle as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// 64-bit FNV-1a over the cycles of all PEs, 16 bits little-endian each.
    pub fn fnv64(&self) -> u64 {
        self.raw()
            .iter()
            .flat_map(|cycle| cycle.to_le_bytes())
            .fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            })
    }
}

/// Arrays or a pattern that do not fit the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MoveError {
    /// The pattern is for another machine.
    Pattern(SizeMismatch),
    /// An array has not one value for each PE.
    Length {
        /// Its values.
        len: usize,
        /// PEs of the machine.
        pes: usize,
    },
}

impl From<SizeMismatch> for MoveError {
    fn from(error: SizeMismatch) -> Self {
        Self::Pattern(error)
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => error.fmt(f),
            Self::Length { len, pes } => write!(f, "{len} values for a machine of {pes} PEs"),
        }
    }
}

impl core::error::Error for MoveError {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::maspar::{MachineSize, RouterConfig};

    fn router(size: MachineSize) -> Router {
        Router::new(&RouterConfig::MP1.with_size(size)).unwrap()
    }

    #[test]
    fn fetch_gives_each_requester_the_value() {
        let size = MachineSize::Pes2048;
        let pattern = Pattern::random_function(size, 5).only(|id| id % 3 != 0);
        let values: Vec<u32> = (0..2048).map(|id| id * 7 + 1).collect();
        let mut got = vec![0; 2048];
        router(size).fetch(&pattern, &values, &mut got).unwrap();
        for id in 0..2048u16 {
            let expected = pattern.target(id).map_or(0, |to| u32::from(to) * 7 + 1);
            assert_eq!(got[id as usize], expected);
        }
    }

    #[test]
    fn last_served_sender_survives() {
        let size = MachineSize::Pes1024;
        let mut router = router(size);
        let pattern = Pattern::all_to(size, 3);
        let table = router.timetable(&pattern).unwrap();
        assert_eq!(table.cycles(), 1024);
        let last = (0..1024).find(|&id| table.when(id) == Some(1023)).unwrap();
        let values: Vec<u16> = (0..1024).collect();
        let mut into = vec![u16::MAX; 1024];
        router.send(&pattern, &values, &mut into).unwrap();
        assert_eq!(into[3], last);
        assert_eq!(into.iter().filter(|&&v| v != u16::MAX).count(), 1);
    }

    #[test]
    fn ticks_of_bit_reversal_are_a_hundred_a_cycle() {
        let size = MachineSize::Pes16384;
        let report = router(size)
            .route(&Pattern::bit_reversal(size), Width::W32, |_, _| {})
            .unwrap();
        assert_eq!(
            (report.cycles, report.served, report.ticks),
            (70, 16384, 7000)
        );
    }

    #[test]
    fn nobody_takes_no_time() {
        let size = MachineSize::Pes4096;
        let report = router(size)
            .route(&Pattern::nobody(size), Width::W8, |_, _| {})
            .unwrap();
        assert_eq!(report, LoopReport::default());
    }

    #[test]
    fn misfits_are_named() {
        let mut router = router(MachineSize::Pes1024);
        let pattern = Pattern::shuffle(MachineSize::Pes2048);
        assert!(matches!(
            router.timetable(&pattern),
            Err(SizeMismatch { pattern: 2048, .. })
        ));
        let pattern = Pattern::shuffle(MachineSize::Pes1024);
        assert_eq!(
            router.fetch(&pattern, &[0u8; 1024], &mut [0; 7]),
            Err(MoveError::Length { len: 7, pes: 1024 })
        );
    }
}

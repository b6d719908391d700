//! Static schedules: a phase for each PE, every phase one router cycle.
//!
//! A [`Schedule`] exists only if the model itself connected each of its phases
//! whole in one `ropen`. A [`Scheduler`] finds one. Which to take:
//!
//! | scheduler | for | result |
//! |---|---|---|
//! | [`HardwareLoop`] | anything | the loop's own cycles |
//! | [`FirstFit`] | anything | near the bound, often at it |
//! | [`ParityMasks`] | affine patterns over GF(2) | the optimum, no search |
//! | [`Colouring`] | bound of at most 64 | at the bound, or one above |
//! | [`Best`] | anything | the first of the above that reaches the bound |
//! | `Genetic` (feature `alloc`) | the published search | for comparison |
//!
//! Source: hw/doc/maspar.md, section "Schedules".

mod affine;
mod best;
mod colouring;
mod demand;
mod first_fit;
#[cfg(feature = "alloc")]
mod genetic;
mod hardware;
mod races;

pub use affine::{Affine, ParityMasks};
pub use best::{Best, Found};
pub use colouring::Colouring;
pub use demand::{Bound, Demand, Limit};
pub use first_fit::{FirstFit, Order};
#[cfg(feature = "alloc")]
pub use genetic::{Generation, Genetic, GeneticConfig};
pub use hardware::HardwareLoop;
pub use races::{one_sender_each, one_sender_each_by_load};

use core::fmt;

use super::geometry::{MAX_CLUSTERS, MAX_PES};
use super::pattern::{Pattern, SizeMismatch};
use super::router::Router;
use super::set::PeSet;

/// Mark of a PE without a phase.
pub const NO_PHASE: u16 = u16::MAX;

/// A way to find schedules.
pub trait Scheduler {
    /// What to call it.
    fn name(&self) -> &'static str;

    /// A schedule for the pattern, accepted by `router`. Leaves the router
    /// with the pattern's addresses and no `tflag` set; spends no ticks.
    ///
    /// # Errors
    /// [`ScheduleError`]: why there is none.
    fn schedule(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
    ) -> Result<Schedule, ScheduleError>;
}

/// A phase for each PE that takes part, each phase whole in one router cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Schedule {
    pes: usize,
    phases: u32,
    phase: [u16; MAX_PES],
}

impl Schedule {
    /// Checks phases against the model: `phase[id]` for each PE, [`NO_PHASE`]
    /// for those that do not take part.
    ///
    /// # Errors
    /// - [`ScheduleError::Size`], [`ScheduleError::Length`]: not for this machine.
    /// - [`ScheduleError::Gap`], [`ScheduleError::NotTakingPart`]: not for this
    ///   pattern.
    /// - [`ScheduleError::EmptyPhase`]: a number is left out.
    /// - [`ScheduleError::Blocked`]: a phase does not connect whole.
    pub fn checked(
        router: &mut Router,
        pattern: &Pattern,
        phase: &[u16],
    ) -> Result<Self, ScheduleError> {
        router.set_addresses(pattern)?;
        let pes = router.size().pes();
        if phase.len() != pes {
            return Err(ScheduleError::Length {
                len: phase.len(),
                pes,
            });
        }
        // PEs of each phase, as lists through `next`.
        let mut first = [NO_PHASE; MAX_PES];
        let mut next = [NO_PHASE; MAX_PES];
        let mut phases = 0;
        for (id, &number) in phase.iter().enumerate().rev() {
            let pe = id as u16;
            match (pattern.enabled().contains(pe), number) {
                (true, NO_PHASE) => return Err(ScheduleError::Gap { pe }),
                (false, NO_PHASE) => continue,
                (false, phase) => return Err(ScheduleError::NotTakingPart { pe, phase }),
                (true, _) => {}
            }
            let (Some(head), Some(link)) = (first.get_mut(number as usize), next.get_mut(id))
            else {
                return Err(ScheduleError::TooManyPhases {
                    phases: u32::from(number) + 1,
                    limit: MAX_PES as u32,
                });
            };
            *link = *head;
            *head = pe;
            phases = phases.max(u32::from(number) + 1);
        }
        let geometry = router.wiring().geometry().clone();
        for (number, &head) in first.iter().enumerate().take(phases as usize) {
            let mut flags = [0u16; MAX_CLUSTERS];
            let (mut pe, mut asked) = (head, 0);
            while pe != NO_PHASE {
                let slot = geometry.slot(pe);
                if let Some(flags) = flags.get_mut(slot as usize >> 4) {
                    *flags |= 1 << (slot & 15);
                }
                asked += 1;
                pe = next.get(pe as usize).copied().unwrap_or(NO_PHASE);
            }
            if asked == 0 {
                return Err(ScheduleError::EmptyPhase {
                    phase: number as u16,
                    phases,
                });
            }
            router.set_tflags_by_cluster(&flags);
            router.arbitrate();
            if router.connected() != asked {
                router.rclose();
                let left = (0..pes as u16).find(|&id| router.tflag(id));
                router.set_tflags(&PeSet::EMPTY);
                return Err(ScheduleError::Blocked {
                    phase: number as u16,
                    pe: left.unwrap_or(head),
                });
            }
        }
        let mut checked = Self {
            pes,
            phases,
            phase: [NO_PHASE; MAX_PES],
        };
        for (entry, &number) in checked.phase.iter_mut().zip(phase) {
            *entry = number;
        }
        Ok(checked)
    }

    /// Phases: router cycles that it takes.
    pub const fn phases(&self) -> u32 {
        self.phases
    }

    /// The phase of each PE, [`NO_PHASE`] for those that do not take part: the
    /// array that a program embeds.
    pub fn phase(&self) -> &[u16] {
        self.phase.get(..self.pes).unwrap_or(&self.phase)
    }

    /// The PEs of a phase.
    pub fn members(&self, phase: u16) -> impl Iterator<Item = u16> + '_ {
        let pes = self.phase().iter().enumerate();
        pes.filter(move |(_, p)| **p == phase && phase != NO_PHASE)
            .map(|(id, _)| id as u16)
    }

    /// Fills `counts` with the PEs of each phase; phases beyond its length are
    /// left out. Returns the part that was filled.
    pub fn profile<'a>(&self, counts: &'a mut [u32]) -> &'a [u32] {
        let used = counts.len().min(self.phases as usize);
        let (counts, _) = counts.split_at_mut(used);
        counts.fill(0);
        for &phase in self.phase() {
            if let Some(count) = counts.get_mut(phase as usize) {
                *count += 1;
            }
        }
        counts
    }
}

/// Why there is no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScheduleError {
    /// The pattern is for another machine.
    Size(SizeMismatch),
    /// Not one phase for each PE.
    Length {
        /// Phases given.
        len: usize,
        /// PEs of the machine.
        pes: usize,
    },
    /// A PE that takes part has no phase.
    Gap {
        /// The PE.
        pe: u16,
    },
    /// A PE that does not take part has a phase.
    NotTakingPart {
        /// The PE.
        pe: u16,
        /// Its phase.
        phase: u16,
    },
    /// Nobody is in a phase below the highest.
    EmptyPhase {
        /// The phase.
        phase: u16,
        /// Phases of the schedule.
        phases: u32,
    },
    /// A phase does not connect whole in one cycle.
    Blocked {
        /// The phase.
        phase: u16,
        /// A PE of it that is not connected.
        pe: u16,
    },
    /// The pattern is not affine over GF(2).
    NotAffine {
        /// The first PE that breaks it.
        pe: u16,
    },
    /// More phases than the method, or a machine, can hold.
    TooManyPhases {
        /// Phases needed.
        phases: u32,
        /// Most it can hold.
        limit: u32,
    },
    /// The effort is spent and the phases still do not connect whole.
    GaveUp {
        /// Phases tried.
        phases: u32,
        /// PEs too many on the wires of stage 1.
        excess: u32,
        /// Steps spent.
        effort: u32,
    },
}

impl From<SizeMismatch> for ScheduleError {
    fn from(error: SizeMismatch) -> Self {
        Self::Size(error)
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(error) => error.fmt(f),
            Self::Length { len, pes } => write!(f, "{len} phases for a machine of {pes} PEs"),
            Self::Gap { pe } => write!(f, "PE {pe} takes part but has no phase"),
            Self::NotTakingPart { pe, phase } => {
                write!(f, "PE {pe} has phase {phase} but does not take part")
            }
            Self::EmptyPhase { phase, phases } => {
                write!(f, "phase {phase} of {phases} has no PE")
            }
            Self::Blocked { phase, pe } => {
                write!(
                    f,
                    "phase {phase} takes more than one cycle: PE {pe} is not connected"
                )
            }
            Self::NotAffine { pe } => {
                write!(f, "pattern is not affine over GF(2): PE {pe} breaks it")
            }
            Self::TooManyPhases { phases, limit } => {
                write!(f, "{phases} phases are more than {limit}")
            }
            Self::GaveUp {
                phases,
                excess,
                effort,
            } => write!(
                f,
                "no schedule of {phases} phases found in {effort} steps, {excess} PEs in excess"
            ),
        }
    }
}

impl core::error::Error for ScheduleError {}

#[cfg(test)]
mod tests;

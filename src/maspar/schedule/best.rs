//! The recommended chain: stop at the first schedule that meets the bound.

use super::affine::ParityMasks;
use super::colouring::Colouring;
use super::demand::Bound;
use super::first_fit::{FirstFit, Order};
use super::hardware::HardwareLoop;
use super::{Schedule, ScheduleError, Scheduler};
use crate::maspar::pattern::Pattern;
use crate::maspar::router::Router;

/// What found the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Found {
    /// The hardware loop already meets the bound.
    Loop,
    /// Parity masks of an affine pattern.
    Masks,
    /// First fit in hardware order.
    FirstFitHardware,
    /// First fit in id order.
    FirstFitId,
    /// Edge colouring with Kempe repair.
    Colouring,
}

/// Tries, in this order: the loop's own cycles if they meet the bound, parity
/// masks, first fit in hardware order and in id order, edge colouring at the
/// bound and one above, the loop's own cycles at last.
///
/// The first that meets the bound is taken, else the shortest. Tables of the
/// colouring make it about 450 KiB large.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Best {
    /// The colouring, with its seed and effort.
    pub colouring: Colouring,
    found: Option<Found>,
}

impl Default for Best {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Best {
    /// A scheduler with that seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            colouring: Colouring::new(seed),
            found: None,
        }
    }

    /// What found the last schedule.
    pub const fn found(&self) -> Option<Found> {
        self.found
    }
}

impl Scheduler for Best {
    fn name(&self) -> &'static str {
        match self.found {
            None => "best",
            Some(Found::Loop) => "loop",
            Some(Found::Masks) => "parity masks",
            Some(Found::FirstFitHardware) => "first fit, hardware order",
            Some(Found::FirstFitId) => "first fit, id order",
            Some(Found::Colouring) => "edge colouring",
        }
    }

    fn schedule(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
    ) -> Result<Schedule, ScheduleError> {
        self.found = None;
        let bound = Bound::of(router, pattern)?.phases;
        let mut masks = ParityMasks {
            seed: self.colouring.seed,
            ..ParityMasks::default()
        };
        let mut in_hardware_order = FirstFit::new(Order::Hardware);
        let mut in_id_order = FirstFit::new(Order::Id);
        let cycles = router.timetable(pattern)?.cycles();
        let (mut early, mut late) = (HardwareLoop, HardwareLoop);
        let chain: [(Found, &mut dyn Scheduler, bool); 6] = [
            (Found::Loop, &mut early, cycles <= bound),
            (Found::Masks, &mut masks, true),
            (Found::FirstFitHardware, &mut in_hardware_order, true),
            (Found::FirstFitId, &mut in_id_order, true),
            (Found::Colouring, &mut self.colouring, true),
            (Found::Loop, &mut late, true),
        ];
        let mut best: Option<Schedule> = None;
        let mut failure = None;
        for (found, scheduler, _) in chain.into_iter().filter(|(_, _, worth)| *worth) {
            match scheduler.schedule(router, pattern) {
                Ok(schedule) => {
                    if best.as_ref().is_none_or(|b| schedule.phases() < b.phases()) {
                        best = Some(schedule);
                        self.found = Some(found);
                    }
                }
                Err(error) => failure = Some(error),
            }
            if let Some(schedule) = best.take_if(|b| b.phases() <= bound) {
                return Ok(schedule);
            }
        }
        let spent = ScheduleError::GaveUp {
            phases: bound,
            excess: 0,
            effort: 0,
        };
        best.ok_or(failure.unwrap_or(spent))
    }
}

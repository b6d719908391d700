//! The hardware loop's own cycles as a schedule.

use super::{Schedule, ScheduleError, Scheduler};
use crate::maspar::pattern::Pattern;
use crate::maspar::router::Router;

/// Takes the cycle of each PE in the hardware loop as its phase: as many
/// phases as the loop has cycles, but 5 % fewer ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HardwareLoop;

impl Scheduler for HardwareLoop {
    fn name(&self) -> &'static str {
        "loop"
    }

    fn schedule(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
    ) -> Result<Schedule, ScheduleError> {
        let table = router.timetable(pattern)?;
        Schedule::checked(router, pattern, table.raw())
    }
}

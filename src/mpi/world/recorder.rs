//! What an engine reports, into the lane of its rank.

use crate::mpi::timeline::{Lane, Part};
use crate::mpi::{Cause, Trace};
use crate::time::Instant;

/// The lane of a rank; none once its program is over.
pub(super) struct Recorder<'l>(pub(super) Option<&'l mut Lane>);

impl Trace for Recorder<'_> {
    fn span(&mut self, cause: Cause, start: Instant, end: Instant) {
        if let Some(lane) = &mut self.0 {
            lane.push(part(cause), start, end);
        }
    }
}

fn part(cause: Cause) -> Part {
    match cause {
        Cause::SendSoftware => Part::SendSoftware,
        Cause::ReceiveSoftware => Part::ReceiveSoftware,
        Cause::Control => Part::Control,
        Cause::Put => Part::Put,
        Cause::Copy => Part::Copy,
        Cause::PollDetect => Part::Polling,
        Cause::SystemCall => Part::SystemCall,
        Cause::Interrupt => Part::Interrupt,
        Cause::Pin => Part::Pinning,
    }
}

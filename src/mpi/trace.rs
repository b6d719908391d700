//! Where a process's time goes: the spans that its engine reports.

use super::wire::Kind;
use crate::time::Instant;

/// What a step of the engine is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Cause {
    /// A send call.
    SendSoftware,
    /// Matching and the return of a receive; posting one.
    ReceiveSoftware,
    /// Answers, credits, the end of data messages.
    Control,
    /// The driver's put call.
    Put,
    /// A copy from memory to memory.
    Copy,
    /// The look that found a notification.
    PollDetect,
    /// Entering and leaving the kernel.
    SystemCall,
    /// An interrupt.
    Interrupt,
    /// Pinning and translating pages.
    Pin,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::SendSoftware,
        Self::ReceiveSoftware,
        Self::Control,
        Self::Put,
        Self::Copy,
        Self::PollDetect,
        Self::SystemCall,
        Self::Interrupt,
        Self::Pin,
    ];

    /// A short name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendSoftware => "send software",
            Self::ReceiveSoftware => "receive software",
            Self::Control => "control",
            Self::Put => "put",
            Self::Copy => "copy",
            Self::PollDetect => "poll",
            Self::SystemCall => "system call",
            Self::Interrupt => "interrupt",
            Self::Pin => "pin",
        }
    }
}

/// One message on its way: `None` as kind is the end of a data message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Note {
    /// The other side's rank.
    pub peer: u32,
    /// Kind of control message.
    pub kind: Option<Kind>,
    /// Number in its pair; of a data message, the index of its landing.
    pub seq: u32,
    /// Bytes: payload, or the data message.
    pub length: u64,
    /// When the transport took it, or the engine acted on it.
    pub at: Instant,
}

/// Takes what an engine reports; `()` takes nothing.
pub trait Trace {
    /// The process's CPU was at work on `cause`.
    fn span(&mut self, cause: Cause, start: Instant, end: Instant);

    /// A message was handed to the transport.
    fn sent(&mut self, note: Note) {
        let _ = note;
    }

    /// A message was taken in.
    fn received(&mut self, note: Note) {
        let _ = note;
    }
}

impl Trace for () {
    fn span(&mut self, _: Cause, _: Instant, _: Instant) {}
}

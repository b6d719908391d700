//! Sums of time by what it was spent on.

use core::fmt;
use core::ops::{AddAssign, Index};

use crate::time::Duration;

/// What a rank's time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Part {
    /// The send path of the library.
    SendSoftware,
    /// Calls of PUT.
    Put,
    /// Waiting while the message that ended the wait was between the two
    /// memories: controllers, routers, cables.
    Hardware,
    /// From a message in memory to the program that has seen it; looks that
    /// found nothing.
    Polling,
    /// Entering and leaving the kernel.
    SystemCall,
    /// Interrupts: entry, handler, wake-up.
    Interrupt,
    /// Copies from memory to memory.
    Copy,
    /// Pinning and translating pages.
    Pinning,
    /// The receive path of the library.
    ReceiveSoftware,
    /// Answers, credits and other messages of the library itself.
    Control,
    /// The program's own computation, reductions included.
    Computing,
    /// Waiting for others.
    Waiting,
}

impl Part {
    /// Every part, in the order of tables.
    pub const ALL: [Self; 12] = [
        Self::SendSoftware,
        Self::Put,
        Self::Hardware,
        Self::Polling,
        Self::SystemCall,
        Self::Interrupt,
        Self::Copy,
        Self::Pinning,
        Self::ReceiveSoftware,
        Self::Control,
        Self::Computing,
        Self::Waiting,
    ];

    /// Its name in tables and pictures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendSoftware => "send software",
            Self::Put => "put",
            Self::Hardware => "hardware",
            Self::Polling => "polling",
            Self::SystemCall => "system calls",
            Self::Interrupt => "interrupts",
            Self::Copy => "copies",
            Self::Pinning => "pinning",
            Self::ReceiveSoftware => "receive software",
            Self::Control => "control",
            Self::Computing => "computing",
            Self::Waiting => "waiting",
        }
    }
}

/// How long was spent on each part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Breakdown([Duration; Part::ALL.len()]);

impl Breakdown {
    /// The time of a part.
    pub fn get(&self, part: Part) -> Duration {
        self[part]
    }

    /// Adds to a part.
    pub fn add(&mut self, part: Part, time: Duration) {
        if let Some(sum) = self.0.get_mut(part as usize) {
            *sum = *sum + time;
        }
    }

    /// All parts together.
    pub fn total(&self) -> Duration {
        self.0.iter().fold(Duration::ZERO, |sum, time| sum + *time)
    }

    /// What was added since `earlier`, part by part.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = *self;
        for (now, before) in difference.0.iter_mut().zip(earlier.0) {
            *now = Duration::from_ps(now.ps().saturating_sub(before.ps()));
        }
        difference
    }
}

impl Index<Part> for Breakdown {
    type Output = Duration;
    fn index(&self, part: Part) -> &Duration {
        self.0.get(part as usize).unwrap_or(&Duration::ZERO)
    }
}

impl AddAssign for Breakdown {
    fn add_assign(&mut self, other: Self) {
        for part in Part::ALL {
            self.add(part, other[part]);
        }
    }
}

/// One line a part that is not zero: name, microseconds, share.
impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total().as_us_f64();
        for part in Part::ALL {
            let time = self[part].as_us_f64();
            if time > 0.0 {
                let share = 100.0 * time / total;
                writeln!(f, "{:<16} {time:>12.3} us {share:>5.1} %", part.name())?;
            }
        }
        write!(f, "{:<16} {total:>12.3} us", "total")
    }
}

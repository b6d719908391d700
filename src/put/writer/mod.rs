//! Remote write over PUT: transfers of any length, in order, non-blocking.
//!
//! A transfer is cut into pages of [`WriterConfig::page`] bytes and messages of
//! [`WriterConfig::pages_per_message`] pages; its last page asks to be told
//! (NOS), and carries the tag of the transfer as message identifier. Transfers
//! leave in the order in which they were started.

mod config;
mod error;
mod job;

pub use config::{Completion, WriterConfig};
pub use error::{TransferError, WriteError, WriterError};

use heapless::Deque;

use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};

use super::driver::{Hardware, Phase, Put};
use super::error::{AddError, MAX_PAGE, PortErrorOf};
use super::event::Event;
use super::sap::Sap;
use job::Job;

/// Names a transfer of one [`Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TransferId(u64);

impl TransferId {
    /// A transfer of no bytes that tells nobody: complete from the start.
    const NOTHING: Self = Self(u64::MAX);
}

/// [`RemoteWrite`] over the driver of one board: at most `JOBS` transfers in
/// progress, and `EVENTS` (4 or more) notifications that the user has not taken.
///
/// The writer owns the driver and one of its SAPs. Other users of the board
/// find their events in [`event`](Self::event). While there is no room for more
/// events or notifications, they stay in the rings: nothing is lost. Faults that
/// the board survives are dropped when `EVENTS` wait; the driver counts them
/// ([`Stats::faults`](super::Stats::faults)).
#[derive(Clone, Debug)]
pub struct Writer<const JOBS: usize = 8, const EVENTS: usize = 16> {
    put: Put,
    sap: Sap,
    first: u32,
    config: WriterConfig,
    jobs: Deque<Job, JOBS>,
    /// Number of the next transfer, and of the oldest one in `jobs`.
    next: u64,
    oldest: u64,
    arrivals: Deque<Arrival, EVENTS>,
    events: Deque<Event, EVENTS>,
}

// `Deque` has no format of its own.
#[cfg(feature = "defmt")]
impl<const JOBS: usize, const EVENTS: usize> defmt::Format for Writer<JOBS, EVENTS> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Writer {{ put: {}, config: {}, jobs: {=usize}, arrivals: {=usize}, events: {=usize} }}",
            self.put,
            self.config,
            self.jobs.len(),
            self.arrivals.len(),
            self.events.len()
        );
    }
}

impl<const JOBS: usize, const EVENTS: usize> Writer<JOBS, EVENTS> {
    /// A writer on a driver that is open.
    ///
    /// # Errors
    /// [`WriterError`]; clone the driver before if it must survive.
    pub fn new(mut put: Put, config: WriterConfig) -> Result<Self, WriterError> {
        // With fewer, a poll could find no room for one event of each ring.
        const { assert!(JOBS >= 1 && EVENTS >= 4) };
        let WriterConfig {
            tags,
            page,
            pages_per_message,
            budget,
            ..
        } = config;
        if page == 0 || page > MAX_PAGE {
            return Err(WriterError::PageLength { page });
        }
        if pages_per_message == 0 {
            return Err(WriterError::NoPages);
        }
        if budget == 0 {
            return Err(WriterError::NoBudget);
        }
        let sap = put.register_sap()?;
        put.attach_mi_range(sap, tags)?;
        let range = put.mi_range(sap)?.ok_or(WriterError::NoTags)?;
        Ok(Self {
            put,
            sap,
            first: range.start,
            config,
            jobs: Deque::new(),
            next: 0,
            oldest: 0,
            arrivals: Deque::new(),
            events: Deque::new(),
        })
    }

    /// The driver.
    pub const fn put(&self) -> &Put {
        &self.put
    }

    /// The driver, for its other users. Their entries share the ring with the
    /// transfers; entries posted in the middle of a transfer lie between its
    /// pages. Taking events here takes the writer's own, too. Ending the driver
    /// ends the writer: make a new one after the next start.
    pub const fn put_mut(&mut self) -> &mut Put {
        &mut self.put
    }

    /// Gives the driver back; transfers in progress are forgotten.
    pub fn into_put(self) -> Put {
        self.put
    }

    /// The next event of another user of the board: of other SAPs, errors.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next notification: [`RemoteWrite::arrival`].
    pub fn arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    /// How far a transfer is: [`RemoteWrite::progress`], with the same receiver
    /// so that calls find this one, whatever the hardware.
    ///
    /// # Errors
    /// [`TransferError`], when it will not be finished.
    pub fn progress(&mut self, token: &TransferId) -> Result<Progress, TransferError> {
        let id = token.0;
        if *token == TransferId::NOTHING || id < self.oldest {
            return Ok(Progress::Sent);
        }
        if id >= self.next {
            return Err(TransferError::Unknown { id });
        }
        match self.put.phase() {
            Phase::Stopped(fault) => Err(TransferError::Stopped { fault }),
            Phase::Closed => Err(TransferError::Closed),
            _ => Ok(Progress::Pending),
        }
    }

    /// Posts what fits of what is waiting, oldest first, within the budget.
    fn pump<H: Hardware + ?Sized>(&mut self, hw: &mut H) -> Result<(), AddError<PortErrorOf<H>>> {
        let config = self.config;
        let mut budget = u32::from(config.budget);
        for job in self.jobs.iter_mut().filter(|job| job.posted.is_none()) {
            // A port error leaves the job, like the ring, as it was.
            let mut ahead = *job;
            let mut staged = false;
            while ahead.posted.is_none() && budget > 0 && self.put.ring.free() > 0 {
                let mut next = ahead;
                let entry = next.page(&config, self.put.next_sequence());
                let pieces = self.put.plan(&entry)?;
                if self.put.ring.free() < pieces.len() {
                    break;
                }
                let last = self.put.stage(hw, &pieces)?;
                next.posted = next.posted.map(|_| last);
                ahead = next;
                staged = true;
                budget -= 1;
            }
            if staged {
                self.put.publish(hw)?;
                *job = ahead;
            }
            if job.posted.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Takes off the transfers that have left.
    fn retire(&mut self) {
        while let Some(posted) = self.jobs.front().and_then(|job| job.posted) {
            let left = match self.config.completion {
                Completion::Counted => self.put.retired() > posted,
                Completion::NextEntry => self.put.has_left(posted),
            };
            if !left {
                break;
            }
            let _ = self.jobs.pop_front();
            self.oldest += 1;
        }
    }
}

impl<H: Hardware + ?Sized, const JOBS: usize, const EVENTS: usize> RemoteWrite<H>
    for Writer<JOBS, EVENTS>
{
    type Token = TransferId;
    type Error = WriteError<PortErrorOf<H>>;

    fn start(&mut self, hw: &mut H, transfer: Transfer) -> Result<TransferId, Self::Error> {
        let Some(job) = self.job(&transfer)? else {
            return Ok(TransferId::NOTHING);
        };
        if self.jobs.push_back(job).is_err() {
            return Err(WriteError::QueueFull { limit: JOBS });
        }
        if let Err(error) = self.pump(hw) {
            // The newest transfer is untouched: its own pages are posted after
            // those of all others, or not at all.
            let _ = self.jobs.pop_back();
            return Err(WriteError::Refused(error));
        }
        let id = TransferId(self.next);
        self.next += 1;
        Ok(id)
    }

    fn poll(&mut self, hw: &mut H) -> Result<(), Self::Error> {
        // Each event fits: errors need one place beside those of other SAPs.
        let Self {
            put,
            sap,
            first,
            config,
            arrivals,
            events,
            ..
        } = self;
        let room = (EVENTS - events.len()).saturating_sub(1);
        let share = (room / 2).min(usize::from(config.budget)) as u16;
        let (own, others, total) = (*sap, put.saps.len() > 1, config.budget);
        let for_lme = if others { share } else { total };
        let for_lmr = if others { share } else { total };
        let for_lmr = usize::from(for_lmr).min(EVENTS - arrivals.len()) as u16;
        let tag = |mi: u32| mi.checked_sub(*first).filter(|tag| *tag < config.tags);
        let served = put.poll_each(hw, [for_lme, for_lmr], &mut |event| {
            let _ = match event {
                // Whoever restarts the driver behind the writer's back may have
                // its SAP with other identifiers.
                Event::Received { sap, mi, .. } if sap == own && tag(mi).is_some() => {
                    let tag = tag(mi).unwrap_or_default();
                    arrivals.push_back(Arrival { tag }).is_ok()
                }
                Event::Sent { sap, .. } if sap == own => true,
                Event::UnclaimedSent { .. } | Event::UnclaimedReceived { .. } => true,
                event => events.push_back(event).is_ok(),
            };
        });
        self.retire();
        served.map_err(WriteError::Serve)?;
        self.pump(hw).map_err(WriteError::Refused)
    }

    fn progress(&mut self, token: &TransferId) -> Result<Progress, Self::Error> {
        Self::progress(self, token).map_err(WriteError::Transfer)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        Self::arrival(self)
    }

    fn is_full(error: &Self::Error) -> bool {
        matches!(error, WriteError::QueueFull { .. })
    }
}

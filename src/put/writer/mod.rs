//! Remote write over PUT: transfers of any length, in order, non-blocking.
//!
//! A transfer is cut into pages of [`WriterConfig::page`] bytes and messages of
//! [`WriterConfig::pages_per_message`] pages; its last page asks to be told
//! (NOS), and carries the tag of the transfer as message identifier. Transfers
//! leave in the order in which they were started.

mod error;

pub use error::{TransferError, WriteError, WriterError};

use heapless::Deque;

use crate::ddc::lme::Control;
use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};

use super::config::Model;
use super::driver::{Hardware, Phase, Put, Sequence};
use super::entry::Entry;
use super::error::{AddError, MAX_PAGE, PortErrorOf, Protocol};
use super::event::Event;
use super::sap::Sap;

/// How the writer learns that its last page has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Completion {
    /// The last page has NOS: the chip counts it once it has left.
    #[default]
    Counted,
    /// No NOS; the page has left when the chip has gone beyond the *following*
    /// entry. One acknowledgement less a transfer, but the last transfer of a
    /// burst stays pending until something follows it.
    NextEntry,
}

/// Choices of a [`Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct WriterConfig {
    /// Tags: a power of 2; tag `t` travels as message identifier
    /// `start + t` of the writer's range, which must start at the same
    /// identifier on all nodes (it does when all register in the same order).
    pub tags: u32,
    /// Bytes of a page, 1..=65,535. Chosen: 65,532, the largest multiple of 4,
    /// so that all pages of a transfer have the alignment of the first.
    pub page: u32,
    /// Pages of a message. Chosen: 256, so that the 16-bit packet counts of
    /// the chip suffice: 256 pages of 65,532 bytes are about 32,000 packets.
    pub pages_per_message: u32,
    /// How the end of a transfer is seen.
    pub completion: Completion,
    /// Ring entries taken back, reports taken, and pages posted a poll, each.
    pub budget: u16,
}

impl Default for WriterConfig {
    fn default() -> Self {
        Self {
            tags: 65_536,
            page: 65_532,
            pages_per_message: 256,
            completion: Completion::Counted,
            budget: 64,
        }
    }
}

/// Names a transfer of one [`Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TransferId(u64);

impl TransferId {
    /// A transfer of no bytes that tells nobody: complete from the start.
    const NOTHING: Self = Self(u64::MAX);
}

/// What is left of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Job {
    node: u16,
    /// Bits 31:25 of the last page's control word, and its identifier.
    last: Control,
    local: u32,
    remote: u32,
    left: u64,
    /// Pages of the current message so far.
    pages: u32,
    /// The last page, once it is posted.
    posted: Option<Sequence>,
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

    /// What a transfer becomes, or why it is refused; `None` for one of no
    /// bytes that tells nobody.
    fn job<E>(&self, transfer: &Transfer) -> Result<Option<Job>, WriteError<E>> {
        let Transfer {
            node,
            local,
            remote,
            length,
            flags,
        } = *transfer;
        self.put.ready().map_err(WriteError::Refused)?;
        self.put.reachable(node).map_err(WriteError::Refused)?;
        let tags = self.config.tags;
        if flags.tag >= tags {
            return Err(WriteError::Tag {
                tag: flags.tag,
                tags,
            });
        }
        let mut last = Control::LMP.with_mi(self.first + flags.tag);
        if flags.notify_receiver {
            // NOR raises the receiver's interrupt; pollers see the report.
            last = last.with(Control::LMI);
            if self.put.model() == Model::Interrupt {
                last = last.with(Control::NOR);
            }
        }
        if self.config.completion == Completion::Counted {
            last = last.with(Control::NOS);
        }
        if length == 0 {
            // Nothing to deposit, somebody to tell: a short message.
            let short = last.with(Control::SM);
            let job = Job {
                node,
                last: short,
                local: 0,
                remote: 0,
                left: 0,
                pages: 0,
                posted: None,
            };
            return Ok(flags.notify_receiver.then_some(job));
        }
        let refused = |protocol| WriteError::Refused(AddError::Protocol(protocol));
        let remote = reach(remote, length, refused(Protocol::ZeroRemote))?;
        let local = reach(local, length, refused(Protocol::ZeroLocal))?;
        Ok(Some(Job {
            node,
            last,
            local,
            remote,
            left: length,
            pages: 0,
            posted: None,
        }))
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

/// The address, when `length` bytes from it lie below 2^32 and it is not 0.
fn reach<E>(address: u64, length: u64, zero: WriteError<E>) -> Result<u32, WriteError<E>> {
    let ends = address
        .checked_add(length)
        .is_some_and(|end| end <= 1 << 32);
    match u32::try_from(address) {
        Ok(0) if ends => Err(zero),
        Ok(address) if ends => Ok(address),
        _ => Err(WriteError::OutOfReach { address, length }),
    }
}

impl Job {
    /// The next entry, which will be posted as `sequence`.
    fn page(&mut self, config: &WriterConfig, sequence: Sequence) -> Entry {
        let length = self.left.min(u64::from(config.page)) as u32;
        let (local, remote) = (self.local, self.remote);
        self.left -= u64::from(length);
        // May wrap to 0 after the last page only.
        self.local = local.wrapping_add(length);
        self.remote = remote.wrapping_add(length);
        self.pages += 1;
        let flags = if self.left == 0 {
            self.posted = Some(sequence);
            self.last
        } else if self.pages >= config.pages_per_message {
            self.pages = 0;
            Control::LMP
        } else {
            Control::default()
        };
        Entry::page(self.node, self.last.mi(), local, remote, length, flags)
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
        let served = put.poll_each(hw, [for_lme, for_lmr], &mut |event| {
            let _ = match event {
                Event::Received { sap, mi, .. } if sap == own => {
                    arrivals.push_back(Arrival { tag: mi - *first }).is_ok()
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

//! Remote write that survives the network: every transfer is delivered once, in
//! order, or reported as failed.
//!
//! [`Reliable`] stands on the driver of one board as [`Writer`](super::Writer)
//! does, and speaks a protocol with the layer on the other nodes: messages are
//! numbered for each pair of nodes, each is followed by a record with a CRC of
//! its bytes, the receiver acknowledges cumulatively, and what is missing is
//! sent again once the network between the two is known to be empty. Document:
//! hw/doc/recovery.md, with the guarantee and its proof.
//!
//! ```
//! use multipc::put::{Hardware, Outcome, PortErrorOf, Reliable, ReliableError};
//! use multipc::remote::{RemoteWrite, Transfer};
//! use multipc::time::Instant;
//!
//! fn send<H: Hardware>(
//!     reliable: &mut Reliable,
//!     hw: &mut H,
//!     transfer: Transfer,
//!     mut clock: impl FnMut() -> Instant,
//! ) -> Result<Outcome, ReliableError<PortErrorOf<H>>> {
//!     let ticket = reliable.start(hw, transfer)?;
//!     loop {
//!         reliable.tick(clock());
//!         reliable.poll(hw)?;
//!         if let Some(outcome) = reliable.outcome(&ticket)? {
//!             return Ok(outcome);
//!         }
//!     }
//! }
//! ```

mod accept;
mod board;
mod config;
mod error;
mod inbox;
mod jobs;
mod peer;
mod receive;
mod record;
mod send;
mod stats;
#[cfg(test)]
mod tests;

pub use config::RecoveryConfig;
pub use error::{Failure, Outcome, ReliableError, SetupError, UnknownTicket};
pub use stats::RecoveryStats;

use heapless::{Deque, Vec};

use super::config::PutConfig;
use super::driver::{Hardware, Put};
use super::error::{PortErrorOf, ServeError, TABLE_LEN};
use super::event::Event;
use super::sap::Sap;
use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};
use crate::time::Instant;
use board::Board;
use config::RANGE;
use error::ReliableError as Error;
use jobs::Jobs;
use peer::Peer;

/// Names a transfer of one [`Reliable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ticket(u64);

impl Ticket {
    /// A transfer of no bytes that tells nobody: delivered from the start.
    const NOTHING: Self = Self(u64::MAX);
}

/// [`RemoteWrite`] that repairs: at most `JOBS` transfers in progress to at most
/// `PEERS` nodes, and `EVENTS` notifications that the user has not taken.
///
/// [`Progress::Sent`] means here that the receiver has accepted the transfer:
/// its bytes are in place and checked. A transfer that fails gives
/// [`ReliableError::Failed`]. Time comes from [`tick`](Self::tick) only.
///
/// Notifications that the user does not take hold up the reports behind them,
/// acknowledgements included: take them while waiting for own transfers.
#[derive(Clone, Debug)]
pub struct Reliable<const PEERS: usize = 16, const JOBS: usize = 16, const EVENTS: usize = 64> {
    put: Put,
    /// For a restart: the configuration and, apart, the routing table.
    settings: PutConfig<'static>,
    table: Option<[u8; TABLE_LEN]>,
    config: RecoveryConfig,
    sap: Sap,
    first: u32,
    now: Instant,
    board: Board,
    /// Restarts that failed, and polls with port errors, in a row.
    failed_restarts: u8,
    port_errors: u8,
    /// Entries retired when that was looked at, and when they changed last.
    retired: u64,
    moved: Instant,
    /// Somebody was asked in vain: restart the board.
    restart: bool,
    /// Somebody was heard since the board was restarted.
    heard: bool,
    /// Whose records are posted first.
    cursor: u16,
    peers: [Peer; PEERS],
    jobs: Jobs<JOBS>,
    arrivals: Deque<(u16, Arrival), EVENTS>,
    events: Deque<Event, EVENTS>,
    stats: RecoveryStats,
}

#[cfg(feature = "defmt")]
impl<const PEERS: usize, const JOBS: usize, const EVENTS: usize> defmt::Format
    for Reliable<PEERS, JOBS, EVENTS>
{
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Reliable {{ put: {}, config: {}, jobs: {=usize}, stats: {} }}",
            self.put,
            self.config,
            self.jobs.pending(),
            self.stats
        );
    }
}

impl<const PEERS: usize, const JOBS: usize, const EVENTS: usize> Reliable<PEERS, JOBS, EVENTS> {
    /// The layer on a driver that is open, and was started with `settings`,
    /// which restarts of the board will use. `now` also seeds the epochs: it
    /// must not repeat a value of an earlier life of this node.
    ///
    /// # Errors
    /// [`SetupError`]; clone the driver before if it must survive.
    pub fn new(
        mut put: Put,
        settings: &PutConfig<'_>,
        config: RecoveryConfig,
        now: Instant,
    ) -> Result<Self, SetupError> {
        const { assert!(PEERS >= 1 && JOBS >= 1 && EVENTS >= 4) };
        config.check(settings.nodes, PEERS)?;
        if !put.is_open() {
            return Err(SetupError::NotOpen { phase: put.phase() });
        }
        let sap = put.register_sap()?;
        put.attach_mi_range(sap, RANGE)?;
        let first = put.mi_range(sap)?.map_or(0, |range| range.start);
        put.settings.recovery = true;
        let mut table = None;
        if let Some(bytes) = settings.table {
            let mut copy = [0; TABLE_LEN];
            for (to, from) in copy.iter_mut().zip(bytes) {
                *to = *from;
            }
            table = Some(copy);
        }
        let mut settings = settings.without_table();
        settings.recovery = true;
        // Microseconds: 71 minutes until they come round.
        let epoch = (now.ps() / 1_000_000) as u32;
        let peer = Peer {
            epoch,
            since: now,
            heard: now,
            ..Peer::default()
        };
        Ok(Self {
            put,
            settings,
            table,
            config,
            sap,
            first,
            now,
            board: Board::Running,
            failed_restarts: 0,
            port_errors: 0,
            retired: 0,
            moved: now,
            restart: false,
            heard: false,
            cursor: 0,
            peers: [peer; PEERS],
            jobs: Jobs::new(),
            arrivals: Deque::new(),
            events: Deque::new(),
            stats: RecoveryStats::default(),
        })
    }

    /// Tells the time; it never goes back.
    pub fn tick(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// The driver.
    pub const fn put(&self) -> &Put {
        &self.put
    }

    /// The driver, for its other users: as [`Writer::put_mut`](super::Writer::put_mut).
    /// What they had posted is lost when the board is restarted.
    pub const fn put_mut(&mut self) -> &mut Put {
        &mut self.put
    }

    /// Counters.
    pub const fn stats(&self) -> RecoveryStats {
        self.stats
    }

    /// Transfers that are neither delivered nor failed.
    pub fn pending(&self) -> usize {
        self.jobs.pending()
    }

    /// The next event of another user of the board, or error.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next notification, with its sender.
    pub fn arrival_from(&mut self) -> Option<(u16, Arrival)> {
        self.arrivals.pop_front()
    }

    /// What became of a transfer; none while it is in progress. Spent once it
    /// has told of a failure and later transfers were started.
    ///
    /// # Errors
    /// [`UnknownTicket`].
    pub fn outcome(&mut self, ticket: &Ticket) -> Result<Option<Outcome>, UnknownTicket> {
        if *ticket == Ticket::NOTHING {
            return Ok(Some(Outcome::Delivered));
        }
        let id = ticket.0;
        self.jobs.outcome(id).map_err(|()| UnknownTicket { id })
    }

    /// The oldest failure that was not told yet.
    pub fn failed(&mut self) -> Option<(Ticket, Failure)> {
        let (id, why) = self.jobs.failed()?;
        Some((Ticket(id), why))
    }

    /// How many times in a row a node was given up since it was last heard; transfers
    /// to it that were waiting have failed.
    pub fn given_up(&self, node: u16) -> u8 {
        let peer = self.peers.get(usize::from(node));
        peer.map_or(0, |peer| peer.given_up)
    }

    fn nodes(&self) -> u16 {
        self.settings.nodes
    }
}

impl<H: Hardware + ?Sized, const PEERS: usize, const JOBS: usize, const EVENTS: usize>
    RemoteWrite<H> for Reliable<PEERS, JOBS, EVENTS>
{
    type Token = Ticket;
    type Error = ReliableError<PortErrorOf<H>>;

    fn start(&mut self, _hw: &mut H, transfer: Transfer) -> Result<Ticket, Self::Error> {
        let Some(job) = self.job(&transfer)? else {
            return Ok(Ticket::NOTHING);
        };
        let first = !self.jobs.concerns(job.node);
        let id = self
            .jobs
            .push(job)
            .ok_or(Error::QueueFull { limit: JOBS })?;
        if first && let Some(peer) = self.peers.get_mut(usize::from(job.node)) {
            peer.wanted(self.now);
        }
        self.stats.accepted += 1;
        Ok(Ticket(id))
    }

    /// Faults of the hardware are repaired, not returned; an error here is
    /// final.
    fn poll(&mut self, hw: &mut H) -> Result<(), Self::Error> {
        if !self.board_is_up(hw)? {
            return Ok(());
        }
        let mut inbox = Vec::new();
        let mut good = match self.serve(hw, &mut inbox) {
            Ok(()) => true,
            Err(ServeError::Port(_)) => false,
            Err(_) => return Ok(()),
        };
        for mi in inbox {
            good &= self.report(hw, mi);
        }
        self.watch();
        good &= self.post(hw);
        self.judge_port(good);
        Ok(())
    }

    fn progress(&mut self, token: &Ticket) -> Result<Progress, Self::Error> {
        match self.outcome(token)? {
            None => Ok(Progress::Pending),
            Some(Outcome::Delivered) => Ok(Progress::Sent),
            Some(Outcome::Failed(failure)) => Err(Error::Failed(failure)),
        }
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.arrival_from().map(|(_, arrival)| arrival)
    }

    fn is_full(error: &Self::Error) -> bool {
        matches!(error, Error::QueueFull { .. })
    }
}

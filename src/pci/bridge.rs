//! The host bridge: memory target, configuration initiator, arbiter, and what
//! they share (PAR, PERR#, SERR#, statistics).
//!
//! One edge, in order (nothing driven depends on an input of the same edge,
//! because [`HostBridge::drive`] reads what the edge stored):
//!
//! 1. PAR of the clock before is judged,
//! 2. target or initiator sample the bus and move on,
//! 3. the arbiter samples the requests and the bus,
//! 4. the drive of the next clock is composed.

use super::arbiter::{Agent, Arbiter};
use super::checker::Observation;
use super::config::{BridgeConfig, BridgeError, TargetResponse};
use super::initiator::{ConfigAccess, ConfigEnd, ConfigOutcome, Initiator};
use super::parity::even_parity;
use super::signals::{Drive, Signals};
use super::target::{MAX_RESPONSES, Target};
use crate::mem::Memory;

/// Counters of a bridge and of the bus it sees. `busy + idle == cycles`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BridgeStats {
    /// PCI clocks.
    pub cycles: u64,
    /// Clocks with FRAME# or IRDY# asserted.
    pub busy: u64,
    /// The other clocks.
    pub idle: u64,
    /// Transactions the memory claimed.
    pub transactions: u64,
    /// Words read from memory over the bus.
    pub words_read: u64,
    /// Words written to memory over the bus.
    pub words_written: u64,
    /// Transactions the memory ended with a retry.
    pub retries: u64,
    /// Bursts the memory ended after some data.
    pub disconnects: u64,
    /// Transactions the memory aborted.
    pub target_aborts: u64,
    /// Grants given to a request of PCI-DDC.
    pub ddc_grants: u64,
    /// Grants given to a request of the bridge.
    pub bridge_grants: u64,
    /// Configuration accesses finished, in whatever way.
    pub config_accesses: u64,
    /// Configuration accesses that nobody answered.
    pub master_aborts: u64,
    /// Data that came with a wrong PAR.
    pub data_parity_errors: u64,
    /// Addresses that came with a wrong PAR.
    pub address_parity_errors: u64,
}

/// What PAR is compared with in the next clock.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum Expect {
    Nothing,
    Address(bool),
    Data(bool),
}

/// The chipset of one board, seen from its PCI bus.
///
/// ```text
///   CPU ---- submit/take ----> configuration --+
///                              initiator       |
///   Memory <---- step -------> memory target --+-- Drive/Signals --> PCI bus
///                              arbiter --------+-- REQ#, GNT#, IDSEL
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HostBridge {
    config: BridgeConfig,
    arbiter: Arbiter,
    target: Target,
    initiator: Initiator,
    drive: Drive,
    expect: Expect,
    last_frame_n: bool,
    /// Nothing is going on and nothing is driven but a parked bus.
    quiet: bool,
    stats: BridgeStats,
}

impl HostBridge {
    /// A bridge after reset.
    pub const fn new(config: BridgeConfig) -> Self {
        Self {
            config,
            arbiter: Arbiter::new(),
            target: Target::new(),
            initiator: Initiator::new(),
            drive: Drive::RELEASED,
            expect: Expect::Nothing,
            last_frame_n: true,
            quiet: false,
            stats: BridgeStats {
                cycles: 0,
                busy: 0,
                idle: 0,
                transactions: 0,
                words_read: 0,
                words_written: 0,
                retries: 0,
                disconnects: 0,
                target_aborts: 0,
                ddc_grants: 0,
                bridge_grants: 0,
                config_accesses: 0,
                master_aborts: 0,
                data_parity_errors: 0,
                address_parity_errors: 0,
            },
        }
    }

    /// The timing in use.
    pub const fn config(&self) -> &BridgeConfig {
        &self.config
    }

    /// What the bridge drives in the present clock.
    pub const fn drive(&self) -> Drive {
        self.drive
    }

    /// GNT# of PCI-DDC, active low.
    pub fn ddc_gnt_n(&self) -> bool {
        self.arbiter.grant() != Some(Agent::Ddc)
    }

    /// GNT# of the bridge itself, active low (inside the chipset).
    pub fn bridge_gnt_n(&self) -> bool {
        self.arbiter.grant() != Some(Agent::Bridge)
    }

    /// IDSEL of PCI-DDC: high in the address phase of a configuration access.
    pub fn idsel(&self) -> bool {
        self.initiator.idsel()
    }

    /// What a [`Checker`](super::Checker) needs to see of the present clock:
    /// the bridge's lines beside those of PCI-DDC.
    pub fn observation(&self, bus: &Signals, ddc: Drive, ddc_req_n: bool) -> Observation {
        Observation {
            bus: *bus,
            bridge: self.drive,
            ddc,
            ddc_req_n,
            ddc_gnt_n: self.ddc_gnt_n(),
            bridge_gnt_n: self.bridge_gnt_n(),
            idsel: self.idsel(),
        }
    }

    /// The counters.
    pub const fn stats(&self) -> &BridgeStats {
        &self.stats
    }

    /// Starts a configuration access; it requests the bus as REQ# would.
    ///
    /// # Errors
    /// [`BridgeError::Busy`] until the outcome of the access before was taken;
    /// [`BridgeError::Misaligned`] for an offset that is not a multiple of 4.
    pub fn submit(&mut self, access: ConfigAccess) -> Result<(), BridgeError> {
        self.initiator.submit(access)?;
        self.quiet = false;
        Ok(())
    }

    /// The outcome of the access, once, when it has ended.
    pub const fn take(&mut self) -> Option<ConfigOutcome> {
        self.initiator.take()
    }

    /// The outcome of the access, when it has ended and was not taken yet.
    pub const fn outcome(&self) -> Option<&ConfigOutcome> {
        self.initiator.outcome()
    }

    /// How the memory answers the next transaction it claims; further calls
    /// are for the transactions after it.
    ///
    /// # Errors
    /// [`BridgeError::ResponsesFull`] when 8 wait.
    pub fn respond_next(&mut self, response: TargetResponse) -> Result<(), BridgeError> {
        self.target
            .respond_next(response)
            .map_err(|()| BridgeError::ResponsesFull { max: MAX_RESPONSES })
    }

    /// Whether the coming edge, with the bus as it stands, takes in the address
    /// of a transaction of PCI-DDC that the memory decodes; and whether that is
    /// a write. A response given now is for that transaction, if none waits.
    pub fn is_addressed<M: Memory>(&self, bus: &Signals, memory: &M) -> Option<bool> {
        let begins = !bus.frame_n && self.last_frame_n && !self.initiator.runs();
        if begins && self.target.is_idle() {
            Target::decodes(bus, memory)
        } else {
            None
        }
    }

    /// Withholds GNT# from PCI-DDC, from the next edge on, while `hold`.
    pub const fn hold_grant(&mut self, hold: bool) {
        self.arbiter.hold(hold);
        self.quiet = false;
    }

    /// One edge of the PCI clock. `bus` and `ddc_req_n` are as they stand just
    /// before it.
    pub fn step<M: Memory>(&mut self, bus: &Signals, ddc_req_n: bool, memory: &mut M) {
        self.stats.cycles = self.stats.cycles.saturating_add(1);
        let idle = bus.is_idle();
        if idle {
            self.stats.idle = self.stats.idle.saturating_add(1);
            if self.quiet && ddc_req_n {
                return;
            }
        } else {
            self.stats.busy = self.stats.busy.saturating_add(1);
        }

        let bad = match self.expect {
            Expect::Address(par) | Expect::Data(par) => par != bus.par,
            Expect::Nothing => false,
        };
        let bad_address = bad && matches!(self.expect, Expect::Address(_));
        let bad_data = bad && !bad_address;
        self.stats.address_parity_errors += u64::from(bad_address);
        self.stats.data_parity_errors += u64::from(bad_data);

        let own = self.initiator.runs();
        let wants = [self.initiator.requests(), !ddc_req_n];
        let address = !bus.frame_n && self.last_frame_n && !own;
        self.last_frame_n = bus.frame_n;

        // PAR of the next clock belongs to AD of this one.
        let spoil = self.target.spoils_parity();
        let mut received = false;
        if !self.target.is_idle() {
            received = self.target.step(bus, memory, &self.config, &mut self.stats);
        } else if address {
            self.target
                .address(bus, memory, &self.config, &mut self.stats);
        }
        if !self.initiator.is_idle() {
            let granted = self.arbiter.grant() == Some(Agent::Bridge);
            received |= self.initiator.step(bus, granted, bad_data, &self.config);
            if let (true, Some(outcome)) = (self.initiator.is_idle(), self.initiator.outcome()) {
                self.stats.config_accesses += 1;
                self.stats.master_aborts += u64::from(outcome.end == ConfigEnd::MasterAbort);
            }
        }
        self.expect = match (address, received) {
            (true, _) => Expect::Address(even_parity(bus.ad, bus.cbe_n)),
            (_, true) => Expect::Data(even_parity(bus.ad, bus.cbe_n)),
            _ => Expect::Nothing,
        };

        let runner = if own { Agent::Bridge } else { Agent::Ddc };
        if self.arbiter.step(bus, wants, runner, &self.config) {
            match self.arbiter.grant() {
                Some(Agent::Ddc) => self.stats.ddc_grants += 1,
                _ => self.stats.bridge_grants += 1,
            }
        }

        self.compose(bus, spoil, bad_data, bad_address);
    }

    /// The drive of the next clock.
    fn compose(&mut self, bus: &Signals, spoil: bool, bad_data: bool, bad_address: bool) {
        let old = self.drive;
        let mut new = Drive::RELEASED;
        let target_idle = self.target.is_idle();
        let idle = target_idle && !self.initiator.runs();
        if idle {
            if bus.is_idle()
                && self.config.park == Some(Agent::Bridge)
                && self.arbiter.grant() == Some(Agent::Bridge)
            {
                // A parked bus must not float.
                new.ad = Some(0);
                new.cbe_n = Some(0);
            }
        } else {
            self.target.drive(&mut new);
            self.initiator.drive(&mut new);
        }
        // PAR follows AD by one clock, from whoever drove AD.
        if let Some(ad) = old.ad {
            new.par = Some(even_parity(ad, bus.cbe_n) != spoil);
        }
        if bad_data && self.config.parity_response {
            new.perr_n = Some(false);
        }
        if bad_address && self.config.serr_enable {
            new.serr_n = Some(false);
        }
        self.drive = new.after(&old);
        self.quiet = idle
            && self.initiator.is_idle()
            && self.expect == Expect::Nothing
            && self.last_frame_n
            && self.drive == old
            && self.arbiter.is_settled(self.config.park);
    }

    /// PCI clocks for which [`step`](Self::step) would only count, with an idle
    /// bus, no request of PCI-DDC and no call in between: 0 or `u64::MAX`.
    ///
    /// 0 while PCI-DDC is parked on the bus: it may start at any clock.
    pub fn idle_for(&self) -> u64 {
        if self.quiet && self.ddc_gnt_n() {
            u64::MAX
        } else {
            0
        }
    }

    /// The same as that many steps; only for up to [`idle_for`](Self::idle_for)
    /// clocks.
    pub const fn skip(&mut self, cycles: u64) {
        self.stats.cycles = self.stats.cycles.saturating_add(cycles);
        self.stats.idle = self.stats.idle.saturating_add(cycles);
    }
}

//! A protocol checker: watches every clock of a bus and notes each broken rule.
//!
//! It looks at what each agent drives, not only at the sum, so it sees
//! conflicts that the resolved bus hides. It changes nothing.

mod rules;
#[cfg(test)]
mod tests;

use heapless::Vec;

pub use rules::{Rule, Violation};

use super::arbiter::Agent;
use super::parity::even_parity;
use super::signals::{Command, Drive, Signals};

/// Violations kept with their clock; later ones are only counted.
pub const MAX_VIOLATIONS: usize = 32;

/// One clock of a board's bus, as it stands just before the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Observation {
    /// The resolved bus.
    pub bus: Signals,
    /// What the bridge drives.
    pub bridge: Drive,
    /// What PCI-DDC drives.
    pub ddc: Drive,
    /// REQ# of PCI-DDC.
    pub ddc_req_n: bool,
    /// GNT# of PCI-DDC.
    pub ddc_gnt_n: bool,
    /// GNT# of the bridge.
    pub bridge_gnt_n: bool,
    /// IDSEL of PCI-DDC.
    pub idsel: bool,
}

impl Observation {
    /// Nobody does anything.
    pub const IDLE: Self = Self {
        bus: Signals::IDLE,
        bridge: Drive::RELEASED,
        ddc: Drive::RELEASED,
        ddc_req_n: true,
        ddc_gnt_n: true,
        bridge_gnt_n: true,
        idsel: false,
    };

    fn gnt_n(&self, agent: Agent) -> bool {
        match agent {
            Agent::Bridge => self.bridge_gnt_n,
            Agent::Ddc => self.ddc_gnt_n,
        }
    }

    /// Who asserts FRAME#.
    fn owner(&self) -> Agent {
        if self.ddc.frame_n == Some(false) {
            Agent::Ddc
        } else {
            Agent::Bridge
        }
    }
}

/// A transaction that is on the bus.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Transaction {
    owner: Agent,
    write: bool,
    /// Clocks since the address clock.
    clock: u32,
    /// Clocks in the present data phase, and whether each side was ready in it.
    phase_clock: u32,
    target_ready: bool,
    initiator_ready: bool,
    /// Data phases completed.
    phases: u32,
    claimed: bool,
    stopped: bool,
}

/// Watches the bus of one board. Feed it every clock, from an idle bus on.
///
/// ```
/// use multipc::pci::{Checker, Observation, Rule, Signals};
///
/// let mut checker = Checker::new();
/// checker.observe(&Observation::IDLE);
/// let mut bad = Observation::IDLE;
/// bad.bus.trdy_n = false; // a target answers nobody
/// bad.ddc.trdy_n = Some(false);
/// checker.observe(&bad);
/// assert_eq!(checker.count(Rule::TargetWithoutTransaction), 1);
/// assert_eq!(checker.violations()[0].cycle, 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Checker {
    cycle: u64,
    before: Observation,
    transaction: Option<Transaction>,
    /// Owner of the transaction that ended in the clock before.
    ended: Option<Agent>,
    /// PAR due in this clock.
    par_due: Option<bool>,
    /// Data that PERR# may complain about: in the clock before, and before it.
    data: [bool; 2],
    counts: [u32; Rule::ALL.len()],
    kept: Vec<Violation, MAX_VIOLATIONS>,
}

impl Default for Checker {
    fn default() -> Self {
        Self::new()
    }
}

impl Checker {
    /// A checker that has seen nothing but an idle bus.
    pub const fn new() -> Self {
        Self {
            cycle: 0,
            before: Observation::IDLE,
            transaction: None,
            ended: None,
            par_due: None,
            data: [false; 2],
            counts: [0; Rule::ALL.len()],
            kept: Vec::new(),
        }
    }

    /// Clocks seen.
    pub const fn cycles(&self) -> u64 {
        self.cycle
    }

    /// The first violations, oldest first.
    pub fn violations(&self) -> &[Violation] {
        &self.kept
    }

    /// How often a rule was broken.
    pub fn count(&self, rule: Rule) -> u32 {
        self.counts.get(rule as usize).copied().unwrap_or(0)
    }

    /// Violations that did not fit into [`violations`](Self::violations).
    pub fn lost(&self) -> u64 {
        let all: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        all - self.kept.len() as u64
    }

    /// No rule was broken, warnings apart.
    pub fn is_clean(&self) -> bool {
        Rule::ALL
            .iter()
            .all(|&rule| rule.is_warning() || self.count(rule) == 0)
    }

    /// `cycles` clocks of an idle bus that were not observed one by one.
    pub const fn skip(&mut self, cycles: u64) {
        self.cycle = self.cycle.saturating_add(cycles);
    }

    /// One clock.
    pub fn observe(&mut self, now: &Observation) {
        let before = self.before;
        self.lines(&before, now);
        self.grants(&before, now);
        self.parity(now);

        let address = !now.bus.frame_n && before.bus.frame_n;
        let command = Command::from_bits(now.bus.cbe_n);
        let configuration = matches!(
            command,
            Command::ConfigurationRead | Command::ConfigurationWrite
        );
        self.check(
            now.idsel && !(address && configuration),
            Rule::IdselMisplaced,
        );

        let ended = self.ended.take();
        if address {
            self.address(&before, now, ended);
        } else if let Some(transaction) = self.transaction.take() {
            self.phase(&before.bus, now, transaction);
        } else {
            let bus = &now.bus;
            let target = !(bus.trdy_n && bus.devsel_n && bus.stop_n);
            self.check(target, Rule::TargetWithoutTransaction);
            self.check(!bus.irdy_n, Rule::IrdyWithoutTransaction);
        }
        self.before = *now;
        self.cycle = self.cycle.saturating_add(1);
    }

    fn check(&mut self, broken: bool, rule: Rule) {
        if !broken {
            return;
        }
        if let Some(count) = self.counts.get_mut(rule as usize) {
            *count = count.saturating_add(1);
        }
        // A full list keeps the oldest.
        let _ = self.kept.push(Violation {
            cycle: self.cycle,
            rule,
        });
    }

    /// Who drives what, line by line.
    fn lines(&mut self, before: &Observation, now: &Observation) {
        let (a, b) = (&now.bridge, &now.ddc);
        self.check(a.ad.is_some() && b.ad.is_some(), Rule::AdConflict);
        self.check(a.cbe_n.is_some() && b.cbe_n.is_some(), Rule::CbeConflict);
        self.check(a.par.is_some() && b.par.is_some(), Rule::ParConflict);

        let shared = |drive: &Drive| {
            [
                drive.ad.is_some(),
                drive.cbe_n.is_some(),
                drive.par.is_some(),
            ]
        };
        let taken = taken_over(
            shared(&before.bridge),
            shared(&before.ddc),
            shared(a),
            shared(b),
        );
        self.check(taken, Rule::AdTurnaround);

        let (old_a, old_b) = (sustained(&before.bridge), sustained(&before.ddc));
        let (new_a, new_b) = (sustained(a), sustained(b));
        let driven = |lines: [Option<bool>; 6]| lines.map(|line| line.is_some());
        let both = driven(new_a)
            .iter()
            .zip(driven(new_b))
            .any(|(&a, b)| a && b);
        self.check(both, Rule::ControlConflict);
        let taken = taken_over(driven(old_a), driven(old_b), driven(new_a), driven(new_b));
        self.check(taken, Rule::ControlTurnaround);
        let released = old_a.iter().chain(&old_b).zip(new_a.iter().chain(&new_b));
        let dropped = released
            .filter(|&(old, new)| *old == Some(false) && new.is_none())
            .count();
        self.check(dropped > 0, Rule::NotRestored);
    }

    fn grants(&mut self, before: &Observation, now: &Observation) {
        self.check(!now.ddc_gnt_n && !now.bridge_gnt_n, Rule::TwoGrants);
        let to_ddc = !before.bridge_gnt_n && before.ddc_gnt_n && !now.ddc_gnt_n;
        let to_bridge = !before.ddc_gnt_n && before.bridge_gnt_n && !now.bridge_gnt_n;
        let switched = to_ddc && now.bridge_gnt_n || to_bridge && now.ddc_gnt_n;
        self.check(switched && before.bus.is_idle(), Rule::GrantSwitchedIdle);
    }

    /// PAR and PERR# of this clock; what the next ones owe is noted by the caller.
    fn parity(&mut self, now: &Observation) {
        if let Some(par) = self.par_due.take() {
            let driven = now.bridge.par.is_some() || now.ddc.par.is_some();
            self.check(!driven, Rule::ParityMissing);
            self.check(driven && par != now.bus.par, Rule::ParityWrong);
        }
        let [newer, older] = self.data;
        let falls = !now.bus.perr_n && self.before.bus.perr_n;
        self.check(falls && !older, Rule::PerrUnexpected);
        self.data = [false, newer];
    }

    fn address(&mut self, before: &Observation, now: &Observation, ended: Option<Agent>) {
        let owner = now.owner();
        let within = self.transaction.is_some();
        self.check(within, Rule::FrameReasserted);
        // The same agent may go on at once (fast back-to-back).
        let turned = before.bus.is_idle() || within || ended == Some(owner);
        self.check(!turned, Rule::AddressOnBusyBus);
        self.check(before.gnt_n(owner), Rule::AddressWithoutGrant);
        let bus = &now.bus;
        let target = !(bus.trdy_n && bus.devsel_n && bus.stop_n);
        // In fast back-to-back the old target still drives.
        self.check(target && ended.is_none(), Rule::TargetWithoutTransaction);
        self.par_due = Some(even_parity(bus.ad, bus.cbe_n));
        self.transaction = Some(Transaction {
            owner,
            write: Command::from_bits(bus.cbe_n).is_write(),
            clock: 0,
            phase_clock: 0,
            target_ready: false,
            initiator_ready: false,
            phases: 0,
            claimed: false,
            stopped: false,
        });
    }

    /// A clock after the address clock. `old` is the bus of the clock before.
    fn phase(&mut self, old: &Signals, now: &Observation, mut t: Transaction) {
        let bus = &now.bus;
        t.clock = t.clock.saturating_add(1);
        t.phase_clock = t.phase_clock.saturating_add(1);
        let completed = completes(old);
        let waited = !old.irdy_n && !completed;

        self.initiator(old, bus, &t, completed, waited);
        self.target(old, bus, &t);
        t.claimed |= !bus.devsel_n;

        let first = t.phases == 0;
        let silent = t.claimed && !t.target_ready;
        self.check(first && silent && t.clock == 17, Rule::FirstDataLate);
        self.check(!first && silent && t.phase_clock == 9, Rule::NextDataLate);
        self.check(!t.initiator_ready && t.phase_clock == 9, Rule::IrdyLate);

        t.target_ready |= !(bus.trdy_n && bus.stop_n);
        t.initiator_ready |= !bus.irdy_n;
        let valid = if t.write { !bus.irdy_n } else { !bus.trdy_n };
        if valid {
            self.par_due = Some(even_parity(bus.ad, bus.cbe_n));
            self.data[0] = true;
        }
        if completes(bus) {
            t.phases = t.phases.saturating_add(1);
            t.phase_clock = 0;
            t.target_ready = false;
            t.initiator_ready = false;
            t.stopped |= !bus.stop_n;
            if bus.frame_n {
                self.ended = Some(t.owner);
                return;
            }
        } else if bus.is_idle() {
            return; // the initiator gave up
        }
        self.transaction = Some(t);
    }

    fn initiator(
        &mut self,
        old: &Signals,
        bus: &Signals,
        t: &Transaction,
        completed: bool,
        waited: bool,
    ) {
        let falls = bus.frame_n && !old.frame_n;
        self.check(falls && bus.irdy_n, Rule::FrameReleasedEarly);
        self.check(falls && waited && t.claimed, Rule::FrameChangedInPhase);
        let stopped = completed && !old.stop_n && !old.frame_n;
        self.check(stopped && !bus.frame_n, Rule::StopIgnored);
        let dropped = waited && bus.irdy_n;
        self.check(dropped && t.claimed, Rule::IrdyDropped);
        self.check(dropped && !t.claimed && t.clock < 5, Rule::MasterAbortEarly);
        let held = waited && !bus.irdy_n;
        self.check(held && bus.cbe_n != old.cbe_n, Rule::EnablesChanged);
        self.check(held && t.write && bus.ad != old.ad, Rule::WriteDataChanged);
    }

    fn target(&mut self, old: &Signals, bus: &Signals, t: &Transaction) {
        let asserted = !bus.devsel_n;
        self.check(asserted && !t.claimed && t.clock > 4, Rule::DevselLate);
        self.check(!bus.trdy_n && !asserted, Rule::TrdyWithoutDevsel);
        let abort = !bus.stop_n && !asserted;
        self.check(abort && !(t.claimed && bus.trdy_n), Rule::StopWithoutDevsel);
        self.check(
            !old.devsel_n && !asserted && bus.stop_n,
            Rule::DevselDropped,
        );

        let ready = !(old.trdy_n && old.stop_n);
        let lines = |bus: &Signals| (bus.trdy_n, bus.stop_n, bus.devsel_n);
        let waits = ready && old.irdy_n;
        self.check(
            waits && lines(old) != lines(bus),
            Rule::TargetChangedInPhase,
        );
        self.check(
            !old.stop_n && !old.frame_n && bus.stop_n,
            Rule::StopReleasedEarly,
        );
        self.check(t.stopped && !bus.trdy_n, Rule::DataAfterStop);
        let read = !t.write && !old.trdy_n && waits;
        self.check(read && bus.ad != old.ad, Rule::ReadDataChanged);
    }
}

/// The data phase ends with this clock.
const fn completes(bus: &Signals) -> bool {
    !(bus.irdy_n || bus.trdy_n && bus.stop_n)
}

/// The sustained tri-state lines.
const fn sustained(drive: &Drive) -> [Option<bool>; 6] {
    [
        drive.frame_n,
        drive.irdy_n,
        drive.trdy_n,
        drive.devsel_n,
        drive.stop_n,
        drive.perr_n,
    ]
}

/// Some line was driven by one agent in the clock before and is driven by only
/// the other in this one.
fn taken_over<const N: usize>(
    old_a: [bool; N],
    old_b: [bool; N],
    new_a: [bool; N],
    new_b: [bool; N],
) -> bool {
    let old = old_a.iter().zip(old_b);
    let new = new_a.iter().zip(new_b);
    old.zip(new).any(|((&old_a, old_b), (&new_a, new_b))| {
        old_a && !old_b && new_b && !new_a || old_b && !old_a && new_a && !new_b
    })
}

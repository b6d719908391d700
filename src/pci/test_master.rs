//! A bus initiator for tests: moves a block of words whatever the target does.
//!
//! It takes the place of PCI-DDC beside a [`HostBridge`](super::HostBridge) in
//! tests of bridges, checkers and memories. It resumes after retries,
//! disconnects and the latency timer until every word has moved, and stops at
//! an abort.

use heapless::Vec;

use super::parity::even_parity;
use super::signals::{Command, Drive, Signals};

/// Words of a transfer at most.
pub const MAX_WORDS: usize = 64;

/// How a [`TestMaster`] behaves on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct TestMasterConfig {
    /// Clocks before IRDY# in the data phases, one after the other, 2 bits
    /// each, from bit 0 up; used again after 16 phases.
    pub irdy_waits: u32,
    /// Clocks after FRAME# from which a lost grant ends the burst.
    pub latency_timer: u32,
    /// Keeps REQ# asserted while its transaction runs.
    pub hold_request: bool,
    /// C/BE# of the data phases (active low).
    pub enables_n: u8,
    /// Inverts PAR of what it drives: an address or write data.
    pub bad_parity: bool,
}

impl Default for TestMasterConfig {
    fn default() -> Self {
        Self {
            irdy_waits: 0,
            latency_timer: 255,
            hold_request: false,
            enables_n: 0,
            bad_parity: false,
        }
    }
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TransferEnd {
    /// Every word moved.
    Done,
    /// No DEVSEL#.
    MasterAbort,
    /// STOP# without DEVSEL#.
    TargetAbort,
}

/// A finished transfer.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct TransferOutcome {
    /// How it ended.
    pub end: TransferEnd,
    /// Words moved.
    pub words: usize,
    /// Transactions it took.
    pub attempts: u32,
    /// Words read that came with a wrong PAR.
    pub parity_errors: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum State {
    Idle,
    Request,
    Address,
    Data,
    /// FRAME# high, IRDY# low, after STOP# or a missing DEVSEL#.
    Closing,
    Backoff(u8),
}

/// A scripted initiator with the pins of PCI-DDC.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TestMaster {
    config: TestMasterConfig,
    state: State,
    command: Command,
    addr: u32,
    data: Vec<u32, MAX_WORDS>,
    done: usize,
    irdy: bool,
    last: bool,
    wait: u32,
    phase: u32,
    /// Clocks since FRAME# in this transaction.
    clocks: u32,
    claimed: bool,
    end: Option<TransferEnd>,
    attempts: u32,
    parity_errors: u32,
    expect: Option<bool>,
    outcome: Option<TransferOutcome>,
    drive: Drive,
}

impl TestMaster {
    /// An initiator with nothing to do.
    pub const fn new(config: TestMasterConfig) -> Self {
        Self {
            config,
            state: State::Idle,
            command: Command::MemoryRead,
            addr: 0,
            data: Vec::new(),
            done: 0,
            irdy: false,
            last: false,
            wait: 0,
            phase: 0,
            clocks: 0,
            claimed: false,
            end: None,
            attempts: 0,
            parity_errors: 0,
            expect: None,
            outcome: None,
            drive: Drive::RELEASED,
        }
    }

    /// Starts a transfer of 1 to 64 words (more are cut off) with `command` at
    /// `addr`. For a read only the number of `words` counts. A transfer that
    /// runs is dropped: call it on an idle bus.
    pub fn submit(&mut self, command: Command, addr: u32, words: &[u32]) {
        let mut data = Vec::new();
        data.extend(words.iter().copied().take(MAX_WORDS));
        let drive = self.drive;
        let phase = self.phase;
        *self = Self {
            command,
            addr,
            data,
            drive,
            phase,
            ..Self::new(self.config)
        };
        if !self.data.is_empty() {
            self.state = State::Request;
        }
    }

    /// The outcome, once, when the transfer has ended.
    pub const fn take(&mut self) -> Option<TransferOutcome> {
        self.outcome.take()
    }

    /// The words moved so far.
    pub fn data(&self) -> &[u32] {
        self.data.get(..self.done).unwrap_or(&[])
    }

    /// REQ#, active low.
    pub fn req_n(&self) -> bool {
        let runs = matches!(self.state, State::Address | State::Data);
        !(self.state == State::Request || self.config.hold_request && runs && !self.last)
    }

    /// What it drives in the present clock.
    pub const fn drive(&self) -> Drive {
        self.drive
    }

    /// One edge of the PCI clock.
    pub fn step(&mut self, bus: &Signals, gnt_n: bool) {
        let bad = self.expect.take().is_some_and(|par| par != bus.par);
        self.parity_errors += u32::from(bad);
        self.clocks = self.clocks.saturating_add(1);
        match self.state {
            State::Idle => {}
            State::Backoff(clocks) => {
                self.state = if clocks > 1 {
                    State::Backoff(clocks - 1)
                } else {
                    State::Request
                };
            }
            State::Request => {
                if !gnt_n && bus.is_idle() {
                    self.state = State::Address;
                    self.clocks = 0;
                    self.claimed = false;
                    self.last = false;
                    self.attempts += 1;
                }
            }
            State::Address => {
                self.state = State::Data;
                self.open(gnt_n);
            }
            State::Data => self.data_phase(bus, gnt_n),
            State::Closing => self.finish(),
        }
        if let (State::Idle, Some(end), None) = (self.state, self.end, self.expect) {
            self.end = None;
            let (words, attempts) = (self.done, self.attempts);
            let parity_errors = self.parity_errors;
            self.outcome = Some(TransferOutcome {
                end,
                words,
                attempts,
                parity_errors,
            });
        }
        self.compose(bus, gnt_n, bad);
    }

    fn data_phase(&mut self, bus: &Signals, gnt_n: bool) {
        self.claimed |= !bus.devsel_n;
        let unanswered = !self.claimed && self.clocks >= 5;
        let (trdy, stop) = (!bus.trdy_n, !bus.stop_n);
        if unanswered {
            self.end = Some(TransferEnd::MasterAbort);
        }
        if !self.irdy {
            if stop || unanswered {
                // The phase must end: IRDY# now, and FRAME# goes with it.
                self.irdy = true;
                self.last = true;
                if unanswered {
                    self.state = State::Closing;
                }
            } else {
                self.wait = self.wait.saturating_sub(1);
                self.irdy = self.wait == 0;
                self.last = self.irdy && self.is_last(gnt_n);
            }
            return;
        }
        if trdy {
            if !self.command.is_write() {
                if let Some(word) = self.data.get_mut(self.done) {
                    *word = bus.ad;
                }
                self.expect = Some(even_parity(bus.ad, bus.cbe_n));
            }
            self.done += 1;
        } else if stop && bus.devsel_n {
            self.end = Some(TransferEnd::TargetAbort);
        }
        if stop || unanswered {
            if self.last {
                self.finish()
            } else {
                self.state = State::Closing
            }
            self.last = true;
        } else if trdy {
            if self.last {
                self.finish()
            } else {
                self.open(gnt_n)
            }
        }
    }

    /// Opens the next data phase.
    fn open(&mut self, gnt_n: bool) {
        self.wait = self.config.irdy_waits >> (2 * (self.phase % 16)) & 3;
        self.phase = self.phase.wrapping_add(1);
        self.irdy = self.wait == 0;
        self.last = self.irdy && self.is_last(gnt_n);
    }

    fn is_last(&self, gnt_n: bool) -> bool {
        self.done + 1 >= self.data.len() || gnt_n && self.clocks >= self.config.latency_timer
    }

    fn finish(&mut self) {
        self.irdy = false;
        self.last = false;
        if self.end.is_none() && self.done >= self.data.len() {
            self.end = Some(TransferEnd::Done);
        }
        self.state = if self.end.is_some() {
            State::Idle
        } else {
            State::Backoff(2)
        };
    }

    fn compose(&mut self, bus: &Signals, gnt_n: bool, bad: bool) {
        let old = self.drive;
        let write = self.command.is_write();
        let mut new = Drive::RELEASED;
        match self.state {
            State::Address => {
                new.frame_n = Some(false);
                new.ad = Some(self.addr.wrapping_add(4 * self.done as u32));
                new.cbe_n = Some(self.command.bits());
            }
            State::Data | State::Closing => {
                let closing = self.state == State::Closing;
                new.frame_n = Some(self.last || closing);
                new.irdy_n = Some(!(self.irdy || closing));
                new.cbe_n = Some(self.config.enables_n & 0xF);
                if write {
                    new.ad = self.data.get(self.done).copied().or(old.ad);
                }
            }
            // Parked here: the bus must not float.
            _ if !gnt_n && bus.is_idle() => {
                new.ad = Some(0);
                new.cbe_n = Some(0);
            }
            _ => {}
        }
        if let Some(ad) = old.ad {
            new.par = Some(even_parity(ad, bus.cbe_n) != self.config.bad_parity);
        }
        if bad {
            new.perr_n = Some(false);
        }
        self.drive = new.after(&old);
    }
}

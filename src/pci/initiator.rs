//! Configuration accesses of the CPU: the bridge as bus initiator.

use super::config::{BridgeConfig, BridgeError};
use super::signals::{Command, Drive, Signals};

/// What a configuration access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConfigKind {
    /// Reads the 32-bit register.
    Read,
    /// Writes it, all four bytes.
    Write(u32),
}

/// One access to the configuration space of the device, type 0, function 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ConfigAccess {
    /// Offset of the register, a multiple of 4.
    pub offset: u8,
    /// What to do.
    pub kind: ConfigKind,
}

impl ConfigAccess {
    /// A read.
    pub const fn read(offset: u8) -> Self {
        Self {
            offset,
            kind: ConfigKind::Read,
        }
    }

    /// A write.
    pub const fn write(offset: u8, value: u32) -> Self {
        Self {
            offset,
            kind: ConfigKind::Write(value),
        }
    }
}

/// How a configuration access ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ConfigEnd {
    /// The data moved.
    Done,
    /// The data moved, with a wrong PAR (reads only).
    ParityError,
    /// No DEVSEL#.
    MasterAbort,
    /// STOP# without DEVSEL#.
    TargetAbort,
    /// Retried more often than allowed.
    RetryLimit,
}

/// The end of a configuration access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ConfigOutcome {
    /// The access.
    pub access: ConfigAccess,
    /// The value read or written; after a read that moved no data all ones, as
    /// a PC chipset returns.
    pub data: u32,
    /// How it ended.
    pub end: ConfigEnd,
    /// Attempts that the device answered with a retry.
    pub retries: u32,
    /// Clocks from the first one after [`submit`](super::HostBridge::submit).
    pub cycles: u64,
    retry_limit: u32,
}

impl ConfigOutcome {
    /// The data, or why there is none to trust.
    ///
    /// # Errors
    /// [`BridgeError::MasterAbort`], [`BridgeError::TargetAbort`],
    /// [`BridgeError::RetryLimit`] and [`BridgeError::Parity`], after [`end`](Self::end).
    pub const fn result(&self) -> Result<u32, BridgeError> {
        let offset = self.access.offset;
        match self.end {
            ConfigEnd::Done => Ok(self.data),
            ConfigEnd::ParityError => Err(BridgeError::Parity {
                offset,
                value: self.data,
            }),
            ConfigEnd::MasterAbort => Err(BridgeError::MasterAbort { offset }),
            ConfigEnd::TargetAbort => Err(BridgeError::TargetAbort { offset }),
            ConfigEnd::RetryLimit => Err(BridgeError::RetryLimit {
                offset,
                retries: self.retries,
                max: self.retry_limit,
            }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum State {
    Idle,
    /// Waits for grant and idle bus.
    Request,
    /// The address is on the bus.
    Address,
    /// Clocks in the data phase without DEVSEL#; `None` once it was seen.
    Data(Option<u32>),
    /// The data of a read is in; its PAR is on the bus now.
    Parity(u32),
    /// Clocks before the next attempt.
    Backoff(u32),
}

/// The registers of the initiator.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Initiator {
    state: State,
    access: ConfigAccess,
    retries: u32,
    cycles: u64,
    outcome: Option<ConfigOutcome>,
}

impl Initiator {
    pub(super) const fn new() -> Self {
        Self {
            state: State::Idle,
            access: ConfigAccess::read(0),
            retries: 0,
            cycles: 0,
            outcome: None,
        }
    }

    pub(super) fn submit(&mut self, access: ConfigAccess) -> Result<(), BridgeError> {
        if self.state != State::Idle || self.outcome.is_some() {
            return Err(BridgeError::Busy {
                offset: self.access.offset,
            });
        }
        if access.offset & 3 != 0 {
            return Err(BridgeError::Misaligned {
                offset: access.offset,
            });
        }
        *self = Self {
            state: State::Request,
            access,
            ..Self::new()
        };
        Ok(())
    }

    pub(super) const fn take(&mut self) -> Option<ConfigOutcome> {
        self.outcome.take()
    }

    pub(super) const fn outcome(&self) -> Option<&ConfigOutcome> {
        self.outcome.as_ref()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    pub(super) fn requests(&self) -> bool {
        self.state == State::Request
    }

    /// Its transaction is on the bus.
    pub(super) const fn runs(&self) -> bool {
        matches!(self.state, State::Address | State::Data(_))
    }

    pub(super) fn idsel(&self) -> bool {
        self.state == State::Address
    }

    /// Adds what the initiator drives to `drive`.
    pub(super) const fn drive(&self, drive: &mut Drive) {
        match (self.state, self.access.kind) {
            (State::Address, kind) => {
                let command = match kind {
                    ConfigKind::Read => Command::ConfigurationRead,
                    ConfigKind::Write(_) => Command::ConfigurationWrite,
                };
                drive.frame_n = Some(false);
                drive.cbe_n = Some(command.bits());
                // Type 0: AD[1:0] = 00, register in AD[7:2], function 0.
                drive.ad = Some(self.access.offset as u32);
            }
            (State::Data(_), kind) => {
                drive.frame_n = Some(true);
                drive.irdy_n = Some(false);
                drive.cbe_n = Some(0);
                if let ConfigKind::Write(value) = kind {
                    drive.ad = Some(value);
                }
            }
            _ => {}
        }
    }

    /// One edge. Returns whether a word came in, whose parity is on PAR in the
    /// next clock. `parity_bad` judges the word of the edge before.
    pub(super) fn step(
        &mut self,
        bus: &Signals,
        granted: bool,
        parity_bad: bool,
        config: &BridgeConfig,
    ) -> bool {
        if self.state != State::Idle {
            self.cycles += 1;
        }
        match self.state {
            State::Idle => {}
            State::Request => {
                if granted && bus.is_idle() {
                    self.state = State::Address;
                }
            }
            State::Address => self.state = State::Data(Some(1)),
            State::Data(waited) => return self.data(bus, waited, config),
            State::Parity(value) => {
                let end = if parity_bad {
                    ConfigEnd::ParityError
                } else {
                    ConfigEnd::Done
                };
                self.finish(end, Some(value), config);
            }
            State::Backoff(clocks) => {
                self.state = if clocks > 1 {
                    State::Backoff(clocks - 1)
                } else {
                    State::Request
                };
            }
        }
        false
    }

    fn data(&mut self, bus: &Signals, waited: Option<u32>, config: &BridgeConfig) -> bool {
        let trdy = !bus.trdy_n && !bus.devsel_n;
        if trdy {
            return match self.access.kind {
                ConfigKind::Read => {
                    self.state = State::Parity(bus.ad);
                    true
                }
                ConfigKind::Write(value) => {
                    self.finish(ConfigEnd::Done, Some(value), config);
                    false
                }
            };
        }
        if !bus.stop_n {
            if bus.devsel_n {
                self.finish(ConfigEnd::TargetAbort, None, config);
            } else {
                self.retries = self.retries.saturating_add(1);
                if self.retries > config.retry_limit {
                    self.finish(ConfigEnd::RetryLimit, None, config);
                } else {
                    self.state = State::Backoff(config.retry_backoff.max(2));
                }
            }
            return false;
        }
        self.state = match waited {
            Some(clocks) if bus.devsel_n => {
                if clocks + 1 >= config.master_abort_clocks.max(5) {
                    self.finish(ConfigEnd::MasterAbort, None, config);
                    return false;
                }
                State::Data(Some(clocks + 1))
            }
            _ => State::Data(None),
        };
        false
    }

    fn finish(&mut self, end: ConfigEnd, data: Option<u32>, config: &BridgeConfig) {
        self.state = State::Idle;
        let none = match self.access.kind {
            ConfigKind::Read => u32::MAX,
            ConfigKind::Write(value) => value,
        };
        self.outcome = Some(ConfigOutcome {
            access: self.access,
            data: data.unwrap_or(none),
            end,
            retries: self.retries,
            cycles: self.cycles,
            retry_limit: config.retry_limit,
        });
    }
}

//! The memory behind the bridge as a bus target.

use heapless::Vec;

use super::bridge::BridgeStats;
use super::config::{BridgeConfig, TargetResponse};
use super::signals::{Command, Drive, Signals};
use crate::mem::Memory;

/// Responses that can wait.
pub(super) const MAX_RESPONSES: usize = 8;

/// The registers of the target.
///
/// `trdy`, `stop`, `devsel` and `ad` are what is driven in the present clock
/// while `active`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Target {
    active: bool,
    write: bool,
    trdy: bool,
    stop: bool,
    devsel: bool,
    claimed: bool,
    ad: Option<u32>,
    addr: u32,
    /// Words moved in this transaction.
    words: u32,
    /// Clocks until DEVSEL#, and until the present data phase opens.
    devsel_in: u32,
    open_in: u32,
    response: TargetResponse,
    responses: Vec<TargetResponse, MAX_RESPONSES>,
}

impl Target {
    pub(super) const fn new() -> Self {
        Self {
            active: false,
            write: false,
            trdy: false,
            stop: false,
            devsel: false,
            claimed: false,
            ad: None,
            addr: 0,
            words: 0,
            devsel_in: 0,
            open_in: 0,
            response: TargetResponse::Normal,
            responses: Vec::new(),
        }
    }

    pub(super) const fn is_idle(&self) -> bool {
        !self.active
    }

    pub(super) fn respond_next(&mut self, response: TargetResponse) -> Result<(), ()> {
        self.responses.push(response).map_err(|_| ())
    }

    /// PAR of the read data is to be wrong.
    pub(super) fn spoils_parity(&self) -> bool {
        self.active && self.ad.is_some() && self.response == TargetResponse::BadParity
    }

    /// Adds what the target drives to `drive`.
    pub(super) const fn drive(&self, drive: &mut Drive) {
        if self.active && self.claimed {
            drive.trdy_n = Some(!self.trdy);
            drive.stop_n = Some(!self.stop);
            drive.devsel_n = Some(!self.devsel);
            if self.ad.is_some() {
                drive.ad = self.ad;
            }
        }
    }

    /// Whether the address on the bus is the memory's, and for a write.
    pub(super) fn decodes<M: Memory>(bus: &Signals, memory: &M) -> Option<bool> {
        memory_direction(Command::from_bits(bus.cbe_n)).filter(|_| memory.claims(bus.ad))
    }

    /// The address phase of a transaction of another agent.
    pub(super) fn address<M: Memory>(
        &mut self,
        bus: &Signals,
        memory: &M,
        config: &BridgeConfig,
        stats: &mut BridgeStats,
    ) {
        let Some(write) = Self::decodes(bus, memory) else {
            return;
        };
        let response = if self.responses.is_empty() {
            TargetResponse::Normal
        } else {
            self.responses.remove(0)
        };
        if response == TargetResponse::Ignore {
            return;
        }
        stats.transactions += 1;
        let latency = if write {
            config.write_latency
        } else {
            config.read_latency
        };
        let mut least = config.devsel.delay();
        if !write {
            least = least.max(1); // AD turns around
        }
        let open_in = match response {
            TargetResponse::ExtraLatency(extra) => latency.saturating_add(extra).max(least),
            // DEVSEL# must have been seen asserted before it goes away.
            TargetResponse::TargetAbort | TargetResponse::AbortAfter(0) => {
                latency.max(config.devsel.delay() + 1)
            }
            _ => latency.max(least),
        };
        *self = Self {
            active: true,
            write,
            trdy: false,
            stop: false,
            devsel: false,
            claimed: false,
            ad: None,
            addr: bus.ad,
            words: 0,
            devsel_in: config.devsel.delay(),
            open_in,
            response,
            responses: core::mem::take(&mut self.responses),
        };
        self.advance(memory, stats, true);
    }

    /// One edge within a transaction. Returns whether a word came in, whose
    /// parity is on PAR in the next clock.
    pub(super) fn step<M: Memory>(
        &mut self,
        bus: &Signals,
        memory: &mut M,
        config: &BridgeConfig,
        stats: &mut BridgeStats,
    ) -> bool {
        if bus.is_idle() {
            // The initiator is gone (it gave up before DEVSEL#).
            self.release();
            return false;
        }
        if bus.irdy_n || !(self.trdy || self.stop) {
            if !(self.trdy || self.stop) {
                self.advance(memory, stats, false);
            }
            return false;
        }
        let moved = self.trdy;
        if moved {
            self.words = self.words.saturating_add(1);
            if self.write {
                memory.write_word(self.addr, bus.ad, !bus.cbe_n & 0xF);
                stats.words_written += 1;
            } else {
                stats.words_read += 1;
            }
        }
        if bus.frame_n {
            self.release();
        } else if self.stop {
            if moved {
                stats.disconnects += 1;
            }
            self.trdy = false;
        } else {
            self.trdy = false;
            let first_missing = self.addr.checked_add(4);
            self.addr = first_missing.unwrap_or(0);
            if first_missing.is_none() || !memory.claims(self.addr) {
                self.open_in = 0;
                self.stop = true;
                stats.disconnects += 1;
            } else {
                self.open_in = match self.response {
                    TargetResponse::WaitStates(clocks) => clocks,
                    _ => config.wait_states,
                };
                self.advance(memory, stats, true);
            }
        }
        moved && self.write
    }

    const fn release(&mut self) {
        self.active = false;
        self.trdy = false;
        self.stop = false;
        self.devsel = false;
        self.claimed = false;
        self.ad = None;
    }

    /// Counts towards DEVSEL# and towards the next data phase, and opens it.
    /// `fresh`: the counts were set at this edge.
    fn advance<M: Memory>(&mut self, memory: &M, stats: &mut BridgeStats, fresh: bool) {
        if !fresh {
            self.devsel_in = self.devsel_in.saturating_sub(1);
            self.open_in = self.open_in.saturating_sub(1);
            if !self.write && self.ad.is_none() && self.devsel_in == 0 {
                // The turn-around of AD is over: drive something until data.
                self.ad = Some(0);
            }
        }
        if self.devsel_in == 0 {
            self.devsel = true;
            self.claimed = true;
        }
        if self.open_in > 0 {
            return;
        }
        let unaligned = self.addr & 3 != 0;
        match self.response {
            TargetResponse::Retry
            | TargetResponse::DisconnectAfter(0)
            | TargetResponse::DisconnectWith(0) => {
                self.stop = true;
                stats.retries += 1;
            }
            TargetResponse::DisconnectAfter(words) if words == self.words => {
                self.stop = true;
                stats.disconnects += 1;
            }
            TargetResponse::TargetAbort => self.abort(stats),
            TargetResponse::AbortAfter(words) if words == self.words => self.abort(stats),
            response => {
                self.trdy = true;
                // Only linear bursts are known: others get one word.
                self.stop = unaligned
                    || response == TargetResponse::DisconnectWith(self.words.saturating_add(1));
                if !self.write {
                    self.ad = Some(memory.read_word(self.addr));
                }
            }
        }
    }

    const fn abort(&mut self, stats: &mut BridgeStats) {
        self.devsel = false;
        self.stop = true;
        stats.target_aborts += 1;
    }
}

/// Whether a command is a memory write (`true`), a memory read, or neither.
/// Memory Read Multiple and Line, and Write and Invalidate, are treated as the
/// basic commands, as the PCI specification allows.
const fn memory_direction(command: Command) -> Option<bool> {
    match command {
        Command::MemoryRead | Command::Other(0b1100 | 0b1110) => Some(false),
        Command::MemoryWrite | Command::Other(0b1111) => Some(true),
        _ => None,
    }
}

//! Remote write and remote read on the PE array, by router cycles.
//!
//! Every PE may have one transfer under way. A transfer moves a word of up to
//! four bytes a router cycle; all PEs with words left go *round* together: one
//! `router[]` loop (or one run of a schedule) sends one word of each. A word
//! travels with the address it goes to, since addresses differ between PEs.
//! Source: hw/doc/maspar.md, section "Remote write".

mod error;
mod exchange;
mod port;

pub use error::RemoteError;
pub use port::{PePort, Token};

use managed::ManagedSlice;

use super::config::RouterConfig;
use super::geometry::{MAX_CLUSTERS, MachineSize};
use super::router::{Connection, Router};
use super::schedule::Schedule;
use super::set::PeSet;
use super::ticks::Width;
use crate::remote::{Arrival, Transfer};

/// Bytes of a word on the router.
const WORD: u64 = 4;
const NOBODY: u16 = u16::MAX;

/// What a PE has under way, and who has notified it: storage of a [`PeArray`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slot {
    job: Option<Job>,
    // Senders whose notification waits here, oldest first, linked by `next`.
    first: u16,
    last: u16,
    next: u16,
}

impl Slot {
    /// Nothing under way.
    pub const IDLE: Self = Self {
        job: None,
        first: NOBODY,
        last: NOBODY,
        next: NOBODY,
    };
}

impl Default for Slot {
    fn default() -> Self {
        Self::IDLE
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Job {
    transfer: Transfer,
    /// Bytes moved.
    done: u64,
    /// The tag still has to travel.
    tag: bool,
    /// Waits in the receiver's list.
    mail: bool,
}

impl Job {
    fn active(&self) -> bool {
        !self.mail && (self.done < self.transfer.length || self.tag)
    }
}

/// What an exchange took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Cost {
    /// Words of the longest transfer: times the loop or the schedule was run.
    pub rounds: u32,
    /// Router cycles.
    pub cycles: u32,
    /// Ticks.
    pub ticks: u64,
}

/// How an exchange is carried out.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Method<'s> {
    /// By the hardware loop.
    #[default]
    Loop,
    /// By a schedule for the pattern of (source, target) pairs, or for one
    /// that has them all; compiled once, used for any bytes and addresses.
    Schedule(&'s Schedule),
}

/// The PEs' memories and the router between them.
#[derive(Debug)]
pub struct PeArray<'a> {
    router: Router,
    address_bits: u32,
    memory: ManagedSlice<'a, u8>,
    slots: ManagedSlice<'a, Slot>,
    // Transfers with words left, and those of the round under way.
    active: PeSet,
    cost: Cost,
}

impl<'a> PeArray<'a> {
    /// An array whose PE `i` has the `i`-th equal part of `memory`; `slots`
    /// has one entry for each PE.
    ///
    /// # Errors
    /// [`RemoteError::Config`] for a router that is none,
    /// [`RemoteError::Storage`] when `slots` or `memory` do not divide.
    pub fn new<M, S>(config: &RouterConfig, memory: M, slots: S) -> Result<Self, RemoteError>
    where
        M: Into<ManagedSlice<'a, u8>>,
        S: Into<ManagedSlice<'a, Slot>>,
    {
        let (memory, mut slots) = (memory.into(), slots.into());
        let pes = config.size.pes();
        if slots.len() != pes || memory.len() % pes != 0 {
            return Err(RemoteError::Storage {
                bytes: memory.len(),
                slots: slots.len(),
                pes,
            });
        }
        slots.fill(Slot::IDLE);
        Ok(Self {
            router: Router::new(config).map_err(RemoteError::Config)?,
            address_bits: 32,
            memory,
            slots,
            active: PeSet::EMPTY,
            cost: Cost::default(),
        })
    }

    /// Bits of the remote address that travel before each word, a tick each.
    /// Default 32 (chosen: a PE address in full). 0 models a store to the same
    /// address everywhere, as `router[i].v` of MPL.
    pub fn set_address_bits(&mut self, bits: u32) {
        self.address_bits = bits;
    }

    /// The machine's size.
    pub const fn size(&self) -> MachineSize {
        self.router.size()
    }

    /// What was spent so far.
    pub const fn cost(&self) -> Cost {
        self.cost
    }

    /// Bytes of each PE.
    pub fn bytes_per_pe(&self) -> usize {
        self.memory.len() / self.size().pes()
    }

    /// The memory of a PE; empty for one that the machine lacks.
    pub fn memory(&self, pe: u16) -> &[u8] {
        let (bytes, pe) = (self.bytes_per_pe(), pe as usize);
        if pe >= self.size().pes() {
            return &[];
        }
        self.memory
            .get(pe * bytes..(pe + 1) * bytes)
            .unwrap_or_default()
    }

    /// The same for writing.
    pub fn memory_mut(&mut self, pe: u16) -> &mut [u8] {
        let (bytes, pe) = (self.bytes_per_pe(), pe as usize);
        if pe >= self.size().pes() {
            return &mut [];
        }
        self.memory
            .get_mut(pe * bytes..(pe + 1) * bytes)
            .unwrap_or_default()
    }

    fn check(&self, pe: u16, addr: u64, len: u64) -> Result<(), RemoteError> {
        let (pes, size) = (self.size().pes(), self.bytes_per_pe() as u64);
        if pe as usize >= pes {
            return Err(RemoteError::NoSuchPe { pe, pes });
        }
        match addr.checked_add(len) {
            Some(end) if end <= size => Ok(()),
            _ => Err(RemoteError::OutOfMemory {
                pe,
                addr,
                len,
                size,
            }),
        }
    }

    /// Accepts a transfer of PE `source`.
    fn post(&mut self, source: u16, transfer: Transfer) -> Result<(), RemoteError> {
        self.check(source, transfer.local, transfer.length)?;
        self.check(transfer.node, transfer.remote, transfer.length)?;
        let Some(slot) = self.slots.get_mut(source as usize) else {
            return Err(RemoteError::NoSuchPe {
                pe: source,
                pes: self.size().pes(),
            });
        };
        if slot.job.is_some() {
            return Err(RemoteError::Busy { pe: source });
        }
        let job = Job {
            transfer,
            done: 0,
            tag: transfer.flags.notify_receiver,
            mail: false,
        };
        if job.active() {
            slot.job = Some(job);
            self.active.insert(source);
        }
        Ok(())
    }

    /// Starts a round when none is under way: every PE with words left asks.
    fn start_round(&mut self) {
        if self.active.is_empty() {
            return;
        }
        for pe in self.active.iter() {
            if let Some(job) = self.slots.get(pe as usize).and_then(|slot| slot.job) {
                self.router.set_address(pe, job.transfer.node);
            }
        }
        self.router.set_tflags(&self.active);
        self.cost.rounds += 1;
    }

    /// One router cycle; a new round when the last is over. Does nothing when
    /// no transfer is under way.
    pub fn cycle(&mut self) {
        if !self.router.pending() {
            self.start_round();
        }
        if self.router.pending() {
            self.move_words(Direction::Write, self.router.config().costs.rest);
        }
    }

    /// Whether a router cycle would move anything.
    pub fn is_busy(&self) -> bool {
        self.router.pending() || !self.active.is_empty()
    }

    /// Whether no byte of a PE's transfer is left to move; its tag may be.
    fn all_left(&self, pe: u16) -> bool {
        let job = self.slots.get(pe as usize).and_then(|slot| slot.job);
        job.is_none_or(|job| job.done >= job.transfer.length)
    }

    fn active_job(&self, pe: u16) -> Option<Job> {
        self.slots.get(pe as usize)?.job.filter(Job::active)
    }

    /// Opens, moves one word over each path, closes. Returns how many.
    fn move_words(&mut self, direction: Direction, rest: u32) -> u32 {
        let before = self.router.ticks();
        self.router.ropen();
        // All values are in the shift registers before any is stored.
        let mut words = [(
            [0u8; WORD as usize],
            Connection {
                source: 0,
                target: 0,
            },
        ); MAX_CLUSTERS];
        let mut count = 0;
        for (entry, path) in words.iter_mut().zip(self.router.connections()) {
            if let Some(job) = self.active_job(path.source) {
                let (pe, addr) = match direction {
                    Direction::Write => (path.source, job.transfer.local),
                    Direction::Read => (path.target, job.transfer.remote),
                };
                let from = self.memory(pe).iter().skip((addr + job.done) as usize);
                for (byte, value) in entry.0.iter_mut().zip(from) {
                    *byte = *value;
                }
            }
            entry.1 = path;
            count += 1;
        }
        self.router.rfetch(Width::W32, |_| {});
        for (word, path) in words.into_iter().take(count) {
            let Some(job) = self.active_job(path.source) else {
                continue;
            };
            let len = (job.transfer.length - job.done).min(WORD);
            let (pe, addr) = match direction {
                Direction::Write => (path.target, job.transfer.remote),
                Direction::Read => (path.source, job.transfer.local),
            };
            let into = self
                .memory_mut(pe)
                .iter_mut()
                .skip((addr + job.done) as usize);
            for (byte, value) in into.zip(word).take(len as usize) {
                *byte = value;
            }
            self.advance(path, job, len);
        }
        self.cost.cycles += 1;
        self.cost.ticks +=
            self.router.ticks() - before + u64::from(self.address_bits) + u64::from(rest);
        count as u32
    }

    /// Books a word of a transfer: data while there is some, then the tag.
    fn advance(&mut self, path: Connection, mut job: Job, len: u64) {
        if len == 0 {
            job.tag = false;
            job.mail = true;
        }
        job.done += len;
        if !job.active() {
            self.active.remove(path.source);
        }
        let last = self
            .slots
            .get(path.target as usize)
            .map_or(NOBODY, |slot| slot.last);
        if job.mail {
            if let Some(before) = self.slots.get_mut(last as usize) {
                before.next = path.source;
            }
            if let Some(receiver) = self.slots.get_mut(path.target as usize) {
                if receiver.first == NOBODY {
                    receiver.first = path.source;
                }
                receiver.last = path.source;
            }
        }
        if let Some(slot) = self.slots.get_mut(path.source as usize) {
            slot.job = (job.active() || job.mail).then_some(job);
        }
    }

    /// The oldest notification of a PE; frees the sender for its next transfer.
    fn take_mail(&mut self, pe: u16) -> Option<Arrival> {
        let sender = self.slots.get(pe as usize).map(|slot| slot.first)?;
        let from = self.slots.get_mut(sender as usize)?;
        let tag = from.job.take().map(|job| job.transfer.flags.tag)?;
        let next = core::mem::replace(&mut from.next, NOBODY);
        let slot = self.slots.get_mut(pe as usize)?;
        slot.first = next;
        if next == NOBODY {
            slot.last = NOBODY;
        }
        Some(Arrival { tag })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Write,
    Read,
}

#[cfg(test)]
mod tests;

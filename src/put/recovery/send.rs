//! Posting: what is owed, questions, messages; and the clocks behind them.

use super::Reliable;
use super::board::Board;
use super::config::{NODES, NUMBER_BITS};
use super::error::Failure;
use super::jobs::{Job, State};
use super::peer::{Contact, Owed, Peer};
use super::receive::sum;
use super::record::{INLINE, Kind, Record, parts};
use crate::ddc::lme::Control;
use crate::put::config::Model;
use crate::put::driver::{Hardware, Sequence};
use crate::put::entry::Entry;
use crate::put::error::AddError;
use crate::put::port::DmaMemory;

/// The part of a number that travels in the message identifier.
const NUMBER: u32 = (1 << NUMBER_BITS) - 1;

/// Fields of a message identifier, relative to the first one of the range:
/// number, kind, sender.
pub(super) const fn identifier(kind: Kind, sender: u16, number: u32) -> u32 {
    (number & NUMBER) << 9 | (kind as u32) << 7 | sender as u32 & (NODES as u32 - 1)
}

/// Why nothing more is posted now.
enum Stop {
    /// The ring is full: later.
    Full,
    /// Register or memory accesses fail.
    Port,
    /// The transfer cannot be sent.
    Job(Failure),
}

impl<const PEERS: usize, const JOBS: usize, const EVENTS: usize> Reliable<PEERS, JOBS, EVENTS> {
    /// Posts what there is and fits; false when accesses failed.
    pub(super) fn post<H: Hardware + ?Sized>(&mut self, hw: &mut H) -> bool {
        if self.board != Board::Running || self.put.ready::<()>().is_err() {
            return true;
        }
        let (nodes, first) = (self.nodes(), self.cursor);
        for node in (0..nodes).map(|node| (node + first % nodes.max(1)) % nodes.max(1)) {
            match self.post_records(hw, node) {
                Ok(()) => {}
                Err(Stop::Port) => return false,
                Err(_) => return true,
            }
        }
        self.post_jobs(hw)
    }

    fn has_left(&self, entry: Option<Sequence>) -> bool {
        entry.is_none_or(|entry| self.put.retired() > entry)
    }

    /// State and query to one node: each when the one before has left, since
    /// they share a slot.
    fn post_records<H: Hardware + ?Sized>(&mut self, hw: &mut H, node: u16) -> Result<(), Stop> {
        let Some(peer) = self.peers.get(usize::from(node)).copied() else {
            return Ok(());
        };
        let own = self.settings.node;
        if peer.owed != Owed::Nothing && self.has_left(peer.state) {
            let record = Record {
                missing: peer.owed == Owed::Missing,
                ..Record::new(Kind::State, own, peer.expected, peer.epoch_in)
            };
            let posted = self.post_record(hw, node, self.config.state_slot(), &record)?;
            if let Some(peer) = self.peers.get_mut(usize::from(node)) {
                (peer.state, peer.owed) = (Some(posted), Owed::Nothing);
            }
        }
        if let Contact::Asking { due: true, .. } = peer.contact
            && self.has_left(peer.query)
        {
            let record = Record::new(Kind::Query, own, peer.epoch, peer.epoch);
            let posted = self.post_record(hw, node, self.config.query_slot(), &record)?;
            let now = self.now;
            if let Some(peer) = self.peers.get_mut(usize::from(node)) {
                (peer.query, peer.since) = (Some(posted), now);
                if let Contact::Asking { due, .. } = &mut peer.contact {
                    *due = false;
                }
            }
        }
        Ok(())
    }

    /// A record alone, counted when it has left.
    fn post_record<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        node: u16,
        slot: u32,
        record: &Record,
    ) -> Result<Sequence, Stop> {
        if self.put.lpe_free() == 0 {
            return Err(Stop::Full);
        }
        let entry = self.store_record(hw, node, slot, record, Control::NOS)?;
        self.put.add_entry(hw, entry).map_err(stop)
    }

    /// Puts a record into its slot; the entry that sends it.
    fn store_record<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        node: u16,
        slot: u32,
        record: &Record,
        more: Control,
    ) -> Result<Entry, Stop> {
        let local = self.config.outgoing(self.nodes(), node, slot);
        let remote = self.config.incoming(self.settings.node, slot);
        hw.store(local, &record.emit()).map_err(|_| Stop::Port)?;
        let mut flags = Control::LMP.with(Control::LMI).with(more);
        if self.put.model() == Model::Interrupt {
            flags = flags.with(Control::NOR);
        }
        let mi = self.first + identifier(record.kind, record.sender, record.number);
        let length = Record::LEN as u32;
        Ok(Entry::page(node, mi, local, remote, length, flags))
    }

    fn post_jobs<H: Hardware + ?Sized>(&mut self, hw: &mut H) -> bool {
        let mut budget = self.config.budget;
        // Nodes whose turn is over.
        let mut closed = 0u128;
        for index in 0..self.jobs.len() {
            let Some(job) = self.jobs.get(index).copied() else {
                break;
            };
            let bit = 1u128 << (job.node & 127);
            if !job.is_waiting() || closed & bit != 0 {
                continue;
            }
            closed |= bit;
            if self.jobs.must_wait(index) {
                continue;
            }
            while let Some(job) = self.jobs.get(index).copied() {
                let open = self.peers.get(usize::from(job.node)).is_some_and(|peer| {
                    peer.contact == Contact::Open && peer.in_flight() < self.config.window.into()
                });
                if !job.is_waiting() {
                    // The next one of the node may follow.
                    closed &= !bit;
                    break;
                }
                if !open || budget == 0 {
                    break;
                }
                budget -= 1;
                match self.post_message(hw, index, &job) {
                    Ok(()) => {}
                    Err(Stop::Full) => return true,
                    Err(Stop::Port) => return false,
                    Err(Stop::Job(why)) => {
                        self.fail_job(index, why);
                        break;
                    }
                }
            }
        }
        true
    }

    fn fail_job(&mut self, index: usize, why: Failure) {
        if let Some(job) = self.jobs.get_mut(index) {
            job.state = State::Failed { why, told: false };
            self.stats.failed += 1;
        }
    }

    /// The next message of a transfer: its bytes as a page, the record behind.
    fn post_message<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        index: usize,
        job: &Job,
    ) -> Result<(), Stop> {
        if self.put.lpe_free() < 2 {
            return Err(Stop::Full);
        }
        let Some(peer) = self.peers.get(usize::from(job.node)).copied() else {
            return Ok(());
        };
        let offset = job.posted * self.config.segment;
        let length = (job.length - offset).min(self.config.segment);
        let local = job.local.wrapping_add(offset);
        let (page, inline) = parts(length);
        let mut record = Record {
            notify: job.notify && job.posted + 1 == job.count,
            tag: job.tag,
            remote: job.remote.wrapping_add(offset),
            length,
            ..Record::new(Kind::Data, self.settings.node, peer.next, peer.epoch)
        };
        let unreadable = Stop::Job(Failure::LocalMemory { address: local });
        if load_tail(hw, local.wrapping_add(page), inline, &mut record).is_err() {
            return Err(unreadable);
        }
        record.crc = sum(hw, local, page, &record.tail, inline).map_err(|()| unreadable)?;
        let slot = self.config.slot_of_bits(peer.next & NUMBER);
        let last = self.store_record(hw, job.node, slot, &record, Control::default())?;
        let data = Entry::page(
            job.node,
            last.mi,
            local,
            record.remote,
            page,
            Control::default(),
        );
        let posted = if page == 0 {
            self.put.add_entry(hw, last)
        } else {
            self.put.add_message(hw, &[data, last])
        };
        let posted = posted.map_err(stop)?;
        let now = self.now;
        if let Some(peer) = self.peers.get_mut(usize::from(job.node)) {
            if peer.in_flight() == 0 {
                peer.since = now;
            }
            peer.data = Some(posted);
            peer.next = peer.next.wrapping_add(1);
        }
        if let Some(job) = self.jobs.get_mut(index) {
            job.first = job.first.or(Some(record.number));
            job.posted += 1;
        }
        self.stats.posted += 1;
        Ok(())
    }

    /// The clocks: who is asked, asked again, given up.
    pub(super) fn watch(&mut self) {
        self.watch_ring();
        let now = self.now;
        for node in 0..self.nodes() {
            let Some(peer) = self.peers.get(usize::from(node)).copied() else {
                break;
            };
            let waits = self.jobs.waits_for(node);
            let silent = node != self.settings.node
                && self.config.heartbeat.is_some_and(|limit| {
                    let limit = limit.ps().saturating_mul(1 << peer.given_up.min(6));
                    (now - peer.heard).ps() >= limit
                });
            let mut next = peer;
            match peer.contact {
                Contact::Unknown if waits || silent => {
                    self.stats.epochs += u64::from(next.ask(now));
                }
                Contact::Open if peer.in_flight() > 0 => {
                    if !self.has_left(peer.data) {
                        // It is still our turn.
                        next.since = now;
                    } else if now - peer.since >= self.config.timeout {
                        self.stats.epochs += u64::from(next.ask(now));
                    }
                }
                Contact::Open if silent => self.stats.epochs += u64::from(next.ask(now)),
                Contact::Asking { due: false, .. } if self.has_left(peer.query) => {
                    self.answer_is_late(&mut next, node);
                }
                Contact::Asking { .. } => next.since = now,
                Contact::Unknown | Contact::Open => {}
            }
            if let Some(peer) = self.peers.get_mut(usize::from(node)) {
                *peer = next;
            }
        }
    }

    fn answer_is_late(&mut self, peer: &mut Peer, node: u16) {
        let now = self.now;
        let Contact::Asking { attempts, due, .. } = &mut peer.contact else {
            return;
        };
        if now - peer.since < self.config.patience(*attempts) {
            return;
        }
        *due = true;
        peer.since = now;
        self.stats.unanswered += 1;
        self.in_vain(peer, node);
    }

    /// A question in vain: after some the board is restarted, after more the
    /// node is given up.
    pub(super) fn in_vain(&mut self, peer: &mut Peer, node: u16) {
        let Contact::Asking { attempts, .. } = &mut peer.contact else {
            return;
        };
        *attempts = attempts.saturating_add(1);
        let attempts = *attempts;
        if attempts >= self.config.attempts {
            let why = Failure::Unreachable { node, attempts };
            self.stats.failed += self.jobs.fail(Some(node), false, why);
            peer.give_up(self.now);
        } else if attempts >= self.config.restart_after {
            // As long as nobody is heard a restart takes nothing from anybody.
            let alone = !self.heard && attempts == self.config.restart_after;
            if alone || !peer.restarted {
                peer.restarted = true;
                self.restart = true;
            }
        }
    }
}

fn stop<E>(error: AddError<E>) -> Stop {
    match error {
        AddError::RingFull { .. } | AddError::Starting | AddError::Stopped => Stop::Full,
        AddError::Port(_) => Stop::Port,
        _ => Stop::Job(Failure::Refused),
    }
}

fn load_tail<H: DmaMemory + ?Sized>(
    hw: &mut H,
    address: u32,
    inline: u32,
    record: &mut Record,
) -> Result<(), ()> {
    debug_assert!(inline <= INLINE);
    match record.tail.get_mut(..inline as usize) {
        Some(tail) if inline > 0 => hw.load(address, tail).map_err(|_| ()),
        _ => Ok(()),
    }
}

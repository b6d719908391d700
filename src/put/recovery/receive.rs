//! Reports: what arrived, and whether it is accepted.

use super::Reliable;
use super::config::{NODES, NUMBER_BITS};
use super::error::Failure;
use super::peer::{Contact, Owed, Told};
use super::record::{CRC, Kind, Record};
use crate::put::driver::Hardware;
use crate::remote::Arrival;

/// Bytes looked at at a time.
const PIECE: usize = 256;

impl<const PEERS: usize, const JOBS: usize, const EVENTS: usize> Reliable<PEERS, JOBS, EVENTS> {
    /// Handles one report, by its message identifier. False when memory failed.
    pub(super) fn report<H: Hardware + ?Sized>(&mut self, hw: &mut H, mi: u32) -> bool {
        let sender = (mi & u32::from(NODES - 1)) as u16;
        let number = mi >> 9 & ((1 << NUMBER_BITS) - 1);
        let Some(kind) = Kind::from_bits(mi >> 7 & 3).filter(|_| sender < self.nodes()) else {
            self.stats.bad_records += 1;
            return true;
        };
        let slot = match kind {
            Kind::Data => self.config.slot_of_bits(number),
            Kind::Query => self.config.query_slot(),
            Kind::State => self.config.state_slot(),
        };
        let mut bytes = [0; Record::LEN];
        let loaded = hw
            .load(self.config.incoming(sender, slot), &mut bytes)
            .is_ok();
        let record = Record::parse(&bytes).filter(|record| {
            let mask = (1 << NUMBER_BITS) - 1;
            // States are cumulative, so that a later one may be read early.
            let same = record.number & mask == number || kind == Kind::State;
            loaded && record.kind == kind && record.sender == sender && same
        });
        let Some(record) = record else {
            self.stats.bad_records += 1;
            if kind == Kind::Data
                && let Some(peer) = self.peers.get_mut(usize::from(sender))
            {
                peer.owe(Owed::Missing);
            }
            return loaded;
        };
        self.heard |= sender != self.settings.node;
        if kind != Kind::State
            && let Some(peer) = self.peers.get_mut(usize::from(sender))
        {
            peer.talked = true;
        }
        match kind {
            Kind::Data => self.data(hw, &record),
            Kind::Query => {
                if let Some(peer) = self.peers.get_mut(usize::from(sender)) {
                    peer.epoch_in = record.number;
                    // The answer says it all; what was missing is history.
                    peer.owed = Owed::State;
                }
                true
            }
            Kind::State => {
                self.state(&record);
                true
            }
        }
    }

    fn data<H: Hardware + ?Sized>(&mut self, hw: &mut H, record: &Record) -> bool {
        let Some(peer) = self.peers.get_mut(usize::from(record.sender)) else {
            return true;
        };
        if let Err(owed) = peer.wants(record.epoch, record.number) {
            peer.owe(owed);
            self.stats.out_of_turn += 1;
            return true;
        }
        let (page, inline) = record.parts();
        let arrival = Arrival { tag: record.tag };
        let full = record.notify && self.arrivals.is_full();
        let Ok(crc) = sum(hw, record.remote, page, &record.tail, inline) else {
            peer.owe(Owed::Missing);
            return false;
        };
        if crc != record.crc || full {
            peer.owe(Owed::Missing);
            self.stats.bad_data += 1;
            return true;
        }
        let tail = record.tail.get(..inline as usize).unwrap_or_default();
        let at = record.remote.wrapping_add(page);
        if inline > 0 && hw.store(at, tail).is_err() {
            peer.owe(Owed::Missing);
            return false;
        }
        // From here on it counts as delivered.
        peer.expected = peer.expected.wrapping_add(1);
        peer.owe(Owed::State);
        self.stats.received += 1;
        if record.notify {
            let _ = self.arrivals.push_back((record.sender, arrival));
        }
        true
    }

    fn state(&mut self, record: &Record) {
        let (node, number) = (record.sender, record.number);
        let Some(peer) = self.peers.get_mut(usize::from(node)) else {
            return;
        };
        let fresh = matches!(peer.contact, Contact::Asking { fresh: true, .. });
        let asking = peer.is_asking();
        match peer.told(record.epoch, number, record.missing, self.now) {
            Told::Nothing => {}
            Told::Progress => self.stats.delivered += self.jobs.acknowledge(node, number),
            Told::Resume { again } => {
                self.stats.delivered += self.jobs.acknowledge(node, number);
                self.jobs.rewind(node, number);
                self.stats.resent += u64::from(again);
            }
            Told::Forgotten => {
                if !fresh {
                    let why = Failure::Forgotten { node };
                    self.stats.failed += self.jobs.fail(Some(node), true, why);
                }
            }
        }
        let asks = self
            .peers
            .get(usize::from(node))
            .is_some_and(|peer| peer.is_asking());
        self.stats.epochs += u64::from(asks && !asking);
    }
}

/// CRC of `page` bytes at `address` and the first `inline` ones of `tail`.
pub(super) fn sum<H: Hardware + ?Sized>(
    hw: &mut H,
    address: u32,
    page: u32,
    tail: &[u8],
    inline: u32,
) -> Result<u32, ()> {
    let mut digest = CRC.digest();
    let mut done = 0;
    while done < page {
        let mut piece = [0; PIECE];
        let length = (page - done).min(PIECE as u32);
        let bytes = piece.get_mut(..length as usize).ok_or(())?;
        hw.load(address.wrapping_add(done), bytes).map_err(|_| ())?;
        digest.update(bytes);
        done += length;
    }
    digest.update(tail.get(..inline as usize).unwrap_or_default());
    Ok(digest.finalize())
}

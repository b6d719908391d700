//! What holds for an endpoint between two calls, whatever its peers do.

use core::fmt;

use super::Endpoint;
use super::pool::counted;
use super::request::{Op, Sending};
use super::storage::Unmatched;

/// Something that cannot be, is: a mistake in this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BrokenInvariant {
    /// What.
    pub what: &'static str,
    /// What was found.
    pub found: u64,
    /// What it should be.
    pub expected: u64,
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            found,
            expected,
        } = self;
        write!(f, "{what}: {found}, expected {expected}")
    }
}

impl core::error::Error for BrokenInvariant {}

fn equal(what: &'static str, found: u64, expected: u64) -> Result<(), BrokenInvariant> {
    if found == expected {
        return Ok(());
    }
    Err(BrokenInvariant {
        what,
        found,
        expected,
    })
}

fn at_most(what: &'static str, found: u64, limit: u64) -> Result<(), BrokenInvariant> {
    equal(what, found, found.min(limit))
}

impl<T: Copy> Endpoint<'_, T> {
    /// Counts everything twice: for tests and debug builds, since it takes time
    /// in proportion to the storage.
    ///
    /// # Errors
    /// [`BrokenInvariant`], the first one found.
    pub fn check_invariants(&self) -> Result<(), BrokenInvariant> {
        let flights = self.flights.iter().flatten();
        let data = flights.filter(|flight| flight.request.is_some()).count();
        equal("data transfers", self.data_flights.into(), data as u64)?;
        at_most(
            "data transfers",
            data as u64,
            self.config.data_in_flight.into(),
        )?;
        let chunks = self.peers.iter().filter(|peer| peer.chunk.is_some());
        equal("answers served", self.chunks.into(), chunks.count() as u64)?;
        self.check_landings()?;
        self.check_messages()?;
        for peer in self.peers.iter() {
            let Some(credit) = &peer.credit else { continue };
            let slots = u64::from(credit.config().slots);
            at_most("credits", credit.tx_avail().into(), slots)?;
            let held = credit.rx_full() + credit.rx_owed();
            at_most("slots taken", held.into(), slots)?;
            // Slots that wait for older ones, or for their data, are full.
            if peer.is_open() {
                let serves = peer.chunk.is_some_and(|chunk| chunk.slot.is_some());
                let waiting = (peer.done | peer.answers_in).count_ones() + u32::from(serves);
                equal("full slots", credit.rx_full().into(), waiting.into())?;
            }
        }
        Ok(())
    }

    fn check_landings(&self) -> Result<(), BrokenInvariant> {
        let mut used = 0;
        for (index, request) in self.landings.iter().enumerate() {
            let Some(request) = request else { continue };
            used += 1;
            let landing = match self.requests.op(*request) {
                Op::Recv(op) => op.landing.map(u64::from),
                _ => None,
            };
            equal("landing", landing.unwrap_or(u64::MAX), index as u64)?;
        }
        let offers = self.offers_out() as u64;
        at_most("offers", offers, self.landing_limit as u64 / 2)?;
        at_most("landings", used, self.landing_limit as u64)
    }

    fn check_messages(&self) -> Result<(), BrokenInvariant> {
        let (mut own, mut bytes, mut count) = (0, 0, 0);
        for (_, _, message) in self.matcher.unexpected() {
            count += 1;
            match message.0 {
                Unmatched::Short { peer, length, .. } => {
                    let length = counted(length.into());
                    bytes += length;
                    if peer == self.place.rank {
                        own += length;
                    }
                }
                Unmatched::Own { request } => {
                    let waits = matches!(
                        self.requests.op(request),
                        Op::Send(op) if op.state == Sending::Own
                    );
                    equal("own send that waits", waits.into(), 1)?;
                }
                Unmatched::Long { .. } => {}
            }
        }
        let told: u64 = self
            .peers
            .iter()
            .map(|peer| u64::from(peer.unexpected))
            .sum();
        equal("unexpected messages", told, count)?;
        equal("own bytes that wait", self.own_held, own)?;
        let held: u64 = self.peers.iter().map(|peer| peer.held).sum();
        equal("bytes that wait", held + own, bytes)?;
        let free = u64::from(self.pool.left()) * super::BLOCK;
        let all = u64::from(self.pool.blocks()) * super::BLOCK;
        equal("bytes of blocks", free + bytes, all)
    }
}

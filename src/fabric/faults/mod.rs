//! Faults on every wire: cables and buses, by script or at random.
//!
//! A [`FaultEvent`] says where, when and what; a script is a slice of them in
//! any order. [`RandomFaults`] draws from rates and a seed. [`Faults`] holds
//! both with their state, [`Machine::set_faults`](super::Machine::set_faults)
//! lets them loose, and a [`FaultRecord`] tells of each thing they did. A
//! machine without faults pays nothing for them.
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use multipc::cluster::{Cluster, ClusterConfig};
//! use multipc::fabric::faults::{CableFault, FaultEvent, Faults, Kind};
//! use multipc::fabric::{End, topology::Topology};
//!
//! let mut cluster = Cluster::boot(&Topology::pair()?, &ClusterConfig::default())?;
//! // The 20th data character of router 0 to router 1 (BP is a character, too).
//! let from = End::Router { router: 0, port: 1 };
//! let event = FaultEvent::cable(from, Kind::Data, 20, CableFault::Corrupt(0x10));
//! cluster.parts().0.set_faults(Faults::script(vec![event]))?;
//!
//! assert!(cluster.put(0, 1, 0x8_0000, 0xA_0000, 64).is_err());
//! let faults = cluster.machine().faults().unwrap();
//! let told: Vec<String> = faults.records().map(|r| r.to_string()).collect();
//! assert!(told[0].contains("cable from router 0 port 1: character 21 is 10 instead of 00"));
//! # }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! With storage of the caller's, without `alloc`: [`Faults::new`]. What each
//! fault leads to: hw/doc/faults.md.

mod bus;
mod cable;
mod event;
mod hook;
mod random;
mod record;
#[cfg(test)]
mod tests;
#[cfg(feature = "toml")]
mod text;

use managed::ManagedSlice;

pub use bus::BusSlot;
pub use cable::{CableSlot, LossyCable};
pub use event::{BusFault, BusWhen, CableFault, CableWhen, FaultEvent, Kind, Place, Transfers};
pub use hook::FaultError;
pub use random::{BusRates, CableRates, RandomFaults, RateError};
pub use record::{Effect, FaultRecord};
#[cfg(feature = "toml")]
pub use text::{TextError, TextProblem};

use record::Log;

/// Records that [`Faults::script`] keeps: the newest ones.
#[cfg(feature = "alloc")]
const RECORDS: usize = 4096;

/// A script, faults at random, their state, and what they did.
#[derive(Debug)]
pub struct Faults<'a> {
    events: ManagedSlice<'a, FaultEvent>,
    random: Option<RandomFaults>,
    cables: ManagedSlice<'a, CableSlot>,
    buses: ManagedSlice<'a, BusSlot>,
    log: Log<'a>,
    /// Slots in use.
    cables_used: usize,
    buses_used: usize,
    /// Storage may grow.
    grows: bool,
}

impl<'a> Faults<'a> {
    /// A script in the caller's storage: a slot for each direction of a cable
    /// and for each bus that a fault names, both directions for a cut of
    /// both; and room for records, of which the newest are kept.
    pub fn new(
        events: impl Into<ManagedSlice<'a, FaultEvent>>,
        cables: impl Into<ManagedSlice<'a, CableSlot>>,
        buses: impl Into<ManagedSlice<'a, BusSlot>>,
        records: impl Into<ManagedSlice<'a, FaultRecord>>,
    ) -> Self {
        Self {
            events: events.into(),
            random: None,
            cables: cables.into(),
            buses: buses.into(),
            log: Log {
                slots: records.into(),
                total: 0,
            },
            cables_used: 0,
            buses_used: 0,
            grows: false,
        }
    }

    /// The same with faults at random besides: then every cable, or every bus,
    /// takes its slots.
    #[must_use]
    pub fn with_random(mut self, random: RandomFaults) -> Self {
        self.random = Some(random);
        self
    }

    /// The events, in the order of places and times once they are set.
    pub fn events(&self) -> &[FaultEvent] {
        &self.events
    }

    /// The faults at random.
    pub const fn random(&self) -> Option<&RandomFaults> {
        self.random.as_ref()
    }

    /// What was done, oldest first, as far as the storage goes.
    pub fn records(&self) -> impl Iterator<Item = &FaultRecord> {
        self.log.iter()
    }

    /// How many things were done.
    pub const fn total(&self) -> u64 {
        self.log.total
    }

    /// The directions of cables that have faults.
    pub fn cables(&self) -> &[CableSlot] {
        self.cables.get(..self.cables_used).unwrap_or_default()
    }

    /// The buses that have faults.
    pub fn buses(&self) -> &[BusSlot] {
        self.buses.get(..self.buses_used).unwrap_or_default()
    }

    /// Whether both will do the same from now on.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.events() == other.events()
            && self.random == other.random
            && self.cables() == other.cables()
            && self.buses() == other.buses()
            && self.total() == other.total()
    }
}

#[cfg(feature = "alloc")]
impl Faults<'static> {
    /// A script with owned storage; the newest 4,096 records are kept.
    pub fn script(events: impl Into<alloc::vec::Vec<FaultEvent>>) -> Self {
        use alloc::vec::Vec;
        let records = alloc::vec![FaultRecord::EMPTY; RECORDS];
        Self {
            grows: true,
            ..Self::new(events.into(), Vec::new(), Vec::new(), records)
        }
    }
}

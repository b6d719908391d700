//! What tables make of a machine: who reaches whom, how far, and how much each
//! cable carries when everybody sends to everybody. Needs the feature `alloc`.
//!
//! All ordered pairs of different generators, one packet each. Where a table
//! offers several outputs the packet is divided evenly; the pair counts as
//! served only when every choice on the way arrives, and its length is the
//! longest choice.
//!
//! ```
//! use multipc::fabric::analysis::Analysis;
//! use multipc::fabric::labelling::Labelling;
//! use multipc::fabric::topology::Topology;
//!
//! let ring = Topology::ring(8)?;
//! let tables = Labelling::ir(&ring)?;
//! let analysis = Analysis::new(&ring, &tables, |generator| tables.node_of(generator));
//! assert!(analysis.complete());
//! assert_eq!((analysis.diameter, analysis.longest), (4, 6));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod search;

use alloc::vec::Vec;

use super::topology::{Failure, PortId, Routes, Topology};
use search::Scratch;

/// How much longer than needed a way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Stretch {
    /// The sending generator.
    pub from: u16,
    /// The receiving generator.
    pub to: u16,
    /// Cables that the tables make it cross.
    pub cables: u32,
    /// Cables it would have to cross.
    pub shortest: u32,
}

impl Stretch {
    /// Cables crossed for each that is needed; 1 is best.
    pub fn ratio(&self) -> f64 {
        f64::from(self.cables) / f64::from(self.shortest.max(1))
    }

    fn is_worse_than(&self, other: &Self) -> bool {
        u64::from(self.cables) * u64::from(other.shortest)
            > u64::from(other.cables) * u64::from(self.shortest)
    }
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Load {
    /// The cable.
    pub cable: u16,
    /// Where packets go into it.
    pub from: PortId,
    /// Where they come out.
    pub to: PortId,
    /// Packets, of one for each pair.
    pub pairs: f64,
}

/// What was found. Lengths are in cables: one fewer than the routers crossed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Analysis {
    /// Ordered pairs of different generators.
    pub pairs: u64,
    /// Pairs of which every packet arrives.
    pub delivered: u64,
    /// The first pair that is not served.
    pub first_failure: Option<Failure>,
    /// Cables crossed by the packets of all served pairs.
    pub total: f64,
    /// Most cables crossed by a served pair.
    pub longest: u32,
    /// Cables that the served pairs have to cross.
    pub total_shortest: u64,
    /// Most cables that a served pair has to cross.
    pub diameter: u32,
    /// The way that is longest for what it needs.
    pub worst: Option<Stretch>,
    /// Both directions of each cable, the one out of its first end first.
    pub loads: Vec<Load>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Analysis {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Analysis {{ pairs: {}, delivered: {}, first_failure: {}, total: {}, longest: {}, total_shortest: {}, diameter: {}, worst: {}, loads: {} }}",
            self.pairs,
            self.delivered,
            self.first_failure,
            self.total,
            self.longest,
            self.total_shortest,
            self.diameter,
            self.worst,
            self.loads.as_slice()
        );
    }
}

impl Analysis {
    /// Follows all pairs; `header_of` gives the header that names a generator,
    /// none for one that nobody writes to. The time grows with generators times
    /// cables.
    pub fn new<R: Routes + ?Sized>(
        topology: &Topology<'_>,
        routes: &R,
        header_of: impl Fn(u16) -> Option<u16>,
    ) -> Self {
        let mut all = Self::empty(topology);
        let mut scratch = Scratch::new(topology);
        for to in 0..topology.generators().len() as u16 {
            if let Some(header) = header_of(to) {
                scratch.destination(topology, routes, header, to, &mut all);
            }
        }
        all
    }

    fn empty(topology: &Topology<'_>) -> Self {
        let directions = (0..=u16::MAX)
            .zip(topology.cables())
            .flat_map(|(cable, spec)| {
                let [a, b] = spec.ends;
                [(a, b), (b, a)].map(|(from, to)| Load {
                    cable,
                    from,
                    to,
                    pairs: 0.0,
                })
            });
        Self {
            pairs: 0,
            delivered: 0,
            first_failure: None,
            total: 0.0,
            longest: 0,
            total_shortest: 0,
            diameter: 0,
            worst: None,
            loads: directions.collect(),
        }
    }

    /// Every pair is served.
    pub const fn complete(&self) -> bool {
        self.delivered == self.pairs
    }

    /// Cables crossed, mean over the served pairs.
    pub fn mean(&self) -> f64 {
        per(self.total, self.delivered as f64)
    }

    /// Cables that have to be crossed, mean over the served pairs.
    pub fn mean_shortest(&self) -> f64 {
        per(self.total_shortest as f64, self.delivered as f64)
    }

    /// Cables crossed for each that is needed, all served pairs together; 1
    /// means that all ways are as short as they can be.
    pub fn stretch(&self) -> f64 {
        if self.total_shortest == 0 {
            1.0
        } else {
            self.total / self.total_shortest as f64
        }
    }

    /// Packets in a direction of a cable, mean over all directions.
    pub fn mean_load(&self) -> f64 {
        let sum: f64 = self.loads.iter().map(|load| load.pairs).sum();
        per(sum, self.loads.len() as f64)
    }

    /// The direction with most packets, the first of several.
    pub fn busiest(&self) -> Option<&Load> {
        self.loads
            .iter()
            .reduce(|most, load| if load.pairs > most.pairs { load } else { most })
    }
}

fn per(sum: f64, count: f64) -> f64 {
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests;

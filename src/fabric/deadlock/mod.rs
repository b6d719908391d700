//! Can these tables deadlock? A certificate that they cannot, or the ring of
//! cables that wait for each other. Needs the feature `alloc`.
//!
//! A router has no virtual channels and no time-out: a packet holds the cables
//! it lies on until its head moves. So a machine can hang only if cables can
//! wait for cables in a ring.
//!
//! **The graph.** A *channel* is one direction of a cable, or the way from a
//! generator into its router; both are named by the router port where they
//! end. Channel `c` *waits for* channel `d` when some packet may stand at the
//! end of `c` and be offered the output where `d` begins:
//!
//! - packets are those between existing nodes: any generator sends any header
//!   `0..n`, `n` being the number of generators;
//! - a packet goes wherever the tables as loaded let it go: the table of its
//!   input port, every output of the mask (so adaptive tables are covered);
//! - only what is reached in this way counts, header by header: an entry of a
//!   table that no packet can meet does no harm;
//! - generators take everything, so the way out of the network waits for
//!   nothing. Header deletion is not followed.
//!
//! No ring in that graph: no deadlock, whatever the traffic (Dally and Seitz,
//! 1987). A ring: where each mask names one output, long packets sent at the
//! right time fill it and stand still for ever. Where masks name several,
//! a packet may still escape by another output; the verdict is then "not
//! proved".
//!
//! **The cost.** A table treats a whole interval of headers alike, so what is
//! passed along the channels is ranges of headers, not headers: about one step
//! for each channel and range (a handful of ranges a channel for the labellings
//! of this crate), then one pass over the graph, which has at most eight
//! waits a channel. [`Certificate::verify`] is as dull as it can be: it asks
//! the tables for each header at each channel, and searches for nothing.
//!
//! ```
//! use multipc::fabric::deadlock::certify;
//! use multipc::fabric::labelling::Labelling;
//! use multipc::fabric::topology::Topology;
//!
//! let ring = Topology::ring(8)?;
//! let tables = Labelling::ir(&ring)?;
//! let certificate = certify(&ring, &tables)?;
//! certificate.verify(&ring, &tables)?;
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Document: hw/doc/topology.md, "The certificate".

use alloc::vec::Vec;
use core::fmt;

use super::labelling::{Intervals, Labelling};
use super::topology::{PORTS, PortId, Routes, Topology};
use crate::rcube::RoutingTable;

mod certificate;
mod order;
mod reach;

pub use certificate::{Certificate, Flaw, HeaderRange};

/// Tables whose headers fall into intervals.
pub trait Tables: Routes {
    /// Where what [`eligible`](Routes::eligible) says may change: from one of
    /// these values, in any order, up to the next it says the same for all
    /// headers; so it does below the lowest.
    fn bounds(&self, router: u16, input: u8) -> [u16; 8];
}

impl<T: Tables + ?Sized> Tables for &T {
    fn bounds(&self, router: u16, input: u8) -> [u16; 8] {
        (**self).bounds(router, input)
    }
}

impl Tables for Labelling<'_> {
    fn bounds(&self, router: u16, _input: u8) -> [u16; 8] {
        self.intervals(router).bounds
    }
}

impl Tables for [Intervals] {
    fn bounds(&self, router: u16, _input: u8) -> [u16; 8] {
        self.get(usize::from(router))
            .map_or([0; 8], |table| table.bounds)
    }
}

impl Tables for [RoutingTable] {
    fn bounds(&self, router: u16, input: u8) -> [u16; 8] {
        let input = usize::from(input & (PORTS - 1));
        self.get(usize::from(router)).map_or([0; 8], |table| {
            let two = table.header_length >> input & 1 == 1;
            // One-character headers compare high bytes only.
            table.bounds[input].map(|bound| if two { bound } else { bound & 0xFF00 })
        })
    }
}

/// One step of a ring: the packets in this channel can wait for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Wait {
    /// The port where the channel ends, an input of this router.
    pub at: PortId,
    /// The output of the same router that the packet waits for.
    pub output: u8,
    /// The header of such a packet, the lowest there is.
    pub header: u16,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, output, header } = self;
        write!(f, "header {header} at {at} for port {output}")
    }
}

/// Channels that can wait for each other in a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cycle {
    /// Each waits for the next, the last for the first. As short as a ring
    /// through its first channel can be.
    pub waits: Vec<Wait>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "packets can wait in a ring of {} cables: ",
            self.waits.len()
        )?;
        for (i, wait) in self.waits.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            wait.fmt(f)?;
        }
        Ok(())
    }
}

impl core::error::Error for Cycle {}

#[cfg(feature = "defmt")]
impl defmt::Format for Cycle {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Cycle {{ waits: {} }}", self.waits.as_slice());
    }
}

/// Proves that these tables cannot deadlock on this machine.
///
/// # Errors
/// The [`Cycle`] of channels that wait for each other, as told in the
/// [module](self).
pub fn certify<T: Tables + ?Sized>(
    topology: &Topology<'_>,
    tables: &T,
) -> Result<Certificate, Cycle> {
    let reached = reach::reach(topology, tables);
    match order::number(topology, &reached.waits) {
        Ok(numbers) => Ok(Certificate::new(numbers, reached.ranges)),
        Err(ring) => {
            let wait = |&(channel, output): &(usize, u8)| Wait {
                at: port_of(channel),
                output,
                header: reach::witness(tables, &reached.ranges, channel, output).unwrap_or(0),
            };
            Err(Cycle {
                waits: ring.iter().map(wait).collect(),
            })
        }
    }
}

/// The channel that ends at a port.
fn channel_of(at: PortId) -> usize {
    usize::from(at.router) * usize::from(PORTS) + usize::from(at.port)
}

/// The port where a channel ends.
fn port_of(channel: usize) -> PortId {
    let ports = usize::from(PORTS);
    // Routers are counted with 16 bits, so no channel is beyond them.
    PortId::new((channel / ports) as u16, (channel % ports) as u8)
}

/// How many channels a machine has room for.
fn channels(topology: &Topology<'_>) -> usize {
    usize::from(topology.routers()) * usize::from(PORTS)
}

#[cfg(test)]
mod tests;

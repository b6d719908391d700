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

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::topology::{Failure, PORTS, Port, PortId, RouteError, Routes, Topology};
use crate::hsl::word::Set;

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

/// What is known of a channel (named by the router port where it ends) for one
/// destination.
#[derive(Clone, Copy)]
struct Known {
    state: State,
    /// Most routers from here to the destination.
    routers: u32,
    /// Packets that come this way.
    packets: f64,
    /// Place on the way that is being searched.
    depth: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unknown,
    OnTheWay,
    Arrives,
    Fails(RouteError),
}

const UNKNOWN: Known = Known {
    state: State::Unknown,
    routers: 0,
    packets: 0.0,
    depth: 0,
};

struct Scratch {
    known: Vec<Known>,
    /// Channels that arrive, each after all it goes on to.
    order: Vec<usize>,
    /// Channels on the way, each with the outputs still to be tried.
    stack: Vec<(usize, u8)>,
    /// Cables from each router to the destination.
    distance: Vec<u32>,
    queue: VecDeque<u16>,
}

impl Scratch {
    fn new(topology: &Topology<'_>) -> Self {
        let routers = usize::from(topology.routers());
        Self {
            known: vec![UNKNOWN; routers * usize::from(PORTS)],
            order: Vec::new(),
            stack: Vec::new(),
            distance: vec![u32::MAX; routers],
            queue: VecDeque::new(),
        }
    }

    fn destination<R: Routes + ?Sized>(
        &mut self,
        topology: &Topology<'_>,
        routes: &R,
        header: u16,
        to: u16,
        all: &mut Analysis,
    ) {
        self.known.fill(UNKNOWN);
        self.order.clear();
        let home = topology.generators().get(usize::from(to));
        self.measure(topology, home.map_or(0, |at| at.router));
        let sources = (0..=u16::MAX).zip(topology.generators());
        for (from, &at) in sources.filter(|&(from, _)| from != to) {
            all.pairs += 1;
            self.search(topology, routes, header, to, at);
            let Some(known) = self.known.get_mut(index(at)) else {
                continue;
            };
            if let State::Fails(error) = known.state {
                all.first_failure.get_or_insert(Failure { from, to, error });
                continue;
            }
            known.packets += 1.0;
            let way = Stretch {
                from,
                to,
                cables: known.routers.saturating_sub(1),
                shortest: self
                    .distance
                    .get(usize::from(at.router))
                    .copied()
                    .unwrap_or(0),
            };
            all.delivered += 1;
            all.longest = all.longest.max(way.cables);
            all.total_shortest += u64::from(way.shortest);
            all.diameter = all.diameter.max(way.shortest);
            if way.shortest > 0 && all.worst.is_none_or(|worst| way.is_worse_than(&worst)) {
                all.worst = Some(way);
            }
        }
        self.send(topology, routes, header, all);
    }

    /// Breadth first from the router of the destination.
    fn measure(&mut self, topology: &Topology<'_>, home: u16) {
        self.distance.fill(u32::MAX);
        self.queue.clear();
        if let Some(distance) = self.distance.get_mut(usize::from(home)) {
            *distance = 0;
            self.queue.push_back(home);
        }
        while let Some(router) = self.queue.pop_front() {
            let next = self
                .distance
                .get(usize::from(router))
                .map_or(0, |d| d.saturating_add(1));
            for port in 0..PORTS {
                let Some(peer) = topology.peer(PortId::new(router, port)) else {
                    continue;
                };
                if let Some(distance) = self.distance.get_mut(usize::from(peer.router))
                    && *distance == u32::MAX
                {
                    *distance = next;
                    self.queue.push_back(peer.router);
                }
            }
        }
    }

    /// Depth first from the end of a channel, all choices.
    fn search<R: Routes + ?Sized>(
        &mut self,
        topology: &Topology<'_>,
        routes: &R,
        header: u16,
        to: u16,
        start: PortId,
    ) {
        self.enter(routes, header, start);
        while let Some(&mut (channel, ref mut outputs)) = self.stack.last_mut() {
            let at = port_of(channel);
            let Some(output) = Set(*outputs).next() else {
                self.stack.pop();
                if let Some(known) = self.known.get_mut(channel)
                    && known.state == State::OnTheWay
                {
                    known.state = State::Arrives;
                    self.order.push(channel);
                }
                if let Some(&(back, _)) = self.stack.last() {
                    self.inherit(back, channel);
                }
                continue;
            };
            *outputs &= *outputs - 1;
            let place = PortId::new(at.router, output as u8);
            match topology.port(place) {
                Port::Empty => self.fail(channel, RouteError::OpenPort { header, at: place }),
                Port::Generator(arrived) if arrived == to => {
                    if let Some(known) = self.known.get_mut(channel) {
                        known.routers = known.routers.max(1);
                    }
                }
                Port::Generator(arrived) => {
                    let wanted = to;
                    self.fail(
                        channel,
                        RouteError::WrongGenerator {
                            header,
                            arrived,
                            wanted,
                        },
                    );
                }
                Port::Cable { peer, .. } => match self.known.get(index(peer)) {
                    Some(known) if known.state == State::OnTheWay => {
                        let length = self.stack.len() as u32 - known.depth;
                        let at = peer;
                        self.fail(channel, RouteError::Loop { header, at, length });
                    }
                    Some(known) if known.state == State::Unknown => {
                        self.enter(routes, header, peer);
                    }
                    _ => self.inherit(channel, index(peer)),
                },
            }
        }
    }

    fn enter<R: Routes + ?Sized>(&mut self, routes: &R, header: u16, at: PortId) {
        let depth = self.stack.len() as u32;
        let Some(known) = self.known.get_mut(index(at)) else {
            return;
        };
        if known.state != State::Unknown {
            return;
        }
        known.depth = depth;
        let outputs = routes.eligible(at.router, at.port, header);
        if outputs == 0 {
            known.state = State::Fails(RouteError::NoOutput {
                header,
                router: at.router,
                input: at.port,
            });
        } else {
            known.state = State::OnTheWay;
        }
        self.stack.push((index(at), outputs));
    }

    /// `channel` goes on to `next`, of which all is known.
    fn inherit(&mut self, channel: usize, next: usize) {
        let Some(&next) = self.known.get(next) else {
            return;
        };
        match next.state {
            State::Fails(error) => self.fail(channel, error),
            _ => {
                if let Some(known) = self.known.get_mut(channel) {
                    known.routers = known.routers.max(next.routers + 1);
                }
            }
        }
    }

    fn fail(&mut self, channel: usize, error: RouteError) {
        if let Some(known) = self.known.get_mut(channel)
            && known.state == State::OnTheWay
        {
            known.state = State::Fails(error);
        }
    }

    /// Sends the packets on, each channel after all that lead to it.
    fn send<R: Routes + ?Sized>(
        &mut self,
        topology: &Topology<'_>,
        routes: &R,
        header: u16,
        all: &mut Analysis,
    ) {
        for &channel in self.order.iter().rev() {
            let at = port_of(channel);
            let packets = self.known.get(channel).map_or(0.0, |known| known.packets);
            if packets == 0.0 {
                continue;
            }
            let outputs = routes.eligible(at.router, at.port, header);
            let share = packets / f64::from(outputs.count_ones().max(1));
            for output in Set(outputs) {
                let place = PortId::new(at.router, output as u8);
                let Port::Cable { cable, peer } = topology.port(place) else {
                    continue;
                };
                if let Some(known) = self.known.get_mut(index(peer)) {
                    known.packets += share;
                }
                let first = usize::from(cable) * 2;
                let here = all.loads.get(first).is_some_and(|load| load.from == place);
                if let Some(load) = all.loads.get_mut(first + usize::from(!here)) {
                    load.pairs += share;
                }
                all.total += share;
            }
        }
    }
}

fn index(at: PortId) -> usize {
    usize::from(at.router) * usize::from(PORTS) + usize::from(at.port)
}

fn port_of(channel: usize) -> PortId {
    let ports = usize::from(PORTS);
    PortId::new((channel / ports) as u16, (channel % ports) as u8)
}

#[cfg(test)]
mod tests;

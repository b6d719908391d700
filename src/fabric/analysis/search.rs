//! The search for one destination: which channels arrive, and what they carry.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::{Analysis, Stretch};
use crate::fabric::topology::{Failure, PORTS, Port, PortId, RouteError, Routes, Topology};
use crate::hsl::word::Set;

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

/// Memory of the search, used again for each destination.
pub(super) struct Scratch {
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
    pub(super) fn new(topology: &Topology<'_>) -> Self {
        let routers = usize::from(topology.routers());
        Self {
            known: vec![UNKNOWN; routers * usize::from(PORTS)],
            order: Vec::new(),
            stack: Vec::new(),
            distance: vec![u32::MAX; routers],
            queue: VecDeque::new(),
        }
    }

    /// Adds all pairs with this destination.
    pub(super) fn destination<R: Routes + ?Sized>(
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

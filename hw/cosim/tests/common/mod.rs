//! A router in lock-step with eight peers.

use multipc::rcube::{PortEvents, Rcube, RoutingTable};
use multipc_cosim::Lockstep;
use multipc_cosim::rcube::{RcubeIn, RcubeModel, RcubeOut, RcubeRtl};
use multipc_cosim::traffic::{Mood, Traffic};

/// Model, RTL, and what drives them.
pub struct Rig {
    pub traffic: Traffic,
    bench: Lockstep<RcubeModel, RcubeRtl>,
    pub shown: RcubeOut,
}

impl Rig {
    /// `name` is that of the waveform.
    pub fn new(name: &'static str, seed: u64, parallel: u8, quick: bool) -> Self {
        Self {
            traffic: Traffic::new(seed, parallel, quick),
            bench: Lockstep::new(name, RcubeModel::default(), RcubeRtl::new()),
            shown: RcubeOut::default(),
        }
    }

    /// One with all links up and this table, nothing sent so far.
    #[allow(dead_code)]
    pub fn up(name: &'static str, parallel: u8, table: &RoutingTable) -> Self {
        let mut rig = Self::new(name, 7, parallel, true);
        rig.traffic.mood = Mood::SILENT;
        rig.traffic.load(table);
        rig.run(400, |_, _| {});
        assert_eq!(rig.shown.link_status, 0xFF);
        rig
    }

    /// Edges; `spoil` may change what the router is given.
    pub fn run(&mut self, edges: u64, mut spoil: impl FnMut(u64, &mut RcubeIn)) {
        for edge in 0..edges {
            self.step(|inputs| spoil(edge, inputs));
        }
    }

    /// One edge.
    pub fn step(&mut self, spoil: impl FnOnce(&mut RcubeIn)) -> RcubeOut {
        let mut inputs = self.traffic.next(&self.shown);
        spoil(&mut inputs);
        self.shown = self
            .bench
            .step(&inputs)
            .unwrap_or_else(|difference| panic!("{difference}"));
        self.shown
    }

    /// The model, once there was an edge.
    #[allow(dead_code)]
    pub fn router(&self) -> Option<&Rcube> {
        self.bench.model.router()
    }

    /// Events of all ports since power-on.
    #[allow(dead_code)]
    pub fn events(&self) -> PortEvents {
        let mut sum = PortEvents::default();
        let Some(router) = self.bench.model.router() else {
            return sum;
        };
        for port in router.stats().ports {
            let events = port.events;
            sum.packets_in += events.packets_in;
            sum.packets_out += events.packets_out;
            sum.no_route += events.no_route;
            sum.short += events.short;
            sum.overflow += events.overflow;
            sum.closed += events.closed;
            sum.drained += events.drained;
            sum.link_losses += events.link_losses;
            sum.credit_errors += events.credit_errors;
        }
        sum
    }
}

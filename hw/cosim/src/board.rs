//! RTL in a machine of models: the main job's two boards, in which the router
//! or the controller of board 0 is Verilated.
//!
//! [`Bench`] is the machine's probe. It plays the chips that are RTL
//! ([`StandIn`]), and can write down every change of every pin of the machine.
//! [`run`] boots the machine by the driver and measures it as the main job does.

use std::collections::VecDeque;
use std::error::Error;

use multipc::cluster::{BootReport, Cluster, ClusterConfig};
use multipc::ddc::PciInputs;
use multipc::fabric::topology::{Cable, PortId, Topology, TopologyBuilder};
use multipc::fabric::{ControllerPins, Domain, Edge, Parts, Probe, RouterPins, StandIn};
use multipc::figures::record::RecordPoint;
use multipc::figures::{LatencySplit, PutBench, PutPoint};
use multipc::hsl::Line;
use multipc::pci::Signals;
use multipc::put::CostModel;

use crate::Device;
use crate::ddc::{DdcIn, DdcRtl, Resettable};
use crate::hsl_end::{line, pins_of};
use crate::rcube::{RcubeIn, RcubeRtl};

/// The parallel port of a router on a board.
const BOARD_PORT: u8 = 1;

/// Which chips of board 0 are RTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rtl {
    /// The router.
    pub router: bool,
    /// The controller.
    pub controller: bool,
}

/// A router in RTL on the fabric's side of its pins.
struct Router {
    rtl: RcubeRtl,
    r3_init: bool,
    /// What the configuration chain brought since the last link edge. The RTL
    /// has one clock, so each byte takes an edge of the link clock; that is
    /// not slower than the PCI clock, and at most one waits.
    chain: VecDeque<(bool, Option<u8>)>,
}

impl Router {
    fn new() -> Self {
        let mut rtl = RcubeRtl::new();
        for rst_n in [1, 0, 1] {
            rtl.settle(&RcubeIn {
                rst_n,
                parallel: BOARD_PORT,
                ..RcubeIn::default()
            });
        }
        Self {
            rtl,
            r3_init: false,
            chain: VecDeque::new(),
        }
    }

    fn edge(&mut self, inputs: &[Line; 8]) -> RouterPins {
        let (r3_init, byte) = self.chain.pop_front().unwrap_or((self.r3_init, None));
        assert!(self.chain.is_empty(), "two chain bytes in a link cycle");
        self.r3_init = r3_init;
        let mut pins = RcubeIn {
            rst_n: 1,
            parallel: BOARD_PORT,
            r3_init: r3_init.into(),
            r3_strobe: byte.is_some().into(),
            r3_dout: byte.unwrap_or(0),
            ..RcubeIn::default()
        };
        for (k, input) in inputs.iter().enumerate() {
            let (sym, signal, fcc) = pins_of(*input);
            pins.sym[k] = sym;
            pins.signal |= u8::from(signal) << k;
            pins.fcc |= u8::from(fcc) << k;
        }
        let out = self.rtl.step(&pins);
        RouterPins {
            outputs: std::array::from_fn(|k| {
                let bit = |set: u8| set >> k & 1 == 1;
                line(bit(out.signal), bit(out.fcc), out.sym[k])
            }),
            link_status: out.link_status,
        }
    }
}

/// A pin, or a group of pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// An output of a router: symbol, signal, pulse.
    RouterOutput(usize, usize),
    /// The link status of a router.
    LinkStatus(usize),
    /// The port of a controller.
    Port(usize),
    /// The PCI bus of a board, AD.
    Ad(usize),
    /// The PCI bus of a board, everything else; GNT#, REQ#, INTA#.
    Bus(usize),
}

/// A pin, its value from an edge on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The clock.
    pub domain: Domain,
    /// Its edge.
    pub cycle: u64,
    /// What changed.
    pub pin: Pin,
    /// To what.
    pub value: u32,
}

/// The probe of a machine in which chips are RTL.
pub struct Bench {
    router: Option<Router>,
    controller: Option<DdcRtl>,
    changes: Option<Vec<Change>>,
    last: Vec<(Pin, u32)>,
    edges: [u64; 2],
}

impl Bench {
    /// A probe that plays the chips named by `rtl`; with `record` it writes
    /// down what happens on all pins.
    pub fn new(rtl: Rtl, record: bool) -> Self {
        Self {
            router: rtl.router.then(Router::new),
            controller: rtl.controller.then(DdcRtl::reset),
            changes: record.then(Vec::new),
            last: Vec::new(),
            edges: [0; 2],
        }
    }

    /// Edges that the RTL took: router, controller (of both clocks).
    pub fn rtl_edges(&self) -> [u64; 2] {
        self.edges
    }

    /// Every change of a pin, in the order of time.
    pub fn changes(&self) -> &[Change] {
        self.changes.as_deref().unwrap_or_default()
    }
}

impl Probe for Bench {
    fn after_edge(&mut self, edge: Edge, parts: Parts<'_, '_>) {
        let Some(changes) = &mut self.changes else {
            return;
        };
        let mut pins = Vec::new();
        match edge.domain {
            Domain::Link => {
                for (i, router) in parts.routers.iter().enumerate() {
                    for (port, line) in router.outputs().iter().enumerate() {
                        pins.push((Pin::RouterOutput(i, port), value_of(*line)));
                    }
                    pins.push((Pin::LinkStatus(i), router.link_status().into()));
                }
                for (i, node) in parts.nodes.iter().enumerate() {
                    pins.push((Pin::Port(i), value_of(node.link_output())));
                }
            }
            Domain::Pci => {
                for (i, node) in parts.nodes.iter().enumerate() {
                    let shown = node.pci_outputs();
                    let [gnt_n, req_n, inta_n] =
                        [node.bridge().ddc_gnt_n(), shown.req_n, shown.inta_n].map(u32::from);
                    pins.push((Pin::Ad(i), node.bus().ad));
                    let bus = lines_of(node.bus()) << 3 | gnt_n << 2 | req_n << 1 | inta_n;
                    pins.push((Pin::Bus(i), bus));
                }
            }
        }
        for (pin, value) in pins {
            match self.last.iter_mut().find(|(known, _)| *known == pin) {
                Some((_, last)) if *last == value => continue,
                Some((_, last)) => *last = value,
                None => self.last.push((pin, value)),
            }
            changes.push(Change {
                domain: edge.domain,
                cycle: edge.cycle,
                pin,
                value,
            });
        }
    }

    fn stand_in(&mut self) -> Option<&mut dyn StandIn> {
        if self.router.is_some() || self.controller.is_some() {
            Some(self)
        } else {
            None
        }
    }
}

impl StandIn for Bench {
    fn router_edge(&mut self, router: u16, inputs: &[Line; 8]) -> Option<RouterPins> {
        let rtl = self.router.as_mut().filter(|_| router == 0)?;
        self.edges[0] += 1;
        Some(rtl.edge(inputs))
    }

    fn router_chain(&mut self, router: u16, r3_init: bool, r3_dout: Option<u8>) {
        if let Some(rtl) = self.router.as_mut().filter(|_| router == 0) {
            rtl.chain.push_back((r3_init, r3_dout));
        }
    }

    fn controller_link_edge(&mut self, node: u16, input: Line) -> Option<ControllerPins> {
        self.controller_edge(node, &DdcIn::link(input))
    }

    fn controller_pci_edge(&mut self, node: u16, inputs: &PciInputs) -> Option<ControllerPins> {
        let PciInputs {
            bus,
            idsel,
            gnt_n,
            r3_status,
            ..
        } = inputs;
        self.controller_edge(node, &DdcIn::pci(bus, *idsel, *gnt_n, *r3_status))
    }
}

impl Bench {
    fn controller_edge(&mut self, node: u16, pins: &DdcIn) -> Option<ControllerPins> {
        let rtl = self.controller.as_mut().filter(|_| node == 0)?;
        self.edges[1] += 1;
        let out = rtl.step(pins);
        Some(ControllerPins {
            pci: out.pci(),
            link: out.line(),
        })
    }
}

fn value_of(line: Line) -> u32 {
    let (sym, signal, fcc) = pins_of(line);
    u32::from(sym) | u32::from(signal) << 9 | u32::from(fcc) << 10
}

fn lines_of(bus: &Signals) -> u32 {
    let lines = [
        bus.par,
        bus.frame_n,
        bus.irdy_n,
        bus.trdy_n,
        bus.devsel_n,
        bus.stop_n,
        bus.perr_n,
        bus.serr_n,
    ];
    lines
        .iter()
        .fold(bus.cbe_n.into(), |all, &line| all << 1 | u32::from(line))
}

/// How much of the main job to run.
#[derive(Clone, Debug)]
pub struct Job<'j> {
    /// How long the drivers ignore first interrupts, microseconds. RTL does not
    /// sleep: the second of the original costs it 66,000,000 edges.
    pub settle_us: u32,
    /// Rounds of the ping-pong.
    pub rounds: u32,
    /// Points of the throughput curve.
    pub points: &'j [RecordPoint],
    /// Pages a point, fewer of large ones.
    pub pages: u32,
}

/// What the main job found, with the machine as it is afterwards.
pub struct Outcome {
    /// Boot: when drivers started, links came up.
    pub boot: BootReport,
    /// Latency of one byte.
    pub latency: LatencySplit,
    /// The throughput curve.
    pub points: Vec<PutPoint>,
    /// The machine, drivers and probe.
    pub cluster: Cluster<Bench>,
}

/// Two boards back to back by port 1, on 3 m of cable, as in the main job.
fn pair() -> Result<Topology<'static>, Box<dyn Error>> {
    let mut builder = TopologyBuilder::new();
    let (a, b) = (builder.board(), builder.board());
    let cable = Cable::new(PortId::new(a, 1), PortId::new(b, 1));
    builder.cable(cable.with_length_mm(3000));
    Ok(builder.build()?)
}

/// Boots two boards and measures them.
///
/// # Errors
/// Whatever boot and benchmark report.
pub fn run(bench: Bench, job: &Job<'_>) -> Result<Outcome, Box<dyn Error>> {
    let mut config = ClusterConfig::default();
    config.settle_us = job.settle_us;
    let mut cluster = Cluster::boot_with_probe(&pair()?, &config, bench)?;
    let (machine, writers) = cluster.parts();
    let [first, second] = writers else {
        return Err("the machine has no two nodes".into());
    };
    let drivers = [first.put_mut(), second.put_mut()];
    let mut bench = PutBench::new(machine, drivers, CostModel::default())?;
    let latency = bench.latency(1, job.rounds)?;
    let mut points = Vec::new();
    for &point in job.points {
        points.push(bench.point(point, pages_for(point.bytes, job.pages))?);
    }
    Ok(Outcome {
        boot: cluster.boot_report().clone(),
        latency,
        points,
        cluster,
    })
}

/// As the command line: of large pages a few say as much as many.
fn pages_for(bytes: u32, wanted: u32) -> u32 {
    wanted.min((400_000 / bytes.max(1)).max(8))
}

//! Whole machines with the bare driver on every board, and its events by node.
#![allow(dead_code)] // each test file uses a part

use embedded_hal::digital::InputPin;
use multipc::fabric::labelling::{Labelling, Method};
use multipc::fabric::topology::Topology;
use multipc::fabric::{BoardConfig, Machine, MachineConfig};
use multipc::put::{AddError, Control, Entry, Event, Model, Put, PutConfig};
use multipc::time::Duration;

/// Source and target of pages on every board, and the entries of its rings.
pub const SOURCE: u32 = 0x1_0000;
pub const TARGET: u32 = 0x2_0000;
pub const BASE: u32 = 0x1000;
pub const ENTRIES: u32 = 8;

/// LMP, to be combined.
pub const LAST: Control = Control::LMP;

/// Told at the sender.
pub fn nos(flags: Control) -> Control {
    flags.with(Control::NOS)
}

/// Reported and counted at the receiver.
pub fn nor(flags: Control) -> Control {
    flags.with(Control::LMI).with(Control::NOR)
}

/// What happened at a node, in order, as far as a user cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Sent(u32),
    Received(u32, Option<[u32; 2]>),
    Error(String),
}

pub struct Boards {
    pub machine: Machine<'static>,
    pub puts: Vec<Put>,
    pub seen: Vec<Vec<Seen>>,
    tables: Vec<Vec<u8>>,
}

impl Boards {
    /// All drivers started, links up. `change` sees each driver's settings.
    pub fn start(topology: &Topology<'_>, change: impl Fn(&mut PutConfig<'_>)) -> Self {
        let labelling = Labelling::new(topology, Method::default()).unwrap();
        let mut board = BoardConfig::default();
        board.memory_bytes = 0x4_0000;
        board.check_bus = true;
        let machine = Machine::build(topology, &labelling, MachineConfig::default(), &board);
        let nodes = topology.generators().len();
        let tables = (0..nodes as u16).map(|node| {
            let generator = labelling.generator_of(node).unwrap();
            let at = topology.generators()[usize::from(generator)];
            labelling.table(at.router).emit().to_vec()
        });
        let mut this = Self {
            machine: machine.unwrap(),
            puts: vec![Put::new(); nodes],
            seen: vec![Vec::new(); nodes],
            tables: tables.collect(),
        };
        for node in 0..nodes {
            this.begin(node, &change);
        }
        this.settle();
        this
    }

    /// Starts one driver and gives its one user all of 64 identifiers.
    pub fn begin(&mut self, node: usize, change: impl Fn(&mut PutConfig<'_>)) {
        let mut config = PutConfig::new(node as u16, BASE, &self.tables[node]);
        config.nodes = self.puts.len() as u16;
        config.entries = ENTRIES;
        config.counters = 64;
        change(&mut config);
        let put = &mut self.puts[node];
        let mut host = self.machine.host(node as u16).unwrap();
        let started = put.begin(&mut host, &config).unwrap();
        assert!(started.hsl, "{started:?}");
        let sap = put.register_sap().unwrap();
        put.attach_mi_range(sap, 64).unwrap();
    }

    /// Lets the links come up and opens all drivers for posting.
    pub fn settle(&mut self) {
        self.machine.run_for(Duration::from_us(400));
        for (node, put) in self.puts.iter_mut().enumerate() {
            let mut host = self.machine.host(node as u16).unwrap();
            put.settled(&mut host).unwrap();
        }
    }

    /// Posts; while the ring is full all are served, and the ring is flushed,
    /// since pages without NOS raise no interrupt.
    pub fn post(&mut self, node: usize, entry: Entry) {
        for _ in 0..10_000 {
            let mut host = self.machine.host(node as u16).unwrap();
            match self.puts[node].add_entry(&mut host, entry) {
                Ok(_) => return,
                Err(AddError::RingFull { .. }) => {
                    self.run(Duration::from_us(1));
                    self.flush(node);
                }
                Err(error) => panic!("{error}"),
            }
        }
        panic!("the ring of node {node} stays full");
    }

    /// Runs for a time, serving every node as its model says: at interrupts,
    /// or once every microsecond.
    pub fn run(&mut self, time: Duration) {
        let end = self.machine.now() + time;
        while self.machine.now() < end {
            let next = self.machine.now() + Duration::from_us(1);
            self.machine.run_until(next.min(end));
            for node in 0..self.puts.len() {
                self.serve(node);
            }
        }
    }

    /// Serves one node.
    pub fn serve(&mut self, node: usize) {
        let seen = &mut self.seen[node];
        let mut sink = |event| seen.push(seen_of(event));
        let put = &mut self.puts[node];
        let mut host = self.machine.host(node as u16).unwrap();
        if put.model() == Model::Polling {
            // Pages, messages and links raise no INTA#, errors do.
            let low = host.is_low().unwrap();
            let errors = host.machine().nodes()[node].ddc().register(0x40) & 0x00FB_F000;
            assert_eq!(low, errors != 0, "INTA# of node {node}");
            put.poll(&mut host, 64, &mut sink).unwrap();
            return;
        }
        for _ in 0..100 {
            if host.is_high().unwrap() {
                return;
            }
            let served = put.on_interrupt(&mut host, 64, &mut sink).unwrap();
            assert!(served.cause, "spurious interrupt on node {node}");
        }
        panic!("INTA# of node {node} does not fall");
    }

    /// Takes back what has left of one node.
    pub fn flush(&mut self, node: usize) {
        let seen = &mut self.seen[node];
        let mut host = self.machine.host(node as u16).unwrap();
        self.puts[node]
            .flush_lme(&mut host, 64, |event| seen.push(seen_of(event)))
            .unwrap();
    }

    /// Serves all until nothing has happened for 50 us.
    pub fn drain(&mut self) {
        let mut last = usize::MAX;
        for _ in 0..1_000 {
            self.run(Duration::from_us(50));
            let count = self.seen.iter().map(Vec::len).sum();
            if count == last {
                return;
            }
            last = count;
        }
        panic!("events without end");
    }

    pub fn register(&self, node: usize, offset: u8) -> u32 {
        self.machine.nodes()[node].ddc().register(offset)
    }

    pub fn store(&mut self, node: usize, addr: u32, bytes: &[u8]) {
        let mut host = self.machine.host(node as u16).unwrap();
        host.store(addr, bytes).unwrap();
    }

    pub fn load(&mut self, node: usize, addr: u32, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let host = self.machine.host(node as u16).unwrap();
        host.load(addr, &mut bytes).unwrap();
        bytes
    }

    /// No rule of PCI broken on any bus.
    pub fn assert_clean(&self) {
        for node in self.machine.nodes() {
            assert_eq!(node.checker().unwrap().violations(), &[]);
        }
    }
}

fn seen_of(event: Event) -> Seen {
    match event {
        Event::Sent { mi, .. } => Seen::Sent(mi),
        Event::Received { mi, data, .. } => Seen::Received(mi, data),
        Event::Error { fault, .. } => Seen::Error(fault.to_string()),
        other => panic!("{other:?}"),
    }
}

/// The identifiers of what was received.
pub fn received(seen: &[Seen]) -> Vec<u32> {
    let of = |seen: &Seen| match seen {
        Seen::Received(mi, _) => Some(*mi),
        _ => None,
    };
    seen.iter().filter_map(of).collect()
}

/// The identifiers of what was sent.
pub fn sent(seen: &[Seen]) -> Vec<u32> {
    let of = |seen: &Seen| match seen {
        Seen::Sent(mi) => Some(*mi),
        _ => None,
    };
    seen.iter().filter_map(of).collect()
}

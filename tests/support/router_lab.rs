//! A router with a peer on each port: sources and sinks that obey the link.
#![allow(dead_code)]

use std::collections::VecDeque;

use multipc::hsl::{Line, LinkConfig, Port, PortKind, Received, Slot, Symbol};
use multipc::rcube::{PORTS, Rcube, RcubeConfig, RoutingTable};

/// What is at the other end of a port.
pub struct Peer {
    pub port: Port,
    pub to_send: VecDeque<Symbol>,
    /// Taken from the link, not yet read.
    pub fifo: VecDeque<Symbol>,
    /// Read, with the cycle in which the router's pin carried it.
    pub received: Vec<(u64, Symbol)>,
    /// Reads a symbol a cycle.
    pub reads: bool,
    /// The cable is plugged.
    pub plugged: bool,
    /// Times the link went down as seen here.
    pub downs: usize,
    /// Highest fill of `fifo`.
    pub deepest: usize,
    arrival: VecDeque<u64>,
}

pub struct Lab {
    pub router: Rcube,
    pub peers: Vec<Peer>,
    /// What the router's input pins carry in the current cycle.
    pub inputs: [Line; PORTS],
    pub cycle: u64,
    pub link: LinkConfig,
}

impl Lab {
    pub fn new(config: RcubeConfig, table: &RoutingTable) -> Self {
        let peers = config.ports.iter().map(|&kind| Peer::new(kind)).collect();
        let link = config.link;
        let mut router = Rcube::new(config);
        router.configure(table);
        Self {
            router,
            peers,
            inputs: [Line::DEAD; PORTS],
            cycle: 0,
            link,
        }
    }

    /// Everything up, credits granted, counters at zero.
    pub fn up(config: RcubeConfig, table: &RoutingTable) -> Self {
        let mut lab = Self::new(config.with_short_start_up(), table);
        for _ in 0..100 {
            lab.step();
        }
        assert_eq!(lab.router.link_status(), 0xFF);
        lab.router.clear_stats();
        lab
    }

    pub fn step(&mut self) {
        let outputs = *self.router.outputs();
        let mut inputs = [Line::DEAD; PORTS];
        for (k, peer) in self.peers.iter_mut().enumerate() {
            let line = peer.step(
                if peer.plugged { outputs[k] } else { Line::DEAD },
                self.cycle,
                &self.link,
            );
            inputs[k] = if peer.plugged { line } else { Line::DEAD };
        }
        self.router.step(&self.inputs);
        self.inputs = inputs;
        self.cycle += 1;
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step();
        }
    }

    pub fn send(&mut self, port: usize, symbols: &[Symbol]) {
        self.peers[port].to_send.extend(symbols);
    }

    /// Symbols read at `port` so far.
    pub fn read(&self, port: usize) -> Vec<Symbol> {
        self.peers[port]
            .received
            .iter()
            .map(|&(_, symbol)| symbol)
            .collect()
    }

    /// Cycles of the symbols read at `port` so far.
    pub fn times(&self, port: usize) -> Vec<u64> {
        self.peers[port]
            .received
            .iter()
            .map(|&(cycle, _)| cycle)
            .collect()
    }

    /// For each port, what it did adds up to the cycles.
    pub fn assert_stats_add_up(&self) {
        let stats = self.router.stats();
        for (k, port) in stats.ports.iter().enumerate() {
            assert_eq!(
                port.input.cycles(),
                stats.cycles,
                "input {k}: {:?}",
                port.input
            );
            assert_eq!(
                port.output.cycles(),
                stats.cycles,
                "output {k}: {:?}",
                port.output
            );
        }
    }
}

impl Peer {
    fn new(kind: PortKind) -> Self {
        let mut port = Port::new(kind);
        port.enable();
        Self {
            port,
            to_send: VecDeque::new(),
            fifo: VecDeque::new(),
            received: Vec::new(),
            reads: true,
            plugged: true,
            downs: 0,
            deepest: 0,
            arrival: VecDeque::new(),
        }
    }

    fn step(&mut self, line: Line, cycle: u64, link: &LinkConfig) -> Line {
        let (sent, slot) = self.port.transmit(self.to_send.front().copied());
        if slot == Slot::Symbol {
            self.to_send.pop_front();
        }
        if self.reads
            && let Some(symbol) = self.fifo.pop_front()
        {
            self.received
                .push((self.arrival.pop_front().unwrap(), symbol));
            self.port.freed();
        }
        match self.port.receive(line, link) {
            Received::Symbol(symbol) => {
                self.fifo.push_back(symbol);
                self.arrival.push_back(cycle);
            }
            Received::Down(_) => {
                self.fifo.clear();
                self.arrival.clear();
                self.downs += 1;
            }
            _ => {}
        }
        self.deepest = self.deepest.max(self.fifo.len());
        sent
    }
}

/// A packet: header, `payload` data characters, EP.
pub fn packet(header: &[u8], payload: usize) -> Vec<Symbol> {
    let mut symbols: Vec<_> = header.iter().map(|&h| Symbol::data(h)).collect();
    symbols.extend((0..payload).map(|n| Symbol::data(n as u8)));
    symbols.push(Symbol::EP);
    symbols
}

/// Header `k << 8` goes to link `k`.
pub fn one_to_one() -> RoutingTable {
    RoutingTable::uniform(
        core::array::from_fn(|k| (k as u16) << 8),
        core::array::from_fn(|k| 1 << k),
    )
}

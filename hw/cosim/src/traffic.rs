//! Stimulus for the router: eight peers that obey the link, and what spoils it.

use multipc::hsl::{Line, LinkConfig, Port, PortKind, Received, Slot, Symbol};
use multipc::rcube::RoutingTable;

use crate::Random;
use crate::hsl_end::{line, link_config, pins_of};
use crate::rcube::{RcubeIn, RcubeOut};

/// How the peers behave for a while.
#[derive(Clone, Copy, Debug)]
pub struct Mood {
    /// A packet is offered in one of so many cycles in which none is under way.
    pub rest: u64,
    /// Longest payload.
    pub length: u64,
    /// A character is offered in one of so many cycles, inside a packet.
    pub gap: u64,
    /// A character is taken out of a peer's FIFO in one of so many cycles.
    pub drain: u64,
    /// One in so many characters on a line is spoilt; 0 is never.
    pub spoil: u64,
    /// Headers are below this in their first character.
    pub spread: u64,
    /// Sends without credit.
    pub greedy: bool,
}

impl Mood {
    /// Long packets without gaps, everything read at once.
    pub const FULL: Self = Self {
        rest: 1,
        length: 64,
        gap: 1,
        drain: 1,
        spoil: 0,
        spread: 8,
        greedy: false,
    };

    /// Nothing is sent, everything is read.
    pub const SILENT: Self = Self {
        rest: u64::MAX,
        ..Self::FULL
    };

    /// Any behaviour.
    pub fn random(random: &mut Random) -> Self {
        let mut pick = |of: &[u64]| of[random.below(of.len() as u64) as usize];
        Self {
            rest: pick(&[1, 1, 4, 40]),
            length: pick(&[0, 1, 4, 20, 100]),
            gap: pick(&[1, 1, 1, 3]),
            drain: pick(&[1, 1, 2, 8, 40]),
            spoil: pick(&[0, 0, 20_000, 3_000, 300, 40]),
            spread: pick(&[8, 8, 8, 2, 256]),
            greedy: random.one_in(8),
        }
    }
}

/// One peer of the router: a port, a source of packets, a FIFO that is drained.
#[derive(Clone, Debug)]
pub struct Peer {
    port: Port,
    packet: Vec<u16>,
    sent: usize,
    waiting: u32,
    dead: u64,
}

impl Peer {
    fn new(parallel: bool) -> Self {
        let mut port = Port::new(if parallel {
            PortKind::Parallel
        } else {
            PortKind::Serial
        });
        port.enable();
        Self {
            port,
            packet: Vec::new(),
            sent: 0,
            waiting: 0,
            dead: 0,
        }
    }

    /// One edge: sees `heard`, gives what its line carries then.
    fn step(&mut self, heard: Line, mood: &Mood, random: &mut Random, link: &LinkConfig) -> Line {
        if self.sent == self.packet.len() && random.one_in(mood.rest) {
            self.packet = packet(mood, random);
            self.sent = 0;
        }
        let ready = self.sent < self.packet.len() && random.one_in(mood.gap);
        let offered = ready.then(|| Symbol::from_bits(self.packet[self.sent]));
        let (mut line, slot) = self.port.transmit(offered);
        let pushes = slot == Slot::NoCredit && mood.greedy;
        if slot == Slot::Symbol || pushes {
            self.sent += 1;
        }
        if let (true, Some(symbol)) = (pushes, offered) {
            line = Line::symbol_of(symbol);
        }
        if self.waiting > 0 && random.one_in(mood.drain) {
            self.waiting -= 1;
            self.port.freed();
        }
        match self.port.receive(heard, link) {
            Received::Symbol(_) => self.waiting += 1,
            Received::Down(_) => self.waiting = 0,
            _ => {}
        }
        if mood.spoil > 0 && random.one_in(mood.spoil) {
            return self.spoilt(line, random);
        }
        if self.dead > 0 {
            self.dead -= 1;
            return Line::DEAD;
        }
        line
    }

    fn spoilt(&mut self, line: Line, random: &mut Random) -> Line {
        match random.below(10) {
            0 => Line::DEAD,
            1 => {
                self.dead = random.below(200);
                Line::DEAD
            }
            2 => Line::symbol_of(Symbol::REQUEST),
            3 => Line::symbol_of(Symbol::FCC).with_fcc_pulse(),
            4 => Line::symbol_of(Symbol::EEP),
            5 => Line::symbol_of(Symbol::EP),
            6 => Line::IDLE,
            7 => {
                // The plug is pulled and put back: the peer starts over.
                *self = Self::new(self.port.kind() == PortKind::Parallel);
                Line::DEAD
            }
            8 => Line::from_bits(line.bits() ^ 1 << random.below(9)),
            _ => Line::symbol_of(Symbol::from_bits(random.bits() as u16 & 0x1FF)),
        }
    }
}

/// Header, payload with control characters now and then, end; sometimes odd.
fn packet(mood: &Mood, random: &mut Random) -> Vec<u16> {
    let mut packet = vec![random.below(mood.spread) as u16, random.below(256) as u16];
    let length = random.below(mood.length + 1);
    packet.extend((0..length).map(|_| match random.below(64) {
        0 => Symbol::BP.bits(),
        1 => Symbol::ED.bits(),
        _ => random.below(256) as u16,
    }));
    if random.one_in(50) {
        packet.truncate(random.below(3) as usize);
    }
    packet.push(
        if random.one_in(100) {
            Symbol::EEP
        } else {
            Symbol::EP
        }
        .bits(),
    );
    packet
}

/// Eight peers and the pins of configuration: what drives the router.
pub struct Traffic {
    random: Random,
    peers: Vec<Peer>,
    link: LinkConfig,
    /// Behaviour until it is changed.
    pub mood: Mood,
    /// Bytes that go into the chain, the last one first.
    load: Vec<u8>,
    inputs: RcubeIn,
}

impl Traffic {
    /// Peers whose kinds are as the straps say, all in start-up.
    pub fn new(seed: u64, parallel: u8, quick: bool) -> Self {
        let inputs = RcubeIn {
            rst_n: 1,
            parallel,
            quick: quick.into(),
            ..Default::default()
        };
        Self {
            random: Random::new(seed),
            peers: (0..8).map(|k| Peer::new(parallel >> k & 1 == 1)).collect(),
            link: link_config(quick),
            mood: Mood::FULL,
            load: Vec::new(),
            inputs,
        }
    }

    /// Shifts a table in with R3_INIT low, then raises it.
    pub fn load(&mut self, table: &RoutingTable) {
        self.load = table.emit().to_vec();
    }

    /// Some bytes only, or more than the chain holds.
    pub fn load_bytes(&mut self, bytes: Vec<u8>) {
        self.load = bytes;
    }

    /// The router's power-on reset is low for the next cycle, and the peers start over.
    pub fn power_on(&mut self) {
        self.inputs.rst_n = 0;
    }

    /// The generator, for what the bench decides.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// What the router is given at the next edge, after what it showed.
    pub fn next(&mut self, shown: &RcubeOut) -> RcubeIn {
        let inputs = self.inputs;
        for (k, peer) in self.peers.iter_mut().enumerate() {
            let heard = line(
                shown.signal >> k & 1 == 1,
                shown.fcc >> k & 1 == 1,
                shown.sym[k],
            );
            let sent = peer.step(heard, &self.mood, &mut self.random, &self.link);
            let (sym, signal, fcc) = pins_of(sent);
            let bit = 1 << k;
            self.inputs.signal = self.inputs.signal & !bit | u8::from(signal) << k;
            self.inputs.fcc = self.inputs.fcc & !bit | u8::from(fcc) << k;
            // Without signal the pins carry anything.
            self.inputs.sym[k] = if signal {
                sym
            } else {
                self.random.bits() as u16 & 0x1FF
            };
        }
        self.inputs.rst_n = 1;
        self.configure();
        inputs
    }

    /// The pins of configuration for the next edge.
    fn configure(&mut self) {
        let byte = self.load.pop();
        self.inputs.r3_strobe = byte.is_some().into();
        self.inputs.r3_dout = byte.unwrap_or_default();
        self.inputs.r3_init = byte.is_none().into();
        // Bytes beside a high R3_INIT are ignored.
        if byte.is_none() && self.random.one_in(64) {
            self.inputs.r3_strobe = 1;
            self.inputs.r3_dout = self.random.bits() as u8;
        }
    }
}

/// A table: `kind` 0 sends first character `k` to output `k`, 1 is adaptive,
/// 2 and above are random, with outputs missing.
pub fn table(kind: u64, random: &mut Random) -> RoutingTable {
    let bounds = std::array::from_fn(|k| (k as u16) << 8);
    let mut table = match kind {
        0 => RoutingTable::uniform(bounds, std::array::from_fn(|k| 1 << k)),
        1 => RoutingTable::uniform(bounds, std::array::from_fn(|k| 0x11 << (k & 3))),
        _ => {
            let mut table = RoutingTable::uniform(bounds, [0; 8]);
            for link in 0..8 {
                table.bounds[link] = std::array::from_fn(|_| random.below(0x900) as u16);
                if !random.one_in(4) {
                    table.bounds[link].sort_unstable();
                }
                table.selections[link] = std::array::from_fn(|_| {
                    if random.one_in(12) {
                        0
                    } else {
                        (random.bits() & random.bits()) as u8
                    }
                });
            }
            table
        }
    };
    if kind != 0 && random.one_in(2) {
        table.header_length = random.bits() as u8;
    }
    if kind != 0 && random.one_in(2) {
        table.header_deletion = random.bits() as u8;
    }
    table
}

//! Router cycles per second with eight busy ports, statistics on.
//!
//! Each traffic is first run live, with a source and a sink on each port that
//! obey credits, and what the input pins carried is kept. The same lines are
//! then replayed into a copy of the router, which is what is timed: the router
//! alone. The check sum of the delivered symbols has to be the same each time.
//!
//! `cargo bench --bench router`; a number behind `--` sets the cycles (callgrind
//! is content with 2000).

use std::hint::black_box;

use multipc::hsl::{Line, LinkConfig, Port, PortKind, Received, Slot, Symbol};
use multipc::rcube::{PORTS, Rcube, RcubeConfig, RoutingTable};

mod common;

use common::{Fnv, Random, Stopwatch};

const CYCLES: usize = 1 << 18;
const ROUNDS: u32 = 8;

#[derive(Clone, Copy)]
enum Traffic {
    /// Input `k` to output `k + 1`: every port in, every port out, no contention.
    Ring,
    /// Each packet to a random output.
    Uniform,
}

/// Sends packets for ever, reads a symbol a cycle.
struct Peer {
    port: Port,
    packet: [u8; 2],
    left: usize,
    length: usize,
}

impl Peer {
    fn step(&mut self, line: Line, next: impl FnOnce() -> u8, link: &LinkConfig) -> Line {
        if self.left == 0 {
            self.packet = [next(), 0];
            self.left = self.length + 3;
        }
        let at = self.length + 3 - self.left;
        let symbol = match at {
            0 | 1 => Symbol::data(self.packet[at]),
            _ if self.left == 1 => Symbol::EP,
            _ => Symbol::data(at as u8),
        };
        let (sent, slot) = self.port.transmit(Some(symbol));
        if slot == Slot::Symbol {
            self.left -= 1;
        }
        if let Received::Symbol(_) = self.port.receive(line, link) {
            self.port.freed();
        }
        sent
    }
}

/// FNV-1a over the symbols that leave, and their number.
fn deliver(sum: &mut (Fnv, u64), outputs: &[Line; PORTS]) {
    for (port, line) in outputs.iter().enumerate() {
        let symbol = line.symbol();
        if line.has_signal() && !symbol.is_link_level() {
            sum.0.add(u64::from(symbol.bits()) ^ (port as u64) << 16);
            sum.1 += 1;
        }
    }
}

fn bench(name: &str, traffic: Traffic, length: usize, count: usize) {
    let config = RcubeConfig::default().with_short_start_up();
    let link = config.link;
    let mut router = Rcube::new(config);
    let table = RoutingTable::uniform(
        core::array::from_fn(|k| (k as u16) << 8),
        core::array::from_fn(|k| 1 << k),
    );
    router.configure(&table);
    let mut peers: [Peer; PORTS] = core::array::from_fn(|_| {
        let mut port = Port::new(PortKind::Serial);
        port.enable();
        Peer {
            port,
            packet: [0; 2],
            left: 0,
            length,
        }
    });

    // Warm up, then keep what comes in.
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut lines = [Line::DEAD; PORTS];
    let mut script = Vec::with_capacity(count);
    let mut start = router.clone();
    let mut live = (Fnv::NEW, 0);
    let warm = 4_096;
    for cycle in 0..warm + count {
        if cycle == warm {
            router.clear_stats();
            start = router.clone();
        }
        let outputs = *router.outputs();
        router.step(&lines);
        if cycle >= warm {
            script.push(lines);
            deliver(&mut live, router.outputs());
        }
        for (k, peer) in peers.iter_mut().enumerate() {
            let next = || match traffic {
                Traffic::Ring => (k as u8 + 1) & 7,
                Traffic::Uniform => random.below(PORTS as u64) as u8,
            };
            lines[k] = peer.step(outputs[k], next, &link);
        }
    }

    // Best of the rounds: the others were disturbed.
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut router = start.clone();
        let begin = Stopwatch::start();
        for lines in &script {
            router.step(black_box(lines));
            black_box(router.outputs());
        }
        best = best.min(begin.seconds());
    }
    let mut replayed = start.clone();
    let mut sum = (Fnv::NEW, 0);
    for lines in &script {
        replayed.step(lines);
        deliver(&mut sum, replayed.outputs());
    }
    assert_eq!(sum, live, "replay differs from the live run");
    assert_eq!(replayed, router, "replay ends in another state");

    let cycles = count as f64;
    let stats = router.stats();
    let busy: u64 = stats.ports.iter().map(|port| port.output.busy).sum();
    println!(
        "{name:<32} {:6.2} M cycles/s  {:6.1} M symbols/s  {:6.1} ns/cycle  load {:.3}  checksum {:016x}",
        cycles / best / 1e6,
        live.1 as f64 / best / 1e6,
        best / cycles * 1e9,
        busy as f64 / cycles / PORTS as f64,
        sum.0.0,
    );
}

fn main() {
    let count = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(CYCLES);
    println!(
        "router, 8 serial ports busy both ways, statistics on, {count} cycles, best of {ROUNDS}"
    );
    bench("ring, 512-byte packets", Traffic::Ring, 512, count);
    bench("ring, 16-byte packets", Traffic::Ring, 16, count);
    bench("uniform, 512-byte packets", Traffic::Uniform, 512, count);
    bench("uniform, 16-byte packets", Traffic::Uniform, 16, count);
    println!("state: {} bytes", size_of::<Rcube>());
}

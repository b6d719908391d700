//! The router, model against Verilated RTL: cycles per second side by side.
//!
//! Eight peers that obey credits run against the model once, and what the input
//! pins carried is kept. The same pins are then replayed into the model and into
//! the RTL in turn; the best of the rounds counts. What both deliver has to have
//! the same check sum, else the benchmark fails.
//!
//! `cargo bench --bench rcube` in hw/cosim; a number behind `--` sets the cycles.

use std::hint::black_box;

use multipc::hsl::{Line, Symbol};
use multipc::rcube::{PORTS, Rcube, RcubeConfig, RoutingTable};
use multipc_cosim::hsl_end::{line, link_config};
use multipc_cosim::rcube::{RcubeIn, RcubeModel, RcubeOut, RcubeRtl};
use multipc_cosim::traffic::{Mood, Traffic, table};
use multipc_cosim::{Device, Random};

// The stop watch and the check sum of the model's own benchmarks.
#[path = "../../../benches/common/mod.rs"]
mod common;

use common::{Fnv, Stopwatch};

const CYCLES: usize = 1 << 17;
const ROUNDS: usize = 6;
/// Cycles in which the table goes in and the links start.
const START: usize = 400;

/// FNV-1a over the symbols that leave, and their number.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Delivered(Fnv, u64);

impl Delivered {
    const NOTHING: Self = Self(Fnv::NEW, 0);

    fn add(&mut self, port: usize, signal: bool, symbol: Symbol) {
        if signal && !symbol.is_link_level() {
            self.0.add(u64::from(symbol.bits()) ^ (port as u64) << 16);
            self.1 += 1;
        }
    }

    fn add_pins(&mut self, out: &RcubeOut) {
        for (k, sym) in out.sym.into_iter().enumerate() {
            self.add(k, out.signal >> k & 1 == 1, Symbol::from_bits(sym));
        }
    }
}

/// What the pins carry, cycle by cycle, in the form that each side takes.
struct Script {
    pins: Vec<RcubeIn>,
    lines: Vec<[Line; PORTS]>,
    delivered: Delivered,
}

fn record(table: &RoutingTable, mood: Mood, cycles: usize) -> Script {
    let mut traffic = Traffic::new(1, 0, true);
    traffic.mood = mood;
    traffic.load(table);
    let mut model = RcubeModel::default();
    let mut shown = RcubeOut::default();
    let mut script = Script {
        pins: Vec::new(),
        lines: Vec::new(),
        delivered: Delivered::NOTHING,
    };
    for _ in 0..START + cycles {
        let pins = traffic.next(&shown);
        shown = model.step(&pins);
        script.delivered.add_pins(&shown);
        script.pins.push(pins);
        script.lines.push(std::array::from_fn(|k| {
            line(
                pins.signal >> k & 1 == 1,
                pins.fcc >> k & 1 == 1,
                pins.sym[k],
            )
        }));
    }
    script
}

/// Seconds for the cycles behind the start, and what all of them delivered.
fn run_model(script: &Script) -> (f64, Delivered) {
    let mut config = RcubeConfig::default();
    config.link = link_config(true);
    let mut router = Rcube::new(config);
    let mut begin = Stopwatch::start();
    let mut delivered = Delivered::NOTHING;
    for (cycle, (pins, lines)) in script.pins.iter().zip(&script.lines).enumerate() {
        if cycle == START {
            begin = Stopwatch::start();
        }
        if cycle < START {
            router.chain(
                pins.r3_init == 1,
                (pins.r3_strobe == 1).then_some(pins.r3_dout),
            );
        }
        router.step(black_box(lines));
        for (k, line) in black_box(router.outputs()).iter().enumerate() {
            delivered.add(k, line.has_signal(), line.symbol());
        }
    }
    (begin.seconds(), delivered)
}

fn run_rtl(script: &Script) -> (f64, Delivered) {
    let mut router = RcubeRtl::new();
    let mut begin = Stopwatch::start();
    let mut delivered = Delivered::NOTHING;
    for (cycle, pins) in script.pins.iter().enumerate() {
        if cycle == START {
            begin = Stopwatch::start();
        }
        let out = router.step(black_box(pins));
        delivered.add_pins(black_box(&out));
    }
    (begin.seconds(), delivered)
}

/// The cost of the check sum alone, which both sides pay.
fn run_sum(script: &Script) -> f64 {
    let begin = Stopwatch::start();
    let mut delivered = Delivered::NOTHING;
    for lines in &script.lines[START..] {
        for (k, line) in black_box(lines).iter().enumerate() {
            delivered.add(k, line.has_signal(), line.symbol());
        }
    }
    black_box(delivered);
    begin.seconds()
}

fn bench(name: &str, table: &RoutingTable, mood: Mood, cycles: usize) -> f64 {
    let script = record(table, mood, cycles);
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        let (model, by_model) = run_model(&script);
        let (rtl, by_rtl) = run_rtl(&script);
        assert_eq!(
            by_model, script.delivered,
            "{name}: the model delivers something else"
        );
        assert_eq!(
            by_rtl, script.delivered,
            "{name}: the RTL delivers something else"
        );
        for (best, seconds) in best.iter_mut().zip([model, rtl, run_sum(&script)]) {
            *best = best.min(seconds);
        }
    }
    let [model, rtl] = [best[0], best[1]].map(|seconds| seconds - best[2]);
    let rate = |seconds: f64| cycles as f64 / seconds / 1e6;
    println!(
        "{name:<28} {:>7.2} {:>7.2} {:>7.2} {:>12} {:016x}",
        rate(model),
        rate(rtl),
        rtl / model,
        script.delivered.1,
        script.delivered.0.0,
    );
    rtl / model
}

fn main() {
    let cycles = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(CYCLES);
    println!("router, 8 serial ports busy both ways, {cycles} cycles, best of {ROUNDS}");
    println!(
        "{:<28} {:>7} {:>7} {:>7} {:>12} check sum",
        "M cycles/s", "model", "RTL", "times", "symbols"
    );
    let straight = table(0, &mut Random::new(1));
    let long = Mood {
        length: 512,
        ..Mood::FULL
    };
    let short = Mood {
        length: 16,
        ..Mood::FULL
    };
    let light = Mood {
        rest: 400,
        length: 64,
        ..Mood::FULL
    };
    // Every input to one of two outputs: most packets wait.
    let mut narrow = straight;
    narrow.selections = [[1, 2, 1, 2, 1, 2, 1, 2]; PORTS];
    let least = [
        bench("uniform, 0 to 512 bytes", &straight, long, cycles),
        bench("uniform, 0 to 16 bytes", &straight, short, cycles),
        bench("uniform, light load", &straight, light, cycles),
        bench("two outputs for all", &narrow, long, cycles),
        bench("idle links", &straight, Mood::SILENT, cycles),
    ]
    .into_iter()
    .fold(f64::INFINITY, f64::min);
    println!("least ratio {least:.2}");
}

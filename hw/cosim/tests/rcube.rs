//! Router: model against RTL, on every pin of every link cycle.
#![cfg(feature = "rcube")]

use multipc_cosim::rcube::{RcubeIn, RcubeModel, RcubeOut, RcubeRtl};
use multipc_cosim::traffic::{Mood, Traffic, table};
use multipc_cosim::{Lockstep, Random, cycles};

type Bench = Lockstep<RcubeModel, RcubeRtl>;

fn bench(name: &'static str) -> Bench {
    Lockstep::new(name, RcubeModel::default(), RcubeRtl::new())
}

fn step(bench: &mut Bench, inputs: &RcubeIn) -> RcubeOut {
    bench
        .step(inputs)
        .unwrap_or_else(|difference| panic!("{difference}"))
}

/// hw/doc/hsl.md: two routers meet 11 216 edges after R3_INIT; here the peer is
/// a bare port on a wire of one cycle.
#[test]
fn links_start_by_the_counts_on_record() {
    let mut random = Random::new(1);
    let mut traffic = Traffic::new(1, 0x01, false);
    traffic.load(&table(0, &mut random));
    let mut bench = bench("rcube_start_up");
    let mut shown = RcubeOut::default();
    for _ in 0..14_000 {
        shown = step(&mut bench, &traffic.next(&shown));
    }
    assert_eq!(shown.link_status, 0xFF);
}

#[test]
fn routers_are_equal_under_full_load() {
    for parallel in [0x00, 0x01, 0x81] {
        let mut random = Random::new(2);
        let mut traffic = Traffic::new(2, parallel, true);
        traffic.load(&table(0, &mut random));
        let mut bench = bench("rcube_load");
        let mut shown = RcubeOut::default();
        for _ in 0..cycles(20_000, 500_000) {
            shown = step(&mut bench, &traffic.next(&shown));
        }
    }
}

/// Tables, behaviours, faults and resets change all the time.
#[test]
fn routers_are_equal_whatever_happens() {
    let total = cycles(200_000, 10_000_000);
    let mut done = 0;
    let mut seed = 0;
    while done < total {
        seed += 1;
        done += run(seed, 20_000.min(total - done));
    }
}

/// One pair of routers, from power-on.
fn run(seed: u64, count: u64) -> u64 {
    let parallel = [0x00, 0x01, 0x81, 0x18][(seed % 4) as usize];
    let mut traffic = Traffic::new(seed, parallel, true);
    let mut bench = bench("rcube_random");
    let mut shown = RcubeOut::default();
    for cycle in 0..count {
        if cycle % 1_000 == 0 {
            traffic.mood = Mood::random(traffic.random());
            let (what, kind) = (traffic.random().below(10), traffic.random().below(5));
            if cycle == 0 || what < 3 {
                let table = table(kind, traffic.random());
                traffic.load(&table);
            } else if what == 3 {
                let bytes = traffic.random().below(300);
                let bytes = (0..bytes).map(|_| traffic.random().bits() as u8).collect();
                traffic.load_bytes(bytes);
            } else if what == 4 {
                traffic.power_on();
            }
        }
        shown = step(&mut bench, &traffic.next(&shown));
    }
    bench.cycles()
}

//! Link port: model against RTL, on every pin of every cycle.
#![cfg(feature = "rcube")]

use multipc_cosim::hsl_end::{EndIn, EndModel, EndOut, EndRtl};
use multipc_cosim::{Device, Lockstep, Random, cycles};

/// Two bare ports on a wire of one cycle; what B shows is what A is given.
struct Pair {
    a: Lockstep<EndModel, EndRtl>,
    b: Lockstep<EndModel, EndRtl>,
    to_a: EndOut,
    to_b: EndOut,
}

impl Pair {
    fn new(name: &'static str) -> Self {
        Self {
            a: Lockstep::new(name, EndModel::default(), EndRtl::new()),
            b: Lockstep::new(name, EndModel::default(), EndRtl::new()),
            to_a: EndOut::default(),
            to_b: EndOut::default(),
        }
    }

    fn step(&mut self, a: EndIn, b: EndIn) {
        let wire = |pins: EndIn, out: &EndOut| EndIn {
            in_sym: out.out_sym,
            in_signal: out.out_signal,
            in_fcc: out.out_fcc,
            ..pins
        };
        let from_a = self
            .a
            .step(&wire(a, &self.to_a))
            .unwrap_or_else(|d| panic!("{d}"));
        let from_b = self
            .b
            .step(&wire(b, &self.to_b))
            .unwrap_or_else(|d| panic!("{d}"));
        (self.to_a, self.to_b) = (from_b, from_a);
    }
}

const ON: EndIn = EndIn {
    offer_sym: 0,
    in_sym: 0,
    rst_n: 1,
    enable: 1,
    parallel: 0,
    quick: 0,
    offer: 0,
    freed: 0,
    in_signal: 0,
    in_fcc: 0,
};

/// hw/doc/hsl.md: 4096 + 4096 + 3000 + 1, (1 + 1), max(8, 1 + 1), and the edge
/// that switches the ports on.
#[test]
fn serial_link_is_up_after_11203_edges_of_start_up() {
    let mut pair = Pair::new("hsl_start_up");
    for edge in 0..12_000 {
        pair.step(ON, ON);
        assert_eq!(pair.to_a.up == 1, edge >= 11_203, "edge {edge}");
    }
}

/// hw/doc/hsl.md, the diagram of a parallel link.
#[test]
fn parallel_link_opens_as_in_the_diagram() {
    let mut pair = Pair::new("hsl_parallel");
    let on = EndIn { parallel: 1, ..ON };
    pair.step(on, on);
    let mut pulses = Vec::new();
    let mut first = None;
    for edge in 1..30 {
        pair.step(
            EndIn {
                offer: 1,
                offer_sym: 0xD,
                ..on
            },
            on,
        );
        if pair.to_b.out_fcc == 1 {
            pulses.push(edge);
        }
        if pair.to_b.out_sym == 0xD && first.is_none() {
            first = Some(edge);
        }
        assert_eq!(pair.to_a.up == 1, edge >= 2, "edge {edge}");
    }
    assert_eq!((first, pulses), (Some(5), vec![3, 11]));
}

#[test]
fn ports_are_equal_under_traffic_and_wrong_symbols() {
    for (seed, parallel) in [(1, 0), (2, 1)] {
        noise(seed, parallel, cycles(150_000, 2_000_000));
    }
}

/// Data, now and then a control character that the link passes.
fn symbol(random: &mut Random) -> u16 {
    match random.below(64) {
        0 => 0x12B,
        1 => 0x14B,
        2 => 0x11B,
        _ => random.below(0x100) as u16,
    }
}

/// A port and a peer that obeys, and a line that is spoilt.
fn noise(seed: u64, parallel: u8, count: u64) {
    let mut random = Random::new(seed);
    let mut bench = Lockstep::new("hsl_noise", EndModel::default(), EndRtl::new());
    let mut peer = EndModel::default();
    let mut seen = EndOut::default();
    let mut heard = EndOut::default();
    let (mut stored, mut held) = (0_u32, 0_u32);
    let (mut spoil, mut drain, mut ups) = (0, 1, 0);
    for cycle in 0..count {
        if cycle % 1_000 == 0 {
            spoil = [0, 1_000, 100, 10, 3][random.below(5) as usize];
            drain = [1, 2, 40][random.below(3) as usize];
        }
        let mut pins = EndIn {
            parallel,
            quick: 1,
            rst_n: (!random.one_in(20_000)).into(),
            enable: (!random.one_in(5_000)).into(),
            offer: (!random.one_in(3)).into(),
            offer_sym: symbol(&mut random),
            freed: (held > 0 && random.one_in(drain)).into(),
            in_sym: heard.out_sym,
            in_signal: heard.out_signal,
            in_fcc: heard.out_fcc,
        };
        if spoil > 0 && random.one_in(spoil) {
            match random.below(4) {
                0 => pins.in_signal ^= 1,
                1 => pins.in_fcc ^= 1,
                2 => pins.in_sym = random.below(0x200) as u16,
                _ => {
                    let codes = [0x18B, 0x1AB, 0x1C3, 0x1E3];
                    pins.in_sym = codes[random.below(4) as usize];
                }
            }
        }
        let out = bench
            .step(&pins)
            .unwrap_or_else(|difference| panic!("{difference}"));
        held = if out.up == 0 {
            0
        } else {
            held - u32::from(pins.freed) + u32::from(out.stored)
        };
        ups += u64::from(out.up);
        heard = peer.step(&EndIn {
            parallel,
            quick: 1,
            rst_n: (!random.one_in(30_000)).into(),
            enable: 1,
            offer: random.below(2) as u8,
            offer_sym: random.below(0x100) as u16,
            freed: (stored > 0 && random.one_in(drain)).into(),
            in_sym: seen.out_sym,
            in_signal: seen.out_signal,
            in_fcc: seen.out_fcc,
        });
        stored = if heard.up == 0 {
            0
        } else {
            (stored + u32::from(heard.stored)).saturating_sub(1)
        };
        seen = out;
    }
    assert!(
        ups > count / 4,
        "the link was up for {ups} of {count} cycles"
    );
}

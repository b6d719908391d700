//! The MasPar router: chip and machines, pin by pin, tick by tick.
#![cfg(feature = "maspar")]

use multipc::maspar::{MachineSize, Pattern, Width};
use multipc_cosim::maspar::{
    BackplaneIn, BackplaneModel, BackplaneRtl, ChipIn, ChipModel, ChipRtl, MachineRtl, RouterIn,
    RouterModel, RouterOut,
};
use multipc_cosim::{Device, Lockstep, Random, cycles};
use serde_json::Value;

/// Rounds of a machine test. Counters of lines and toggles slow the machine down.
fn rounds(short: u64, long: u64) -> u64 {
    let short = if cfg!(feature = "coverage") {
        short / 4
    } else {
        short
    };
    cycles(short, long)
}

/// A word with about `n` in 16 bits set.
fn thin(random: &mut Random, n: u64) -> u64 {
    (0..64).fold(0, |word, bit| word | u64::from(random.below(16) < n) << bit)
}

#[test]
fn a_chip_agrees_on_random_requests() {
    for (seed, crossbar) in [(1, false), (2, true)] {
        let mut random = Random::new(seed);
        let mut bench = Lockstep::new("maspar_chip", ChipModel::new(), ChipRtl::new());
        let mut inputs = ChipIn {
            crossbar,
            ..ChipIn::default()
        };
        step(&mut bench, &inputs);
        inputs.rst_n = true;
        for _ in 0..cycles(20_000, 1_000_000) / 12 {
            // A few groups only, now and then: more conflicts.
            let masks: [u64; 4] =
                std::array::from_fn(|_| if random.one_in(3) { 0 } else { u64::MAX });
            let density = random.below(17);
            inputs.in_request = thin(&mut random, density);
            for mask in masks {
                inputs.take = true;
                inputs.in_data = random.bits() & mask;
                inputs.back_in = random.bits();
                step(&mut bench, &inputs);
            }
            inputs.take = random.one_in(50);
            inputs.open = true;
            inputs.in_data = random.bits();
            step(&mut bench, &inputs);
            inputs.open = false;
            for _ in 0..random.below(12) {
                inputs.take = random.one_in(10);
                inputs.in_data = random.bits();
                inputs.back_in = random.bits();
                inputs.close = random.one_in(12);
                inputs.open = random.one_in(20);
                inputs.restart = random.one_in(20);
                inputs.rst_n = !random.one_in(100);
                step(&mut bench, &inputs);
            }
            (inputs.take, inputs.open, inputs.close) = (false, false, false);
            (inputs.restart, inputs.rst_n) = (false, true);
        }
    }
}

#[test]
fn the_backplane_is_wired_as_the_model() {
    let mut random = Random::new(6);
    let model = BackplaneModel::new().expect("the preset is valid");
    let mut bench = Lockstep::new("maspar_backplane", model, BackplaneRtl::new());
    for _ in 0..cycles(500, 10_000) {
        let mut words = || std::array::from_fn(|_| random.bits());
        step(
            &mut bench,
            &BackplaneIn {
                out_request1: words(),
                out_data1: words(),
                back2: words(),
                out_request2: words(),
                out_data2: words(),
                back3: words(),
            },
        );
    }
}

fn step<M, R>(bench: &mut Lockstep<M, R>, inputs: &M::In) -> M::Out
where
    M: Device,
    R: Device<In = M::In, Out = M::Out>,
{
    bench
        .step(inputs)
        .unwrap_or_else(|difference| panic!("{difference}"))
}

/// A machine, model and RTL side by side.
struct Rig<R> {
    bench: Lockstep<RouterModel, R>,
    size: MachineSize,
    width: Width,
}

impl<R: Device<In = RouterIn, Out = RouterOut>> Rig<R> {
    fn new(name: &'static str, size: MachineSize, rtl: R) -> Self {
        let model = RouterModel::new(size).expect("a size of the machine");
        let mut rig = Self {
            bench: Lockstep::new(name, model, rtl),
            size,
            width: Width::W32,
        };
        step(&mut rig.bench, &RouterIn::default());
        rig
    }

    fn step(&mut self, change: impl FnOnce(&mut RouterIn)) -> RouterOut {
        let mut inputs = RouterIn {
            rst_n: true,
            ..RouterIn::default()
        };
        change(&mut inputs);
        step(&mut self.bench, &inputs)
    }

    /// Each PE gets its target; its value tells who it is.
    fn load(&mut self, pattern: &Pattern) {
        let mut registers = vec![(false, 0); self.size.pes()];
        for (id, target) in pattern.pairs() {
            let model = &self.bench.model;
            registers[usize::from(model.slot(id))] = (true, model.slot(target));
        }
        for pe in 0..16 {
            self.step(|inputs| {
                inputs.write = true;
                inputs.write_pe = pe;
                for (slot, &(flag, target)) in registers.iter().enumerate() {
                    if slot % 16 == usize::from(pe) {
                        let cluster = slot / 16;
                        inputs.write_flag[cluster / 64] |= u64::from(flag) << (cluster % 64);
                        inputs.write_target[cluster] = target;
                        inputs.write_value[cluster] = value(slot);
                    }
                }
            });
        }
    }

    fn ropen(&mut self) -> RouterOut {
        let mut out = self.step(|inputs| inputs.ropen = true);
        for _ in 0..42 {
            out = self.step(|_| {});
        }
        assert!(!out.busy);
        out
    }

    fn rfetch(&mut self) -> RouterOut {
        let bits = self.width.bits() as u8;
        let mut out = self.step(|inputs| {
            inputs.rfetch = true;
            inputs.bits = bits;
        });
        for _ in 0..17 + bits {
            out = self.step(|_| {});
        }
        assert!(!out.busy);
        out
    }

    /// The loop, for at most `most` times round: how many PEs each time, and the
    /// slots that were served in it.
    fn run(&mut self, most: usize) -> Vec<Vec<u16>> {
        let mut rounds = Vec::new();
        while rounds.len() < most && self.step(|_| {}).any {
            self.ropen();
            let out = self.rfetch();
            rounds.push(served(&out));
        }
        rounds
    }
}

/// What a PE holds: its slot in the low and, inverted, the high half.
fn value(slot: usize) -> u64 {
    let word = (slot as u64 * 0x9E37_79B9) & 0xFFFF_FFFF;
    word | !word << 32
}

/// The slots with a path.
fn served(out: &RouterOut) -> Vec<u16> {
    let with_path = (0..1024).filter(|c| out.connected[c / 64] >> (c % 64) & 1 == 1);
    with_path
        .map(|c| (c * 16) as u16 + (out.picked[c / 16] >> (c % 16 * 4) & 15) as u16)
        .collect()
}

#[test]
fn a_small_machine_agrees_on_random_patterns_of_every_density() {
    let size = MachineSize::Pes1024;
    patterns_of_every_density(Rig::new("maspar_small", size, MachineRtl::new()));
}

fn patterns_of_every_density<R>(mut rig: Rig<R>)
where
    R: Device<In = RouterIn, Out = RouterOut>,
{
    let size = rig.size;
    let mut random = Random::new(3);
    let (mut served, mut refused) = (0, 0);
    let count = rounds(200, 5000);
    for round in 0..count {
        let targets = 1 + random.below(1024);
        let asking = 1 + random.below(1024);
        let pattern = Pattern::from_fn(size, |_| {
            let target = random.below(targets) as u32;
            (random.below(1024) < asking).then_some(target)
        });
        rig.width = Width::ALL[round as usize % 4];
        let pattern = pattern.expect("targets exist");
        rig.load(&pattern);
        let mut left = pattern.messages();
        for round in rig.run(4) {
            served += round.len();
            left -= round.len();
            refused += left;
        }
    }
    // A bench in which nothing happens agrees, too.
    let count = count as usize;
    assert!(served > 25 * count, "{served} served");
    assert!(refused > 100 * count, "{refused} refused");
    println!(
        "{} ticks, {served} paths, {refused} refusals",
        rig.bench.cycles()
    );
}

/// Instructions in any order: paths left open by `ropen`, fetches without paths,
/// starts in the last tick and while busy, a reset in the middle.
#[test]
fn a_small_machine_agrees_on_instructions_in_any_order() {
    let size = MachineSize::Pes1024;
    instructions_in_any_order(Rig::new("maspar_order", size, MachineRtl::new()));
}

fn instructions_in_any_order<R>(mut rig: Rig<R>)
where
    R: Device<In = RouterIn, Out = RouterOut>,
{
    let size = rig.size;
    let mut random = Random::new(4);
    let (mut over_open, mut unheard, mut again) = (0, 0, 0);
    for _ in 0..rounds(100, 4000) {
        rig.load(&Pattern::random_function(size, random.bits()).coin(random.bits()));
        let width = Width::ALL[random.below(4) as usize].bits() as u8;
        let (busy_for, reset) = (random.below(600), random.one_in(8));
        let mut open = false;
        for _ in 0..busy_for {
            let (ropen, rfetch) = (random.one_in(20), random.one_in(20));
            let out = rig.step(|inputs| {
                (inputs.ropen, inputs.rfetch, inputs.bits) = (ropen, rfetch, width);
            });
            let first = out.busy && out.tick == 0;
            unheard += u32::from((ropen || rfetch) && !first);
            over_open += u32::from(first && ropen && open);
            again += u32::from(first && out.fetching && !open && out.connected != [0; 16]);
            open = out.request[..16] != [0; 16];
            if !out.busy && random.one_in(3) {
                rig.step(|inputs| inputs.ropen = true);
            }
        }
        if reset {
            rig.step(|inputs| inputs.rst_n = false);
        } else {
            while rig.step(|_| {}).busy {}
        }
    }
    assert!(over_open > 5, "ropen over open paths: {over_open}");
    assert!(unheard > 100, "started while busy: {unheard}");
    assert!(again > 2, "rfetch without paths: {again}");
}

fn vectors() -> Vec<Value> {
    let path = format!(
        "{}/../../tests/vectors/maspar/vectors.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).expect(&path);
    serde_json::from_str(&text).expect(&path)
}

fn number(name: &str) -> u64 {
    let digits = name.rsplit('-').next();
    digits.and_then(|n| n.parse().ok()).expect(name)
}

/// The pattern that a vector's name stands for.
fn pattern(name: &str) -> Pattern {
    const SIZE: MachineSize = MachineSize::Pes16384;
    match name {
        "bit-reversal" => Pattern::bit_reversal(SIZE),
        "shuffle" => Pattern::shuffle(SIZE),
        "unshuffle" => Pattern::unshuffle(SIZE),
        "transpose" => Pattern::transpose(SIZE),
        "butterfly" => Pattern::butterfly(SIZE),
        "reversal" => Pattern::reversal(SIZE),
        "gray" => Pattern::gray(SIZE),
        "inverse-gray" => Pattern::inverse_gray(SIZE),
        "row-bit-reversal" => Pattern::row_bit_reversal(SIZE),
        "row-head" => Pattern::row_head(SIZE),
        "bit-reversal-even" => Pattern::bit_reversal(SIZE).only(|id| id % 2 == 0),
        "bit-reversal-mod-3" => Pattern::bit_reversal(SIZE).only(|id| id % 3 == 0),
        "shuffle-low-half" => Pattern::shuffle(SIZE).only(|id| id < 8192),
        "random-1-half" => Pattern::random_permutation(SIZE, 1).coin(77),
        "one-cluster" => Pattern::bit_reversal(SIZE).only(|id| id / 128 < 4 && id % 128 < 4),
        "one-pe" => Pattern::bit_reversal(SIZE).only(|id| id == 12345),
        "nobody" => Pattern::nobody(SIZE),
        _ if name.starts_with("exchange-") => Pattern::exchange(SIZE, number(name) as u32),
        _ if name.starts_with("stride-") => Pattern::stride(SIZE, number(name) as u32),
        _ if name.starts_with("shift-") => Pattern::shift(SIZE, number(name) as i32),
        _ if name.starts_with("random-function-") => Pattern::random_function(SIZE, number(name)),
        _ if name.starts_with("random-") => Pattern::random_permutation(SIZE, number(name)),
        _ if name.starts_with("all-to-") => Pattern::all_to(SIZE, number(name) as u16),
        _ => panic!("no pattern is called {name}"),
    }
}

/// All 39 vectors, `most` rounds of each, against the model at every tick and the
/// published counts and probes at every round.
#[test]
fn a_machine_agrees_on_every_vector() {
    let most = rounds(12, 20_000) as usize;
    let size = MachineSize::Pes16384;
    let mut rig = Rig::new("maspar_machine", size, MachineRtl::new());
    rig.width = Width::W8;
    let cases = vectors();
    assert_eq!(cases.len(), 39);
    for case in &cases {
        let name = case["name"].as_str().expect("name");
        rig.load(&pattern(name));
        let rounds = rig.run(most);
        let expected: Vec<usize> = case["counts_rle"]
            .as_array()
            .expect("counts")
            .iter()
            .flat_map(|run| {
                let (count, times) = (run[0].as_u64(), run[1].as_u64());
                vec![count.expect("count") as usize; times.expect("times") as usize]
            })
            .take(most)
            .collect();
        let counts: Vec<usize> = rounds.iter().map(Vec::len).collect();
        assert_eq!(counts, expected, "{name}");
        for probe in case["probes"].as_array().expect("probes") {
            let id = probe[0].as_u64().expect("PE") as u16;
            let slot = rig.bench.model.slot(id);
            let when = rounds.iter().position(|round| round.contains(&slot));
            let when = when.map_or(-1, |round| round as i64);
            let expected = probe[1].as_i64().expect("cycle");
            let expected = if expected < rounds.len() as i64 {
                expected
            } else {
                -1
            };
            assert_eq!(when, expected, "{name}, PE {id}");
        }
    }
}

/// Rounds of random requests with all the conflicts that they bring.
#[test]
fn a_machine_agrees_on_random_functions() {
    let size = MachineSize::Pes16384;
    let mut rig = Rig::new("maspar_machine", size, MachineRtl::new());
    let mut random = Random::new(5);
    for round in 0..rounds(8, 200) {
        rig.width = Width::ALL[round as usize % 4];
        let mut pattern = Pattern::random_function(size, random.bits());
        if random.one_in(2) {
            pattern = pattern.coin(random.bits());
        }
        rig.load(&pattern);
        rig.run(3);
    }
}

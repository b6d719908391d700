//! The vectors of `tests/vectors/maspar` against the model.

use multipc::maspar::schedule::{Best, Bound, FirstFit, Order, ParityMasks, Schedule, Scheduler};
use multipc::maspar::{MachineSize, Pattern, Router, RouterConfig};
use serde_json::Value;

const SIZE: MachineSize = MachineSize::Pes16384;

fn load(name: &str) -> Value {
    let path = format!("{}/tests/vectors/maspar/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(name: &str) -> u64 {
    name.rsplit('-').next().unwrap().parse().unwrap()
}

/// The pattern that a vector's name stands for.
fn pattern(name: &str) -> Pattern {
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

#[test]
fn every_count_hash_and_probe_agrees() {
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    let cases = load("vectors.json");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 39);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let pattern = pattern(name);
        assert_eq!(
            pattern.messages() as u64,
            case["messages"].as_u64().unwrap(),
            "{name}"
        );
        let table = router.timetable(&pattern).unwrap();
        assert_eq!(
            u64::from(table.cycles()),
            case["cycles"].as_u64().unwrap(),
            "{name}"
        );
        let mut counts = vec![0; 16384];
        let expected: Vec<u32> = case["counts_rle"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|run| {
                let (count, times) = (run[0].as_u64().unwrap(), run[1].as_u64().unwrap());
                vec![count as u32; times as usize]
            })
            .collect();
        assert_eq!(table.profile(&mut counts), expected, "{name}");
        for probe in case["probes"].as_array().unwrap() {
            let id = probe[0].as_u64().unwrap() as u16;
            let when = table.when(id).map_or(-1, i64::from);
            assert_eq!(when, probe[1].as_i64().unwrap(), "{name}, PE {id}");
        }
        let hash = format!("{:016x}", table.fnv64());
        assert_eq!(hash, case["when_fnv64"].as_str().unwrap(), "{name}");
    }
}

#[test]
fn every_shift_takes_16_cycles_of_1024_pes() {
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    for distance in 1..16384 {
        let table = router.timetable(&Pattern::shift(SIZE, distance)).unwrap();
        assert_eq!(table.profile(&mut [0; 32]), [1024; 16], "shift {distance}");
    }
}

#[test]
fn published_cycle_maps_agree() {
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    for (file, name) in [
        ("bit-reversal-cycles-128x128.csv", "bit-reversal"),
        ("shuffle-cycles-128x128.csv", "shuffle"),
    ] {
        let path = format!("{}/tests/vectors/maspar/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let map: Vec<u16> = text
            .lines()
            .flat_map(|line| line.split(','))
            .map(|n| n.trim().parse().unwrap())
            .collect();
        assert_eq!(
            router.timetable(&pattern(name)).unwrap().raw(),
            map,
            "{name}"
        );
    }
}

#[test]
fn presets_miss_the_record_by_the_published_amounts() {
    let cycles = |config: &RouterConfig, pattern: &Pattern| {
        Router::new(config)
            .unwrap()
            .timetable(pattern)
            .unwrap()
            .cycles()
    };
    let reversal = Pattern::bit_reversal(SIZE);
    let shuffle = Pattern::shuffle(SIZE);
    assert_eq!(cycles(&RouterConfig::NO_REVERSAL, &reversal), 58);
    assert_eq!(cycles(&RouterConfig::BOARD_BY_BOARD, &reversal), 31);
    assert_eq!(cycles(&RouterConfig::STAGE3_DESCENDING, &shuffle), 60);
    assert_eq!(cycles(&RouterConfig::CROSSBARS, &reversal), 70);
    assert_eq!(cycles(&RouterConfig::CROSSBARS, &shuffle), 52);
    for seed in 0..5 {
        let random = cycles(
            &RouterConfig::CROSSBARS,
            &Pattern::random_permutation(SIZE, seed),
        );
        assert!((54..=64).contains(&random), "seed {seed}: {random}");
    }
}

#[test]
fn published_masks_connect_whole_in_each_phase() {
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    for case in load("linear-schedules.json").as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let masks: Vec<u16> = case["masks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m.as_u64().unwrap() as u16)
            .collect();
        let phases: Vec<u16> = (0..16384u16)
            .map(|id| {
                let bits = masks.iter().enumerate();
                bits.fold(0, |phase, (j, mask)| {
                    phase | ((id & mask).count_ones() as u16 & 1) << j
                })
            })
            .collect();
        let schedule = Schedule::checked(&mut router, &pattern(name), &phases).unwrap();
        assert_eq!(
            u64::from(schedule.phases()),
            case["phases"].as_u64().unwrap(),
            "{name}"
        );
        let ours = ParityMasks::default()
            .schedule(&mut router, &pattern(name))
            .unwrap();
        assert_eq!(ours.phases(), schedule.phases(), "{name}");
    }
}

/// The pattern of a row of `scheduling.csv`: names joined by ` then `.
fn composed(name: &str) -> Pattern {
    let mut parts = name.split(" then ").map(pattern);
    let first = parts.next().unwrap();
    parts.fold(first, |all, next| all.then(&next).unwrap())
}

#[test]
fn scheduling_table_is_met_row_by_row() {
    let path = format!(
        "{}/tests/vectors/maspar/scheduling.csv",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).unwrap();
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    let mut best = Box::new(Best::new(1));
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |column: usize| cells[column].trim().parse::<u32>().unwrap();
        let name = cells[0];
        let pattern = composed(name);
        assert_eq!(
            router.timetable(&pattern).unwrap().cycles(),
            number(1),
            "{name}"
        );
        let bound = Bound::of(&router, &pattern).unwrap();
        assert_eq!(
            [bound.source, bound.target, bound.stage1],
            [2, 3, 4].map(number),
            "{name}"
        );
        let by_id = FirstFit::new(Order::Id)
            .schedule(&mut router, &pattern)
            .unwrap();
        assert_eq!(by_id.phases(), number(5), "{name}, first fit in id order");
        let schedule = best.schedule(&mut router, &pattern).unwrap();
        assert!(
            schedule.phases() <= number(7),
            "{name}: {} phases",
            schedule.phases()
        );
        rows += 1;
    }
    assert_eq!(rows, 23);
}

#[cfg(feature = "alloc")]
#[test]
fn genetic_search_reaches_the_published_23_phases() {
    use multipc::maspar::schedule::{Genetic, GeneticConfig};

    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    let mut config = GeneticConfig::default();
    config.stop_at = Some(23);
    let mut first = None;
    let schedule = Genetic::new(config)
        .search(&mut router, &Pattern::bit_reversal(SIZE), |generation| {
            first.get_or_insert(generation.best);
            true
        })
        .unwrap();
    assert!(
        (37..=42).contains(&first.unwrap()),
        "generation 0: {first:?}"
    );
    assert!(schedule.phases() <= 23, "{}", schedule.phases());
}

#[cfg(feature = "std")]
#[test]
fn genetic_search_repeats_from_its_seed() {
    use multipc::maspar::schedule::{Genetic, GeneticConfig};

    let size = MachineSize::Pes2048;
    let mut router = Router::new(&RouterConfig::MP1.with_size(size)).unwrap();
    let mut config = GeneticConfig::default();
    config.generations = 12;
    let pattern = Pattern::random_permutation(size, 3);
    let mut run = || {
        Genetic::new(config)
            .schedule(&mut router, &pattern)
            .unwrap()
    };
    assert_eq!(run(), run());
}

/// A random affine permutation over GF(2) of the id's bits.
fn affine_permutation(draws: &mut multipc::maspar::Draws) -> Pattern {
    loop {
        let columns: Vec<u16> = (0..14).map(|_| draws.below(16384) as u16).collect();
        let constant = draws.below(16384) as u16;
        let pattern = Pattern::from_fn(SIZE, |id| {
            let bits = (0..14).filter(|bit| id >> bit & 1 == 1);
            Some(u32::from(
                bits.fold(constant, |sum, bit| sum ^ columns[bit]),
            ))
        })
        .unwrap();
        let targets: std::collections::HashSet<u16> = pattern.pairs().map(|(_, to)| to).collect();
        if targets.len() == 16384 {
            return pattern;
        }
    }
}

#[test]
fn most_but_not_all_affine_permutations_take_one_or_two_passes() {
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    let mut draws = multipc::maspar::Draws::new(1);
    let cycles: Vec<u32> = (0..150)
        .map(|_| {
            router
                .timetable(&affine_permutation(&mut draws))
                .unwrap()
                .cycles()
        })
        .collect();
    let within = |limit| cycles.iter().filter(|&&n| n <= limit).count() * 100 / cycles.len();
    println!(
        "16: {} %, 32: {} %, worst {:?}",
        within(16),
        within(32),
        cycles.iter().max()
    );
    assert!(
        (15..=35).contains(&within(16)),
        "{} % in one pass",
        within(16)
    );
    assert!(
        (60..=80).contains(&within(32)),
        "{} % in two passes",
        within(32)
    );
    assert!(cycles.iter().all(|&n| (16..=80).contains(&n)));
}

#[test]
fn random_permutations_take_42_to_48_cycles() {
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    let mut cycles: Vec<u32> = (0..21)
        .map(|seed| {
            router
                .timetable(&Pattern::random_permutation(SIZE, seed))
                .unwrap()
                .cycles()
        })
        .collect();
    cycles.sort();
    println!("{cycles:?}");
    assert!(cycles.iter().all(|n| (42..=48).contains(n)), "{cycles:?}");
    assert!((44..=45).contains(&cycles[10]), "median {}", cycles[10]);
}

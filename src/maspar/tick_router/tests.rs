extern crate std;
use std::vec::Vec;

use super::*;
use crate::maspar::{MachineSize, Router};

fn paths(config: &RouterConfig, pattern: &Pattern) -> (Vec<Connection>, Vec<Connection>) {
    let mut ticks = TickRouter::new(config).unwrap();
    ticks.ropen(pattern).unwrap();
    while ticks.step() {}
    assert_eq!(ticks.ticks(), 42);
    ticks.rfetch(Width::W32, |pe| u64::from(pe) * 3 + 0x8000_0000);
    while ticks.step() {}
    assert_eq!(ticks.ticks(), 42 + 49);
    for (path, value) in ticks.fetched() {
        assert_eq!(value, u64::from(path.target) * 3 + 0x8000_0000);
    }
    assert!(ticks.chips(2).iter().all(|chip| chip.connected() == 0));
    let mut router = Router::new(config).unwrap();
    router.load(pattern).unwrap();
    router.ropen();
    let by_source = |mut paths: Vec<Connection>| {
        paths.sort_by_key(|path| path.source);
        paths
    };
    (
        by_source(ticks.fetched().map(|(path, _)| path).collect()),
        by_source(router.connections().collect()),
    )
}

#[test]
fn chips_tick_by_tick_open_what_the_fast_model_opens() {
    for (name, config) in RouterConfig::PRESETS {
        for size in [
            MachineSize::Pes1024,
            MachineSize::Pes8192,
            MachineSize::Pes16384,
        ] {
            let config = config.with_size(size);
            for seed in 0..3 {
                let pattern = Pattern::random_function(size, seed).coin(seed + 1);
                let (ticks, fast) = paths(&config, &pattern);
                assert_eq!(ticks, fast, "{name} {size:?} {seed}");
            }
        }
    }
}

#[test]
fn address_bits_reach_each_stage_when_the_diagram_says() {
    let config = RouterConfig::MP1;
    let mut ticks = TickRouter::new(&config).unwrap();
    ticks
        .ropen(&Pattern::all_to(config.size, 16383).only(|id| id == 0))
        .unwrap();
    let mut seen = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let mut told = None;
    for tick in 0..42 {
        for (stage, seen) in seen.iter_mut().enumerate() {
            if ticks.data(stage).iter().any(|&wires| wires != 0) {
                seen.push(tick);
            }
        }
        if told.is_none() && ticks.connected()[0] == 1 {
            told = Some(tick);
        }
        ticks.step();
    }
    // All 16 bits are ones: four for each stage, seen by the later ones
    // only as far as paths are open.
    assert_eq!(seen[0][..8], [2, 3, 4, 5, 7, 8, 9, 10]);
    assert_eq!(seen[1][..4], [8, 9, 10, 11]);
    assert_eq!(seen[2][..4], [14, 15, 16, 17]);
    assert_eq!(seen[3], [20, 21, 22, 23]);
    assert_eq!(told, Some(30));
}

//! Programs while cables, controllers and buses go wrong.
//!
//! With the reliable layer below, random programs end with the digests of the
//! reference, whatever goes wrong for a time. `MULTIPC_LONG=1` plays 16 times as
//! many programs. What is lost for good: mpi_faults_lost.rs.
#![cfg(feature = "alloc")]

mod common;
mod mpi_programs;
mod mpi_reliable;

use std::rc::Rc;

use mpi_programs::{Shape, build, mix, play};
use mpi_reliable::world;
use multipc::fabric::End;
use multipc::fabric::faults::{
    BusFault, CableFault, FaultEvent, Faults, Kind, RandomFaults, Transfers,
};
use multipc::fabric::topology::Topology;
use multipc::hsl::Symbol;
use multipc::mpi::reference::{ReferenceConfig, run};
use multipc::mpi::world::WorldConfig;
use multipc::mpi::{ArrivalMode, MpiConfig};
use multipc::pci::TargetResponse;
use multipc::put::RecoveryStats;
use multipc::time::Duration;

fn topology(seed: u64) -> Topology<'static> {
    match seed % 5 {
        0 => Topology::pair(),
        1 => Topology::line(3),
        2 => Topology::star(3),
        3 => Topology::ring(4),
        _ => Topology::mesh(&[2, 2]),
    }
    .unwrap()
}

fn mpi(seed: u64) -> MpiConfig {
    let mut mpi = match seed % 4 {
        0 | 1 => MpiConfig::mpi2(),
        2 => MpiConfig::mpi1(),
        _ => MpiConfig::mpi2().with_arrival(ArrivalMode::Slots),
    };
    if seed >= OFFERING {
        mpi.offers = true;
        mpi.eager_max = 64;
    }
    mpi
}

/// From this seed on with landing offers.
const OFFERING: u64 = 3_000;

/// Of every kind that there is, some of them by script, early and late.
fn script(seed: u64, ends: &[End], nodes: u16) -> Vec<FaultEvent> {
    let event = |at: u64| {
        let dice = |n: u64| mix(seed, at * 16 + n);
        let number = 1 + dice(0) % [50, 500, 5_000][(dice(1) % 3) as usize];
        let end = ends[(dice(2) % ends.len() as u64) as usize];
        let (kind, number) = match dice(3) % 5 {
            0 => (Kind::Packet, number),
            1 => (Kind::Character, number),
            2 => (Kind::Data, number),
            3 => (Kind::End, 1 + number / 40),
            _ => (Kind::Grant, 1 + number / 40),
        };
        let cable = |fault| FaultEvent::cable(end, kind, number, fault);
        let node = (dice(4) % u64::from(nodes)) as u16;
        let transfers = [Transfers::All, Transfers::Reads, Transfers::Writes];
        let transfers = transfers[(dice(5) % 3) as usize];
        let bus = |fault| FaultEvent::bus(node, transfers, 1 + number / 20, fault);
        let respond = |response| {
            bus(BusFault::Respond {
                response,
                times: 1 + (dice(6) % 3) as u32,
            })
        };
        match dice(7) % 12 {
            0..3 => cable(CableFault::Corrupt(1 + (dice(8) % 0x1FF) as u16)),
            3 | 4 => cable(CableFault::Drop),
            5 => cable(CableFault::Insert(Symbol::from_bits(
                (dice(8) % 0x200) as u16,
            ))),
            6 | 7 => cable(CableFault::Cut {
                cycles: 1 + dice(8) % [1, 200, 20_000][(dice(9) % 3) as usize],
                both: dice(10) % 2 == 0,
            }),
            8 => respond(TargetResponse::Retry),
            9 => respond(TargetResponse::TargetAbort),
            10 => respond(TargetResponse::BadParity),
            _ => bus(BusFault::HoldGrant {
                cycles: 1 + dice(8) % 5_000,
            }),
        }
    };
    (0..1 + seed % 12).map(event).collect()
}

/// A few of each kind in a program.
fn rates(seed: u64) -> RandomFaults {
    let mut random = RandomFaults::new(seed);
    random.boards = true;
    random.cable.corrupt = 2e-5;
    random.cable.drop = 2e-5;
    random.cable.insert = 2e-5;
    random.cable.cut = 5e-6;
    random.cable.cut_cycles = 500;
    random.bus.retry = 3e-3;
    random.bus.disconnect = 3e-3;
    random.bus.parity = 1e-4;
    random.bus.delay = 3e-3;
    random.bus.delay_clocks = 100;
    random.bus.target_abort = 3e-5;
    random.bus.no_devsel = 3e-5;
    random.bus.hold_grant = 1e-4;
    random.bus.hold_cycles = 1_000;
    random
}

#[derive(Debug, Default)]
struct Sum {
    faults: u64,
    disturbed: u64,
    resent: u64,
    restarts: u64,
    link_errors: u64,
    bad_data: u64,
    /// Messages to offered landings.
    direct: u64,
}

impl Sum {
    fn add(&mut self, stats: RecoveryStats) {
        self.resent += stats.resent;
        self.restarts += stats.restarts;
        self.link_errors += stats.link_errors.iter().sum::<u64>();
        self.bad_data += stats.bad_data;
    }
}

/// Plays the program of a seed with these faults, and compares.
fn plays_like_the_reference(
    seed: u64,
    faults: impl FnOnce(&[End], u16) -> Faults<'static>,
    sum: &mut Sum,
) {
    let topology = topology(seed);
    let nodes = topology.generators().len() as u32;
    let shape = Shape {
        ranks: nodes + (seed / 5 % 2) as u32,
        events: 40,
        long: 2_500,
    };
    let program = Rc::new(build(seed, shape));
    let all = |results: Vec<Result<u64, String>>| -> Vec<u64> {
        let results = results.into_iter().collect::<Result<_, _>>();
        results.unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    };
    let expected = run(program.size, ReferenceConfig::default(), |process| {
        play(process, Rc::clone(&program))
    });
    let expected = all(expected.unwrap());

    let mut config = WorldConfig::new(program.size, mpi(seed));
    config.limit = Duration::from_us(3_000_000);
    let mut world = world(&topology, config);
    let machine = world.medium_mut().machine_mut();
    let ends: Vec<End> = machine.cables().flatten().collect();
    machine.set_faults(faults(&ends, nodes as u16)).unwrap();
    let outcome = world.run(|process| play(process, Rc::clone(&program)));
    let total = world.medium().machine().faults().unwrap().total();
    sum.disturbed += u64::from(total > 0);
    sum.faults += total;
    let stats: Vec<RecoveryStats> = (0..nodes as u16)
        .filter_map(|node| world.medium().stats(node))
        .collect();
    stats.iter().for_each(|stats| sum.add(*stats));
    for rank in 0..program.size {
        world.endpoint(rank).unwrap().check_invariants().unwrap();
    }
    let outcome = outcome.unwrap_or_else(|error| {
        let faults: Vec<String> = world
            .medium()
            .machine()
            .faults()
            .unwrap()
            .records()
            .map(|r| r.to_string())
            .collect();
        panic!("seed {seed}: {error}\n{stats:#?}\n{faults:#?}")
    });
    let failed = stats.iter().any(|stats| stats.failed > 0);
    assert!(!failed, "seed {seed}: {stats:#?}");
    assert_eq!(all(outcome.results), expected, "seed {seed}");
    for rank in 0..program.size {
        let engine = world.endpoint(rank).unwrap();
        assert_eq!(engine.stats().closed, 0, "seed {seed}, rank {rank}");
        sum.direct += engine.stats().direct;
    }
}

#[test]
fn without_faults_the_reliable_layer_changes_no_result() {
    let mut sum = Sum::default();
    for seed in 0..u64::from(common::cases(10)) {
        plays_like_the_reference(seed, |_, _| Faults::script(vec![]), &mut sum);
    }
    let Sum {
        faults,
        resent,
        restarts,
        ..
    } = sum;
    assert_eq!((faults, resent, restarts), (0, 0, 0));
}

#[test]
fn programs_end_as_the_reference_whatever_a_script_spoils() {
    let mut sum = Sum::default();
    let cases = u64::from(common::cases(24));
    for seed in 0..cases {
        let faults = |ends: &[End], nodes| Faults::script(script(seed, ends, nodes));
        plays_like_the_reference(1_000 + seed, faults, &mut sum);
    }
    println!("{sum:?}");
    assert!(
        sum.disturbed > cases / 2 && sum.resent > 0 && sum.restarts > 0,
        "{sum:?}"
    );
}

/// A character of data is lost, later a grant of credit is spoilt: the router of
/// the first board keeps what it cannot send until it is started again.
#[test]
fn a_router_without_credit_is_started_again_with_its_board() {
    let end = |router| End::Router { router, port: 1 };
    let events = vec![
        FaultEvent::cable(end(0), Kind::Packet, 256, CableFault::Drop),
        FaultEvent::cable(end(1), Kind::Grant, 93, CableFault::Corrupt(248)),
    ];
    let mut sum = Sum::default();
    plays_like_the_reference(1_150, |_, _| Faults::script(events), &mut sum);
    assert!(sum.faults == 2 && sum.restarts > 0, "{sum:?}");
}

/// Seeds of scripts after which no packet passes until a router is started again;
/// most are beyond the default run.
#[test]
fn scripts_that_need_a_router_started_again_end_as_the_reference() {
    for seed in [1_011, 1_055, 1_150, 1_166] {
        let mut sum = Sum::default();
        let faults = |ends: &[End], nodes| Faults::script(script(seed - 1_000, ends, nodes));
        plays_like_the_reference(seed, faults, &mut sum);
        assert!(sum.restarts > 0, "seed {seed}: {sum:?}");
    }
}

#[test]
fn programs_end_as_the_reference_with_faults_at_random_everywhere() {
    let mut sum = Sum::default();
    let cases = u64::from(common::cases(16));
    for seed in 0..cases {
        let faults = |_: &[End], _| Faults::script(vec![]).with_random(rates(seed));
        plays_like_the_reference(2_000 + seed, faults, &mut sum);
    }
    println!("{sum:?}");
    assert!(sum.faults > 10 * cases && sum.disturbed == cases, "{sum:?}");
    assert!(
        sum.link_errors > cases && sum.resent > cases && sum.bad_data > 0,
        "{sum:?}"
    );
}

#[test]
fn programs_with_landing_offers_end_as_the_reference_with_faults_at_random() {
    let mut sum = Sum::default();
    let cases = u64::from(common::cases(8));
    for seed in 0..cases {
        let faults = |_: &[End], _| Faults::script(vec![]).with_random(rates(seed));
        plays_like_the_reference(OFFERING + seed, faults, &mut sum);
    }
    println!("{sum:?}");
    assert!(sum.direct > 0 && sum.disturbed == cases, "{sum:?}");
}

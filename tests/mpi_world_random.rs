//! Random programs on simulated machines: the same data and the same matching as
//! the trivial reference, whatever carries the messages.
#![cfg(feature = "alloc")]

mod common;
mod mpi_programs;

use std::rc::Rc;

use mpi_programs::{Program, Shape, build, play};
use multipc::fabric::topology::Topology;
use multipc::mpi::credit::CreditMode;
use multipc::mpi::reference::{ReferenceConfig, run};
use multipc::mpi::world::media::{Boards, MasPar, MasParConfig, Medium, Memory, MemoryConfig};
use multipc::mpi::world::{Placement, World, WorldConfig};
use multipc::mpi::{ArrivalMode, MpiConfig, MpiCost};
use multipc::time::Duration;

/// Programs of 1 to 7 ranks.
fn program(seed: u64) -> Rc<Program> {
    let shape = Shape {
        ranks: 1 + (seed % 7) as u32,
        events: 30,
        long: 6_000,
    };
    Rc::new(build(seed, shape))
}

fn expected(program: &Rc<Program>) -> Vec<Result<u64, String>> {
    let play = |process| play(process, Rc::clone(program));
    run(program.size, ReferenceConfig::default(), play).unwrap()
}

/// Messages that went to offered landings.
fn plays_alike<M: Medium>(seed: u64, program: &Rc<Program>, mut world: World<M>) -> u64 {
    let outcome = world.run(|process| play(process, Rc::clone(program)));
    let outcome = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(outcome.results, expected(program), "seed {seed}");
    let mut direct = 0;
    for rank in 0..program.size {
        let endpoint = world.endpoint(rank).unwrap();
        let broken = endpoint.broken_invariant();
        assert_eq!(broken, None, "seed {seed}, rank {rank}");
        direct += endpoint.stats().direct;
    }
    direct
}

/// Small memories: many worlds are made.
fn config(seed: u64, ranks: u32, mpi: MpiConfig) -> WorldConfig {
    let mut config = WorldConfig::new(ranks, mpi);
    config.user_bytes = 4 << 20;
    config.requests = 1024;
    // A program that looks in a loop for what never comes must end, too.
    config.limit = Duration::from_us(1_000_000);
    config.unexpected = 1024;
    if seed.is_multiple_of(2) {
        config.placement = Placement::Cyclic;
    }
    config
}

/// The forms of the message layer, one after the other.
fn form(seed: u64) -> MpiConfig {
    let mpi = if seed.is_multiple_of(3) {
        MpiConfig::mpi1()
    } else {
        MpiConfig::mpi2()
    };
    let mut mpi = mpi.with_slots([3, 4, 16][(seed / 3 % 3) as usize]);
    if seed / 9 % 2 == 1 && !seed.is_multiple_of(3) {
        mpi = mpi.with_arrival(ArrivalMode::Slots);
    }
    if seed / 18 % 2 == 1 {
        mpi = mpi.with_credit_mode(CreditMode::Counter);
    }
    if seed / 36 % 3 == 2 {
        mpi = mpi.with_cost(MpiCost::FREE);
    }
    mpi
}

fn memory(seed: u64, program: &Rc<Program>, mpi: MpiConfig) -> World<Memory> {
    let nodes = 1 + (seed / 2 % u64::from(program.size)) as u16;
    let config = config(seed, program.size, mpi);
    let mut memory = MemoryConfig::new(nodes);
    memory.arena_bytes = config.arena_bytes(nodes) as usize;
    World::new(Memory::new(memory), config).unwrap()
}

fn boards(seed: u64, program: &Rc<Program>, mpi: MpiConfig) -> World<Boards> {
    let boards = 1 + (seed / 2 % u64::from(program.size)) as usize;
    let config = config(seed, program.size, mpi);
    let topology = Topology::star(boards.max(2)).unwrap();
    World::on_boards(&topology, config).unwrap()
}

#[test]
fn in_memory() {
    for seed in 0..u64::from(common::cases(1_000)) {
        let program = program(seed);
        let world = memory(seed, &program, form(seed));
        assert_eq!(plays_alike(seed, &program, world), 0);
    }
}

#[test]
fn on_boards() {
    for seed in 0..u64::from(common::cases(20)) {
        let program = program(seed);
        let world = boards(seed, &program, form(seed));
        assert_eq!(plays_alike(seed, &program, world), 0);
    }
}

/// With landing offers, and long messages most of the time.
fn offering(seed: u64) -> MpiConfig {
    let mut mpi = form(seed);
    mpi.offers = true;
    mpi.eager_max = [0, 64, 2_048][(seed / 5 % 3) as usize];
    // Half of them are offered.
    mpi.landings = [2, 3, 32][(seed / 7 % 3) as usize];
    mpi
}

#[test]
fn in_memory_with_landing_offers() {
    let mut direct = 0;
    let cases = u64::from(common::cases(400));
    for seed in 0..cases {
        let program = program(seed);
        let world = memory(seed, &program, offering(seed));
        direct += plays_alike(seed, &program, world);
    }
    println!("{direct} messages to offered landings");
    assert!(direct > cases, "{direct}");
}

#[test]
fn on_boards_with_landing_offers() {
    let mut direct = 0;
    let cases = u64::from(common::cases(10));
    for seed in 0..cases {
        let program = program(seed);
        let world = boards(seed, &program, offering(seed));
        direct += plays_alike(seed, &program, world);
    }
    println!("{direct} messages to offered landings");
    assert!(direct > cases, "{direct}");
}

#[test]
fn on_the_pe_array() {
    for seed in 0..u64::from(common::cases(6)) {
        let program = program(seed);
        let nodes = program.size as u16;
        let mut config = config(seed, program.size, MpiConfig::mpi2().with_slots(4));
        config.user_bytes = 1 << 20;
        config.mpi.unexpected_bytes = 256 << 10;
        let mut maspar = MasParConfig::new(nodes);
        maspar.bytes_per_pe = config.arena_bytes(nodes) as usize + 8192;
        let world = World::new(MasPar::new(maspar).unwrap(), config).unwrap();
        plays_alike(seed, &program, world);
    }
}

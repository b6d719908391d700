//! Simulated microseconds per second of host time: programs of the message
//! layer on simulated boards.
//!
//! `cargo bench --features alloc --bench mpi_world`; behind `--` a number
//! divides the rounds, and a part of a name selects cases. Each line ends in a
//! check sum of what was received and of the simulated time: a faster wrong
//! model must not look better. Before that stands how much is simulated in the time
//! of a fixed other work ([`yardstick`]), measured before and after each case: where
//! processors are shared, that moves less than the speed.

use core::future::poll_fn;
use core::hint::black_box;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::process::{Outgoing, Pattern, PointToPoint, RequestId, SendMode};
use multipc::mpi::world::media::{Medium, Memory, MemoryConfig};
use multipc::mpi::world::{Process, World, WorldConfig};

mod common;

use common::{Fnv, Stopwatch};

fn outgoing(process: &Process, dst: u32, tag: i32) -> Outgoing {
    Outgoing {
        dst,
        context: 0,
        src_rank: process.world_rank(),
        tag,
        internal: false,
        mode: SendMode::Standard,
    }
}

async fn wait(process: &Process, id: RequestId) -> Vec<u8> {
    poll_fn(|cx| process.poll_wait(id, cx)).await.unwrap().data
}

async fn exchange(process: &Process, to: u32, from: u32, tag: i32, data: Vec<u8>) -> Vec<u8> {
    let len = data.len();
    let pattern = Pattern {
        context: 0,
        source: Some(from),
        tag: Some(tag),
    };
    let got = process.irecv(pattern, len).unwrap();
    let sent = process.isend(outgoing(process, to, tag), data).unwrap();
    let data = wait(process, got).await;
    wait(process, sent).await;
    data
}

/// Every rank plays ping-pong with its neighbour on the right, then on the left.
async fn ring(process: Process, rounds: u32) -> u64 {
    let (me, ranks) = (process.world_rank(), process.world_size());
    let mut sum = Fnv::NEW;
    for round in 0..rounds {
        let right = (me + 1) % ranks;
        let left = (me + ranks - 1) % ranks;
        let data = vec![(me + round) as u8; 64];
        let data = exchange(&process, right, left, 0, data).await;
        let data = exchange(&process, left, right, 1, data).await;
        sum.add_bytes(&data);
    }
    sum.add(process.now().ps());
    sum.0
}

/// Sums of 8 doubles, by recursive doubling.
async fn allreduce(process: Process, rounds: u32) -> u64 {
    let (me, ranks) = (process.world_rank(), process.world_size());
    let mut sum = Fnv::NEW;
    for round in 0..rounds {
        let mut values = [f64::from(me + round); 8];
        let mut distance = 1;
        while distance < ranks {
            let partner = me ^ distance;
            let data: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            let data = exchange(&process, partner, partner, distance as i32, data).await;
            for (value, bytes) in values.iter_mut().zip(data.chunks_exact(8)) {
                *value += f64::from_le_bytes(bytes.try_into().unwrap());
            }
            distance *= 2;
        }
        sum.add(values[0].to_bits());
    }
    sum.add(process.now().ps());
    sum.0
}

/// Seconds that 2^26 steps of the check sum take, each waiting for the one before.
fn yardstick() -> f64 {
    let watch = Stopwatch::start();
    let mut sum = Fnv::NEW;
    (0..1u64 << 26).for_each(|i| sum.add(i));
    black_box(sum);
    watch.seconds()
}

fn run<M: Medium, F: Future<Output = u64>>(
    name: &str,
    mut world: World<M>,
    program: impl Fn(Process) -> F,
) {
    let before = yardstick();
    let watch = Stopwatch::start();
    let outcome = world
        .run(program)
        .unwrap_or_else(|_| panic!("{name} came to no end"));
    let host = watch.seconds();
    let yard = (before + yardstick()) / 2.0;
    let mut sum = Fnv::NEW;
    outcome.results.iter().for_each(|&rank| sum.add(rank));
    let simulated = (outcome.ended - outcome.started).as_us_f64();
    println!(
        "{name:<34} {simulated:>10.1} us in {host:>7.3} s: {:>10.0} us/s, \
         {:>10.1} us/yard ({yard:.4} s), check {:016x}",
        simulated / host,
        simulated * yard / host,
        sum.0
    );
}

fn memory(config: WorldConfig, nodes: u16) -> World<Memory> {
    let mut memory = MemoryConfig::new(nodes);
    memory.arena_bytes = config.arena_bytes(nodes) as usize;
    World::new(Memory::new(memory), config).unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let shorter: u32 = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(1);
    let wanted = |name: &str| {
        let mut words = args
            .iter()
            .filter(|arg| !arg.starts_with('-') && arg.parse::<u32>().is_err())
            .peekable();
        words.peek().is_none() || words.any(|word| name.contains(word.as_str()))
    };
    let config = |ranks| {
        let mut config = WorldConfig::new(ranks, MpiConfig::mpi2());
        config.user_bytes = 1 << 20;
        config.with_room_for_reports()
    };
    let rounds = |n: u32| (n / shorter).max(1);
    let name = "ring of 16 on 16 boards";
    if wanted(name) {
        let topology = Topology::mesh(&[4, 4]).unwrap();
        let world = World::on_boards(&topology, config(16)).unwrap();
        run(name, world, |process| ring(process, rounds(400)));
    }
    let name = "allreduce of 64 on 64 boards";
    if wanted(name) {
        let topology = Topology::mesh(&[8, 8]).unwrap();
        let world = World::on_boards(&topology, config(64)).unwrap();
        run(name, world, |process| allreduce(process, rounds(40)));
    }
    let name = "ring of 16 in memory";
    if wanted(name) {
        let world = memory(config(16), 16);
        run(name, world, |process| ring(process, rounds(2000)));
    }
    let name = "allreduce of 64 in memory";
    if wanted(name) {
        let world = memory(config(64), 64);
        run(name, world, |process| allreduce(process, rounds(200)));
    }
}

//! Programs on simulated machines: what time means, who may share a node, and
//! what a run that cannot go on says.
#![cfg(feature = "alloc")]

#[path = "common/process.rs"]
mod process;

use multipc::fabric::topology::Topology;
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::mpi::timeline::Part;
use multipc::mpi::world::media::{MasPar, MasParConfig, Medium, Memory, MemoryConfig};
use multipc::mpi::world::{Outcome, Placement, Process, World, WorldConfig, WorldError};
use multipc::mpi::{ArrivalMode, MpiConfig, MpiCost};
use multipc::time::Duration;
use process::{from, recv, send, to, wait};

fn memory(config: WorldConfig, nodes: u16) -> World<Memory> {
    let mut memory = MemoryConfig::new(nodes);
    memory.arena_bytes = config.arena_bytes(nodes) as usize;
    World::new(Memory::new(memory), config).unwrap()
}

/// What rank `from` sends to rank `to` in round `round`.
fn bytes(from: u32, to: u32, round: u32, len: usize) -> Vec<u8> {
    let seed = from * 31 + to * 7 + round;
    (0..len as u32)
        .map(|i| (seed + i * 13 + i / 251) as u8)
        .collect()
}

/// Everybody to everybody, `lens` one after the other; true when all came right.
async fn all_to_all(process: Process, lens: &'static [usize]) -> bool {
    let (me, ranks) = (process.world_rank(), process.world_size());
    let mut right = true;
    for (round, &len) in (0..).zip(lens) {
        let mut sends = Vec::new();
        let mut receives = Vec::new();
        for other in 0..ranks {
            let tag = round as i32;
            receives.push((other, process.irecv(from(other, tag), len).unwrap()));
            let data = bytes(me, other, round, len);
            sends.push(process.isend(to(&process, other, tag), data).unwrap());
        }
        for (other, id) in receives {
            let got = wait(&process, id).await.unwrap();
            right &= got.data == bytes(other, me, round, len) && got.status.source == other;
        }
        for id in sends {
            wait(&process, id).await.unwrap();
        }
    }
    right
}

const LENS: &[usize] = &[0, 1, 100, 2048, 2049, 40_000];

fn all_right<M: Medium>(world: &mut World<M>) -> Outcome<bool> {
    let outcome = world.run(|process| all_to_all(process, LENS)).unwrap();
    assert_eq!(outcome.results, vec![true; world.config().ranks as usize]);
    outcome
}

#[test]
fn all_pairs_on_memory_with_one_or_several_ranks_a_node() {
    for (ranks, nodes) in [(1, 1), (2, 1), (5, 5), (8, 3)] {
        for placement in [Placement::Block, Placement::Cyclic] {
            let mut config = WorldConfig::new(ranks, MpiConfig::mpi2());
            config.placement = placement;
            all_right(&mut memory(config, nodes));
        }
    }
}

#[test]
fn all_pairs_on_boards_by_polling_and_by_interrupts() {
    for mpi in [MpiConfig::mpi2(), MpiConfig::mpi1()] {
        let config = WorldConfig::new(4, mpi);
        let topology = Topology::line(2).unwrap();
        all_right(&mut World::on_boards(&topology, config).unwrap());
    }
}

#[test]
fn all_pairs_on_boards_when_slots_are_looked_at() {
    let mpi = MpiConfig::mpi2().with_arrival(ArrivalMode::Slots);
    let config = WorldConfig::new(3, mpi);
    all_right(&mut World::on_boards(&Topology::star(3).unwrap(), config).unwrap());
}

#[test]
fn all_pairs_on_the_pe_array() {
    let mut config = WorldConfig::new(3, MpiConfig::mpi2().with_slots(4));
    config.user_bytes = 512 << 10;
    config.mpi.unexpected_bytes = 64 << 10;
    let mut maspar = MasParConfig::new(3);
    maspar.bytes_per_pe = config.arena_bytes(3) as usize + 8192;
    let mut world = World::new(MasPar::new(maspar).unwrap(), config).unwrap();
    all_right(&mut world);
    assert!(world.medium().array().cost().cycles > 0);
}

#[test]
fn the_same_run_takes_the_same_times() {
    let run = || {
        let config = WorldConfig::new(4, MpiConfig::mpi2()).recorded();
        let topology = Topology::ring(4).unwrap();
        all_right(&mut World::on_boards(&topology, config).unwrap())
    };
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    assert!(!first.timeline.messages.is_empty());
}

#[test]
fn lanes_are_full_from_the_start_to_the_end_of_the_program() {
    for mpi in [MpiConfig::mpi2(), MpiConfig::mpi1()] {
        let config = WorldConfig::new(3, mpi).recorded();
        let topology = Topology::star(3).unwrap();
        let mut world = World::on_boards(&topology, config).unwrap();
        let outcome = world.run(|process| async move {
            let me = process.world_rank();
            process.compute(Duration::from_us(10 * u64::from(me))).await;
            all_to_all(process.clone(), &[100, 5000]).await;
            process.now()
        });
        let outcome = outcome.unwrap();
        for (rank, lane) in outcome.timeline.lanes.iter().enumerate() {
            assert_eq!(lane.start, outcome.started);
            assert_eq!(lane.breakdown.total(), lane.end - lane.start);
            assert!(lane.end >= outcome.results[rank]);
            assert_eq!(
                lane.breakdown[Part::Computing],
                Duration::from_us(10 * rank as u64)
            );
            let mut at = lane.start;
            for span in &lane.spans {
                assert_eq!(span.start, at);
                at = span.end;
            }
            assert_eq!(at, lane.end);
        }
    }
}

#[test]
fn computing_takes_its_time_and_makes_no_progress() {
    // The receiver computes while the message comes: it is taken in afterwards.
    let mut world = memory(WorldConfig::new(2, MpiConfig::mpi2()), 2);
    let outcome = world.run(|process| async move {
        if process.world_rank() == 0 {
            send(&process, 1, 0, vec![1]).await;
        } else {
            let id = process.irecv(from(0, 0), 1).unwrap();
            process.compute(Duration::from_us(100)).await;
            assert!(process.try_wait(id).is_none());
            wait(&process, id).await.unwrap();
        }
        process.now()
    });
    let outcome = outcome.unwrap();
    let took = outcome.results[1] - outcome.started;
    assert!(
        took > Duration::from_us(106) && took < Duration::from_us(108),
        "{took}"
    );
}

#[test]
fn a_loop_of_tests_takes_time_and_ends() {
    for cost in [MpiCost::default(), MpiCost::FREE] {
        let mpi = MpiConfig::mpi2().with_cost(cost);
        let mut world = memory(WorldConfig::new(2, mpi), 2);
        let outcome = world.run(|process| async move {
            if process.world_rank() == 0 {
                process.compute(Duration::from_us(50)).await;
                send(&process, 1, 3, vec![5; 10]).await;
                return 0;
            }
            let mut looks = 0;
            while process.iprobe(from(0, 3)).await.is_none() {
                looks += 1;
            }
            let id = process.irecv(from(0, 3), 10).unwrap();
            loop {
                match process.test(id).await {
                    Some(done) => break assert_eq!(done.unwrap().data, [5; 10]),
                    None => looks += 1,
                }
            }
            looks
        });
        assert!(outcome.unwrap().results[1] > 50);
    }
}

#[test]
fn interrupts_are_served_while_the_program_computes() {
    let config = WorldConfig::new(2, MpiConfig::mpi1());
    let mut world = World::on_boards(&Topology::pair().unwrap(), config).unwrap();
    let outcome = world.run(|process| async move {
        if process.world_rank() == 0 {
            send(&process, 1, 0, vec![1]).await;
            process.now()
        } else {
            process.compute(Duration::from_us(200)).await;
            let computed = process.now();
            recv(&process, 0, 0, 1).await;
            computed
        }
    });
    let outcome = outcome.unwrap();
    // The computation is longer by the interrupt.
    let took = outcome.results[1] - outcome.started;
    assert_eq!(took, Duration::from_us(200) + MpiCost::default().interrupt);
}

#[test]
fn a_deadlock_names_who_waits_for_what() {
    let config = WorldConfig::new(3, MpiConfig::mpi2());
    let mut world = World::on_boards(&Topology::star(3).unwrap(), config).unwrap();
    let run = world.run(|process| async move {
        let me = process.world_rank();
        if me < 2 {
            recv(&process, 1 - me, 5, 8).await;
        }
    });
    let error = run.unwrap_err();
    let WorldError::Deadlock { ranks, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        ranks.iter().map(|stuck| stuck.rank).collect::<Vec<_>>(),
        [0, 1]
    );
    let text = error.to_string();
    let expected = "rank 0 receive of 8 bytes from source 1 tag 5 context 0 waits for a message";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_rank_that_has_ended_still_answers() {
    // Rank 0 ends before rank 1 asks for the long message.
    let mut world = memory(WorldConfig::new(2, MpiConfig::mpi2()), 2);
    let outcome = world.run(|process| async move {
        if process.world_rank() == 0 {
            let id = process.isend(to(&process, 1, 0), vec![3; 100_000]).unwrap();
            process.release(id);
            process.progress().await;
            0
        } else {
            process.compute(Duration::from_us(500)).await;
            recv(&process, 0, 0, 100_000).await.len()
        }
    });
    assert_eq!(outcome.unwrap().results, [0, 100_000]);
}

#[test]
fn memory_of_a_rank_runs_out_with_an_error_and_comes_back() {
    let mut config = WorldConfig::new(1, MpiConfig::mpi2());
    config.user_bytes = 8192;
    let mut world = memory(config, 1);
    let outcome = world.run(|process| async move {
        let first = process.irecv(from(0, 0), 8000).unwrap();
        let full = process.irecv(from(0, 1), 8000);
        assert_eq!(full, Err(MpiError::Resource { limit: 8192 }));
        assert!(process.cancel(first).await);
        assert_eq!(wait(&process, first).await, Err(MpiError::Cancelled));
        process.irecv(from(0, 1), 8000).is_ok()
    });
    assert_eq!(outcome.unwrap().results, [true]);
}

#[test]
fn a_world_runs_one_program_after_the_other() {
    let config = WorldConfig::new(3, MpiConfig::mpi2());
    let mut world = World::on_boards(&Topology::star(3).unwrap(), config).unwrap();
    let first = all_right(&mut world);
    let second = all_right(&mut world);
    assert!(second.started >= first.ended);
}

#[test]
fn too_little_memory_is_refused_with_its_size() {
    let config = WorldConfig::new(4, MpiConfig::mpi2());
    let needed = config.arena_bytes(2);
    let mut small = MemoryConfig::new(2);
    small.arena_bytes = 1 << 20;
    let error = World::new(Memory::new(small), config).unwrap_err();
    let WorldError::Arena { needed: told, .. } = error else {
        panic!("{error}");
    };
    assert!(told <= needed && needed - told <= 8192);
}

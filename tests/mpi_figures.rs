//! The published figures of the message layer, on two simulated boards:
//! `cargo test --features alloc --test mpi_figures -- --nocapture` prints them
//! with where the time goes.
//!
//! Sources: hw/doc/mpi.md, section "Costs".
#![cfg(feature = "alloc")]

#[path = "common/process.rs"]
mod process;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::process::PointToPoint;
use multipc::mpi::timeline::{Breakdown, Part};
use multipc::mpi::world::{Process, World, WorldConfig};
use multipc::time::Duration;
use process::{recv, send};

/// Half a round trip, and where the time of one way went: both ranks, without
/// waiting for each other.
fn ping_pong(mpi: MpiConfig, bytes: usize, rounds: u32) -> (f64, Breakdown) {
    let config = WorldConfig::new(2, mpi);
    let mut world = World::on_boards(&Topology::pair().unwrap(), config).unwrap();
    let mut play = |rounds: u32| {
        let program = |process: Process| async move {
            let began = process.now();
            for _ in 0..rounds {
                if process.world_rank() == 0 {
                    send(&process, 1, 0, vec![7; bytes]).await;
                    assert_eq!(recv(&process, 1, 0, bytes).await.len(), bytes);
                } else {
                    let data = recv(&process, 0, 0, bytes).await;
                    send(&process, 0, 0, data).await;
                }
            }
            process.now() - began
        };
        let outcome = world.run(program).unwrap();
        (outcome.results[0], outcome.timeline.total())
    };
    play(1);
    let (time, total) = play(rounds);
    let mut one_way = Breakdown::default();
    for part in Part::ALL.into_iter().filter(|part| *part != Part::Waiting) {
        one_way.add(
            part,
            Duration::from_ps(total[part].ps() / u64::from(2 * rounds)),
        );
    }
    (time.as_us_f64() / f64::from(2 * rounds), one_way)
}

fn latency(mpi: MpiConfig, name: &str, expected: f64) -> Breakdown {
    let (time, split) = ping_pong(mpi, 0, 100);
    println!("{name}: {time:.3} us, record {expected} us\n{split}");
    let allowed = 0.95 * expected..=1.05 * expected;
    assert!(allowed.contains(&time), "{time} us");
    // All of it is accounted for: nobody waits for anything but the other.
    let sum = split.total().as_us_f64();
    assert!((sum - time).abs() < 0.01 * time, "{sum} of {time} us");
    split
}

/// Megabits a second of long messages.
fn bandwidth(mpi: MpiConfig, name: &str) -> f64 {
    let bytes = 1 << 20;
    let (time, split) = ping_pong(mpi, bytes, 2);
    let rate = 8.0 * bytes as f64 / time;
    println!("{name}: {rate:.1} Mbit/s with messages of {bytes} bytes\n{split}");
    rate
}

#[test]
fn mpi_mpc_2_takes_15_us() {
    let split = latency(MpiConfig::mpi2(), "MPI-MPC 2", 15.0);
    assert_eq!(split[Part::SystemCall], Duration::ZERO);
    assert_eq!(split[Part::Interrupt], Duration::ZERO);
    assert_eq!(split[Part::Put], Duration::from_ps(1_900_000));
}

#[test]
fn mpi_mpc_1_takes_26_us_of_which_11_are_the_kernels() {
    let split = latency(MpiConfig::mpi1(), "MPI-MPC 1", 26.0);
    assert_eq!(split[Part::SystemCall], Duration::from_ps(3_300_000));
    assert_eq!(split[Part::Interrupt], Duration::from_ps(7_900_000));
    assert_eq!(split[Part::Polling], Duration::ZERO);
}

#[test]
fn mpi_mpc_1_moves_450_mbit_s_and_mpi_mpc_2_more() {
    let first = bandwidth(MpiConfig::mpi1(), "MPI-MPC 1");
    let second = bandwidth(MpiConfig::mpi2(), "MPI-MPC 2");
    assert!((427.5..=472.5).contains(&first), "{first} Mbit/s");
    assert!(second > first, "{second} Mbit/s");
    // No more than PUT moves.
    assert!(second < 500.0, "{second} Mbit/s");
}

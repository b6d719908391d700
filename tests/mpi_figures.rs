//! The published figures of the message layer, on two simulated boards.
#![cfg(feature = "alloc")]

#[path = "common/process.rs"]
mod process;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::process::PointToPoint;
use multipc::mpi::world::{Process, World, WorldConfig};
use multipc::mpi::timeline::Breakdown;
use process::{recv, send};

const ROUNDS: u32 = 50;

/// Half a round trip in microseconds, and where the time of both ranks went.
fn ping_pong(mpi: MpiConfig, bytes: usize) -> (f64, Breakdown) {
    let config = WorldConfig::new(2, mpi);
    let mut world = World::on_boards(&Topology::pair().unwrap(), config).unwrap();
    let program = |process: Process| async move {
        let me = process.world_rank();
        let mut began = process.now();
        for round in 0..ROUNDS + 2 {
            if round == 2 {
                began = process.now();
            }
            if me == 0 {
                send(&process, 1, 0, vec![7; bytes]).await;
                assert_eq!(recv(&process, 1, 0, bytes).await.len(), bytes);
            } else {
                let data = recv(&process, 0, 0, bytes).await;
                send(&process, 0, 0, data).await;
            }
        }
        (process.now() - began).as_us_f64() / f64::from(2 * ROUNDS)
    };
    let outcome = world.run(program).unwrap();
    (outcome.results[0], outcome.timeline.total())
}

#[test]
fn mpi_mpc_2_has_15_us() {
    let (latency, split) = ping_pong(MpiConfig::mpi2(), 0);
    println!("MPI-MPC 2: {latency:.3} us\n{split}");
    assert!((14.25..=15.75).contains(&latency), "{latency} us");
}

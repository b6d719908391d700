//! A token goes round a ring of eight boards and grows by a contribution of each.
//!
//! ```text
//!   rank 0 --> 1 --> 2 --> ... --> 7 --> back to 0
//! ```
//!
//! Verified against a loop in one process. With a file name, the timeline of the
//! run goes there: open it in Perfetto (ui.perfetto.dev) or chrome://tracing.
//!
//! cargo run --release --example mpi_ring --features alloc [-- ring.json]

use std::error::Error;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::api::Communicator;
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::mpi::world::{World, WorldConfig};
use multipc::time::Duration;

const RANKS: u32 = 8;
const ROUNDS: u32 = 3;
const TAG: i32 = 1;

/// What a rank adds in a round.
fn contribution(rank: u32, round: u32) -> u64 {
    u64::from(rank + 1) * u64::from(round + 1)
}

async fn ring<P: PointToPoint>(process: P) -> Result<Vec<u64>, MpiError> {
    let comm = Communicator::world(process);
    let (rank, size) = (comm.rank(), comm.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut token = Vec::new();
    for round in 0..ROUNDS {
        if rank > 0 {
            (token, _) = comm.recv((ROUNDS * size) as usize, previous, TAG).await?;
        }
        comm.compute(Duration::from_us(5)).await;
        token.push(contribution(rank, round));
        comm.send(&token, next, TAG).await?;
        if rank == 0 {
            (token, _) = comm.recv((ROUNDS * size) as usize, previous, TAG).await?;
        }
    }
    comm.barrier().await?;
    Ok(token)
}

fn main() -> Result<(), Box<dyn Error>> {
    let topology = Topology::ring(RANKS as usize)?;
    let config = WorldConfig::new(RANKS, MpiConfig::mpi2()).recorded();
    let mut world = World::on_boards(&topology, config)?;
    let outcome = world.run(ring)?;

    let serial: Vec<u64> = (0..ROUNDS)
        .flat_map(|round| (0..RANKS).map(move |rank| contribution(rank, round)))
        .collect();
    let tokens: Result<Vec<_>, _> = outcome.results.into_iter().collect();
    let token = tokens?.swap_remove(0);
    assert_eq!(token, serial, "the token has not collected what it should");

    let hops = u64::from(ROUNDS * RANKS);
    let time = outcome.ended.since(outcome.started);
    println!(
        "{ROUNDS} rounds of {RANKS} boards, {hops} hops in {:.1} us: {:.2} us a hop, 5 of them computing\n",
        time.as_us_f64(),
        time.as_us_f64() / hops as f64
    );
    println!("rank 0\n{}", outcome.timeline.lanes[0].breakdown);
    if let Some(path) = std::env::args().nth(1) {
        let mut json = String::new();
        outcome.timeline.write_chrome(&mut json)?;
        std::fs::write(&path, json)?;
        println!("\ntimeline: {path}");
    }
    Ok(())
}

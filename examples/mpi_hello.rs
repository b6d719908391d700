//! Two ranks on two boards: a question, an answer, and where the time went.
//!
//! cargo run --release --example mpi_hello --features alloc

use std::error::Error;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::api::{ANY_SOURCE, ANY_TAG, Communicator};
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::mpi::world::{World, WorldConfig};
use multipc::time::Duration;

async fn hello<P: PointToPoint>(process: P) -> Result<f64, MpiError> {
    let comm = Communicator::world(process);
    if comm.rank() == 0 {
        comm.send(&[6.0, 7.0], 1, 42).await?;
        let (answer, _) = comm.recv::<f64>(1, 1, ANY_TAG).await?;
        Ok(answer[0])
    } else {
        let (numbers, status) = comm.recv::<f64>(10, ANY_SOURCE, ANY_TAG).await?;
        println!(
            "rank 1 got {numbers:?}, {} bytes, from {}",
            status.length, status.source
        );
        // Two multiplications do not take this long; what stands for computing does.
        comm.compute(Duration::from_us(3)).await;
        let product = numbers.iter().product();
        comm.send(&[product], 0, 43).await?;
        Ok(product)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let boards = Topology::pair()?;
    for (name, layer) in [
        ("MPI-MPC 2", MpiConfig::mpi2()),
        ("MPI-MPC 1", MpiConfig::mpi1()),
    ] {
        println!("{name}");
        let mut world = World::on_boards(&boards, WorldConfig::new(2, layer))?;
        let outcome = world.run(hello)?;
        for (rank, result) in outcome.results.into_iter().enumerate() {
            assert_eq!(result, Ok(42.0), "rank {rank}");
        }
        println!("rank 0's time\n{}\n", outcome.timeline.lanes[0].breakdown);
    }
    Ok(())
}

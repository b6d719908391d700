//! Heat on a plate: Jacobi steps on a 2-D grid cut into blocks, with halo
//! exchange, on a 2 x 3 mesh of boards.
//!
//! The halo exchange is the same in every step, so its sends and receives are
//! persistent: their arguments are given once. Rows of a halo are contiguous, columns
//! are a strided layout. The result is compared bit for bit with a serial run: every
//! point is computed by the same operations in the same order.
//!
//! cargo run --release --example mpi_heat --features alloc

use std::error::Error;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::api::{Communicator, Layout, PROC_NULL, Peer, startall};
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::mpi::world::{World, WorldConfig};
use multipc::time::Duration;

/// Boards down and across.
const GRID: [usize; 2] = [2, 3];
/// Points of a block down and across, without its halo.
const BLOCK: [usize; 2] = [24, 32];
const STEPS: usize = 40;
/// Width of a block with its halo.
const WIDTH: usize = BLOCK[1] + 2;
/// Chosen: 100 million floating-point operations a second, five a point.
const POINT: Duration = Duration::from_ns(50);

/// Directions, each with the tag of what is sent that way.
const UP: i32 = 0;
const DOWN: i32 = 1;
const LEFT: i32 = 2;
const RIGHT: i32 = 3;

/// One hot edge (the top), one hot spot; all else is cold.
fn start(row: usize, column: usize) -> f64 {
    match (row, column) {
        (0, _) => 100.0,
        (17, 41) => 500.0,
        _ => 0.0,
    }
}

fn average(up: f64, left: f64, right: f64, down: f64) -> f64 {
    0.25 * (up + left + right + down)
}

fn at(row: usize, column: usize) -> usize {
    row * WIDTH + column
}

async fn heat<P: PointToPoint>(process: P) -> Result<Vec<f64>, MpiError> {
    let comm = Communicator::world(process);
    let rank = comm.rank() as usize;
    let (across, down) = (rank % GRID[1], rank / GRID[1]);
    let neighbour = |there: bool, rank: usize| match there {
        true => Peer::Rank(rank as u32),
        false => PROC_NULL,
    };
    let up = neighbour(down > 0, rank.wrapping_sub(GRID[1]));
    let below = neighbour(down + 1 < GRID[0], rank + GRID[1]);
    let left = neighbour(across > 0, rank.wrapping_sub(1));
    let right = neighbour(across + 1 < GRID[1], rank + 1);

    // The plate's own edge, which lies in the halo of the outer blocks, is fixed.
    let mut now: Vec<f64> = (0..BLOCK[0] + 2)
        .flat_map(|row| (0..WIDTH).map(move |column| (row, column)))
        .map(|(row, column)| start(down * BLOCK[0] + row, across * BLOCK[1] + column))
        .collect();
    let mut next = now.clone();
    // Where a message comes from and its tag, what of the block is sent, and where in
    // the halo what comes from that side goes to.
    let row = Layout::contiguous(BLOCK[1] as u64)?;
    let column = Layout::vector(BLOCK[0] as u32, 1, WIDTH as i64)?;
    let sides = [
        (up, UP, DOWN, &row, at(1, 1), at(0, 1)),
        (below, DOWN, UP, &row, at(BLOCK[0], 1), at(BLOCK[0] + 1, 1)),
        (left, LEFT, RIGHT, &column, at(1, 1), at(1, 0)),
        (
            right,
            RIGHT,
            LEFT,
            &column,
            at(1, BLOCK[1]),
            at(1, BLOCK[1] + 1),
        ),
    ];
    let mut sends = Vec::new();
    let mut receives = Vec::new();
    for (peer, out, back, shape, _, _) in sides {
        let edge = vec![0f64; shape.size() as usize];
        sends.push(comm.send_init(&edge, peer, out)?);
        receives.push(comm.recv_init::<f64>(edge.len(), peer, back)?);
    }
    for _ in 0..STEPS {
        // All receives first: every message finds its place waiting.
        startall(&mut receives)?;
        for (send, (_, _, _, shape, edge, _)) in sends.iter_mut().zip(sides) {
            send.data_mut().copy_from_slice(&shape.pack(&now, edge, 1)?);
        }
        startall(&mut sends)?;
        for (receive, (_, _, _, shape, _, halo)) in receives.iter_mut().zip(sides) {
            // Nobody sends nothing: the halo there is the plate's edge.
            match receive.wait().await? {
                Some((data, _)) if !data.is_empty() => shape.unpack(&data, &mut now, halo, 1)?,
                _ => {}
            }
        }
        for send in &mut sends {
            send.wait().await?;
        }
        for row in 1..=BLOCK[0] {
            for column in 1..=BLOCK[1] {
                let p = at(row, column);
                next[p] = average(now[p - WIDTH], now[p - 1], now[p + 1], now[p + WIDTH]);
            }
        }
        core::mem::swap(&mut now, &mut next);
        // The halo of the outer blocks is the plate's edge, in both copies.
        let points = (BLOCK[0] * BLOCK[1]) as u64;
        comm.compute(Duration::from_ps(POINT.ps() * points)).await;
    }
    Ok((1..=BLOCK[0])
        .flat_map(|row| now[at(row, 1)..][..BLOCK[1]].to_vec())
        .collect())
}

/// The whole plate in one process.
fn serial() -> Vec<Vec<f64>> {
    let (rows, columns) = (GRID[0] * BLOCK[0], GRID[1] * BLOCK[1]);
    let mut now: Vec<Vec<f64>> = (0..rows + 2)
        .map(|row| (0..columns + 2).map(|column| start(row, column)).collect())
        .collect();
    for _ in 0..STEPS {
        let old = now.clone();
        for row in 1..=rows {
            for column in 1..=columns {
                now[row][column] = average(
                    old[row - 1][column],
                    old[row][column - 1],
                    old[row][column + 1],
                    old[row + 1][column],
                );
            }
        }
    }
    now
}

fn main() -> Result<(), Box<dyn Error>> {
    let topology = Topology::mesh(&GRID)?;
    let ranks = (GRID[0] * GRID[1]) as u32;
    let mut world = World::on_boards(&topology, WorldConfig::new(ranks, MpiConfig::mpi2()))?;
    let outcome = world.run(heat)?;

    let reference = serial();
    let mut hottest = 0.0f64;
    for (rank, block) in outcome.results.into_iter().enumerate() {
        let (down, across) = (rank / GRID[1] * BLOCK[0], rank % GRID[1] * BLOCK[1]);
        for (i, value) in block?.into_iter().enumerate() {
            let (row, column) = (1 + down + i / BLOCK[1], 1 + across + i % BLOCK[1]);
            let wanted = reference[row][column];
            assert_eq!(value.to_bits(), wanted.to_bits(), "point {row}, {column}");
            hottest = hottest.max(value);
        }
    }
    let time = outcome.ended.since(outcome.started).as_us_f64();
    let points = ranks as usize * BLOCK[0] * BLOCK[1];
    println!("{points} points, {STEPS} steps on {ranks} boards: every bit as in a serial run");
    println!(
        "hottest point {hottest:.3}, {:.1} us a step\n",
        time / STEPS as f64
    );
    println!("all ranks\n{}", outcome.timeline.total());
    Ok(())
}

//! Conjugate gradient on the 2-D Poisson problem, rows of the grid in blocks,
//! on four boards: one halo exchange and two reductions of eight bytes a step.
//!
//! Compared with a serial run: the sums are added in another order, so the two
//! agree to rounding, not to the bit.
//!
//! cargo run --release --example mpi_cg --features alloc

use std::error::Error;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::api::{Communicator, Op, PROC_NULL, Peer};
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::mpi::world::{World, WorldConfig};
use multipc::time::Duration;

const RANKS: u32 = 4;
/// Points of the grid, down and across.
const SIDE: usize = 32;
/// Of the norm of the residual, against the one at the start.
const TOLERANCE: f64 = 1e-10;
const MOST_STEPS: usize = 500;
/// Chosen: 100 million floating-point operations a second.
const FLOP: Duration = Duration::from_ns(10);

fn source(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 3) % 11) as f64 - 5.0
}

/// The matrix times `x` (rows `1..=rows`, with a halo row on either side).
fn apply(x: &[f64], rows: usize) -> Vec<f64> {
    (1..=rows)
        .flat_map(|row| (0..SIDE).map(move |column| (row, column)))
        .map(|(row, column)| {
            let p = row * SIDE + column;
            let left = if column > 0 { x[p - 1] } else { 0.0 };
            let right = if column + 1 < SIDE { x[p + 1] } else { 0.0 };
            4.0 * x[p] - left - right - x[p - SIDE] - x[p + SIDE]
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a += factor * b`.
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

async fn solve<P: PointToPoint>(process: P) -> Result<(Vec<f64>, usize), MpiError> {
    let comm = Communicator::world(process);
    let (rank, size) = (comm.rank(), comm.size());
    let rows = SIDE / size as usize;
    let own = SIDE..SIDE + rows * SIDE;
    let above = if rank > 0 {
        Peer::Rank(rank - 1)
    } else {
        PROC_NULL
    };
    let below = if rank + 1 < size {
        Peer::Rank(rank + 1)
    } else {
        PROC_NULL
    };
    let sum = Op::sum();
    let flops = |count: usize| Duration::from_ps(FLOP.ps() * count as u64);

    let first = rank as usize * rows;
    let mut residual: Vec<f64> = (0..rows * SIDE)
        .map(|i| source(first + i / SIDE, i % SIDE))
        .collect();
    let mut x = vec![0.0; rows * SIDE];
    // The direction has a halo row above and below.
    let mut direction = vec![0.0; (rows + 2) * SIDE];
    direction[own.clone()].copy_from_slice(&residual);
    let mut norm = comm.allreduce(&[dot(&residual, &residual)], &sum).await?[0];
    let goal = norm * TOLERANCE * TOLERANCE;
    let mut steps = 0;
    while norm > goal && steps < MOST_STEPS {
        let top = direction[own.start..own.start + SIDE].to_vec();
        let bottom = direction[own.end - SIDE..own.end].to_vec();
        let (halo, _) = comm.sendrecv(&top, above, 0, SIDE, below, 0).await?;
        direction[own.end..][..halo.len()].copy_from_slice(&halo);
        let (halo, _) = comm.sendrecv(&bottom, below, 1, SIDE, above, 1).await?;
        direction[..halo.len()].copy_from_slice(&halo);

        let image = apply(&direction, rows);
        comm.compute(flops(8 * rows * SIDE)).await;
        let slope = comm
            .allreduce(&[dot(&direction[own.clone()], &image)], &sum)
            .await?[0];
        let step = norm / slope;
        add(&mut x, step, &direction[own.clone()]);
        add(&mut residual, -step, &image);
        comm.compute(flops(6 * rows * SIDE)).await;
        let next = comm.allreduce(&[dot(&residual, &residual)], &sum).await?[0];
        for (d, r) in direction[own.clone()].iter_mut().zip(&residual) {
            *d = r + next / norm * *d;
        }
        comm.compute(flops(2 * rows * SIDE)).await;
        norm = next;
        steps += 1;
    }
    Ok((x, steps))
}

fn serial() -> (Vec<f64>, usize) {
    let points = SIDE..SIDE + SIDE * SIDE;
    let mut residual: Vec<f64> = (0..SIDE * SIDE)
        .map(|i| source(i / SIDE, i % SIDE))
        .collect();
    let mut x = vec![0.0; SIDE * SIDE];
    let mut direction = vec![0.0; (SIDE + 2) * SIDE];
    direction[points.clone()].copy_from_slice(&residual);
    let mut norm = dot(&residual, &residual);
    let goal = norm * TOLERANCE * TOLERANCE;
    let mut steps = 0;
    while norm > goal && steps < MOST_STEPS {
        let image = apply(&direction, SIDE);
        let step = norm / dot(&direction[points.clone()], &image);
        add(&mut x, step, &direction[points.clone()]);
        add(&mut residual, -step, &image);
        let next = dot(&residual, &residual);
        for (d, r) in direction[points.clone()].iter_mut().zip(&residual) {
            *d = r + next / norm * *d;
        }
        norm = next;
        steps += 1;
    }
    (x, steps)
}

fn main() -> Result<(), Box<dyn Error>> {
    let topology = Topology::line(RANKS as usize)?;
    let mut world = World::on_boards(&topology, WorldConfig::new(RANKS, MpiConfig::mpi2()))?;
    let outcome = world.run(solve)?;

    let (wanted, serial_steps) = serial();
    let mut x = Vec::new();
    let mut steps = 0;
    for part in outcome.results {
        let (part, taken) = part?;
        x.extend(part);
        steps = taken;
    }
    let scale = wanted
        .iter()
        .fold(0.0f64, |most, value| most.max(value.abs()));
    let error = x
        .iter()
        .zip(&wanted)
        .fold(0.0f64, |most, (a, b)| most.max((a - b).abs()))
        / scale;
    assert_eq!(x.len(), wanted.len());
    assert!(error < 1e-9, "off by {error:e} of the largest value");
    assert!(
        steps.abs_diff(serial_steps) <= 1,
        "{steps} steps against {serial_steps}"
    );
    let time = outcome.ended.since(outcome.started).as_us_f64();
    println!(
        "{} unknowns on {RANKS} boards: {steps} steps (serial {serial_steps})",
        x.len()
    );
    println!(
        "within {error:.1e} of the serial result, {:.1} us a step\n",
        time / steps as f64
    );
    println!("all ranks\n{}", outcome.timeline.total());
    Ok(())
}

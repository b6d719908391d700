//! Gauss elimination with partial pivoting on four boards, in plain and in
//! stochastic arithmetic: the program that the machine's makers ran.
//!
//! Rows are dealt out one by one. For each column the ranks agree on the pivot
//! (a reduction of value and row), its owner broadcasts the row, everybody
//! eliminates. Both variants are compared bit for bit with a serial run; the
//! stochastic one also says how many digits of the solution are exact, and those
//! are compared with the true solution.
//!
//! cargo run --release --example mpi_gauss --features alloc

mod stochastic;

use std::error::Error;

use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::api::{Communicator, Op};
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::mpi::world::{World, WorldConfig};
use multipc::time::Duration;

use stochastic::{Number, Rounding};

const RANKS: usize = 4;
const SIZE: usize = 24;
/// Chosen: 100 million floating-point operations a second; an operation on three
/// samples with random rounding costs ten times as much.
const FLOP: Duration = Duration::from_ns(10);
const STOCHASTIC_FACTOR: u64 = 10;

/// Element of the matrix: the smaller `SIZE` eigenvalues are close to 0, so that
/// digits get lost.
fn element(row: usize, column: usize) -> f64 {
    let wave = ((row * 37 + column * 101) % 17) as f64 / 64.0;
    1.0 / (row + column + 1) as f64 + if row == column { 1e-6 } else { 1e-9 * wave }
}

/// The solution that is wanted.
fn truth(column: usize) -> f64 {
    1.0 + column as f64 / 8.0
}

/// A row of the matrix and its right-hand side.
fn row<N: Number>(row: usize) -> Vec<N> {
    let right = (0..SIZE)
        .map(|column| element(row, column) * truth(column))
        .sum();
    let left = (0..SIZE).map(|column| element(row, column));
    left.chain([right]).map(N::exact).collect()
}

/// Takes the pivot's multiple off a row.
fn eliminate<N: Number>(target: &mut [N], pivot: &[N], row: usize, step: usize) {
    let mut rounding = Rounding::of(row, step);
    let factor = target[step].divided(pivot[step], &mut rounding);
    for column in step + 1..=SIZE {
        target[column] = target[column].reduced(factor, pivot[column], &mut rounding);
    }
}

/// The unknown of a pivot row, once all later ones are known.
fn back<N: Number>(pivot: &[N], x: &[N], step: usize) -> N {
    let mut rounding = Rounding::of(SIZE, step);
    let mut sum = pivot[SIZE];
    for column in (step + 1..SIZE).rev() {
        sum = sum.reduced(pivot[column], x[column], &mut rounding);
    }
    sum.divided(pivot[step], &mut rounding)
}

async fn gauss<P: PointToPoint, N: Number>(process: P) -> Result<Vec<N>, MpiError> {
    let comm = Communicator::world(process);
    let (rank, size) = (comm.rank() as usize, comm.size() as usize);
    let factor = if N::default().digits().is_some() {
        STOCHASTIC_FACTOR
    } else {
        1
    };
    let flops = |count: usize| Duration::from_ps(FLOP.ps() * factor * count as u64);
    let mut rows: Vec<(usize, Vec<N>)> = (rank..SIZE).step_by(size).map(|r| (r, row(r))).collect();
    // Pivot rows in the order of the columns; those of this rank are kept.
    let mut order = Vec::with_capacity(SIZE);
    let mut kept: Vec<(usize, Vec<N>)> = Vec::new();
    for step in 0..SIZE {
        let best = rows.iter().fold([-1.0, SIZE as f64], |best, (r, values)| {
            let size = values[step].value().abs();
            if size > best[0] {
                [size, *r as f64]
            } else {
                best
            }
        });
        let chosen = comm.allreduce(&[best], &Op::maxloc()).await?[0][1] as usize;
        let owner = chosen % size;
        let mut pivot = vec![N::default(); SIZE + 1];
        if owner == rank {
            let index = rows.iter().position(|(r, _)| *r == chosen);
            let (_, values) = rows.remove(index.unwrap_or(0));
            pivot.copy_from_slice(&values);
            kept.push((step, values));
        }
        comm.bcast(&mut pivot[step..], owner as u32).await?;
        for (r, values) in &mut rows {
            eliminate(values, &pivot, *r, step);
        }
        comm.compute(flops(2 * rows.len() * (SIZE - step))).await;
        order.push(owner);
    }
    let mut x = vec![N::default(); SIZE];
    for step in (0..SIZE).rev() {
        if let Some((_, pivot)) = kept.iter().find(|(at, _)| *at == step) {
            x[step] = back(pivot, &x, step);
            comm.compute(flops(2 * (SIZE - step))).await;
        }
        comm.bcast(&mut x[step..=step], order[step] as u32).await?;
    }
    Ok(x)
}

fn serial<N: Number>() -> Vec<N> {
    let mut rows: Vec<(usize, Vec<N>)> = (0..SIZE).map(|r| (r, row(r))).collect();
    let mut pivots = Vec::new();
    for step in 0..SIZE {
        let mut best = 0;
        for (index, (_, values)) in rows.iter().enumerate() {
            if values[step].value().abs() > rows[best].1[step].value().abs() {
                best = index;
            }
        }
        let (_, pivot) = rows.remove(best);
        for (r, values) in &mut rows {
            eliminate(values, &pivot, *r, step);
        }
        pivots.push(pivot);
    }
    let mut x = vec![N::default(); SIZE];
    for step in (0..SIZE).rev() {
        x[step] = back(&pivots[step], &x, step);
    }
    x
}

/// Runs a variant, compares it with the serial run; the solution and the time in
/// microseconds.
fn variant<N: Number>() -> Result<(Vec<N>, f64), Box<dyn Error>> {
    let topology = Topology::star(RANKS)?;
    let mut world = World::on_boards(&topology, WorldConfig::new(RANKS as u32, MpiConfig::mpi2()))?;
    let outcome = world.run(gauss::<_, N>)?;
    let wanted = serial::<N>();
    for result in outcome.results {
        let same =
            bytemuck::cast_slice::<N, u8>(&result?) == bytemuck::cast_slice::<N, u8>(&wanted);
        assert!(same, "{}: not what a serial run computes", N::NAME);
    }
    let time = outcome.ended.since(outcome.started).as_us_f64();
    println!(
        "{} arithmetic: {SIZE} unknowns on {RANKS} boards in {time:.0} us,",
        N::NAME
    );
    println!(
        "every bit as in a serial run\n{}\n",
        outcome.timeline.total()
    );
    Ok((wanted, time))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (plain, plain_us) = variant::<f64>()?;
    let (stochastic, stochastic_us) = variant::<[f64; 3]>()?;
    println!(" unknown        true         plain    exact digits   digits right in plain");
    for column in (0..SIZE).step_by(SIZE / 8) {
        let digits = stochastic[column].digits().unwrap_or_default();
        let error = ((plain[column] - truth(column)) / truth(column)).abs();
        let right = if error == 0.0 { 16.0 } else { -error.log10() };
        println!(
            "{column:>8}  {:>10.4}  {:>12.9}  {digits:>14.1}  {right:>22.1}",
            truth(column),
            plain[column]
        );
        assert!(
            right > digits - 2.0,
            "unknown {column}: {digits} digits promised, {right} right"
        );
    }
    println!("\nstochastic / plain time: {:.2}", stochastic_us / plain_us);
    Ok(())
}

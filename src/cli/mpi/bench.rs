//! `multipc mpi bench`: the usual micro-benchmarks, in the usual rows.

use std::boxed::Box;
use std::error::Error;
use std::string::String;
use std::vec::Vec;
use std::{format, println};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::kernels::{self, Collective};
use super::{BadUsage, Layer, machine};
use crate::mpi::process::MpiError;
use crate::mpi::world::media::Boards;
use crate::mpi::world::{Outcome, World, WorldConfig};

/// Micro-benchmarks in the row format of the OSU benchmarks.
///
/// Rows can be compared with those of a real machine: sizes in bytes, latencies
/// in microseconds of simulated time, bandwidths in MB/s (10^6 bytes).
#[derive(Args, Clone, Debug)]
pub struct BenchArgs {
    /// Which ones [default: all]
    #[arg(value_enum)]
    pub which: Vec<Which>,
    /// The message layer: 1 (kernel) or 2 (user level)
    #[arg(long, value_enum, default_value = "2")]
    pub layer: Layer,
    /// Ranks of the collectives, one a board
    #[arg(long, default_value_t = 8, value_name = "N",
          value_parser = clap::value_parser!(u32).range(2..=128))]
    pub ranks: u32,
    /// The machine of the collectives, as of `multipc topology`; the others run on
    /// a pair [default: a router with all boards, from 9 ranks on a hypercube or a
    /// tree]
    #[arg(long, value_name = "SHAPE")]
    pub machine: Option<String>,
    /// Largest message of point-to-point benchmarks, bytes
    #[arg(long, default_value_t = 1 << 20, value_name = "BYTES",
          value_parser = clap::value_parser!(u32).range(1..=4 << 20))]
    pub max: u32,
    /// Largest message of collectives, bytes
    #[arg(long, default_value_t = 16_384, value_name = "BYTES",
          value_parser = clap::value_parser!(u32).range(4..=1 << 20))]
    pub max_collective: u32,
    /// Rounds of short messages
    #[arg(long, default_value_t = 10, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
}

/// A benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Which {
    /// Half of a round trip
    Latency,
    /// Windows of messages one way
    Bw,
    /// Windows of messages both ways
    Bibw,
    /// Messages a second, one way
    MessageRate,
    Barrier,
    Ibarrier,
    Bcast,
    Reduce,
    Allreduce,
    Scan,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    ReduceScatter,
}

impl Which {
    fn collective(self) -> Option<Collective> {
        let name = self.to_possible_value()?;
        Collective::ALL
            .into_iter()
            .find(|collective| collective.name() == name.get_name())
    }
}

/// Messages beyond this many bytes take fewer rounds, as in the model.
const LONG: u32 = 8_192;
const FEW: u32 = 2;

pub fn run(args: &BenchArgs) -> Result<bool, Box<dyn Error>> {
    let chosen = if args.which.is_empty() {
        Which::value_variants()
    } else {
        &args.which[..]
    };
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {msg}")?);
    let pair = chosen.iter().any(|which| which.collective().is_none());
    if pair {
        let mut world = boards(args, 2)?;
        for which in chosen.iter().filter(|which| which.collective().is_none()) {
            point_to_point(&mut world, *which, args, &bar)?;
        }
    }
    let collectives: Vec<Collective> = chosen.iter().filter_map(|w| w.collective()).collect();
    if !collectives.is_empty() {
        let mut world = boards(args, args.ranks)?;
        for which in collectives {
            collective(&mut world, which, args, &bar)?;
        }
    }
    bar.finish_and_clear();
    Ok(true)
}

fn boards(args: &BenchArgs, ranks: u32) -> Result<World<Boards>, Box<dyn Error>> {
    let shape = args.machine.as_deref();
    let topology = machine(shape.filter(|_| ranks > 2), ranks)?;
    let boards = topology.generators().len();
    if boards > ranks as usize && shape.is_some() {
        let needed =
            format!("--machine has {boards} boards for {ranks} ranks, allowed 1 to {ranks} boards");
        return Err(BadUsage(needed).into());
    }
    let mut config = WorldConfig::new(ranks, args.layer.config());
    if ranks == 2 {
        // Both directions of a window, which is largest in bytes at one of two
        // sizes.
        let max = args.max as usize;
        let long = kernels::window(max) * max;
        let short = kernels::WINDOW * max.min(kernels::LONG);
        config.user_bytes = config.user_bytes.max(3 * long.max(short) as u64);
    }
    Ok(World::on_boards(&topology, config)?)
}

fn sizes(from: u32, max: u32) -> impl Iterator<Item = u32> {
    let zero = (from == 0).then_some(0);
    let powers = (0..=22).map(|power| 1u32 << power);
    zero.into_iter()
        .chain(powers.filter(move |size| *size >= from && *size <= max))
}

fn point_to_point(
    world: &mut World<Boards>,
    which: Which,
    args: &BenchArgs,
    bar: &ProgressBar,
) -> Result<(), Box<dyn Error>> {
    let name = args.layer.name();
    bar.suspend(|| match which {
        Which::Latency => {
            println!(
                "# {name} Latency Test\n{:<10}{:>18}",
                "# Size", "Latency (us)"
            );
        }
        Which::Bw => {
            println!(
                "# {name} Bandwidth Test\n{:<10}{:>18}",
                "# Size", "Bandwidth (MB/s)"
            );
        }
        Which::Bibw => println!(
            "# {name} Bi-Directional Bandwidth Test\n{:<10}{:>18}",
            "# Size", "Bandwidth (MB/s)"
        ),
        _ => println!(
            "# {name} Multiple Bandwidth / Message Rate Test\n# [ pairs: 1 ] [ window size: {}, from {} bytes on {} ]\n\
             {:<10}{:>18}{:>18}",
            kernels::WINDOW,
            kernels::LONG,
            kernels::LONG_WINDOW,
            "# Size",
            "MB/s",
            "Messages/s"
        ),
    });
    let from = u32::from(which != Which::Latency);
    for bytes in sizes(from, args.max) {
        bar.set_message(format!("{bytes} bytes"));
        bar.tick();
        let rounds = if bytes > LONG { FEW } else { args.rounds };
        // A window is 64 messages: one or two say as much as many.
        let windows = if bytes > LONG { 1 } else { FEW };
        let time = match which {
            Which::Latency => first(world.run(|p| kernels::latency(p, bytes as usize, rounds))?)?,
            Which::Bibw => {
                first(world.run(|p| kernels::stream(p, bytes as usize, windows, true))?)?
            }
            _ => first(world.run(|p| kernels::stream(p, bytes as usize, windows, false))?)?,
        };
        let rate = f64::from(bytes) / time;
        bar.suspend(|| match which {
            Which::Latency => println!("{bytes:<10}{time:>18.2}"),
            Which::Bw | Which::Bibw => println!("{bytes:<10}{rate:>18.2}"),
            _ => println!("{bytes:<10}{rate:>18.2}{:>18.2}", 1e6 / time),
        });
    }
    bar.suspend(|| println!());
    Ok(())
}

fn collective(
    world: &mut World<Boards>,
    which: Collective,
    args: &BenchArgs,
    bar: &ProgressBar,
) -> Result<(), Box<dyn Error>> {
    let title = format!(
        "# {} {} Latency Test, {} ranks",
        args.layer.name(),
        which.name(),
        args.ranks
    );
    bar.suspend(|| {
        if which.has_sizes() {
            println!("{title}\n{:<10}{:>18}", "# Size", "Avg Latency(us)");
        } else {
            println!("{title}\n{:>18}", "# Avg Latency(us)");
        }
    });
    let sizes: Vec<u32> = if which.has_sizes() {
        sizes(4, args.max_collective).collect()
    } else {
        [0].into()
    };
    for bytes in sizes {
        bar.set_message(format!("{} {bytes} bytes", which.name()));
        bar.tick();
        let rounds = if bytes > LONG { FEW } else { args.rounds };
        let outcome = world.run(|p| kernels::collective(p, which, bytes as usize, rounds))?;
        let times: Result<Vec<f64>, MpiError> = outcome.results.into_iter().collect();
        let times = times?;
        let average = times.iter().sum::<f64>() / times.len().max(1) as f64;
        bar.suspend(|| {
            if which.has_sizes() {
                println!("{bytes:<10}{average:>18.2}");
            } else {
                println!("{average:>18.2}");
            }
        });
    }
    bar.suspend(|| println!());
    Ok(())
}

/// What rank 0 measured.
fn first(outcome: Outcome<Result<f64, MpiError>>) -> Result<f64, MpiError> {
    let times: Result<Vec<f64>, MpiError> = outcome.results.into_iter().collect();
    Ok(times?.first().copied().unwrap_or_default())
}

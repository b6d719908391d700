//! The arguments of the command line.

use std::format;
use std::path::PathBuf;
use std::string::{String, ToString};

use clap::{Args, Parser, Subcommand};

use super::maspar::MasparArgs;
use super::mpi::MpiArgs;
use super::topology::TopologyArgs;

/// A whole RDMA cluster you can hold in your hand.
///
/// Without a subcommand: boots two boards chip by chip, runs the real driver,
/// and prints latency and throughput of PUT beside what was measured on the
/// real machine in 2000. Exit status 0: inside the accepted band; 1: a point
/// left it; 2: bad usage.
#[derive(Debug, Parser)]
#[command(name = "multipc", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(flatten)]
    pub put: PutArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What else there is.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The MasPar global router: profiles, schedules, pictures
    Maspar(MasparArgs),
    Topology(TopologyArgs),
    /// The message layer: ping-pong, micro-benchmarks, programs
    Mpi(MpiArgs),
}

/// Options of the main job.
#[derive(Args, Clone, Debug)]
pub struct PutArgs {
    /// Print one JSON object instead of tables
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the throughput points as CSV instead of tables
    #[arg(long)]
    pub csv: bool,
    /// Leave the table of throughput points out
    #[arg(long)]
    pub brief: bool,
    /// Draw the curve into FILE (SVG) [default: put.svg, none with --json or --csv]
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Record PCI buses, registers and links of one latency round in FILE (VCD)
    #[arg(long, value_name = "FILE")]
    pub vcd: Option<PathBuf>,
    /// Pages a point of the throughput curve (fewer of large pages, from 400 kB on)
    #[arg(long, default_value_t = 200, value_name = "N",
          value_parser = clap::value_parser!(u32).range(8..=1001))]
    pub pages: u32,
    /// Rounds of the latency ping-pong
    #[arg(long, default_value_t = 100, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rounds: u32,
    /// Length of the cable between the boards, in metres
    #[arg(long, default_value_t = 3.0, value_name = "METRES", value_parser = metres)]
    pub cable: f64,
}

/// A length that coax can have.
fn metres(text: &str) -> Result<f64, String> {
    const MOST: f64 = 5.0;
    match text.parse::<f64>() {
        Ok(metres) if (0.0..=MOST).contains(&metres) => Ok(metres),
        Ok(metres) => Err(format!("{metres} m, allowed 0 to {MOST} m of coax")),
        Err(error) => Err(error.to_string()),
    }
}

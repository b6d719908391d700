//! `multipc mpi`: the message layer on simulated boards.

mod app;
mod bench;
mod gantt;
mod kernels;
mod pingpong;
mod plot;

use std::boxed::Box;
use std::error::Error;
use std::format;
use std::path::Path;
use std::string::{String, ToString};

use clap::{Args, Subcommand, ValueEnum};

use super::BadUsage;
use crate::fabric::topology::{Shape, Topology};
use crate::mpi::MpiConfig;

/// Arguments of `multipc mpi`.
#[derive(Args, Clone, Debug)]
pub struct MpiArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    Pingpong(pingpong::PingpongArgs),
    Bench(bench::BenchArgs),
    App(app::AppArgs),
}

/// The two published message layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layer {
    /// MPI-MPC 1: system calls and interrupts
    #[value(name = "1")]
    Kernel,
    /// MPI-MPC 2: user level, polling
    #[value(name = "2")]
    User,
}

impl Layer {
    fn config(self) -> MpiConfig {
        match self {
            Self::Kernel => MpiConfig::mpi1(),
            Self::User => MpiConfig::mpi2(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Kernel => "MPI-MPC 1",
            Self::User => "MPI-MPC 2",
        }
    }
}

/// Runs the subcommand; true when every check held.
pub fn run(args: &MpiArgs) -> Result<bool, Box<dyn Error>> {
    match &args.command {
        Command::Pingpong(args) => pingpong::run(args),
        Command::Bench(args) => bench::run(args),
        Command::App(args) => app::run(args),
    }
}

/// The machine of a shape name, or a star of as many boards as there are ranks
/// up to a router's eight ports, beyond that a hypercube or a tree.
fn machine(shape: Option<&str>, ranks: u32) -> Result<Topology<'static>, Box<dyn Error>> {
    let name = match shape {
        Some(name) => name.to_string(),
        None => default_shape(ranks),
    };
    let wrong = |error: &dyn Error| BadUsage(format!("'{name}' is no machine: {error}"));
    let shape: Shape = name.parse().map_err(|error| wrong(&error))?;
    Ok(shape.build().map_err(|error| wrong(&error))?)
}

fn default_shape(ranks: u32) -> String {
    match ranks {
        0..=2 => "pair".to_string(),
        3..=8 => format!("star:{ranks}"),
        ranks if ranks.is_power_of_two() && ranks <= 128 => {
            format!("hypercube:{}", ranks.trailing_zeros())
        }
        ranks => format!("tree:{ranks}x6"),
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

//! The command line (feature `cli`).
//!
//! Exit status: 0, or 1 when a check failed (also: a file could not be
//! written), or 2 for bad usage.

mod args;
pub mod maspar;
mod mpi;
mod plot;
mod put;
mod topology;
mod vcd;

use core::fmt;
use std::eprintln;
use std::string::String;

use clap::Parser;

use args::{Cli, Command};

/// Runs the command line with the process's arguments; returns its exit status.
pub fn main() -> i32 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // To standard output for --help, else to standard error; a closed
            // pipe is nothing to complain about.
            let _ = error.print();
            return error.exit_code();
        }
    };
    let outcome = match &cli.command {
        None => put::run(&cli.put),
        Some(Command::Mpi(args)) => mpi::run(args),
        Some(Command::Topology(args)) => topology::run(args),
        Some(Command::Maspar(args)) => return maspar::run(args),
    };
    match outcome {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            eprintln!("multipc: {error}");
            if error.is::<BadUsage>() { 2 } else { 1 }
        }
    }
}

/// Arguments that make no sense.
#[derive(Debug)]
struct BadUsage(String);

impl fmt::Display for BadUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for BadUsage {}

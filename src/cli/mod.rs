//! The command line (feature `cli`).
//!
//! Exit status: 0, or 1 when a check failed (also: a file could not be
//! written), or 2 for bad usage.

mod args;
pub mod maspar;
mod plot;
mod put;
mod vcd;

use std::eprintln;

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
        Some(Command::Maspar(args)) => return maspar::run(args),
    };
    match outcome {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            eprintln!("multipc: {error}");
            1
        }
    }
}

//! The command line (feature `cli`).

use std::format;

use clap::{Parser, Subcommand};

pub mod maspar;

#[derive(Debug, Parser)]
#[command(name = "multipc", version, about)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The MasPar global router: profiles, schedules, pictures.
    Maspar(maspar::MasparArgs),
}

/// Runs the command line with the process's arguments; returns its exit status.
pub fn main() -> i32 {
    match Args::parse().command {
        Command::Maspar(args) => maspar::run(&args),
    }
}

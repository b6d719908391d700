//! `multipc maspar`: profiles, schedules, the table and pictures of the
//! published work, waveforms.

mod input;
mod picture;
mod route;
mod schedule;
mod table;
mod wave;

use std::eprintln;
use std::fmt::Display;
use std::format;
use std::io::{self, Write};
use std::path::Path;
use std::string::{String, ToString};

use clap::{Args, Subcommand};

/// Arguments of `multipc maspar`.
#[derive(Args, Clone, Debug)]
pub struct MasparArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Run a pattern in the hardware loop: cycles, profile, ticks, time.
    Route(route::RouteArgs),
    /// Find a schedule: a phase for each PE, every phase one router cycle.
    Schedule(schedule::ScheduleArgs),
    /// The published results beside the model's.
    Table(table::TableArgs),
    /// The published figures 2 to 6 as pictures.
    Figure(picture::FigureArgs),
    /// One ropen and rfetchc32 tick by tick, as a waveform.
    Wave(wave::WaveArgs),
}

/// Runs `multipc maspar`; returns the exit status: 0, 1 when a check failed,
/// 2 for bad usage or input.
pub fn run(args: &MasparArgs) -> i32 {
    let mut out = io::stdout().lock();
    let result = match &args.command {
        Command::Route(args) => route::run(args, &mut out),
        Command::Schedule(args) => schedule::run(args, &mut out),
        Command::Table(args) => table::run(args, &mut out),
        Command::Figure(args) => picture::run(args, &mut out),
        Command::Wave(args) => wave::run(args, &mut out),
    };
    match result.and_then(|()| out.flush().map_err(Failure::from)) {
        Ok(()) => 0,
        Err(Failure::Pipe) => 0,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}");
            2
        }
        Err(Failure::Check(message)) => {
            eprintln!("error: {message}");
            1
        }
    }
}

/// Why a command ends early.
#[derive(Debug)]
enum Failure {
    /// Bad arguments or input.
    Usage(String),
    /// The input is well formed, but a check on it failed.
    Check(String),
    /// The reader of our output has gone.
    Pipe,
}

impl Failure {
    fn usage(error: impl Display) -> Self {
        Self::Usage(error.to_string())
    }

    fn check(error: impl Display) -> Self {
        Self::Check(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Pipe,
            _ => Self::Usage(error.to_string()),
        }
    }
}

/// Reads a text file; the error names it.
fn read_file(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))
}

/// Writes a file; the error names it.
fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    std::fs::write(path, contents)
        .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display())))
}

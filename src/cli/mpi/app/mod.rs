//! `multipc mpi app FILE`: a program written as a text file.

mod collective;
mod parse;
mod run;
#[cfg(test)]
mod tests;

use std::boxed::Box;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{eprintln, format, fs, println};

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};

use super::{BadUsage, Layer, gantt, machine, write};
use crate::fabric::faults::Faults;
use crate::mpi::api::Algorithms;
use crate::mpi::reference::ReferenceError;
use crate::mpi::timeline::{Part, Timeline};
use crate::mpi::world::media::{Medium, ReliableBoards, ReliableConfig};
use crate::mpi::world::{World, WorldConfig};
use crate::time::Duration;
use collective::Call;
use run::{RankError, Report};

/// Runs a message-passing program from a text file, and says where each
/// microsecond went.
///
/// One operation a line: WHO OPERATION ARGUMENTS. WHO is `all`, `even`, `odd`, or
/// ranks as `0,2-5`. Peers are ranks, or relative: `+1`, `-1` (round the ring),
/// `^1` (exclusive or).
///
///   0 send 1 1024            bytes, then optionally `tag 5`; also ssend, isend
///   1 recv any 1024          also irecv; a source or `any`
///   all sendrecv +1 -1 4096  to, from, bytes
///   all waitall              completes isend and irecv
///   all compute 12.5us       ns, us, ms, s
///   all barrier              ibarrier, bcast ROOT BYTES, reduce ROOT BYTES,
///                            allreduce, scan, allgather, alltoall,
///                            reduce_scatter BYTES, gather, scatter ROOT BYTES
///   repeat 10 ... end        the lines between, ten times
///   ranks 8                  first line, 1 to 128; or --ranks
///   # words                  a comment, behind an operation too
///
/// What send, sendrecv and their kin move is checked byte by byte; what collectives
/// give is compared with the same program over plain memory, with other algorithms.
/// Exit status 0: all as it has to be; 1: not so, or the program cannot end; 2: bad
/// usage.
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct AppArgs {
    /// The program
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The message layer: 1 (kernel) or 2 (user level)
    #[arg(long, value_enum, default_value = "2")]
    pub layer: Layer,
    /// Ranks [default: what the file says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=128))]
    pub ranks: Option<u32>,
    /// The machine, as of `multipc topology`; several ranks share a board when
    /// it has fewer
    #[arg(long, value_name = "SHAPE")]
    pub machine: Option<String>,
    /// Faults to inject (TOML; the format is in hw/doc/faults.md); the boards then
    /// run the layer that repairs what a link or a bus spoils
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// Write the timeline for Perfetto or chrome://tracing (JSON)
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write the timeline for ViTE or PajeNG (Paje)
    #[arg(long, value_name = "FILE")]
    pub paje: Option<PathBuf>,
    /// Draw the timeline (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Draw only so much of its beginning, microseconds
    #[arg(long, value_name = "US", requires = "plot")]
    pub window: Option<u32>,
}

pub fn run(args: &AppArgs) -> Result<bool, Box<dyn Error>> {
    let path = args.file.display();
    let text = fs::read_to_string(&args.file)
        .map_err(|error| BadUsage(format!("cannot read {path}: {error}")))?;
    let program =
        parse::program(&text, args.ranks).map_err(|error| BadUsage(format!("{path}:{error}")))?;
    let topology = machine(args.machine.as_deref(), program.ranks)?;
    let mut config = WorldConfig::new(program.ranks, args.layer.config());
    config.record = args.trace.is_some() || args.paje.is_some() || args.plot.is_some();
    let faults = args.faults.as_deref().map(read_faults).transpose()?;
    let expected = collective::expected(&program);
    let play = |process| run::rank(process, program.clone(), Algorithms::default());
    let (outcome, repairs) = match faults {
        None => {
            let mut world = World::on_boards(&topology, config)?;
            let outcome = world.run(play)?;
            (outcome, None)
        }
        Some(faults) => {
            let reliable = ReliableConfig::default();
            let mut world = World::on_reliable_boards(&topology, config, reliable)?;
            let machine = world.medium_mut().machine_mut();
            machine
                .set_faults(faults)
                .map_err(|error| BadUsage(error.to_string()))?;
            let outcome = world.run(play)?;
            (outcome, Some(repairs(world.medium())))
        }
    };

    let timeline = &outcome.timeline;
    println!(
        "{} ranks on {} boards, {}: {:.3} us\n",
        program.ranks,
        topology.generators().len(),
        args.layer.name(),
        outcome.ended.since(outcome.started).as_us_f64()
    );
    println!("{}", table(timeline));
    if let Some(repairs) = repairs {
        println!("{repairs}");
    }
    if let Some(path) = &args.trace {
        let mut text = String::new();
        timeline.write_chrome(&mut text)?;
        write(path, &text)?;
        println!("trace: {} (open in ui.perfetto.dev)", path.display());
    }
    if let Some(path) = &args.paje {
        let mut text = String::new();
        timeline.write_paje(&mut text)?;
        write(path, &text)?;
        println!("trace: {} (Paje)", path.display());
    }
    if let Some(path) = &args.plot {
        let window = args.window.map(|us| Duration::from_us(us.into()));
        write(path, &gantt::svg(timeline, window))?;
        println!("plot: {}", path.display());
    }
    let (line, wrong) = verdict(outcome.results, &expected);
    println!("{line}");
    for error in &wrong {
        eprintln!("multipc: {error}");
    }
    Ok(wrong.is_empty())
}

/// What was checked, and what was found wrong.
fn verdict(
    results: Vec<Result<Report, RankError>>,
    expected: &Result<Vec<Vec<Call>>, ReferenceError>,
) -> (String, Vec<String>) {
    let (mut messages, mut calls) = (0, 0);
    let mut wrong = Vec::new();
    for (rank, result) in results.into_iter().enumerate() {
        let report = match result {
            Ok(report) => report,
            Err(error) => {
                wrong.push(format!("rank {rank}: {error}"));
                continue;
            }
        };
        messages += report.messages;
        let Ok(expected) = expected else { continue };
        let expected = expected.get(rank).map_or(&[][..], Vec::as_slice);
        let (made, wanted) = (report.calls.len(), expected.len());
        if made != wanted {
            wrong.push(format!(
                "rank {rank}: {made} collective calls, {wanted} over the reference"
            ));
            continue;
        }
        calls += made;
        if let Some((number, which)) = collective::first_wrong(&report.calls, expected) {
            wrong.push(format!(
                "rank {rank}: what {} (its collective call {number}) gave is not the reference's",
                which.name()
            ));
        }
    }
    let mut line = format!(
        "checked: bytes of {messages} messages, results of {calls} collective calls of ranks \
         against the reference"
    );
    if let Err(error) = expected {
        line = format!(
            "checked: bytes of {messages} messages; collective calls were not, the reference \
             does not end: {error}"
        );
    }
    (line, wrong)
}

fn read_faults(path: &Path) -> Result<Faults<'static>, BadUsage> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| BadUsage(format!("cannot read {name}: {error}")))?;
    Faults::from_toml(&text).map_err(|error| BadUsage(format!("{name}: {error}")))
}

/// What was spoilt, and what it took to repair it.
fn repairs(boards: &ReliableBoards) -> String {
    let faults = boards.machine().faults().map_or(0, Faults::total);
    let (mut resent, mut restarts, mut failed) = (0, 0, 0);
    for stats in (0..boards.nodes()).filter_map(|node| boards.stats(node)) {
        resent += stats.resent;
        restarts += stats.restarts;
        failed += stats.failed;
    }
    format!(
        "faults {faults}, messages sent again {resent}, boards restarted {restarts}, \
         transfers given up {failed}"
    )
}

/// Microseconds of each rank, part by part; parts that nobody spent time on are
/// left out.
fn table(timeline: &Timeline) -> Table {
    let total = timeline.total();
    let used = || {
        Part::ALL
            .into_iter()
            .filter(|part| total.get(*part).ps() > 0)
    };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let names = used().map(|part| Cell::new(part.name()));
    table.set_header([Cell::new("us")].into_iter().chain(names));
    for (rank, lane) in timeline.lanes.iter().enumerate() {
        let times = used().map(|part| {
            Cell::new(format!("{:.2}", lane.breakdown.get(part).as_us_f64()))
                .set_alignment(CellAlignment::Right)
        });
        let name = Cell::new(format!("rank {rank}"));
        table.add_row([name].into_iter().chain(times));
    }
    table
}

//! `multipc maspar schedule`.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::fmt::Write as _;
use std::format;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::time::Instant;
use std::vec;
use std::vec::Vec;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::input::{Machine, PatternArgs};
use super::{Failure, picture, read_file, write_file};
use crate::maspar::schedule::{
    Best, Bound, Colouring, FirstFit, Generation, Genetic, GeneticConfig, HardwareLoop, NO_PHASE,
    Order, ParityMasks, Schedule, ScheduleError, Scheduler, one_sender_each_by_load,
};
use crate::maspar::{Pattern, Router};

/// How a schedule is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Method {
    /// The first of the direct methods that meets the bound.
    Best,
    /// The hardware loop's own cycles.
    Loop,
    /// First fit in the order of the hardware cycles.
    FirstFit,
    /// First fit in the order of the ids.
    FirstFitId,
    /// First fit in random order.
    FirstFitRandom,
    /// Parity masks, for affine patterns.
    Masks,
    /// Edge colouring with Kempe repair.
    Colouring,
    /// The published genetic search.
    Genetic,
}

/// Arguments of `multipc maspar schedule`.
#[derive(Args, Clone, Debug)]
pub(super) struct ScheduleArgs {
    #[command(flatten)]
    pattern: PatternArgs,
    #[command(flatten)]
    machine: Machine,
    /// How to find it.
    #[arg(long, value_enum, default_value_t = Method::Best)]
    method: Method,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Generations of the genetic search.
    #[arg(long, default_value_t = 440)]
    generations: u32,
    /// Stop the genetic search at this many phases.
    #[arg(long, value_name = "PHASES")]
    stop_at: Option<u32>,
    /// A store: keep one sender for each target PE.
    #[arg(long)]
    store: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the phases as CSV: PE, phase.
    #[arg(long)]
    csv: bool,
    /// Save the schedule as JSON.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Load a schedule and check it instead of finding one.
    #[arg(long, value_name = "FILE")]
    load: Option<PathBuf>,
    /// Write the phase array as a program embeds it: .c, .h or .rs.
    #[arg(long, value_name = "FILE")]
    emit: Option<PathBuf>,
    /// Draw the phase of each PE (.png) or the phases' sizes (.svg).
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// A schedule on disk. `phase[id]`, -1 for PEs that do not take part.
#[derive(Debug, Deserialize, Serialize)]
struct Saved {
    pattern: String,
    pes: usize,
    phases: u32,
    phase: Vec<i32>,
}

/// A schedule, what found it, in how many seconds.
pub(super) struct Answer {
    pub(super) schedule: Schedule,
    pub(super) method: String,
    pub(super) seconds: f64,
}

/// Finds a schedule; `on` is told of each generation of a genetic search.
pub(super) fn find(
    router: &mut Router,
    pattern: &Pattern,
    method: Method,
    genetic: GeneticConfig,
    mut on: impl FnMut(&Generation),
) -> Result<Answer, ScheduleError> {
    let start = Instant::now();
    let seed = genetic.seed;
    let mut with = |scheduler: &mut dyn Scheduler| {
        let schedule = scheduler.schedule(router, pattern)?;
        Ok((schedule, scheduler.name().to_owned()))
    };
    let (schedule, method) = match method {
        Method::Best => with(&mut *Box::new(Best::new(seed))),
        Method::Loop => with(&mut HardwareLoop),
        Method::FirstFit => with(&mut FirstFit::new(Order::Hardware)),
        Method::FirstFitId => with(&mut FirstFit::new(Order::Id)),
        Method::FirstFitRandom => with(&mut FirstFit::new(Order::Random(seed))),
        Method::Masks => with(&mut ParityMasks {
            seed,
            ..ParityMasks::default()
        }),
        Method::Colouring => with(&mut *Box::new(Colouring::new(seed))),
        Method::Genetic => {
            let search = Genetic::new(genetic);
            search
                .search(router, pattern, |generation| {
                    on(generation);
                    true
                })
                .map(|schedule| (schedule, search.name().to_owned()))
        }
    }?;
    Ok(Answer {
        schedule,
        method,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// A bar on a terminal, nothing elsewhere.
pub(super) fn progress(unit: &str, length: u32) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(u64::from(length));
    let template = format!("{{bar:40}} {unit} {{pos}}/{{len}}  {{msg}}  {{eta}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

pub(super) fn run(args: &ScheduleArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut router = args.machine.router()?;
    let mut pattern = args.pattern.pattern(router.size())?;
    let width = args.pattern.width()?;
    if args.store {
        *pattern = one_sender_each_by_load(&router, *pattern).map_err(Failure::usage)?;
    }
    let bound = Bound::of(&router, &pattern).map_err(Failure::usage)?;
    let loop_cycles = router.timetable(&pattern).map_err(Failure::usage)?.cycles();

    let answer = match &args.load {
        Some(path) => load(path, &mut router, &pattern)?,
        None => {
            let genetic = GeneticConfig {
                seed: args.seed,
                generations: args.generations,
                stop_at: args.stop_at,
                ..GeneticConfig::default()
            };
            let bar = match args.method {
                Method::Genetic => progress("generation", args.generations),
                _ => ProgressBar::hidden(),
            };
            let answer = find(&mut router, &pattern, args.method, genetic, |generation| {
                bar.set_position(u64::from(generation.number) + 1);
                bar.set_message(format!("best {}", generation.best));
            });
            bar.finish_and_clear();
            answer.map_err(Failure::check)?
        }
    };
    let schedule = &answer.schedule;
    let mut counts = vec![0; schedule.phases() as usize];
    let phase_counts = schedule.profile(&mut counts);

    if let Some(path) = &args.save {
        let phase = |&p: &u16| if p == NO_PHASE { -1 } else { i32::from(p) };
        let saved = Saved {
            pattern: args.pattern.name(),
            pes: router.size().pes(),
            phases: schedule.phases(),
            phase: schedule.phase().iter().map(phase).collect(),
        };
        write_file(path, serde_json::to_string(&saved).map_err(Failure::usage)?)?;
    }
    if let Some(path) = &args.emit {
        write_file(path, emit(path, &args.pattern.name(), schedule)?)?;
    }
    if let Some(path) = &args.plot {
        draw(path, &args.pattern.name(), &router, schedule, phase_counts)?;
    }
    let costs = router.config().costs;
    let ticks = costs.single_cycle_phases(schedule.phases(), width);
    if args.json {
        let value = json!({
            "pattern": args.pattern.name(),
            "pes": router.size().pes(),
            "messages": pattern.messages(),
            "method": answer.method,
            "phases": schedule.phases(),
            "bound": bound.phases,
            "bound_reason": bound.to_string(),
            "loop_cycles": loop_cycles,
            "seconds": answer.seconds,
            "ticks": ticks,
            "microseconds": costs.time(ticks).as_us_f64(),
            "phase_counts": phase_counts,
        });
        writeln!(out, "{value:#}")?;
        return Ok(());
    }
    if args.csv {
        writeln!(out, "pe,phase")?;
        for (pe, phase) in schedule
            .phase()
            .iter()
            .enumerate()
            .filter(|(_, p)| **p != NO_PHASE)
        {
            writeln!(out, "{pe},{phase}")?;
        }
        return Ok(());
    }
    writeln!(
        out,
        "{}: {} messages",
        args.pattern.name(),
        pattern.messages()
    )?;
    writeln!(out, "phases    {} by {}", schedule.phases(), answer.method)?;
    writeln!(out, "bound     {} ({bound})", bound.phases)?;
    writeln!(out, "loop      {loop_cycles} cycles")?;
    writeln!(out, "seconds   {:.4}", answer.seconds)?;
    let time = costs.time(ticks);
    writeln!(
        out,
        "ticks     {ticks} ({:.1} us; no loop, {} bits)",
        time.as_us_f64(),
        width.bits()
    )?;
    let shown: Vec<String> = phase_counts.iter().take(64).map(u32::to_string).collect();
    let more = if phase_counts.len() > 64 { " ..." } else { "" };
    writeln!(out, "PEs       {}{more}", shown.join(" "))?;
    writeln!(out, "checked   every phase connects whole in one cycle")?;
    Ok(())
}

fn load(path: &Path, router: &mut Router, pattern: &Pattern) -> Result<Answer, Failure> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let saved: Saved =
        serde_json::from_str(&read_file(path)?).map_err(|error| Failure::Usage(named(&error)))?;
    let mut phase = Vec::with_capacity(saved.phase.len());
    for (pe, &value) in saved.phase.iter().enumerate() {
        phase.push(match value {
            -1 => NO_PHASE,
            value => u16::try_from(value)
                .ok()
                .filter(|&p| p != NO_PHASE)
                .ok_or_else(|| {
                    Failure::Usage(named(&format_args!(
                        "phase {value} of PE {pe} is outside -1..65535"
                    )))
                })?,
        });
    }
    let start = Instant::now();
    let schedule = Schedule::checked(router, pattern, &phase)
        .map_err(|error| Failure::Check(named(&error)))?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Answer {
        schedule,
        method: format!("{} (made for {})", path.display(), saved.pattern),
        seconds,
    })
}

/// The phase array as source text, in the language of the file's ending.
fn emit(path: &Path, name: &str, schedule: &Schedule) -> Result<String, Failure> {
    let (kind, comment) = if schedule.phases() < 255 {
        (8, "255")
    } else {
        (16, "65535")
    };
    let pes = schedule.phase().len();
    let head = format!(
        "{name}: phase of each PE, {} phases of one router cycle; {comment} takes no part.",
        schedule.phases()
    );
    let extension = path
        .extension()
        .and_then(|ext| ext.to_str())
        .unwrap_or_default();
    let (mut text, close) = match extension {
        "c" | "h" => (
            format!(
                "/* {} */\n#define PHASES {}\nstatic const unsigned {} phase[{pes}] = {{\n",
                head.replace("*/", "* /"),
                schedule.phases(),
                if kind == 8 { "char" } else { "short" },
            ),
            "};\n",
        ),
        "rs" => (
            format!(
                "/// {}\npub const PHASES: u32 = {};\n/// As above.\npub static PHASE: [u{kind}; {pes}] = [\n",
                head.replace('\n', " "),
                schedule.phases(),
            ),
            "];\n",
        ),
        other => {
            return Err(Failure::Usage(format!(
                "--emit: '.{other}' is not .c, .h or .rs"
            )));
        }
    };
    for line in schedule.phase().chunks(16) {
        for &phase in line {
            let phase = if kind == 8 { phase.min(255) } else { phase };
            let _ = write!(text, "{phase}, ");
        }
        text.push('\n');
    }
    text.push_str(close);
    Ok(text)
}

fn draw(
    path: &Path,
    name: &str,
    router: &Router,
    schedule: &Schedule,
    counts: &[u32],
) -> Result<(), Failure> {
    if path.extension().is_some_and(|ext| ext == "png") {
        let most = schedule.phases().saturating_sub(1).max(1);
        let shades = schedule
            .phase()
            .iter()
            .map(|&p| (p != NO_PHASE).then(|| f64::from(p) / f64::from(most)));
        picture::map(path, router.size(), shades)
    } else {
        picture::bars(
            path,
            &format!("{name}: PEs of each phase"),
            "phase",
            "PEs",
            counts,
        )
    }
}

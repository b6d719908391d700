//! `multipc maspar route`.

use std::format;
use std::io::Write;
use std::path::PathBuf;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use clap::Args;
use comfy_table::{Table, presets};
use serde_json::json;

use super::Failure;
use super::input::{Machine, PatternArgs};
use super::picture;
use crate::maspar::Costs;
use crate::maspar::schedule::Bound;

/// Arguments of `multipc maspar route`.
#[derive(Args, Clone, Debug)]
pub(super) struct RouteArgs {
    #[command(flatten)]
    pattern: PatternArgs,
    #[command(flatten)]
    machine: Machine,
    /// Print JSON.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the profile as CSV: cycle, PEs.
    #[arg(long)]
    csv: bool,
    /// Draw the profile (.svg), or the cycle of each PE (.png).
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &RouteArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut router = args.machine.router()?;
    let pattern = args.pattern.pattern(router.size())?;
    let width = args.pattern.width()?;
    let bound = Bound::of(&router, &pattern).map_err(Failure::usage)?;
    let table = router.timetable(&pattern).map_err(Failure::usage)?;
    let mut counts = vec![0; table.cycles() as usize];
    let profile = table.profile(&mut counts);
    let cycles = table.cycles();
    let clusters = router.size().clusters();
    let utilisation = pattern.messages() as f64 / (f64::from(cycles.max(1)) * clusters as f64);
    let ticks = router.config().costs.hardware_loop(cycles, width);
    let time = [Costs::MP1, Costs::MP2].map(|costs| costs.time(ticks).as_us_f64());

    if let Some(path) = &args.plot {
        if path.extension().is_some_and(|ext| ext == "png") {
            let most = table
                .raw()
                .iter()
                .filter(|&&c| c != u16::MAX)
                .max()
                .copied()
                .unwrap_or(0);
            let shades = table.raw().iter().map(|&cycle| {
                (cycle != u16::MAX).then(|| f64::from(cycle) / f64::from(most.max(1)))
            });
            picture::map(path, router.size(), shades)?;
        } else {
            let title = format!("{}: PEs in each router cycle", args.pattern.name());
            picture::bars(path, &title, "router cycle", "PEs", profile)?;
        }
    }
    if args.json {
        let value = json!({
            "pattern": args.pattern.name(),
            "pes": router.size().pes(),
            "messages": pattern.messages(),
            "cycles": cycles,
            "profile": profile,
            "utilisation": utilisation,
            "bound": bound.phases,
            "ticks": ticks,
            "microseconds": { "mp1": time[0], "mp2": time[1] },
            "when_fnv64": format!("{:016x}", table.fnv64()),
        });
        writeln!(out, "{value:#}")?;
        return Ok(());
    }
    if args.csv {
        writeln!(out, "cycle,pes")?;
        for (cycle, count) in profile.iter().enumerate() {
            writeln!(out, "{cycle},{count}")?;
        }
        return Ok(());
    }
    writeln!(
        out,
        "{}: {} messages",
        args.pattern.name(),
        pattern.messages()
    )?;
    let mut rows = Table::new();
    rows.load_style(presets::NOTHING);
    rows.set_header(["cycles", "PEs", "of the paths"]);
    for (first, last, count) in runs(profile) {
        let span = if first == last {
            first.to_string()
        } else {
            format!("{first} - {last}")
        };
        let share = f64::from(count) / clusters as f64;
        let bar = "#".repeat((share * 40.0).ceil() as usize);
        rows.add_row([
            span,
            count.to_string(),
            format!("{:5.1} % {bar}", share * 100.0),
        ]);
    }
    const MOST: usize = 200;
    if rows.row_count() <= MOST {
        writeln!(out, "{rows}")?;
    } else {
        writeln!(out, "profile of more than {MOST} lines left out; see --csv")?;
    }
    writeln!(out, "cycles       {cycles}")?;
    writeln!(
        out,
        "utilisation  {:.1} % of {clusters} paths",
        utilisation * 100.0
    )?;
    writeln!(out, "ticks        {ticks} (loop, {} bits)", width.bits())?;
    writeln!(out, "MP-1         {:.1} us", time[0])?;
    writeln!(out, "MP-2         {:.1} us", time[1])?;
    writeln!(out, "bound        {} ({bound})", bound.phases)?;
    Ok(())
}

/// Runs of equal counts: first and last cycle, count.
fn runs(profile: &[u32]) -> Vec<(usize, usize, u32)> {
    let mut runs: Vec<(usize, usize, u32)> = Vec::new();
    for (cycle, &count) in profile.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.2 == count => run.1 = cycle,
            _ => runs.push((cycle, cycle, count)),
        }
    }
    runs
}

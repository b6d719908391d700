//! Line and toggle coverage of the RTL, from the counters of Verilator.
//!
//! ```text
//! COSIM_COVERAGE=target/coverage cargo test --features coverage
//! cargo run --bin coverage -- target/coverage [--floor 95] [--toggle-floor rcube=99.9]...
//!                             [--module rcube]... [--toggles]
//! ```
//!
//! Counters of all files and all instances of a module are added. A table of
//! modules, their families and all; then the lines that nothing reached, and with
//! `--toggles` the bits that never rose or never fell. The exit status is 1 below
//! the floor of line coverage, or of the toggle coverage of a family.

mod counters;
mod report;

use std::path::Path;
use std::process::ExitCode;

use report::Floors;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<bool, String> {
    let (mut folder, mut only, mut toggles) = (None, Vec::new(), false);
    let mut floors = Floors::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--floor" => floors.lines = number(value()?)?,
            "--toggle-floor" => {
                let value = value()?;
                let (family, percent) = value
                    .split_once('=')
                    .ok_or(format!("{value:?} is not FAMILY=PERCENT"))?;
                floors.toggles.insert(family.to_owned(), number(percent)?);
            }
            "--module" => only.push(value()?.clone()),
            "--toggles" => toggles = true,
            _ => folder = Some(argument.clone()),
        }
    }
    let folder = folder.ok_or(
        "usage: coverage FOLDER [--floor PERCENT] [--toggle-floor FAMILY=PERCENT]... \
         [--module PREFIX]... [--toggles]",
    )?;
    let mut modules = counters::read_all(Path::new(&folder))?;
    modules.retain(|name, _| {
        only.is_empty() || only.iter().any(|prefix| name.starts_with(prefix.as_str()))
    });
    if modules.is_empty() {
        return Err(format!("{folder}: no counters"));
    }
    let report = report::report(&modules, &floors, toggles);
    print!("{}", report.text);
    Ok(report.reached)
}

fn number(text: &str) -> Result<f64, String> {
    text.parse()
        .map_err(|error| format!("{text:?} is no percentage: {error}"))
}

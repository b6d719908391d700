//! Line and toggle coverage of the RTL, from the counters of Verilator.
//!
//! ```text
//! COSIM_COVERAGE=target/coverage cargo test --features coverage
//! cargo run --bin coverage -- target/coverage [--floor 95] [--module rcube]... [--toggles]
//! ```
//!
//! Counters of all files and all instances of a module are added. A table of
//! modules, then the lines that nothing reached. The exit status is 1 below the
//! floor of line coverage.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

/// One point of a module: kind, file, line, column, what it is.
type Key = (Kind, String, u32, u32, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Line,
    Toggle,
}

#[derive(Default)]
struct Module {
    points: BTreeMap<Key, u64>,
    /// Lines that a point stands for.
    lines: BTreeMap<Key, BTreeSet<u32>>,
}

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
    let (mut folder, mut floor, mut only, mut toggles) = (None, 0.0, Vec::new(), false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--floor" => floor = value()?.parse::<f64>().map_err(|error| error.to_string())?,
            "--module" => only.push(value()?.clone()),
            "--toggles" => toggles = true,
            _ => folder = Some(argument.clone()),
        }
    }
    let folder = folder
        .ok_or("usage: coverage FOLDER [--floor PERCENT] [--module PREFIX]... [--toggles]")?;
    let mut modules = read_all(Path::new(&folder))?;
    modules.retain(|name, _| {
        only.is_empty() || only.iter().any(|prefix| name.starts_with(prefix.as_str()))
    });
    if modules.is_empty() {
        return Err(format!("{folder}: no counters"));
    }
    Ok(report(&modules, floor, toggles))
}

fn report(modules: &BTreeMap<String, Module>, floor: f64, toggles: bool) -> bool {
    let mut sums = [(0, 0); 2];
    println!(
        "{:<24} {:>14} {:>7} {:>16} {:>7}",
        "module", "lines", "%", "toggles", "%"
    );
    let row = |name: &str, lines: (usize, usize), toggles: (usize, usize)| {
        println!(
            "{name:<24} {:>6} of {:>4} {:>7.1} {:>7} of {:>5} {:>7.1}",
            lines.0,
            lines.1,
            percent(lines),
            toggles.0,
            toggles.1,
            percent(toggles)
        );
    };
    for (name, module) in modules {
        let counts = [line_count(module), toggle_count(module)];
        row(name, counts[0], counts[1]);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = (sum.0 + count.0, sum.1 + count.1);
        }
    }
    row("all", sums[0], sums[1]);
    for (name, module) in modules {
        for ((kind, file, line, _, what), count) in &module.points {
            if *count == 0 && (*kind == Kind::Line || toggles) {
                println!("{name}: {file}:{line}: never: {kind:?} {what}");
            }
        }
    }
    let reached = percent(sums[0]) >= floor;
    if !reached {
        println!(
            "line coverage {:.1} % is below the floor of {floor} %",
            percent(sums[0])
        );
    }
    reached
}

fn percent((part, all): (usize, usize)) -> f64 {
    if all == 0 {
        100.0
    } else {
        part as f64 * 100.0 / all as f64
    }
}

/// Lines reached, lines there are. A line that two points claim is reached when
/// both are.
fn line_count(module: &Module) -> (usize, usize) {
    let mut lines: BTreeMap<(&str, u32), bool> = BTreeMap::new();
    for (key, set) in &module.lines {
        for line in set {
            let hit = module.points[key] > 0;
            lines
                .entry((&key.1, *line))
                .and_modify(|all| *all &= hit)
                .or_insert(hit);
        }
    }
    (lines.values().filter(|hit| **hit).count(), lines.len())
}

fn toggle_count(module: &Module) -> (usize, usize) {
    let toggles = module
        .points
        .iter()
        .filter(|(key, _)| key.0 == Kind::Toggle);
    let (hit, all): (Vec<_>, Vec<_>) = toggles.partition(|(_, count)| **count > 0);
    (hit.len(), hit.len() + all.len())
}

fn read_all(folder: &Path) -> Result<BTreeMap<String, Module>, String> {
    let mut modules = BTreeMap::new();
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "dat") {
            let bytes =
                std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            for line in String::from_utf8_lossy(&bytes).lines() {
                point(line, &mut modules);
            }
        }
    }
    Ok(modules)
}

/// `C '\x01key\x02value\x01key\x02value...' count`
fn point(line: &str, modules: &mut BTreeMap<String, Module>) {
    let Some((fields, count)) = line
        .strip_prefix("C '")
        .and_then(|rest| rest.rsplit_once("' "))
    else {
        return;
    };
    let fields: BTreeMap<&str, &str> = fields
        .split('\u{1}')
        .filter_map(|field| field.split_once('\u{2}'))
        .collect();
    let get = |key: &str| fields.get(key).copied().unwrap_or("");
    let Some((page, module)) = get("page").split_once('/') else {
        return;
    };
    let kind = match page {
        "v_line" | "v_branch" => Kind::Line,
        "v_toggle" => Kind::Toggle,
        _ => return,
    };
    // Instances with other parameters have a suffix.
    let name = module.split("__").next().unwrap_or(module).to_owned();
    let file = get("f").rsplit('/').next().unwrap_or("").to_owned();
    let number = |key: &str| get(key).parse().unwrap_or(0);
    let key = (kind, file, number("l"), number("n"), get("o").to_owned());
    let module = modules.entry(name).or_default();
    *module.points.entry(key.clone()).or_default() += count.parse::<u64>().unwrap_or(0);
    if kind == Kind::Line {
        module
            .lines
            .entry(key)
            .or_default()
            .extend(ranges(get("S"), number("l")));
    }
}

/// `10-12,15`; the line itself when there is no list.
fn ranges(text: &str, line: u32) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for range in text.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            lines.extend(first..=last);
        }
    }
    if lines.is_empty() {
        lines.insert(line);
    }
    lines
}

//! Two parts at a time: many of them keep one core busy only.
//!
//! Each part is a process of this program, its output goes to `target/ci/<part>.log`
//! and is printed in the order of the parts, so that a report reads the same however
//! long each part took. The first lane has what builds in `target`, whose lock lets one
//! cargo in at a time; the other lane's parts build in folders of their own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::{Context, Part, Row, Verdict};

/// Runs before all others, alone: it installs, and parts that install at the same time
/// would meet the locks of the package managers.
const FIRST: &str = "setup";

/// The parts that do not build in `target`, the longest first.
const SECOND_LANE: [&str; 8] = [
    "cosim", "capi", "readme", "firmware", "rtl", "fuzz", "size", "regs",
];

/// Runs the parts; their rows in the order of `parts`.
pub fn run(context: &Context, arguments: &[String], parts: &[&'static Part]) -> Vec<Row> {
    let (first, rest): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|part| part.name == FIRST);
    let mut rows: Vec<Row> = first.iter().map(|part| part.row(context)).collect();
    let options: Vec<&String> = options(arguments);

    let (done, ended) = mpsc::channel();
    thread::scope(|scope| {
        for lane in split(&rest) {
            let (done, options) = (done.clone(), &options);
            scope.spawn(move || {
                for part in lane {
                    eprintln!("{} starts", part.name);
                    let start = Instant::now();
                    let verdict = start_one(context, part.name, options);
                    let row = (part.name, verdict, start.elapsed().as_secs_f64());
                    if done.send(row).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut waiting: Vec<Row> = Vec::new();
        for part in &rest {
            while !waiting.iter().any(|row| row.0 == part.name) {
                let Ok(row) = ended.recv() else { break };
                eprintln!("{} ended after {:.0} s", row.0, row.2);
                waiting.push(row);
            }
            let row = match waiting.iter().position(|row| row.0 == part.name) {
                Some(at) => waiting.swap_remove(at),
                None => (part.name, Err("did not run".into()), 0.0),
            };
            print!("{}", text(&log(context, part.name)));
            rows.push(row);
        }
    });
    rows
}

/// What stands between `ci` and the parts it starts: all but names of parts.
fn options(arguments: &[String]) -> Vec<&String> {
    let mut options = Vec::new();
    let mut value = false;
    for argument in arguments {
        if value || argument.starts_with("--") {
            options.push(argument);
        }
        value = argument == "--seconds";
    }
    options
}

/// The lanes, each in the order in which it runs.
fn split(parts: &[&'static Part]) -> [Vec<&'static Part>; 2] {
    let place = |part: &Part| SECOND_LANE.iter().position(|name| *name == part.name);
    let (mut second, first): (Vec<&Part>, Vec<&Part>) =
        parts.iter().partition(|part| place(part).is_some());
    second.sort_by_key(|part| place(part));
    [first, second]
}

/// Runs one part as a process of its own and fetches its verdict.
fn start_one(context: &Context, name: &str, options: &[&String]) -> Verdict {
    let error = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let log = log(context, name);
    let verdict = log.with_extension("verdict");
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).map_err(|e| error("no folder for logs", e))?;
    }
    // One of an earlier run must not be taken for this one's.
    let _ = fs::remove_file(&verdict);
    let output = File::create(&log).map_err(|e| error("no log", e))?;
    let errors = output.try_clone().map_err(|e| error("no log", e))?;
    let program = std::env::current_exe().map_err(|e| error("no path to this program", e))?;
    let status = Command::new(program)
        .args([name, "--verdict"])
        .arg(&verdict)
        .args(options)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .map_err(|e| error("did not start", e))?;
    match fs::read_to_string(&verdict) {
        Ok(remark) if status.success() => Ok(remark),
        Ok(message) => Err(message),
        Err(_) => Err(format!("ended without a verdict: {status}")),
    }
}

/// The other side of [`start_one`]: runs a part and writes down its verdict.
pub fn one(context: &Context, parts: &[&'static Part], file: &Path) -> ExitCode {
    let [part] = parts else {
        eprintln!("--verdict is for one part");
        return ExitCode::from(2);
    };
    let (_, verdict, _) = part.row(context);
    let (remark, code) = match verdict {
        Ok(remark) => (remark, ExitCode::SUCCESS),
        Err(message) => (message, ExitCode::FAILURE),
    };
    match fs::write(file, remark) {
        Ok(()) => code,
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

fn log(context: &Context, name: &str) -> PathBuf {
    context.root.join("target/ci").join(format!("{name}.log"))
}

/// A log may hold any bytes.
fn text(log: &Path) -> String {
    fs::read(log).map_or_else(
        |error| format!("{}: {error}\n", log.display()),
        |bytes| String::from_utf8_lossy(&bytes).into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARTS;

    #[test]
    fn every_part_is_in_one_lane() {
        let parts: Vec<&Part> = PARTS.iter().collect();
        let [first, second] = split(&parts);
        assert_eq!(first.len() + second.len(), PARTS.len());
        let names: Vec<&str> = second.iter().map(|part| part.name).collect();
        assert_eq!(names, SECOND_LANE);
        assert!(PARTS.iter().any(|part| part.name == FIRST));
    }

    #[test]
    fn options_go_on_to_the_parts() {
        let arguments = ["ci", "--seconds", "5", "--long"].map(str::to_owned);
        assert_eq!(options(&arguments), ["--seconds", "5", "--long"]);
    }
}

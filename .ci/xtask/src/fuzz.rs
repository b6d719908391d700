//! Every fuzz target for a fixed time, as many at once as there are cores.
//!
//! A target starts from a copy of `fuzz/seeds/<target>`, so that a run leaves the
//! tree as it was. What it finds stays in `fuzz/artifacts/<target>`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::{Context, Verdict, manifest, sh, tools};

/// The crate of the fuzz targets.
pub const MANIFEST: &str = "fuzz/Cargo.toml";

/// Memory of one target, in MiB.
const MEMORY_LIMIT: u32 = 2048;

/// Lines of the log that a failure shows.
const LOG_LINES: usize = 60;

/// Builds and runs the targets.
pub fn fuzz(context: &Context) -> Verdict {
    sh::all(vec![
        tools::cxx(),
        tools::nightly(),
        tools::cargo_fuzz(context),
    ])?;
    let text = fs::read_to_string(context.root.join(MANIFEST)).map_err(|e| e.to_string())?;
    let names = manifest::bins(&text);
    if names.is_empty() {
        return Err(format!("{MANIFEST} has no target"));
    }
    let mut build = sh::cargo(context, &["+nightly", "fuzz", "build"]);
    // Here, whatever the environment says.
    build
        .arg("--target-dir")
        .arg(context.root.join("fuzz/target"));
    sh::show(build)?;

    let workers = thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{} targets, {} s each, {workers} at a time",
        names.len(),
        context.seconds
    );
    let queue = Mutex::new(names.iter());
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers.min(names.len()) {
            scope.spawn(|| {
                while let Some(name) = next(&queue) {
                    let outcome = run(context, name);
                    if let Ok(summary) = &outcome {
                        println!("ok     {name}: {summary}");
                    }
                    if let Ok(mut all) = outcomes.lock() {
                        all.push(outcome.map(drop));
                    }
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().map_err(|e| e.to_string())?;
    if outcomes.len() != names.len() {
        return Err(format!("{} of {} targets ran", outcomes.len(), names.len()));
    }
    sh::all(outcomes)?;
    Ok(format!("{} targets x {} s", names.len(), context.seconds))
}

fn next<'a>(queue: &Mutex<impl Iterator<Item = &'a String>>) -> Option<&'a String> {
    queue.lock().ok()?.next()
}

/// Runs one target; a summary of what it did.
fn run(context: &Context, name: &str) -> Result<String, String> {
    let error = |what: &str, e: std::io::Error| format!("{name}: {what}: {e}");
    let fuzz = context.root.join("fuzz");
    let corpus = fuzz.join("target/corpus").join(name);
    let artifacts = fuzz.join("artifacts").join(name);
    let log = fuzz.join("target").join(format!("{name}.log"));
    let seeds = copy_seeds(&fuzz.join("seeds").join(name), &corpus)
        .map_err(|e| error("seeds cannot be copied", e))?;
    fs::create_dir_all(&artifacts).map_err(|e| error("no folder for findings", e))?;

    let output = fs::File::create(&log).map_err(|e| error("no log file", e))?;
    let status = Command::new(binary(&fuzz, name)?)
        .current_dir(&fuzz)
        .arg(format!("-max_total_time={}", context.seconds))
        .arg(format!("-rss_limit_mb={MEMORY_LIMIT}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        .arg(&corpus)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(output)
        .status()
        .map_err(|e| error("did not start", e))?;

    let text =
        String::from_utf8_lossy(&fs::read(&log).map_err(|e| error("no log", e))?).into_owned();
    if !status.success() {
        let lines: Vec<&str> = text.lines().collect();
        println!("FAILED {name}, the end of its log:");
        for line in &lines[lines.len().saturating_sub(LOG_LINES)..] {
            println!("    {line}");
        }
        return Err(format!(
            "fuzz target {name} failed ({status}); its input is in fuzz/artifacts/{name}"
        ));
    }
    match executions(&text) {
        Some(runs) if runs > 0 => Ok(format!("{runs} inputs from {seeds} seeds, no finding")),
        _ => Err(format!("fuzz target {name} ran no input")),
    }
}

/// The program that cargo-fuzz built, for whichever host this is.
fn binary(fuzz: &Path, name: &str) -> Result<PathBuf, String> {
    let folders = fs::read_dir(fuzz.join("target")).map_err(|e| e.to_string())?;
    folders
        .flatten()
        .map(|folder| folder.path().join("release").join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| format!("{name}: cargo fuzz built no program"))
}

fn copy_seeds(from: &Path, to: &Path) -> std::io::Result<usize> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    let mut count = 0;
    for seed in fs::read_dir(from)? {
        let seed = seed?;
        fs::copy(seed.path(), to.join(seed.file_name()))?;
        count += 1;
    }
    Ok(count)
}

/// The number of inputs in libFuzzer's closing statistics.
fn executions(log: &str) -> Option<u64> {
    log.lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
        .and_then(|value| value.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_read_from_the_log() {
        let log = "Done 12 runs\nstat::number_of_executed_units: 12345\nstat::x: 1\n";
        assert_eq!(executions(log), Some(12_345));
        assert_eq!(executions("ERROR: libFuzzer: deadly signal\n"), None);
    }
}

//! Every fuzz target, as many at once as there are cores.
//!
//! A short run is the same each time: a fixed seed, a fixed number of inputs. With
//! `--long` or `--seconds` each target draws new inputs for that time.
//!
//! A target starts from `fuzz/seeds/<target>` and collects in `fuzz/target`, so that a
//! run leaves the tree as it was. What it finds stays in `fuzz/artifacts/<target>`.

use std::fmt;
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

/// Where the random choices of a short run begin.
const SEED: u32 = 20_001;

/// Inputs of each target in a short run, chosen so that each takes about ten seconds.
const RUNS: [(&str, u32); 8] = [
    ("descriptor", 150_000),
    ("packet", 300_000),
    ("chain", 60_000),
    ("driver", 120_000),
    ("receiver", 5_000),
    ("router", 20_000),
    ("control", 250_000),
    ("endpoint", 40_000),
];

/// Seconds of each target in a long run that names none.
const LONG_SECONDS: u32 = 60;

/// How far a target goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The inputs of [`RUNS`], the same in each run.
    Fixed,
    /// Random inputs for so many seconds.
    Seconds(u32),
}

impl Extent {
    const fn of(long: bool, seconds: Option<u32>) -> Self {
        match seconds {
            Some(seconds) => Self::Seconds(seconds),
            None if long => Self::Seconds(LONG_SECONDS),
            None => Self::Fixed,
        }
    }

    /// The arguments of libFuzzer.
    fn arguments(self, target: &str) -> Result<Vec<String>, String> {
        let Self::Seconds(seconds) = self else {
            let runs = RUNS.iter().find(|(name, _)| *name == target);
            let (_, runs) = runs.ok_or_else(|| format!("no number of inputs for {target}"))?;
            return Ok(vec![
                format!("-runs={runs}"),
                format!("-seed={SEED}"),
                // What would make two runs differ: a look at the folder each second, and
                // operands of comparisons, among which are addresses.
                "-reload=0".into(),
                "-use_cmp=0".into(),
            ]);
        };
        Ok(vec![format!("-max_total_time={seconds}")])
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => write!(f, "a fixed number of inputs from seed {SEED}"),
            Self::Seconds(seconds) => write!(f, "{seconds} s of random inputs"),
        }
    }
}

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
    let extent = Extent::of(context.long, context.seconds);
    println!("{} targets, {extent}, {workers} at a time", names.len());
    let queue = Mutex::new(names.iter());
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers.min(names.len()) {
            scope.spawn(|| {
                while let Some(name) = next(&queue) {
                    let outcome = run(context, name, extent);
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
    Ok(format!("{} targets, {extent}", names.len()))
}

fn next<'a>(queue: &Mutex<impl Iterator<Item = &'a String>>) -> Option<&'a String> {
    queue.lock().ok()?.next()
}

/// Runs one target; a summary of what it did.
fn run(context: &Context, name: &str, extent: Extent) -> Result<String, String> {
    let error = |what: &str, e: std::io::Error| format!("{name}: {what}: {e}");
    let fuzz = context.root.join("fuzz");
    let corpus = fuzz.join("target/corpus").join(name);
    let artifacts = fuzz.join("artifacts").join(name);
    let log = fuzz.join("target").join(format!("{name}.log"));
    let seeds = seeds(&fuzz, name).map_err(|e| error("no seeds", e))?;
    renew(&corpus).map_err(|e| error("no folder for the corpus", e))?;
    fs::create_dir_all(&artifacts).map_err(|e| error("no folder for findings", e))?;

    let output = fs::File::create(&log).map_err(|e| error("no log file", e))?;
    let status = Command::new(binary(&fuzz, name)?)
        .current_dir(&fuzz)
        .args(extent.arguments(name)?)
        .arg(format!("-rss_limit_mb={MEMORY_LIMIT}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        // Named one by one: the order of a folder is that of the file system.
        .arg(format!("-seed_inputs={}", seeds.join(",")))
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
        Some(runs) if runs > 0 => Ok(format!(
            "{runs} inputs from {} seeds, no finding",
            seeds.len()
        )),
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

/// The seeds of a target, in order, as paths from the folder of the crate.
fn seeds(fuzz: &Path, name: &str) -> std::io::Result<Vec<String>> {
    let folder = format!("seeds/{name}");
    let mut found = Vec::new();
    for seed in fs::read_dir(fuzz.join(&folder))? {
        found.push(format!("{folder}/{}", seed?.file_name().display()));
    }
    found.sort();
    Ok(found)
}

/// An empty folder.
fn renew(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)
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
    #[test]
    fn a_short_run_is_fixed_and_a_long_one_random() {
        assert_eq!(Extent::of(false, None), Extent::Fixed);
        assert_eq!(Extent::of(true, None), Extent::Seconds(LONG_SECONDS));
        assert_eq!(Extent::of(false, Some(5)), Extent::Seconds(5));
        let arguments = Extent::Fixed.arguments("packet").expect("has a number");
        assert!(
            arguments.contains(&"-seed=20001".to_owned()),
            "{arguments:?}"
        );
        assert!(arguments.iter().any(|word| word.starts_with("-runs=")));
        assert_eq!(
            Extent::Seconds(5).arguments("packet"),
            Ok(vec!["-max_total_time=5".to_owned()])
        );
    }

    #[test]
    fn every_target_has_its_number_of_inputs() {
        for name in manifest::bins(include_str!("../../../fuzz/Cargo.toml")) {
            assert!(Extent::Fixed.arguments(&name).is_ok(), "{name}");
        }
        assert!(Extent::Fixed.arguments("other").is_err());
    }
}

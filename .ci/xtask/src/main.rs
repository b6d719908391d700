//! Set-up and checks of the project, each a named part.
//!
//! ```text
//! cargo run -p xtask -- ci             every part but `bench`, a table at the end
//! cargo run -p xtask -- ci --long      the same with many more test cases
//! cargo run -p xtask -- clippy doc     only these parts
//! cargo run -p xtask -- fuzz --seconds 600
//! cargo run -p xtask -- readme --write renews the generated regions of the documents
//! ```
//!
//! A part that fails does not stop the parts after it; the exit status is 1 when
//! any failed. A tool that is missing is installed, or its part fails: nothing is
//! skipped. `ci` runs two parts at a time, see [`lanes`]; parts that are named run one
//! after the other.

mod capi;
mod checks;
mod firmware;
mod fuzz;
mod hw;
mod lanes;
mod manifest;
mod readme;
mod regs;
mod sh;
mod size;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// What every part knows.
pub struct Context {
    /// The root of the repository.
    pub root: PathBuf,
    /// Many more cases in the tests.
    pub long: bool,
    /// How long each fuzz target runs, with new inputs each time.
    pub seconds: Option<u32>,
    /// Generated regions are renewed instead of compared.
    pub write: bool,
    /// Two parts at a time.
    lanes: bool,
    /// The part runs in a lane and leaves its verdict in this file.
    verdict: Option<PathBuf>,
}

/// A remark for the table, or why the part failed.
pub type Verdict = Result<String, String>;

/// Verdict of a part, by name, and its seconds.
type Row = (&'static str, Verdict, f64);

struct Part {
    name: &'static str,
    about: &'static str,
    in_ci: bool,
    run: fn(&Context) -> Verdict,
}

impl Part {
    /// Runs it here.
    fn row(&self, context: &Context) -> Row {
        println!("\n==== {}: {}", self.name, self.about);
        let start = Instant::now();
        let verdict = (self.run)(context);
        if let Err(message) = &verdict {
            println!("{}: {message}", self.name);
        }
        (self.name, verdict, start.elapsed().as_secs_f64())
    }
}

/// In the order in which `ci` reports them.
const PARTS: [Part; 18] = [
    part("setup", "install the tools that are missing", tools::setup),
    part("fmt", "rustfmt, default style", checks::fmt),
    part("clippy", "clippy, no warnings", checks::clippy),
    part("doc", "rustdoc of all features, no warnings", checks::doc),
    part("test", "cargo test, all features and none", checks::test),
    part(
        "targets",
        "the library on four other targets",
        checks::targets,
    ),
    part(
        "features",
        "each feature, and combinations",
        checks::features,
    ),
    part("msrv", "the oldest Rust promised", checks::msrv),
    part(
        "size",
        "bytes of driver and models on bare metal",
        size::size,
    ),
    part(
        "firmware",
        "the images for microcontrollers, run in QEMU",
        firmware::firmware,
    ),
    part("capi", "the C interface and its examples", capi::capi),
    part("rtl", "lint, parse, cells of the RTL", hw::rtl),
    part("cosim", "models and RTL in lock-step", hw::cosim),
    part(
        "readme",
        "links and outputs in the documents",
        readme::readme,
    ),
    part("regs", "register maps made from the SystemRDL", regs::regs),
    part("fuzz", "each parser under random bytes", fuzz::fuzz),
    Part {
        in_ci: false,
        ..part("bench", "the benchmarks", checks::bench)
    },
    Part {
        in_ci: false,
        ..part("clean", "remove what fuzz and size built", checks::clean)
    },
];

const fn part(name: &'static str, about: &'static str, run: fn(&Context) -> Verdict) -> Part {
    Part {
        name,
        about,
        in_ci: true,
        run,
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (context, parts) = match parse(&arguments) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("{message}\n\n{}", usage());
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let rows: Vec<Row> = match &context.verdict {
        // Of a lane: what is printed goes to its log.
        Some(file) => return lanes::one(&context, &parts, file),
        None if context.lanes => lanes::run(&context, &arguments, &parts),
        None => parts.iter().map(|part| part.row(&context)).collect(),
    };
    let seconds = start.elapsed().as_secs_f64();
    print!("\n{}", table(&rows, seconds));
    if rows.iter().all(|(_, verdict, _)| verdict.is_ok()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn usage() -> String {
    let mut text = String::from(
        "usage: cargo run -p xtask -- ci | PART... [--long] [--seconds N] [--write]\n\nparts:\n",
    );
    for part in &PARTS {
        text += &format!("  {:9} {}\n", part.name, part.about);
    }
    text
}

fn parse(arguments: &[String]) -> Result<(Context, Vec<&'static Part>), String> {
    let mut context = Context {
        root: root(),
        long: false,
        seconds: None,
        write: false,
        lanes: false,
        verdict: None,
    };
    let mut parts = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--long" => context.long = true,
            "--write" => context.write = true,
            "--seconds" => {
                let value = rest.next().ok_or("--seconds needs a number")?;
                context.seconds = match value.parse() {
                    Ok(seconds) if seconds > 0 => Some(seconds),
                    _ => return Err(format!("--seconds {value} is not a number from 1")),
                };
            }
            // Not for people: `lanes` starts parts so.
            "--verdict" => {
                context.verdict = Some(rest.next().ok_or("--verdict needs a file")?.into());
            }
            "ci" => {
                context.lanes = true;
                parts.extend(PARTS.iter().filter(|part| part.in_ci));
            }
            name => match PARTS.iter().find(|part| part.name == name) {
                Some(part) => parts.push(part),
                None => return Err(format!("no part is called {name}")),
            },
        }
    }
    if parts.is_empty() {
        return Err("no part is named".into());
    }
    Ok((context, parts))
}

/// Cargo tells where this crate lies when it runs it.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.ancestors()
        .nth(2)
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// `total` is the time of all: less than the sum where two parts ran at a time.
fn table(rows: &[Row], total: f64) -> String {
    let mut text = format!("{:9} {:7} {:>8}\n", "part", "verdict", "seconds");
    let mut failed = 0;
    for (name, verdict, seconds) in rows {
        let (word, remark) = match verdict {
            Ok(remark) => ("ok", remark.as_str()),
            Err(message) => {
                failed += 1;
                ("FAILED", message.lines().next().unwrap_or(""))
            }
        };
        let line = format!("{name:9} {word:7} {seconds:>8.1}  {remark}");
        text += line.trim_end();
        text.push('\n');
    }
    text += &format!(
        "{:9} {:7} {total:>8.1}\n",
        "all",
        match failed {
            0 => "ok".to_owned(),
            n => format!("{n} FAILED"),
        }
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn ci_is_every_part_but_the_optional_ones() {
        let (context, parts) = parse(&strings("ci --long --seconds 5")).expect("valid");
        assert!(context.long && context.seconds == Some(5));
        assert_eq!(parts.len(), PARTS.len() - 2);
        assert!(parts.iter().all(|part| part.name != "bench"));
    }

    #[test]
    fn unknown_words_and_values_are_named() {
        for (words, message) in [
            ("fmt tset", "no part is called tset"),
            ("fuzz --seconds 0", "--seconds 0 is not a number from 1"),
            ("--long", "no part is named"),
        ] {
            assert_eq!(parse(&strings(words)).err().as_deref(), Some(message));
        }
    }

    #[test]
    fn a_failure_shows_in_the_table_and_the_rest_stays() {
        let rows = [
            ("fmt", Err("3 files differ\nmore".to_owned()), 1.0),
            ("doc", Ok(String::new()), 2.0),
        ];
        let text = table(&rows, 2.5);
        assert!(
            text.contains("fmt       FAILED       1.0  3 files differ\n"),
            "{text}"
        );
        assert!(text.contains("doc       ok           2.0\n"), "{text}");
        assert!(text.contains("all       1 FAILED      2.5"), "{text}");
    }
}

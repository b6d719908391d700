//! RTL: lint, parse, cells, place and route; and its lock-step with the models.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sh::{self, Series, all, cargo, show};
use crate::tools::{self, Package};
use crate::{Context, Verdict};

/// The lock-step crate.
pub const MANIFEST: &str = "hw/cosim/Cargo.toml";

/// What [`rtl`] needs.
pub const RTL_TOOLS: [Package; 4] = [
    ("verilator", "--version", "verilator"),
    ("iverilog", "-V", "iverilog"),
    ("yosys", "-V", "yosys"),
    ("nextpnr-ice40", "--version", "nextpnr-ice40"),
];

/// What [`cosim`] needs.
pub const COSIM_TOOLS: [Package; 2] = [
    ("verilator", "--version", "verilator"),
    ("g++", "--version", "g++"),
];

/// Least line coverage of the RTL, percent.
const FLOOR: &str = "95";

/// Least toggle coverage of each family, percent: what the default run measures, rounded
/// down. The documents name what does not toggle.
const TOGGLE_FLOORS: [&str; 3] = ["rcube=99", "ddc=94", "maspar=99"];

/// Clock asked of place and route: that of the measured boards.
const FREQUENCY_MHZ: &str = "66";

/// A module that is linted, parsed and synthesised.
struct Top {
    name: &'static str,
    /// Folders below `hw/rtl`.
    folders: &'static [&'static str],
    /// The document that has its cells, in a region that `--write` renews.
    document: Option<&'static str>,
    /// It fits an iCE40 HX8K: place and route gives a frequency.
    fits: bool,
}

const RCUBE: Option<&str> = Some("hw/doc/rtl-rcube.md");
const DDC: Option<&str> = Some("hw/doc/rtl-ddc.md");

const MASPAR: Option<&str> = Some("hw/doc/rtl-maspar.md");

const TOPS: [Top; 21] = [
    top("hsl_end", &["hsl"], RCUBE, true),
    top("rcube_input", &["rcube"], RCUBE, false),
    top("rcube_arbiter", &["rcube"], RCUBE, false),
    top("rcube_output", &["rcube"], RCUBE, false),
    top("rcube_lane", &["fit", "rcube", "hsl"], RCUBE, true),
    top("rcube", &["rcube", "hsl"], RCUBE, false),
    top("maspar_sequencer", &["maspar"], MASPAR, true),
    top("maspar_cluster", &["maspar"], MASPAR, false),
    top("maspar_half_chip", &["fit", "maspar"], MASPAR, true),
    top("maspar_chip", &["maspar"], MASPAR, false),
    top("ddc_target", &["ddc"], DDC, false),
    top("ddc_regs", &["ddc"], DDC, false),
    top("ddc_master", &["ddc"], DDC, false),
    top("ddc_tx", &["ddc"], DDC, false),
    top("ddc_packetiser", &["ddc"], DDC, false),
    top("ddc_port", &["ddc"], DDC, false),
    top("ddc_assembler", &["ddc"], DDC, false),
    top("ddc_rx", &["ddc"], DDC, false),
    top("ddc_done", &["ddc"], DDC, false),
    // Its FIFOs become flip-flops in this family: minutes for Yosys.
    top("ddc", &["ddc"], None, false),
    top("maspar_router", &["maspar"], None, false),
];

const fn top(
    name: &'static str,
    folders: &'static [&'static str],
    document: Option<&'static str>,
    fits: bool,
) -> Top {
    Top {
        name,
        folders,
        document,
        fits,
    }
}

/// Lint by Verilator, parse by Icarus, synthesis by Yosys, place and route by
/// nextpnr; the tables of the documents hold what the last two say. With `--long`
/// every module is synthesised.
pub fn rtl(context: &Context) -> Verdict {
    tools::debian(&RTL_TOOLS)?;
    let mut series = Series::default();
    for top in &TOPS {
        let sources = sources(context, top)?;
        let mut lint = Command::new("verilator");
        lint.args(["--lint-only", "-Wall", "--top-module", top.name]);
        series.run(&format!("lint {}", top.name), with(lint, &sources));
        let mut parse = Command::new("iverilog");
        parse.args(["-g2012", "-Wall", "-t", "null", "-s", top.name]);
        series.run(&format!("parse {}", top.name), with(parse, &sources));
    }
    series.end()?;
    let mut documents: Vec<&str> = TOPS.iter().filter_map(|top| top.document).collect();
    documents.dedup();
    let steps = documents.iter().map(|document| cells(context, document));
    all(steps.collect())?;
    Ok(format!("{} modules", TOPS.len()))
}

fn with(mut command: Command, sources: &[PathBuf]) -> Command {
    command.args(sources);
    command
}

fn sources(context: &Context, top: &Top) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for folder in top.folders {
        let folder = context.root.join("hw/rtl").join(folder);
        let files =
            fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let files = files.filter_map(Result::ok).map(|file| file.path());
        found.extend(files.filter(|file| file.extension().is_some_and(|name| name == "sv")));
    }
    found.sort();
    Ok(found)
}

/// What Yosys and nextpnr make of a module.
struct Cells {
    luts: usize,
    flip_flops: usize,
    carries: usize,
    memories: usize,
    mhz: Option<String>,
}

/// Synthesised in every run, beside those that are placed and routed; the other
/// modules take Yosys minutes and wait for a long run.
const SMALL: [&str; 3] = ["ddc_target", "ddc_master", "ddc_assembler"];

/// The table of a document, compared or renewed. A short run looks at some rows.
fn cells(context: &Context, document: &str) -> Result<(), String> {
    let path = context.root.join(document);
    let text = fs::read_to_string(&path).map_err(|error| format!("{document}: {error}"))?;
    let tops = || TOPS.iter().filter(|top| top.document == Some(document));
    let stale = || format!("{document} has other cells: cargo run -p xtask -- rtl --write");
    if !context.long && !context.write {
        for top in tops().filter(|top| top.fits || SMALL.contains(&top.name)) {
            let row = row(top, &synthesise(context, top)?);
            println!("{row}");
            if !text.lines().any(|line| line == row) {
                return Err(stale());
            }
        }
        return Ok(());
    }
    let mut table = format!(
        "{:14} {:>6} {:>10} {:>6} {:>9} {:>5}\n",
        "module", "LUT4", "flip-flops", "carry", "block RAM", "MHz"
    );
    for top in tops() {
        table += &row(top, &synthesise(context, top)?);
        table.push('\n');
    }
    print!("{table}");
    let new = renewed(&text, &table).ok_or(format!("{document} has no region for its cells"))?;
    if new == text {
        return Ok(());
    }
    if context.write {
        return fs::write(&path, new).map_err(|error| format!("{document}: {error}"));
    }
    Err(stale())
}

fn row(top: &Top, cells: &Cells) -> String {
    format!(
        "{:14} {:>6} {:>10} {:>6} {:>9} {:>5}",
        top.name,
        cells.luts,
        cells.flip_flops,
        cells.carries,
        cells.memories,
        cells.mhz.as_deref().unwrap_or("-"),
    )
}

const OPEN: &str = "<!-- cells: cargo run -p xtask -- rtl --write -->\n";
const CLOSE: &str = "<!-- end of cells -->";

/// The text with the table in its region.
fn renewed(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(OPEN)?;
    let (_, after) = rest.split_once(CLOSE)?;
    Some(format!("{before}{OPEN}```text\n{table}```\n{CLOSE}{after}"))
}

fn synthesise(context: &Context, top: &Top) -> Result<Cells, String> {
    let folder = context.root.join("target/rtl");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let netlist = folder.join(format!("{}.json", top.name));
    let files: Vec<String> = sources(context, top)?
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let mut yosys = Command::new("yosys");
    yosys.arg("-p").arg(format!(
        "read_verilog -sv {}; synth_ice40 -top {} -json {}; stat",
        files.join(" "),
        top.name,
        netlist.display()
    ));
    let log = quiet(yosys)?;
    // The last of the tables is that of the mapped design.
    let stat = log.rsplit("Printing statistics.").next().unwrap_or("");
    let count = |prefix: &str| {
        stat.lines()
            .filter_map(|line| line.trim().split_once(' '))
            .filter(|(name, _)| name.starts_with(prefix))
            .filter_map(|(_, count)| count.trim().parse::<usize>().ok())
            .sum()
    };
    Ok(Cells {
        luts: count("SB_LUT4"),
        flip_flops: count("SB_DFF"),
        carries: count("SB_CARRY"),
        memories: count("SB_RAM40"),
        mhz: if top.fits {
            Some(place(&netlist)?)
        } else {
            None
        },
    })
}

/// The frequency after place and route, whole MHz.
fn place(netlist: &Path) -> Result<String, String> {
    let mut nextpnr = Command::new("nextpnr-ice40");
    nextpnr.args(["--hx8k", "--package", "ct256", "--seed", "1"]);
    nextpnr.args(["--timing-allow-fail", "--freq", FREQUENCY_MHZ, "--json"]);
    nextpnr.arg(netlist);
    // It reports on standard error.
    let line = sh::line(&nextpnr);
    let output = nextpnr
        .output()
        .map_err(|error| format!("`{line}` did not start: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    // The last figure is the one after routing.
    let figure = log
        .lines()
        .filter(|line| line.contains("Max frequency for clock"))
        .filter_map(|line| line.split("': ").nth(1)?.split('.').next())
        .next_back();
    figure
        .map(str::to_owned)
        .ok_or_else(|| format!("`{line}` gives no frequency\n{log}"))
}

fn quiet(command: Command) -> Result<String, String> {
    sh::quiet(command).map_err(|failure| format!("{}\n{}", failure.message, failure.output))
}

/// Models and RTL in lock-step, with the coverage of the RTL held to a floor.
pub fn cosim(context: &Context) -> Verdict {
    tools::component("clippy")?;
    tools::debian(&COSIM_TOOLS)?;
    let counters = context.root.join("hw/cosim/target/coverage");
    // Counters of an earlier run would be added.
    let _ = fs::remove_dir_all(&counters);
    fs::create_dir_all(&counters).map_err(|error| format!("{}: {error}", counters.display()))?;
    let run = |verb: &str, arguments: &[&str]| {
        let mut command = cargo(context, &[verb, "--manifest-path", MANIFEST]);
        command.args(["--features", "coverage", "--target-dir"]);
        if verb == "clippy" {
            // Nothing is linked: no need of the Verilated RTL. A folder of its own, since
            // this setting would make the next build start again.
            command.arg("hw/cosim/target/lint").env("COSIM_CHECK", "1");
        } else {
            command.arg("hw/cosim/target");
        }
        command.args(arguments);
        if verb == "test" {
            command.env("COSIM_COVERAGE", &counters);
            if context.long {
                command.env("MULTIPC_LONG", "1");
            }
        }
        command
    };
    show(run("clippy", &["--all-targets", "--", "-D", "warnings"]))?;
    show(run("test", &[]))?;
    let folder = counters.display().to_string();
    let mut coverage = run("run", &["--bin", "coverage", "--", &folder]);
    coverage.args(["--floor", FLOOR, "--toggles"]);
    for floor in TOGGLE_FLOORS {
        coverage.args(["--toggle-floor", floor]);
    }
    let table = quiet(coverage)?;
    print!("{table}");
    Ok(summary(&table))
}

/// The row of all modules in a few words: `all 10 of 20 50.0 1 of 4 25.0`.
fn summary(table: &str) -> String {
    let row = table.lines().find(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("all") && words.next() != Some("of")
    });
    let words: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
    let column = |at: usize| words.get(at).copied().unwrap_or("?");
    format!(
        "{} % of the lines of the RTL, {} % of its toggles",
        column(4),
        column(8)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_that_of_all_modules() {
        let table = "module lines % toggles %\n\
                     ddc_tx 3 of 3 100.0 5 of 10 50.0\n\
                     all of ddc 3 of 3 100.0 5 of 10 50.0\n\
                     all 30 of 31 96.8 50 of 60 83.3\n";
        let expected = "96.8 % of the lines of the RTL, 83.3 % of its toggles";
        assert_eq!(summary(table), expected);
        assert_eq!(
            summary(""),
            "? % of the lines of the RTL, ? % of its toggles"
        );
    }

    #[test]
    fn the_region_of_the_cells_is_replaced() {
        let text = format!("a\n{OPEN}old{CLOSE}\nb\n");
        let new = renewed(&text, "t\n").expect("a region");
        assert_eq!(new, format!("a\n{OPEN}```text\nt\n```\n{CLOSE}\nb\n"));
        assert_eq!(renewed(&new, "t\n").as_deref(), Some(new.as_str()));
        assert_eq!(renewed("a\n", "t\n"), None);
    }
}

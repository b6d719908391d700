//! The C interface: its tests and header, and the examples in C, C++, SystemVerilog and
//! Python, each run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::sh::{self, all, cargo, quiet, show};
use crate::tools::{self, Package};
use crate::{Context, Verdict, readme};

/// The crate.
pub const MANIFEST: &str = "hw/capi/Cargo.toml";

/// Its folder.
const FOLDER: &str = "hw/capi";

/// The page that leads through the examples and shows what they print.
const DOCUMENT: &str = "hw/doc/use-beside-rtl.md";

/// Where everything is built, whatever the environment says.
const TARGET_DIR: &str = "hw/capi/target";

/// Warnings of the C compilers, all of them errors.
const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"];

/// The examples in C.
const EXAMPLES: [&str; 5] = ["two_boards", "own_memory", "put", "faults", "maspar"];

/// What the static library needs of the system.
const SYSTEM: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

/// What the examples need, beside the Python packages.
pub const TOOLS: [Package; 7] = [
    ("gcc", "--version", "gcc"),
    ("g++", "--version", "g++"),
    ("valgrind", "--version", "valgrind"),
    ("verilator", "--version", "verilator"),
    ("iverilog", "-V", "iverilog"),
    ("make", "--version", "make"),
    ("python3", "--version", "python3"),
];

/// Tests, then every example.
pub fn capi(context: &Context) -> Verdict {
    tools::component("clippy")?;
    tools::debian(&TOOLS)?;
    let cargo = |verb, arguments: &[&str]| {
        let mut command = cargo(context, &[verb, "--manifest-path", MANIFEST]);
        command.args(["--target-dir", TARGET_DIR]).args(arguments);
        show(command)
    };
    cargo("clippy", &["--all-targets", "--", "-D", "warnings"])?;
    let mut steps = vec![cargo("test", &[])];
    cargo("build", &["--release"])?;
    for example in EXAMPLES {
        steps.push(c(context, example, "gcc", "c11", &[]));
        // C files as C++.
        steps.push(c(context, example, "g++", "c++17", &["-x", "c++"]));
    }
    steps.push(dpi(context));
    steps.push(cocotb(context));
    all(steps)?;
    Ok("C11, C++17, DPI with model and RTL, cocotb".into())
}

fn path(context: &Context, name: &str) -> String {
    context.root.join(FOLDER).join(name).display().to_string()
}

/// A C example by one compiler, under Valgrind.
fn c(
    context: &Context,
    example: &str,
    compiler: &str,
    standard: &str,
    more: &[&str],
) -> Result<(), String> {
    let program = path(context, &format!("target/{example}-{standard}"));
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(WARNINGS);
    command.args(["-g", "-O1", "-I", &path(context, "include")]);
    command
        .args(more)
        .arg(path(context, &format!("examples/{example}.c")));
    if !more.is_empty() {
        command.args(["-x", "none"]);
    }
    command.arg(path(context, "target/release/libmultipc_capi.a"));
    command.args(SYSTEM).args(["-o", &program]);
    show(command)?;
    let mut run = Command::new("valgrind");
    run.args([
        "--quiet",
        "--leak-check=full",
        "--error-exitcode=9",
        &program,
    ]);
    println!("$ {}", sh::line(&run));
    let output =
        quiet(run).map_err(|failure| format!("{}\n{}", failure.message, failure.output))?;
    print!("{output}");
    readme::shows(context, DOCUMENT, output.trim_end())
}

/// A bench in SystemVerilog.
struct Bench {
    /// Its folder.
    name: &'static str,
    top: &'static str,
    defines: &'static [&'static str],
    /// Files beside the bench and its glue.
    files: &'static [&'static str],
    /// Blocks of RTL, none where all is model.
    rtl: &'static [&'static str],
}

const ROUTERS: &[&str] = &["rcube_model", "hsl_repeater"];

/// Models, then the RTL in the place of one, then of all.
const BENCHES: [Bench; 6] = [
    Bench {
        name: "model",
        top: "bench",
        defines: &[],
        files: ROUTERS,
        rtl: &[],
    },
    Bench {
        name: "model-rtl",
        top: "bench",
        defines: &["-DROUTER_B=rcube"],
        files: ROUTERS,
        rtl: &["hsl", "rcube"],
    },
    Bench {
        name: "rtl-rtl",
        top: "bench",
        defines: &["-DROUTER_A=rcube", "-DROUTER_B=rcube"],
        files: ROUTERS,
        rtl: &["hsl", "rcube"],
    },
    Bench {
        name: "ddc",
        top: "bench_ddc",
        defines: &[],
        files: &["ddc_model"],
        rtl: &[],
    },
    Bench {
        name: "ddc-rtl",
        top: "bench_ddc",
        defines: &["-DDDC=ddc"],
        files: &["ddc_model"],
        rtl: &["ddc"],
    },
    Bench {
        name: "boards",
        top: "bench_boards",
        defines: &[],
        files: &["board_model", "hsl_repeater"],
        rtl: &[],
    },
];

/// The SystemVerilog benches.
fn dpi(context: &Context) -> Result<(), String> {
    BENCHES.iter().try_for_each(|bench| run(context, bench))
}

fn run(context: &Context, bench: &Bench) -> Result<(), String> {
    let Bench {
        name, top, defines, ..
    } = bench;
    let mut rtl: Vec<PathBuf> = Vec::new();
    for block in bench.rtl {
        let folder = context.root.join("hw/rtl").join(block);
        let files = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let files = files.flatten().map(|file| file.path());
        rtl.extend(files.filter(|file| file.extension().is_some_and(|name| name == "sv")));
    }
    rtl.sort();
    let folder = path(context, &format!("target/dpi-{name}"));
    let mut build = Command::new("verilator");
    build.args(["--binary", "--timing", "-Wall", "--top-module", top]);
    build
        .args(["--Mdir", &folder, "-o", "bench"])
        .args(*defines);
    build
        .arg("-CFLAGS")
        .arg(format!("-I{} -Wall -Wextra", path(context, "include")));
    let library = path(context, "target/release/libmultipc_capi.a");
    build
        .arg("-LDFLAGS")
        .arg(format!("{library} {}", SYSTEM.join(" ")));
    for file in [top].into_iter().chain(bench.files) {
        build.arg(path(context, &format!("dpi/{file}.sv")));
    }
    build.arg(path(context, "dpi/multipc_dpi.c")).args(rtl);
    println!("$ {}", sh::line(&build));
    quiet(build).map_err(|failure| format!("{}\n{}", failure.message, failure.output))?;
    let run = Command::new(format!("{folder}/bench"));
    println!("$ {}", sh::line(&run));
    let output =
        quiet(run).map_err(|failure| format!("{}\n{}", failure.message, failure.output))?;
    print!("{output}");
    if !output.lines().any(|line| line == "PASS") {
        return Err(format!("bench {name} did not pass"));
    }
    // But for the line that names the bench's own place.
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| !line.starts_with("- "))
        .collect();
    readme::shows(context, DOCUMENT, &lines.join("\n"))
}

/// The cocotb tests, and that they fail when the RTL is another.
fn cocotb(context: &Context) -> Result<(), String> {
    let venv = path(context, "target/venv");
    let config = format!("{venv}/bin/cocotb-config");
    if !sh::works(&config, &["--version"]) {
        tools::venv()?;
        let mut make = Command::new("python3");
        make.args(["-m", "venv", &venv]);
        show(make)?;
        let mut pip = Command::new(format!("{venv}/bin/pip"));
        pip.args([
            "install",
            "--quiet",
            "-r",
            &path(context, "cocotb/requirements.txt"),
        ]);
        show(pip)?;
    }
    // cocotb needs Python as a library, which Debian has apart.
    if !sh::works(&config, &["--libpython"]) {
        tools::install("libpython3-dev")?;
    }
    let (passed, failed) = simulate(context, &venv, "cocotb", "")?;
    if passed == 0 || failed != 0 {
        return Err(format!("cocotb: {passed} passed, {failed} failed"));
    }
    // A third register on the cable must be noticed.
    let (_, failed) = simulate(context, &venv, "cocotb-3", "-Phsl_repeater.STAGES=3")?;
    if failed == 0 {
        return Err("cocotb: a register more was not noticed".into());
    }
    println!("cocotb: {passed} passed; a register more on the cable is noticed");
    Ok(())
}

/// Tests that passed and tests that failed, by the report: make tells nothing.
fn simulate(
    context: &Context,
    venv: &str,
    name: &str,
    arguments: &str,
) -> Result<(usize, usize), String> {
    let report = path(context, &format!("target/{name}-results.xml"));
    // An older one must not be taken for this one.
    let _ = fs::remove_file(&report);
    let mut make = Command::new("make");
    make.current_dir(context.root.join(FOLDER).join("cocotb"));
    let paths = std::env::var("PATH").unwrap_or_default();
    make.env("PATH", format!("{venv}/bin:{paths}"));
    make.env("PYTHONDONTWRITEBYTECODE", "1");
    make.arg(format!(
        "SIM_BUILD={}",
        path(context, &format!("target/{name}"))
    ));
    make.arg(format!("COCOTB_RESULTS_FILE={report}"));
    // On the command line it would undo what the makefiles add to it.
    make.env("COMPILE_ARGS", arguments);
    let output =
        quiet(make).map_err(|failure| format!("{}\n{}", failure.message, failure.output))?;
    let text = fs::read_to_string(&report).map_err(|e| format!("{report}: {e}\n{output}"))?;
    let (passed, failed) = count(&text);
    if arguments.is_empty() && failed > 0 {
        print!("{output}");
    }
    Ok((passed, failed))
}

/// Of a report in the form of JUnit.
fn count(report: &str) -> (usize, usize) {
    let tests = report.matches("<testcase").count();
    let failed = report.matches("<failure").count() + report.matches("<error").count();
    (tests.saturating_sub(failed), failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_counted() {
        let report = r#"<testsuites><testcase name="a" /><testcase name="b">
            <failure message="x" /></testcase></testsuites>"#;
        assert_eq!(count(report), (1, 1));
        assert_eq!(count(""), (0, 0));
    }
}

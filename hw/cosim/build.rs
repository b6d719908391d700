//! Verilates each top and compiles it with its shim.
//!
//! A top is a line of [`TOPS`], a feature of this crate, `shim/<top>.cpp`, and
//! `src/<top>.rs`. With the feature `coverage` the RTL counts lines and toggles.
//! `COSIM_CHECK=1` leaves all of it out: for what looks at Rust only and links
//! nothing, as clippy.

use std::io::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// One Verilated module.
struct Top {
    /// Module, shim and class (`V<name>`).
    name: &'static str,
    /// Built when this feature is on.
    feature: &'static str,
    /// Sources below `hw/rtl`, the top first; those of a whole folder end in `/`.
    sources: &'static [&'static str],
}

const TOPS: &[Top] = &[
    Top {
        name: "hsl_end",
        feature: "rcube",
        sources: &["hsl/hsl_end.sv", "hsl/hsl_port.sv"],
    },
    // The shim of maspar_board needs its header, too.
    Top {
        name: "maspar_backplane",
        feature: "maspar",
        sources: &["maspar/maspar_backplane.sv"],
    },
    Top {
        name: "maspar_board",
        feature: "maspar",
        sources: &["maspar/"],
    },
    Top {
        name: "maspar_chip",
        feature: "maspar",
        sources: &["maspar/maspar_chip.sv"],
    },
    Top {
        name: "rcube",
        feature: "rcube",
        sources: &[
            "rcube/",
            "hsl/hsl_port.sv",
            "hsl/hsl_deserialiser.sv",
            "hsl/hsl_serialiser.sv",
        ],
    },
    Top {
        name: "ddc_edges",
        feature: "ddc",
        sources: &["../cosim/shim/ddc_edges.sv", "ddc/"],
    },
    Top {
        name: "ddc_small",
        feature: "ddc",
        sources: &[
            "../cosim/shim/ddc_small.sv",
            "../cosim/shim/ddc_edges.sv",
            "ddc/",
        ],
    },
];

/// What Verilator brings along for every model.
const RUNTIME: &[&str] = &[
    "verilated.cpp",
    "verilated_threads.cpp",
    "verilated_cov.cpp",
];

fn main() {
    println!("cargo:rerun-if-env-changed=COSIM_CHECK");
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("COSIM_CHECK").is_some() {
        return;
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let root = PathBuf::from(verilator_root());
    let rtl = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../rtl");
    let coverage = has_feature("coverage");
    println!("cargo:rerun-if-changed=shim/shim.h");
    println!("cargo:rerun-if-changed=shim/ddc_pins.h");
    println!("cargo:rerun-if-changed=shim/maspar_router.h");

    let tops: Vec<&Top> = TOPS.iter().filter(|top| has_feature(top.feature)).collect();
    if tops.is_empty() {
        return;
    }
    let made = |top: &Top| out.join(top.name);
    let runs: Vec<_> = tops
        .iter()
        .map(|top| verilate(top, &rtl, &made(top), coverage))
        .collect();
    for (top, run) in tops.iter().zip(runs) {
        finish(top, run);
    }

    // All files of a kind in one go, so that the compilers share the cores.
    let (mut fast, mut slow) = (compiler(&root, coverage), compiler(&root, coverage));
    slow.opt_level(0);
    fast.include("shim");
    fast.files(RUNTIME.iter().map(|file| root.join("include").join(file)));
    for top in tops {
        let shim = format!("shim/{}.cpp", top.name);
        println!("cargo:rerun-if-changed={shim}");
        fast.include(made(top)).file(shim);
        let (rare, often): (Vec<_>, Vec<_>) = files(&made(top), "cpp")
            .into_iter()
            .partition(|file| is_slow(file));
        fast.files(often);
        slow.files(rare);
    }
    fast.objects(slow.compile_intermediates());
    fast.compile("rtl");
}

/// Whether it runs at the start only: the optimiser spends minutes on such files for
/// nothing. Verilator's own makefile makes the same difference.
fn is_slow(file: &Path) -> bool {
    file.file_stem()
        .is_some_and(|name| name.to_string_lossy().ends_with("__Slow"))
}

/// Starts Verilator.
fn verilate(top: &Top, rtl: &Path, made: &Path, coverage: bool) -> Result<Child, Error> {
    let mut command = Command::new("verilator");
    command
        .args([
            "--cc",
            "-Wall",
            "-O3",
            "--x-assign",
            "fast",
            "--x-initial",
            "fast",
        ])
        .args(["--noassert", "--top-module", top.name])
        .arg("--Mdir")
        .arg(made);
    if coverage {
        command.args(["--coverage-line", "--coverage-toggle"]);
    }
    for source in top.sources {
        let path = rtl.join(source);
        println!("cargo:rerun-if-changed={}", path.display());
        if source.ends_with('/') {
            command.args(files(&path, "sv"));
        } else {
            command.arg(path);
        }
    }
    // What an earlier run generated may have other names.
    let _ = std::fs::remove_dir_all(made);
    command.spawn()
}

fn finish(top: &Top, run: Result<Child, Error>) {
    match run.and_then(|mut child| child.wait()) {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("verilator {}: {status}", top.name),
        Err(error) => panic!("verilator did not start ({error}): apt-get install verilator"),
    }
}

/// The compiler with the switches of Verilator's own makefile.
fn compiler(root: &Path, coverage: bool) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(if coverage { 1 } else { 3 })
        .debug(false)
        .warnings(false)
        .include(root.join("include"))
        .include(root.join("include/vltstd"))
        .flag_if_supported("-faligned-new")
        .flag_if_supported("-fcf-protection=none");
    let number = if coverage { "1" } else { "0" };
    for (name, value) in [
        ("VM_COVERAGE", number),
        ("VM_SC", "0"),
        ("VM_TRACE", "0"),
        ("VM_TRACE_FST", "0"),
        ("VM_TRACE_VCD", "0"),
    ] {
        build.define(name, value);
    }
    if coverage {
        build.define("COSIM_COVERAGE", None);
    }
    build
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == extension))
        .collect();
    found.sort();
    found
}

fn verilator_root() -> String {
    let output = Command::new("verilator")
        .args(["--getenv", "VERILATOR_ROOT"])
        .output()
        .unwrap_or_else(|error| {
            panic!("verilator did not start ({error}): apt-get install verilator g++")
        });
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn has_feature(name: &str) -> bool {
    let name = name.to_uppercase().replace('-', "_");
    std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

//! Tools that the parts need: found, else installed, else a message that says how.

use std::fs;
use std::process::Command;

use crate::{Context, Verdict, capi, firmware, hw, manifest, sh};

/// Bare metal and WebAssembly: where the library has to build.
///
/// Cortex-M4F, Cortex-M0 (no compare-and-swap), RISC-V without atomics, a browser.
pub const TARGETS: [&str; 4] = [
    "thumbv7em-none-eabihf",
    "thumbv6m-none-eabi",
    "riscv32imc-unknown-none-elf",
    "wasm32-unknown-unknown",
];

/// A program, the flag that makes it show its version, and its Debian package.
pub type Package = (&'static str, &'static str, &'static str);

/// Everything that `ci` needs, at once: parts that run at the same time cannot install
/// at the same time.
pub fn setup(context: &Context) -> Verdict {
    let mut steps = vec![
        component("rustfmt"),
        component("clippy"),
        debian(&hw::RTL_TOOLS),
        debian(&hw::COSIM_TOOLS),
        debian(&capi::TOOLS),
        debian(&firmware::TOOLS),
        venv(),
        cxx(),
        nightly(),
        cargo_fuzz(context),
    ];
    let targets = TARGETS.iter().chain(&firmware::TARGETS);
    steps.extend(targets.map(|name| target(name)));
    let text = fs::read_to_string(context.root.join("Cargo.toml")).unwrap_or_default();
    if let Some(version) = manifest::rust_version(&text) {
        // Where it is not to be had, the part `msrv` says so and checks otherwise.
        toolchain(&version);
    }
    sh::all(steps)?;
    Ok(String::new())
}

fn rustup(arguments: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(arguments);
    command
}

fn rustup_lists(arguments: &[&str], name: &str) -> bool {
    rustup(arguments).output().is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .any(|line| line.starts_with(name))
    })
}

/// A component of the running toolchain.
pub fn component(name: &str) -> Result<(), String> {
    if rustup_lists(&["component", "list", "--installed"], name) {
        return Ok(());
    }
    let program = if name == "rustfmt" { "fmt" } else { name };
    if sh::works("cargo", &[program, "--version"]) {
        return Ok(());
    }
    sh::show(rustup(&["component", "add", name]))
        .map_err(|error| format!("{name} is missing and could not be installed: {error}"))
}

/// The standard library of a target.
pub fn target(name: &str) -> Result<(), String> {
    if rustup_lists(&["target", "list", "--installed"], name) {
        return Ok(());
    }
    sh::show(rustup(&["target", "add", name]))
        .map_err(|error| format!("target {name} is missing and could not be installed: {error}"))
}

/// libFuzzer is C++.
pub fn cxx() -> Result<(), String> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    if sh::works(&compiler, &["--version"]) {
        return Ok(());
    }
    Err(format!(
        "the C++ compiler `{compiler}` is missing and libFuzzer needs it: apt-get install g++"
    ))
}

/// The nightly toolchain: coverage instrumentation of the fuzz targets.
pub fn nightly() -> Result<(), String> {
    if sh::works("cargo", &["+nightly", "--version"]) {
        return Ok(());
    }
    sh::show(rustup(&[
        "toolchain",
        "install",
        "nightly",
        "--profile",
        "minimal",
    ]))
    .map_err(|error| {
        format!("the nightly toolchain is missing and could not be installed: {error}")
    })
}

/// The command `cargo fuzz`.
pub fn cargo_fuzz(context: &Context) -> Result<(), String> {
    if sh::works("cargo", &["fuzz", "--version"]) {
        return Ok(());
    }
    sh::show(sh::cargo(context, &["install", "cargo-fuzz", "--locked"]))
        .map_err(|error| format!("cargo-fuzz is missing and could not be installed: {error}"))
}

/// The toolchain of a given version; false when it is neither there nor to be had.
pub fn toolchain(version: &str) -> bool {
    let plus = format!("+{version}");
    if sh::works("cargo", &[&plus, "--version"]) {
        return true;
    }
    let install = rustup(&["toolchain", "install", version, "--profile", "minimal"]);
    sh::show(install).is_ok() && sh::works("cargo", &[&plus, "--version"])
}

/// Programs of Debian packages.
pub fn debian(packages: &[Package]) -> Result<(), String> {
    for (program, flag, package) in packages {
        if !sh::works(program, &[flag]) {
            install(package)?;
        }
    }
    Ok(())
}

/// Python's virtual environments with pip, a package of its own in Debian.
pub fn venv() -> Result<(), String> {
    if sh::works("python3", &["-m", "ensurepip", "--version"]) {
        return Ok(());
    }
    install("python3-venv")
}

/// A Debian package.
pub fn install(package: &str) -> Result<(), String> {
    let mut update = Command::new("apt-get");
    update.args(["update", "-qq"]);
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    install.args(["install", "-y", "-qq", "--no-install-recommends", package]);
    sh::show(update)
        .and_then(|()| sh::show(install))
        .map_err(|error| format!("{package} is missing and could not be installed: {error}"))
}

//! The register maps of `hw/regs`: what is generated from the SystemRDL is what is
//! committed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Context, Verdict, sh};

/// Exact versions: the comparison is byte by byte.
const REQUIREMENTS: &str = "hw/regs/requirements.txt";

const GENERATE: &str = "hw/regs/generate.py";

/// Where the Python packages go.
const VENV: &str = "target/regs-venv";

/// Regenerates and compares; with `--write` renews.
pub fn regs(context: &Context) -> Verdict {
    let python = python(context)?;
    let mut command = Command::new(python);
    command.current_dir(&context.root).arg(GENERATE);
    if !context.write {
        command.arg("--check");
    }
    sh::show(command)?;
    Ok(if context.write { "written" } else { "" }.to_owned())
}

/// The interpreter of an environment that has the packages.
fn python(context: &Context) -> Result<PathBuf, String> {
    let python = context.root.join(VENV).join("bin/python");
    if !has_pip(&python) {
        environment(context)?;
    }
    let mut install = Command::new(&python);
    install
        .current_dir(&context.root)
        .args(["-m", "pip", "install", "--quiet"])
        .args(["--disable-pip-version-check", "-r", REQUIREMENTS]);
    sh::show(install)?;
    Ok(python)
}

fn has_pip(python: &Path) -> bool {
    sh::works(&python.to_string_lossy(), &["-m", "pip", "--version"])
}

/// Debian keeps `venv` in a package of its own.
fn environment(context: &Context) -> Result<(), String> {
    let make = || {
        let mut command = Command::new("python3");
        command
            .current_dir(&context.root)
            .args(["-m", "venv", "--clear", VENV]);
        sh::show(command)
    };
    if make().is_ok() {
        return Ok(());
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "python3", "python3-venv"]);
    sh::show(install).and_then(|()| make()).map_err(|error| {
        format!("no Python environment: apt-get install python3-venv, then again ({error})")
    })
}

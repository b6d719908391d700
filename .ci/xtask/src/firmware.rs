//! The firmware images, run in QEMU.
//!
//! Each target has three: `machine`, which holds two boards of models, `messages`, which
//! passes messages between them, and `board`, whose registers are at an address. `hw/firmware/runner` starts QEMU, decodes the log and
//! ends with the image's status; it stops an image that does not end.

use std::path::Path;
use std::process::Command;

use crate::sh::{all, cargo, line, quiet, show};
use crate::tools::{self, Package};
use crate::{Context, Verdict, readme, size};

/// The workspace of the images.
const FOLDER: &str = "hw/firmware";

/// The page that leads through the images and shows their log.
const DOCUMENT: &str = "hw/doc/use-in-firmware.md";

/// Its manifest.
pub const MANIFEST: &str = "hw/firmware/Cargo.toml";

/// Where it is built, whatever the environment says.
const TARGET_DIR: &str = "hw/firmware/target";

/// The targets.
pub const TARGETS: [&str; 2] = [size::TARGET, size::RISCV];

/// Their emulators.
pub const TOOLS: [Package; 2] = [
    ("qemu-system-arm", "--version", "qemu-system-arm"),
    ("qemu-system-riscv32", "--version", "qemu-system-misc"),
];

/// Seconds after which an image that has not ended has failed.
const LIMIT_S: &str = "300";

/// A word on the command line of an image breaks something; how its log has to end.
type Broken = (&'static str, &'static str, &'static str);

const MACHINE: [Broken; 3] = [
    ("spoil", "a changed byte", "ERROR Wrong"),
    ("deaf", "an unconnected interrupt line", "ERROR Silent"),
    (
        "careless",
        "an interrupt slept through",
        "ERROR SleptThrough",
    ),
];

const BOARD: [Broken; 1] = [("deaf", "an unconnected interrupt line", "ERROR Handler")];

/// Builds the images, runs them, and checks that what is broken on purpose is found.
pub fn firmware(context: &Context) -> Verdict {
    tools::component("clippy")?;
    all(TARGETS.map(tools::target).into())?;
    tools::debian(&TOOLS)?;
    // On this host: the port over plain RAM, the runner.
    let mut tests = here(context, "test", &[]);
    tests.args([
        "--package",
        "board",
        "--package",
        "runner",
        "--all-features",
    ]);
    show(tests)?;
    let mut runner = here(context, "build", &["--package", "runner"]);
    runner.arg("--quiet");
    show(runner)?;
    let mut steps = Vec::new();
    for target in TARGETS {
        let images = ["--package", "machine", "--package", "board"];
        let mut clippy = here(context, "clippy", &["--release", "--target", target]);
        clippy.args(images).args(["--package", "firmware-support"]);
        clippy.args(["--", "-D", "warnings"]);
        steps.push(show(clippy));
        let mut clippy = here(context, "clippy", &["--release", "--target", target]);
        clippy.args(["--package", "board", "--features", "plain-ram"]);
        clippy.args(["--", "-D", "warnings"]);
        steps.push(show(clippy));
        // With registers at an address it is for a real board: it has to link.
        steps.push(show(here(
            context,
            "build",
            &["--release", "--target", target, "--package", "board"],
        )));
        steps.push(
            image(context, target, "machine", &[])
                .and_then(|path| checks(context, &path, &MACHINE)),
        );
        let messages = format!("{TARGET_DIR}/{target}/release/messages");
        steps.push(passes(context, &messages));
        steps.push(
            image(context, target, "board", &["--features", "plain-ram"])
                .and_then(|path| checks(context, &path, &BOARD)),
        );
    }
    all(steps)?;
    Ok(format!("{} targets", TARGETS.len()))
}

/// cargo in the folder of the images, whose configuration holds there only.
fn here(context: &Context, verb: &str, arguments: &[&str]) -> Command {
    let mut command = cargo(context, &[verb]);
    command.current_dir(context.root.join(FOLDER));
    command
        .arg("--target-dir")
        .arg(context.root.join(TARGET_DIR));
    command.args(arguments);
    command
}

/// Builds an image; its path from the root.
fn image(context: &Context, target: &str, package: &str, more: &[&str]) -> Result<String, String> {
    let mut build = here(context, "build", &["--release", "--target", target]);
    build.args(["--package", package]).args(more);
    show(build)?;
    Ok(format!("{TARGET_DIR}/{target}/release/{package}"))
}

/// Passes, and fails for the right reason when something is broken.
fn checks(context: &Context, path: &str, broken: &[Broken]) -> Result<(), String> {
    passes(context, path)?;
    for (word, what, error) in broken {
        match quiet(run(context, path, &[word])) {
            Ok(_) => return Err(format!("{path} {word}: {what} was not found")),
            Err(failure) if failure.output.contains(error) => {
                println!("{what} is found:\n{}", failure.output.trim_end());
                readme::shows(context, DOCUMENT, &steady(&failure.output))?;
            }
            Err(failure) => return Err(format!("{}\n{}", failure.message, failure.output)),
        }
    }
    Ok(())
}

/// Passes, and its log is the one of the document.
fn passes(context: &Context, path: &str) -> Result<(), String> {
    let run = run(context, path, &[]);
    println!("$ {}", line(&run));
    let log = quiet(run).map_err(|failure| format!("{}\n{}", failure.message, failure.output))?;
    print!("{log}");
    if !log.lines().any(|line| line == "INFO Passed") {
        return Err(format!("{path} ended without its verdict"));
    }
    readme::shows(context, DOCUMENT, &steady(&log))
}

/// What does not depend on target and compiler: sizes and addresses do.
fn steady(log: &str) -> String {
    let varies = |line: &&str| line.starts_with("INFO bytes of") || line.contains("on the bus");
    let lines: Vec<&str> = log.lines().filter(|line| !varies(line)).collect();
    lines.join("\n")
}

fn run(context: &Context, path: &str, words: &[&str]) -> Command {
    let mut command = Command::new(Path::new(TARGET_DIR).join("debug/runner"));
    command.current_dir(&context.root);
    command.env("FIRMWARE_TIMEOUT_S", LIMIT_S);
    command.arg(path).args(words);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_addresses_are_not_compared() {
        let log = "INFO bytes of RAM: 1\nINFO Passed\nINFO memory: at 0x1 on the bus\n";
        assert_eq!(steady(log), "INFO Passed");
    }
}

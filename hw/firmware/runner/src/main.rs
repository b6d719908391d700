//! Starts an image in QEMU, prints its defmt log, and ends with its exit status.
//!
//! ```text
//! runner IMAGE [WORD...]
//! ```
//!
//! The machine is chosen by the image's architecture; the words reach the image as
//! its command line. It runs for FIRMWARE_TIMEOUT_S seconds at most (default 300).
//! Exit status: that of the image, 124 when the time ran out, 125 when QEMU could
//! not run it.

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use defmt_decoder::{DecodeError, Table};
use wait_timeout::ChildExt;

/// What the shell's `timeout` ends with.
const TIMED_OUT: u8 = 124;
const NOT_RUN: u8 = 125;
const DEFAULT_TIMEOUT_S: u64 = 300;
/// The time of the emulated processor is its instructions, 8 ns each, and jumps to the
/// next timer while it sleeps: a timer never depends on how busy the host is.
const CLOCK: [&str; 2] = ["-icount", "shift=3,sleep=off"];

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(image) = arguments.next() else {
        eprintln!("usage: runner IMAGE [WORD...]");
        return NOT_RUN.into();
    };
    match run(Path::new(&image), &arguments.collect::<Vec<_>>()) {
        Ok(code) => code.into(),
        Err(message) => {
            eprintln!("runner: {message}");
            NOT_RUN.into()
        }
    }
}

fn run(image: &Path, words: &[String]) -> Result<u8, String> {
    let elf = fs::read(image).map_err(|e| format!("{}: {e}", image.display()))?;
    let [program, machine @ ..] = machine(&elf)?;
    let table = Table::parse(&elf)
        .map_err(|e| format!("{}: {e}", image.display()))?
        .ok_or_else(|| format!("{} has no defmt log", image.display()))?;
    let mut semihosting = format!("enable=on,target=native,arg={}", image.display());
    for word in words {
        // A comma separates options; doubled it is a letter.
        semihosting += &format!(",arg={}", word.replace(',', ",,"));
    }
    let mut child = Command::new(program)
        .args(machine)
        .args(CLOCK)
        .args(["-display", "none", "-serial", "none", "-monitor", "none"])
        .args(["-semihosting-config", &semihosting, "-kernel"])
        .arg(image)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{program} did not start: {e}"))?;
    let log = child.stdout.take().ok_or("no standard output")?;
    thread::scope(|scope| {
        let printer = scope.spawn(|| print(log, &table));
        let limit = Duration::from_secs(timeout_s()?);
        let status = child.wait_timeout(limit).map_err(|e| e.to_string())?;
        if status.is_none() {
            child.kill().map_err(|e| e.to_string())?;
            child.wait().map_err(|e| e.to_string())?;
        }
        match printer.join() {
            Ok(Ok(())) => {}
            Ok(Err(message)) => return Err(message),
            Err(_) => return Err("the printer of the log panicked".into()),
        }
        if status.is_none() {
            eprintln!("runner: no end after {} s", limit.as_secs());
        }
        status.map_or(Ok(TIMED_OUT), code)
    })
}

fn code(status: ExitStatus) -> Result<u8, String> {
    let code = status
        .code()
        .ok_or_else(|| format!("QEMU ended by {status}"))?;
    u8::try_from(code).map_err(|_| format!("exit status {code}"))
}

fn timeout_s() -> Result<u64, String> {
    match env::var("FIRMWARE_TIMEOUT_S") {
        Ok(text) => text
            .parse()
            .map_err(|_| format!("FIRMWARE_TIMEOUT_S={text} is not a number")),
        Err(_) => Ok(DEFAULT_TIMEOUT_S),
    }
}

/// QEMU and its machine for an image, by `e_machine` of the ELF header.
fn machine(elf: &[u8]) -> Result<[&'static str; 5], String> {
    match elf {
        // EM_ARM: a Cortex-M4 with floating point and 4 MiB of RAM.
        [0x7F, b'E', b'L', b'F', ..] if elf.get(18) == Some(&0x28) => Ok([
            "qemu-system-arm",
            "-machine",
            "mps2-an386",
            "-cpu",
            "cortex-m4",
        ]),
        // EM_RISCV: RAM from 0x80000000, nothing before the image.
        [0x7F, b'E', b'L', b'F', ..] if elf.get(18) == Some(&0xF3) => {
            Ok(["qemu-system-riscv32", "-machine", "virt", "-bios", "none"])
        }
        [0x7F, b'E', b'L', b'F', ..] => Err(format!(
            "image for machine {:02x?}, known are ARM (28) and RISC-V (f3)",
            elf.get(18)
        )),
        _ => Err("not an ELF file".into()),
    }
}

/// Prints frames as they come, up to the end of the log.
fn print(mut log: impl Read, table: &Table) -> Result<(), String> {
    let mut decoder = table.new_stream_decoder();
    let mut buffer = [0; 1024];
    loop {
        let n = log.read(&mut buffer).map_err(|e| e.to_string())?;
        if n == 0 {
            return Ok(());
        }
        decoder.received(buffer.get(..n).unwrap_or(&[]));
        loop {
            match decoder.decode() {
                Ok(frame) => {
                    let text = frame.display(false).to_string();
                    writeln!(io::stdout(), "{text}").map_err(|e| e.to_string())?;
                }
                Err(DecodeError::UnexpectedEof) => break,
                Err(DecodeError::Malformed) => return Err("a frame of the log is malformed".into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_follows_the_elf_header() {
        let mut elf = [0; 52];
        assert!(machine(&elf).is_err());
        elf[..4].copy_from_slice(b"\x7FELF");
        assert!(machine(&elf).is_err());
        elf[18] = 0x28;
        assert_eq!(machine(&elf).unwrap()[0], "qemu-system-arm");
        elf[18] = 0xF3;
        assert_eq!(machine(&elf).unwrap()[0], "qemu-system-riscv32");
    }
}

//! Puts the linker's memory map of the target, and the names of its interrupts, where
//! the runtime's script finds them.

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let map = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("arm") => "memory-arm.x",
        Ok("riscv32") => "memory-riscv.x",
        // A host: nothing is linked.
        _ => return Ok(()),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for (from, to) in [(map, "memory.x"), ("device.x", "device.x")] {
        fs::copy(from, out.join(to))?;
        println!("cargo::rerun-if-changed={from}");
    }
    println!("cargo::rustc-link-search={}", out.display());
    Ok(())
}

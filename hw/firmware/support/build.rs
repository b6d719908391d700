//! Puts the linker's memory map of the target where the runtime's script finds it.

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let map = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("arm") => "memory-arm.x",
        Ok("riscv32") => "memory-riscv.x",
        // A host: nothing is linked.
        _ => return Ok(()),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::copy(map, out.join("memory.x"))?;
    println!("cargo::rerun-if-changed={map}");
    println!("cargo::rustc-link-search={}", out.display());
    Ok(())
}

//! The runtime's linker script, and the one that keeps the strings of the log.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    println!("cargo::rustc-link-arg-bins=--nmagic");
}

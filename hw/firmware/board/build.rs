//! The runtime's linker script, and the one that keeps the strings of the log.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        println!("cargo::rustc-link-arg-bins=-Tlink.x");
        println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
        println!("cargo::rustc-link-arg-bins=--nmagic");
    }
}

//! The starting point for a real board: the driver on registers and memory by address.
//!
//! Edit [`board::config`]. With the feature `plain-ram` the image is for QEMU: RAM
//! stands for the registers, the port is checked, and the image ends with a verdict.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod image;
#[cfg(target_os = "none")]
mod interrupt;

#[cfg(not(target_os = "none"))]
fn main() {
    println!("an image for bare metal: build it with --target");
}

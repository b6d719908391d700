#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

// The macros of `fmt` must be known before the modules that use them.
#[macro_use]
mod fmt;

// Floors, from the ground up: a module imports only from modules above it in
// this list (held by `tests/layering.rs`).
#[cfg(feature = "cli")]
pub mod cli;
pub mod ddc;
pub mod fabric;
pub mod hsl;
pub mod maspar;
pub mod mem;
pub mod pci;
pub mod put;
pub mod rcube;
pub mod remote;
pub mod time;

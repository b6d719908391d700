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
// this list (held by `tests/layering.rs`). The blank lines keep rustfmt from
// sorting it.
pub mod time;

pub mod mem;

pub mod remote;

pub mod hsl;

pub mod pci;

pub mod ddc;

pub mod rcube;

pub mod maspar;

pub mod fabric;

pub mod put;

mod attach;

pub mod figures;

#[cfg(feature = "alloc")]
pub mod cluster;

pub mod mpi;

#[cfg(feature = "cli")]
pub mod cli;

pub mod guide;

//! The models of multipc behind a C interface.
//!
//! | handle | what | how it goes on |
//! |---|---|---|
//! | `multipc_rcube` | one router | `step`: a link clock edge |
//! | `multipc_ddc` | one network controller | `step_pci`, `step_link` |
//! | `multipc_board` | host bridge, controller, router; memory by callback | `step_pci`, `step_link` |
//! | `multipc_machine` | boards and cables by the name of a shape; its own memory | `run_until` a pin changes, a cycle, a time |
//! | `multipc_maspar` | the MasPar router of a machine, tick by tick or a pattern at once | `step`: ticks |
//! | `multipc_put` | the driver of one board, on a machine or on the caller's own hardware | `poll`, `interrupt` |
//!
//! Rules of every call:
//! - It returns a `multipc_status`; 0 is success. What went wrong, in words:
//!   `multipc_last_error`, for the last failed call of the calling thread.
//! - Null pointers, misaligned pointers and values outside their range are errors and
//!   change nothing. Not to be found out here: a handle that was freed, a pointer to
//!   memory that is not the caller's.
//! - No panic leaves it: an internal error is `MULTIPC_ERROR_INTERNAL`.
//! - A handle is used by one thread at a time; different handles are independent.
#![allow(non_camel_case_types)]

mod access;
mod board;
mod ddc;
mod error;
mod faults;
mod links;
mod machine;
mod maspar;
mod pins;
mod put;
mod raw;
mod rcube;
mod watch;

pub use access::*;
pub use board::*;
pub use ddc::*;
pub use error::*;
pub use faults::*;
pub use links::*;
pub use machine::*;
pub use maspar::*;
pub use pins::*;
pub use put::*;
pub use rcube::*;
pub use watch::*;

use core::ffi::c_char;

/// Version of this interface: structures, functions, meanings. A program compares the
/// value of its header with the library's, `multipc_check_abi(MULTIPC_ABI_VERSION)`.
pub const MULTIPC_ABI_VERSION: u32 = 2;

/// The version of the interface that the library has.
#[unsafe(no_mangle)]
pub extern "C" fn multipc_abi_version() -> u32 {
    MULTIPC_ABI_VERSION
}

/// `MULTIPC_ERROR_ABI` unless the library has the version of the program's header.
#[unsafe(no_mangle)]
pub extern "C" fn multipc_check_abi(version: u32) -> multipc_status {
    error::call(|| {
        if version == MULTIPC_ABI_VERSION {
            Ok(())
        } else {
            Err(Error::new(
                MULTIPC_ERROR_ABI,
                format!("header of version {version}, library of version {MULTIPC_ABI_VERSION}"),
            ))
        }
    })
}

/// The version of the library, as text; never null, never to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn multipc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

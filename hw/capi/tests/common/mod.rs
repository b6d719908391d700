//! What the tests of the calls share. Not each of them uses all of it.
#![allow(dead_code, unused_imports, unused_macros)]

use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr::null_mut;

use multipc_capi::*;

/// The words of the last failed call.
pub fn last() -> String {
    // SAFETY: never null, ends with a zero.
    unsafe { CStr::from_ptr(multipc_last_error()) }
        .to_str()
        .unwrap()
        .to_owned()
}

/// The call has succeeded.
#[track_caller]
pub fn ok(status: multipc_status) {
    assert_eq!(status, MULTIPC_OK, "{}", last());
}

/// A structure of the interface with zeroes in it: all of them are plain data.
pub fn blank<T: Copy>() -> T {
    // SAFETY: integers, null pointers, arrays of them.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The recommended configuration of a machine.
pub fn default_config() -> multipc_machine_config {
    let mut config = blank();
    // SAFETY: an output of its type.
    ok(unsafe { multipc_machine_config_default(&mut config) });
    config
}

/// A machine of this shape.
pub fn machine(shape: &CStr) -> *mut multipc_machine {
    let mut machine = null_mut();
    let config = default_config();
    // SAFETY: a text, a configuration, an output.
    ok(unsafe { multipc_machine_new(shape.as_ptr(), &config, &mut machine) });
    machine
}

/// The present of a machine, in picoseconds.
pub fn now_ps(machine: *const multipc_machine) -> u64 {
    let mut state = blank::<multipc_machine_state>();
    // SAFETY: a handle, an output.
    ok(unsafe { multipc_machine_look(machine, &mut state) });
    state.time_ps
}

/// The call finds a null pointer and names it.
macro_rules! is_null {
    ($name:literal, $call:expr) => {
        // SAFETY: pointers are null or lead to locals.
        let status = unsafe { $call };
        assert_eq!(status, MULTIPC_ERROR_NULL, "{}", stringify!($call));
        assert_eq!(
            $crate::common::last(),
            concat!($name, " is null"),
            "{}",
            stringify!($call)
        );
    };
}

/// The call is refused with this status and these words.
macro_rules! wrong {
    ($status:expr, $text:expr, $call:expr) => {
        // SAFETY: pointers lead to locals.
        let status = unsafe { $call };
        assert_eq!(status, $status, "{}", stringify!($call));
        assert_eq!($crate::common::last(), $text, "{}", stringify!($call));
    };
}

pub(crate) use {is_null, wrong};

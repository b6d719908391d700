//! What a call returns, and the words for it.

use core::cell::{Cell, RefCell};
use core::ffi::c_char;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call returns: `MULTIPC_OK` or one of `MULTIPC_ERROR_...`.
pub type multipc_status = i32;

/// Done.
pub const MULTIPC_OK: i32 = 0;
/// A pointer is null.
pub const MULTIPC_ERROR_NULL: i32 = 1;
/// An argument is outside its range, or a pointer is not aligned.
pub const MULTIPC_ERROR_ARGUMENT: i32 = 2;
/// Header and library do not belong together.
pub const MULTIPC_ERROR_ABI: i32 = 3;
/// No machine of this shape can be built.
pub const MULTIPC_ERROR_SHAPE: i32 = 4;
/// Bytes outside the memory of a board.
pub const MULTIPC_ERROR_MEMORY: i32 = 5;
/// A configuration access ended badly on the bus.
pub const MULTIPC_ERROR_BUS: i32 = 6;
/// Not now: an access or an instruction is under way (or none that could be taken), the
/// driver is starting, or open already, or the user has its identifiers.
pub const MULTIPC_ERROR_BUSY: i32 = 7;
/// The driver is not open.
pub const MULTIPC_ERROR_CLOSED: i32 = 8;
/// The driver has stopped its board after a fault; to be closed and opened again.
pub const MULTIPC_ERROR_STOPPED: i32 = 9;
/// No room: the ring of the driver, its users, its identifiers. Polling makes room in
/// the ring.
pub const MULTIPC_ERROR_FULL: i32 = 10;
/// The driver does not reach this node by its links.
pub const MULTIPC_ERROR_UNREACHABLE: i32 = 11;
/// An entry that the controller must not be given.
pub const MULTIPC_ERROR_PROTOCOL: i32 = 12;
/// Faults of which one cannot be: a place that the machine lacks, a number never reached.
pub const MULTIPC_ERROR_FAULT: i32 = 13;
/// A text that does not say what it should.
pub const MULTIPC_ERROR_TEXT: i32 = 14;
/// A fault of the library itself; the handle is to be freed.
pub const MULTIPC_ERROR_INTERNAL: i32 = 99;

/// A status with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: multipc_status,
    text: String,
}

impl Error {
    /// A status, and what is wrong.
    pub(crate) fn new(status: multipc_status, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
        }
    }

    /// The same, told where.
    pub(crate) fn behind(self, place: &str) -> Self {
        let text = place.to_owned() + &self.text;
        Self { text, ..self }
    }

    /// An argument outside its range.
    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::new(MULTIPC_ERROR_ARGUMENT, text)
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
    static FAILURES: Cell<u64> = const { Cell::new(0) };
}

/// How many calls of this thread have failed.
pub(crate) fn failures() -> u64 {
    FAILURES.get()
}

/// The words of the last one.
pub(crate) fn words() -> String {
    LAST.with(|last| last.borrow().to_string_lossy().into_owned())
}

/// Runs the body of a call: its error becomes a status, a panic ends here.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Error>) -> multipc_status {
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return MULTIPC_OK,
        Ok(Err(error)) => error,
        Err(payload) => {
            let text = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            Error::new(
                MULTIPC_ERROR_INTERNAL,
                format!("internal error: {}", text.unwrap_or_default()),
            )
        }
    };
    let text = CString::new(error.text.replace('\0', " ")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
    FAILURES.set(FAILURES.get().wrapping_add(1));
    error.status
}

/// What was wrong with the last call of this thread that failed; empty when none has.
/// Valid until the next one fails; never null.
#[unsafe(no_mangle)]
pub extern "C" fn multipc_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// The name of a status, as text: `"MULTIPC_OK"`. Never null, never to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn multipc_status_name(status: multipc_status) -> *const c_char {
    let name = match status {
        MULTIPC_OK => c"MULTIPC_OK",
        MULTIPC_ERROR_NULL => c"MULTIPC_ERROR_NULL",
        MULTIPC_ERROR_ARGUMENT => c"MULTIPC_ERROR_ARGUMENT",
        MULTIPC_ERROR_ABI => c"MULTIPC_ERROR_ABI",
        MULTIPC_ERROR_SHAPE => c"MULTIPC_ERROR_SHAPE",
        MULTIPC_ERROR_MEMORY => c"MULTIPC_ERROR_MEMORY",
        MULTIPC_ERROR_BUS => c"MULTIPC_ERROR_BUS",
        MULTIPC_ERROR_BUSY => c"MULTIPC_ERROR_BUSY",
        MULTIPC_ERROR_CLOSED => c"MULTIPC_ERROR_CLOSED",
        MULTIPC_ERROR_STOPPED => c"MULTIPC_ERROR_STOPPED",
        MULTIPC_ERROR_FULL => c"MULTIPC_ERROR_FULL",
        MULTIPC_ERROR_UNREACHABLE => c"MULTIPC_ERROR_UNREACHABLE",
        MULTIPC_ERROR_PROTOCOL => c"MULTIPC_ERROR_PROTOCOL",
        MULTIPC_ERROR_FAULT => c"MULTIPC_ERROR_FAULT",
        MULTIPC_ERROR_TEXT => c"MULTIPC_ERROR_TEXT",
        MULTIPC_ERROR_INTERNAL => c"MULTIPC_ERROR_INTERNAL",
        _ => c"unknown status",
    };
    name.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_panic_becomes_a_status_with_its_message() {
        // The message on the error stream of the test is expected.
        let status = call(|| panic!("chip {} on fire", 3));
        assert_eq!(status, MULTIPC_ERROR_INTERNAL);
        // SAFETY: never null, ends with a zero.
        let text = unsafe { CStr::from_ptr(multipc_last_error()) };
        assert_eq!(text.to_str(), Ok("internal error: chip 3 on fire"));
    }

    #[test]
    fn a_success_leaves_the_last_error_alone() {
        assert_eq!(
            call(|| Err(Error::argument("first"))),
            MULTIPC_ERROR_ARGUMENT
        );
        assert_eq!(call(|| Ok(())), MULTIPC_OK);
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(multipc_last_error()) };
        assert_eq!(text.to_str(), Ok("first"));
    }

    #[test]
    fn every_status_has_its_name() {
        for (status, name) in [
            (MULTIPC_OK, c"MULTIPC_OK"),
            (MULTIPC_ERROR_BUSY, c"MULTIPC_ERROR_BUSY"),
            (MULTIPC_ERROR_TEXT, c"MULTIPC_ERROR_TEXT"),
            (MULTIPC_ERROR_INTERNAL, c"MULTIPC_ERROR_INTERNAL"),
            (-5, c"unknown status"),
        ] {
            // SAFETY: as above.
            assert_eq!(unsafe { CStr::from_ptr(multipc_status_name(status)) }, name);
        }
    }
}

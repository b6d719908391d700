//! The driver of one board.
//!
//! ```text
//!   new -- open --> STARTING -- ready --> RUNNING -- fault --> STOPPED
//!            ^                               |                    |
//!            +------------ close ------------+--------------------+
//! ```

mod config;
mod event;
mod hardware;
mod post;
mod users;

pub use config::*;
pub use event::*;
pub use hardware::*;
pub use post::*;
pub use users::*;

use core::cell::{RefCell, RefMut};
use std::collections::VecDeque;

use multipc::put::{Event, Phase, Put, SAPS, Sap};

use crate::error::{Error, MULTIPC_ERROR_BUSY, call, multipc_status};
use crate::raw;

use hardware::{Hardware, port};

/// Not opened yet, or closed.
pub const MULTIPC_PHASE_CLOSED: u32 = 0;
/// Opened; what the board tells is ignored until `multipc_put_ready`.
pub const MULTIPC_PHASE_STARTING: u32 = 1;
/// Pages may be posted.
pub const MULTIPC_PHASE_RUNNING: u32 = 2;
/// Stopped after a fault, until it is closed and opened again.
pub const MULTIPC_PHASE_STOPPED: u32 = 3;

/// The driver of one board.
pub struct multipc_put {
    // A callback may come back with the handle: it must find it taken.
    inner: RefCell<Driver>,
}

struct Driver {
    put: Put,
    hardware: Hardware,
    saps: [Option<Sap>; SAPS],
    /// Told by the driver, not yet taken by the caller.
    events: VecDeque<Event>,
}

/// Where a driver stands, and its counters.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_put_state {
    /// `MULTIPC_PHASE_...`.
    pub phase: u32,
    /// Entries that can be posted now.
    pub room: u32,
    /// The number that the next entry will have; the first one after an opening has 0.
    pub next: u64,
    /// Every entry below this number was read by the controller, and those with
    /// `MULTIPC_NOS` have left.
    pub retired: u64,
    /// Entries posted since the driver was made, as all that follows.
    pub posted: u64,
    /// Pages acknowledged as sent.
    pub sent: u64,
    /// Reports taken.
    pub received: u64,
    /// Acknowledgements written for pages.
    pub acknowledged_pages: u64,
    /// Acknowledgements written for messages.
    pub acknowledged_messages: u64,
    /// Pages and messages whose identifier no user owns.
    pub unclaimed: u64,
    /// Interrupts without a cause.
    pub spurious: u32,
    /// Faults told.
    pub faults: u32,
}

/// A driver, not opened yet, of this hardware, into `*out`. The calls of `hardware` are
/// copied.
///
/// # Safety
/// `hardware` and `out` are null or lead to what their types say; the calls of
/// `hardware` may be made during each call with the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_new(
    hardware: *const multipc_hardware,
    out: *mut *mut multipc_put,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let calls = unsafe { raw::read(hardware, "hardware") }?;
        let make = || {
            Ok(multipc_put {
                inner: RefCell::new(Driver {
                    put: Put::new(),
                    hardware: Hardware::new(calls)?,
                    saps: [None; SAPS],
                    events: VecDeque::new(),
                }),
            })
        };
        // SAFETY: as above.
        unsafe { raw::give(out, make) }
    })
}

/// Frees a driver; null is nothing. The board is not touched.
///
/// # Safety
/// `put` is null or a handle that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_free(put: *mut multipc_put) {
    // SAFETY: promised by the caller.
    unsafe { raw::free(put) }
}

/// Where the driver stands, and its counters; touches no hardware.
///
/// # Safety
/// `put` is null or a handle, `state` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_look(
    put: *const multipc_put,
    state: *mut multipc_put_state,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let driver = unsafe { taken(put) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(state, "state") }?;
        let put = &driver.put;
        let stats = put.stats();
        let [acknowledged_pages, acknowledged_messages] = stats.acknowledged;
        out.put(multipc_put_state {
            phase: match put.phase() {
                Phase::Starting => MULTIPC_PHASE_STARTING,
                Phase::Running => MULTIPC_PHASE_RUNNING,
                Phase::Stopped(_) => MULTIPC_PHASE_STOPPED,
                _ => MULTIPC_PHASE_CLOSED,
            },
            room: put.lpe_free(),
            next: put.next_sequence().number(),
            retired: put.retired().number(),
            posted: stats.posted,
            sent: stats.sent,
            received: stats.received,
            acknowledged_pages,
            acknowledged_messages,
            unclaimed: stats.unclaimed,
            spurious: stats.spurious,
            faults: stats.faults,
        });
        Ok(())
    })
}

/// The driver behind a handle, unless a call with it is under way.
///
/// # Safety
/// As [`raw::view`].
unsafe fn taken<'a>(put: *const multipc_put) -> Result<RefMut<'a, Driver>, Error> {
    // SAFETY: promised by the caller.
    let put = unsafe { raw::view(put, "put") }?;
    put.inner.try_borrow_mut().map_err(|_| {
        Error::new(
            MULTIPC_ERROR_BUSY,
            "driver is in use: called from its own hardware",
        )
    })
}

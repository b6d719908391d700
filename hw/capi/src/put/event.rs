//! What a driver tells: pages that left, messages that arrived, faults.

use core::ffi::c_char;

use multipc::put::{Control, Descriptor, Event, Fault, PortError, ServeError, Served};

use super::hardware::Failure;
use super::post::multipc_entry;
use super::{Driver, multipc_put, port, taken};
use crate::error::{Error, MULTIPC_ERROR_CLOSED, MULTIPC_ERROR_STOPPED, call, multipc_status};
use crate::raw;

/// A page with `MULTIPC_NOS` has left.
pub const MULTIPC_PUT_SENT: u32 = 1;
/// A message with `MULTIPC_LMI` has arrived.
pub const MULTIPC_PUT_RECEIVED: u32 = 2;
/// The board tells of error bits, now cleared: `status` has bits 23 to 12 of STATUS,
/// `value` bits 30 to 27 and 24 of register 04h.
pub const MULTIPC_PUT_ERRORS: u32 = 3;
/// A pointer register, at `offset`, holds `value`, outside what was posted.
pub const MULTIPC_PUT_BAD_POINTER: u32 = 4;
/// STATUS, in `status`, counts pages or messages and there is none to acknowledge.
pub const MULTIPC_PUT_LOOP: u32 = 5;

/// No user owns the message identifier of this event.
pub const MULTIPC_NO_SAP: u32 = 0xFFFF_FFFF;

/// What the driver tells, once.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_put_event {
    /// `MULTIPC_PUT_...`.
    pub kind: u32,
    /// The user that owns the message identifier, or `MULTIPC_NO_SAP`.
    pub sap: u32,
    /// Sent: the page as it was posted. Received: `mi` is set, the rest 0.
    pub entry: multipc_entry,
    /// Received: the data of a short message.
    pub data: [u32; 2],
    /// See `MULTIPC_PUT_ERRORS`, `MULTIPC_PUT_LOOP`.
    pub status: u32,
    /// See `MULTIPC_PUT_ERRORS`, `MULTIPC_PUT_BAD_POINTER`.
    pub value: u32,
    /// Received: packets of the message.
    pub packets: u16,
    /// Received: 1 when it was a short message.
    pub short_message: u8,
    /// See `MULTIPC_PUT_BAD_POINTER`.
    pub offset: u8,
    /// A fault: 1 when the board was stopped for it.
    pub stopped: u8,
}

/// What one call of `multipc_put_poll` or `multipc_put_interrupt` did.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_put_served {
    /// Events written.
    pub events: usize,
    /// Ring entries taken back from the controller.
    pub descriptors: u16,
    /// Reports taken.
    pub reports: u16,
    /// 1: there is more, call again.
    pub more: u8,
    /// 1: the interrupt had a cause; always so for polls.
    pub cause: u8,
}

/// One round of the polling model: errors, then at most `budget` entries of each ring,
/// oldest first. Events are written to `events`, at most `capacity`; those that find no
/// room come with the next calls, before the board is looked at again.
///
/// # Safety
/// `put` is null or a handle, `events` null or `capacity` elements, `served` null or leads
/// to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_poll(
    put: *mut multipc_put,
    budget: u16,
    events: *mut multipc_put_event,
    capacity: usize,
    served: *mut multipc_put_served,
) -> multipc_status {
    // SAFETY: promised by the caller.
    call(|| unsafe { serve(put, budget, events, capacity, served, false) })
}

/// The interrupt handler; to be called while INTA# is asserted, which is a level: it
/// falls when every cause is acknowledged. Else as `multipc_put_poll`.
///
/// # Safety
/// As `multipc_put_poll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_interrupt(
    put: *mut multipc_put,
    budget: u16,
    events: *mut multipc_put_event,
    capacity: usize,
    served: *mut multipc_put_served,
) -> multipc_status {
    // SAFETY: promised by the caller.
    call(|| unsafe { serve(put, budget, events, capacity, served, true) })
}

/// The event in words: `"board reports eep; stopped"`; `capacity` bytes at `text`, the
/// zero at the end included, are enough or the words are cut.
///
/// # Safety
/// `event` is null or leads to what its type says, `text` null or `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_event_text(
    event: *const multipc_put_event,
    text: *mut c_char,
    capacity: usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let event = unsafe { raw::read(event, "event") }?;
        // SAFETY: as above.
        unsafe { raw::put_text(&event.words()?, text, capacity, "text") }
    })
}

/// # Safety
/// As [`multipc_put_poll`].
unsafe fn serve(
    put: *mut multipc_put,
    budget: u16,
    events: *mut multipc_put_event,
    capacity: usize,
    served: *mut multipc_put_served,
    interrupt: bool,
) -> Result<(), Error> {
    // SAFETY: promised by our caller, here and below.
    let driver = &mut *unsafe { taken(put) }?;
    // SAFETY: as above.
    let events = unsafe { raw::slice_mut(events, capacity, "events") }?;
    // SAFETY: as above.
    let out = unsafe { raw::out(served, "served") }?;
    let waiting = !driver.events.is_empty();
    let done = if waiting {
        Served::default()
    } else {
        driver.look(budget, interrupt)?
    };
    let count = driver.events.len().min(events.len());
    for (slot, event) in events.iter_mut().zip(driver.events.drain(..count)) {
        *slot = multipc_put_event::from(&event);
    }
    out.put(multipc_put_served {
        events: count,
        descriptors: done.descriptors,
        reports: done.reports,
        // What was not looked at may hold more.
        more: (done.more || waiting || !driver.events.is_empty()).into(),
        cause: (done.cause || waiting).into(),
    });
    Ok(())
}

impl Driver {
    fn look(&mut self, budget: u16, interrupt: bool) -> Result<Served, Error> {
        let Self {
            put,
            hardware,
            events,
            ..
        } = self;
        let mut told = |event| events.push_back(event);
        let served = if interrupt {
            put.on_interrupt(hardware, budget, &mut told)
        } else {
            put.poll(hardware, budget, &mut told)
        };
        served.map_err(|error: ServeError<PortError<Failure, Failure>>| {
            let words = error.to_string();
            match error {
                ServeError::Port(error) => port(error),
                ServeError::Stopped => Error::new(MULTIPC_ERROR_STOPPED, words),
                _ => Error::new(MULTIPC_ERROR_CLOSED, words),
            }
        })
    }
}

impl From<&Descriptor> for multipc_entry {
    fn from(page: &Descriptor) -> Self {
        Self {
            node: page.routing_part.into(),
            mi: page.control.mi(),
            flags: page.control.bits() & 0xFF00_0000,
            length: page.page_length.into(),
            remote: page.prsa,
            local: page.plsa,
        }
    }
}

impl From<&Event> for multipc_put_event {
    fn from(event: &Event) -> Self {
        let nobody = Self {
            sap: MULTIPC_NO_SAP,
            ..Self::default()
        };
        let received = |sap, mi, data: Option<[u32; 2]>, packets| Self {
            kind: MULTIPC_PUT_RECEIVED,
            sap,
            entry: multipc_entry {
                mi,
                ..multipc_entry::default()
            },
            short_message: data.is_some().into(),
            data: data.unwrap_or_default(),
            packets,
            ..nobody
        };
        match event {
            Event::Sent {
                sap, descriptor, ..
            } => Self {
                kind: MULTIPC_PUT_SENT,
                sap: sap.index().into(),
                entry: descriptor.into(),
                ..nobody
            },
            Event::UnclaimedSent { descriptor } => Self {
                kind: MULTIPC_PUT_SENT,
                entry: descriptor.into(),
                ..nobody
            },
            Event::Received {
                sap,
                mi,
                data,
                packets,
            } => received(sap.index().into(), *mi, *data, *packets),
            Event::UnclaimedReceived { report } => {
                let short = report.control.has(Control::SM).then_some(report.data);
                let mi = report.control.mi();
                received(MULTIPC_NO_SAP, mi, short, report.packet_number)
            }
            Event::Error { fault, stopped } => {
                let (kind, status, offset, value) = match *fault {
                    Fault::Reported { status, pci } => (MULTIPC_PUT_ERRORS, status, 0, pci),
                    Fault::BadPointer { offset, value } => {
                        (MULTIPC_PUT_BAD_POINTER, 0, offset, value)
                    }
                    Fault::InterruptLoop { status } => (MULTIPC_PUT_LOOP, status, 0, 0),
                    // None that this interface knows.
                    _ => (0, 0, 0, 0),
                };
                Self {
                    kind,
                    status,
                    offset,
                    value,
                    stopped: (*stopped).into(),
                    ..nobody
                }
            }
            _ => nobody,
        }
    }
}

impl multipc_put_event {
    fn words(&self) -> Result<String, Error> {
        let (status, offset, value) = (self.status, self.offset, self.value);
        let multipc_entry {
            node, mi, length, ..
        } = self.entry;
        let fault = match self.kind {
            MULTIPC_PUT_SENT => {
                return Ok(format!(
                    "message {mi:#x}: page of {length} bytes to node {node} has left"
                ));
            }
            MULTIPC_PUT_RECEIVED => {
                let packets = self.packets;
                return Ok(format!("message {mi:#x} has arrived, {packets} packets"));
            }
            MULTIPC_PUT_ERRORS => Fault::Reported { status, pci: value },
            MULTIPC_PUT_BAD_POINTER => Fault::BadPointer { offset, value },
            MULTIPC_PUT_LOOP => Fault::InterruptLoop { status },
            other => return Err(Error::argument(format!("event of kind {other}"))),
        };
        let end = if self.stopped != 0 { "; stopped" } else { "" };
        Ok(format!("{fault}{end}"))
    }
}

//! Posting pages, short and composed messages.

use multipc::put::{AddError, Control, CounterError, Entry, Sequence};

use super::hardware::Failure;
use super::{multipc_put, port, taken};
use crate::error::{
    Error, MULTIPC_ERROR_BUSY, MULTIPC_ERROR_CLOSED, MULTIPC_ERROR_FULL, MULTIPC_ERROR_PROTOCOL,
    MULTIPC_ERROR_STOPPED, MULTIPC_ERROR_UNREACHABLE, call, multipc_status,
};
use crate::raw;

/// Flag of an entry: the receiver counts the message when it is complete (needs
/// `MULTIPC_LMI`).
pub const MULTIPC_NOR: u32 = 0x8000_0000;
/// Flag of an entry: last page of the message.
pub const MULTIPC_LMP: u32 = 0x4000_0000;
/// Flag of an entry: part of a composed message, without data.
pub const MULTIPC_CM: u32 = 0x2000_0000;
/// Flag of an entry: the receiver counts the packets.
pub const MULTIPC_LRM: u32 = 0x1000_0000;
/// Flag of an entry: the receiver gets a report when the message is complete.
pub const MULTIPC_LMI: u32 = 0x0800_0000;
/// Flag of an entry: short message, 8 bytes in `remote` and `local`, length 0.
pub const MULTIPC_SM: u32 = 0x0400_0000;
/// Flag of an entry: the sender counts the page when it has left (needs `MULTIPC_LMP`).
pub const MULTIPC_NOS: u32 = 0x0200_0000;

const _: () = {
    assert!(MULTIPC_NOR == Control::NOR.bits());
    assert!(MULTIPC_LMP == Control::LMP.bits());
    assert!(MULTIPC_CM == Control::CM.bits());
    assert!(MULTIPC_LRM == Control::LRM.bits());
    assert!(MULTIPC_LMI == Control::LMI.bits());
    assert!(MULTIPC_SM == Control::SM.bits());
    assert!(MULTIPC_NOS == Control::NOS.bits());
};

/// One entry to post. A page is contiguous in the physical memory of both nodes; there is
/// nothing to pin, the controller takes the addresses as they are.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_entry {
    /// Destination.
    pub node: u32,
    /// Message identifier, 24 bits: one of the sender's user, and of the receiver's.
    pub mi: u32,
    /// The sum of `MULTIPC_NOR` ... `MULTIPC_NOS`.
    pub flags: u32,
    /// Bytes of the page, 1 to 65,535; 0 for short and composed messages.
    pub length: u32,
    /// Physical address there; first word of a short message.
    pub remote: u32,
    /// Physical address here; second word of a short message.
    pub local: u32,
}

/// Posts the entries of a message, all or none, with one write of LPE_NEW; the number of
/// the last one into `*sequence`. `MULTIPC_ERROR_FULL` goes away by polling.
///
/// # Safety
/// `put` is null or a handle, `entries` null or `count` elements, `sequence` null or leads
/// to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_post(
    put: *mut multipc_put,
    entries: *const multipc_entry,
    count: usize,
    sequence: *mut u64,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let driver = &mut *unsafe { taken(put) }?;
        // SAFETY: as above.
        let entries = unsafe { raw::slice(entries, count, "entries") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(sequence, "sequence") }?;
        if entries.is_empty() {
            return Err(Error::argument("message of 0 entries, at least 1"));
        }
        let nodes = driver.put.nodes();
        let made: Result<Vec<Entry>, Error> = entries.iter().map(|e| e.entry(nodes)).collect();
        let posted = driver.put.add_message(&mut driver.hardware, &made?);
        out.put(posted.map_err(refused)?.number());
        Ok(())
    })
}

/// Whether the entry of this number is known to have left: 1 or 0 into `*left`. One
/// without `MULTIPC_NOS` is known to only when the controller has gone beyond the entry
/// behind it. Touches no hardware: poll first.
///
/// # Safety
/// `put` is null or a handle, `left` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_has_left(
    put: *const multipc_put,
    sequence: u64,
    left: *mut u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let driver = unsafe { taken(put) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(left, "left") }?;
        let sequence = Sequence::from_number(sequence);
        out.put(driver.put.has_left(sequence).into());
        Ok(())
    })
}

/// Expects a composed message of `senders` parts under `mi`.
///
/// # Safety
/// `put` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_expect(
    put: *mut multipc_put,
    mi: u32,
    senders: u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let driver = &mut *unsafe { taken(put) }?;
        let expected = driver
            .put
            .expect_composed(&mut driver.hardware, mi, senders);
        expected.map_err(|error| match error {
            CounterError::Port(error) => port(error),
            CounterError::NotOpen => Error::new(MULTIPC_ERROR_CLOSED, error.to_string()),
            _ => Error::argument(error.to_string()),
        })
    })
}

fn refused(error: AddError<multipc::put::PortError<Failure, Failure>>) -> Error {
    let words = error.to_string();
    let status = match error {
        AddError::Port(error) => return port(error),
        AddError::NotOpen => MULTIPC_ERROR_CLOSED,
        AddError::Starting => MULTIPC_ERROR_BUSY,
        AddError::Stopped => MULTIPC_ERROR_STOPPED,
        AddError::NotOnHsl { .. } => MULTIPC_ERROR_UNREACHABLE,
        AddError::RingFull { .. } => MULTIPC_ERROR_FULL,
        AddError::Protocol(_) => MULTIPC_ERROR_PROTOCOL,
        _ => return Error::argument(words),
    };
    Error::new(status, words)
}

impl multipc_entry {
    fn entry(&self, nodes: u16) -> Result<Entry, Error> {
        let Self {
            node,
            mi,
            flags,
            length,
            remote,
            local,
        } = *self;
        let to = u16::try_from(node)
            .map_err(|_| Error::argument(format!("node {node} is unknown, allowed 0..{nodes}")))?;
        let flags = Control::from_bits(flags);
        Ok(Entry::page(to, mi, local, remote, length, flags))
    }
}

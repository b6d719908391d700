//! Users of a board, their message identifiers, and who is reached.

use multipc::put::{AttachError, Sap, SapError};

use super::{Driver, multipc_put, taken};
use crate::error::{
    Error, MULTIPC_ERROR_BUSY, MULTIPC_ERROR_CLOSED, MULTIPC_ERROR_FULL, call, multipc_status,
};
use crate::raw;

/// Users of a board at most.
pub const MULTIPC_SAPS: u32 = 6;

const _: () = assert!(MULTIPC_SAPS as usize == multipc::put::SAPS);

/// Registers a user of the board (a SAP) in the first free slot; its number, from 0,
/// into `*sap`.
///
/// # Safety
/// `put` is null or a handle, `sap` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_register_sap(
    put: *mut multipc_put,
    sap: *mut u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let driver = &mut *unsafe { taken(put) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(sap, "sap") }?;
        let sap = driver.put.register_sap().map_err(refused)?;
        if let Some(slot) = driver.saps.get_mut(usize::from(sap.index())) {
            *slot = Some(sap);
        }
        out.put(sap.index().into());
        Ok(())
    })
}

/// Takes a user off the board and frees its message identifiers.
///
/// # Safety
/// `put` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_unregister_sap(
    put: *mut multipc_put,
    sap: u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let driver = &mut *unsafe { taken(put) }?;
        let known = driver.sap(sap)?;
        driver.put.unregister_sap(known).map_err(refused)?;
        driver.saps[usize::from(known.index())] = None;
        Ok(())
    })
}

/// Gives a user `n` message identifiers, a power of 2, once; the first of them into
/// `*start`. All nodes that register and attach in the same order get the same ones.
///
/// # Safety
/// `put` is null or a handle, `start` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_attach(
    put: *mut multipc_put,
    sap: u32,
    n: u32,
    start: *mut u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let driver = &mut *unsafe { taken(put) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(start, "start") }?;
        if n == 0 {
            return Err(Error::argument(
                "range of 0 message identifiers, at least 1",
            ));
        }
        let sap = driver.sap(sap)?;
        driver.put.attach_mi_range(sap, n).map_err(|error| {
            let words = error.to_string();
            match error {
                AttachError::NotOpen => Error::new(MULTIPC_ERROR_CLOSED, words),
                AttachError::AlreadyAttached { .. } => Error::new(MULTIPC_ERROR_BUSY, words),
                AttachError::NoRoom { .. } => Error::new(MULTIPC_ERROR_FULL, words),
                _ => Error::argument(words),
            }
        })?;
        let range = driver.put.mi_range(sap).map_err(refused)?;
        out.put(range.map_or(0, |range| range.start));
        Ok(())
    })
}

/// Says whether a node is reached by links (not 0) or not; all are after an opening with
/// `links` 1.
///
/// # Safety
/// `put` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_reach(
    put: *mut multipc_put,
    node: u32,
    reached: u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let driver = &mut *unsafe { taken(put) }?;
        let nodes = driver.put.nodes();
        match u16::try_from(node) {
            Ok(node) if driver.put.set_on_hsl(node, reached != 0) => Ok(()),
            _ => Err(Error::argument(format!("node {node}, allowed 0..{nodes}"))),
        }
    })
}

impl Driver {
    fn sap(&self, sap: u32) -> Result<Sap, Error> {
        let slot = usize::try_from(sap).ok().and_then(|at| self.saps.get(at));
        let known = slot.copied().flatten();
        known.ok_or_else(|| Error::argument(format!("sap {sap} is not registered")))
    }
}

fn refused(error: SapError) -> Error {
    let words = error.to_string();
    match error {
        SapError::NotOpen => Error::new(MULTIPC_ERROR_CLOSED, words),
        SapError::Full => Error::new(MULTIPC_ERROR_FULL, words),
        _ => Error::argument(words),
    }
}

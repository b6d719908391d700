//! The CPU side of a machine's boards: registers, interrupt line, memory.

use multipc::fabric::HostError;

use crate::board::bus;
use crate::error::{Error, MULTIPC_ERROR_BUS, MULTIPC_ERROR_MEMORY, call, multipc_status};
use crate::machine::{in_range, multipc_machine};
use crate::raw;

/// Reads the register at `offset` by a configuration cycle on the node's bus; time goes
/// on until it is over. Nobody there reads as all ones.
///
/// # Safety
/// `machine` is null or a handle, `value` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_config_read(
    machine: *mut multipc_machine,
    node: u32,
    offset: u8,
    value: *mut u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(value, "value") }?;
        let node = machine.node(node)?;
        let mut host = machine.machine.host(node).map_err(host_error)?;
        out.put(host.read_register(offset).map_err(host_error)?);
        Ok(())
    })
}

/// Writes the register at `offset` by a configuration cycle on the node's bus; time goes
/// on until it is over.
///
/// # Safety
/// `machine` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_config_write(
    machine: *mut multipc_machine,
    node: u32,
    offset: u8,
    value: u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        let node = machine.node(node)?;
        let mut host = machine.machine.host(node).map_err(host_error)?;
        host.write_register(offset, value).map_err(host_error)
    })
}

/// Whether INTA# of the node is asserted: 1 or 0 into `*asserted`. When it changes:
/// `multipc_machine_watch` with `MULTIPC_PIN_INTA`.
///
/// # Safety
/// `machine` is null or a handle, `asserted` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_interrupt(
    machine: *const multipc_machine,
    node: u32,
    asserted: *mut u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::view(machine, "machine") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(asserted, "asserted") }?;
        let node = machine.node(node)?;
        let node = machine.machine.nodes().get(usize::from(node));
        out.put(node.is_some_and(|node| !node.inta_n()).into());
        Ok(())
    })
}

/// Copies `len` bytes from the node's memory at `addr`; takes no time.
///
/// # Safety
/// `machine` is null or a handle, `bytes` null or `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_memory_read(
    machine: *const multipc_machine,
    node: u32,
    addr: u32,
    bytes: *mut u8,
    len: usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::view(machine, "machine") }?;
        // SAFETY: as above.
        let bytes = unsafe { raw::slice_mut(bytes, len, "bytes") }?;
        bytes.copy_from_slice(machine.memory(node, addr, len)?);
        Ok(())
    })
}

/// Copies `len` bytes to the node's memory at `addr`; takes no time.
///
/// # Safety
/// As `multipc_machine_memory_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_memory_write(
    machine: *mut multipc_machine,
    node: u32,
    addr: u32,
    bytes: *const u8,
    len: usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let bytes = unsafe { raw::slice(bytes, len, "bytes") }?;
        let node = machine.node(node)?;
        let mut host = machine.machine.host(node).map_err(host_error)?;
        host.store(addr, bytes).map_err(|e| host_error(e.into()))
    })
}

/// The node's memory in place: `*bytes` leads to the `len` bytes at `addr`, to be read
/// only, until the next call with this machine.
///
/// # Safety
/// `machine` is null or a handle, `bytes` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_memory_view(
    machine: *const multipc_machine,
    node: u32,
    addr: u32,
    len: usize,
    bytes: *mut *const u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::view(machine, "machine") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(bytes, "bytes") }?;
        out.put(machine.memory(node, addr, len)?.as_ptr());
        Ok(())
    })
}

fn host_error(error: HostError) -> Error {
    match error {
        HostError::Bus(error) => bus(error),
        HostError::Memory(_) => Error::new(MULTIPC_ERROR_MEMORY, error.to_string()),
        HostError::NoAnswer { .. } => Error::new(MULTIPC_ERROR_BUS, error.to_string()),
        _ => Error::argument(error.to_string()),
    }
}

impl multipc_machine {
    fn node(&self, node: u32) -> Result<u16, Error> {
        in_range("node", node, self.machine.nodes().len())
    }

    fn memory(&self, node: u32, addr: u32, len: usize) -> Result<&[u8], Error> {
        let node = self.node(node)?;
        let Some(node) = self.machine.nodes().get(usize::from(node)) else {
            return Ok(&[]);
        };
        let bytes = node.memory().slice(addr, len);
        bytes.map_err(|error| Error::new(MULTIPC_ERROR_MEMORY, error.to_string()))
    }
}

//! What a driver touches, as calls to the harness: registers, memory, INTA#.

use core::ffi::c_void;
use core::fmt;

use multipc::put::{DmaMemory, PortError, RegisterPort};

use crate::access::{
    multipc_machine_config_read, multipc_machine_config_write, multipc_machine_interrupt,
    multipc_machine_memory_read, multipc_machine_memory_write,
};
use crate::error::{
    self, Error, MULTIPC_ERROR_BUS, MULTIPC_ERROR_NULL, MULTIPC_OK, call, multipc_status,
};
use crate::machine::{in_range, multipc_machine};
use crate::raw;

/// What a driver touches of its board. Each call gets `user` and `node` and returns
/// `MULTIPC_OK`, or a status that comes back from the call of the driver. They must not
/// call that driver back (it answers `MULTIPC_ERROR_BUSY`) and must not throw.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct multipc_hardware {
    /// Handed to each call.
    pub user: *mut c_void,
    /// Handed to each call.
    pub node: u32,
    /// The register at `offset` of the configuration space into `*value`.
    pub read: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            node: u32,
            offset: u8,
            value: *mut u32,
        ) -> multipc_status,
    >,
    /// Writes it.
    pub write: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            node: u32,
            offset: u8,
            value: u32,
        ) -> multipc_status,
    >,
    /// Copies `len` bytes of the memory that the controller reaches, from physical
    /// address `addr`, to `bytes`.
    pub load: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            node: u32,
            addr: u32,
            bytes: *mut u8,
            len: usize,
        ) -> multipc_status,
    >,
    /// Copies `len` bytes to that memory. They are there before the next `write`.
    pub store: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            node: u32,
            addr: u32,
            bytes: *const u8,
            len: usize,
        ) -> multipc_status,
    >,
    /// Whether INTA# is asserted, 1 or 0 into `*asserted`. May be null: only the first
    /// run of the silicon needs it.
    pub inta: Option<
        unsafe extern "C" fn(user: *mut c_void, node: u32, asserted: *mut u8) -> multipc_status,
    >,
}

/// The hardware of a node of a machine, into `*hardware`: accesses to registers take
/// their bus cycles, memory takes no time. It is good as long as the machine lives.
///
/// # Safety
/// `machine` is null or a handle, `hardware` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_hardware(
    machine: *mut multipc_machine,
    node: u32,
    hardware: *mut multipc_hardware,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let nodes = unsafe { raw::view(machine, "machine") }?
            .machine
            .nodes()
            .len();
        // SAFETY: as above.
        let out = unsafe { raw::out(hardware, "hardware") }?;
        in_range("node", node, nodes)?;
        out.put(multipc_hardware {
            user: machine.cast(),
            node,
            read: Some(machine_read),
            write: Some(machine_write),
            load: Some(machine_load),
            store: Some(machine_store),
            inta: Some(machine_inta),
        });
        Ok(())
    })
}

// `user` is the machine. Safety of all five: it lives, and nobody uses it meanwhile.

unsafe extern "C" fn machine_read(
    user: *mut c_void,
    node: u32,
    offset: u8,
    value: *mut u32,
) -> multipc_status {
    // SAFETY: see above.
    unsafe { multipc_machine_config_read(user.cast(), node, offset, value) }
}

unsafe extern "C" fn machine_write(
    user: *mut c_void,
    node: u32,
    offset: u8,
    value: u32,
) -> multipc_status {
    // SAFETY: see above.
    unsafe { multipc_machine_config_write(user.cast(), node, offset, value) }
}

unsafe extern "C" fn machine_load(
    user: *mut c_void,
    node: u32,
    addr: u32,
    bytes: *mut u8,
    len: usize,
) -> multipc_status {
    // SAFETY: see above.
    unsafe { multipc_machine_memory_read(user.cast(), node, addr, bytes, len) }
}

unsafe extern "C" fn machine_store(
    user: *mut c_void,
    node: u32,
    addr: u32,
    bytes: *const u8,
    len: usize,
) -> multipc_status {
    // SAFETY: see above.
    unsafe { multipc_machine_memory_write(user.cast(), node, addr, bytes, len) }
}

unsafe extern "C" fn machine_inta(
    user: *mut c_void,
    node: u32,
    asserted: *mut u8,
) -> multipc_status {
    // SAFETY: see above.
    unsafe { multipc_machine_interrupt(user.cast(), node, asserted) }
}

/// A call of the hardware that failed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Failure {
    status: multipc_status,
    words: String,
}

// How the driver's errors show it.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.words.is_empty() {
            write!(f, "status {} of the hardware", self.status)
        } else {
            f.write_str(&self.words)
        }
    }
}

/// The five calls, none of them missing that has to be there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hardware {
    calls: multipc_hardware,
}

impl Hardware {
    pub(super) fn new(calls: multipc_hardware) -> Result<Self, Error> {
        let multipc_hardware {
            read,
            write,
            load,
            store,
            ..
        } = calls;
        let there = [
            ("read", read.is_some()),
            ("write", write.is_some()),
            ("load", load.is_some()),
            ("store", store.is_some()),
        ];
        match there.iter().find(|(_, there)| !there) {
            None => Ok(Self { calls }),
            Some((name, _)) => {
                let words = format!("hardware.{name} is null");
                Err(Error::new(MULTIPC_ERROR_NULL, words))
            }
        }
    }

    /// The node number handed to each call.
    pub(super) fn node(&self) -> u32 {
        self.calls.node
    }

    /// Makes a call; its words are ours if it was one of the library's that failed.
    fn made(call: impl FnOnce() -> Option<multipc_status>) -> Result<(), Failure> {
        let before = error::failures();
        match call().unwrap_or(MULTIPC_ERROR_NULL) {
            MULTIPC_OK => Ok(()),
            status => {
                let ours = error::failures() != before;
                let words = if ours { error::words() } else { String::new() };
                Err(Failure { status, words })
            }
        }
    }
}

impl RegisterPort for Hardware {
    type Error = Failure;

    fn read(&mut self, offset: u8) -> Result<u32, Failure> {
        let mut value = 0;
        let multipc_hardware { user, node, .. } = self.calls;
        // SAFETY: the harness promised it when it made the driver; here and below.
        Self::made(|| Some(unsafe { self.calls.read?(user, node, offset, &mut value) }))?;
        Ok(value)
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), Failure> {
        let multipc_hardware { user, node, .. } = self.calls;
        // SAFETY: as above.
        Self::made(|| Some(unsafe { self.calls.write?(user, node, offset, value) }))
    }

    fn inta(&mut self) -> Option<bool> {
        let mut asserted = 0;
        let multipc_hardware { user, node, .. } = self.calls;
        let inta = self.calls.inta?;
        // SAFETY: as above.
        Self::made(|| Some(unsafe { inta(user, node, &mut asserted) })).ok()?;
        Some(asserted != 0)
    }
}

impl DmaMemory for Hardware {
    type Error = Failure;

    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), Failure> {
        let multipc_hardware { user, node, .. } = self.calls;
        let (at, len) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: as above.
        Self::made(|| Some(unsafe { self.calls.load?(user, node, addr, at, len) }))
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), Failure> {
        let multipc_hardware { user, node, .. } = self.calls;
        let (at, len) = (bytes.as_ptr(), bytes.len());
        // SAFETY: as above.
        Self::made(|| Some(unsafe { self.calls.store?(user, node, addr, at, len) }))
    }
}

/// The status of hardware that did not answer.
pub(super) fn port(error: PortError<Failure, Failure>) -> Error {
    let words = error.to_string();
    let status = match error {
        PortError::Register { error, .. } | PortError::Memory { error, .. } => error.status,
        _ => MULTIPC_ERROR_BUS,
    };
    Error::new(status, words)
}

//! One board: host bridge, controller and router, whose memory is the caller's.
//!
//! ```text
//!   caller's memory - host bridge == PCI == PCI-DDC = port 0 of RCUBE = ports 1..7: lines
//! ```

use core::cell::{RefCell, RefMut};
use core::ffi::c_void;

use multipc::ddc::{Ddc, PciInputs};
use multipc::hsl::Line;
use multipc::mem::Memory;
use multipc::pci::{BridgeConfig, BridgeError, ConfigAccess, ConfigEnd, HostBridge, resolve};
use multipc::rcube::{Rcube, RcubeConfig};

use crate::ddc;
use crate::error::{
    Error, MULTIPC_ERROR_BUS, MULTIPC_ERROR_BUSY, MULTIPC_ERROR_NULL, call, multipc_status,
};
use crate::pins::{MULTIPC_PORTS, multipc_rcube_inputs};
use crate::raw;

/// The memory of a board, as calls to the harness. Words are little-endian; `addr` is a
/// multiple of 4. They must not call the board back: it answers `MULTIPC_ERROR_BUSY`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct multipc_memory {
    /// Handed to each call.
    pub user: *mut c_void,
    /// Not 0: there is memory at `addr`; else nobody answers on the bus.
    pub claims: Option<extern "C" fn(user: *mut c_void, addr: u32) -> u8>,
    /// The word at `addr`.
    pub read: Option<extern "C" fn(user: *mut c_void, addr: u32) -> u32>,
    /// Writes the bytes `i` of `value` for which bit `i` of `enables` is 1.
    pub write: Option<extern "C" fn(user: *mut c_void, addr: u32, value: u32, enables: u8)>,
}

/// What a board drives.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_board_outputs {
    /// A line a port of the router; port 0 is the controller's.
    pub lines: [u16; MULTIPC_PORTS],
    /// Bit `k`: link `k` of the router works.
    pub link_status: u8,
    /// INTA#, a level.
    pub inta_n: u8,
    /// REQ# of the controller.
    pub req_n: u8,
    /// A configuration access has ended and waits to be taken.
    pub config_done: u8,
}

/// A board.
pub struct multipc_board {
    // A callback may come back with the handle: it must find it taken.
    inner: RefCell<Board>,
}

struct Board {
    bridge: HostBridge,
    ddc: Ddc,
    router: Rcube,
    memory: Callbacks,
}

struct Callbacks {
    user: *mut c_void,
    claims: extern "C" fn(*mut c_void, u32) -> u8,
    read: extern "C" fn(*mut c_void, u32) -> u32,
    write: extern "C" fn(*mut c_void, u32, u32, u8),
}

impl Memory for Callbacks {
    fn claims(&self, addr: u32) -> bool {
        (self.claims)(self.user, addr & !3) != 0
    }

    fn read_word(&self, addr: u32) -> u32 {
        (self.read)(self.user, addr & !3)
    }

    fn write_word(&mut self, addr: u32, value: u32, enables: u8) {
        (self.write)(self.user, addr & !3, value, enables);
    }
}

/// A board after power-on, with silicon `MULTIPC_REVISION_...`, into `*out`.
///
/// # Safety
/// `memory` and `out` are null or lead to what their types say; the calls of `memory`
/// may be made as long as the board lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_new(
    revision: u32,
    memory: *const multipc_memory,
    out: *mut *mut multipc_board,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let memory = unsafe { raw::read(memory, "memory") }?;
        // SAFETY: as above.
        unsafe { raw::give(out, || multipc_board::new(revision, &memory)) }
    })
}

/// Frees a board; null is nothing.
///
/// # Safety
/// `board` is null or a handle that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_free(board: *mut multipc_board) {
    // SAFETY: promised by the caller.
    unsafe { raw::free(board) }
}

/// One PCI clock edge of the whole board.
///
/// # Safety
/// `board` is null or a handle, `outputs` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_step_pci(
    board: *mut multipc_board,
    outputs: *mut multipc_board_outputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let mut board = unsafe { taken(board) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        board.step_pci();
        out.put(board.outputs());
        Ok(())
    })
}

/// One link clock edge of router and controller: samples `inputs` (port 0 is the
/// controller's, its line is ignored), then `*outputs` is what the pins carry. At
/// coincident edges the link clock goes first.
///
/// # Safety
/// As `multipc_board_step_pci`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_step_link(
    board: *mut multipc_board,
    inputs: *const multipc_rcube_inputs,
    outputs: *mut multipc_board_outputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let mut board = unsafe { taken(board) }?;
        // SAFETY: as above.
        let inputs = unsafe { raw::read(inputs, "inputs") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        board.step_link(inputs.lines());
        out.put(board.outputs());
        Ok(())
    })
}

/// Lets the bridge begin a configuration access at the next PCI clock edges: a read of
/// the register at `offset`, or with `write` not 0 a write of `value`. One at a time;
/// `multipc_board_config_take` ends it.
///
/// # Safety
/// `board` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_config_start(
    board: *mut multipc_board,
    offset: u8,
    write: u8,
    value: u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let mut board = unsafe { taken(board) }?;
        let access = if write != 0 {
            ConfigAccess::write(offset, value)
        } else {
            ConfigAccess::read(offset)
        };
        board.bridge.submit(access).map_err(bus)
    })
}

/// The value read or written by the configuration access that has ended;
/// `MULTIPC_ERROR_BUSY` while there is none. One that nobody answered reads as all ones.
///
/// # Safety
/// `board` is null or a handle, `value` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_config_take(
    board: *mut multipc_board,
    value: *mut u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let mut board = unsafe { taken(board) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(value, "value") }?;
        let outcome = board
            .bridge
            .take()
            .ok_or_else(|| Error::new(MULTIPC_ERROR_BUSY, "no configuration access has ended"))?;
        out.put(match outcome.end {
            ConfigEnd::MasterAbort => outcome.data,
            _ => outcome.result().map_err(bus)?,
        });
        Ok(())
    })
}

/// What a board drives since its last edges.
///
/// # Safety
/// As `multipc_board_step_pci`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_pins(
    board: *mut multipc_board,
    outputs: *mut multipc_board_outputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let board = unsafe { taken(board) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        out.put(board.outputs());
        Ok(())
    })
}

/// The register at `offset`, a multiple of 4, without a bus access and its side effects.
///
/// # Safety
/// As `multipc_board_config_take`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_board_register(
    board: *mut multipc_board,
    offset: u8,
    value: *mut u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let board = unsafe { taken(board) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(value, "value") }?;
        out.put(board.ddc.register(ddc::offset(offset)?));
        Ok(())
    })
}

/// # Safety
/// As [`raw::view`].
unsafe fn taken<'a>(board: *mut multipc_board) -> Result<RefMut<'a, Board>, Error> {
    // SAFETY: promised by the caller.
    let board = unsafe { raw::view(board.cast_const(), "board") }?;
    board.inner.try_borrow_mut().map_err(|_| {
        Error::new(
            MULTIPC_ERROR_BUSY,
            "board is in use: called from its own memory",
        )
    })
}

/// The status of a refused or failed access.
pub(crate) fn bus(error: BridgeError) -> Error {
    match error {
        BridgeError::Misaligned { .. } => Error::argument(error.to_string()),
        BridgeError::Busy { .. } => Error::new(MULTIPC_ERROR_BUSY, error.to_string()),
        _ => Error::new(MULTIPC_ERROR_BUS, error.to_string()),
    }
}

impl multipc_board {
    fn new(revision: u32, memory: &multipc_memory) -> Result<Self, Error> {
        let null = |name| Error::new(MULTIPC_ERROR_NULL, format!("memory.{name} is null"));
        let memory = Callbacks {
            user: memory.user,
            claims: memory.claims.ok_or_else(|| null("claims"))?,
            read: memory.read.ok_or_else(|| null("read"))?,
            write: memory.write.ok_or_else(|| null("write"))?,
        };
        Ok(Self {
            inner: RefCell::new(Board {
                bridge: HostBridge::new(BridgeConfig::default()),
                ddc: Ddc::new(ddc::config(revision)?),
                router: Rcube::new(RcubeConfig::default().with_parallel(1)),
                memory,
            }),
        })
    }
}

impl Board {
    fn step_pci(&mut self) {
        let pins = self.ddc.pci_outputs();
        let bus = resolve(&[self.bridge.drive(), pins.drive]);
        let inputs = PciInputs {
            bus,
            idsel: self.bridge.idsel(),
            gnt_n: self.bridge.ddc_gnt_n(),
            r3_status: self.router.link_status(),
        };
        self.bridge.step(&bus, pins.req_n, &mut self.memory);
        self.ddc.step_pci(&inputs);
        let (r3_init, r3_dout) = self.ddc.chain_pins();
        self.router.chain(r3_init, r3_dout);
    }

    fn step_link(&mut self, mut inputs: [Line; MULTIPC_PORTS]) {
        // Both sample what the other drove before the edge.
        let [to_ddc, ..] = *self.router.outputs();
        inputs[0] = self.ddc.link_output();
        self.router.step(&inputs);
        self.ddc.step_link(to_ddc);
    }

    fn outputs(&self) -> multipc_board_outputs {
        let pins = self.ddc.pci_outputs();
        multipc_board_outputs {
            lines: self.router.outputs().map(Line::bits),
            link_status: self.router.link_status(),
            inta_n: pins.inta_n.into(),
            req_n: pins.req_n.into(),
            config_done: self.bridge.outcome().is_some().into(),
        }
    }
}

//! A whole machine: boards, cables, two clocks, memory.

use core::ffi::c_char;

use multipc::fabric::labelling::Labelling;
use multipc::fabric::topology::Shape;
use multipc::fabric::{BoardConfig, Domain, Machine, MachineConfig, Parts};
use multipc::time::{Duration, Frequency, Instant};

use crate::ddc;
use crate::error::{Error, MULTIPC_ERROR_SHAPE, call, multipc_status};
use crate::links::Cabling;
use crate::pins::MULTIPC_TABLE_BYTES;
use crate::raw;
use crate::watch::{MULTIPC_CLOCK_LINK, MULTIPC_CLOCK_PCI, Watch, multipc_event};

/// Most memory of all boards together, in bytes.
pub const MULTIPC_MEMORY_MAX: u64 = 0x1_0000_0000;

/// Boards and cables.
pub struct multipc_machine {
    pub(crate) machine: Machine<'static, Watch>,
    labelling: Labelling<'static>,
    pub(crate) cabling: Cabling,
}

/// What is chosen about a machine; `multipc_machine_config_default` fills it in.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_machine_config {
    /// Frequency of the link clock, in hertz. Default 66 MHz.
    pub link_hz: u64,
    /// Frequency of the PCI clock, in hertz. Default 33.33 MHz.
    pub pci_hz: u64,
    /// Physical address of the memory of each board. Default 0.
    pub memory_base: u32,
    /// Bytes of it. Default 1 MiB.
    pub memory_bytes: u32,
    /// Silicon, `MULTIPC_REVISION_...`. Default ideal.
    pub revision: u32,
}

/// What a machine is and where it stands.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_machine_state {
    /// The present, in picoseconds.
    pub time_ps: u64,
    /// Edges of the link clock so far.
    pub link_cycle: u64,
    /// Edges of the PCI clock so far.
    pub pci_cycle: u64,
    /// Events that were lost because nobody took them.
    pub events_lost: u64,
    /// Nodes.
    pub nodes: u32,
    /// Routers.
    pub routers: u32,
}

/// One clock edge.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_edge {
    /// The number of the edge, from 1.
    pub cycle: u64,
    /// When it is, in picoseconds.
    pub time_ps: u64,
    /// `MULTIPC_CLOCK_...`.
    pub clock: u32,
}

/// The recommended configuration.
///
/// # Safety
/// `config` is null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_config_default(
    config: *mut multipc_machine_config,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let out = unsafe { raw::out(config, "config") }?;
        let (clocks, board) = (MachineConfig::default(), BoardConfig::default());
        out.put(multipc_machine_config {
            link_hz: clocks.link.hz(),
            pci_hz: clocks.pci.hz(),
            memory_base: board.memory_base,
            memory_bytes: board.memory_bytes as u32,
            revision: ddc::MULTIPC_REVISION_IDEAL,
        });
        Ok(())
    })
}

/// A machine after power-on, into `*out`. `shape` names it: `pair`, `line:N`, `ring:N`,
/// `mesh:AxB`, `torus:AxB`, `hypercube:D`, `tree:NxC`, `fat-tree:LxH`, `star:N`.
///
/// # Safety
/// `shape` is null or a text that ends with a zero; the others are null or lead to what
/// their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_new(
    shape: *const c_char,
    config: *const multipc_machine_config,
    out: *mut *mut multipc_machine,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let shape = unsafe { raw::text(shape, "shape") }?;
        // SAFETY: as above.
        let config = unsafe { raw::read(config, "config") }?;
        // SAFETY: as above.
        unsafe { raw::give(out, || multipc_machine::new(shape, &config)) }
    })
}

/// Frees a machine; null is nothing.
///
/// # Safety
/// `machine` is null or a handle that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_free(machine: *mut multipc_machine) {
    // SAFETY: promised by the caller.
    unsafe { raw::free(machine) }
}

/// What a machine is and where it stands.
///
/// # Safety
/// `machine` is null or a handle, `state` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_look(
    machine: *const multipc_machine,
    state: *mut multipc_machine_state,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = &unsafe { raw::view(machine, "machine") }?.machine;
        // SAFETY: as above.
        let out = unsafe { raw::out(state, "state") }?;
        out.put(multipc_machine_state {
            time_ps: machine.now().ps(),
            link_cycle: machine.link_cycle(),
            pci_cycle: machine.pci_cycle(),
            events_lost: machine.probe().lost(),
            nodes: machine.nodes().len() as u32,
            routers: machine.routers().len() as u32,
        });
        Ok(())
    })
}

/// The routing table of a router, `MULTIPC_TABLE_BYTES` into `table`: what the software
/// of its board writes to R3_DOUT, last byte first.
///
/// # Safety
/// `machine` is null or a handle, `table` null or that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_table(
    machine: *const multipc_machine,
    router: u32,
    table: *mut u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::view(machine, "machine") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(table.cast::<[u8; MULTIPC_TABLE_BYTES]>(), "table") }?;
        let router = machine.router(router)?;
        out.put(machine.labelling.table(router).emit());
        Ok(())
    })
}

/// Loads the table of a router without a board (a fat tree has some) and releases it.
///
/// # Safety
/// `machine` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_load_table(
    machine: *mut multipc_machine,
    router: u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        let router = machine.router(router)?;
        let table = machine.labelling.table(router);
        let loaded = machine.machine.load_table(router, &table);
        loaded.map_err(|error| Error::argument(error.to_string()))
    })
}

/// The pins to report from now on: the sum of `MULTIPC_PIN_...`. Events that wait are
/// forgotten.
///
/// # Safety
/// `machine` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_watch(
    machine: *mut multipc_machine,
    pins: u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        if pins & !Watch::KNOWN != 0 {
            return Err(Error::argument(format!(
                "pins {pins:#x}, known are {:#x}",
                Watch::KNOWN
            )));
        }
        let machine = &mut machine.machine;
        let watch = Watch::set(
            pins,
            Parts {
                nodes: machine.nodes(),
                routers: machine.routers(),
            },
        );
        *machine.probe_mut() = watch;
        Ok(())
    })
}

/// Carries out the next clock edge.
///
/// # Safety
/// `machine` is null or a handle, `edge` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_step(
    machine: *mut multipc_machine,
    edge: *mut multipc_edge,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(edge, "edge") }?;
        let edge = machine.machine.step();
        out.put(multipc_edge {
            cycle: edge.cycle,
            time_ps: edge.at.ps(),
            clock: match edge.domain {
                Domain::Link => MULTIPC_CLOCK_LINK,
                Domain::Pci => MULTIPC_CLOCK_PCI,
            },
        });
        Ok(())
    })
}

/// Runs until a watched pin changes, or to `time_ps`. The changes of that edge are
/// written to `events`, at most `capacity`; `*count` is how many, 0 when the time was
/// reached. Changes that found no room, and those of configuration accesses made since,
/// come with the next call, before the machine goes on. With `capacity` 0 nothing stops
/// the run and `events` may be null.
///
/// # Safety
/// `machine` is null or a handle, `events` null or `capacity` elements, `count` null or
/// leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_run_until_time(
    machine: *mut multipc_machine,
    time_ps: u64,
    events: *mut multipc_event,
    capacity: usize,
    count: *mut usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let events = unsafe { raw::slice_mut(events, capacity, "events") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(count, "count") }?;
        out.put(machine.run(Instant::from_ps(time_ps), events));
        Ok(())
    })
}

/// As `multipc_machine_run_until_time`, up to and including edge `cycle` of a clock,
/// `MULTIPC_CLOCK_...`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_run_until_cycle(
    machine: *mut multipc_machine,
    clock: u32,
    cycle: u64,
    events: *mut multipc_event,
    capacity: usize,
    count: *mut usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let events = unsafe { raw::slice_mut(events, capacity, "events") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(count, "count") }?;
        let [link, pci] = machine.machine.clocks();
        let end = match clock {
            MULTIPC_CLOCK_LINK => link.edge(cycle),
            MULTIPC_CLOCK_PCI => pci.edge(cycle),
            other => return Err(Error::argument(format!("clock {other}, known are 0, 1"))),
        };
        out.put(machine.run(end, events));
        Ok(())
    })
}

impl multipc_machine {
    fn new(shape: &str, config: &multipc_machine_config) -> Result<Self, Error> {
        let bad_shape = |text: String| Error::new(MULTIPC_ERROR_SHAPE, text);
        let shape: Shape = shape.parse().map_err(|e| bad_shape(format!("{e}")))?;
        let topology = shape.build().map_err(|e| bad_shape(format!("{e}")))?;
        let labelling = Labelling::auto(&topology).map_err(|e| bad_shape(format!("{e}")))?;
        let total = u64::from(config.memory_bytes) * topology.generators().len() as u64;
        if config.memory_bytes < 4 || total > MULTIPC_MEMORY_MAX {
            return Err(Error::argument(format!(
                "memory of {} bytes a board, allowed 4 to {MULTIPC_MEMORY_MAX} in all",
                config.memory_bytes
            )));
        }
        let hz = |hz| Frequency::from_hz(hz).map_err(|e| Error::argument(e.to_string()));
        let mut clocks = MachineConfig::default();
        clocks.link = hz(config.link_hz)?;
        clocks.pci = hz(config.pci_hz)?;
        let mut board = BoardConfig::default();
        board.memory_base = config.memory_base;
        board.memory_bytes = config.memory_bytes as usize;
        board.ddc = ddc::config(config.revision)?;
        let machine = Machine::build(&topology, &labelling, clocks, &board)
            .map_err(|e| bad_shape(e.to_string()))?;
        Ok(Self {
            machine: machine.with_probe(Watch::nothing()),
            cabling: Cabling::of(&topology, &labelling),
            labelling,
        })
    }

    fn router(&self, router: u32) -> Result<u16, Error> {
        in_range("router", router, self.machine.routers().len())
    }

    fn run(&mut self, end: Instant, events: &mut [multipc_event]) -> usize {
        let machine = &mut self.machine;
        if events.is_empty() {
            machine.run_until(end);
            return 0;
        }
        if !machine.probe().has_events() {
            let left: Duration = end.since(machine.now());
            machine.run_while_not(left, |machine| machine.probe().has_events());
        }
        machine.probe_mut().take(events)
    }
}

pub(crate) fn in_range(name: &str, value: u32, count: usize) -> Result<u16, Error> {
    match u16::try_from(value) {
        Ok(index) if usize::from(index) < count => Ok(index),
        _ => Err(Error::argument(format!(
            "{name} {value}, allowed 0..{count}"
        ))),
    }
}

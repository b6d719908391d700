//! One router.

use multipc::hsl::Line;
use multipc::rcube::{PORTS, Rcube, RcubeConfig, RoutingTable};

use crate::error::{Error, call, multipc_status};
use crate::pins::{MULTIPC_TABLE_BYTES, multipc_rcube_inputs, multipc_rcube_outputs};
use crate::raw;

/// A router.
pub struct multipc_rcube {
    chip: Rcube,
    cycle: u64,
}

/// How a router is wired.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct multipc_rcube_config {
    /// Bit `k`: port `k` is parallel (a controller's), else serial (a cable's).
    pub parallel: u8,
    /// Not 0: start-up counts of 1, so that links come up in a few cycles.
    pub quick: u8,
}

/// A router in reset, its configuration chain all zero, into `*out`.
///
/// # Safety
/// `config` and `out` are null or lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_rcube_new(
    config: *const multipc_rcube_config,
    out: *mut *mut multipc_rcube,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let config = unsafe { raw::read(config, "config") }?;
        // SAFETY: as above.
        unsafe { raw::give(out, || Ok(multipc_rcube::new(&config))) }
    })
}

/// Frees a router; null is nothing.
///
/// # Safety
/// `rcube` is null or a handle that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_rcube_free(rcube: *mut multipc_rcube) {
    // SAFETY: promised by the caller.
    unsafe { raw::free(rcube) }
}

/// One PCI clock edge of the configuration pins: with R3_INIT low, a strobe shifts the
/// byte `dout` into the chain (byte 257 of a table first).
///
/// # Safety
/// `rcube` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_rcube_chain(
    rcube: *mut multipc_rcube,
    r3_init: u8,
    strobe: u8,
    dout: u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let rcube = unsafe { raw::handle(rcube, "rcube") }?;
        rcube
            .chip
            .chain(r3_init != 0, (strobe != 0).then_some(dout));
        Ok(())
    })
}

/// Shifts a whole table of `MULTIPC_TABLE_BYTES` in and raises R3_INIT.
///
/// # Safety
/// `rcube` is null or a handle, `table` null or that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_rcube_configure(
    rcube: *mut multipc_rcube,
    table: *const u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let rcube = unsafe { raw::handle(rcube, "rcube") }?;
        // SAFETY: as above.
        let bytes = unsafe { raw::read(table.cast::<[u8; MULTIPC_TABLE_BYTES]>(), "table") }?;
        rcube.chip.configure(&RoutingTable::parse(&bytes));
        Ok(())
    })
}

/// The table in which every input has the same eight bounds (ascending) and selections
/// (bit `k`: output `k`), with two-character headers: `MULTIPC_TABLE_BYTES` into `table`.
///
/// # Safety
/// `bounds` and `selections` are null or 8 elements, `table` is null or that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_table_uniform(
    bounds: *const u16,
    selections: *const u8,
    table: *mut u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let bounds = unsafe { raw::read(bounds.cast::<[u16; PORTS]>(), "bounds") }?;
        // SAFETY: as above.
        let selections = unsafe { raw::read(selections.cast::<[u8; PORTS]>(), "selections") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(table.cast::<[u8; MULTIPC_TABLE_BYTES]>(), "table") }?;
        let table = RoutingTable::uniform(bounds, selections);
        table
            .check()
            .map_err(|error| Error::argument(error.to_string()))?;
        out.put(table.emit());
        Ok(())
    })
}

/// One link clock edge: samples `inputs`, then `*outputs` is what the pins carry.
///
/// # Safety
/// `rcube` is null or a handle, the others are null or lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_rcube_step(
    rcube: *mut multipc_rcube,
    inputs: *const multipc_rcube_inputs,
    outputs: *mut multipc_rcube_outputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let rcube = unsafe { raw::handle(rcube, "rcube") }?;
        // SAFETY: as above.
        let inputs = unsafe { raw::read(inputs, "inputs") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        rcube.step(&inputs.lines());
        out.put(rcube.outputs());
        Ok(())
    })
}

/// Link clock edges with the same `inputs`, until an output pin changes or `cycles` edges
/// are done. `*outputs` is what the pins carry then, `*changed` whether they have, and
/// `*cycle` the number of the last edge, from 1 since the router was made.
///
/// # Safety
/// As `multipc_rcube_step`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_rcube_run_until(
    rcube: *mut multipc_rcube,
    inputs: *const multipc_rcube_inputs,
    cycles: u64,
    outputs: *mut multipc_rcube_outputs,
    changed: *mut u8,
    cycle: *mut u64,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let rcube = unsafe { raw::handle(rcube, "rcube") }?;
        // SAFETY: as above.
        let inputs = unsafe { raw::read(inputs, "inputs") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        // SAFETY: as above.
        let changed = unsafe { raw::out(changed, "changed") }?;
        // SAFETY: as above.
        let cycle = unsafe { raw::out(cycle, "cycle") }?;
        let moved = rcube.run_until(&inputs.lines(), cycles);
        out.put(rcube.outputs());
        changed.put(moved.into());
        cycle.put(rcube.cycle);
        Ok(())
    })
}

/// What the pins carry since the last edge.
///
/// # Safety
/// As `multipc_rcube_step`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_rcube_pins(
    rcube: *const multipc_rcube,
    outputs: *mut multipc_rcube_outputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let rcube = unsafe { raw::view(rcube, "rcube") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        out.put(rcube.outputs());
        Ok(())
    })
}

impl multipc_rcube {
    fn new(config: &multipc_rcube_config) -> Self {
        let mut chip = RcubeConfig::default().with_parallel(config.parallel);
        if config.quick != 0 {
            chip = chip.with_short_start_up();
        }
        Self {
            chip: Rcube::new(chip),
            cycle: 0,
        }
    }

    fn step(&mut self, inputs: &[Line; PORTS]) {
        self.chip.step(inputs);
        self.cycle = self.cycle.saturating_add(1);
    }

    /// True when a pin has changed.
    fn run_until(&mut self, inputs: &[Line; PORTS], cycles: u64) -> bool {
        let before = self.outputs();
        let mut left = cycles;
        while left > 0 {
            let idle = self.chip.idle_for(inputs).min(left);
            if idle > 0 {
                self.chip.skip(idle, inputs);
                self.cycle = self.cycle.saturating_add(idle);
                left -= idle;
            } else {
                self.step(inputs);
                left -= 1;
            }
            if self.outputs() != before {
                return true;
            }
        }
        false
    }

    fn outputs(&self) -> multipc_rcube_outputs {
        multipc_rcube_outputs {
            lines: self.chip.outputs().map(Line::bits),
            link_status: self.chip.link_status(),
        }
    }
}

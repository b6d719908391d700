//! One network controller.

use multipc::ddc::{Ddc, DdcConfig, PciInputs, Revision};
use multipc::hsl::Line;

use crate::error::{Error, call, multipc_status};
use crate::pins::{multipc_ddc_inputs, multipc_ddc_outputs};
use crate::raw;

/// Silicon without errata.
pub const MULTIPC_REVISION_IDEAL: u32 = 0;
/// The first run, with its errata.
pub const MULTIPC_REVISION_RUN_1: u32 = 1;
/// The second run, with its errata.
pub const MULTIPC_REVISION_RUN_2: u32 = 2;

/// A controller.
pub struct multipc_ddc {
    chip: Ddc,
    pci_cycle: u64,
}

/// The configuration of a controller of this revision.
pub(crate) fn config(revision: u32) -> Result<DdcConfig, Error> {
    let mut config = DdcConfig::default();
    config.revision = match revision {
        MULTIPC_REVISION_IDEAL => Revision::IDEAL,
        MULTIPC_REVISION_RUN_1 => Revision::RUN_1,
        MULTIPC_REVISION_RUN_2 => Revision::RUN_2,
        other => {
            return Err(Error::argument(format!(
                "revision {other}, known are 0, 1, 2"
            )));
        }
    };
    Ok(config)
}

/// A controller after power-on, `MULTIPC_REVISION_...`, into `*out`.
///
/// # Safety
/// `out` is null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_new(
    revision: u32,
    out: *mut *mut multipc_ddc,
) -> multipc_status {
    let make = || {
        let chip = Ddc::new(config(revision)?);
        Ok(multipc_ddc { chip, pci_cycle: 0 })
    };
    // SAFETY: promised by the caller.
    call(|| unsafe { raw::give(out, make) })
}

/// Frees a controller; null is nothing.
///
/// # Safety
/// `ddc` is null or a handle that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_free(ddc: *mut multipc_ddc) {
    // SAFETY: promised by the caller.
    unsafe { raw::free(ddc) }
}

/// An idle bus: nothing asserted, no grant, all links down.
///
/// # Safety
/// `inputs` is null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_idle_inputs(
    inputs: *mut multipc_ddc_inputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let out = unsafe { raw::out(inputs, "inputs") }?;
        out.put(multipc_ddc_inputs::from(&PciInputs::IDLE));
        Ok(())
    })
}

/// One PCI clock edge: samples `inputs`, then `*outputs` is what is driven.
///
/// # Safety
/// `ddc` is null or a handle, the others are null or lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_step_pci(
    ddc: *mut multipc_ddc,
    inputs: *const multipc_ddc_inputs,
    outputs: *mut multipc_ddc_outputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let ddc = unsafe { raw::handle(ddc, "ddc") }?;
        // SAFETY: as above.
        let inputs = unsafe { raw::read(inputs, "inputs") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        ddc.step_pci(&PciInputs::from(&inputs));
        out.put(ddc.outputs());
        Ok(())
    })
}

/// PCI clock edges with the same `inputs`, until an output pin changes or `cycles` edges
/// are done. `*outputs` is what is driven then, `*changed` whether it has changed, and
/// `*cycle` the number of the last edge, from 1 since the controller was made. The link
/// side stands still meanwhile.
///
/// # Safety
/// As `multipc_ddc_step_pci`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_run_until(
    ddc: *mut multipc_ddc,
    inputs: *const multipc_ddc_inputs,
    cycles: u64,
    outputs: *mut multipc_ddc_outputs,
    changed: *mut u8,
    cycle: *mut u64,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let ddc = unsafe { raw::handle(ddc, "ddc") }?;
        // SAFETY: as above.
        let inputs = unsafe { raw::read(inputs, "inputs") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        // SAFETY: as above.
        let changed = unsafe { raw::out(changed, "changed") }?;
        // SAFETY: as above.
        let cycle = unsafe { raw::out(cycle, "cycle") }?;
        let moved = ddc.run_until(&PciInputs::from(&inputs), cycles);
        changed.put(moved.into());
        out.put(ddc.outputs());
        cycle.put(ddc.pci_cycle);
        Ok(())
    })
}

/// One link clock edge: samples the line `input` of the parallel port, then `*output` is
/// the line that it drives.
///
/// # Safety
/// `ddc` is null or a handle, `output` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_step_link(
    ddc: *mut multipc_ddc,
    input: u16,
    output: *mut u16,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let ddc = unsafe { raw::handle(ddc, "ddc") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(output, "output") }?;
        ddc.chip.step_link(Line::from_bits(input));
        out.put(ddc.chip.link_output().bits());
        Ok(())
    })
}

/// What is driven since the last PCI clock edge.
///
/// # Safety
/// As `multipc_ddc_step_pci`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_pins(
    ddc: *const multipc_ddc,
    outputs: *mut multipc_ddc_outputs,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let ddc = unsafe { raw::view(ddc, "ddc") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(outputs, "outputs") }?;
        out.put(ddc.outputs());
        Ok(())
    })
}

/// The register at `offset`, a multiple of 4, without a bus access and its side effects.
///
/// # Safety
/// `ddc` is null or a handle, `value` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_ddc_register(
    ddc: *const multipc_ddc,
    offset: u8,
    value: *mut u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let ddc = unsafe { raw::view(ddc, "ddc") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(value, "value") }?;
        out.put(ddc.chip.register(self::offset(offset)?));
        Ok(())
    })
}

/// A multiple of 4.
pub(crate) fn offset(offset: u8) -> Result<u8, Error> {
    if offset.is_multiple_of(4) {
        Ok(offset)
    } else {
        Err(Error::argument(format!(
            "register {offset:#04x} is not a multiple of 4"
        )))
    }
}

impl multipc_ddc {
    fn step_pci(&mut self, inputs: &PciInputs) {
        self.chip.step_pci(inputs);
        self.pci_cycle = self.pci_cycle.saturating_add(1);
    }

    /// True when a pin has changed.
    fn run_until(&mut self, inputs: &PciInputs, cycles: u64) -> bool {
        let before = self.outputs();
        let quiet = inputs.bus.is_idle() && inputs.gnt_n;
        let mut left = cycles;
        while left > 0 {
            self.step_pci(inputs);
            left -= 1;
            if self.outputs() != before {
                return true;
            }
            // The step has seen the link status, which holds from here on.
            let idle = self.chip.pci_idle_for().min(left);
            if quiet && idle > 0 {
                self.chip.skip_pci(idle);
                self.pci_cycle = self.pci_cycle.saturating_add(idle);
                left -= idle;
            }
        }
        self.outputs() != before
    }

    fn outputs(&self) -> multipc_ddc_outputs {
        multipc_ddc_outputs::from(&self.chip.pci_outputs())
    }
}

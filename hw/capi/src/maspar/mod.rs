//! The MasPar router: whole patterns, or tick by tick with every wire.

mod config;
mod tick;

pub use config::*;
pub use tick::*;

use core::ffi::c_char;

use multipc::maspar::{Named, Pattern, Router, TickRouter, Width};

use crate::error::{Error, MULTIPC_ERROR_TEXT, call, multipc_status};
use crate::raw;

/// A PE that asks for nobody.
pub const MULTIPC_NO_PE: u16 = 0xFFFF;
/// Boards of a machine at most, and chips of a stage.
pub const MULTIPC_MASPAR_BOARDS: usize = 16;

const _: () = assert!(MULTIPC_MASPAR_BOARDS == multipc::maspar::MAX_BOARDS);

/// A MasPar router with what its PEs ask for.
pub struct multipc_maspar {
    /// Whole instructions at once.
    fast: Router,
    /// The same machine tick by tick.
    slow: TickRouter,
    /// Who asks for whom; whose `tflag` is 1.
    pattern: Pattern,
    /// Ticks of `gor1`, which the chips take no part in.
    rest: u64,
    rest_ticks: u32,
    /// The `rfetchc` under way will serve its PEs.
    fetching: bool,
}

/// What the loop over a pattern did.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_maspar_report {
    /// Ticks from the first `ropen` to the last branch.
    pub ticks: u64,
    /// Times round the loop: router cycles.
    pub cycles: u32,
    /// PEs served.
    pub served: u32,
}

/// A router at rest, nobody asking, into `*out`.
///
/// # Safety
/// `config` and `out` are null or lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_new(
    config: *const multipc_maspar_config,
    out: *mut *mut multipc_maspar,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let config = unsafe { raw::read(config, "config") }?;
        // SAFETY: as above.
        unsafe { raw::give(out, || multipc_maspar::new(&config)) }
    })
}

/// Frees a router; null is nothing.
///
/// # Safety
/// `maspar` is null or a handle that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_free(maspar: *mut multipc_maspar) {
    // SAFETY: promised by the caller.
    unsafe { raw::free(maspar) }
}

/// A pattern by name for this machine, one target a PE into `targets`: `bit-reversal`,
/// `shuffle`, `shift:-5`, `random:7`, `all-to:0`, ... A wrong name is answered with all of
/// them.
///
/// # Safety
/// `maspar` is null or a handle, `name` null or a text that ends with a zero, `targets`
/// null or `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_pattern(
    maspar: *const multipc_maspar,
    name: *const c_char,
    targets: *mut u16,
    count: usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::view(maspar, "maspar") }?;
        // SAFETY: as above.
        let name = unsafe { raw::text(name, "name") }?;
        // SAFETY: as above.
        let targets = unsafe { raw::slice_mut(targets, count, "targets") }?;
        maspar.fits("targets", count)?;
        let named: Named = name
            .parse()
            .map_err(|e| Error::new(MULTIPC_ERROR_TEXT, format!("{name:?}: {e}")))?;
        let pattern = named
            .pattern(maspar.fast.size())
            .map_err(|e| Error::argument(format!("{name:?}: {e}")))?;
        for (id, target) in (0..).zip(targets) {
            *target = pattern.target(id).unwrap_or(MULTIPC_NO_PE);
        }
        Ok(())
    })
}

/// Loads what each PE asks for, `MULTIPC_NO_PE` for nobody; paths are taken down and an
/// instruction under way ends.
///
/// # Safety
/// `maspar` is null or a handle, `targets` null or `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_load(
    maspar: *mut multipc_maspar,
    targets: *const u16,
    count: usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::handle(maspar, "maspar") }?;
        // SAFETY: as above.
        let targets = unsafe { raw::slice(targets, count, "targets") }?;
        maspar.fits("targets", count)?;
        maspar.load(targets)
    })
}

/// The loop `ropen`, `rfetchc`, `gor1` over what is loaded, until nobody asks: each PE
/// that asks gets `values[target]` into its element of `into`; the other elements stay.
/// `width` is 8, 16, 32 or 64 bits. The ticks are counted as if each had been stepped.
/// Afterwards nobody asks.
///
/// # Safety
/// `maspar` is null or a handle, `values` and `into` null or `count` elements, `report`
/// null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_route(
    maspar: *mut multipc_maspar,
    width: u32,
    values: *const u64,
    into: *mut u64,
    count: usize,
    report: *mut multipc_maspar_report,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::handle(maspar, "maspar") }?;
        // SAFETY: as above.
        let values = unsafe { raw::slice(values, count, "values") }?;
        // SAFETY: as above.
        let into = unsafe { raw::slice_mut(into, count, "into") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(report, "report") }?;
        maspar.fits("values", count)?;
        let width = self::width(width)?;
        let pattern = &maspar.pattern;
        let routed = maspar.fast.route(pattern, width, |_, path| {
            let from = values.get(usize::from(path.target));
            let to = into.get_mut(usize::from(path.source));
            if let (Some(from), Some(to)) = (from, to) {
                *to = from & mask(width);
            }
        });
        let done = routed.map_err(|error| Error::argument(error.to_string()))?;
        let nobody = Pattern::nobody(maspar.fast.size());
        maspar.stop(nobody);
        maspar.rest += done.ticks;
        out.put(multipc_maspar_report {
            ticks: done.ticks,
            cycles: done.cycles,
            served: done.served,
        });
        Ok(())
    })
}

fn width(bits: u32) -> Result<Width, Error> {
    Width::from_bits(bits)
        .ok_or_else(|| Error::argument(format!("width {bits}, allowed 8, 16, 32, 64")))
}

const fn mask(width: Width) -> u64 {
    u64::MAX >> (64 - width.bits())
}

impl multipc_maspar {
    fn new(config: &multipc_maspar_config) -> Result<Self, Error> {
        let config = config.router()?;
        let argument = |error: multipc::maspar::ConfigError| Error::argument(error.to_string());
        Ok(Self {
            fast: Router::new(&config).map_err(argument)?,
            slow: TickRouter::new(&config).map_err(argument)?,
            pattern: Pattern::nobody(config.size),
            rest: 0,
            rest_ticks: config.costs.rest,
            fetching: false,
        })
    }

    fn fits(&self, name: &str, count: usize) -> Result<(), Error> {
        match self.fast.size().pes() {
            pes if pes == count => Ok(()),
            pes => Err(Error::argument(format!(
                "{count} {name}, the machine has {pes} PEs"
            ))),
        }
    }

    fn load(&mut self, targets: &[u16]) -> Result<(), Error> {
        let asks = |id: u16| {
            let target = targets.get(usize::from(id)).copied();
            target.filter(|target| *target != MULTIPC_NO_PE)
        };
        let pattern = Pattern::from_fn(self.fast.size(), |id| asks(id).map(u32::from))
            .map_err(|error| Error::argument(error.to_string()))?;
        self.stop(pattern);
        Ok(())
    }
}

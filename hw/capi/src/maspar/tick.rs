//! One instruction tick by tick, and every wire between the chips.

use multipc::maspar::{Pattern, PeSet, STAGES, Step, TickRouter};

use super::{MULTIPC_MASPAR_BOARDS, mask, multipc_maspar, width};
use crate::error::{Error, MULTIPC_ERROR_BUSY, call, multipc_status};
use crate::raw;

/// No instruction is under way.
pub const MULTIPC_MASPAR_IDLE: u32 = 0;
/// `ropen` is under way.
pub const MULTIPC_MASPAR_ROPEN: u32 = 1;
/// `rfetchc` is under way.
pub const MULTIPC_MASPAR_RFETCH: u32 = 2;

/// Where a router stands.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_maspar_state {
    /// Ticks so far, of all instructions.
    pub ticks: u64,
    /// `MULTIPC_MASPAR_...`.
    pub instruction: u32,
    /// The tick of the instruction that comes next, from 0.
    pub tick: u32,
    /// PEs that ask and were not served yet (`tflag` is 1).
    pub asking: u32,
    /// Paths that their sources know of.
    pub connected: u32,
}

/// The wires at the inputs of a stage: a word a chip (a board), a bit an input.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_maspar_wires {
    /// Requests.
    pub request: [u64; MULTIPC_MASPAR_BOARDS],
    /// Address bits.
    pub data: [u64; MULTIPC_MASPAR_BOARDS],
    /// Acknowledgements and fetched bits, on their way back.
    pub back: [u64; MULTIPC_MASPAR_BOARDS],
}

/// A path, and what came back over it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_maspar_path {
    /// The value fetched so far.
    pub value: u64,
    /// The PE that asked.
    pub source: u32,
    /// The PE that it asked for.
    pub target: u32,
}

/// Starts `ropen` of every PE whose `tflag` is 1: open paths are taken down.
/// `MULTIPC_ERROR_BUSY` while an instruction is under way.
///
/// # Safety
/// `maspar` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_ropen(maspar: *mut multipc_maspar) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let maspar = unsafe { raw::handle(maspar, "maspar") }?;
        maspar.idle()?;
        let opened = maspar.slow.ropen(&maspar.pattern);
        opened.map_err(|error| Error::argument(error.to_string()))
    })
}

/// Starts `rfetchc` over the open paths: `values` is what each PE holds, `width` 8, 16, 32
/// or 64 bits of it. At its end the `tflag` of each PE that was connected is 0.
/// `MULTIPC_ERROR_BUSY` while an instruction is under way.
///
/// # Safety
/// `maspar` is null or a handle, `values` null or `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_rfetch(
    maspar: *mut multipc_maspar,
    width: u32,
    values: *const u64,
    count: usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::handle(maspar, "maspar") }?;
        // SAFETY: as above.
        let values = unsafe { raw::slice(values, count, "values") }?;
        maspar.fits("values", count)?;
        let width = self::width(width)?;
        maspar.idle()?;
        maspar.slow.rfetch(width, |pe| {
            let value = values.get(usize::from(pe)).copied();
            value.unwrap_or_default() & mask(width)
        });
        maspar.fetching = true;
        Ok(())
    })
}

/// `gor1`: whether any `tflag` is 1, 1 or 0 into `*any`; takes the ticks of the rest of
/// the loop. `MULTIPC_ERROR_BUSY` while an instruction is under way.
///
/// # Safety
/// `maspar` is null or a handle, `any` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_gor1(
    maspar: *mut multipc_maspar,
    any: *mut u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::handle(maspar, "maspar") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(any, "any") }?;
        maspar.idle()?;
        maspar.rest += u64::from(maspar.rest_ticks);
        out.put((maspar.pattern.messages() > 0).into());
        Ok(())
    })
}

/// So many ticks of the clock, or fewer when the instruction ends before; where the
/// router stands then into `*state`.
///
/// # Safety
/// `maspar` is null or a handle, `state` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_step(
    maspar: *mut multipc_maspar,
    ticks: u32,
    state: *mut multipc_maspar_state,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::handle(maspar, "maspar") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(state, "state") }?;
        for _ in 0..ticks {
            if maspar.slow.step_now() == Step::Idle {
                break;
            }
            maspar.tick();
        }
        out.put(maspar.state());
        Ok(())
    })
}

/// Where the router stands.
///
/// # Safety
/// `maspar` is null or a handle, `state` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_look(
    maspar: *const multipc_maspar,
    state: *mut multipc_maspar_state,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::view(maspar, "maspar") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(state, "state") }?;
        out.put(maspar.state());
        Ok(())
    })
}

/// The wires at the inputs of stage 1, 2 or 3, or of the PE selects (4).
///
/// # Safety
/// `maspar` is null or a handle, `wires` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_pins(
    maspar: *const multipc_maspar,
    stage: u32,
    wires: *mut multipc_maspar_wires,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let router = &unsafe { raw::view(maspar, "maspar") }?.slow;
        // SAFETY: as above.
        let out = unsafe { raw::out(wires, "wires") }?;
        let stages = 1..=STAGES as u32 + 1;
        if !stages.contains(&stage) {
            return Err(Error::argument(format!("stage {stage}, allowed 1..=4")));
        }
        let stage = stage as usize - 1;
        out.put(multipc_maspar_wires {
            request: router.requests(stage),
            data: router.data(stage),
            back: router.back(stage),
        });
        Ok(())
    })
}

/// The paths that their sources know of, and what came back over each: at most `capacity`
/// into `paths`, in the order of the clusters; how many there are into `*count`.
///
/// # Safety
/// `maspar` is null or a handle, `paths` null or `capacity` elements, `count` null or
/// leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_paths(
    maspar: *const multipc_maspar,
    paths: *mut multipc_maspar_path,
    capacity: usize,
    count: *mut usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let maspar = unsafe { raw::view(maspar, "maspar") }?;
        // SAFETY: as above.
        let room = unsafe { raw::slice_mut(paths, capacity, "paths") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(count, "count") }?;
        let mut room = room.iter_mut();
        let mut found = 0;
        for (path, value) in maspar.slow.fetched() {
            found += 1;
            if let Some(slot) = room.next() {
                *slot = multipc_maspar_path {
                    value,
                    source: path.source.into(),
                    target: path.target.into(),
                };
            }
        }
        out.put(found);
        Ok(())
    })
}

impl multipc_maspar {
    /// What is asked for from now on; whatever is under way ends.
    pub(super) fn stop(&mut self, pattern: Pattern) {
        self.pattern = pattern;
        self.fetching = false;
        let ticks = self.slow.ticks();
        // A new one at rest: the ticks that the old one counted are kept.
        if let Ok(fresh) = TickRouter::new(self.fast.config()) {
            self.slow = fresh;
            self.rest += ticks;
        }
    }

    fn idle(&self) -> Result<(), Error> {
        let name = match self.slow.step_now() {
            Step::Idle => return Ok(()),
            Step::Open(_) => "ropen",
            _ => "rfetchc",
        };
        let words = format!("{name} is under way");
        Err(Error::new(MULTIPC_ERROR_BUSY, words))
    }

    fn tick(&mut self) {
        let goes_on = self.slow.step();
        if !goes_on && core::mem::take(&mut self.fetching) {
            // `rclose`, its last part: who was connected asks no more.
            let served: PeSet = self.slow.fetched().map(|(path, _)| path.source).collect();
            self.pattern = self.pattern.clone().only(|id| !served.contains(id));
        }
    }

    fn state(&self) -> multipc_maspar_state {
        let (instruction, tick) = match self.slow.step_now() {
            Step::Open(tick) => (MULTIPC_MASPAR_ROPEN, tick),
            Step::Transfer(tick) => (MULTIPC_MASPAR_RFETCH, tick),
            _ => (MULTIPC_MASPAR_IDLE, 0),
        };
        let connected = self.slow.connected().iter().map(|set| set.count_ones());
        multipc_maspar_state {
            ticks: self.slow.ticks() + self.rest,
            instruction,
            tick,
            asking: self.pattern.messages() as u32,
            connected: connected.sum(),
        }
    }
}

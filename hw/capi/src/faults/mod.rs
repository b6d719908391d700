//! Faults on the cables and buses of a machine: by a script of structures, at random, or as
//! the text of a file. What each leads to: hw/doc/faults.md.

mod event;
mod record;

pub use event::*;
pub use record::*;

use core::ffi::c_char;

use multipc::fabric::faults::{Faults, RandomFaults};

use crate::error::{Error, MULTIPC_ERROR_FAULT, MULTIPC_ERROR_TEXT, call, multipc_status};
use crate::machine::multipc_machine;
use crate::raw;

/// Faults at random, the same for the same seed. Rates are probabilities, 0 to 1: of cables
/// for each character of a direction, of buses for each memory transaction.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct multipc_random_faults {
    /// The seed.
    pub seed: u64,
    /// A character gets one to nine of its bits inverted.
    pub corrupt: f64,
    /// A character is lost.
    pub drop: f64,
    /// A character takes the place of the next IDLE.
    pub insert: f64,
    /// The cable is cut in both directions, for 1 to `cut_cycles` cycles.
    pub cut: f64,
    /// Retry.
    pub retry: f64,
    /// Disconnect after 1 to 16 words.
    pub disconnect: f64,
    /// Target abort, at once or after up to 15 words.
    pub target_abort: f64,
    /// No DEVSEL#.
    pub no_devsel: f64,
    /// Wrong parity of read data.
    pub parity: f64,
    /// 1 to `delay_clocks` clocks more before the first word.
    pub delay: f64,
    /// GNT# is withheld for 1 to `hold_cycles` cycles.
    pub hold_grant: f64,
    /// The longest cut, in link cycles; 0 acts as 1.
    pub cut_cycles: u32,
    /// The longest delay, in PCI clocks; 0 acts as 1.
    pub delay_clocks: u32,
    /// The longest time without grant, in PCI cycles; 0 acts as 1.
    pub hold_cycles: u32,
    /// Not 0: the wires between controllers and routers are disturbed as well.
    pub boards: u8,
}

/// Lets faults loose, from the next edges on: `count` of them, in any order, and those at
/// random unless `random` is null. Those set before are taken off, and counting begins
/// anew. `MULTIPC_ERROR_FAULT`: one of them cannot be, and the machine has none at all.
///
/// # Safety
/// `machine` is null or a handle, `faults` null or `count` elements, `random` null or leads
/// to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_set_faults(
    machine: *mut multipc_machine,
    faults: *const multipc_fault,
    count: usize,
    random: *const multipc_random_faults,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let faults = unsafe { raw::slice(faults, count, "faults") }?;
        let random = if random.is_null() {
            None
        } else {
            // SAFETY: as above.
            Some(unsafe { raw::read(random, "random") }?)
        };
        let edges = [machine.machine.link_cycle(), machine.machine.pci_cycle()];
        let next = edges.map(|cycle| cycle.saturating_add(1));
        let events: Result<Vec<_>, Error> = (0..)
            .zip(faults)
            .map(|(at, fault): (usize, _)| {
                fault
                    .event(next)
                    .map_err(|error| error.behind(&format!("faults[{at}]: ")))
            })
            .collect();
        let mut script = Faults::script(events?);
        if let Some(random) = random {
            script = script.with_random((&random).into());
        }
        machine.set(script)
    })
}

/// Lets faults loose from the text of a TOML file (hw/doc/faults.md, "As a file"); else as
/// `multipc_machine_set_faults`. `MULTIPC_ERROR_TEXT`, with the number of the line: the
/// faults are those of before.
///
/// # Safety
/// `machine` is null or a handle, `text` null or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_set_faults_text(
    machine: *mut multipc_machine,
    text: *const c_char,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let text = unsafe { raw::text(text, "text") }?;
        let script = Faults::from_toml(text)
            .map_err(|error| Error::new(MULTIPC_ERROR_TEXT, error.to_string()))?;
        machine.set(script)
    })
}

/// Takes the faults off: cut cables carry again what their ends drive, GNT# is given again.
/// Their records are gone, too. None set is no error.
///
/// # Safety
/// `machine` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_take_faults(
    machine: *mut multipc_machine,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        machine.machine.take_faults();
        Ok(())
    })
}

/// What the faults did, oldest first, from record `first` (from 0) on: at most `capacity`
/// into `records`, how many into `*count`, and how many there were since the faults were
/// set into `*total`. The newest 4,096 are kept; of older ones the first that is kept comes
/// instead.
///
/// # Safety
/// `machine` is null or a handle, `records` null or `capacity` elements, `count` and `total`
/// null or lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_fault_records(
    machine: *const multipc_machine,
    first: u64,
    records: *mut multipc_fault_record,
    capacity: usize,
    count: *mut usize,
    total: *mut u64,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::view(machine, "machine") }?;
        // SAFETY: as above.
        let room = unsafe { raw::slice_mut(records, capacity, "records") }?;
        // SAFETY: as above.
        let count = unsafe { raw::out(count, "count") }?;
        // SAFETY: as above.
        let total = unsafe { raw::out(total, "total") }?;
        let Some(faults) = machine.machine.faults() else {
            count.put(0);
            total.put(0);
            return Ok(());
        };
        let kept = faults.records().count() as u64;
        let skip = first.saturating_sub(faults.total() - kept).min(kept);
        let mut found = 0;
        for (slot, record) in room.iter_mut().zip(faults.records().skip(skip as usize)) {
            *slot = record.into();
            found += 1;
        }
        count.put(found);
        total.put(faults.total());
        Ok(())
    })
}

impl multipc_machine {
    fn set(&mut self, script: Faults<'static>) -> Result<(), Error> {
        let set = self.machine.set_faults(script);
        set.map_err(|error| Error::new(MULTIPC_ERROR_FAULT, error.to_string()))
    }
}

impl From<&multipc_random_faults> for RandomFaults {
    fn from(rates: &multipc_random_faults) -> Self {
        let mut random = Self::new(rates.seed);
        random.boards = rates.boards != 0;
        let (cable, bus) = (&mut random.cable, &mut random.bus);
        cable.corrupt = rates.corrupt;
        cable.drop = rates.drop;
        cable.insert = rates.insert;
        cable.cut = rates.cut;
        cable.cut_cycles = rates.cut_cycles;
        bus.retry = rates.retry;
        bus.disconnect = rates.disconnect;
        bus.target_abort = rates.target_abort;
        bus.no_devsel = rates.no_devsel;
        bus.parity = rates.parity;
        bus.delay = rates.delay;
        bus.delay_clocks = rates.delay_clocks;
        bus.hold_grant = rates.hold_grant;
        bus.hold_cycles = rates.hold_cycles;
        random
    }
}

//! Tests of the driver against the register-level controller.

extern crate std;

mod faults;
mod policy;
mod posting;
mod serving;
mod starting;
mod writing;

use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use super::testing::FakeController;
use super::*;
use crate::mem::Ram;

/// The tables, from the first byte of memory up; `0x4000` and above is free.
pub(super) const BASE: u32 = 0x1000;
pub(super) const TABLE: [u8; TABLE_LEN] = [0; TABLE_LEN];

pub(super) fn config(entries: u32) -> PutConfig<'static> {
    PutConfig {
        entries,
        counters: 64,
        ..PutConfig::new(0, BASE, &TABLE)
    }
}

/// A controller over 256 KiB of memory at address 0.
pub(super) fn controller() -> FakeController<'static> {
    let memory: &'static mut [u8] = Box::leak(vec![0u8; 0x4_0000].into_boxed_slice());
    FakeController::new(Ram::new(0, memory))
}

pub(super) fn started(config: &PutConfig<'_>) -> (Put, FakeController<'static>) {
    let mut hw = controller();
    let mut put = Put::new();
    put.init(&mut hw, config).unwrap();
    hw.forget_writes();
    (put, hw)
}

pub(super) const ALL: Control = Control::LMP
    .with(Control::NOS)
    .with(Control::LMI)
    .with(Control::NOR);

/// A page of 8 bytes to node 1, with these flags.
pub(super) fn page(flags: Control) -> Entry {
    Entry::page(1, 3, 0x8000, 0x9000, 8, flags)
}

pub(super) fn poll(put: &mut Put, hw: &mut FakeController<'_>, budget: u16) -> Vec<Event> {
    let mut events = Vec::new();
    put.poll(hw, budget, |event| events.push(event)).unwrap();
    events
}

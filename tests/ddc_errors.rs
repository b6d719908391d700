//! The controller when things go wrong: spoilt packets, full rings, bus errors,
//! lost signal, resets.

mod ddc_rig;
#[path = "ddc_errors/links_and_resets.rs"]
mod links_and_resets;
#[path = "ddc_errors/packets.rs"]
mod packets;
#[path = "ddc_errors/rings_and_bus.rs"]
mod rings_and_bus;

use ddc_rig::*;

fn errors(rig: &Rig, board: usize) -> u32 {
    rig.boards[board].ddc.register(STATUS) & ERRORS
}

fn bus_master(rig: &Rig, board: usize) -> bool {
    rig.boards[board].ddc.register(PCI_04) & 4 != 0
}

/// Clears everything and sets Bus Master again.
fn recover(rig: &mut Rig, board: usize) {
    rig.write(board, STATUS, ERRORS);
    rig.write(board, PCI_04, 0xFFFF_0104);
}

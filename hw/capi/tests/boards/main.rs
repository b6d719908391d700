//! Two boards that the harness steps are the machine `pair`, edge by edge: every line of
//! both routers, INTA#, REQ# and link status change in the same cycle. And the driver runs
//! on boards whose registers, memory and clocks are the harness's.

mod both;
#[path = "../common/mod.rs"]
mod common;
mod driver;
mod harness;

use core::ffi::c_void;
use core::ptr::null_mut;

use multipc_capi::*;

use both::Both;
use common::ok;
use harness::{Change, MEMORY, claims};

const ENTRIES: u32 = 8;
const LME: u32 = 0x1000;
const LMR: u32 = LME + 16 * ENTRIES;
const SOURCE: u32 = 0x8003;
const TARGET: u32 = 0x9001;
const LENGTH: usize = 1000;

#[test]
fn two_boards_of_the_harness_are_the_machine_edge_by_edge() {
    let mut both = Both::new();
    both.start(0);
    both.start(1);
    // The links need 11,216 cycles, 170 us.
    let start = both.state().time_ps;
    both.run(start + 200_000_000);
    assert_eq!(both.config(0, 0x40, None) & 0xFF, 3, "links up");

    let page: Vec<u8> = (0..LENGTH).map(|i| (i * 7 + i / 256) as u8).collect();
    both.store(0, SOURCE, &page);
    // A message with report and interrupt: NOR, LMP, LMI, NOS.
    let words = [1 << 16 | LENGTH as u32, 0xCA00_0002, TARGET, SOURCE];
    let descriptor: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    both.store(0, LME, &descriptor);
    both.config(0, 0x58, Some(LME + 16));
    let posted = both.state().time_ps;
    both.run(posted + 50_000_000);

    // The machine: in its memory, and INTA# of both nodes has fallen.
    let target = TARGET as usize..TARGET as usize + LENGTH;
    assert!(both.boards.bytes(1)[target] == page[..]);
    let asserted = |node: u32| {
        let falls = |e: &&Change| e.0 == MULTIPC_PIN_INTA && e.2 == node && e.5 == 0;
        both.events.iter().filter(falls).count()
    };
    assert_eq!([asserted(0), asserted(1)], [1, 1]);

    // In order of clock and cycle both tell the same story.
    let sorted = |changes: &[Change]| {
        let mut changes = changes.to_vec();
        changes.sort_by_key(|&(pin, cycle, index, port, ..)| (cycle, pin, index, port));
        changes
    };
    let (events, changes) = (sorted(&both.events), sorted(&both.boards.changes));
    if let Some(at) = events.iter().zip(&changes).position(|(a, b)| a != b) {
        panic!(
            "change {at}: machine {:x?}, boards {:x?}",
            events[at], changes[at]
        );
    }
    assert_eq!(events.len(), changes.len());
    assert!(events.len() > 2000, "{} changes", events.len());
    for node in 0..2 {
        let mut view = core::ptr::null();
        // SAFETY: handle, output; the view is used before the next call.
        let bytes = unsafe {
            ok(multipc_machine_memory_view(
                both.machine,
                node as u32,
                0,
                MEMORY,
                &mut view,
            ));
            core::slice::from_raw_parts(view, MEMORY)
        };
        assert!(bytes == both.boards.bytes(node), "memory of node {node}");
    }
    assert_eq!(both.state().events_lost, 0);
    // SAFETY: once each.
    unsafe {
        multipc_machine_free(both.machine);
        for board in both.boards.boards {
            multipc_board_free(board);
        }
    }
}

#[test]
fn a_callback_that_calls_its_board_finds_it_busy() {
    static STATUS: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);
    extern "C" fn reads(user: *mut c_void, _: u32) -> u32 {
        let mut value = 0;
        // SAFETY: the slot of the handle, the handle.
        let status = unsafe {
            let board = user.cast::<*mut multipc_board>().read();
            multipc_board_register(board, 0x40, &mut value)
        };
        STATUS.store(status, std::sync::atomic::Ordering::Relaxed);
        0
    }
    let slot = Box::leak(Box::new(null_mut::<multipc_board>())) as *mut *mut multipc_board;
    let calls = multipc_memory {
        user: slot.cast(),
        claims: Some(claims),
        read: Some(reads),
        write: Some(write_nothing),
    };
    let mut pins = core::mem::MaybeUninit::uninit();
    let mut value = 0;
    // SAFETY: locals and the handle.
    unsafe {
        let mut board = null_mut();
        ok(multipc_board_new(
            MULTIPC_REVISION_IDEAL,
            &calls,
            &mut board,
        ));
        slot.write(board);
        // Let the controller fetch a descriptor: transmit on, Bus Master on, one posted.
        let last = 16 * (ENTRIES - 1);
        for (offset, word) in [
            (0x50u8, LME + last),
            (0x54, LME),
            (0x58, LME),
            (0x5C, LME),
            (0x48, 0x4000),
            (0x04, 0x0104),
            (0x58, LME + 16),
        ] {
            ok(multipc_board_config_start(board, offset, 1, word));
            assert_eq!(
                multipc_board_config_take(board, &mut value),
                MULTIPC_ERROR_BUSY
            );
            while multipc_board_config_take(board, &mut value) != MULTIPC_OK {
                ok(multipc_board_step_pci(board, pins.as_mut_ptr()));
            }
        }
        for _ in 0..100 {
            ok(multipc_board_step_pci(board, pins.as_mut_ptr()));
        }
        multipc_board_free(board);
    }
    assert_eq!(
        STATUS.load(std::sync::atomic::Ordering::Relaxed),
        MULTIPC_ERROR_BUSY
    );
}

extern "C" fn write_nothing(_: *mut c_void, _: u32, _: u32, _: u8) {}

//! The driver on hardware of the harness: registers by configuration accesses of a board,
//! memory in place, both clocks stepped by the calls themselves.

use core::ffi::c_void;
use core::ptr::null_mut;

use multipc_capi::*;

use crate::common::{blank, last, ok};
use crate::harness::{Boards, MEMORY};

const TABLES: u32 = 0x1000;
const SOURCE: u32 = 0x8003;
const TARGET: u32 = 0x9001;
const LENGTH: u32 = 1000;

/// Two link edges, then a PCI edge: roughly 66 and 33 MHz.
fn go_on(boards: &mut Boards) {
    boards.edge(MULTIPC_CLOCK_LINK);
    boards.edge(MULTIPC_CLOCK_LINK);
    boards.edge(MULTIPC_CLOCK_PCI);
}

fn access(user: *mut c_void, node: u32, offset: u8, write: Option<u32>) -> Result<u32, i32> {
    // SAFETY: the boards of the test, which nobody uses during a call of the driver.
    let boards = unsafe { &mut *user.cast::<Boards>() };
    let board = boards.boards[node as usize];
    // SAFETY: a handle.
    let status = unsafe {
        multipc_board_config_start(board, offset, write.is_some().into(), write.unwrap_or(0))
    };
    if status != MULTIPC_OK {
        return Err(status);
    }
    let mut value = 0;
    while boards.pins[node as usize].config_done == 0 {
        go_on(boards);
    }
    // SAFETY: a handle, an output.
    match unsafe { multipc_board_config_take(board, &mut value) } {
        MULTIPC_OK => {
            // The flag is that of the last edge: another one takes it away.
            go_on(boards);
            Ok(value)
        }
        status => Err(status),
    }
}

unsafe extern "C" fn read(user: *mut c_void, node: u32, offset: u8, value: *mut u32) -> i32 {
    match access(user, node, offset, None) {
        Ok(found) => {
            // SAFETY: an output of the driver.
            unsafe { value.write(found) };
            MULTIPC_OK
        }
        Err(status) => status,
    }
}

unsafe extern "C" fn write(user: *mut c_void, node: u32, offset: u8, value: u32) -> i32 {
    access(user, node, offset, Some(value)).map_or_else(|status| status, |_| MULTIPC_OK)
}

/// A status of the harness's own.
const OUTSIDE: i32 = -77;

fn place(user: *mut c_void, node: u32, addr: u32, len: usize) -> Option<*mut u8> {
    // SAFETY: as above.
    let boards = unsafe { &mut *user.cast::<Boards>() };
    let inside = (addr as usize)
        .checked_add(len)
        .is_some_and(|end| end <= MEMORY);
    inside.then(|| {
        boards.memory[node as usize]
            .cast::<u8>()
            .wrapping_add(addr as usize)
    })
}

unsafe extern "C" fn load(
    user: *mut c_void,
    node: u32,
    addr: u32,
    bytes: *mut u8,
    len: usize,
) -> i32 {
    let Some(from) = place(user, node, addr, len) else {
        return OUTSIDE;
    };
    // SAFETY: inside the memory; the driver's own bytes.
    unsafe { bytes.copy_from_nonoverlapping(from, len) };
    MULTIPC_OK
}

unsafe extern "C" fn store(
    user: *mut c_void,
    node: u32,
    addr: u32,
    bytes: *const u8,
    len: usize,
) -> i32 {
    let Some(to) = place(user, node, addr, len) else {
        return OUTSIDE;
    };
    // SAFETY: as above.
    unsafe { to.copy_from_nonoverlapping(bytes, len) };
    MULTIPC_OK
}

/// A driver on one of the boards, opened with its tables at `base`.
fn driver(
    boards: *mut Boards,
    node: u32,
    table: &[u8; MULTIPC_TABLE_BYTES],
    base: u32,
) -> (*mut multipc_put, multipc_status) {
    let hardware = multipc_hardware {
        user: boards.cast(),
        node,
        read: Some(read),
        write: Some(write),
        load: Some(load),
        store: Some(store),
        inta: None,
    };
    let (mut put, mut config, mut started) = (null_mut(), blank(), blank());
    // SAFETY: locals, a handle.
    let status = unsafe {
        ok(multipc_put_new(&hardware, &mut put));
        ok(multipc_put_config_default(put, &mut config));
        config.table = table.as_ptr();
        config.base = base;
        config.entries = 8;
        config.counters = 16;
        config.nodes = 2;
        config.model = MULTIPC_MODEL_POLLING;
        assert_eq!(config.node, node, "of the hardware");
        multipc_put_open(put, &config, &mut started)
    };
    (put, status)
}

#[test]
fn the_driver_moves_a_page_between_boards_of_the_harness() {
    let boards = Box::into_raw(Box::new(Boards::new()));
    // Node 0 on port 0 or over port 1, as the labelling of `pair` has it.
    let table = |own: u32| {
        let mut table = [0; MULTIPC_TABLE_BYTES];
        let mut bounds = [1u16; 8];
        bounds[0] = 0;
        let ways = if own == 0 { [1u8, 2] } else { [2, 1] };
        let mut outputs = [ways[1]; 8];
        outputs[0] = ways[0];
        // SAFETY: eight elements each, an output.
        ok(unsafe { multipc_table_uniform(bounds.as_ptr(), outputs.as_ptr(), table.as_mut_ptr()) });
        table
    };
    // SAFETY: handles and locals; the boards are used by one party at a time.
    unsafe {
        let puts = [0, 1].map(|node| {
            let (put, status) = driver(boards, node, &table(node), TABLES);
            ok(status);
            put
        });
        for _ in 0..6000 {
            go_on(&mut *boards);
        }
        for put in puts {
            ok(multipc_put_ready(put));
        }
        for i in 0..LENGTH {
            let byte = (*boards).memory[0].cast::<u8>().add((SOURCE + i) as usize);
            byte.write((i * 7 + i / 256) as u8);
        }
        let entry = multipc_entry {
            node: 1,
            mi: 5,
            flags: MULTIPC_LMP | MULTIPC_NOS | MULTIPC_LMI | MULTIPC_NOR,
            length: LENGTH,
            remote: TARGET,
            local: SOURCE,
        };
        let mut sequence = u64::MAX;
        ok(multipc_put_post(puts[0], &entry, 1, &mut sequence));
        assert_eq!(sequence, 0, "the first one");
        for _ in 0..1000 {
            go_on(&mut *boards);
        }
        let told = puts.map(|put| {
            let (mut event, mut served) = (blank::<multipc_put_event>(), blank());
            ok(multipc_put_poll(put, 4, &mut event, 1, &mut served));
            assert_eq!(served.events, 1);
            event
        });
        assert_eq!(
            (told[0].kind, told[0].sap, told[0].entry),
            (MULTIPC_PUT_SENT, MULTIPC_NO_SAP, entry)
        );
        // Two packets at most of 532 bytes carry 1000.
        assert_eq!(
            (told[1].kind, told[1].sap, told[1].entry.mi, told[1].packets),
            (MULTIPC_PUT_RECEIVED, MULTIPC_NO_SAP, 5, 2)
        );
        let bytes = (*boards).bytes(1);
        let arrived = &bytes[TARGET as usize..(TARGET + LENGTH) as usize];
        assert!((0..LENGTH).all(|i| arrived[i as usize] == (i * 7 + i / 256) as u8));

        let (outside, status) = driver(boards, 0, &table(0), MEMORY as u32);
        assert_eq!(status, OUTSIDE, "the harness's own status comes back");
        assert_eq!(
            last(),
            "access to memory at 0x00010000 failed: status -77 of the hardware"
        );
        multipc_put_free(outside);
        for put in puts {
            multipc_put_free(put);
        }
        for board in (*boards).boards {
            multipc_board_free(board);
        }
        drop(Box::from_raw(boards));
    }
}

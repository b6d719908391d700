//! The calls as C makes them.

use core::ffi::{CStr, c_void};
use core::ptr::{null, null_mut};

use multipc_capi::*;

fn last() -> String {
    // SAFETY: never null, ends with a zero.
    unsafe { CStr::from_ptr(multipc_last_error()) }
        .to_str()
        .unwrap()
        .to_owned()
}

fn default_config() -> multipc_machine_config {
    let mut config = core::mem::MaybeUninit::uninit();
    // SAFETY: an output of its type.
    unsafe {
        assert_eq!(
            multipc_machine_config_default(config.as_mut_ptr()),
            MULTIPC_OK
        );
        config.assume_init()
    }
}

fn machine(shape: &CStr) -> *mut multipc_machine {
    let mut machine = null_mut();
    let config = default_config();
    // SAFETY: a text, a configuration, an output.
    let status = unsafe { multipc_machine_new(shape.as_ptr(), &config, &mut machine) };
    assert_eq!(status, MULTIPC_OK, "{}", last());
    machine
}

#[test]
fn versions_agree_or_are_told() {
    assert_eq!(multipc_check_abi(multipc_abi_version()), MULTIPC_OK);
    assert_eq!(multipc_check_abi(77), MULTIPC_ERROR_ABI);
    assert_eq!(last(), "header of version 77, library of version 2");
    // SAFETY: a text that ends with a zero.
    let version = unsafe { CStr::from_ptr(multipc_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}

/// Every pointer of every call, null in turn: an error that names it.
#[test]
fn null_pointers_are_errors_with_the_name_of_the_pointer() {
    macro_rules! null {
        ($name:literal, $call:expr) => {
            // SAFETY: pointers are null or lead to locals.
            let status = unsafe { $call };
            assert_eq!(status, MULTIPC_ERROR_NULL, "{}", stringify!($call));
            assert_eq!(last(), concat!($name, " is null"), "{}", stringify!($call));
        };
    }
    let m = machine(c"pair");
    let config = default_config();
    let rcube_config = multipc_rcube_config {
        parallel: 1,
        quick: 1,
    };
    let memory = multipc_memory {
        user: null_mut(),
        claims: Some(nothing),
        read: Some(ones),
        write: Some(drop_word),
    };
    let (mut r, mut d, mut b) = (null_mut(), null_mut(), null_mut());
    // SAFETY: as above.
    unsafe {
        assert_eq!(multipc_rcube_new(&rcube_config, &mut r), MULTIPC_OK);
        assert_eq!(multipc_ddc_new(MULTIPC_REVISION_IDEAL, &mut d), MULTIPC_OK);
        assert_eq!(
            multipc_board_new(MULTIPC_REVISION_IDEAL, &memory, &mut b),
            MULTIPC_OK
        );
    }
    let inputs = multipc_rcube_inputs {
        lines: [MULTIPC_LINE_NO_SIGNAL; 8],
    };
    let mut outputs = multipc_rcube_outputs {
        lines: [0; 8],
        link_status: 0,
    };
    let (mut changed, mut cycle, mut value) = (0u8, 0u64, 0u32);
    let table = [0u8; MULTIPC_TABLE_BYTES];
    let mut count = 0usize;

    null!("config", multipc_rcube_new(null(), &mut r));
    null!("out", multipc_rcube_new(&rcube_config, null_mut()));
    null!("rcube", multipc_rcube_chain(null_mut(), 0, 0, 0));
    null!("rcube", multipc_rcube_configure(null_mut(), table.as_ptr()));
    null!("table", multipc_rcube_configure(r, null()));
    null!("bounds", multipc_table_uniform(null(), null(), null_mut()));
    null!(
        "selections",
        multipc_table_uniform([0u16; 8].as_ptr(), null(), null_mut())
    );
    null!(
        "table",
        multipc_table_uniform([0u16; 8].as_ptr(), [1u8; 8].as_ptr(), null_mut())
    );
    null!(
        "rcube",
        multipc_rcube_step(null_mut(), &inputs, &mut outputs)
    );
    null!("inputs", multipc_rcube_step(r, null(), &mut outputs));
    null!("outputs", multipc_rcube_step(r, &inputs, null_mut()));
    null!(
        "rcube",
        multipc_rcube_run_until(
            null_mut(),
            &inputs,
            1,
            &mut outputs,
            &mut changed,
            &mut cycle
        )
    );
    null!(
        "inputs",
        multipc_rcube_run_until(r, null(), 1, &mut outputs, &mut changed, &mut cycle)
    );
    null!(
        "outputs",
        multipc_rcube_run_until(r, &inputs, 1, null_mut(), &mut changed, &mut cycle)
    );
    null!(
        "changed",
        multipc_rcube_run_until(r, &inputs, 1, &mut outputs, null_mut(), &mut cycle)
    );
    null!(
        "cycle",
        multipc_rcube_run_until(r, &inputs, 1, &mut outputs, &mut changed, null_mut())
    );
    null!("rcube", multipc_rcube_pins(null(), &mut outputs));
    null!("outputs", multipc_rcube_pins(r, null_mut()));

    let mut pci_in = core::mem::MaybeUninit::<multipc_ddc_inputs>::uninit();
    // SAFETY: an output of its type.
    let pci_in = unsafe {
        assert_eq!(multipc_ddc_idle_inputs(pci_in.as_mut_ptr()), MULTIPC_OK);
        pci_in.assume_init()
    };
    let mut pci_out = core::mem::MaybeUninit::<multipc_ddc_outputs>::uninit();
    let pci_out = pci_out.as_mut_ptr();
    let mut line = 0u16;
    null!("out", multipc_ddc_new(0, null_mut()));
    null!("inputs", multipc_ddc_idle_inputs(null_mut()));
    null!("ddc", multipc_ddc_step_pci(null_mut(), &pci_in, pci_out));
    null!("inputs", multipc_ddc_step_pci(d, null(), pci_out));
    null!("outputs", multipc_ddc_step_pci(d, &pci_in, null_mut()));
    null!(
        "ddc",
        multipc_ddc_run_until(null_mut(), &pci_in, 1, pci_out, &mut changed, &mut cycle)
    );
    null!(
        "inputs",
        multipc_ddc_run_until(d, null(), 1, pci_out, &mut changed, &mut cycle)
    );
    null!(
        "outputs",
        multipc_ddc_run_until(d, &pci_in, 1, null_mut(), &mut changed, &mut cycle)
    );
    null!(
        "changed",
        multipc_ddc_run_until(d, &pci_in, 1, pci_out, null_mut(), &mut cycle)
    );
    null!(
        "cycle",
        multipc_ddc_run_until(d, &pci_in, 1, pci_out, &mut changed, null_mut())
    );
    null!("ddc", multipc_ddc_step_link(null_mut(), 0, &mut line));
    null!("output", multipc_ddc_step_link(d, 0, null_mut()));
    null!("ddc", multipc_ddc_pins(null(), pci_out));
    null!("outputs", multipc_ddc_pins(d, null_mut()));
    null!("ddc", multipc_ddc_register(null(), 0, &mut value));
    null!("value", multipc_ddc_register(d, 0, null_mut()));

    let mut board_out = core::mem::MaybeUninit::<multipc_board_outputs>::uninit();
    let board_out = board_out.as_mut_ptr();
    null!("memory", multipc_board_new(0, null(), &mut b));
    null!("out", multipc_board_new(0, &memory, null_mut()));
    null!(
        "memory.claims",
        multipc_board_new(
            0,
            &multipc_memory {
                claims: None,
                ..memory
            },
            &mut b
        )
    );
    null!(
        "memory.read",
        multipc_board_new(
            0,
            &multipc_memory {
                read: None,
                ..memory
            },
            &mut b
        )
    );
    null!(
        "memory.write",
        multipc_board_new(
            0,
            &multipc_memory {
                write: None,
                ..memory
            },
            &mut b
        )
    );
    null!("board", multipc_board_step_pci(null_mut(), board_out));
    null!("outputs", multipc_board_step_pci(b, null_mut()));
    null!(
        "board",
        multipc_board_step_link(null_mut(), &inputs, board_out)
    );
    null!("inputs", multipc_board_step_link(b, null(), board_out));
    null!("outputs", multipc_board_step_link(b, &inputs, null_mut()));
    null!("board", multipc_board_config_start(null_mut(), 0, 0, 0));
    null!("board", multipc_board_config_take(null_mut(), &mut value));
    null!("value", multipc_board_config_take(b, null_mut()));
    null!("board", multipc_board_pins(null_mut(), board_out));
    null!("outputs", multipc_board_pins(b, null_mut()));
    null!("board", multipc_board_register(null_mut(), 0, &mut value));
    null!("value", multipc_board_register(b, 0, null_mut()));

    let mut other = null_mut();
    let mut state = core::mem::MaybeUninit::<multipc_machine_state>::uninit();
    let mut edge = core::mem::MaybeUninit::<multipc_edge>::uninit();
    let mut bytes = [0u8; MULTIPC_TABLE_BYTES];
    null!("config", multipc_machine_config_default(null_mut()));
    null!("shape", multipc_machine_new(null(), &config, &mut other));
    null!(
        "config",
        multipc_machine_new(c"pair".as_ptr(), null(), &mut other)
    );
    null!(
        "out",
        multipc_machine_new(c"pair".as_ptr(), &config, null_mut())
    );
    null!("machine", multipc_machine_look(null(), state.as_mut_ptr()));
    null!("state", multipc_machine_look(m, null_mut()));
    null!(
        "machine",
        multipc_machine_table(null(), 0, bytes.as_mut_ptr())
    );
    null!("table", multipc_machine_table(m, 0, null_mut()));
    null!("machine", multipc_machine_load_table(null_mut(), 0));
    null!("machine", multipc_machine_watch(null_mut(), 0));
    null!(
        "machine",
        multipc_machine_step(null_mut(), edge.as_mut_ptr())
    );
    null!("edge", multipc_machine_step(m, null_mut()));
    null!(
        "machine",
        multipc_machine_run_until_time(null_mut(), 0, null_mut(), 0, &mut count)
    );
    null!(
        "events",
        multipc_machine_run_until_time(m, 0, null_mut(), 1, &mut count)
    );
    null!(
        "count",
        multipc_machine_run_until_time(m, 0, null_mut(), 0, null_mut())
    );
    null!(
        "machine",
        multipc_machine_run_until_cycle(null_mut(), 0, 0, null_mut(), 0, &mut count)
    );
    null!(
        "events",
        multipc_machine_run_until_cycle(m, 0, 0, null_mut(), 1, &mut count)
    );
    null!(
        "count",
        multipc_machine_run_until_cycle(m, 0, 0, null_mut(), 0, null_mut())
    );
    null!(
        "machine",
        multipc_machine_config_read(null_mut(), 0, 0, &mut value)
    );
    null!("value", multipc_machine_config_read(m, 0, 0, null_mut()));
    null!("machine", multipc_machine_config_write(null_mut(), 0, 0, 0));
    null!(
        "machine",
        multipc_machine_interrupt(null(), 0, &mut changed)
    );
    null!("asserted", multipc_machine_interrupt(m, 0, null_mut()));
    null!(
        "machine",
        multipc_machine_memory_read(null(), 0, 0, bytes.as_mut_ptr(), 1)
    );
    null!("bytes", multipc_machine_memory_read(m, 0, 0, null_mut(), 1));
    null!(
        "machine",
        multipc_machine_memory_write(null_mut(), 0, 0, bytes.as_ptr(), 1)
    );
    null!("bytes", multipc_machine_memory_write(m, 0, 0, null(), 1));
    let mut view = null();
    null!(
        "machine",
        multipc_machine_memory_view(null(), 0, 0, 1, &mut view)
    );
    null!("bytes", multipc_machine_memory_view(m, 0, 0, 1, null_mut()));

    // SAFETY: handles and null, once each.
    unsafe {
        multipc_rcube_free(r);
        multipc_ddc_free(d);
        multipc_board_free(b);
        multipc_machine_free(m);
        multipc_rcube_free(null_mut());
        multipc_ddc_free(null_mut());
        multipc_board_free(null_mut());
        multipc_machine_free(null_mut());
    }
}

#[test]
fn values_outside_their_range_are_errors_that_name_value_and_range() {
    macro_rules! wrong {
        ($status:expr, $text:literal, $call:expr) => {
            // SAFETY: pointers lead to locals.
            let status = unsafe { $call };
            assert_eq!(status, $status, "{}", stringify!($call));
            assert_eq!(last(), $text, "{}", stringify!($call));
        };
    }
    let m = machine(c"pair");
    let (mut value, mut count) = (0u32, 0usize);
    let mut bytes = [0u8; 300];
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "node 2, allowed 0..2",
        multipc_machine_config_read(m, 2, 0, &mut value)
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "node 65536, allowed 0..2",
        multipc_machine_config_write(m, 65_536, 0, 0)
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "router 4294967295, allowed 0..2",
        multipc_machine_table(m, u32::MAX, bytes.as_mut_ptr())
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "clock 2, known are 0, 1",
        multipc_machine_run_until_cycle(m, 2, 1, null_mut(), 0, &mut count)
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "pins 0x10, known are 0xf",
        multipc_machine_watch(m, 16)
    );
    wrong!(
        MULTIPC_ERROR_MEMORY,
        "4 bytes at 0x000ffffe are outside the memory of 1048576 bytes at 0x00000000",
        multipc_machine_memory_read(m, 1, 0xF_FFFE, bytes.as_mut_ptr(), 4)
    );
    // Longer than any memory: refused before it is looked at.
    // SAFETY: as above; the length is refused.
    let status = unsafe { multipc_machine_memory_read(m, 1, 0, bytes.as_mut_ptr(), usize::MAX) };
    assert_eq!(status, MULTIPC_ERROR_ARGUMENT);
    // SAFETY: as above; an odd pointer is refused.
    let status = unsafe {
        let odd = bytes.as_mut_ptr().cast::<u32>().wrapping_byte_add(1);
        let odd = if odd.is_aligned() {
            odd.wrapping_byte_add(1)
        } else {
            odd
        };
        multipc_machine_config_read(m, 0, 0, odd)
    };
    assert_eq!(
        (status, last().as_str()),
        (MULTIPC_ERROR_ARGUMENT, "value is not a multiple of 4")
    );
    let mut other = null_mut();
    let mut config = default_config();
    for (shape, text) in [
        (c"", ""),
        (c"cube:9", "cube"),
        (c"mesh:0x4", "0"),
        (c"line:70000", ""),
    ] {
        // SAFETY: as above.
        let status = unsafe { multipc_machine_new(shape.as_ptr(), &config, &mut other) };
        assert_eq!(status, MULTIPC_ERROR_SHAPE, "{shape:?}");
        assert!(last().contains(text), "{shape:?}: {}", last());
    }
    config.link_hz = 0;
    // SAFETY: as above.
    let status = unsafe { multipc_machine_new(c"pair".as_ptr(), &config, &mut other) };
    assert_eq!(status, MULTIPC_ERROR_ARGUMENT);
    config = default_config();
    config.memory_bytes = u32::MAX;
    // SAFETY: as above.
    let status = unsafe { multipc_machine_new(c"pair".as_ptr(), &config, &mut other) };
    assert_eq!(status, MULTIPC_ERROR_ARGUMENT);
    config = default_config();
    config.revision = 3;
    // SAFETY: as above.
    let status = unsafe { multipc_machine_new(c"pair".as_ptr(), &config, &mut other) };
    assert_eq!(
        (status, last().as_str()),
        (MULTIPC_ERROR_ARGUMENT, "revision 3, known are 0, 1, 2")
    );
    assert!(other.is_null(), "a failed call changes nothing");
    // SAFETY: a handle, once.
    unsafe { multipc_machine_free(m) }
}

/// Nothing stops a run to the end of time, and nothing overflows on the way.
#[test]
fn a_machine_runs_to_the_end_of_time() {
    let m = machine(c"pair");
    let (mut count, mut value) = (1usize, 0u32);
    // SAFETY: a handle, null for no events, an output.
    unsafe {
        let status = multipc_machine_run_until_time(m, u64::MAX, null_mut(), 0, &mut count);
        assert_eq!(status, MULTIPC_OK, "{}", last());
        assert_eq!(count, 0);
        let status = multipc_machine_run_until_cycle(
            m,
            MULTIPC_CLOCK_PCI,
            u64::MAX,
            null_mut(),
            0,
            &mut count,
        );
        assert_eq!(status, MULTIPC_OK, "{}", last());
        // Time is over: no clock edge is left for an access.
        let status = multipc_machine_config_read(m, 0, 0, &mut value);
        assert_ne!(status, MULTIPC_OK);
        multipc_machine_free(m);
    }
}

/// A run over many idle cycles ends where that many steps end.
#[test]
fn chips_run_over_idle_cycles_as_if_stepped() {
    let rcube_config = multipc_rcube_config {
        parallel: 1,
        quick: 0,
    };
    let inputs = multipc_rcube_inputs {
        lines: [MULTIPC_LINE_NO_SIGNAL; 8],
    };
    let mut outputs = multipc_rcube_outputs {
        lines: [0; 8],
        link_status: 0,
    };
    let (mut changed, mut cycle) = (0u8, 0u64);
    let mut table = [0u8; MULTIPC_TABLE_BYTES];
    // SAFETY: handles, locals.
    unsafe {
        let mut router = null_mut();
        let bounds = [0u16, 1, 1, 1, 1, 1, 1, 1];
        let status = multipc_table_uniform(bounds.as_ptr(), [1u8; 8].as_ptr(), table.as_mut_ptr());
        assert_eq!(status, MULTIPC_OK);
        assert_eq!(multipc_rcube_new(&rcube_config, &mut router), MULTIPC_OK);
        assert_eq!(multipc_rcube_configure(router, table.as_ptr()), MULTIPC_OK);
        // hw/doc/hsl.md, "Start-up": the parallel port at once, the serial ones after
        // 2 x 4096 cycles without signal; then nobody answers.
        let mut changes = Vec::new();
        loop {
            let status = multipc_rcube_run_until(
                router,
                &inputs,
                u64::MAX / 2,
                &mut outputs,
                &mut changed,
                &mut cycle,
            );
            assert_eq!(status, MULTIPC_OK);
            if changed == 0 {
                break;
            }
            changes.push(cycle);
        }
        assert_eq!(outputs.lines, [MULTIPC_IDLE; 8]);
        assert_eq!(changes.first(), Some(&1), "{changes:?}");
        let last = changes.last().copied().unwrap_or(0);
        let stages = 3;
        assert_eq!(last, 1 + 4096 + 4096 + stages, "{changes:?}");
        multipc_rcube_free(router);

        let mut ddc = null_mut();
        let mut pins = core::mem::MaybeUninit::uninit();
        let mut driven = core::mem::MaybeUninit::uninit();
        assert_eq!(
            multipc_ddc_new(MULTIPC_REVISION_IDEAL, &mut ddc),
            MULTIPC_OK
        );
        assert_eq!(multipc_ddc_idle_inputs(pins.as_mut_ptr()), MULTIPC_OK);
        let status = multipc_ddc_run_until(
            ddc,
            pins.as_ptr(),
            u64::MAX,
            driven.as_mut_ptr(),
            &mut changed,
            &mut cycle,
        );
        assert_eq!((status, changed, cycle), (MULTIPC_OK, 0, u64::MAX));
        multipc_ddc_free(ddc);
    }
}

extern "C" fn nothing(_: *mut c_void, _: u32) -> u8 {
    0
}

extern "C" fn ones(_: *mut c_void, _: u32) -> u32 {
    u32::MAX
}

extern "C" fn drop_word(_: *mut c_void, _: u32, _: u32, _: u8) {}

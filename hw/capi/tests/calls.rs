//! The calls as C makes them.

mod common;

use core::ffi::CStr;
use core::ptr::null_mut;

use multipc_capi::*;

use common::{default_config, last, machine, wrong};

#[test]
fn versions_agree_or_are_told() {
    assert_eq!(multipc_check_abi(multipc_abi_version()), MULTIPC_OK);
    assert_eq!(multipc_check_abi(77), MULTIPC_ERROR_ABI);
    assert_eq!(last(), "header of version 77, library of version 2");
    // SAFETY: a text that ends with a zero.
    let version = unsafe { CStr::from_ptr(multipc_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}

#[test]
fn values_outside_their_range_are_errors_that_name_value_and_range() {
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

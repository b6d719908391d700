//! Null pointers are told, not followed.

mod common;

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use multipc_capi::*;

use common::{blank, default_config, is_null, machine};

/// Every pointer of every call, null in turn: an error that names it.
#[test]
fn null_pointers_are_errors_with_the_name_of_the_pointer() {
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

    is_null!("config", multipc_rcube_new(null(), &mut r));
    is_null!("out", multipc_rcube_new(&rcube_config, null_mut()));
    is_null!("rcube", multipc_rcube_chain(null_mut(), 0, 0, 0));
    is_null!("rcube", multipc_rcube_configure(null_mut(), table.as_ptr()));
    is_null!("table", multipc_rcube_configure(r, null()));
    is_null!("bounds", multipc_table_uniform(null(), null(), null_mut()));
    is_null!(
        "selections",
        multipc_table_uniform([0u16; 8].as_ptr(), null(), null_mut())
    );
    is_null!(
        "table",
        multipc_table_uniform([0u16; 8].as_ptr(), [1u8; 8].as_ptr(), null_mut())
    );
    is_null!(
        "rcube",
        multipc_rcube_step(null_mut(), &inputs, &mut outputs)
    );
    is_null!("inputs", multipc_rcube_step(r, null(), &mut outputs));
    is_null!("outputs", multipc_rcube_step(r, &inputs, null_mut()));
    is_null!(
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
    is_null!(
        "inputs",
        multipc_rcube_run_until(r, null(), 1, &mut outputs, &mut changed, &mut cycle)
    );
    is_null!(
        "outputs",
        multipc_rcube_run_until(r, &inputs, 1, null_mut(), &mut changed, &mut cycle)
    );
    is_null!(
        "changed",
        multipc_rcube_run_until(r, &inputs, 1, &mut outputs, null_mut(), &mut cycle)
    );
    is_null!(
        "cycle",
        multipc_rcube_run_until(r, &inputs, 1, &mut outputs, &mut changed, null_mut())
    );
    is_null!("rcube", multipc_rcube_pins(null(), &mut outputs));
    is_null!("outputs", multipc_rcube_pins(r, null_mut()));

    let mut pci_in = core::mem::MaybeUninit::<multipc_ddc_inputs>::uninit();
    // SAFETY: an output of its type.
    let pci_in = unsafe {
        assert_eq!(multipc_ddc_idle_inputs(pci_in.as_mut_ptr()), MULTIPC_OK);
        pci_in.assume_init()
    };
    let mut pci_out = core::mem::MaybeUninit::<multipc_ddc_outputs>::uninit();
    let pci_out = pci_out.as_mut_ptr();
    let mut line = 0u16;
    is_null!("out", multipc_ddc_new(0, null_mut()));
    is_null!("inputs", multipc_ddc_idle_inputs(null_mut()));
    is_null!("ddc", multipc_ddc_step_pci(null_mut(), &pci_in, pci_out));
    is_null!("inputs", multipc_ddc_step_pci(d, null(), pci_out));
    is_null!("outputs", multipc_ddc_step_pci(d, &pci_in, null_mut()));
    is_null!(
        "ddc",
        multipc_ddc_run_until(null_mut(), &pci_in, 1, pci_out, &mut changed, &mut cycle)
    );
    is_null!(
        "inputs",
        multipc_ddc_run_until(d, null(), 1, pci_out, &mut changed, &mut cycle)
    );
    is_null!(
        "outputs",
        multipc_ddc_run_until(d, &pci_in, 1, null_mut(), &mut changed, &mut cycle)
    );
    is_null!(
        "changed",
        multipc_ddc_run_until(d, &pci_in, 1, pci_out, null_mut(), &mut cycle)
    );
    is_null!(
        "cycle",
        multipc_ddc_run_until(d, &pci_in, 1, pci_out, &mut changed, null_mut())
    );
    is_null!("ddc", multipc_ddc_step_link(null_mut(), 0, &mut line));
    is_null!("output", multipc_ddc_step_link(d, 0, null_mut()));
    is_null!("ddc", multipc_ddc_pins(null(), pci_out));
    is_null!("outputs", multipc_ddc_pins(d, null_mut()));
    is_null!("ddc", multipc_ddc_register(null(), 0, &mut value));
    is_null!("value", multipc_ddc_register(d, 0, null_mut()));

    let mut board_out = core::mem::MaybeUninit::<multipc_board_outputs>::uninit();
    let board_out = board_out.as_mut_ptr();
    is_null!("memory", multipc_board_new(0, null(), &mut b));
    is_null!("out", multipc_board_new(0, &memory, null_mut()));
    is_null!(
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
    is_null!(
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
    is_null!(
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
    is_null!("board", multipc_board_step_pci(null_mut(), board_out));
    is_null!("outputs", multipc_board_step_pci(b, null_mut()));
    is_null!(
        "board",
        multipc_board_step_link(null_mut(), &inputs, board_out)
    );
    is_null!("inputs", multipc_board_step_link(b, null(), board_out));
    is_null!("outputs", multipc_board_step_link(b, &inputs, null_mut()));
    is_null!("board", multipc_board_config_start(null_mut(), 0, 0, 0));
    is_null!("board", multipc_board_config_take(null_mut(), &mut value));
    is_null!("value", multipc_board_config_take(b, null_mut()));
    is_null!("board", multipc_board_pins(null_mut(), board_out));
    is_null!("outputs", multipc_board_pins(b, null_mut()));
    is_null!("board", multipc_board_register(null_mut(), 0, &mut value));
    is_null!("value", multipc_board_register(b, 0, null_mut()));

    let mut other = null_mut();
    let mut state = core::mem::MaybeUninit::<multipc_machine_state>::uninit();
    let mut edge = core::mem::MaybeUninit::<multipc_edge>::uninit();
    let mut bytes = [0u8; MULTIPC_TABLE_BYTES];
    is_null!("config", multipc_machine_config_default(null_mut()));
    is_null!("shape", multipc_machine_new(null(), &config, &mut other));
    is_null!(
        "config",
        multipc_machine_new(c"pair".as_ptr(), null(), &mut other)
    );
    is_null!(
        "out",
        multipc_machine_new(c"pair".as_ptr(), &config, null_mut())
    );
    is_null!("machine", multipc_machine_look(null(), state.as_mut_ptr()));
    is_null!("state", multipc_machine_look(m, null_mut()));
    is_null!(
        "machine",
        multipc_machine_table(null(), 0, bytes.as_mut_ptr())
    );
    is_null!("table", multipc_machine_table(m, 0, null_mut()));
    is_null!("machine", multipc_machine_load_table(null_mut(), 0));
    is_null!("machine", multipc_machine_watch(null_mut(), 0));
    is_null!(
        "machine",
        multipc_machine_step(null_mut(), edge.as_mut_ptr())
    );
    is_null!("edge", multipc_machine_step(m, null_mut()));
    is_null!(
        "machine",
        multipc_machine_run_until_time(null_mut(), 0, null_mut(), 0, &mut count)
    );
    is_null!(
        "events",
        multipc_machine_run_until_time(m, 0, null_mut(), 1, &mut count)
    );
    is_null!(
        "count",
        multipc_machine_run_until_time(m, 0, null_mut(), 0, null_mut())
    );
    is_null!(
        "machine",
        multipc_machine_run_until_cycle(null_mut(), 0, 0, null_mut(), 0, &mut count)
    );
    is_null!(
        "events",
        multipc_machine_run_until_cycle(m, 0, 0, null_mut(), 1, &mut count)
    );
    is_null!(
        "count",
        multipc_machine_run_until_cycle(m, 0, 0, null_mut(), 0, null_mut())
    );
    is_null!(
        "machine",
        multipc_machine_config_read(null_mut(), 0, 0, &mut value)
    );
    is_null!("value", multipc_machine_config_read(m, 0, 0, null_mut()));
    is_null!("machine", multipc_machine_config_write(null_mut(), 0, 0, 0));
    is_null!(
        "machine",
        multipc_machine_interrupt(null(), 0, &mut changed)
    );
    is_null!("asserted", multipc_machine_interrupt(m, 0, null_mut()));
    is_null!(
        "machine",
        multipc_machine_memory_read(null(), 0, 0, bytes.as_mut_ptr(), 1)
    );
    is_null!("bytes", multipc_machine_memory_read(m, 0, 0, null_mut(), 1));
    is_null!(
        "machine",
        multipc_machine_memory_write(null_mut(), 0, 0, bytes.as_ptr(), 1)
    );
    is_null!("bytes", multipc_machine_memory_write(m, 0, 0, null(), 1));
    let mut view = null();
    is_null!(
        "machine",
        multipc_machine_memory_view(null(), 0, 0, 1, &mut view)
    );
    is_null!("bytes", multipc_machine_memory_view(m, 0, 0, 1, null_mut()));

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
fn null_pointers_of_faults_are_errors_that_name_them() {
    let m = machine(c"pair");
    let (mut count, mut total, record) = (0, 0, blank());
    is_null!(
        "machine",
        multipc_machine_set_faults(null_mut(), null(), 0, null())
    );
    is_null!("faults", multipc_machine_set_faults(m, null(), 1, null()));
    is_null!(
        "machine",
        multipc_machine_set_faults_text(null_mut(), c"".as_ptr())
    );
    is_null!("text", multipc_machine_set_faults_text(m, null()));
    is_null!("machine", multipc_machine_take_faults(null_mut()));
    is_null!(
        "machine",
        multipc_machine_fault_records(null(), 0, null_mut(), 0, &mut count, &mut total)
    );
    is_null!(
        "records",
        multipc_machine_fault_records(m, 0, null_mut(), 1, &mut count, &mut total)
    );
    is_null!(
        "count",
        multipc_machine_fault_records(m, 0, null_mut(), 0, null_mut(), &mut total)
    );
    is_null!(
        "total",
        multipc_machine_fault_records(m, 0, null_mut(), 0, &mut count, null_mut())
    );
    is_null!("record", multipc_fault_record_text(null(), null_mut(), 0));
    let one = multipc_fault_record {
        effect: MULTIPC_EFFECT_OVER,
        place: MULTIPC_PLACE_BUS,
        what: MULTIPC_FAULT_HOLD_GRANT,
        ..record
    };
    is_null!("text", multipc_fault_record_text(&one, null_mut(), 1));
    // SAFETY: a handle, once.
    unsafe { multipc_machine_free(m) }
}

extern "C" fn nothing(_: *mut c_void, _: u32) -> u8 {
    0
}

extern "C" fn ones(_: *mut c_void, _: u32) -> u32 {
    u32::MAX
}

extern "C" fn drop_word(_: *mut c_void, _: u32, _: u32, _: u8) {}

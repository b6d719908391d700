//! Faults of a machine, as C sets them.

mod common;

use core::ffi::{CStr, c_char};
use core::ptr::{null, null_mut};

use multipc_capi::*;

use common::{blank, last, machine, now_ps, ok, wrong};

/// All records, and how many there were.
fn records(m: *const multipc_machine, first: u64) -> (Vec<multipc_fault_record>, u64) {
    let mut room = vec![blank(); 5000];
    let (mut count, mut total) = (0, 0);
    // SAFETY: a handle, room, outputs.
    ok(unsafe {
        multipc_machine_fault_records(
            m,
            first,
            room.as_mut_ptr(),
            room.len(),
            &mut count,
            &mut total,
        )
    });
    room.truncate(count);
    (room, total)
}

fn words(record: &multipc_fault_record) -> String {
    let mut text = [0 as c_char; 200];
    // SAFETY: a record, room; ends with a zero.
    unsafe {
        ok(multipc_fault_record_text(
            record,
            text.as_mut_ptr(),
            text.len(),
        ));
        CStr::from_ptr(text.as_ptr()).to_str().unwrap().to_owned()
    }
}

fn set(m: *mut multipc_machine, faults: &[multipc_fault]) -> multipc_status {
    // SAFETY: a handle, faults.
    unsafe { multipc_machine_set_faults(m, faults.as_ptr(), faults.len(), null()) }
}

/// Two boards whose links come up; both are written with the tables of the machine, no
/// driver.
fn started() -> *mut multipc_machine {
    let m = machine(c"pair");
    let mut table = [0u8; MULTIPC_TABLE_BYTES];
    for node in 0..2 {
        // SAFETY: a handle, an output.
        unsafe {
            ok(multipc_machine_table(m, node, table.as_mut_ptr()));
            for byte in table.iter().rev() {
                let word = u32::from(*byte);
                ok(multipc_machine_config_write(m, node, 0x74, word));
            }
            for command in [0x8000_0000, 0x8000_4000, 0x8000_6000, 0x8000_7000] {
                ok(multipc_machine_config_write(m, node, 0x48, command));
            }
            ok(multipc_machine_config_write(m, node, 0x04, 0x0104));
        }
    }
    m
}

fn run(m: *mut multipc_machine, ps: u64) {
    let mut count = 0;
    let end = now_ps(m) + ps;
    // SAFETY: a handle, an output.
    ok(unsafe { multipc_machine_run_until_time(m, end, null_mut(), 0, &mut count) });
}

fn links(m: *mut multipc_machine, ps: u64) -> u8 {
    let mut up = 9;
    // SAFETY: a handle, an output.
    ok(unsafe { multipc_machine_run_until_links(m, now_ps(m) + ps, &mut up) });
    up
}

const CABLE: multipc_fault = multipc_fault {
    place: MULTIPC_PLACE_ROUTER,
    index: 0,
    port: 1,
    when: MULTIPC_WHEN_CHARACTER,
    number: 3,
    what: MULTIPC_FAULT_CORRUPT,
    value: 0x10,
    times: 0,
};

const BUS: multipc_fault = multipc_fault {
    place: MULTIPC_PLACE_BUS,
    index: 1,
    port: 0,
    when: MULTIPC_WHEN_READ,
    number: 2,
    what: MULTIPC_FAULT_RETRY,
    value: 0,
    times: 5,
};

#[test]
fn faults_that_cannot_be_are_refused_by_value_and_range() {
    let m = machine(c"pair");
    let bad = [
        (
            multipc_fault { place: 0, ..CABLE },
            "place 0, allowed 1..=3",
        ),
        (
            multipc_fault {
                index: 65_536,
                ..CABLE
            },
            "index 65536, allowed 0..65536",
        ),
        (
            multipc_fault { port: 256, ..CABLE },
            "port 256, allowed 0..8",
        ),
        (
            multipc_fault {
                when: MULTIPC_WHEN_READ,
                ..CABLE
            },
            "when 7 on a cable, allowed 0..=5",
        ),
        (
            multipc_fault {
                when: MULTIPC_WHEN_END,
                ..BUS
            },
            "when 4 on a bus, allowed 0, 6..=8",
        ),
        (
            multipc_fault { value: 0, ..CABLE },
            "value 0x0, allowed 0x1..=0x1ff",
        ),
        (
            multipc_fault {
                what: MULTIPC_FAULT_INSERT,
                value: 0x200,
                ..CABLE
            },
            "value 0x200, allowed 0x0..=0x1ff",
        ),
        (
            multipc_fault {
                what: MULTIPC_FAULT_RETRY,
                ..CABLE
            },
            "fault 6 on a cable, allowed 1..=5",
        ),
        (
            multipc_fault {
                what: MULTIPC_FAULT_DROP,
                ..BUS
            },
            "fault 2 on a bus, allowed 6..=15",
        ),
        (
            multipc_fault {
                times: 1 << 32,
                ..BUS
            },
            "times 4294967296, allowed 0..=4294967295",
        ),
    ];
    for (fault, text) in bad {
        assert_eq!(set(m, &[CABLE, fault]), MULTIPC_ERROR_ARGUMENT, "{text}");
        assert_eq!(last(), format!("faults[1]: {text}"));
    }
    // In range, but not of this machine.
    for (fault, text) in [
        (
            multipc_fault { port: 2, ..CABLE },
            "fault on the cable from router 0 port 2, which the machine does not have",
        ),
        (
            multipc_fault { index: 2, ..BUS },
            "fault on the bus of node 2, which the machine does not have",
        ),
        (
            multipc_fault { number: 0, ..BUS },
            "fault on the bus of node 1 at 0: cycles and numbers begin at 1",
        ),
    ] {
        assert_eq!(set(m, &[fault]), MULTIPC_ERROR_FAULT, "{text}");
        assert_eq!(last(), text);
    }
    let random = multipc_random_faults {
        drop: 1.5,
        ..multipc_random_faults::default()
    };
    // SAFETY: a handle, rates.
    let status = unsafe { multipc_machine_set_faults(m, null(), 0, &random) };
    assert_eq!(status, MULTIPC_ERROR_FAULT);
    assert_eq!(last(), "cable drop rate 1.5 is outside 0..=1");
    wrong!(
        MULTIPC_ERROR_TEXT,
        "line 2: \"rooter 1\" is no end of a cable; \"node N\" and \"router N port P\" are",
        multipc_machine_set_faults_text(m, c"[[cable]]\nfrom = \"rooter 1\"".as_ptr())
    );
    // SAFETY: a handle, once.
    unsafe { multipc_machine_free(m) }
}

#[test]
fn a_script_of_structures_does_what_its_text_does() {
    let script = [
        CABLE,
        multipc_fault {
            number: 9,
            what: MULTIPC_FAULT_DROP,
            ..CABLE
        },
        multipc_fault {
            place: MULTIPC_PLACE_NODE,
            index: 1,
            port: 0,
            when: MULTIPC_WHEN_CYCLE,
            number: 5000,
            what: MULTIPC_FAULT_INSERT,
            value: MULTIPC_EEP.into(),
            times: 0,
        },
        multipc_fault {
            when: MULTIPC_WHEN_CYCLE,
            number: 20_000,
            what: MULTIPC_FAULT_CUT_ONE_WAY,
            times: 7,
            ..CABLE
        },
        multipc_fault {
            when: MULTIPC_WHEN_CYCLE,
            number: 4000,
            what: MULTIPC_FAULT_HOLD_GRANT,
            times: 60,
            ..BUS
        },
        multipc_fault {
            when: MULTIPC_WHEN_CYCLE,
            number: 4100,
            what: MULTIPC_FAULT_SLOW_READS,
            value: 3,
            times: 40,
            ..BUS
        },
    ];
    let text = c"
        [[cable]]
        from = \"router 0 port 1\"
        character = 3
        corrupt = 0x10
        [[cable]]
        from = \"router 0 port 1\"
        character = 9
        drop = true
        [[cable]]
        from = \"node 1\"
        cycle = 5000
        insert = \"EEP\"
        [[cable]]
        from = \"router 0 port 1\"
        cycle = 20000
        cut = 7
        both = false
        [[bus]]
        node = 1
        cycle = 4000
        hold_grant = 60
        [[bus]]
        node = 1
        cycle = 4100
        slow_reads = 3
        cycles = 40";
    let [a, b] = [started(), started()];
    ok(set(a, &script));
    // SAFETY: a handle, a text.
    ok(unsafe { multipc_machine_set_faults_text(b, text.as_ptr()) });
    for m in [a, b] {
        run(m, 400_000_000);
    }
    let (done, total) = records(a, 0);
    assert_eq!((&done, total), (&records(b, 0).0, done.len() as u64));
    let told: Vec<String> = done.iter().map(words).collect();
    let has = |text: &str| told.iter().filter(|line| line.contains(text)).count();
    // One each: character 3, character 9, the EEP, the cut and its end, GNT# and its end,
    // slow reads.
    assert_eq!(total, 8, "{told:#?}");
    assert_eq!(has("router 0 port 1: character 3 is"), 1, "{told:#?}");
    assert_eq!(has("router 0 port 1: character 9 is"), 1, "{told:#?}");
    assert_eq!(has("from node 1: "), 1, "{told:#?}");
    assert_eq!(
        has("link cycle 20000, cable from router 0 port 1: no signal for 7"),
        1
    );
    assert_eq!(
        has("link cycle 20007, cable from router 0 port 1: signal back"),
        1
    );
    assert_eq!(
        has("PCI cycle 4000, bus of node 1: GNT# withheld for 60 cycles"),
        1
    );
    assert_eq!(has("PCI cycle 4060, bus of node 1: GNT# given again"), 1);
    assert_eq!(
        has("PCI cycle 4100, bus of node 1: reads 3 clocks slower"),
        1
    );
    // From a number on; behind the last one there is none.
    assert_eq!(records(a, 6).0, done[6..]);
    assert_eq!(records(a, u64::MAX).0, []);
    for m in [a, b] {
        // SAFETY: once each.
        unsafe { multipc_machine_free(m) }
    }
}

#[test]
fn a_cable_is_cut_from_the_next_edge_on_and_repaired() {
    let m = started();
    assert_eq!(links(m, 500_000_000), 1);
    let before = now_ps(m);
    let cut = multipc_fault {
        when: MULTIPC_WHEN_CYCLE,
        number: 0,
        what: MULTIPC_FAULT_CUT,
        times: u64::MAX,
        ..CABLE
    };
    ok(set(m, &[cut]));
    run(m, 1_000_000);
    assert_eq!(links(m, 1_000_000_000), 0, "no signal any more");
    let (done, total) = records(m, 0);
    assert_eq!(total, 2, "both directions");
    for record in done {
        assert_eq!(
            (record.effect, record.what, record.times),
            (MULTIPC_EFFECT_BEGUN, MULTIPC_FAULT_CUT, u64::MAX)
        );
        let edge = record.cycle as u128 * 1_000_000_000_000 / 66_000_000;
        assert!(edge >= before.into() && edge < u128::from(before) + 16_000);
    }
    // SAFETY: a handle.
    unsafe {
        ok(multipc_machine_take_faults(m));
        ok(multipc_machine_take_faults(m));
    }
    assert_eq!(records(m, 0), (vec![], 0));
    assert_eq!(links(m, 500_000_000), 1, "repaired");
    // SAFETY: a handle, once.
    unsafe { multipc_machine_free(m) }
}

#[test]
fn faults_at_random_are_the_same_for_the_same_seed() {
    let run_with = |seed| {
        let m = started();
        let random = multipc_random_faults {
            seed,
            corrupt: 0.01,
            cut: 1e-4,
            cut_cycles: 50,
            ..multipc_random_faults::default()
        };
        // SAFETY: a handle, rates.
        ok(unsafe { multipc_machine_set_faults(m, null(), 0, &random) });
        run(m, 1_000_000_000);
        let found = records(m, 0);
        // SAFETY: once.
        unsafe { multipc_machine_free(m) }
        found
    };
    let one = run_with(1);
    assert!(one.1 > 0, "something happens");
    assert_eq!(one, run_with(1));
    assert_ne!(one, run_with(2));
}

#[test]
fn a_record_that_is_none_has_no_words() {
    let mut text = [0 as c_char; 50];
    let record = multipc_fault_record {
        effect: MULTIPC_EFFECT_ANSWERED,
        place: MULTIPC_PLACE_BUS,
        what: MULTIPC_FAULT_CUT,
        ..multipc_fault_record::default()
    };
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "record of effect 4, place 3, fault 4",
        multipc_fault_record_text(&record, text.as_mut_ptr(), 50)
    );
}

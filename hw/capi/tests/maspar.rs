//! The MasPar router, as C calls it. Expected ticks: hw/doc/maspar.md, "Tick by tick".

mod common;

use core::ffi::CStr;
use core::ptr::{null, null_mut};

use multipc_capi::*;

use common::{blank, is_null, last, ok, wrong};

fn preset(name: &CStr, pes: u32) -> multipc_maspar_config {
    let mut config = blank();
    // SAFETY: a text, an output.
    ok(unsafe { multipc_maspar_config_preset(name.as_ptr(), &mut config) });
    multipc_maspar_config { pes, ..config }
}

fn router(config: &multipc_maspar_config) -> *mut multipc_maspar {
    let mut router = null_mut();
    // SAFETY: a configuration, an output.
    ok(unsafe { multipc_maspar_new(config, &mut router) });
    router
}

fn look(router: *const multipc_maspar) -> multipc_maspar_state {
    let mut state = blank();
    // SAFETY: a handle, an output.
    ok(unsafe { multipc_maspar_look(router, &mut state) });
    state
}

fn pattern(router: *const multipc_maspar, name: &CStr, pes: usize) -> Vec<u16> {
    let mut targets = vec![0; pes];
    // SAFETY: a handle, a text, room.
    ok(unsafe { multipc_maspar_pattern(router, name.as_ptr(), targets.as_mut_ptr(), pes) });
    targets
}

#[test]
fn null_pointers_are_errors_with_the_name_of_the_pointer() {
    let mut config = preset(c"mp1", 1024);
    let m = router(&config);
    let mut other = null_mut();
    let (mut state, mut report, mut wires) = (blank(), blank(), blank());
    let (mut any, mut count) = (0u8, 0usize);
    let values = [0u64; 1024];
    let mut into = [0u64; 1024];
    let mut targets = [0u16; 1024];
    is_null!("name", multipc_maspar_config_preset(null(), &mut config));
    is_null!(
        "config",
        multipc_maspar_config_preset(c"mp1".as_ptr(), null_mut())
    );
    is_null!("config", multipc_maspar_new(null(), &mut other));
    is_null!("out", multipc_maspar_new(&config, null_mut()));
    is_null!(
        "maspar",
        multipc_maspar_pattern(null(), c"gray".as_ptr(), targets.as_mut_ptr(), 1024)
    );
    is_null!(
        "name",
        multipc_maspar_pattern(m, null(), targets.as_mut_ptr(), 1024)
    );
    is_null!(
        "targets",
        multipc_maspar_pattern(m, c"gray".as_ptr(), null_mut(), 1024)
    );
    is_null!(
        "maspar",
        multipc_maspar_load(null_mut(), targets.as_ptr(), 1024)
    );
    is_null!("targets", multipc_maspar_load(m, null(), 1024));
    is_null!(
        "maspar",
        multipc_maspar_route(
            null_mut(),
            32,
            values.as_ptr(),
            into.as_mut_ptr(),
            1024,
            &mut report
        )
    );
    is_null!(
        "values",
        multipc_maspar_route(m, 32, null(), into.as_mut_ptr(), 1024, &mut report)
    );
    is_null!(
        "into",
        multipc_maspar_route(m, 32, values.as_ptr(), null_mut(), 1024, &mut report)
    );
    is_null!(
        "report",
        multipc_maspar_route(m, 32, values.as_ptr(), into.as_mut_ptr(), 1024, null_mut())
    );
    is_null!("maspar", multipc_maspar_ropen(null_mut()));
    is_null!(
        "maspar",
        multipc_maspar_rfetch(null_mut(), 32, values.as_ptr(), 1024)
    );
    is_null!("values", multipc_maspar_rfetch(m, 32, null(), 1024));
    is_null!("maspar", multipc_maspar_gor1(null_mut(), &mut any));
    is_null!("any", multipc_maspar_gor1(m, null_mut()));
    is_null!("maspar", multipc_maspar_step(null_mut(), 1, &mut state));
    is_null!("state", multipc_maspar_step(m, 1, null_mut()));
    is_null!("maspar", multipc_maspar_look(null(), &mut state));
    is_null!("state", multipc_maspar_look(m, null_mut()));
    is_null!("maspar", multipc_maspar_pins(null(), 1, &mut wires));
    is_null!("wires", multipc_maspar_pins(m, 1, null_mut()));
    is_null!(
        "maspar",
        multipc_maspar_paths(null(), null_mut(), 0, &mut count)
    );
    is_null!("paths", multipc_maspar_paths(m, null_mut(), 1, &mut count));
    is_null!("count", multipc_maspar_paths(m, null_mut(), 0, null_mut()));
    assert!(other.is_null(), "a failed call changes nothing");
    // SAFETY: a handle and null, once each.
    unsafe {
        multipc_maspar_free(m);
        multipc_maspar_free(null_mut());
    }
}

#[test]
fn values_outside_their_range_are_errors_that_name_value_and_range() {
    let config = preset(c"mp1", 1024);
    let m = router(&config);
    let (mut other, mut wires, mut report) = (null_mut(), blank(), blank());
    let (mut values, mut targets) = (vec![0u64; 1024], vec![0u16; 1024]);
    let mut spare = config;
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "no structure is called \"mp3\"; known are mp1, mp2, no-reversal, board-by-board, \
         stage3-descending, crossbars",
        multipc_maspar_config_preset(c"mp3".as_ptr(), &mut spare)
    );
    spare.pes = 1000;
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "no machine has 1000 PEs, only 1024, 2048, 4096, 8192 or 16384",
        multipc_maspar_new(&spare, &mut other)
    );
    spare = multipc_maspar_config {
        stage3_wires: [0, 1, 1, 3],
        ..config
    };
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "wire order [0, 1, 1, 3] of stage 3 is no permutation of 0..=3",
        multipc_maspar_new(&spare, &mut other)
    );
    for stage in [0, 5] {
        let words = format!("stage {stage}, allowed 1..=4");
        wrong!(
            MULTIPC_ERROR_ARGUMENT,
            words,
            multipc_maspar_pins(m, stage, &mut wires)
        );
    }
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "1023 targets, the machine has 1024 PEs",
        multipc_maspar_load(m, targets.as_ptr(), 1023)
    );
    targets[7] = 1024;
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "target 1024 of PE 7 is outside 0..1024",
        multipc_maspar_load(m, targets.as_ptr(), 1024)
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "width 33, allowed 8, 16, 32, 64",
        multipc_maspar_rfetch(m, 33, values.as_ptr(), 1024)
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "width 0, allowed 8, 16, 32, 64",
        multipc_maspar_route(
            m,
            0,
            values.as_ptr(),
            values.as_mut_ptr(),
            1024,
            &mut report
        )
    );
    wrong!(
        MULTIPC_ERROR_TEXT,
        "\"shift:\": the part behind the colon is no number in range",
        multipc_maspar_pattern(m, c"shift:".as_ptr(), targets.as_mut_ptr(), 1024)
    );
    assert!(other.is_null(), "a failed call changes nothing");
    assert_eq!(look(m), blank(), "nothing has begun");
    // SAFETY: a handle, once.
    unsafe { multipc_maspar_free(m) }
}

/// The loop by instructions, each tick stepped, and the loop at once: the same cycles, ticks
/// and values.
#[test]
fn a_pattern_tick_by_tick_is_the_pattern_at_once() {
    for (name, structure, pes) in [
        (c"bit-reversal", c"mp1", 1024u32),
        (c"random:7", c"crossbars", 2048),
        (c"row-head", c"no-reversal", 1024),
    ] {
        let config = preset(structure, pes);
        let (m, n) = (router(&config), pes as usize);
        let mut targets = pattern(m, name, n);
        // Some ask for nobody.
        for id in (0..n).step_by(5) {
            targets[id] = MULTIPC_NO_PE;
        }
        let values: Vec<u64> = (0..u64::from(pes))
            .map(|pe| pe << 40 | 0xC0_0000 | pe)
            .collect();
        let mut at_once = vec![1u64; n];
        let mut report = blank::<multipc_maspar_report>();
        let mut stepped = vec![1u64; n];
        let mut paths = vec![blank::<multipc_maspar_path>(); 1024];
        let (mut state, mut any, mut cycles, mut served) = (look(m), 1, 0, 0);
        // SAFETY: handles, arrays of their lengths, outputs.
        unsafe {
            ok(multipc_maspar_load(m, targets.as_ptr(), n));
            ok(multipc_maspar_route(
                m,
                32,
                values.as_ptr(),
                at_once.as_mut_ptr(),
                n,
                &mut report,
            ));
            let before = look(m).ticks;
            assert_eq!(before, report.ticks);
            ok(multipc_maspar_load(m, targets.as_ptr(), n));
            while any == 1 {
                ok(multipc_maspar_ropen(m));
                ok(multipc_maspar_step(m, u32::MAX, &mut state));
                assert_eq!(state.instruction, MULTIPC_MASPAR_IDLE);
                ok(multipc_maspar_rfetch(m, 32, values.as_ptr(), n));
                ok(multipc_maspar_step(m, u32::MAX, &mut state));
                let mut count = 0;
                ok(multipc_maspar_paths(
                    m,
                    paths.as_mut_ptr(),
                    paths.len(),
                    &mut count,
                ));
                for path in &paths[..count] {
                    assert_eq!(path.target, u32::from(targets[path.source as usize]));
                    stepped[path.source as usize] = path.value;
                }
                served += count;
                ok(multipc_maspar_gor1(m, &mut any));
                cycles += 1;
            }
            assert_eq!(look(m).ticks - before, report.ticks, "{name:?}");
        }
        assert_eq!(
            (cycles, served as u32),
            (report.cycles, report.served),
            "{name:?}"
        );
        assert_eq!(report.ticks, u64::from(report.cycles) * 100, "{name:?}");
        assert!(stepped == at_once, "{name:?}");
        for (id, value) in at_once.into_iter().enumerate() {
            let expected = match targets[id] {
                MULTIPC_NO_PE => 1,
                target => values[usize::from(target)] & 0xFFFF_FFFF,
            };
            assert_eq!(value, expected, "{name:?}: PE {id}");
        }
        // SAFETY: once.
        unsafe { multipc_maspar_free(m) }
    }
}

/// One path alone: when its request is at each stage, when the acknowledge is, and when the
/// source knows.
#[test]
fn one_request_is_at_each_stage_in_its_tick() {
    let m = router(&preset(c"mp1", 16_384));
    let mut targets = vec![MULTIPC_NO_PE; 16_384];
    targets[777] = 9999;
    let mut state = blank();
    let mut rises = [[0u32; 2]; 4];
    let mut knows = 0;
    // SAFETY: a handle, arrays of their lengths, outputs.
    unsafe {
        ok(multipc_maspar_load(m, targets.as_ptr(), targets.len()));
        ok(multipc_maspar_ropen(m));
        for edges in 1..=42u32 {
            ok(multipc_maspar_step(m, 1, &mut state));
            for (stage, rises) in (1..).zip(&mut rises) {
                let mut wires = blank::<multipc_maspar_wires>();
                ok(multipc_maspar_pins(m, stage, &mut wires));
                for (rise, wires) in rises.iter_mut().zip([wires.request, wires.back]) {
                    let set: u32 = wires.iter().map(|word| word.count_ones()).sum();
                    assert!(set <= 1, "one request, one wire");
                    if set == 1 && *rise == 0 {
                        *rise = edges;
                    }
                }
            }
            if state.connected == 1 && knows == 0 {
                knows = edges;
            }
        }
        assert_eq!((state.ticks, state.instruction), (42, MULTIPC_MASPAR_IDLE));
        multipc_maspar_free(m);
    }
    // After the edge of tick t an observer has counted t + 1 edges. Requests: out of the
    // cluster at tick 1, one tick behind each decision (6, 12, 18); acknowledges: 25 to 28
    // by the table; the source at 29.
    assert_eq!(rises.map(|[request, _]| request), [2, 8, 14, 20]);
    assert_eq!(rises.map(|[_, back]| back), [29, 28, 27, 26]);
    assert_eq!(knows, 30);
}

#[test]
fn an_instruction_under_way_keeps_others_out_and_ends_by_a_load() {
    let m = router(&preset(c"mp1", 1024));
    let (values, mut state, mut any) = ([0u64; 1024], blank::<multipc_maspar_state>(), 9);
    let targets = pattern(m, c"identity", 1024);
    // SAFETY: a handle, arrays of their lengths, outputs.
    unsafe {
        ok(multipc_maspar_load(m, targets.as_ptr(), 1024));
        ok(multipc_maspar_ropen(m));
        ok(multipc_maspar_step(m, 5, &mut state));
        assert_eq!((state.instruction, state.tick), (MULTIPC_MASPAR_ROPEN, 5));
    }
    let busy = MULTIPC_ERROR_BUSY;
    wrong!(busy, "ropen is under way", multipc_maspar_ropen(m));
    wrong!(
        busy,
        "ropen is under way",
        multipc_maspar_rfetch(m, 8, values.as_ptr(), 1024)
    );
    wrong!(busy, "ropen is under way", multipc_maspar_gor1(m, &mut any));
    // SAFETY: as above.
    unsafe {
        ok(multipc_maspar_load(m, targets.as_ptr(), 1024));
        state = look(m);
        assert_eq!((state.instruction, state.ticks, state.asking), (0, 5, 1024));
        multipc_maspar_free(m);
    }
    assert_eq!(last(), "ropen is under way");
}

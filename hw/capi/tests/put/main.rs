//! The driver on a machine, as C calls it.

#[path = "../common/mod.rs"]
mod common;
mod null;
mod reentry;
mod users;

use core::ffi::{CStr, c_char};
use core::ptr::{null, null_mut};

use multipc_capi::*;

use common::{blank, last, machine, now_ps, ok, wrong};

const TABLES: u32 = 0x1000;
const SOURCE: u32 = 0x8_0000;
const TARGET: u32 = 0xA_0000;
const LAST: u32 = MULTIPC_LMP | MULTIPC_NOS | MULTIPC_LMI | MULTIPC_NOR;

fn page(mi: u32, flags: u32) -> multipc_entry {
    multipc_entry {
        node: 1,
        mi,
        flags,
        length: 64,
        remote: TARGET,
        local: SOURCE,
    }
}

fn driver(machine: *mut multipc_machine, node: u32) -> *mut multipc_put {
    let (mut hardware, mut put) = (blank(), null_mut());
    // SAFETY: handles, outputs.
    unsafe {
        ok(multipc_machine_hardware(machine, node, &mut hardware));
        ok(multipc_put_new(&hardware, &mut put));
    }
    put
}

/// Opens a driver with rings of eight entries.
fn open(machine: *mut multipc_machine, put: *mut multipc_put) -> multipc_put_started {
    let (mut config, mut started) = (blank(), blank());
    let mut table = [0u8; MULTIPC_TABLE_BYTES];
    // SAFETY: handles, outputs.
    unsafe {
        let mut router = 0;
        ok(multipc_put_config_default(put, &mut config));
        ok(multipc_machine_router_of(machine, config.node, &mut router));
        ok(multipc_machine_table(machine, router, table.as_mut_ptr()));
        config.table = table.as_ptr();
        config.base = TABLES;
        config.entries = 8;
        config.counters = 64;
        config.nodes = 2;
        ok(multipc_put_open(put, &config, &mut started));
    }
    started
}

/// A pair whose links work, with a driver on each node.
fn pair() -> (*mut multipc_machine, [*mut multipc_put; 2]) {
    let machine = machine(c"pair");
    let puts = [0, 1].map(|node| driver(machine, node));
    for put in puts {
        let started = open(machine, put);
        assert_eq!(started.links, 1);
    }
    let mut up = 0;
    // SAFETY: handles, an output.
    unsafe {
        ok(multipc_machine_run_until_links(
            machine,
            1_000_000_000,
            &mut up,
        ));
        assert_eq!(up, 1);
        for put in puts {
            ok(multipc_put_ready(put));
        }
    }
    (machine, puts)
}

fn free(machine: *mut multipc_machine, puts: [*mut multipc_put; 2]) {
    // SAFETY: once each.
    unsafe {
        for put in puts {
            multipc_put_free(put);
        }
        multipc_machine_free(machine);
    }
}

fn run(machine: *mut multipc_machine, ps: u64) {
    let mut count = 0;
    let end = now_ps(machine) + ps;
    // SAFETY: a handle, an output.
    ok(unsafe { multipc_machine_run_until_time(machine, end, null_mut(), 0, &mut count) });
}

#[test]
fn each_phase_refuses_what_it_must() {
    let m = machine(c"pair");
    let p = driver(m, 0);
    let (mut sequence, mut number) = (0, 0);
    let (mut served, mut state) = (blank(), blank::<multipc_put_state>());
    let entry = page(0, LAST);
    wrong!(
        MULTIPC_ERROR_CLOSED,
        "driver is not open",
        multipc_put_post(p, &entry, 1, &mut sequence)
    );
    wrong!(
        MULTIPC_ERROR_CLOSED,
        "driver is not open",
        multipc_put_poll(p, 1, null_mut(), 0, &mut served)
    );
    wrong!(
        MULTIPC_ERROR_CLOSED,
        "driver is not open",
        multipc_put_register_sap(p, &mut number)
    );
    wrong!(
        MULTIPC_ERROR_CLOSED,
        "driver is not open",
        multipc_put_expect(p, 0, 1)
    );
    open(m, p);
    // SAFETY: a handle, an output.
    unsafe {
        ok(multipc_put_look(p, &mut state));
        assert_eq!((state.phase, state.room), (MULTIPC_PHASE_STARTING, 7));
    }
    wrong!(
        MULTIPC_ERROR_BUSY,
        "driver is still starting",
        multipc_put_post(p, &entry, 1, &mut sequence)
    );
    let (mut config, mut started) = (blank(), blank());
    // SAFETY: handles, outputs.
    ok(unsafe { multipc_put_config_default(p, &mut config) });
    wrong!(
        MULTIPC_ERROR_BUSY,
        "driver is open already",
        multipc_put_open(p, &config, &mut started)
    );
    // SAFETY: as above.
    unsafe {
        ok(multipc_put_close(p));
        ok(multipc_put_look(p, &mut state));
        assert_eq!(state.phase, MULTIPC_PHASE_CLOSED);
    }
    config.base = 8;
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "ring base 0x00000008 is not a multiple of 16",
        multipc_put_open(p, &config, &mut started)
    );
    config.base = 0;
    config.model = 2;
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "model 2, known are 0, 1",
        multipc_put_open(p, &config, &mut started)
    );
    free(m, [p, null_mut()]);
}

#[test]
fn an_entry_that_must_not_be_posted_is_refused_by_its_cause() {
    let (m, puts) = pair();
    let mut sequence = 0;
    let mut post = |entry: multipc_entry| {
        // SAFETY: a handle, an entry, an output.
        unsafe { multipc_put_post(puts[0], &entry, 1, &mut sequence) }
    };
    let entry = page(0, LAST);
    let bad = [
        (
            multipc_entry { node: 2, ..entry },
            MULTIPC_ERROR_ARGUMENT,
            "node 2 is unknown, allowed 0..2",
        ),
        (
            multipc_entry {
                node: 65_536,
                ..entry
            },
            MULTIPC_ERROR_ARGUMENT,
            "node 65536 is unknown, allowed 0..2",
        ),
        (
            page(0, MULTIPC_NOS),
            MULTIPC_ERROR_PROTOCOL,
            "nos without lmp",
        ),
        (
            multipc_entry {
                length: 65_536,
                ..entry
            },
            MULTIPC_ERROR_PROTOCOL,
            "page of 65536 bytes, allowed 1..=65535",
        ),
        (
            page(1 << 24, LAST),
            MULTIPC_ERROR_PROTOCOL,
            "message identifier 0x1000000, allowed 0..0x1000000",
        ),
    ];
    for (entry, status, words) in bad {
        assert_eq!((post(entry), last().as_str()), (status, words));
    }
    // Seven fit the ring, and nobody polls.
    for _ in 0..7 {
        ok(post(page(0, MULTIPC_LMP)));
    }
    assert_eq!(post(entry), MULTIPC_ERROR_FULL);
    assert_eq!(last(), "ring full: 1 entries needed, 0 free");
    // SAFETY: handles.
    unsafe {
        ok(multipc_put_reach(puts[1], 0, 0));
        let back = multipc_entry { node: 0, ..entry };
        let status = multipc_put_post(puts[1], &back, 1, &mut sequence);
        assert_eq!(status, MULTIPC_ERROR_UNREACHABLE, "{}", last());
        let status = multipc_put_post(puts[1], null(), 0, &mut sequence);
        assert_eq!(status, MULTIPC_ERROR_ARGUMENT, "{}", last());
        assert_eq!(
            multipc_put_reach(puts[1], 2, 0),
            MULTIPC_ERROR_ARGUMENT,
            "{}",
            last()
        );
    }
    free(m, puts);
}

#[test]
fn events_that_find_no_room_come_with_the_next_calls() {
    let (m, puts) = pair();
    let (mut sequence, mut left) = (0, 0);
    // SAFETY: handles, locals.
    unsafe {
        // Three messages, told at both ends; the last one's number tells that it has left.
        for mi in 0..3 {
            ok(multipc_put_post(puts[0], &page(mi, LAST), 1, &mut sequence));
        }
        assert_eq!(sequence, 2);
        run(m, 20_000_000);
        ok(multipc_put_has_left(puts[0], sequence, &mut left));
        assert_eq!(left, 0, "nobody has polled");
        for put in puts {
            let mut seen = Vec::new();
            loop {
                let (mut event, mut served) = (blank::<multipc_put_event>(), blank());
                ok(multipc_put_poll(put, 8, &mut event, 1, &mut served));
                if served.events == 0 {
                    assert_eq!(served.more, 0);
                    break;
                }
                seen.push(event.entry.mi);
            }
            assert_eq!(seen, [0, 1, 2]);
        }
        // In front of the last one: known for sure.
        ok(multipc_put_has_left(puts[0], sequence - 1, &mut left));
        assert_eq!(left, 1);
        let mut state = blank::<multipc_put_state>();
        ok(multipc_put_look(puts[0], &mut state));
        assert_eq!((state.posted, state.sent, state.retired), (3, 3, 3));
        assert_eq!(state.unclaimed, 3, "no user owns them");
    }
    free(m, puts);
}

#[test]
fn a_composed_message_is_told_when_its_parts_are_there() {
    let m = machine(c"pair");
    let puts = [0, 1].map(|node| driver(m, node));
    let mut table = [0u8; MULTIPC_TABLE_BYTES];
    let (mut up, mut sequence) = (0, 0);
    // SAFETY: handles, locals.
    unsafe {
        for (node, put) in (0..).zip(puts) {
            let (mut config, mut started) = (blank(), blank());
            ok(multipc_put_config_default(put, &mut config));
            ok(multipc_machine_table(m, node, table.as_mut_ptr()));
            config.table = table.as_ptr();
            config.base = TABLES;
            config.entries = 8;
            config.counters = 16;
            config.nodes = 2;
            config.count_packets = 1;
            ok(multipc_put_open(put, &config, &mut started));
        }
        ok(multipc_machine_run_until_links(m, 1_000_000_000, &mut up));
        for put in puts {
            ok(multipc_put_ready(put));
        }
        ok(multipc_put_expect(puts[1], 3, 2));
        let part = multipc_entry {
            node: 1,
            mi: 3,
            flags: MULTIPC_CM | MULTIPC_LRM | MULTIPC_LMP | MULTIPC_LMI | MULTIPC_NOR,
            ..blank()
        };
        for told in [0, 1] {
            ok(multipc_put_post(puts[0], &part, 1, &mut sequence));
            run(m, 20_000_000);
            let (mut event, mut served) = (blank::<multipc_put_event>(), blank());
            ok(multipc_put_poll(puts[1], 8, &mut event, 1, &mut served));
            assert_eq!(served.events, told);
            assert_eq!(event.packets, 2 * told as u16);
        }
    }
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "no packet counter for message identifier 16, allowed 0..16",
        multipc_put_expect(puts[1], 16, 1)
    );
    free(m, puts);
}

#[test]
fn words_are_cut_where_the_room_ends() {
    let mut event: multipc_put_event = blank();
    event.kind = MULTIPC_PUT_ERRORS;
    (event.status, event.value, event.stopped) = (1 << 23 | 1 << 21, 1 << 28, 1);
    let words = "board reports eep, crc data, received target abort; stopped";
    for capacity in [1, 6, words.len(), words.len() + 1, 100] {
        let mut text = [0x7F as c_char; 100];
        // SAFETY: an event, room.
        ok(unsafe { multipc_put_event_text(&event, text.as_mut_ptr(), capacity) });
        // SAFETY: ends with a zero.
        let found = unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap();
        assert_eq!(found, &words[..words.len().min(capacity - 1)]);
        assert_eq!(text.get(capacity), (capacity < 100).then_some(&0x7F));
    }
    let mut text = [0 as c_char; 8];
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "text of 0 bytes, at least 1",
        multipc_put_event_text(&event, text.as_mut_ptr(), 0)
    );
    event.kind = 77;
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "event of kind 77",
        multipc_put_event_text(&event, text.as_mut_ptr(), 8)
    );
}

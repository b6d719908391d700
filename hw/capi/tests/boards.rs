//! Two boards that the harness steps are the machine `pair`, edge by edge: every line of
//! both routers, INTA#, REQ# and link status change in the same cycle.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;

use multipc_capi::*;

const MEMORY: usize = 1 << 16;
const ENTRIES: u32 = 8;
const LME: u32 = 0x1000;
const LMR: u32 = LME + 16 * ENTRIES;
const SOURCE: u32 = 0x8003;
const TARGET: u32 = 0x9001;
const LENGTH: usize = 1000;
/// Link cycles of the cable of `pair`, from pin to pin.
const CABLE: usize = 1;

fn ok(status: multipc_status) {
    // SAFETY: never null, ends with a zero.
    let text = unsafe { CStr::from_ptr(multipc_last_error()) };
    assert_eq!(status, MULTIPC_OK, "{text:?}");
}

extern "C" fn claims(_: *mut c_void, addr: u32) -> u8 {
    ((addr as usize) < MEMORY).into()
}

extern "C" fn read(user: *mut c_void, addr: u32) -> u32 {
    // SAFETY: the words of the board, which outlive it.
    u32::from_le(unsafe { user.cast::<u32>().add(addr as usize / 4).read() })
}

extern "C" fn write(user: *mut c_void, addr: u32, value: u32, enables: u8) {
    for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
        if enables >> i & 1 == 1 {
            // SAFETY: as above.
            unsafe { user.cast::<u8>().add(addr as usize + i).write(byte) };
        }
    }
}

/// One pin after one edge of its clock, as the machine reports it.
type Change = (u32, u64, u32, u32, u32, u32);

struct Boards {
    boards: [*mut multipc_board; 2],
    memory: [*mut u32; 2],
    pins: [multipc_board_outputs; 2],
    cable: [Vec<u16>; 2],
    edges: [u64; 2],
    changes: Vec<Change>,
}

impl Boards {
    fn new() -> Self {
        let memory =
            [0, 1].map(|_| Box::leak(vec![0u32; MEMORY / 4].into_boxed_slice()).as_mut_ptr());
        let boards = memory.map(|words| {
            let calls = multipc_memory {
                user: words.cast(),
                claims: Some(claims),
                read: Some(read),
                write: Some(write),
            };
            let mut board = null_mut();
            // SAFETY: locals.
            ok(unsafe { multipc_board_new(MULTIPC_REVISION_IDEAL, &calls, &mut board) });
            board
        });
        let pins = boards.map(|board| {
            let mut pins = core::mem::MaybeUninit::uninit();
            // SAFETY: a handle and an output.
            unsafe {
                ok(multipc_board_pins(board, pins.as_mut_ptr()));
                pins.assume_init()
            }
        });
        Self {
            boards,
            memory,
            pins,
            cable: [0, 1].map(|_| vec![MULTIPC_LINE_NO_SIGNAL; CABLE - 1]),
            edges: [0; 2],
            changes: Vec::new(),
        }
    }

    /// The edge of one clock on both boards.
    fn edge(&mut self, clock: u32) {
        self.edges[clock as usize] += 1;
        let cycle = self.edges[clock as usize];
        // Port 1 to port 1, each seeing what the other drove before the edge.
        let driven = self.pins.map(|pins| pins.lines[1]);
        for i in 0..2 {
            let before = self.pins[i];
            let pins = &mut self.pins[i];
            if clock == MULTIPC_CLOCK_LINK {
                let mut inputs = multipc_rcube_inputs {
                    lines: [MULTIPC_LINE_NO_SIGNAL; 8],
                };
                self.cable[i].push(driven[1 - i]);
                inputs.lines[1] = self.cable[i].remove(0);
                // SAFETY: handle, input, output.
                ok(unsafe { multipc_board_step_link(self.boards[i], &inputs, pins) });
            } else {
                // SAFETY: handle, output.
                ok(unsafe { multipc_board_step_pci(self.boards[i], pins) });
            }
            let mut note = |pin, port, before: u32, after: u32| {
                if before != after {
                    self.changes
                        .push((pin, cycle, i as u32, port, before, after));
                }
            };
            if clock == MULTIPC_CLOCK_PCI {
                note(
                    MULTIPC_PIN_INTA,
                    0,
                    before.inta_n.into(),
                    pins.inta_n.into(),
                );
                note(MULTIPC_PIN_REQ, 0, before.req_n.into(), pins.req_n.into());
            } else {
                note(
                    MULTIPC_PIN_LINK_STATUS,
                    0,
                    before.link_status.into(),
                    pins.link_status.into(),
                );
                for port in 0..8 {
                    let lines = [before.lines[port], pins.lines[port]].map(u32::from);
                    note(MULTIPC_PIN_LINE, port as u32, lines[0], lines[1]);
                }
            }
        }
    }

    /// Up to these edges of both clocks, in order of time, the link clock first.
    fn catch_up(&mut self, state: &multipc_machine_state) {
        let time = |clock: usize, k: u64| {
            let hz = [66_000_000u128, 33_333_333][clock];
            u128::from(k) * 1_000_000_000_000 / hz
        };
        while self.edges != [state.link_cycle, state.pci_cycle] {
            let [link, pci] = self.edges;
            let link_first = time(0, link + 1) <= time(1, pci + 1);
            if link < state.link_cycle && (link_first || pci == state.pci_cycle) {
                self.edge(MULTIPC_CLOCK_LINK);
            } else {
                self.edge(MULTIPC_CLOCK_PCI);
            }
        }
    }

    fn bytes(&self, node: usize) -> &[u8] {
        // SAFETY: the leaked words.
        unsafe { core::slice::from_raw_parts(self.memory[node].cast(), MEMORY) }
    }
}

struct Both {
    machine: *mut multipc_machine,
    boards: Boards,
    events: Vec<Change>,
}

impl Both {
    fn new() -> Self {
        let (mut config, mut machine) = (core::mem::MaybeUninit::uninit(), null_mut());
        // SAFETY: outputs of their types.
        unsafe {
            ok(multipc_machine_config_default(config.as_mut_ptr()));
            let mut config = config.assume_init();
            config.memory_bytes = MEMORY as u32;
            ok(multipc_machine_new(c"pair".as_ptr(), &config, &mut machine));
            let pins =
                MULTIPC_PIN_INTA | MULTIPC_PIN_REQ | MULTIPC_PIN_LINK_STATUS | MULTIPC_PIN_LINE;
            ok(multipc_machine_watch(machine, pins));
        }
        Self {
            machine,
            boards: Boards::new(),
            events: Vec::new(),
        }
    }

    fn state(&self) -> multipc_machine_state {
        let mut state = core::mem::MaybeUninit::uninit();
        // SAFETY: handle, output.
        unsafe {
            ok(multipc_machine_look(self.machine, state.as_mut_ptr()));
            state.assume_init()
        }
    }

    fn config(&mut self, node: usize, offset: u8, value: Option<u32>) -> u32 {
        let mut read = 0;
        // SAFETY: handles, outputs.
        unsafe {
            match value {
                Some(value) => ok(multipc_machine_config_write(
                    self.machine,
                    node as u32,
                    offset,
                    value,
                )),
                None => ok(multipc_machine_config_read(
                    self.machine,
                    node as u32,
                    offset,
                    &mut read,
                )),
            }
            let board = self.boards.boards[node];
            ok(multipc_board_config_start(
                board,
                offset,
                value.is_some().into(),
                value.unwrap_or(0),
            ));
            self.boards.catch_up(&self.state());
            assert_eq!(
                self.boards.pins[node].config_done, 1,
                "register {offset:#x}"
            );
            let mut same = 0;
            ok(multipc_board_config_take(board, &mut same));
            if value.is_none() {
                assert_eq!(same, read, "register {offset:#x}");
            }
        }
        read
    }

    fn store(&mut self, node: usize, addr: u32, bytes: &[u8]) {
        // SAFETY: handle and bytes; the memory of the board.
        unsafe {
            ok(multipc_machine_memory_write(
                self.machine,
                node as u32,
                addr,
                bytes.as_ptr(),
                bytes.len(),
            ));
            let memory = self.boards.memory[node].cast::<u8>().add(addr as usize);
            memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }

    /// Runs both to `time_ps`, or to the first event; all events until then are kept.
    fn run(&mut self, time_ps: u64) {
        let mut buffer = [multipc_event {
            cycle: 0,
            time_ps: 0,
            clock: 0,
            pin: 0,
            index: 0,
            port: 0,
            before: 0,
            after: 0,
        }; 5];
        loop {
            let mut count = 0;
            // SAFETY: handle, buffer, output.
            ok(unsafe {
                multipc_machine_run_until_time(
                    self.machine,
                    time_ps,
                    buffer.as_mut_ptr(),
                    buffer.len(),
                    &mut count,
                )
            });
            for e in &buffer[..count] {
                self.events
                    .push((e.pin, e.cycle, e.index, e.port, e.before, e.after));
            }
            if count == 0 {
                break;
            }
        }
        self.boards.catch_up(&self.state());
    }

    /// The start of the record without its repetitions: hw/doc/put.md, "Start".
    fn start(&mut self, node: usize) {
        let mut table = [0u8; MULTIPC_TABLE_BYTES];
        // SAFETY: handle, output.
        ok(unsafe { multipc_machine_table(self.machine, node as u32, table.as_mut_ptr()) });
        let last = 16 * (ENTRIES - 1);
        let latency = self.config(node, 0x0C, None);
        let sequence = [
            (0x48, 0x8000),
            (0x0C, latency | 0xFF00),
            (0x44, 0),
            (0x50, LME + last),
            (0x54, LME),
            (0x58, LME),
            (0x5C, LME),
            (0x60, LMR + last),
            (0x68, LMR),
            (0x64, LMR),
            (0x6C, LMR),
        ];
        for (offset, value) in sequence {
            self.config(node, offset, Some(value));
        }
        for byte in table.into_iter().rev() {
            self.config(node, 0x74, Some(byte.into()));
        }
        for value in [0x8000_0000, 0x8000_4000, 0x8000_6000, 0x8000_7000] {
            self.config(node, 0x48, Some(value));
        }
        self.config(node, 0x44, Some(0xC0FB_F0FF));
        self.config(node, 0x04, Some(0x0104));
    }
}

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

//! The boards of the harness beside the machine `pair`: the same is done to both.

use core::ptr::null_mut;

use multipc_capi::*;

use crate::common::ok;
use crate::harness::{Boards, Change, MEMORY};
use crate::{ENTRIES, LME, LMR};

pub struct Both {
    pub machine: *mut multipc_machine,
    pub boards: Boards,
    pub events: Vec<Change>,
}

impl Both {
    pub fn new() -> Self {
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

    pub fn state(&self) -> multipc_machine_state {
        let mut state = core::mem::MaybeUninit::uninit();
        // SAFETY: handle, output.
        unsafe {
            ok(multipc_machine_look(self.machine, state.as_mut_ptr()));
            state.assume_init()
        }
    }

    pub fn config(&mut self, node: usize, offset: u8, value: Option<u32>) -> u32 {
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

    pub fn store(&mut self, node: usize, addr: u32, bytes: &[u8]) {
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
    pub fn run(&mut self, time_ps: u64) {
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
    pub fn start(&mut self, node: usize) {
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

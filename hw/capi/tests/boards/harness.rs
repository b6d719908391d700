//! Two boards of the interface on a cable, with memory, clocks and edges of their own.

use core::ffi::c_void;
use core::ptr::null_mut;

use multipc_capi::*;

use crate::common::ok;

/// Bytes of memory of a board.
pub const MEMORY: usize = 1 << 16;
/// Link cycles of the cable of `pair`, from pin to pin.
pub const CABLE: usize = 1;

pub extern "C" fn claims(_: *mut c_void, addr: u32) -> u8 {
    ((addr as usize) < MEMORY).into()
}

pub extern "C" fn read(user: *mut c_void, addr: u32) -> u32 {
    // SAFETY: the words of the board, which outlive it.
    u32::from_le(unsafe { user.cast::<u32>().add(addr as usize / 4).read() })
}

pub extern "C" fn write(user: *mut c_void, addr: u32, value: u32, enables: u8) {
    for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
        if enables >> i & 1 == 1 {
            // SAFETY: as above.
            unsafe { user.cast::<u8>().add(addr as usize + i).write(byte) };
        }
    }
}

/// One pin after one edge of its clock, as the machine reports it.
pub type Change = (u32, u64, u32, u32, u32, u32);

pub struct Boards {
    pub boards: [*mut multipc_board; 2],
    pub memory: [*mut u32; 2],
    pub pins: [multipc_board_outputs; 2],
    pub cable: [Vec<u16>; 2],
    pub edges: [u64; 2],
    pub changes: Vec<Change>,
}

impl Boards {
    pub fn new() -> Self {
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
    pub fn edge(&mut self, clock: u32) {
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
    pub fn catch_up(&mut self, state: &multipc_machine_state) {
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

    pub fn bytes(&self, node: usize) -> &[u8] {
        // SAFETY: the leaked words.
        unsafe { core::slice::from_raw_parts(self.memory[node].cast(), MEMORY) }
    }
}

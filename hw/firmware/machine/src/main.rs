//! Two boards, their cables and their drivers inside a microcontroller.
//!
//! ```text
//!   board 0                                  board 1
//!   memory - PCI - PCI-DDC = router ======== router = PCI-DDC - PCI - memory
//!   Put (driver)          port 0  1    1  port 0          Put (driver)
//! ```
//!
//! The driver is started by interrupts, then by polling, and moves pages of many
//! lengths and alignments both ways; every byte of the receiver's memory around the
//! page is checked. The exit status is the verdict. With the word `spoil` on its
//! command line one byte is changed behind the driver's back, and the run must fail.
#![no_std]
#![no_main]

mod moves;

use firmware_support::{Stack, asked, entry, finish};
use machine::boards::Boards;
use machine::check;
use machine::failure::Failure;
use multipc::put::Model;
use static_cell::ConstStaticCell;

/// Memory of a board: the tables, then room for the longest page at any alignment.
const MEMORY: usize = 0x1_2100;
/// Entries of the drivers' rings.
const ENTRIES: u32 = 8;
/// Message identifiers of the user on each board.
const IDENTIFIERS: u32 = 4;

static MEMORIES: ConstStaticCell<[[u8; MEMORY]; 2]> = ConstStaticCell::new([[0; MEMORY]; 2]);

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    let stack = Stack::paint();
    check::finds_every_wrong_byte()?;
    let spoil = asked("spoil");
    let mut boards = Boards::new(MEMORIES.take().each_mut().map(|memory| &mut memory[..]))?;
    // The chips are made on the stack and moved into their statics.
    let making = stack.peak_bytes();
    let stack = Stack::paint();
    for model in [Model::Interrupt, Model::Polling] {
        boards.start(model, ENTRIES)?;
        boards.register(IDENTIFIERS)?;
        let moved = moves::all(&mut boards, spoil)?;
        defmt::info!(
            "{}: {=u32} pages, {=u32} bytes right, {=u64} us on the boards",
            model,
            moved.pages,
            moved.bytes,
            boards.now_us()
        );
        boards.stop();
    }
    defmt::info!(
        "bytes of stack at most: {=usize} to make the machine, {=usize} to run it",
        making,
        stack.peak_bytes()
    );
    Ok(())
}

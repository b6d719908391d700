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
//! page is checked. INTA# of the boards interrupts the processor, the driver's interrupt
//! half runs in the handler, and the main loop sleeps ([`world`]). The interrupt model
//! must take interrupts, the polling model none.
//!
//! The exit status is the verdict. Words on the command line break something, and the
//! run must fail: `spoil` changes one byte behind the driver's back, `deaf` leaves INTA#
//! unconnected, `careless` sleeps without masking interrupts first.
#![no_std]
#![no_main]

mod hazards;
mod moves;
mod world;

use firmware_support::{Stack, asked, entry, finish};
use machine::boards::Boards;
use machine::check;
use machine::failure::Failure;
use multipc::put::Model;
use static_cell::ConstStaticCell;

use crate::moves::BUDGET;

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
    let boards = Boards::new(MEMORIES.take().each_mut().map(|memory| &mut memory[..]))?;
    // The chips are made on the stack and moved into their statics.
    let making = stack.peak_bytes();
    let stack = Stack::paint();
    let mut events = world::start(boards, BUDGET, !asked("deaf"))?;
    for model in [Model::Interrupt, Model::Polling] {
        let before = world::with(|world| {
            world.boards.start(model, ENTRIES)?;
            world.boards.register(IDENTIFIERS)?;
            Ok(world.taken)
        })?;
        let moved = moves::all(&mut events, model, asked("spoil"))?;
        let (after, now_us) = world::with(|world| Ok((world.taken, world.boards.now_us())))?;
        let taken = after.line - before.line;
        defmt::info!(
            "{}: {=u32} pages, {=u32} bytes right, {=u32} interrupts, {=u64} us on the boards",
            model,
            moved.pages,
            moved.bytes,
            taken,
            now_us
        );
        let expected = match model {
            Model::Polling => taken == 0,
            _ => taken > 0,
        };
        if !expected {
            return Err(Failure::Interrupts { model, taken });
        }
        if matches!(model, Model::Interrupt) {
            hazards::a_line_that_stays_low_interrupts_again(&mut events)?;
            hazards::sleep_ends_for_an_interrupt_that_came_before(&mut events, asked("careless"))?;
        }
        world::with(|world| {
            world.boards.stop();
            Ok(())
        })?;
    }
    defmt::info!(
        "bytes of stack at most: {=usize} to make the machine, {=usize} to run it",
        making,
        stack.peak_bytes()
    );
    Ok(())
}

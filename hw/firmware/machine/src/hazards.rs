//! What an interrupt model gets wrong on a bad day: an interrupt between the question
//! and the sleep, and a line that is still asserted when the handler ends.

use firmware_support::device::Timer;
use firmware_support::{sleep, sleep_unless};
use machine::failure::Failure;
use multipc::put::Event;
use multipc::time::Duration;

use crate::moves::{self, PATIENCE, Page};
use crate::world::{self, Events};

/// When something other than the line ends a sleep, in the processor's time.
const FAR_US: u32 = 500_000;
/// Pages that are told of one by one, and the time in which all have arrived.
const BURST: u32 = 4;
const BURST_TIME: Duration = Duration::from_ns(100_000);

/// INTA# falls after the main loop has asked whether there is work, and before it
/// sleeps; nothing else would wake it for long. A `careless` loop asks with interrupts
/// unmasked and must be found out.
pub fn sleep_ends_for_an_interrupt_that_came_before(
    events: &mut Events,
    careless: bool,
) -> Result<(), Failure> {
    let page = Page::short(0, 0);
    moves::post(page)?;
    let before = world::with(|world| Ok(world.taken))?;
    let mut fell = Ok(false);
    let mut ask = || {
        let ready = events.ready();
        // The chips do not wait for this processor.
        fell = world::with(|world| {
            Timer::arm(FAR_US);
            Ok(world.boards.run_to_edge(PATIENCE))
        });
        ready
    };
    if careless {
        if !ask() {
            sleep();
        }
    } else {
        sleep_unless(ask);
    }
    let after = world::with(|world| Ok(world.taken))?;
    Timer::disarm();
    if !fell? {
        return Err(Failure::silent(page.length, [0, 0]));
    }
    if after.timer != before.timer || after.line == before.line {
        return Err(Failure::SleptThrough {
            line: after.line - before.line,
            timer: after.timer - before.timer,
        });
    }
    moves::finish(events, page)
}

/// Several pages have left and arrived, and a driver serves one entry of each ring in
/// one interrupt: the line stays low, and must interrupt until all is told, without
/// anything else happening.
pub fn a_line_that_stays_low_interrupts_again(events: &mut Events) -> Result<(), Failure> {
    let (budget, before) = world::with(|world| {
        let budget = core::mem::replace(&mut world.budget, 1);
        for i in 0..BURST {
            moves::enter(world, Page::short(0, i))?;
        }
        let before = world.taken;
        // All of it happens while interrupts are masked.
        world.boards.run(BURST_TIME);
        Ok((budget, before))
    })?;
    // The interrupts are over: no sleep, no time for the chips but the drivers' own.
    let after = world::with(|world| {
        world.budget = budget;
        Ok(world.taken)
    })?;
    let [mut sent, mut received] = [0; 2];
    while let Some(event) = events.next()? {
        match event {
            Event::Sent { .. } => sent += 1,
            Event::Received { .. } => received += 1,
            other => defmt::warn!("{}", other),
        }
    }
    let interrupts = after.line - before.line;
    if [sent, received] != [BURST; 2] || interrupts < BURST || after.timer != before.timer {
        return Err(Failure::Edge {
            interrupts,
            sent,
            received,
        });
    }
    defmt::info!("low for {=u32} pages: {=u32} interrupts", BURST, interrupts);
    Ok(())
}

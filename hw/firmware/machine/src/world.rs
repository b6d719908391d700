//! The boards between main loop and interrupt handlers, and their interrupt line.
//!
//! ```text
//!   main loop                    WORLD (critical section)           handlers
//!   posts pages, looks at   ->   boards, drivers            <-   INTA: the drivers' interrupt half
//!   memory, sleeps               |  INTA# of both boards    <-   timer: the chips' time
//!   events  <---- queue ----     v  wired together
//!                                input of the interrupt controller
//! ```
//!
//! INTA# is open drain and may be shared: both boards pull one line. Whatever runs the
//! chips, a handler or the main loop, lets the line follow afterwards ([`with`]).
//!
//! The chips' time goes on in what the processor does on the boards, and while the
//! processor sleeps: then a timer's interrupt runs them, up to an edge of INTA# or
//! [`SLICE`]. A real board needs no such handler; its chips run by themselves.

use core::cell::RefCell;

use critical_section::Mutex;
#[cfg(target_arch = "riscv32")]
use firmware_support::device::core_interrupt;
use firmware_support::device::{Line, Timer, enable_interrupts};
#[cfg(target_arch = "arm")]
use firmware_support::device::{exception, interrupt};
use firmware_support::sleep_unless;
use heapless::spsc::{Consumer, Producer, Queue};
use machine::boards::Boards;
use machine::failure::Failure;
use multipc::put::Event;
use multipc::time::Duration;
#[cfg(target_arch = "riscv32")]
use riscv::interrupt::Interrupt;
use static_cell::StaticCell;

/// Events between handler and main loop: far more than one page or burst makes.
const EVENTS: usize = 32;
/// What the chips run at most in one sleep.
const SLICE: Duration = Duration::from_ns(10_000);
/// When the timer interrupts a sleep, in the processor's time.
const TICK_US: u32 = 10;

static WORLD: Mutex<RefCell<Option<World>>> = Mutex::new(RefCell::new(None));
static QUEUE: StaticCell<Queue<Event, EVENTS>> = StaticCell::new();

/// What handlers and main loop share.
pub struct World {
    pub boards: Boards,
    /// Entries of each ring that a driver serves in one interrupt.
    pub budget: u16,
    pub taken: Taken,
    events: Producer<'static, Event>,
    failure: Option<Failure>,
    connected: bool,
}

/// Interrupts taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Of the line.
    pub line: u32,
    /// Of the timer.
    pub timer: u32,
}

/// What the main loop keeps: the events of the handler.
pub struct Events(Consumer<'static, Event>);

/// Puts the boards where the handlers find them, and lets the line interrupt. With the
/// line not `connected` the processor never hears of INTA#. Once a run.
pub fn start(boards: Boards, budget: u16, connected: bool) -> Result<Events, Failure> {
    let (events, consumer) = QUEUE.try_init(Queue::new()).ok_or(Failure::Taken)?.split();
    let world = World {
        boards,
        budget,
        taken: Taken::default(),
        events,
        failure: None,
        connected,
    };
    critical_section::with(|cs| WORLD.borrow_ref_mut(cs).replace(world));
    Line::enable();
    enable_interrupts();
    Ok(Events(consumer))
}

/// Works on the boards with interrupts masked; afterwards the line is as INTA# is. An
/// interrupt that this makes pending is taken before it returns to a main loop.
pub fn with<R>(work: impl FnOnce(&mut World) -> Result<R, Failure>) -> Result<R, Failure> {
    critical_section::with(|cs| {
        let mut world = WORLD.borrow_ref_mut(cs);
        let world = world.as_mut().ok_or(Failure::Absent)?;
        let result = work(world);
        Line::drive(world.connected && world.boards.asserted());
        result
    })
}

impl World {
    /// The interrupt half of both drivers: the line does not say whose it is. That it is
    /// nobody's cannot be here: each cause is gone before the line is.
    fn serve(&mut self) -> Result<(), Failure> {
        let Self {
            boards,
            budget,
            events,
            taken,
            ..
        } = self;
        taken.line += 1;
        let mut lost = false;
        let mut asked = false;
        for node in [0, 1] {
            let (mut host, driver) = boards.board(node)?;
            if host.interrupt() {
                asked = true;
                driver.on_interrupt(&mut host, *budget, |event| {
                    lost |= events.enqueue(event).is_err();
                })?;
            }
        }
        match (asked, lost) {
            (true, false) => Ok(()),
            (true, true) => Err(Failure::Lost),
            (false, _) => Err(Failure::Nobody),
        }
    }
}

#[cfg_attr(target_arch = "arm", interrupt)]
#[cfg_attr(target_arch = "riscv32", core_interrupt(Interrupt::MachineSoft))]
#[allow(non_snake_case)]
fn INTA() {
    let served = with(|world| {
        if let Err(failure) = world.serve() {
            world.failure.get_or_insert(failure);
            // The line would interrupt for ever.
            Line::mask();
        }
        Ok(())
    });
    if served.is_err() {
        Line::mask();
    }
}

#[cfg_attr(target_arch = "arm", exception)]
#[cfg_attr(target_arch = "riscv32", core_interrupt(Interrupt::MachineTimer))]
#[allow(non_snake_case)]
fn SysTick() {
    Timer::disarm();
    // Without boards there is nothing to run.
    let _ = with(|world| {
        world.taken.timer += 1;
        world.boards.run_to_edge(SLICE);
        Ok(())
    });
}

impl Events {
    /// The next event.
    ///
    /// # Errors
    /// What stopped the handler.
    pub fn next(&mut self) -> Result<Option<Event>, Failure> {
        match self.0.dequeue() {
            Some(event) => Ok(Some(event)),
            None => with(|world| world.failure.take().map_or(Ok(None), Err)),
        }
    }

    /// Whether there is one.
    pub fn ready(&self) -> bool {
        self.0.ready()
    }

    /// Sleeps until an interrupt, unless there is an event. The timer is armed as the
    /// processor goes to sleep, so that the chips' time never depends on the
    /// processor's.
    pub fn sleep(&self) {
        sleep_unless(|| {
            let ready = self.ready();
            if !ready {
                Timer::arm(TICK_US);
            }
            ready
        });
    }
}

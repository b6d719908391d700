//! INTA# as an interrupt: driver and board shared with the handler.
//!
//! ```text
//!   INTA# low -> input of the interrupt controller -> INTA(): the driver's interrupt half
//!                                                        | queue of events
//!   main loop: posts (with interrupts masked), sleeps <--+
//! ```
//!
//! The line is a level, so nothing is lost by returning with entries left: the handler is
//! entered again. When the queue is full it masks the line, and the main loop, which makes
//! room, unmasks it.

use core::cell::RefCell;

use board::Hardware;
use critical_section::Mutex;
#[cfg(target_arch = "arm")]
use firmware_support::device::interrupt;
#[cfg(target_arch = "riscv32")]
use firmware_support::device::{ExternalInterrupt, external_interrupt};
use firmware_support::device::{Input, enable_interrupts};
use firmware_support::sleep_unless;
use heapless::spsc::{Consumer, Producer, Queue};
use multipc::put::{Event, PortErrorOf, Put, ServeError};
use static_cell::StaticCell;

/// Events between handler and main loop, and one; few where a check fills the queue.
const EVENTS: usize = if cfg!(feature = "plain-ram") { 8 } else { 64 };
/// Entries of each ring that one interrupt serves: how long others wait.
const BUDGET: u16 = 16;
/// Room for what a call tells beside the entries of its budget: errors.
const RESERVE: usize = 4;

static SHARED: Mutex<RefCell<Option<Shared>>> = Mutex::new(RefCell::new(None));
static QUEUE: StaticCell<Queue<Event, EVENTS>> = StaticCell::new();

/// Why the driver does not serve.
pub type Error = ServeError<PortErrorOf<Hardware>>;

/// What handler and main loop share.
pub struct Shared {
    pub hw: Hardware,
    pub put: Put,
    /// Interrupts taken.
    pub taken: u32,
    events: Producer<'static, Event>,
    error: Option<Error>,
}

/// What the main loop keeps.
pub struct Events(Consumer<'static, Event>);

/// Puts board and driver, which has started, where the handler finds them, and lets the
/// line interrupt if it is `wired`. `None` the second time.
pub fn start(hw: Hardware, put: Put, wired: bool) -> Option<Events> {
    let (events, consumer) = QUEUE.try_init(Queue::new())?.split();
    let shared = Shared {
        hw,
        put,
        taken: 0,
        events,
        error: None,
    };
    critical_section::with(|cs| SHARED.borrow_ref_mut(cs).replace(shared));
    if wired {
        Input::enable();
    }
    enable_interrupts();
    Some(Events(consumer))
}

/// Works on board and driver with interrupts masked. `None` before [`start`].
pub fn with<R>(work: impl FnOnce(&mut Shared) -> R) -> Option<R> {
    critical_section::with(|cs| SHARED.borrow_ref_mut(cs).as_mut().map(work))
}

impl Shared {
    /// The budget for which the queue has room.
    fn budget(&self) -> u16 {
        let room = self.events.capacity() - self.events.len();
        let each = room.saturating_sub(RESERVE) / 2;
        BUDGET.min(each as u16)
    }

    /// The interrupt half; whether the line may interrupt again.
    fn serve(&mut self) -> bool {
        self.taken = self.taken.wrapping_add(1);
        let budget = self.budget();
        if budget == 0 {
            return false;
        }
        let mut lost = 0u32;
        let served = self.put.on_interrupt(&mut self.hw, budget, |event| {
            lost += u32::from(self.events.enqueue(event).is_err());
        });
        if lost > 0 {
            defmt::error!("events lost: {=u32}", lost);
        }
        match served {
            Ok(_) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}

/// The handler.
#[cfg_attr(target_arch = "arm", interrupt)]
#[cfg_attr(target_arch = "riscv32", external_interrupt(ExternalInterrupt::INTA))]
#[allow(non_snake_case)]
fn INTA() {
    let served = with(Shared::serve) == Some(true);
    if !served {
        // The line may stay asserted, and would interrupt for ever.
        Input::mask();
    }
    // Plain RAM does not lift the line when the event is acknowledged.
    #[cfg(feature = "plain-ram")]
    Input::drive(!served);
}

impl Events {
    /// The next event.
    ///
    /// # Errors
    /// What stopped the handler.
    pub fn next(&mut self) -> Result<Option<Event>, Error> {
        let event = self.0.dequeue();
        if event.is_some() {
            return Ok(event);
        }
        match with(|shared| shared.error.take()).flatten() {
            Some(error) => Err(error),
            None => Ok(None),
        }
    }

    /// Sleeps until an interrupt, unless there is an event or an error. Call it when
    /// [`next`](Self::next) has given `None`: it lets a line interrupt that waits for room.
    /// After an error the line stays masked.
    pub fn sleep(&self) {
        let failed = |shared: &mut Shared| shared.error.is_some();
        // One section: the handler may fail at any time after `next`.
        with(|shared| {
            if !failed(shared) {
                Input::unmask();
            }
        });
        sleep_unless(|| self.0.ready() || with(failed) == Some(true));
    }

    /// One round of the polling model, for a board whose line is not wired.
    ///
    /// # Errors
    /// The driver's.
    #[cfg_attr(feature = "plain-ram", allow(dead_code))]
    pub fn poll(&mut self) -> Result<(), Error> {
        with(|shared| {
            let budget = shared.budget();
            let Shared {
                hw, put, events, ..
            } = shared;
            put.poll(hw, budget, |event| {
                // The budget leaves room.
                let _ = events.enqueue(event);
            })
            .map(|_| ())
        })
        .unwrap_or(Ok(()))
    }
}

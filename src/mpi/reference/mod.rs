//! A trivial MPI in memory: plain lists, no network, no time.
//!
//! What the message layer does on a machine must be what this does: the same data,
//! the same matching. A seed shuffles what a real machine leaves open (which rank
//! runs next, when a message arrives); without one, ranks run round robin and
//! messages arrive at once.

mod local;
mod state;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use local::Local;
use state::State;

/// How the reference behaves where the standard leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ReferenceConfig {
    /// Shuffles scheduling and arrival; `None` is round robin, arrival at once.
    pub seed: Option<u64>,
    /// Standard sends up to this many bytes complete without their receive. Default
    /// 16,348, the payload of a control message; 0 makes every send synchronous,
    /// which finds programs that rely on buffering.
    pub eager_limit: u64,
    /// Steps (polls of a rank, arrivals) after which a run is given up. Chosen:
    /// 100,000,000, a minute or so; ranks that test in a loop for ever end here.
    pub step_limit: u64,
}

impl Default for ReferenceConfig {
    fn default() -> Self {
        Self {
            seed: None,
            eager_limit: 16_348,
            step_limit: 100_000_000,
        }
    }
}

/// Why a run did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReferenceError {
    /// No rank can move.
    Deadlock {
        /// World ranks that have not returned.
        waiting: Vec<u32>,
    },
    /// The step limit was reached.
    StepLimit {
        /// The limit.
        limit: u64,
    },
}

#[cfg(feature = "defmt")]
impl defmt::Format for ReferenceError {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self {
            Self::Deadlock { waiting } => {
                defmt::write!(f, "Deadlock {{ waiting: {} }}", waiting.as_slice());
            }
            Self::StepLimit { limit } => defmt::write!(f, "StepLimit {{ limit: {} }}", limit),
        }
    }
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock { waiting } => write!(f, "no rank can move, waiting: {waiting:?}"),
            Self::StepLimit { limit } => write!(f, "no end after {limit} steps"),
        }
    }
}

impl core::error::Error for ReferenceError {}

type Task<R> = Option<Pin<Box<dyn Future<Output = R>>>>;

/// Runs `program` once per rank of a world of `size`; the results in rank order.
///
/// # Errors
/// [`ReferenceError`] when the program cannot end.
///
/// # Example
/// ```
/// use multipc::mpi::api::Communicator;
/// use multipc::mpi::reference::{ReferenceConfig, run};
///
/// let sums = run(4, ReferenceConfig::default(), |process| async move {
///     let comm = Communicator::world(process);
///     let next = (comm.rank() + 1) % comm.size();
///     let previous = (comm.rank() + comm.size() - 1) % comm.size();
///     let (got, _) = comm
///         .sendrecv(&[comm.rank()], next, 7, 1, previous, 7)
///         .await?;
///     Ok::<_, multipc::mpi::process::MpiError>(got[0])
/// })?;
/// assert_eq!(sums, [Ok(3), Ok(0), Ok(1), Ok(2)]);
/// # Ok::<(), multipc::mpi::reference::ReferenceError>(())
/// ```
pub fn run<R, F, Fut>(
    size: u32,
    config: ReferenceConfig,
    mut program: F,
) -> Result<Vec<R>, ReferenceError>
where
    R: 'static,
    F: FnMut(Local) -> Fut,
    Fut: Future<Output = R> + 'static,
{
    let state = Rc::new(RefCell::new(State::new(size, &config)));
    let mut tasks: Vec<Task<R>> = (0..size)
        .map(|rank| Local::new(&state, rank))
        .map(|local| Some(Box::pin(program(local)) as Pin<Box<dyn Future<Output = R>>>))
        .collect();
    let mut results: Vec<Option<R>> = (0..size).map(|_| None).collect();
    let mut rng = config.seed.map(Xoshiro256PlusPlus::seed_from_u64);
    let mut next = 0usize;
    for _ in 0..config.step_limit {
        let runnable: Vec<usize> = {
            let state = state.borrow();
            let live = tasks.iter().enumerate().filter(|(_, task)| task.is_some());
            live.map(|(i, _)| i).filter(|&i| state.can_run(i)).collect()
        };
        let lines = state.borrow().lines();
        let choices = runnable.len() + lines.len();
        if choices == 0 {
            if tasks.iter().all(Option::is_none) {
                return Ok(results.into_iter().flatten().collect());
            }
            let live = tasks.iter().enumerate().filter(|(_, task)| task.is_some());
            let waiting = live.map(|(i, _)| i as u32).collect();
            return Err(ReferenceError::Deadlock { waiting });
        }
        let chosen = match &mut rng {
            Some(rng) => (rng.next_u64() % choices as u64) as usize,
            None => runnable.iter().position(|&i| i >= next).unwrap_or(0),
        };
        let Some(&rank) = runnable.get(chosen) else {
            if let Some(&line) = lines.get(chosen - runnable.len()) {
                state.borrow_mut().deliver(line);
            }
            continue;
        };
        next = rank + 1;
        state.borrow_mut().begin(rank);
        let (Some(slot), Some(result)) = (tasks.get_mut(rank), results.get_mut(rank)) else {
            continue;
        };
        let mut cx = Context::from_waker(Waker::noop());
        if let Some(task) = slot
            && let Poll::Ready(value) = task.as_mut().poll(&mut cx)
        {
            *result = Some(value);
            *slot = None;
        }
    }
    Err(ReferenceError::StepLimit {
        limit: config.step_limit,
    })
}

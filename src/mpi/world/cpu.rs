//! One rank's processor: its program, its engine, and what they spend time on.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use core::cell::RefCell;
use core::fmt;
use core::future::Future;
use core::pin::Pin;

use super::mailbox::{Answer, Mailbox, Ticket};
use super::media::Medium;
use super::port::{RankPort, Token};
use super::recorder::Recorder;
use super::site::Site;
use crate::mpi::endpoint::{Activity, Endpoint, Request};
use crate::mpi::timeline::{Lane, Part};
use crate::mpi::{MpiCost, Policy};
use crate::time::{Duration, Instant};

pub(super) const NEVER: Instant = Instant::from_ps(u64::MAX);

/// Rounds of a rank in one instant after which it must have forgotten to wait.
const MAX_ROUNDS: u32 = 1_000_000;

/// When the kernel looks again at a line that did not fall: some bus cycles.
const LOOK_AGAIN: Duration = Duration::from_ns(100);

/// A request that the engine works on.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) request: Request,
    pub(super) addr: u64,
    pub(super) bytes: u64,
    pub(super) receive: bool,
}

/// What the processor does.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// Runs the program and the engine when its time has come.
    Run,
    /// Waits inside the library, since when, and since when there is news.
    Waiting {
        since: Instant,
        news: Option<Instant>,
    },
    /// Does something that takes time without the engine.
    Computing(Stretch),
    /// Serves an interrupt, then goes on with what it did.
    Kernel { resume: Option<Stretch> },
}

/// Something that takes time without the engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) part: Part,
    pub(super) left: Duration,
    pub(super) from: Instant,
    pub(super) ticket: Option<Ticket>,
}

/// A rank's program and its result.
pub(super) struct Program<F: Future> {
    pub(super) future: Option<Pin<Box<F>>>,
    pub(super) result: Option<F::Output>,
}

impl<F: Future> Program<F> {
    pub(super) fn new(future: F) -> Self {
        Self {
            future: Some(Box::pin(future)),
            result: None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.future.is_none()
    }
}

/// Why a processor cannot go on.
#[derive(Debug)]
pub(super) enum Halt<E> {
    /// The machine.
    Medium(E),
    /// The program never waits.
    NoWait,
}

/// One rank's processor.
pub(super) struct Cpu<T: Copy + 'static> {
    pub(super) rank: u32,
    pub(super) node: u16,
    pub(super) engine: Endpoint<'static, Token<T>>,
    pub(super) mailbox: Rc<RefCell<Mailbox>>,
    pub(super) lane: Lane,
    /// When it acts next.
    pub(super) at: Instant,
    pub(super) cost: MpiCost,
    pub(super) policy: Policy,
    pub(super) scattered: Option<u64>,
    pub(super) live: BTreeMap<u64, Live>,
    mode: Mode,
    /// The end of the engine's step under way.
    busy: Option<Instant>,
    /// The program has something to learn.
    pub(super) answered: bool,
    /// The look at the front of the calls has been paid for.
    pub(super) looked: bool,
    /// When an interrupt was last served.
    served: Option<Instant>,
    /// Losses of the machine that it knows of, and links closed that it was told of.
    pub(super) losses: usize,
    pub(super) closed: u64,
}

impl<T: Copy + 'static> fmt::Debug for Cpu<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cpu")
            .field("rank", &self.rank)
            .field("at", &self.at)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl<T: Copy + PartialEq + fmt::Debug + 'static> Cpu<T> {
    pub(super) fn new(
        (rank, node): (u32, u16),
        engine: Endpoint<'static, Token<T>>,
        mailbox: Mailbox,
        (cost, policy): (MpiCost, Policy),
        scattered: Option<u64>,
    ) -> Self {
        Self {
            rank,
            node,
            engine,
            mailbox: Rc::new(RefCell::new(mailbox)),
            lane: Lane::default(),
            at: NEVER,
            cost,
            policy,
            scattered,
            live: BTreeMap::new(),
            mode: Mode::Run,
            busy: None,
            answered: false,
            looked: false,
            served: None,
            losses: 0,
            closed: 0,
        }
    }

    /// A new program begins at `now`.
    pub(super) fn begin(&mut self, now: Instant, record: bool) {
        self.lane = Lane::new(self.node, now, record);
        self.at = now;
        self.mode = Mode::Run;
        self.answered = true;
    }

    /// Something may have come for this rank at `now`.
    pub(super) fn notice(&mut self, now: Instant, interrupted: bool) {
        match &mut self.mode {
            Mode::Waiting { since, news } => {
                if news.is_some() {
                    return;
                }
                *news = Some(now);
                let period = self.cost.poll_period.ps();
                self.at = match self.policy {
                    Policy::Polling if period > 0 => {
                        let looks = (now - *since).ps().div_ceil(period);
                        *since + Duration::from_ps(looks * period)
                    }
                    _ => now,
                };
            }
            Mode::Computing(_) if interrupted => self.at = now,
            _ => {}
        }
    }

    /// Runs the processor at `now`, its time.
    ///
    /// # Errors
    /// [`Halt`].
    pub(super) fn act<M, F>(
        &mut self,
        site: &mut Site<M>,
        program: &mut Program<F>,
        now: Instant,
    ) -> Result<(), Halt<M::Error>>
    where
        M: Medium<Token = T>,
        F: Future,
    {
        self.at = NEVER;
        let mut waited = None;
        match self.mode {
            Mode::Run | Mode::Kernel { .. } => {}
            Mode::Waiting { since, news } => {
                // Of a board that failed the node takes note.
                let _ = site.poll(self.node);
                if !program.is_over() {
                    self.book_wait(site, since, news.unwrap_or(now), now);
                }
                waited = Some((since, self.lane.end));
                self.mode = Mode::Run;
            }
            Mode::Computing(stretch) => {
                self.lane.push(stretch.part, stretch.from, now);
                let done = now - stretch.from;
                if done < stretch.left {
                    let left = Duration::from_ps(stretch.left.ps() - done.ps());
                    let resume = Some(Stretch { left, ..stretch });
                    self.mode = Mode::Kernel { resume };
                } else {
                    self.mode = Mode::Run;
                    if let Some(ticket) = stretch.ticket {
                        self.answer(ticket, Answer::Done);
                    }
                }
            }
        }
        for _ in 0..MAX_ROUNDS {
            if let Mode::Kernel { resume } = self.mode {
                if self.serve(site, program.is_over(), now) {
                    return Ok(());
                }
                match resume {
                    Some(stretch) => {
                        let from = now;
                        self.stretch(Stretch { from, ..stretch });
                        self.keep_looking(site, now);
                        return Ok(());
                    }
                    None => self.mode = Mode::Run,
                }
            }
            let between_steps = self.busy.is_none_or(|until| until <= now);
            if between_steps && self.served != Some(now) && self.is_interrupted(site) {
                self.mode = Mode::Kernel { resume: None };
                continue;
            }
            if self.round(site, program, waited, now)? {
                return Ok(());
            }
        }
        Err(Halt::NoWait)
    }

    /// One round of the library; whether the processor has nothing more to do
    /// at this instant.
    fn round<M, F>(
        &mut self,
        site: &mut Site<M>,
        program: &mut Program<F>,
        waited: Option<(Instant, Instant)>,
        now: Instant,
    ) -> Result<bool, Halt<M::Error>>
    where
        M: Medium<Token = T>,
        F: Future,
    {
        self.start_requests(site).map_err(Halt::Medium)?;
        let over = program.is_over();
        let activity = self.run_engine(site, over, now, false);
        if self.note_losses(site) {
            return Ok(false);
        }
        self.note_closed();
        self.busy = match activity {
            Activity::Busy { until } if until <= now => return Ok(false),
            Activity::Busy { until } => Some(until),
            Activity::Idle => None,
        };
        if !over && (self.answered || self.is_wanted()) {
            self.run_program(site, program, now).map_err(Halt::Medium)?;
            return Ok(false);
        }
        if let Some(until) = self.busy {
            self.at = until;
            return Ok(true);
        }
        if let Some(call) = self.next_call() {
            return Ok(self.carry_out(call, now));
        }
        let since = match waited {
            Some((since, end)) if self.lane.end == end => since,
            _ => now,
        };
        if let Some(home) = site.home(self.rank) {
            home.came = None;
        }
        self.mode = Mode::Waiting { since, news: None };
        self.keep_looking(site, now);
        Ok(true)
    }

    /// The engine, or its half in the kernel.
    fn run_engine<M>(
        &mut self,
        site: &mut Site<M>,
        over: bool,
        now: Instant,
        kernel: bool,
    ) -> Activity
    where
        M: Medium<Token = T>,
    {
        let mut port = RankPort {
            site,
            rank: self.rank,
            node: self.node,
            scattered: self.scattered,
        };
        let mut trace = Recorder((!over).then_some(&mut self.lane));
        if kernel {
            self.engine.interrupt(&mut port, now, &mut trace)
        } else {
            self.engine.progress(&mut port, now, &mut trace)
        }
    }

    /// The kernel's half of the engine; whether it is busy until later.
    fn serve<M: Medium<Token = T>>(
        &mut self,
        site: &mut Site<M>,
        over: bool,
        now: Instant,
    ) -> bool {
        for _ in 0..MAX_ROUNDS {
            match self.run_engine(site, over, now, true) {
                Activity::Busy { until } if until > now => {
                    self.at = until;
                    return true;
                }
                Activity::Busy { .. } => {}
                Activity::Idle => break,
            }
        }
        self.served = Some(now);
        false
    }

    /// Whether the engine is in a step.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    fn is_interrupted<M: Medium<Token = T>>(&self, site: &Site<M>) -> bool {
        self.policy == Policy::Interrupt && site.asks(self.rank)
    }

    /// A line that is still up needs another look.
    fn keep_looking<M: Medium<Token = T>>(&mut self, site: &Site<M>, now: Instant) {
        if self.is_interrupted(site) {
            self.at = self.at.min(now + LOOK_AGAIN);
        }
    }

    /// Begins something that takes time without the engine.
    pub(super) fn stretch(&mut self, stretch: Stretch) {
        self.at = stretch.from + stretch.left;
        self.mode = Mode::Computing(stretch);
    }

    /// Says what a wait was spent on, when a message ended it, or the departure
    /// of data: the hardware's part began when that set out.
    fn book_wait<M>(&mut self, site: &mut Site<M>, since: Instant, news: Instant, now: Instant)
    where
        M: Medium<Token = T>,
    {
        let Some(home) = site.home(self.rank) else {
            return;
        };
        let leaving = home.leaving.iter().map(|(_, since)| *since).min();
        let Some(sent) = home.came.take().or(leaving) else {
            return;
        };
        self.lane.append(Part::Waiting, since.max(sent).min(news));
        self.lane.append(Part::Hardware, news);
        self.lane.append(Part::Polling, now);
    }
}

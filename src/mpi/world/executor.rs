//! The run: whose time is next acts.

use alloc::vec::Vec;
use core::future::Future;

use super::World;
use super::cpu::{Cpu, Halt, NEVER, Program};
use super::error::{Stuck, WorldError};
use super::handle::Process;
use super::media::Medium;
use super::site::Site;
use crate::mpi::timeline::Timeline;
use crate::time::{Duration, Instant};

/// How long the hardware runs at a time while all ranks wait for it.
const STRIDE: Duration = Duration::from_us(100);

/// What became of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome<R> {
    /// What each rank's program returned.
    pub results: Vec<R>,
    /// When the run began, and when its last program ended.
    pub started: Instant,
    /// When the last program ended.
    pub ended: Instant,
    /// Where the time of each rank went, up to the end of its program.
    pub timeline: Timeline,
}

impl<M: Medium> World<M> {
    /// Runs a program on every rank to its end.
    ///
    /// ```
    /// use multipc::mpi::MpiConfig;
    /// use multipc::mpi::process::{Outgoing, Pattern, PointToPoint, SendMode};
    /// use multipc::mpi::world::media::{Memory, MemoryConfig};
    /// use multipc::mpi::world::{World, WorldConfig};
    ///
    /// let memory = Memory::new(MemoryConfig::new(2));
    /// let mut world = World::new(memory, WorldConfig::new(2, MpiConfig::mpi2()))?;
    /// let outcome = world.run(|process| async move {
    ///     let me = process.world_rank();
    ///     let to = Outgoing { dst: 1 - me, context: 0, src_rank: me, tag: 7,
    ///         internal: false, mode: SendMode::Standard };
    ///     let sent = process.isend(to, vec![me as u8; 3]).unwrap();
    ///     let from = Pattern { context: 0, source: None, tag: Some(7) };
    ///     let got = process.irecv(from, 100).unwrap();
    ///     let got = core::future::poll_fn(|cx| process.poll_wait(got, cx)).await.unwrap();
    ///     core::future::poll_fn(|cx| process.poll_wait(sent, cx)).await.unwrap();
    ///     got.data
    /// })?;
    /// assert_eq!(outcome.results, [vec![1; 3], vec![0; 3]]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError`]. After one the world is good for nothing but looking at.
    pub fn run<F, Fut>(&mut self, program: F) -> Result<Outcome<Fut::Output>, WorldError<M::Error>>
    where
        F: Fn(Process) -> Fut,
        Fut: Future,
    {
        let Self { config, site, cpus } = self;
        let started = site.medium.now();
        site.record = config.record;
        site.messages.clear();
        let mut programs = Vec::with_capacity(cpus.len());
        for cpu in cpus.iter_mut() {
            cpu.begin(started, config.record);
            let process = Process::new(alloc::rc::Rc::clone(&cpu.mailbox));
            programs.push(Program::new(program(process)));
        }
        let end = started + config.limit;
        let mut left = programs.len();
        while left > 0 {
            let now = site.medium.now();
            let Some(next) = cpus.iter_mut().min_by_key(|cpu| cpu.at) else {
                break;
            };
            if next.at > now {
                let until = if next.at == NEVER {
                    if site.medium.next_activity().is_none() {
                        let (ranks, stopped) = (stuck(cpus, &programs), site.stopped_ranks());
                        return Err(WorldError::Deadlock {
                            at: now,
                            ranks,
                            stopped,
                        });
                    }
                    now + STRIDE
                } else {
                    next.at
                };
                if until > end {
                    let (ranks, stopped) = (stuck(cpus, &programs), site.stopped_ranks());
                    return Err(WorldError::TimeLimit {
                        limit: config.limit,
                        ranks,
                        stopped,
                    });
                }
                if site.medium.advance(until) {
                    spread_news(site, cpus);
                }
                continue;
            }
            let rank = next.rank;
            let Some(program) = programs.get_mut(rank as usize) else {
                break;
            };
            let was_over = program.is_over();
            next.act(site, program, now).map_err(|halt| match halt {
                Halt::Medium(error) => WorldError::Medium { rank, error },
                Halt::NoWait => WorldError::NoWait { rank },
            })?;
            if program.is_over() && !was_over {
                left -= 1;
            }
            if core::mem::take(&mut site.copied) {
                next.notice(now, false);
            }
            while let Some(other) = site.wakes.pop() {
                if let Some(cpu) = cpus.get_mut(other as usize)
                    && other != rank
                {
                    cpu.notice(now, true);
                }
            }
        }
        let lanes = cpus.iter_mut().map(|cpu| core::mem::take(&mut cpu.lane));
        let lanes: Vec<_> = lanes.collect();
        let ended = lanes.iter().map(|lane| lane.end).max();
        Ok(Outcome {
            results: programs.into_iter().filter_map(|p| p.result).collect(),
            started,
            ended: ended.unwrap_or(started),
            timeline: Timeline {
                lanes,
                messages: core::mem::take(&mut site.messages),
            },
        })
    }
}

/// Tells the ranks of the nodes where something has happened.
fn spread_news<M: Medium>(site: &mut Site<M>, cpus: &mut [Cpu<M::Token>]) {
    let now = site.medium.now();
    if site.note_partings() {
        for cpu in cpus.iter_mut() {
            cpu.notice(now, false);
        }
    }
    let mut nodes = core::mem::take(&mut site.fresh);
    site.medium.take_news(&mut |node| nodes.push(node));
    for node in nodes.drain(..) {
        site.disturb(node);
        let interrupted = site.medium.interrupt(node);
        for &rank in site.ranks(node) {
            if let Some(cpu) = cpus.get_mut(rank as usize) {
                cpu.notice(now, interrupted);
            }
        }
    }
    site.fresh = nodes;
}

/// The ranks that are not done, and what each waits for.
fn stuck<T, F>(cpus: &[Cpu<T>], programs: &[Program<F>]) -> Vec<Stuck>
where
    T: Copy + 'static,
    F: Future,
{
    let mut ranks = Vec::new();
    for (cpu, program) in cpus.iter().zip(programs) {
        let pending: Vec<_> = cpu.engine.pending().collect();
        let over = program.is_over();
        if !over || !pending.is_empty() {
            ranks.push(Stuck {
                rank: cpu.rank,
                over,
                pending,
            });
        }
    }
    ranks
}

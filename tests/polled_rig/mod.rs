//! Programs over couriers, one for each rank, on endpoints in memory.
#![allow(dead_code)]

pub mod calls;
pub mod mail;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use multipc::mpi::api::Communicator;
use multipc::mpi::boot::Place;
use multipc::mpi::polled::{Courier, Group};
use multipc::mpi::{Lent, MpiConfig};
use multipc::time::Duration;

use crate::mpi_rig::{ARENA, Rig, free};
use mail::Mail;

/// Messages at once: a linear exchange of nine ranks takes sixteen.
pub const MESSAGES: usize = 16;

pub type Team<'c, 'a> = Group<'c, 'a, MESSAGES>;

/// User memory of each node; couriers and owners use one half each.
const USER: u64 = 0x10_0000;

/// How a world is run.
#[derive(Clone, Copy)]
pub struct Run {
    pub size: usize,
    /// Bytes of each courier.
    pub staging: usize,
    /// Which ranks make a step, round by round; 0 is all of them.
    pub seed: u64,
    pub config: MpiConfig,
    /// A link, from this rank to that, that is lost before the first round.
    pub lost: Option<(u32, u32)>,
    /// Rounds after which ranks that wait are left; others panic.
    pub patience: Option<u32>,
}

impl Run {
    pub fn of(size: usize) -> Self {
        Self {
            size,
            staging: 0x8_0000,
            seed: 0,
            config: free(),
            lost: None,
            patience: None,
        }
    }
}

/// What has happened.
#[derive(Debug)]
pub struct Outcome<R> {
    /// By rank; none for one that was left waiting.
    pub results: Vec<Option<R>>,
    /// Messages that each rank's endpoint has sent.
    pub sent: Vec<u64>,
}

impl<R> Outcome<R> {
    pub fn all(self) -> Vec<R> {
        self.results
            .into_iter()
            .map(|r| r.expect("it is at its end"))
            .collect()
    }
}

/// One program on all ranks, over couriers.
pub fn run<R: 'static>(run: Run, program: impl AsyncFn(&Team<'_, '_>) -> R) -> Outcome<R> {
    let none = |_: Communicator<Mail>| std::future::pending();
    mixed(run, |_| false, program, none)
}

/// As [`run`], the ranks that `owns` names with allocated data.
pub fn mixed<R, F: Future<Output = R> + 'static>(
    run: Run,
    owns: impl Fn(usize) -> bool,
    polled: impl AsyncFn(&Team<'_, '_>) -> R,
    owned: impl Fn(Communicator<Mail>) -> F,
) -> Outcome<R> {
    match run.size {
        1 => on::<1, _, _>(run, owns, polled, owned),
        2 => on::<2, _, _>(run, owns, polled, owned),
        3 => on::<3, _, _>(run, owns, polled, owned),
        4 => on::<4, _, _>(run, owns, polled, owned),
        5 => on::<5, _, _>(run, owns, polled, owned),
        6 => on::<6, _, _>(run, owns, polled, owned),
        7 => on::<7, _, _>(run, owns, polled, owned),
        8 => on::<8, _, _>(run, owns, polled, owned),
        9 => on::<9, _, _>(run, owns, polled, owned),
        size => panic!("{size} ranks"),
    }
}

fn on<const P: usize, R, F: Future<Output = R> + 'static>(
    run: Run,
    owns: impl Fn(usize) -> bool,
    polled: impl AsyncFn(&Team<'_, '_>) -> R,
    owned: impl Fn(Communicator<Mail>) -> F,
) -> Outcome<R> {
    let mut rig: Rig<P> = Rig::starting_at(run.config, 1, USER);
    if let Some((rank, peer)) = run.lost {
        rig.endpoints[rank as usize].lose_peer(peer);
    }
    let mut staging = vec![vec![0xAA; run.staging]; P];
    let couriers: Vec<Courier<'_, MESSAGES>> = staging
        .iter_mut()
        .map(|bytes| Courier::new(bytes, rig.user))
        .collect();
    let teams: Vec<Team<'_, '_>> = (0..P)
        .map(|r| Group::world(&couriers[r], &Place::alone(r as u16, P as u32, ARENA)))
        .collect();
    let mails: Vec<Mail> = (0..P)
        .map(|r| Mail::new(r as u32, P as u32, rig.user + USER / 2))
        .collect();
    let mut programs: Vec<Pin<Box<dyn Future<Output = R> + '_>>> = Vec::new();
    for rank in 0..P {
        programs.push(match owns(rank) {
            true => Box::pin(owned(Communicator::world(mails[rank].clone()))),
            false => Box::pin(polled(&teams[rank])),
        });
    }
    let mut results: Vec<Option<R>> = (0..P).map(|_| None).collect();
    let mut rounds = 0u32;
    while results.iter().any(Option::is_none) {
        for rank in 0..P {
            if run.seed != 0 && !turn(run.seed, rounds, rank) {
                continue;
            }
            if results[rank].is_none() {
                let mut cx = Context::from_waker(Waker::noop());
                if let std::task::Poll::Ready(r) = programs[rank].as_mut().poll(&mut cx) {
                    results[rank] = Some(r);
                }
            }
            for half in 0..2 {
                let node = rank as u16;
                let mut port = Lent::new(&mut rig.writers[rank], &mut rig.memories, node);
                couriers[rank].serve(&mut rig.endpoints[rank], &mut port);
                mails[rank].serve(&mut rig.endpoints[rank], &mut port);
                if half == 0 {
                    rig.progress(rank);
                }
            }
        }
        rig.now = rig.now + Duration::from_us(1);
        rounds += 1;
        if run.patience.is_some_and(|limit| rounds > limit) {
            break;
        }
        assert!(rounds < 100_000, "it does not end");
    }
    let ended = results.iter().all(Option::is_some);
    drop(programs);
    if ended && run.lost.is_none() {
        rig.settle();
        for (rank, courier) in couriers.iter().enumerate() {
            let mut port = Lent::new(&mut rig.writers[rank], &mut rig.memories, rank as u16);
            courier.serve(&mut rig.endpoints[rank], &mut port);
            assert_eq!(courier.messages(), 0, "messages of rank {rank}");
        }
        rig.check_idle();
    }
    let stats = rig.endpoints.iter().map(|endpoint| endpoint.stats());
    Outcome {
        results,
        sent: stats.map(|s| s.shorts + s.requests + s.direct).collect(),
    }
}

/// Whether a rank makes a step in this round: two times of three.
fn turn(seed: u64, round: u32, rank: usize) -> bool {
    let mut x = seed ^ u64::from(round) << 32 ^ (rank as u64) << 8;
    for _ in 0..3 {
        x = (x ^ x >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    !(x >> 33).is_multiple_of(3)
}

/// Whether the future is at its end after one look.
pub fn at_once<R>(future: impl Future<Output = R>) -> Option<R> {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        std::task::Poll::Ready(result) => Some(result),
        std::task::Poll::Pending => None,
    }
}

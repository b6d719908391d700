//! Makes programs from a seed.

use multipc::mpi::api::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Reduce, ReduceScatter,
    Rooted, Scan,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Collective, Complete, Event, Message, Program, Receive, Send};

/// How large a program is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub ranks: u32,
    pub events: usize,
    /// Elements (4 bytes) of a long message, at most; one message in eight is long.
    pub long: usize,
}

struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// 0 to `end` - 1.
    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn count(&mut self, long: usize) -> usize {
        match self.below(8) {
            0 => self.below(long + 1),
            1 => 0,
            2 => 1,
            _ => self.below(40),
        }
    }
}

/// The program of a seed.
pub fn build(seed: u64, shape: Shape) -> Program {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut program = Program {
        size: shape.ranks,
        algorithms: algorithms(&mut dice),
        comms: vec![(0..shape.ranks).collect()],
        events: vec![],
    };
    while program.events.len() < shape.events {
        let event = match dice.below(100) {
            0..62 => message(&mut dice, &program, shape.long),
            62..77 => collective(&mut dice, &program, shape.long),
            77..80 if program.comms.len() < 8 => split(&mut dice, &mut program),
            80..82 if program.comms.len() < 8 => {
                let parent = dice.below(program.comms.len());
                let child = program.comms.len();
                program.comms.push(program.comms[parent].clone());
                Event::Dup { parent, child }
            }
            82..84 => storm(&mut dice, &program),
            84..89 => Event::Compute {
                rank: dice.below(shape.ranks as usize) as u32,
                ns: dice.below(20_000) as u64,
            },
            _ => Event::Complete {
                rank: dice.below(shape.ranks as usize) as u32,
                how: dice.pick(&[
                    Complete::Oldest,
                    Complete::Newest,
                    Complete::Any,
                    Complete::Test,
                    Complete::All,
                ]),
            },
        };
        program.events.push(event);
    }
    program
}

fn algorithms(dice: &mut Dice) -> Algorithms {
    let mut a = Algorithms::default();
    a.barrier = dice.pick(&[Barrier::Dissemination, Barrier::Tree]);
    a.bcast = dice.pick(&[
        Bcast::Auto,
        Bcast::Binomial,
        Bcast::Chain,
        Bcast::ScatterAllgather,
    ]);
    a.reduce = dice.pick(&[Reduce::Binomial, Reduce::Linear]);
    a.allreduce = dice.pick(&[
        Allreduce::Auto,
        Allreduce::RecursiveDoubling,
        Allreduce::Ring,
        Allreduce::ReduceBcast,
    ]);
    a.scan = dice.pick(&[Scan::Linear, Scan::RecursiveDoubling]);
    a.gather = dice.pick(&[Rooted::Binomial, Rooted::Linear]);
    a.scatter = dice.pick(&[Rooted::Binomial, Rooted::Linear]);
    a.allgather = dice.pick(&[
        Allgather::Auto,
        Allgather::Ring,
        Allgather::Bruck,
        Allgather::Linear,
        Allgather::GatherBcast,
    ]);
    a.alltoall = dice.pick(&[
        Alltoall::Auto,
        Alltoall::Pairwise,
        Alltoall::Linear,
        Alltoall::Bruck,
    ]);
    a.alltoallv = dice.pick(&[Alltoallv::Pairwise, Alltoallv::Linear]);
    a.reduce_scatter = dice.pick(&[
        ReduceScatter::Pairwise,
        ReduceScatter::Ring,
        ReduceScatter::ReduceScatterv,
    ]);
    a
}

fn message(dice: &mut Dice, program: &Program, long: usize) -> Event {
    let comm = dice.below(program.comms.len());
    let size = program.comms[comm].len();
    let (src, dst) = (dice.below(size) as u32, dice.below(size) as u32);
    let own_tag = dice.one_in(3);
    let tag = match own_tag {
        true => 1_000 + program.events.len() as i32,
        false => dice.below(3) as i32,
    };
    let count = dice.count(long);
    let mut send = dice.pick(&[
        Send::Blocking,
        Send::Synchronous,
        Send::Behind,
        Send::Behind,
        Send::SynchronousBehind,
    ]);
    if src == dst {
        // A blocking one would wait for the receive of the same rank.
        send = dice.pick(&[Send::Behind, Send::SynchronousBehind]);
    }
    let receive = dice.pick(&[
        Receive::Blocking,
        Receive::Behind,
        Receive::Behind,
        Receive::Probed,
        Receive::Polled,
    ]);
    let by_source = !own_tag || dice.one_in(2);
    let short = dice.one_in(12) && matches!(receive, Receive::Blocking | Receive::Behind);
    Event::Message(Message {
        comm,
        src,
        dst,
        tag,
        count,
        send,
        receive,
        by_source,
        by_tag: !by_source || dice.one_in(2),
        capacity: match short {
            true => count / 2,
            false => count + dice.below(3),
        },
    })
}

fn collective(dice: &mut Dice, program: &Program, long: usize) -> Event {
    let comm = dice.below(program.comms.len());
    let members = &program.comms[comm];
    let behind = members.iter().filter(|_| dice.one_in(2)).copied().collect();
    let kind = dice.pick(&[
        Collective::Barrier,
        Collective::Bcast,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::Scan,
        Collective::Exscan,
        Collective::Gather,
        Collective::Scatter,
        Collective::Allgather,
        Collective::Allgatherv,
        Collective::Alltoall,
        Collective::Alltoallv,
        Collective::ReduceScatter,
    ]);
    let root = dice.below(members.len()) as u32;
    Event::Collective {
        comm,
        kind,
        count: dice.count(long / 4),
        root,
        behind,
    }
}

fn split(dice: &mut Dice, program: &mut Program) -> Event {
    let parent = dice.below(program.comms.len());
    let members = program.comms[parent].clone();
    let first = program.comms.len();
    let colors = 1 + dice.below(2);
    let chosen: Vec<(Option<usize>, i32)> = members
        .iter()
        .map(|_| {
            let color = (!dice.one_in(6)).then(|| first + dice.below(colors));
            (color, dice.below(4) as i32 - 2)
        })
        .collect();
    let mut renumbered = chosen.clone();
    for color in first..first + colors {
        let ranks = 0..members.len();
        let mut part: Vec<usize> = ranks.filter(|&i| chosen[i].0 == Some(color)).collect();
        if part.is_empty() {
            continue;
        }
        // Colours without a rank make no communicator.
        let number = program.comms.len();
        for &i in &part {
            renumbered[i].0 = Some(number);
        }
        part.sort_by_key(|&i| (chosen[i].1, i));
        let ranks = part.iter().map(|&i| members[i]).collect();
        program.comms.push(ranks);
    }
    Event::Split {
        parent,
        parts: renumbered,
    }
}

fn storm(dice: &mut Dice, program: &Program) -> Event {
    let comm = dice.below(program.comms.len());
    let size = program.comms[comm].len();
    let sends = (0..size)
        .map(|_| {
            let messages = dice.below(6);
            let one = |_| {
                let to = dice.below(size) as u32;
                (to, dice.below(4) as i32, dice.count(200))
            };
            (0..messages).map(one).collect()
        })
        .collect();
    Event::Storm { comm, sends }
}

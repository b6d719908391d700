//! One rank of a program.

use std::rc::Rc;

use multipc::mpi::api::{
    ANY_SOURCE, ANY_TAG, AnyRequest, Blocks, Communicator, Op, Peer, Received, Request, Source,
    Status, Tag, waitall, waitany,
};
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::time::Duration;

use super::{
    Collective, Complete, Event, Message, Program, Receive, Send, mix, parcel, payload, share,
};

/// What a request gives.
enum Left<P: PointToPoint> {
    Sent(Request<P, ()>),
    Received(Request<P, Received<u32>>),
    Vector(Request<P, Vec<u32>>),
    Rooted(Request<P, Option<Vec<u32>>>),
}

impl<P: PointToPoint> Left<P> {
    fn any(&mut self) -> &mut dyn AnyRequest {
        match self {
            Self::Sent(request) => request,
            Self::Received(request) => request,
            Self::Vector(request) => request,
            Self::Rooted(request) => request,
        }
    }

    async fn wait(self) -> Outcome {
        match self {
            Self::Sent(request) => request.wait().await.map(|()| Got::Nothing),
            Self::Received(request) => request.wait().await.map(|(d, s)| Got::Message(d, s)),
            Self::Vector(request) => request.wait().await.map(Got::Vector),
            Self::Rooted(request) => request
                .wait()
                .await
                .map(|d| d.map_or(Got::Nothing, Got::Vector)),
        }
    }

    async fn test(&mut self) -> Option<Outcome> {
        Some(match self {
            Self::Sent(request) => request.test().await?.map(|()| Got::Nothing),
            Self::Received(request) => request.test().await?.map(|(d, s)| Got::Message(d, s)),
            Self::Vector(request) => request.test().await?.map(Got::Vector),
            Self::Rooted(request) => request
                .test()
                .await?
                .map(|d| d.map_or(Got::Nothing, Got::Vector)),
        })
    }
}

#[derive(Debug, PartialEq)]
enum Got {
    Nothing,
    Message(Vec<u32>, Status),
    Vector(Vec<u32>),
}

type Outcome = Result<Got, MpiError>;

struct Rank<P: PointToPoint> {
    program: Rc<Program>,
    world: u32,
    comms: Vec<Option<Communicator<P>>>,
    /// Event, what it must give, request.
    behind: Vec<(usize, Outcome, Left<P>)>,
    digest: u64,
}

/// Halves left behind, at most.
const MOST: usize = 24;

/// Plays a rank's part and gives its digest, or what went wrong at which event.
pub async fn play<P: PointToPoint>(process: P, program: Rc<Program>) -> Result<u64, String> {
    let world = Communicator::world(process);
    world.set_algorithms(program.algorithms);
    let mut comms: Vec<_> = program.comms.iter().map(|_| None).collect();
    let mut rank = Rank {
        world: world.rank(),
        comms: vec![],
        behind: vec![],
        digest: 0,
        program,
    };
    comms[0] = Some(world);
    rank.comms = comms;
    for at in 0..rank.program.events.len() {
        let event = rank.program.events[at].clone();
        let result = rank.event(at, &event).await;
        result.map_err(|error| report(rank.world, &format!("event {at} {event:?}"), &error))?;
    }
    let result = rank.complete(Complete::All).await;
    result.map_err(|error| report(rank.world, "end", &error))?;
    Ok(rank.digest)
}

/// Says it at once: the other ranks may now wait for ever.
fn report(rank: u32, place: &str, error: &str) -> String {
    let text = format!("rank {rank}, {place}: {error}");
    eprintln!("{text}");
    text
}

/// For `?` on calls that must not fail.
fn text(error: MpiError) -> String {
    error.to_string()
}

impl<P: PointToPoint> Rank<P> {
    /// Own rank in a communicator of the program.
    fn rank_in(&self, comm: usize) -> Option<u32> {
        let members = &self.program.comms[comm];
        members
            .iter()
            .position(|r| *r == self.world)
            .map(|r| r as u32)
    }

    fn comm(&self, comm: usize) -> Result<Communicator<P>, String> {
        let handle = self.comms[comm].clone().ok_or("no such communicator")?;
        if Some(handle.rank()) != self.rank_in(comm)
            || handle.size() as usize != self.program.comms[comm].len()
        {
            return Err(format!("communicator {comm} is {handle:?}"));
        }
        Ok(handle)
    }

    async fn event(&mut self, at: usize, event: &Event) -> Result<(), String> {
        match event {
            Event::Message(message) => self.message(at, message).await,
            Event::Collective {
                comm,
                kind,
                count,
                root,
                behind,
            } => {
                let Some(me) = self.rank_in(*comm) else {
                    return Ok(());
                };
                let size = self.program.comms[*comm].len() as u32;
                let expected = expected(at, *kind, *count, *root, me, size);
                let left = start(&self.comm(*comm)?, at, *kind, *count, *root)?;
                self.later(at, expected, left, behind.contains(&self.world))
                    .await
            }
            Event::Split { parent, parts } => {
                let Some(me) = self.rank_in(*parent) else {
                    return Ok(());
                };
                let (child, key) = parts[me as usize];
                let color = child.map(|child| child as u32);
                let made = self.comm(*parent)?.split(color, key).await.map_err(text)?;
                match (child, made) {
                    (Some(child), Some(made)) => self.comms[child] = Some(made),
                    (None, None) => {}
                    (child, made) => return Err(format!("{child:?} became {made:?}")),
                }
                Ok(())
            }
            Event::Dup { parent, child } => {
                if self.rank_in(*parent).is_some() {
                    let made = self.comm(*parent)?.dup().await.map_err(text)?;
                    self.comms[*child] = Some(made);
                }
                Ok(())
            }
            Event::Storm { comm, sends } => match self.rank_in(*comm) {
                Some(me) => self.storm(at, *comm, sends, me).await,
                None => Ok(()),
            },
            Event::Compute { rank, ns } => {
                if *rank == self.world {
                    self.comm(0)?.compute(Duration::from_ns(*ns)).await;
                }
                Ok(())
            }
            Event::Complete { rank, how } => {
                if *rank == self.world {
                    self.complete(*how).await?;
                }
                Ok(())
            }
        }
    }

    async fn message(&mut self, at: usize, m: &Message) -> Result<(), String> {
        let Some(me) = self.rank_in(m.comm) else {
            return Ok(());
        };
        let comm = self.comm(m.comm)?;
        if me == m.src {
            let data = payload(at, m.src, m.count);
            match m.send {
                Send::Blocking => comm.send(&data, m.dst, m.tag).await.map_err(text)?,
                Send::Synchronous => comm.ssend(&data, m.dst, m.tag).await.map_err(text)?,
                Send::Behind => {
                    let request = comm.isend(&data, m.dst, m.tag).map_err(text)?;
                    let left = Left::Sent(request);
                    self.later(at, Ok(Got::Nothing), left, true).await?;
                }
                Send::SynchronousBehind => {
                    let request = comm.issend(&data, m.dst, m.tag).map_err(text)?;
                    let left = Left::Sent(request);
                    self.later(at, Ok(Got::Nothing), left, true).await?;
                }
            }
        }
        if me == m.dst {
            let source = match m.by_source {
                true => Source::Rank(m.src),
                false => ANY_SOURCE,
            };
            let tag = match m.by_tag {
                true => Tag::Value(m.tag),
                false => ANY_TAG,
            };
            let status = Status {
                source: Peer::Rank(m.src),
                tag: Tag::Value(m.tag),
                length: 4 * m.count as u64,
            };
            let expected = match m.capacity < m.count {
                true => Err(MpiError::Truncate {
                    total: status.length,
                    capacity: 4 * m.capacity as u64,
                }),
                false => Ok(Got::Message(payload(at, m.src, m.count), status)),
            };
            match m.receive {
                Receive::Blocking | Receive::Behind => {
                    let request = comm.irecv(m.capacity, source, tag).map_err(text)?;
                    let behind = m.receive == Receive::Behind;
                    self.later(at, expected, Left::Received(request), behind)
                        .await?;
                }
                Receive::Probed => {
                    let got = comm.recv_probed(source, tag).await;
                    self.check(at, &expected, got.map(|(d, s)| Got::Message(d, s)))?;
                }
                Receive::Polled => {
                    let found = loop {
                        if let Some(found) = comm.iprobe(source, tag).await.map_err(text)? {
                            break found;
                        }
                    };
                    if found != status {
                        return Err(format!("found {found:?}"));
                    }
                    let got = comm.recv(m.count, m.src, m.tag).await;
                    self.check(at, &expected, got.map(|(d, s)| Got::Message(d, s)))?;
                }
            }
        }
        Ok(())
    }

    /// Anything from anybody, on a communicator of the storm's own.
    async fn storm(
        &mut self,
        at: usize,
        comm: usize,
        sends: &[Vec<(u32, i32, usize)>],
        me: u32,
    ) -> Result<(), String> {
        let comm = self.comm(comm)?.dup().await.map_err(text)?;
        let mut requests = vec![];
        for (i, (to, tag, count)) in sends[me as usize].iter().enumerate() {
            let data = payload(at + 10_000 * (i + 1), me, *count);
            requests.push(comm.isend(&data, *to, *tag).map_err(text)?);
        }
        // What each sender has for this rank, in its order.
        let mut expected: Vec<Vec<(usize, i32, usize)>> = sends
            .iter()
            .map(|list| {
                let numbered = list.iter().enumerate();
                let mine = numbered.filter(|(_, (to, _, _))| *to == me);
                mine.map(|(i, (_, tag, count))| (i, *tag, *count)).collect()
            })
            .collect();
        let total: usize = expected.iter().map(Vec::len).sum();
        for n in 0..total {
            let (data, status) = match n % 2 {
                0 => comm.recv::<u32>(200, ANY_SOURCE, ANY_TAG).await,
                _ => comm.recv_probed::<u32>(ANY_SOURCE, ANY_TAG).await,
            }
            .map_err(text)?;
            let Peer::Rank(source) = status.source else {
                return Err("a message from nobody".into());
            };
            let queue = &mut expected[source as usize];
            if queue.is_empty() {
                return Err(format!("one message too many from {source}"));
            }
            let (i, tag, count) = queue.remove(0);
            if status.tag != Tag::Value(tag)
                || data != payload(at + 10_000 * (i + 1), source, count)
            {
                return Err(format!("message {i} of {source} is not the next one"));
            }
            let which = mix(u64::from(source), i as u64);
            self.digest = self.digest.wrapping_add(hash(at, &data) ^ which);
        }
        waitall(requests).await.map_err(text)?;
        comm.free().await.map_err(text)
    }

    /// Waits now or leaves it behind.
    async fn later(
        &mut self,
        at: usize,
        expected: Outcome,
        left: Left<P>,
        behind: bool,
    ) -> Result<(), String> {
        if !behind {
            let got = left.wait().await;
            return self.check(at, &expected, got);
        }
        self.behind.push((at, expected, left));
        if self.behind.len() > MOST {
            self.complete(Complete::Oldest).await?;
        }
        Ok(())
    }

    async fn complete(&mut self, how: Complete) -> Result<(), String> {
        if self.behind.is_empty() {
            return Ok(());
        }
        let which = match how {
            Complete::Oldest | Complete::Test => 0,
            Complete::Newest => self.behind.len() - 1,
            Complete::Any => {
                let mut all: Vec<_> = self.behind.iter_mut().map(|(_, _, l)| l.any()).collect();
                waitany(&mut all).await.ok_or("nothing to wait for")?
            }
            Complete::All => {
                for (at, expected, left) in core::mem::take(&mut self.behind) {
                    let got = left.wait().await;
                    self.check(at, &expected, got)?;
                }
                return Ok(());
            }
        };
        let (at, expected, mut left) = self.behind.remove(which);
        let got = match how {
            Complete::Test => loop {
                if let Some(got) = left.test().await {
                    break got;
                }
            },
            _ => left.wait().await,
        };
        self.check(at, &expected, got)
    }

    fn check(&mut self, at: usize, expected: &Outcome, got: Outcome) -> Result<(), String> {
        if got != *expected {
            return Err(format!("event {at} gave {}", difference(expected, &got)));
        }
        let value = match &got {
            Ok(Got::Nothing) => 1,
            Ok(Got::Message(data, status)) => {
                let envelope = match (status.source, status.tag) {
                    (Peer::Rank(source), Tag::Value(tag)) => mix(source.into(), tag as u64),
                    _ => 0,
                };
                hash(at, data) ^ envelope
            }
            Ok(Got::Vector(data)) => hash(at, data),
            Err(_) => 2,
        };
        self.digest = self.digest.wrapping_add(mix(at as u64, value));
        Ok(())
    }
}

fn difference(expected: &Outcome, got: &Outcome) -> String {
    let short = |outcome: &Outcome| match outcome {
        Ok(Got::Message(data, status)) => {
            format!("{status:?} {:x?}...", &data[..data.len().min(4)])
        }
        Ok(Got::Vector(data)) => format!("{} of {:x?}...", data.len(), &data[..data.len().min(4)]),
        other => format!("{other:?}"),
    };
    format!("{} instead of {}", short(got), short(expected))
}

fn hash(at: usize, data: &[u32]) -> u64 {
    let start = mix(at as u64, data.len() as u64);
    data.iter().fold(start, |sum, x| mix(sum, u64::from(*x)))
}

fn sum(at: usize, count: usize, ranks: std::ops::Range<u32>) -> Vec<u32> {
    let mut sums = vec![0u32; count];
    for rank in ranks {
        for (sum, x) in sums.iter_mut().zip(payload(at, rank, count)) {
            *sum = sum.wrapping_add(x);
        }
    }
    sums
}

/// What rank `me` of `size` must get.
fn expected(at: usize, kind: Collective, count: usize, root: u32, me: u32, size: u32) -> Outcome {
    let rooted = |data: Vec<u32>| match me == root {
        true => Got::Vector(data),
        false => Got::Nothing,
    };
    Ok(match kind {
        Collective::Barrier => Got::Nothing,
        Collective::Bcast => Got::Vector(payload(at, root, count)),
        Collective::Reduce => rooted(sum(at, count, 0..size)),
        Collective::Allreduce => Got::Vector(sum(at, count, 0..size)),
        Collective::Scan => Got::Vector(sum(at, count, 0..me + 1)),
        Collective::Exscan if me == 0 => Got::Nothing,
        Collective::Exscan => Got::Vector(sum(at, count, 0..me)),
        Collective::Gather => rooted((0..size).flat_map(|r| payload(at, r, count)).collect()),
        Collective::Scatter => {
            let all = payload(at, root, count * size as usize);
            Got::Vector(all[count * me as usize..][..count].to_vec())
        }
        Collective::Allgather => {
            Got::Vector((0..size).flat_map(|r| payload(at, r, count)).collect())
        }
        Collective::Allgatherv => {
            let own = |r| payload(at, r, share(count, r));
            Got::Vector((0..size).flat_map(own).collect())
        }
        Collective::Alltoall => {
            let block =
                |r| payload(at, r, count * size as usize)[count * me as usize..][..count].to_vec();
            Got::Vector((0..size).flat_map(block).collect())
        }
        Collective::Alltoallv => {
            let own = |r: u32| payload(at, r * size + me, parcel(count, r, me));
            Got::Vector((0..size).flat_map(own).collect())
        }
        Collective::ReduceScatter => {
            let shares = (0..size).map(|r| share(count, r));
            let start: usize = shares.clone().take(me as usize).sum();
            let all = sum(at, shares.sum(), 0..size);
            Got::Vector(all[start..][..share(count, me)].to_vec())
        }
    })
}

/// The call itself.
fn start<P: PointToPoint>(
    comm: &Communicator<P>,
    at: usize,
    kind: Collective,
    count: usize,
    root: u32,
) -> Result<Left<P>, String> {
    let (me, size) = (comm.rank(), comm.size());
    let data = payload(at, me, count);
    let op = Op::sum();
    Ok(match kind {
        Collective::Barrier => Left::Sent(comm.ibarrier()),
        Collective::Bcast => Left::Vector(comm.ibcast(&data, root).map_err(text)?),
        Collective::Reduce => Left::Rooted(comm.ireduce(&data, &op, root).map_err(text)?),
        Collective::Allreduce => Left::Vector(comm.iallreduce(&data, &op)),
        Collective::Scan => Left::Vector(comm.iscan(&data, &op)),
        Collective::Exscan => Left::Rooted(comm.iexscan(&data, &op)),
        Collective::Gather => Left::Rooted(comm.igather(&data, root).map_err(text)?),
        Collective::Scatter => {
            let all = payload(at, me, count * size as usize);
            Left::Vector(comm.iscatter(&all, count, root).map_err(text)?)
        }
        Collective::Allgather => Left::Vector(comm.iallgather(&data)),
        Collective::Allgatherv => {
            let counts: Vec<usize> = (0..size).map(|r| share(count, r)).collect();
            let own = payload(at, me, share(count, me));
            Left::Vector(comm.iallgatherv(&own, &counts))
        }
        Collective::Alltoall => {
            Left::Vector(comm.ialltoall(&payload(at, me, count * size as usize)))
        }
        Collective::Alltoallv => {
            let to: Vec<usize> = (0..size).map(|r| parcel(count, me, r)).collect();
            let from: Vec<usize> = (0..size).map(|r| parcel(count, r, me)).collect();
            let all: Vec<u32> = (0..size)
                .flat_map(|r| payload(at, me * size + r, parcel(count, me, r)))
                .collect();
            let (to, from) = (Blocks::packed(&to), Blocks::packed(&from));
            Left::Vector(comm.ialltoallv(&all, &to, &from).map_err(text)?)
        }
        Collective::ReduceScatter => {
            let counts: Vec<usize> = (0..size).map(|r| share(count, r)).collect();
            let data = payload(at, me, counts.iter().sum());
            Left::Vector(comm.ireduce_scatter(&data, &counts, &op))
        }
    })
}

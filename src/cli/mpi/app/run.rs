//! A program of `multipc mpi app` on one rank.

use core::fmt;
use std::boxed::Box;
use std::vec::Vec;

use super::collective::{self, Call};
use super::parse::{Action, Line, Peer, Program, Wait};
use crate::mpi::api::{ANY_SOURCE, Algorithms, Communicator, Received, Request, Source, waitall};
use crate::mpi::process::{MpiError, PointToPoint};

/// Why a rank gave up.
#[derive(Debug)]
pub enum RankError {
    Mpi(MpiError),
    /// Bytes that are not those that were sent.
    Wrong {
        from: u32,
        at: usize,
    },
    /// A peer that is no rank.
    NoPeer {
        rank: u32,
        ranks: u32,
    },
}

impl fmt::Display for RankError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mpi(error) => error.fmt(f),
            Self::Wrong { from, at } => {
                write!(f, "byte {at} of a message from rank {from} is not as sent")
            }
            Self::NoPeer { rank, ranks } => {
                write!(f, "rank {rank} as a peer, allowed 0 to {}", ranks - 1)
            }
        }
    }
}

impl From<MpiError> for RankError {
    fn from(error: MpiError) -> Self {
        Self::Mpi(error)
    }
}

/// What a rank has to tell.
#[derive(Debug, Default)]
pub struct Report {
    /// Messages whose bytes were looked at.
    pub messages: usize,
    /// Its collective calls.
    pub calls: Vec<Call>,
}

/// What a rank has started and not completed, and what it has seen.
struct Open<P: PointToPoint> {
    sends: Vec<Request<P, ()>>,
    receives: Vec<Request<P, Received<u8>>>,
    report: Report,
    /// The first message that was not as sent. The rank goes on, so that others do not
    /// wait for it.
    wrong: Option<RankError>,
}

impl<P: PointToPoint> Open<P> {
    fn check(&mut self, received: &Received<u8>) {
        self.report.messages += 1;
        if let Err(error) = check(received) {
            self.wrong.get_or_insert(error);
        }
    }
}

/// Runs the lines that are for this rank.
pub async fn rank<P: PointToPoint>(
    process: P,
    program: Program,
    algorithms: Algorithms,
) -> Result<Report, RankError> {
    let comm = Communicator::world(process);
    comm.set_algorithms(algorithms);
    let mut open = Open {
        sends: Vec::new(),
        receives: Vec::new(),
        report: Report::default(),
        wrong: None,
    };
    block(&comm, &program.lines, &mut open).await?;
    wait_all(&mut open).await?;
    match open.wrong {
        None => Ok(open.report),
        Some(error) => Err(error),
    }
}

async fn block<P: PointToPoint>(
    comm: &Communicator<P>,
    lines: &[Line],
    open: &mut Open<P>,
) -> Result<(), RankError> {
    for line in lines {
        match line {
            Line::Do(who, action) if who.has(comm.rank()) => act(comm, *action, open).await?,
            Line::Do(..) => {}
            Line::Repeat(times, lines) => {
                for _ in 0..*times {
                    Box::pin(block(comm, lines, open)).await?;
                }
            }
        }
    }
    Ok(())
}

async fn act<P: PointToPoint>(
    comm: &Communicator<P>,
    action: Action,
    open: &mut Open<P>,
) -> Result<(), RankError> {
    match action {
        Action::Send {
            to,
            bytes,
            tag,
            wait,
        } => {
            let to = rank_of(to, comm)?;
            let data = pattern(comm.rank(), bytes);
            match wait {
                Wait::Free => comm.send(&data, to, tag).await?,
                Wait::Matched => comm.ssend(&data, to, tag).await?,
                Wait::Later => open.sends.push(comm.isend(&data, to, tag)?),
            }
        }
        Action::Receive {
            from,
            bytes,
            tag,
            wait,
        } => {
            let source = match from {
                Peer::Any => ANY_SOURCE,
                from => Source::Rank(rank_of(from, comm)?),
            };
            let request = comm.irecv::<u8>(bytes, source, tag)?;
            if wait {
                open.check(&request.wait().await?);
            } else {
                open.receives.push(request);
            }
        }
        Action::Exchange {
            to,
            from,
            bytes,
            tag,
        } => {
            let (to, from) = (rank_of(to, comm)?, rank_of(from, comm)?);
            let data = pattern(comm.rank(), bytes);
            let exchange = comm.sendrecv::<u8, u8>(&data, to, tag, bytes, from, tag);
            open.check(&exchange.await?);
        }
        Action::WaitAll => wait_all(open).await?,
        Action::Compute(time) => comm.compute(time).await,
        Action::Collective { which, root, bytes } => {
            let number = open.report.calls.len() as u32;
            let call = collective::call(comm, which, root, bytes, number).await?;
            open.report.calls.push(call);
        }
    }
    Ok(())
}

async fn wait_all<P: PointToPoint>(open: &mut Open<P>) -> Result<(), RankError> {
    for received in waitall(open.receives.drain(..)).await? {
        open.check(&received);
    }
    waitall(open.sends.drain(..)).await?;
    Ok(())
}

fn rank_of<P: PointToPoint>(peer: Peer, comm: &Communicator<P>) -> Result<u32, RankError> {
    let ranks = comm.size();
    let rank = peer.of(comm.rank(), ranks).unwrap_or(comm.rank());
    if rank < ranks {
        Ok(rank)
    } else {
        Err(RankError::NoPeer { rank, ranks })
    }
}

/// What a rank sends: bytes that tell who sent them and where they belong.
pub fn pattern(rank: u32, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| byte(rank, at)).collect()
}

fn byte(rank: u32, at: usize) -> u8 {
    (at as u32)
        .wrapping_mul(31)
        .wrapping_add(rank.wrapping_mul(97)) as u8
}

fn check((data, status): &Received<u8>) -> Result<(), RankError> {
    let crate::mpi::api::Peer::Rank(from) = status.source else {
        return Ok(());
    };
    match data
        .iter()
        .enumerate()
        .find(|(at, value)| **value != byte(from, *at))
    {
        Some((at, _)) => Err(RankError::Wrong { from, at }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::api::{Peer, Status, Tag};

    #[test]
    fn a_byte_that_is_not_as_sent_is_named() {
        let status = Status {
            source: Peer::Rank(3),
            tag: Tag::Value(0),
            length: 100,
        };
        let mut received = (pattern(3, 100), status);
        assert!(check(&received).is_ok());
        received.0[71] ^= 0x10;
        assert!(matches!(
            check(&received),
            Err(RankError::Wrong { from: 3, at: 71 })
        ));
        // The bytes of another rank are no better.
        received.0 = pattern(2, 100);
        assert!(matches!(
            check(&received),
            Err(RankError::Wrong { at: 0, .. })
        ));
    }
}

//! A closed peer fails what needs it and nothing else.
#![cfg(feature = "alloc")]

use std::future::Future;
use std::task::{Context, Poll};

use multipc::mpi::api::{ANY_TAG, Communicator, Op, waitall};
use multipc::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, Status, Work,
};
use multipc::mpi::reference::{Local, ReferenceConfig, run};
use multipc::time::{Duration, Instant};

/// A process to which one peer is closed: sends are refused, receives fail when they
/// are waited for.
#[derive(Clone)]
struct Cut {
    inner: Local,
    closed: u32,
}

/// Ids of receives that will fail.
const FAILED: u64 = 1 << 40;

impl Cut {
    fn error(&self) -> MpiError {
        MpiError::PeerClosed { rank: self.closed }
    }
}

impl PointToPoint for Cut {
    fn world_rank(&self) -> u32 {
        self.inner.world_rank()
    }

    fn world_size(&self) -> u32 {
        self.inner.world_size()
    }

    fn isend(&self, to: Outgoing, data: Vec<u8>) -> Result<RequestId, MpiError> {
        match to.dst == self.closed {
            true => Err(self.error()),
            false => self.inner.isend(to, data),
        }
    }

    fn irecv(&self, from: Pattern, capacity: usize) -> Result<RequestId, MpiError> {
        match from.source == Some(self.closed) {
            true => Ok(RequestId(FAILED)),
            false => self.inner.irecv(from, capacity),
        }
    }

    fn try_wait(&self, id: RequestId) -> Option<Result<Completion, MpiError>> {
        match id.0 {
            FAILED => Some(Err(self.error())),
            _ => self.inner.try_wait(id),
        }
    }

    fn poll_wait(&self, id: RequestId, cx: &mut Context<'_>) -> Poll<Result<Completion, MpiError>> {
        match id.0 {
            FAILED => Poll::Ready(Err(self.error())),
            _ => self.inner.poll_wait(id, cx),
        }
    }

    fn progress(&self) -> impl Future<Output = ()> {
        self.inner.progress()
    }

    fn iprobe(&self, pattern: Pattern) -> impl Future<Output = Option<Status>> {
        self.inner.iprobe(pattern)
    }

    fn poll_probe(&self, pattern: Pattern, cx: &mut Context<'_>) -> Poll<Result<Status, MpiError>> {
        match pattern.source == Some(self.closed) {
            true => Poll::Ready(Err(self.error())),
            false => self.inner.poll_probe(pattern, cx),
        }
    }

    fn cancel(&self, id: RequestId) -> impl Future<Output = bool> {
        self.inner.cancel(id)
    }

    fn release(&self, id: RequestId) {
        self.inner.release(id);
    }

    fn compute(&self, time: Duration) -> impl Future<Output = ()> {
        self.inner.compute(time)
    }

    fn charge(&self, work: Work) {
        self.inner.charge(work);
    }

    fn now(&self) -> Instant {
        self.inner.now()
    }

    fn eager_limit(&self) -> u64 {
        self.inner.eager_limit()
    }
}

#[test]
fn ranks_that_a_closed_link_does_not_join_go_on() {
    // Between 0 and 3 nothing goes; 1 and 2 do not know.
    let results = run(4, ReferenceConfig::default(), |inner| async move {
        let rank = inner.world_rank();
        let closed = [3, u32::MAX, u32::MAX, 0][rank as usize];
        let comm = Communicator::world(Cut { inner, closed });
        let mut failed = vec![];
        if closed != u32::MAX {
            let mut receive = comm.irecv::<u8>(1, closed, 0)?;
            let tested = receive.test().await.expect("it has failed");
            failed.push(tested.map(drop));
            failed.push(comm.send(&[1u8], closed, 0).await);
            failed.push(comm.recv::<u8>(1, closed, ANY_TAG).await.map(drop));
            failed.push(comm.probe(closed, 0).await.map(drop));
        }
        // A ring over all ranks needs the link. Who has it closed is told; the
        // others may never be.
        let ring = comm.iallgatherv(&[rank; 2_000], &[2_000; 4]);
        match closed {
            u32::MAX => drop(ring),
            _ => failed.push(ring.wait().await.map(drop)),
        }
        // Around 0, 1, 3, 2 no message needs it, nor does recursive doubling: its
        // partners are at distance 1 and 2.
        let next = [1, 3, 0, 2][rank as usize];
        let previous = [2, 0, 3, 1][rank as usize];
        let (got, _) = comm.sendrecv(&[rank], next, 1, 1, previous, 1).await?;
        let sum = comm.allreduce(&[rank], &Op::sum()).await?;
        Ok::<_, MpiError>((failed, got[0], sum[0]))
    });
    let results = results.expect("an end");
    for (rank, result) in results.into_iter().enumerate() {
        let (failed, got, sum) = result.expect("no error");
        assert_eq!((got, sum), ([2, 0, 3, 1][rank], 6));
        let closed = |rank| vec![Err(MpiError::PeerClosed { rank }); 5];
        match rank {
            0 => assert_eq!(failed, closed(3)),
            3 => assert_eq!(failed, closed(0)),
            _ => assert_eq!(failed, []),
        }
    }
}

#[test]
fn waitall_completes_the_rest_and_then_gives_the_error() {
    let results = run(3, ReferenceConfig::default(), |inner| async move {
        let rank = inner.world_rank();
        let closed = [2, u32::MAX, u32::MAX][rank as usize];
        let comm = Communicator::world(Cut { inner, closed });
        if rank > 0 {
            if rank == 1 {
                comm.send(&[5u8], 0, 0).await?;
                comm.send(&[6u8], 0, 0).await?;
            }
            return Ok(vec![]);
        }
        let all = [comm.irecv::<u8>(1, 2, 0)?, comm.irecv::<u8>(1, 1, 0)?];
        let error = waitall(all).await.map(drop);
        assert_eq!(error, Err(MpiError::PeerClosed { rank: 2 }));
        // The first message went to the receive that was waited for.
        Ok::<_, MpiError>(comm.recv::<u8>(1, 1, 0).await?.0)
    });
    assert_eq!(results.expect("an end")[0], Ok(vec![6]));
}

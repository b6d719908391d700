//! What a program is told of processes that are lost, over the in-memory reference.
#![cfg(feature = "alloc")]

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::task::{Context, Poll};

use multipc::mpi::api::{
    ANY_SOURCE, ANY_TAG, Communicator, complete_all, testsome, waitall, waitany,
};
use multipc::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, Status, Work,
};
use multipc::mpi::reference::{Local, ReferenceConfig, run};
use multipc::time::{Duration, Instant};

/// A process that learns of losses when its program says so.
#[derive(Clone)]
struct Lossy {
    inner: Local,
    closed: Rc<RefCell<Vec<u32>>>,
}

impl Lossy {
    fn lose(&self, rank: u32) {
        self.closed.borrow_mut().push(rank);
    }

    fn check(&self, rank: u32) -> Result<(), MpiError> {
        match self.closed.borrow().contains(&rank) {
            true => Err(MpiError::PeerClosed { rank }),
            false => Ok(()),
        }
    }
}

impl PointToPoint for Lossy {
    fn world_rank(&self) -> u32 {
        self.inner.world_rank()
    }

    fn world_size(&self) -> u32 {
        self.inner.world_size()
    }

    fn isend(&self, to: Outgoing, data: Vec<u8>) -> Result<RequestId, MpiError> {
        self.check(to.dst)?;
        self.inner.isend(to, data)
    }

    fn irecv(&self, from: Pattern, capacity: usize) -> Result<RequestId, MpiError> {
        self.inner.irecv(from, capacity)
    }

    fn irecv_from(
        &self,
        from: Pattern,
        peer: Option<u32>,
        capacity: usize,
    ) -> Result<RequestId, MpiError> {
        peer.map_or(Ok(()), |peer| self.check(peer))?;
        self.inner.irecv(from, capacity)
    }

    fn try_wait(&self, id: RequestId) -> Option<Result<Completion, MpiError>> {
        self.inner.try_wait(id)
    }

    fn poll_wait(&self, id: RequestId, cx: &mut Context<'_>) -> Poll<Result<Completion, MpiError>> {
        self.inner.poll_wait(id, cx)
    }

    fn progress(&self) -> impl Future<Output = ()> {
        self.inner.progress()
    }

    fn iprobe(&self, pattern: Pattern) -> impl Future<Output = Option<Status>> {
        self.inner.iprobe(pattern)
    }

    fn poll_probe(&self, pattern: Pattern, cx: &mut Context<'_>) -> Poll<Result<Status, MpiError>> {
        self.inner.poll_probe(pattern, cx)
    }

    fn cancel(&self, id: RequestId) -> impl Future<Output = bool> {
        self.inner.cancel(id)
    }

    fn closed(&self) -> Vec<u32> {
        self.closed.borrow().clone()
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

type Comm = Communicator<Lossy>;

fn world<R, F, Fut>(size: u32, program: F) -> Vec<R>
where
    R: 'static,
    F: Fn(Comm) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<R, MpiError>> + 'static,
{
    let results = run(size, ReferenceConfig::default(), |inner| {
        let program = program.clone();
        let closed = Rc::default();
        async move { program(Communicator::world(Lossy { inner, closed })).await }
    });
    let results = results.expect("an end").into_iter();
    results.map(|r| r.expect("a rank")).collect()
}

/// The error of a receive from any source while `rank` is lost.
const fn pending(rank: u32) -> MpiError {
    MpiError::PeerClosedPending { rank }
}

#[test]
fn receives_from_any_source_say_so_stay_posted_in_order_and_go_on() {
    let results = world(3, |comm| async move {
        if comm.rank() > 0 {
            comm.barrier().await?;
            let messages = if comm.rank() == 1 { 2 } else { 0 };
            for i in 0..messages {
                let value = [10 + i];
                comm.recv::<u8>(0, 0, 1).await?;
                comm.send(&value, 0, 0).await?;
            }
            return Ok(vec![]);
        }
        let mut first = comm.irecv::<u32>(1, ANY_SOURCE, 0)?;
        let mut second = comm.irecv::<u32>(1, ANY_SOURCE, ANY_TAG)?;
        assert_eq!(first.test().await, None);
        comm.barrier().await?;
        comm.process().lose(2);
        for _ in 0..2 {
            assert_eq!(first.test().await, Some(Err(pending(2))));
            assert_eq!(second.complete().await, Err(pending(2)));
        }
        assert_eq!(comm.acknowledge_failed(), [2]);
        assert_eq!(first.test().await, None);
        let mut got = vec![];
        for _ in 0..2 {
            comm.send::<u8>(&[], 1, 1).await?;
        }
        let (data, _) = second.complete().await?;
        got.extend(first.complete().await?.0);
        got.extend(data);
        Ok(got)
    });
    assert_eq!(results[0], [10, 11]);
}

/// A blocking receive that gives up leaves no receive behind that would eat a message.
#[test]
fn a_blocking_receive_is_taken_back() {
    let results = world(3, |comm| async move {
        match comm.rank() {
            0 => {}
            1 => {
                comm.barrier().await?;
                comm.send(&[7u8; 3], 0, 0).await?;
                return Ok(vec![]);
            }
            _ => {
                comm.barrier().await?;
                return Ok(vec![]);
            }
        }
        comm.process().lose(2);
        let mut buffer = [0u8; 3];
        assert_eq!(comm.recv::<u8>(3, ANY_SOURCE, 0).await, Err(pending(2)));
        let into = comm.recv_into(&mut buffer, ANY_SOURCE, 0).await;
        assert_eq!(into, Err(pending(2)));
        let three = [
            comm.irecv::<u8>(3, ANY_SOURCE, 0)?,
            comm.irecv::<u8>(3, 1, 5)?,
            comm.irecv::<u8>(3, ANY_SOURCE, ANY_TAG)?,
        ];
        let [a, b, c] = three;
        assert_eq!(waitall([a, c]).await, Err(pending(2)));
        drop(b);
        comm.process().closed.borrow_mut().clear();
        comm.barrier().await?;
        Ok(comm.recv::<u8>(3, ANY_SOURCE, 0).await?.0)
    });
    assert_eq!(results[0], [7; 3]);
}

#[test]
fn a_message_that_is_here_is_received_all_the_same() {
    world(2, |comm| async move {
        if comm.rank() == 1 {
            for tag in 0..4 {
                comm.send(&[tag as u8], 0, tag).await?;
            }
            return Ok(());
        }
        comm.probe(1, 3).await?;
        let found = comm.mprobe(1, 1).await?;
        comm.process().lose(1);
        assert_eq!(comm.recv::<u8>(1, ANY_SOURCE, 0).await?.0, [0]);
        assert_eq!(comm.probe(1, 3).await?.length, 1);
        assert_eq!(found.recv::<u8>(1).await?.0, [1]);
        let mut late = comm.irecv::<u8>(1, ANY_SOURCE, 2)?;
        assert_eq!(waitany(&mut [&mut late]).await, Some(0));
        assert_eq!(late.wait().await?.0, [2]);
        Ok(())
    });
}

#[test]
fn a_probe_by_name_fails_and_one_of_any_source_waits_for_an_acknowledgement() {
    world(3, |comm| async move {
        if comm.rank() > 0 {
            return comm.barrier().await;
        }
        comm.process().lose(2);
        let closed = MpiError::PeerClosed { rank: 2 };
        assert_eq!(comm.probe(2, 0).await, Err(closed));
        assert_eq!(comm.iprobe(2, ANY_TAG).await, Err(closed));
        assert_eq!(comm.mprobe(2, 0).await.map(drop), Err(closed));
        assert_eq!(comm.improbe(2, 0).await.map(drop), Err(closed));
        assert_eq!(comm.recv::<u8>(1, 2, 0).await.map(drop), Err(closed));
        assert_eq!(comm.send(&[0u8], 2, 0).await, Err(closed));
        assert_eq!(comm.iprobe(1, 0).await, Ok(None));
        assert_eq!(comm.probe(ANY_SOURCE, 0).await, Err(pending(2)));
        assert_eq!(comm.iprobe(ANY_SOURCE, 0).await, Err(pending(2)));
        comm.acknowledge_failed();
        assert_eq!(comm.iprobe(ANY_SOURCE, 0).await, Ok(None));
        // By name it stays so.
        assert_eq!(comm.probe(2, 0).await, Err(closed));
        comm.process().closed.borrow_mut().clear();
        comm.barrier().await
    });
}

#[test]
fn losses_count_where_the_lost_rank_is_a_member_and_until_acknowledged_there() {
    world(4, |comm| async move {
        let twin = comm.dup().await?;
        // Ranks 3, 2 and 1, 0: in turned order.
        let half = comm.split(Some(comm.rank() / 2), -(comm.rank() as i32));
        let half = half.await?.expect("every rank has a colour");
        if comm.rank() > 0 {
            return Ok(());
        }
        let mut receives = vec![
            comm.irecv::<u8>(1, ANY_SOURCE, 0)?,
            twin.irecv::<u8>(1, ANY_SOURCE, 0)?,
            half.irecv::<u8>(1, ANY_SOURCE, 0)?,
        ];
        assert_eq!(testsome(&mut receives).await, Some(vec![]));
        comm.process().lose(3);
        assert_eq!(testsome(&mut receives).await, Some(vec![0, 1]));
        assert_eq!(comm.acknowledge_failed(), [3]);
        assert_eq!(testsome(&mut receives).await, Some(vec![1]));
        assert_eq!((half.failed(), half.acknowledge_failed()), (vec![], vec![]));
        // One more is one more.
        comm.process().lose(1);
        assert_eq!(testsome(&mut receives).await, Some(vec![0, 1, 2]));
        assert_eq!((comm.failed(), half.failed()), (vec![1, 3], vec![0]));
        assert_eq!(receives[0].test().await, Some(Err(pending(1))));
        assert_eq!(receives[1].test().await, Some(Err(pending(3))));
        for comm in [&comm, &twin, &half] {
            comm.acknowledge_failed();
        }
        assert_eq!(testsome(&mut receives).await, Some(vec![]));
        for receive in &receives {
            assert!(receive.cancel().await);
        }
        complete_all(&mut receives).await;
        Ok(())
    });
}

#[test]
fn a_persistent_receive_from_any_source_stays_active() {
    let results = world(3, |comm| async move {
        if comm.rank() > 0 {
            if comm.rank() == 1 {
                comm.recv::<u8>(0, 0, 1).await?;
                comm.send(&[4u8], 0, 0).await?;
            }
            return Ok(vec![]);
        }
        let mut receive = comm.recv_init::<u8>(1, ANY_SOURCE, 0)?;
        receive.start()?;
        comm.process().lose(2);
        assert_eq!(receive.wait().await, Err(pending(2)));
        assert_eq!(receive.test().await, Some(Err(pending(2))));
        assert!(receive.is_active());
        comm.acknowledge_failed();
        comm.send::<u8>(&[], 1, 1).await?;
        Ok(receive.wait().await?.expect("it was started").0)
    });
    assert_eq!(results[0], [4]);
}

//! How many messages each algorithm sends, as hw/doc/mpi-api.md says.
#![cfg(feature = "alloc")]

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::task::{Context, Poll};

use multipc::mpi::api::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Blocks, Communicator,
    Op, Reduce, ReduceScatter, Rooted, Scan,
};
use multipc::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, Status, Work,
};
use multipc::mpi::reference::{Local, ReferenceConfig, run};
use multipc::time::{Duration, Instant};

/// Messages to others, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traffic {
    messages: u64,
    bytes: u64,
}

#[derive(Clone)]
struct Counted {
    inner: Local,
    traffic: Rc<Cell<Traffic>>,
}

impl PointToPoint for Counted {
    fn world_rank(&self) -> u32 {
        self.inner.world_rank()
    }

    fn world_size(&self) -> u32 {
        self.inner.world_size()
    }

    fn isend(&self, to: Outgoing, data: Vec<u8>) -> Result<RequestId, MpiError> {
        if to.dst != self.world_rank() {
            let mut traffic = self.traffic.get();
            traffic.messages += 1;
            traffic.bytes += data.len() as u64;
            self.traffic.set(traffic);
        }
        self.inner.isend(to, data)
    }

    fn irecv(&self, from: Pattern, capacity: usize) -> Result<RequestId, MpiError> {
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

/// Traffic of one call on all ranks.
fn traffic<F, Fut>(size: u32, algorithms: Algorithms, call: F) -> Traffic
where
    F: Fn(Communicator<Counted>) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<(), MpiError>> + 'static,
{
    let traffic = Rc::new(Cell::new(Traffic::default()));
    let results = run(size, ReferenceConfig::default(), |inner| {
        let (traffic, call) = (Rc::clone(&traffic), call.clone());
        async move {
            let comm = Communicator::world(Counted { inner, traffic });
            comm.set_algorithms(algorithms);
            call(comm).await
        }
    });
    assert!(results.unwrap().iter().all(Result::is_ok));
    traffic.get()
}

/// Elements a rank gives: 4 bytes each, enough for a block per rank.
const COUNT: usize = 40;
const BYTES: u64 = 4 * COUNT as u64;

/// Everything the formulas are made of.
#[derive(Clone, Copy)]
struct Ranks {
    p: u64,
    /// Rounds: ceil(log2 P).
    rounds: u64,
    /// Largest power of two, and its logarithm.
    power: u64,
    log: u64,
}

fn sizes() -> impl Iterator<Item = Ranks> {
    (1..=17u64).map(|p| Ranks {
        p,
        rounds: u64::from(p.next_power_of_two().ilog2()),
        power: 1 << p.ilog2(),
        log: u64::from(p.ilog2()),
    })
}

fn with(change: impl FnOnce(&mut Algorithms)) -> Algorithms {
    let mut algorithms = Algorithms::default();
    change(&mut algorithms);
    algorithms
}

fn messages<F, Fut>(what: &str, algorithms: Algorithms, expected: impl Fn(Ranks) -> u64, call: F)
where
    F: Fn(Communicator<Counted>) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<(), MpiError>> + 'static,
{
    for ranks in sizes() {
        let got = traffic(ranks.p as u32, algorithms, call.clone());
        assert_eq!(got.messages, expected(ranks), "{what}, P = {}", ranks.p);
    }
}

#[test]
fn barrier() {
    let call = |comm: Communicator<Counted>| async move { comm.barrier().await };
    let dissemination = with(|a| a.barrier = Barrier::Dissemination);
    messages("dissemination", dissemination, |r| r.p * r.rounds, call);
    let tree = with(|a| a.barrier = Barrier::Tree);
    messages("tree", tree, |r| 2 * (r.p - 1), call);
}

#[test]
fn bcast() {
    let call = |comm: Communicator<Counted>| async move {
        comm.bcast(&mut [0u32; COUNT], comm.size() / 2).await
    };
    let binomial = with(|a| a.bcast = Bcast::Binomial);
    messages("binomial", binomial, |r| r.p - 1, call);
    let chain = with(|a| (a.bcast, a.segment_bytes) = (Bcast::Chain, 64));
    messages("chain", chain, |r| (r.p - 1) * BYTES.div_ceil(64), call);
    let scatter = with(|a| a.bcast = Bcast::ScatterAllgather);
    messages("scatter", scatter, |r| (r.p - 1) * (r.p + 1), call);
}

#[test]
fn reduce() {
    let call = |comm: Communicator<Counted>| async move {
        let root = comm.size() - 1;
        comm.reduce(&[0u32; COUNT], &Op::sum(), root)
            .await
            .map(drop)
    };
    let ordered = |comm: Communicator<Counted>| async move {
        let op = Op::ordered(|a: &u32, _: &u32| *a);
        let root = comm.size() - 1;
        comm.reduce(&[0u32; COUNT], &op, root).await.map(drop)
    };
    let binomial = with(|a| a.reduce = Reduce::Binomial);
    messages("binomial", binomial, |r| r.p - 1, call);
    let one_more = |r: Ranks| if r.p > 1 { r.p } else { 0 };
    messages("binomial in order", binomial, one_more, ordered);
    let linear = with(|a| a.reduce = Reduce::Linear);
    messages("linear", linear, |r| r.p - 1, ordered);
}

#[test]
fn allreduce() {
    let call = |comm: Communicator<Counted>| async move {
        comm.allreduce(&[0u32; COUNT], &Op::sum()).await.map(drop)
    };
    let doubling = with(|a| a.allreduce = Allreduce::RecursiveDoubling);
    let folded = |r: Ranks| r.power * r.log + 2 * (r.p - r.power);
    messages("doubling", doubling, folded, call);
    let ring = with(|a| a.allreduce = Allreduce::Ring);
    messages("ring", ring, |r| 2 * r.p * (r.p - 1), call);
    let both = with(|a| a.allreduce = Allreduce::ReduceBcast);
    messages("reduce, bcast", both, |r| 2 * (r.p - 1), call);
}

#[test]
fn scan() {
    let call = |comm: Communicator<Counted>| async move {
        comm.scan(&[0u32; COUNT], &Op::sum()).await.map(drop)
    };
    let doubling = with(|a| a.scan = Scan::RecursiveDoubling);
    let rounds = |r: Ranks| (0..r.rounds).map(|k| r.p - (1 << k)).sum();
    messages("doubling", doubling, rounds, call);
    let linear = with(|a| a.scan = Scan::Linear);
    messages("linear", linear, |r| r.p - 1, call);
}

#[test]
fn gather_and_scatter() {
    for rooted in [Rooted::Binomial, Rooted::Linear] {
        let chosen = with(|a| (a.gather, a.scatter) = (rooted, rooted));
        let gather = |comm: Communicator<Counted>| async move {
            comm.gather(&[0u32; COUNT], comm.size() / 2).await.map(drop)
        };
        messages("gather", chosen, |r| r.p - 1, gather);
        let scatter = |comm: Communicator<Counted>| async move {
            let all = vec![0u32; COUNT * comm.size() as usize];
            comm.scatter(&all, COUNT, comm.size() / 2).await.map(drop)
        };
        messages("scatter", chosen, |r| r.p - 1, scatter);
    }
}

#[test]
fn allgather() {
    let call =
        |comm: Communicator<Counted>| async move { comm.allgather(&[0u32; COUNT]).await.map(drop) };
    let all_pairs = |r: Ranks| r.p * (r.p - 1);
    messages(
        "ring",
        with(|a| a.allgather = Allgather::Ring),
        all_pairs,
        call,
    );
    messages(
        "linear",
        with(|a| a.allgather = Allgather::Linear),
        all_pairs,
        call,
    );
    let bruck = with(|a| a.allgather = Allgather::Bruck);
    messages("bruck", bruck, |r| r.p * r.rounds, call);
    let both = with(|a| a.allgather = Allgather::GatherBcast);
    messages("gather, bcast", both, |r| 2 * (r.p - 1), call);
}

#[test]
fn alltoall() {
    let call = |comm: Communicator<Counted>| async move {
        let all = vec![0u32; COUNT * comm.size() as usize];
        comm.alltoall(&all).await.map(drop)
    };
    let all_pairs = |r: Ranks| r.p * (r.p - 1);
    let pairwise = with(|a| a.alltoall = Alltoall::Pairwise);
    messages("pairwise", pairwise, all_pairs, call);
    let linear = with(|a| a.alltoall = Alltoall::Linear);
    messages("linear", linear, all_pairs, call);
    let bruck = with(|a| a.alltoall = Alltoall::Bruck);
    messages("bruck", bruck, |r| r.p * r.rounds, call);
    for r in sizes() {
        let got = traffic(r.p as u32, bruck, call);
        let moves: u64 = (0..r.p).map(|way| u64::from(way.count_ones())).sum();
        assert_eq!(got.bytes, r.p * moves * BYTES, "P = {}", r.p);
        let got = traffic(r.p as u32, pairwise, call);
        assert_eq!(got.bytes, r.p * (r.p - 1) * BYTES, "P = {}", r.p);
    }
}

#[test]
fn alltoallv_sends_nothing_where_nothing_is_to_be_sent() {
    let call = |comm: Communicator<Counted>| async move {
        // To higher ranks only.
        let (me, size) = (comm.rank() as usize, comm.size() as usize);
        let to: Vec<usize> = (0..size).map(|r| usize::from(r > me)).collect();
        let from: Vec<usize> = (0..size).map(|r| usize::from(r < me)).collect();
        let data = vec![0u32; size];
        let (to, from) = (Blocks::packed(&to), Blocks::packed(&from));
        comm.alltoallv(&data, &to, &mut vec![0; size], &from).await
    };
    for alltoallv in [Alltoallv::Pairwise, Alltoallv::Linear] {
        let chosen = with(|a| a.alltoallv = alltoallv);
        messages("alltoallv", chosen, |r| r.p * (r.p - 1) / 2, call);
    }
}

#[test]
fn reduce_scatter() {
    let call = |comm: Communicator<Counted>| async move {
        let all = vec![0u32; COUNT * comm.size() as usize];
        comm.reduce_scatter_block(&all, &Op::sum()).await.map(drop)
    };
    let all_pairs = |r: Ranks| r.p * (r.p - 1);
    let pairwise = with(|a| a.reduce_scatter = ReduceScatter::Pairwise);
    messages("pairwise", pairwise, all_pairs, call);
    let ring = with(|a| a.reduce_scatter = ReduceScatter::Ring);
    messages("ring", ring, all_pairs, call);
    let both = with(|a| a.reduce_scatter = ReduceScatter::ReduceScatterv);
    messages("reduce, scatter", both, |r| 2 * (r.p - 1), call);
}

#[test]
fn communicators() {
    let agree = |r: Ranks| r.power * r.log + 2 * (r.p - r.power);
    let dup = |comm: Communicator<Counted>| async move { comm.dup().await.map(drop) };
    messages("dup", Algorithms::default(), agree, dup);
    let split = |comm: Communicator<Counted>| async move {
        comm.split(Some(comm.rank() % 2), 0).await.map(drop)
    };
    let gathered = |r: Ranks| agree(r) + r.p * r.rounds;
    messages("split", Algorithms::default(), gathered, split);
}

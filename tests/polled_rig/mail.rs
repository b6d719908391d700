//! A process whose data is allocated, over an endpoint in memory: what a host node
//! among firmware nodes would be.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use multipc::mpi::Port;
use multipc::mpi::endpoint::{Buffer, Endpoint, EndpointError, Recv, Request, Send};
use multipc::mpi::matching::Pattern;
use multipc::mpi::process::{
    Completion, MpiError, Outgoing, PointToPoint, RequestId, Status, Work,
};
use multipc::time::{Duration, Instant};

enum Call {
    Send(Outgoing, Vec<u8>),
    Receive(Pattern, Option<u32>, u64),
}

#[derive(Default)]
struct State {
    next: u64,
    calls: VecDeque<(u64, Call)>,
    live: BTreeMap<u64, (Request, Option<u64>)>,
    done: BTreeMap<u64, Result<Completion, MpiError>>,
    /// First free byte of the node's memory.
    at: u64,
}

#[derive(Clone)]
pub struct Mail {
    rank: u32,
    size: u32,
    base: u64,
    state: Rc<RefCell<State>>,
}

fn told(error: EndpointError) -> MpiError {
    match error {
        EndpointError::PeerClosed { peer, .. } => MpiError::PeerClosed { rank: peer },
        _ => MpiError::Unsupported,
    }
}

impl Mail {
    pub fn new(rank: u32, size: u32, base: u64) -> Self {
        let state = State::default();
        Self {
            rank,
            size,
            base,
            state: Rc::new(RefCell::new(state)),
        }
    }

    pub fn serve<T: Copy, P: Port<Token = T>>(&self, endpoint: &mut Endpoint<'_, T>, port: &mut P) {
        let state = &mut *self.state.borrow_mut();
        let live: Vec<_> = state.live.iter().map(|(id, live)| (*id, *live)).collect();
        for (id, (request, place)) in live {
            let Some(result) = endpoint.test(request) else {
                continue;
            };
            let result = result.map_err(told).map(|receipt| {
                let mut data = vec![0; place.map_or(0, |_| receipt.length as usize)];
                if let Some(addr) = place {
                    port.load(addr, &mut data).unwrap();
                }
                let status = Status {
                    source: receipt.source,
                    tag: receipt.tag,
                    length: receipt.length,
                    total: receipt.total,
                };
                Completion { status, data }
            });
            state.live.remove(&id);
            state.done.insert(id, result);
        }
        if state.live.is_empty() {
            state.at = self.base;
        }
        while let Some((id, call)) = state.calls.pop_front() {
            let addr = state.at;
            let started = match call {
                Call::Send(to, data) => {
                    port.store(addr, &data).unwrap();
                    let len = data.len() as u64;
                    state.at += len;
                    let mut send = Send::new(to.dst, to.src_rank, to.tag, Buffer { addr, len });
                    send.context = to.context;
                    send.internal = to.internal;
                    endpoint.isend(send).map(|request| (request, None))
                }
                Call::Receive(pattern, peer, len) => {
                    state.at += len;
                    let mut recv = Recv::new(pattern, Buffer { addr, len });
                    recv.peer = peer;
                    endpoint.irecv(recv).map(|request| (request, Some(addr)))
                }
            };
            match started {
                Ok(live) => drop(state.live.insert(id, live)),
                Err(error) => drop(state.done.insert(id, Err(told(error)))),
            }
        }
    }

    fn call(&self, call: Call) -> RequestId {
        let mut state = self.state.borrow_mut();
        let id = state.next;
        state.next += 1;
        state.calls.push_back((id, call));
        RequestId(id)
    }

    /// Lets the endpoint make a step.
    async fn turn(&self) {
        let mut asked = false;
        poll_fn(|_| match core::mem::replace(&mut asked, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }
}

impl PointToPoint for Mail {
    fn world_rank(&self) -> u32 {
        self.rank
    }

    fn world_size(&self) -> u32 {
        self.size
    }

    fn isend(&self, to: Outgoing, data: Vec<u8>) -> Result<RequestId, MpiError> {
        Ok(self.call(Call::Send(to, data)))
    }

    fn irecv(&self, from: Pattern, capacity: usize) -> Result<RequestId, MpiError> {
        self.irecv_from(from, None, capacity)
    }

    fn irecv_from(
        &self,
        from: Pattern,
        peer: Option<u32>,
        capacity: usize,
    ) -> Result<RequestId, MpiError> {
        Ok(self.call(Call::Receive(from, peer, capacity as u64)))
    }

    fn try_wait(&self, id: RequestId) -> Option<Result<Completion, MpiError>> {
        self.state.borrow_mut().done.remove(&id.0)
    }

    fn poll_wait(&self, id: RequestId, _: &mut Context<'_>) -> Poll<Result<Completion, MpiError>> {
        self.try_wait(id).map_or(Poll::Pending, Poll::Ready)
    }

    async fn progress(&self) {
        self.turn().await;
    }

    async fn iprobe(&self, _: Pattern) -> Option<Status> {
        self.turn().await;
        None
    }

    fn poll_probe(&self, _: Pattern, _: &mut Context<'_>) -> Poll<Result<Status, MpiError>> {
        Poll::Ready(Err(MpiError::Unsupported))
    }

    async fn cancel(&self, _: RequestId) -> bool {
        self.turn().await;
        false
    }

    fn release(&self, _: RequestId) {}

    async fn compute(&self, _: Duration) {
        self.turn().await;
    }

    fn charge(&self, _: Work) {}

    fn now(&self) -> Instant {
        Instant::ZERO
    }

    fn eager_limit(&self) -> u64 {
        2048
    }
}

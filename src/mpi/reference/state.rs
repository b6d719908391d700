//! The lists of all ranks: posted receives, unexpected messages, requests.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::ReferenceConfig;
use crate::mpi::process::{Completion, MpiError, Outgoing, Pattern, RequestId, SendMode, Status};
use crate::time::Instant;

/// A message on its way or unexpected.
struct Message {
    /// World rank of the sender.
    sender: u32,
    /// The sender's request when it completes with the match.
    request: Option<RequestId>,
    to: Outgoing,
    data: Vec<u8>,
}

struct Posted {
    id: RequestId,
    pattern: Pattern,
    capacity: usize,
}

/// What a rank looked for in its last poll.
pub(super) enum Want {
    Request(RequestId),
    Probe(Pattern),
    /// To be polled again in any case.
    Turn,
}

struct Request {
    /// Nobody asks for the result.
    released: bool,
    result: Option<Result<Completion, MpiError>>,
}

#[derive(Default)]
pub(super) struct Rank {
    posted: Vec<Posted>,
    unexpected: Vec<Message>,
    requests: BTreeMap<RequestId, Request>,
    next_id: u64,
    wants: Vec<Want>,
    pub(super) now: Instant,
}

pub(super) struct State {
    pub(super) ranks: Vec<Rank>,
    /// Per (source, destination): messages on their way, in order. Empty queues are
    /// not kept.
    lines: BTreeMap<(u32, u32), VecDeque<Message>>,
    /// Messages arrive in a step of their own.
    delayed: bool,
    pub(super) eager_limit: u64,
}

fn matches(pattern: &Pattern, to: &Outgoing) -> bool {
    pattern.context == to.context
        && pattern.source.is_none_or(|source| source == to.src_rank)
        && pattern.tag.map_or(to.tag >= 0, |tag| tag == to.tag)
}

fn status(to: &Outgoing, total: usize, length: usize) -> Status {
    Status {
        source: to.src_rank,
        tag: to.tag,
        length: length as u64,
        total: total as u64,
    }
}

impl Rank {
    fn open(&mut self) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let request = Request {
            released: false,
            result: None,
        };
        self.requests.insert(id, request);
        id
    }

    fn complete(&mut self, id: RequestId, result: Result<Completion, MpiError>) {
        if let Some(request) = self.requests.get_mut(&id) {
            if request.released {
                self.requests.remove(&id);
            } else {
                request.result = Some(result);
            }
        }
    }

    fn probe(&self, pattern: &Pattern) -> Option<Status> {
        let message = self.unexpected.iter().find(|m| matches(pattern, &m.to))?;
        let length = message.data.len();
        Some(status(&message.to, length, length))
    }
}

impl State {
    pub(super) fn new(size: u32, config: &ReferenceConfig) -> Self {
        Self {
            ranks: (0..size).map(|_| Rank::default()).collect(),
            lines: BTreeMap::new(),
            delayed: config.seed.is_some(),
            eager_limit: config.eager_limit,
        }
    }

    /// Whether polling the rank can make a difference.
    pub(super) fn can_run(&self, rank: usize) -> bool {
        let Some(rank) = self.ranks.get(rank) else {
            return false;
        };
        rank.wants.iter().any(|want| match want {
            // An unknown request is answered with an error, at once.
            Want::Request(id) => rank.requests.get(id).is_none_or(|r| r.result.is_some()),
            Want::Probe(pattern) => rank.probe(pattern).is_some(),
            Want::Turn => true,
        })
    }

    /// A poll of the rank begins: what it waits for is said anew.
    pub(super) fn begin(&mut self, rank: usize) {
        if let Some(rank) = self.ranks.get_mut(rank) {
            rank.wants.clear();
        }
    }

    pub(super) fn want(&mut self, rank: u32, want: Want) {
        if let Some(rank) = self.ranks.get_mut(rank as usize) {
            rank.wants.push(want);
        }
    }

    /// Pairs with messages on their way.
    pub(super) fn lines(&self) -> Vec<(u32, u32)> {
        self.lines.keys().copied().collect()
    }

    /// The first message of a pair arrives.
    pub(super) fn deliver(&mut self, line: (u32, u32)) {
        let Some(queue) = self.lines.get_mut(&line) else {
            return;
        };
        let message = queue.pop_front();
        if queue.is_empty() {
            self.lines.remove(&line);
        }
        if let Some(message) = message {
            self.arrive(message);
        }
    }

    fn arrive(&mut self, message: Message) {
        let Some(rank) = self.ranks.get_mut(message.to.dst as usize) else {
            return;
        };
        let posted = &mut rank.posted;
        match posted.iter().position(|p| matches(&p.pattern, &message.to)) {
            Some(i) => {
                let posted = posted.remove(i);
                self.join(posted, message);
            }
            None => rank.unexpected.push(message),
        }
    }

    /// A receive and a message have met.
    fn join(&mut self, posted: Posted, message: Message) {
        let mut data = message.data;
        let total = data.len();
        data.truncate(posted.capacity);
        let received = Completion {
            status: status(&message.to, total, data.len()),
            data,
        };
        if let Some(rank) = self.ranks.get_mut(message.to.dst as usize) {
            rank.complete(posted.id, Ok(received));
        }
        let sender = self.ranks.get_mut(message.sender as usize);
        if let (Some(id), Some(rank)) = (message.request, sender) {
            let sent = Completion {
                status: status(&message.to, total, total),
                data: Vec::new(),
            };
            rank.complete(id, Ok(sent));
        }
    }

    pub(super) fn isend(
        &mut self,
        sender: u32,
        to: Outgoing,
        data: Vec<u8>,
    ) -> Result<RequestId, MpiError> {
        let size = self.ranks.len() as u32;
        if to.dst >= size {
            return Err(MpiError::InvalidRank { rank: to.dst, size });
        }
        let limit = self.eager_limit;
        let Some(rank) = self.ranks.get_mut(sender as usize) else {
            return Err(MpiError::InvalidRank { rank: sender, size });
        };
        let id = rank.open();
        let length = data.len();
        let buffered = to.mode != SendMode::Synchronous && length as u64 <= limit;
        if buffered {
            let sent = Completion {
                status: status(&to, length, length),
                data: Vec::new(),
            };
            rank.complete(id, Ok(sent));
        }
        let message = Message {
            sender,
            request: (!buffered).then_some(id),
            to,
            data,
        };
        // Self-sends use no line, whatever the order of the others.
        if self.delayed && to.dst != sender {
            let line = self.lines.entry((sender, to.dst)).or_default();
            line.push_back(message);
        } else {
            self.arrive(message);
        }
        Ok(id)
    }

    pub(super) fn irecv(
        &mut self,
        receiver: u32,
        pattern: Pattern,
        capacity: usize,
    ) -> Result<RequestId, MpiError> {
        let size = self.ranks.len() as u32;
        let Some(rank) = self.ranks.get_mut(receiver as usize) else {
            return Err(MpiError::InvalidRank {
                rank: receiver,
                size,
            });
        };
        let id = rank.open();
        let posted = Posted {
            id,
            pattern,
            capacity,
        };
        let unexpected = &mut rank.unexpected;
        match unexpected.iter().position(|m| matches(&pattern, &m.to)) {
            Some(i) => {
                let message = unexpected.remove(i);
                self.join(posted, message);
            }
            None => rank.posted.push(posted),
        }
        Ok(id)
    }

    pub(super) fn take(
        &mut self,
        rank: u32,
        id: RequestId,
    ) -> Option<Result<Completion, MpiError>> {
        let invalid = Err(MpiError::InvalidRequest { request: id });
        let Some(rank) = self.ranks.get_mut(rank as usize) else {
            return Some(invalid);
        };
        let Some(request) = rank.requests.get_mut(&id).filter(|r| !r.released) else {
            return Some(invalid);
        };
        let result = request.result.take()?;
        rank.requests.remove(&id);
        Some(result)
    }

    pub(super) fn probe(&self, rank: u32, pattern: &Pattern) -> Option<Status> {
        self.ranks.get(rank as usize)?.probe(pattern)
    }

    pub(super) fn cancel(&mut self, rank: u32, id: RequestId) -> bool {
        let Some(rank) = self.ranks.get_mut(rank as usize) else {
            return false;
        };
        let Some(i) = rank.posted.iter().position(|p| p.id == id) else {
            return false;
        };
        rank.posted.remove(i);
        rank.complete(id, Err(MpiError::Cancelled));
        true
    }

    pub(super) fn release(&mut self, rank: u32, id: RequestId) {
        let Some(rank) = self.ranks.get_mut(rank as usize) else {
            return;
        };
        if let Some(request) = rank.requests.get_mut(&id) {
            request.released = true;
            if request.result.is_some() {
                rank.requests.remove(&id);
            }
        }
    }
}

//! What passes between a program and the executor: the program never touches
//! the machine.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::heap::Heap;
use crate::mpi::process::{Completion, MpiError, Outgoing, Pattern, RequestId, Status, Work};
use crate::time::{Duration, Instant};

/// Names a call that is answered later.
pub(super) type Ticket = u64;

/// What a program wants.
#[derive(Debug)]
pub(super) enum Call {
    Send {
        id: u64,
        to: Outgoing,
        data: Vec<u8>,
        addr: u64,
    },
    Receive {
        id: u64,
        from: Pattern,
        /// World rank of the source, if it is known.
        peer: Option<u32>,
        addr: u64,
        capacity: u64,
    },
    Cancel {
        id: u64,
        ticket: Ticket,
    },
    /// One round of progress, then a look for a message if there is a pattern.
    Progress {
        probe: Option<Pattern>,
        ticket: Ticket,
    },
    Compute {
        time: Duration,
        ticket: Ticket,
    },
    Work(Work),
}

/// What became of a call with a ticket.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Done,
    Cancelled(bool),
    Probed(Option<Status>),
}

/// What is known of a request.
#[derive(Debug)]
pub(super) enum Known {
    /// Not complete.
    Open,
    /// Not complete, and nobody will ask.
    Released,
    /// Complete.
    Complete(Result<Completion, MpiError>),
}

/// The state shared by a program and the executor.
#[derive(Debug)]
pub(super) struct Mailbox {
    pub(super) rank: u32,
    pub(super) ranks: u32,
    pub(super) eager: u64,
    pub(super) now: Instant,
    /// Number of the next request or ticket.
    next: u64,
    pub(super) calls: VecDeque<Call>,
    pub(super) requests: BTreeMap<u64, Known>,
    pub(super) answers: BTreeMap<Ticket, Answer>,
    /// What the program waits for, said anew at each poll.
    pub(super) awaited: Vec<u64>,
    pub(super) probes: Vec<Pattern>,
    /// What probes found just before this poll.
    pub(super) found: Vec<(Pattern, Status)>,
    pub(super) heap: Heap,
    /// Ranks whose links are closed, and how many of them the program was waked for.
    pub(super) closed: Vec<u32>,
    pub(super) told: usize,
}

impl Mailbox {
    pub(super) fn new(rank: u32, ranks: u32, eager: u64, heap: Heap) -> Self {
        Self {
            rank,
            ranks,
            eager,
            now: Instant::ZERO,
            next: 0,
            calls: VecDeque::new(),
            requests: BTreeMap::new(),
            answers: BTreeMap::new(),
            awaited: Vec::new(),
            probes: Vec::new(),
            found: Vec::new(),
            heap,
            closed: Vec::new(),
            told: 0,
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A new request with memory of its own.
    pub(super) fn open(&mut self, bytes: u64) -> Result<(u64, u64), MpiError> {
        let limit = self.heap.size();
        let addr = self.heap.take(bytes).ok_or(MpiError::Resource { limit })?;
        let id = self.number();
        self.requests.insert(id, Known::Open);
        Ok((id, addr))
    }

    /// The result of a request, once.
    pub(super) fn take(&mut self, id: RequestId) -> Option<Result<Completion, MpiError>> {
        let unknown = MpiError::InvalidRequest { request: id };
        match self.requests.get(&id.0) {
            Some(Known::Open) => None,
            Some(Known::Complete(_)) => match self.requests.remove(&id.0) {
                Some(Known::Complete(result)) => Some(result),
                _ => Some(Err(unknown)),
            },
            Some(Known::Released) | None => Some(Err(unknown)),
        }
    }

    pub(super) fn release(&mut self, id: RequestId) {
        match self.requests.get_mut(&id.0) {
            Some(known @ Known::Open) => *known = Known::Released,
            Some(Known::Complete(_)) => {
                self.requests.remove(&id.0);
            }
            Some(Known::Released) | None => {}
        }
    }

    /// A request is complete.
    pub(super) fn complete(&mut self, id: u64, result: Result<Completion, MpiError>) {
        match self.requests.get_mut(&id) {
            Some(known @ Known::Open) => *known = Known::Complete(result),
            Some(Known::Released) => {
                self.requests.remove(&id);
            }
            Some(Known::Complete(_)) | None => {}
        }
    }
}

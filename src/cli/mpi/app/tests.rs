//! That wrong bytes are found.

use core::future::Future;
use core::task::{Context, Poll};
use std::cell::Cell;
use std::rc::Rc;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

use super::collective::expected;
use super::run::{RankError, Report, rank};
use super::{parse, verdict};
use crate::cli::mpi::kernels::Collective;
use crate::mpi::api::Algorithms;
use crate::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, Status, Work,
};
use crate::mpi::reference::{Local, ReferenceConfig, run};
use crate::time::{Duration, Instant};

/// A process whose messages with data, of collectives or others, are counted; one of
/// them loses a bit.
#[derive(Clone)]
struct Spoiled {
    inner: Local,
    internal: bool,
    left: Rc<Cell<u32>>,
}

impl PointToPoint for Spoiled {
    fn world_rank(&self) -> u32 {
        self.inner.world_rank()
    }

    fn world_size(&self) -> u32 {
        self.inner.world_size()
    }

    fn isend(&self, to: Outgoing, mut data: Vec<u8>) -> Result<RequestId, MpiError> {
        if let Some(byte) = data.last_mut()
            && to.internal == self.internal
        {
            let left = self.left.get();
            self.left.set(left.wrapping_sub(1));
            if left == 0 {
                *byte ^= 0x20;
            }
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

/// Runs a program whose message `spoiled` (of collectives, or of others) is not right.
fn play(text: &str, internal: bool, spoiled: u32) -> (String, Vec<String>) {
    let program = parse::program(text, None).unwrap();
    let left = Rc::new(Cell::new(spoiled));
    let results = run(program.ranks, ReferenceConfig::default(), |inner| {
        let left = Rc::clone(&left);
        let process = Spoiled {
            inner,
            internal,
            left,
        };
        rank(process, program.clone(), Algorithms::default())
    });
    verdict(results.unwrap(), &expected(&program))
}

const NEVER: u32 = u32::MAX;

#[test]
fn a_wrong_byte_in_any_collective_is_found() {
    for which in Collective::ALL {
        if !which.has_sizes() {
            continue;
        }
        // The root of the second call gets, or has, other data than in the first.
        let operation = match which {
            Collective::Bcast
            | Collective::Reduce
            | Collective::Gather
            | Collective::Gatherv
            | Collective::Scatter
            | Collective::Scatterv => format!("{} 1 24", which.name()),
            _ => format!("{} 24", which.name()),
        };
        let Ok(_) = parse::program(&format!("ranks 5\nall {operation}"), None) else {
            continue;
        };
        let text = format!("ranks 5\nall {operation}\nall barrier\nall {operation}\n");
        let (line, wrong) = play(&text, true, NEVER);
        assert_eq!(wrong, Vec::<String>::new(), "{text}");
        assert!(line.contains("results of 15 collective calls"), "{line}");
        // The very first message, and one of those in the middle.
        for spoiled in [0, 3] {
            let (_, wrong) = play(&text, true, spoiled);
            let name = format!("what {} (its collective call 1)", which.name());
            assert!(wrong.iter().any(|w| w.contains(&name)), "{text}: {wrong:?}");
        }
    }
}

#[test]
fn a_wrong_byte_of_a_message_is_found_and_others_do_not_wait_for_who_found_it() {
    let text = "ranks 3\nrepeat 2\nall sendrecv +1 -1 64\nend\nall allreduce 8\n";
    let (line, wrong) = play(text, false, NEVER);
    assert_eq!(wrong, Vec::<String>::new());
    let expected = "checked: bytes of 6 messages, results of 3 collective calls of ranks \
                    against the reference";
    assert_eq!(line, expected);
    let (line, wrong) = play(text, false, 2);
    assert_eq!(
        wrong,
        ["rank 2: byte 63 of a message from rank 1 is not as sent"]
    );
    assert!(line.contains("results of 2 collective calls"), "{line}");
}

#[test]
fn a_program_that_the_reference_does_not_end_is_not_compared() {
    // What a probe-free receive from any rank gets is left open.
    let program = parse::program("ranks 2\nall recv any 10\nall barrier\n", None).unwrap();
    let expected = expected(&program);
    let results: Vec<Result<Report, RankError>> = vec![];
    let (line, _) = verdict(results, &expected);
    assert_eq!(
        line,
        "checked: bytes of 0 messages; collective calls were not, the reference does not \
         end: no rank can move, waiting: [0, 1]"
    );
}

//! Nanoseconds that matching takes for a message, while many receives wait.
//!
//! Each message goes to one of the waiting receives, and that receive is posted
//! again, so that as many wait at any time. Then the other way round: messages
//! wait, receives come. The same traffic runs through the indexed matcher and
//! through a plain list; the check sum over who got what has to be the same.
//!
//! `cargo bench --bench mpi`; a number behind `--` sets how many wait.

use std::hint::black_box;

use multipc::mpi::matching::{
    Arrived, Envelope, Matcher, Pattern, Posted, PostedCell, UnexpectedCell,
};

mod common;

use common::{Fnv, Random, Stopwatch};

const WAITING: usize = 10_000;
const MESSAGES: usize = 1 << 18;
const ROUNDS: u32 = 5;
/// What a message may take, in nanoseconds.
const LIMIT: f64 = 1000.0;

/// What the receives name and in which order the messages come.
#[derive(Clone, Copy)]
enum Traffic {
    /// All different, messages in random order.
    Distinct,
    /// All alike: the first one matches.
    Alike,
    /// 64 sources, 16 tags, one in eight of any source, one of any tag, one of
    /// both.
    Wildcards,
}

/// Where messages wait for receives, and receives for messages.
trait Queues {
    fn post(&mut self, pattern: Pattern, receive: u32) -> Option<u32>;
    fn arrive(&mut self, envelope: Envelope, message: u32) -> Option<(Pattern, u32)>;
}

#[derive(Default)]
struct PlainList {
    posted: Vec<(Pattern, u32)>,
    unexpected: Vec<(Envelope, u32)>,
}

impl Queues for PlainList {
    fn post(&mut self, pattern: Pattern, receive: u32) -> Option<u32> {
        let mut waiting = self.unexpected.iter();
        match waiting.position(|(envelope, _)| pattern.matches(envelope)) {
            Some(at) => Some(self.unexpected.remove(at).1),
            None => {
                self.posted.push((pattern, receive));
                None
            }
        }
    }

    fn arrive(&mut self, envelope: Envelope, message: u32) -> Option<(Pattern, u32)> {
        let mut waiting = self.posted.iter();
        match waiting.position(|(pattern, _)| pattern.matches(&envelope)) {
            Some(at) => Some(self.posted.remove(at)),
            None => {
                self.unexpected.push((envelope, message));
                None
            }
        }
    }
}

impl Queues for Matcher<'_, u32, u32> {
    fn post(&mut self, pattern: Pattern, receive: u32) -> Option<u32> {
        match Matcher::post(self, pattern, receive).expect("room") {
            Posted::Waits(_) => None,
            Posted::Matched { message, .. } => Some(message),
        }
    }

    fn arrive(&mut self, envelope: Envelope, message: u32) -> Option<(Pattern, u32)> {
        match Matcher::arrive(self, envelope, message).expect("room") {
            Arrived::Unexpected(_) => None,
            Arrived::Matched {
                pattern, receive, ..
            } => Some((pattern, receive)),
        }
    }
}

fn envelope(traffic: Traffic, random: &mut Random, receives: usize) -> Envelope {
    let (source, tag) = match traffic {
        Traffic::Distinct => {
            let which = random.below(receives as u64) as u32;
            (which % 64, (which / 64) as i32)
        }
        Traffic::Alike => (3, 5),
        Traffic::Wildcards => (random.below(64) as u32, random.below(16) as i32),
    };
    Envelope {
        context: 2,
        source,
        tag,
    }
}

fn pattern(traffic: Traffic, random: &mut Random, number: usize, receives: usize) -> Pattern {
    let (source, tag) = (number as u32 % 64, (number / 64) as i32);
    let exact = Envelope {
        context: 2,
        source,
        tag,
    };
    match traffic {
        Traffic::Distinct => exact.into(),
        Traffic::Alike => envelope(traffic, random, receives).into(),
        Traffic::Wildcards => {
            let one = Pattern::from(envelope(traffic, random, receives));
            match random.below(8) {
                0 => Pattern {
                    source: None,
                    ..one
                },
                1 => Pattern { tag: None, ..one },
                2 => Pattern {
                    source: None,
                    tag: None,
                    ..one
                },
                _ => one,
            }
        }
    }
}

/// Nanoseconds a message, and the check sum over who got what.
fn receives_wait(queues: &mut dyn Queues, case: &Case, messages: usize) -> (f64, Fnv) {
    let &Case {
        traffic, waiting, ..
    } = case;
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for number in 0..waiting {
        let pattern = pattern(traffic, &mut random, number, waiting);
        queues.post(pattern, number as u32);
    }
    let draw = |_| envelope(traffic, &mut random, waiting);
    let script: Vec<_> = (0..messages).map(draw).collect();
    let mut sum = Fnv::NEW;
    let begin = Stopwatch::start();
    for (message, envelope) in script.iter().enumerate() {
        match black_box(queues.arrive(*envelope, message as u32)) {
            Some((pattern, receive)) => {
                sum.add(u64::from(receive));
                queues.post(pattern, receive);
            }
            None => sum.add(u64::MAX),
        }
    }
    (begin.seconds() * 1e9 / messages as f64, sum)
}

/// The same with messages that wait; each is followed by a new one of the same
/// envelope.
fn messages_wait(queues: &mut dyn Queues, case: &Case, messages: usize) -> (f64, Fnv) {
    let &Case {
        traffic, waiting, ..
    } = case;
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let draw = |_| envelope(traffic, &mut random, waiting);
    let envelopes: Vec<_> = (0..waiting).map(draw).collect();
    for (message, envelope) in envelopes.iter().enumerate() {
        queues.arrive(*envelope, message as u32);
    }
    let draw = |_| match traffic {
        Traffic::Wildcards => pattern(traffic, &mut random, 0, waiting),
        _ => envelopes[random.below(waiting as u64) as usize].into(),
    };
    let script: Vec<_> = (0..messages).map(draw).collect();
    let mut sum = Fnv::NEW;
    let begin = Stopwatch::start();
    for (receive, pattern) in script.iter().enumerate() {
        match black_box(queues.post(*pattern, receive as u32)) {
            Some(message) => {
                sum.add(u64::from(message));
                queues.arrive(envelopes[message as usize], message);
            }
            None => sum.add(u64::MAX),
        }
    }
    (begin.seconds() * 1e9 / messages as f64, sum)
}

struct Case {
    name: &'static str,
    traffic: Traffic,
    run: fn(&mut dyn Queues, &Self, usize) -> (f64, Fnv),
    waiting: usize,
}

fn bench(case: &Case) {
    let name = case.name;
    // The list is asked fewer messages; the index is held against it there.
    let few = MESSAGES / 64;
    let (list, expected) = (case.run)(&mut PlainList::default(), case, few);
    let places = case.waiting + MESSAGES;
    let mut posted: Vec<PostedCell<u32>> = Vec::new();
    posted.resize_with(places, PostedCell::default);
    let mut unexpected: Vec<UnexpectedCell<u32>> = Vec::new();
    unexpected.resize_with(places, UnexpectedCell::default);
    let mut indexed = |messages| {
        let mut matcher = Matcher::new(&mut posted[..], &mut unexpected[..]);
        (case.run)(&mut matcher, case, messages)
    };
    let (_, same) = indexed(few);
    assert_eq!(same, expected, "{name}: not the partners of the plain list");
    // Best of the rounds: the others were disturbed.
    let (mut best, sum) = indexed(MESSAGES);
    for _ in 1..ROUNDS {
        let (time, again) = indexed(MESSAGES);
        assert_eq!(again, sum, "{name}: another run, other partners");
        best = best.min(time);
    }
    println!(
        "{name:<32} {best:7.1} ns/message  plain list {list:9.1} ns/message  ratio {:6.1}  checksum {:016x}",
        list / best,
        sum.0,
    );
    if case.waiting <= WAITING {
        assert!(best <= LIMIT, "{name}: {best} ns, at most {LIMIT}");
    }
}

fn main() {
    let waiting = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(WAITING);
    println!(
        "matching, {waiting} waiting, {MESSAGES} messages (plain list {}), best of {ROUNDS}",
        MESSAGES / 64
    );
    for (name, traffic, run) in [
        (
            "receives wait, all different",
            Traffic::Distinct,
            receives_wait as fn(&mut dyn Queues, &Case, usize) -> (f64, Fnv),
        ),
        ("receives wait, all alike", Traffic::Alike, receives_wait),
        (
            "receives wait, wildcards",
            Traffic::Wildcards,
            receives_wait,
        ),
        (
            "messages wait, all different",
            Traffic::Distinct,
            messages_wait,
        ),
        ("messages wait, all alike", Traffic::Alike, messages_wait),
        (
            "messages wait, wildcards",
            Traffic::Wildcards,
            messages_wait,
        ),
    ] {
        bench(&Case {
            name,
            traffic,
            run,
            waiting,
        });
    }
    println!(
        "bytes of a place: posted {}, unexpected {} (known by a u32)",
        size_of::<PostedCell<u32>>(),
        size_of::<UnexpectedCell<u32>>()
    );
}

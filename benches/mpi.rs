//! Nanoseconds that matching takes for a message, with many receives waiting.
//!
//! Each message goes to one of the waiting receives, and that receive is posted
//! again, so that as many wait at any time. The same traffic runs through the
//! indexed matcher and through a plain list; the check sum over who got what
//! has to be the same.
//!
//! `cargo bench --bench mpi`; a number behind `--` sets the receives.

use std::hint::black_box;

use multipc::mpi::matching::{
    Arrived, Envelope, Matcher, Pattern, Posted, PostedCell, UnexpectedCell,
};

mod common;

use common::{Fnv, Random, Stopwatch};

const RECEIVES: usize = 10_000;
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
fn run(queues: &mut dyn Queues, traffic: Traffic, receives: usize, messages: usize) -> (f64, Fnv) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for number in 0..receives {
        let pattern = pattern(traffic, &mut random, number, receives);
        queues.post(pattern, number as u32);
    }
    let script: Vec<_> = (0..messages)
        .map(|_| envelope(traffic, &mut random, receives))
        .collect();
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

fn bench(name: &str, traffic: Traffic, receives: usize) {
    // The list is asked fewer messages; the index is held against it there.
    let few = MESSAGES / 64;
    let (list, expected) = run(&mut PlainList::default(), traffic, receives, few);
    let mut posted: Vec<PostedCell<u32>> = Vec::new();
    posted.resize_with(receives, PostedCell::default);
    let mut unexpected: Vec<UnexpectedCell<u32>> = Vec::new();
    unexpected.resize_with(MESSAGES, UnexpectedCell::default);
    let mut indexed = |messages| {
        let mut matcher = Matcher::new(&mut posted[..], &mut unexpected[..]);
        run(&mut matcher, traffic, receives, messages)
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
        "{name:<24} {best:7.1} ns/message  plain list {list:9.1} ns/message  ratio {:6.1}  checksum {:016x}",
        list / best,
        sum.0,
    );
    if receives <= RECEIVES {
        assert!(best <= LIMIT, "{name}: {best} ns, at most {LIMIT}");
    }
}

fn main() {
    let receives = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(RECEIVES);
    println!(
        "matching, {receives} receives waiting, {MESSAGES} messages (plain list {}), best of {ROUNDS}",
        MESSAGES / 64
    );
    bench("all different", Traffic::Distinct, receives);
    bench("all alike", Traffic::Alike, receives);
    bench("with wildcards", Traffic::Wildcards, receives);
    println!(
        "bytes of a place: posted {}, unexpected {} (known by a u32)",
        size_of::<PostedCell<u32>>(),
        size_of::<UnexpectedCell<u32>>()
    );
}

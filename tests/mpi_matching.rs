//! The indexed matcher against two plain lists: the same partner, always.

use multipc::mpi::matching::{
    Arrived, Envelope, Handle, MatchError, Matcher, Pattern, Posted, PostedCell, UnexpectedCell,
};
use proptest::prelude::*;

const PLACES: usize = 12;

/// What the standard says, in the shortest form.
#[derive(Default)]
struct PlainList {
    posted: Vec<(Pattern, usize)>,
    unexpected: Vec<(Envelope, usize)>,
}

impl PlainList {
    fn post(&mut self, pattern: Pattern, receive: usize) -> Result<Option<usize>, ()> {
        match self.place(&pattern) {
            Some(at) => Ok(Some(self.unexpected.remove(at).1)),
            None if self.posted.len() == PLACES => Err(()),
            None => {
                self.posted.push((pattern, receive));
                Ok(None)
            }
        }
    }

    fn arrive(&mut self, envelope: Envelope, message: usize) -> Result<Option<usize>, ()> {
        let mut posted = self.posted.iter();
        match posted.position(|(pattern, _)| pattern.matches(&envelope)) {
            Some(at) => Ok(Some(self.posted.remove(at).1)),
            None if self.unexpected.len() == PLACES => Err(()),
            None => {
                self.unexpected.push((envelope, message));
                Ok(None)
            }
        }
    }

    fn place(&self, pattern: &Pattern) -> Option<usize> {
        let mut unexpected = self.unexpected.iter();
        unexpected.position(|(envelope, _)| pattern.matches(envelope))
    }

    fn cancel(&mut self, receive: usize) -> bool {
        let before = self.posted.len();
        self.posted.retain(|(_, other)| *other != receive);
        self.posted.len() < before
    }

    fn discard(&mut self, message: usize) -> bool {
        let before = self.unexpected.len();
        self.unexpected.retain(|(_, other)| *other != message);
        self.unexpected.len() < before
    }
}

#[derive(Clone, Debug)]
enum Step {
    Post(Pattern),
    Arrive(Envelope),
    Probe(Pattern),
    Take(Pattern),
    Cancel(prop::sample::Index),
    Discard(prop::sample::Index),
}

/// Few values, so that they meet.
fn envelopes() -> impl Strategy<Value = Envelope> {
    (0..2_u32, 0..3_u32, -2..3_i32).prop_map(|(context, source, tag)| Envelope {
        context,
        source,
        tag,
    })
}

fn patterns() -> impl Strategy<Value = Pattern> {
    let rank = prop::option::weighted(0.6, 0..3_u32);
    let tag = prop::option::weighted(0.6, -2..3_i32);
    (0..2_u32, rank, tag).prop_map(|(context, source, tag)| Pattern {
        context,
        source,
        tag,
    })
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => patterns().prop_map(Step::Post),
        5 => envelopes().prop_map(Step::Arrive),
        1 => patterns().prop_map(Step::Probe),
        1 => patterns().prop_map(Step::Take),
        1 => any::<prop::sample::Index>().prop_map(Step::Cancel),
        1 => any::<prop::sample::Index>().prop_map(Step::Discard),
    ]
}

/// Handles given so far, with the number of what they name.
#[derive(Default)]
struct Names(Vec<(Handle, usize)>);

impl Names {
    fn pick(&self, index: prop::sample::Index) -> Option<(Handle, usize)> {
        (!self.0.is_empty()).then(|| self.0[index.index(self.0.len())])
    }
}

fn same_as_the_list(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut posted: [PostedCell<usize>; PLACES] = Default::default();
    let mut unexpected: [UnexpectedCell<usize>; PLACES] = Default::default();
    let mut matcher = Matcher::new(&mut posted[..], &mut unexpected[..]);
    let mut list = PlainList::default();
    let mut receives = Names::default();
    let mut messages = Names::default();
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Post(pattern) => {
                let outcome = match matcher.post(pattern, number) {
                    Ok(Posted::Waits(handle)) => {
                        receives.0.push((handle, number));
                        Ok(None)
                    }
                    Ok(Posted::Matched {
                        receive,
                        envelope,
                        message,
                    }) => {
                        prop_assert!(receive == number && pattern.matches(&envelope));
                        Ok(Some(message))
                    }
                    Err(error) => {
                        prop_assert_eq!(error, MatchError::PostedFull { capacity: PLACES });
                        Err(())
                    }
                };
                prop_assert_eq!(outcome, list.post(pattern, number));
            }
            Step::Arrive(envelope) => {
                let would = matcher.would_match(&envelope).map(|(_, receive)| *receive);
                let outcome = match matcher.arrive(envelope, number) {
                    Ok(Arrived::Unexpected(handle)) => {
                        messages.0.push((handle, number));
                        Ok(None)
                    }
                    Ok(Arrived::Matched {
                        message,
                        pattern,
                        receive,
                    }) => {
                        prop_assert!(message == number && pattern.matches(&envelope));
                        Ok(Some(receive))
                    }
                    Err(error) => {
                        prop_assert_eq!(error, MatchError::UnexpectedFull { capacity: PLACES });
                        Err(())
                    }
                };
                prop_assert_eq!(would, outcome.unwrap_or(None));
                prop_assert_eq!(outcome, list.arrive(envelope, number));
            }
            Step::Probe(pattern) => {
                let seen = matcher.probe(&pattern).map(|(e, m)| (*e, *m));
                let expected = list.place(&pattern).map(|at| list.unexpected[at]);
                prop_assert_eq!(seen, expected);
            }
            Step::Take(pattern) => {
                let expected = list.place(&pattern).map(|at| list.unexpected.remove(at));
                prop_assert_eq!(matcher.take(&pattern), expected);
            }
            Step::Cancel(index) => {
                if let Some((handle, receive)) = receives.pick(index) {
                    let done = list.cancel(receive);
                    prop_assert_eq!(matcher.cancel(handle), done.then_some(receive));
                }
            }
            Step::Discard(index) => {
                if let Some((handle, message)) = messages.pick(index) {
                    let done = list.discard(message);
                    let taken = matcher.discard(handle).map(|(_, message)| message);
                    prop_assert_eq!(taken, done.then_some(message));
                }
            }
        }
        prop_assert_eq!(matcher.posted_len(), list.posted.len());
        prop_assert_eq!(matcher.unexpected_len(), list.unexpected.len());
        prop_assert_eq!(matcher.posted_room(), PLACES - list.posted.len());
        let mut waiting: Vec<_> = matcher.unexpected().map(|(_, e, m)| (*e, *m)).collect();
        waiting.sort_by_key(|(_, message)| *message);
        prop_assert_eq!(&waiting, &list.unexpected);
        let mut waiting: Vec<_> = matcher.posted().map(|(_, p, r)| (*p, *r)).collect();
        waiting.sort_by_key(|(_, receive)| *receive);
        prop_assert_eq!(&waiting, &list.posted);
    }
    Ok(())
}

fn cases() -> u32 {
    match std::env::var_os("MULTIPC_LONG") {
        Some(_) => 100_000,
        None => 1_000,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn the_index_pairs_as_the_plain_list_does(steps in prop::collection::vec(steps(), 1..120)) {
        same_as_the_list(steps)?;
    }
}

/// Many chains of many entries: each bucket is used, in the middle too.
#[test]
fn ten_thousand_receives_and_messages_pair_in_order() {
    const MANY: u32 = 10_000;
    let mut posted: Vec<PostedCell<u32>> = (0..MANY).map(|_| PostedCell::EMPTY).collect();
    let mut unexpected: Vec<UnexpectedCell<u32>> =
        (0..MANY).map(|_| UnexpectedCell::EMPTY).collect();
    let mut matcher = Matcher::new(&mut posted[..], &mut unexpected[..]);
    // Four receives to an envelope, in a scattered order.
    let envelope = |i: u32| Envelope {
        context: i % 2500 % 7,
        source: i % 2500 / 50,
        tag: (i % 50) as i32,
    };
    for i in 0..MANY {
        let i = i * 7919 % MANY;
        let posted = matcher.post(envelope(i).into(), i);
        assert!(matches!(posted, Ok(Posted::Waits(_))));
    }
    let expected = |i: u32| {
        let order = (0..MANY).map(|k| k * 7919 % MANY);
        order
            .filter(|k| envelope(*k) == envelope(i))
            .collect::<Vec<_>>()
    };
    let mut scattered: Vec<_> = (0..2500).map(|i| i * 97 % 2500).collect();
    scattered.extend_from_within(..);
    for (round, i) in scattered.into_iter().enumerate() {
        // Two of the four at a time.
        let expected = &expected(i)[if round < 2500 { 0..2 } else { 2..4 }];
        for receive in expected {
            match matcher.arrive(envelope(i), i) {
                Ok(Arrived::Matched { receive: got, .. }) => assert_eq!(got, *receive),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((matcher.posted_len(), matcher.unexpected_len()), (0, 0));
}

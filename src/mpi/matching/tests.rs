use super::*;

fn envelope(source: u32, tag: i32) -> Envelope {
    Envelope {
        context: 2,
        source,
        tag,
    }
}

fn pattern(source: Option<u32>, tag: Option<i32>) -> Pattern {
    Pattern {
        context: 2,
        source,
        tag,
    }
}

/// Runs `body` on a matcher of four places each.
fn with_four(body: impl FnOnce(&mut Matcher<'_, u32, char>)) {
    let mut posted = [PostedCell::EMPTY; 4];
    let mut unexpected = [UnexpectedCell::EMPTY; 4];
    body(&mut Matcher::new(&mut posted[..], &mut unexpected[..]));
}

fn post(m: &mut Matcher<'_, u32, char>, pattern: Pattern, receive: u32) -> Option<char> {
    match m.post(pattern, receive).unwrap() {
        Posted::Waits(_) => None,
        Posted::Matched { message, .. } => Some(message),
    }
}

fn arrive(m: &mut Matcher<'_, u32, char>, envelope: Envelope, message: char) -> Option<u32> {
    match m.arrive(envelope, message).unwrap() {
        Arrived::Unexpected(_) => None,
        Arrived::Matched { receive, .. } => Some(receive),
    }
}

#[test]
fn the_earliest_posted_receive_gets_the_message_whatever_its_wildcards() {
    let patterns = [
        pattern(Some(1), Some(5)),
        pattern(None, Some(5)),
        pattern(Some(1), None),
        pattern(None, None),
    ];
    for first in 0..4 {
        with_four(|m| {
            for i in 0..4 {
                assert_eq!(post(m, patterns[(first + i) % 4], i as u32), None);
            }
            for i in 0..4 {
                assert_eq!(arrive(m, envelope(1, 5), 'x'), Some(i));
            }
            assert_eq!(arrive(m, envelope(1, 5), 'x'), None);
        });
    }
}

#[test]
fn a_receive_takes_the_earliest_message_that_matches() {
    with_four(|m| {
        for (source, tag, message) in [(1, 5, 'a'), (2, 5, 'b'), (1, 6, 'c'), (1, 5, 'd')] {
            assert_eq!(arrive(m, envelope(source, tag), message), None);
        }
        assert_eq!(post(m, pattern(Some(2), None), 0), Some('b'));
        assert_eq!(post(m, pattern(Some(1), Some(5)), 0), Some('a'));
        assert_eq!(post(m, pattern(None, Some(5)), 0), Some('d'));
        assert_eq!(post(m, pattern(None, None), 0), Some('c'));
        assert_eq!(post(m, pattern(None, None), 0), None);
    });
}

#[test]
fn any_tag_does_not_match_a_negative_tag() {
    with_four(|m| {
        assert_eq!(arrive(m, envelope(1, -1), 'a'), None);
        assert_eq!(post(m, pattern(None, None), 0), None);
        assert_eq!(post(m, pattern(Some(1), None), 1), None);
        assert_eq!(arrive(m, envelope(1, i32::MIN), 'b'), None);
        assert_eq!(post(m, pattern(None, Some(-1)), 2), Some('a'));
        assert_eq!(arrive(m, envelope(1, 0), 'c'), Some(0));
    });
    assert!(!pattern(None, None).matches(&envelope(1, -1)));
    assert!(pattern(None, Some(-1)).matches(&envelope(1, -1)));
}

#[test]
fn contexts_do_not_mix() {
    with_four(|m| {
        post(m, pattern(None, None), 0);
        let other = Envelope {
            context: 3,
            ..envelope(1, 5)
        };
        assert_eq!(arrive(m, other, 'a'), None);
        assert_eq!(m.probe(&pattern(None, None)), None);
        assert_eq!(m.probe(&other.into()), Some((&other, &'a')));
    });
}

#[test]
fn messages_of_one_source_do_not_overtake() {
    with_four(|m| {
        for message in ['a', 'b', 'c'] {
            arrive(m, envelope(1, 5), message);
        }
        let patterns = [
            pattern(None, Some(5)),
            pattern(Some(1), None),
            pattern(None, None),
        ];
        for (pattern, message) in patterns.into_iter().zip(['a', 'b', 'c']) {
            assert_eq!(m.probe(&pattern), Some((&envelope(1, 5), &message)));
            assert_eq!(post(m, pattern, 0), Some(message));
        }
    });
}

#[test]
fn a_cancelled_receive_leaves_its_message_to_the_next() {
    with_four(|m| {
        let Ok(Posted::Waits(first)) = m.post(pattern(Some(1), Some(5)), 1) else {
            panic!("matched nothing");
        };
        let Ok(Posted::Waits(second)) = m.post(pattern(None, Some(5)), 2) else {
            panic!("matched nothing");
        };
        assert_eq!(m.cancel(first), Some(1));
        assert_eq!(m.cancel(first), None, "once");
        assert_eq!(arrive(m, envelope(1, 5), 'a'), Some(2));
        assert_eq!(m.cancel(second), None, "matched");
        // Cells are used again; old handles name nothing.
        post(m, pattern(None, None), 3);
        post(m, pattern(None, None), 4);
        assert_eq!((m.cancel(first), m.cancel(second)), (None, None));
        assert_eq!(m.posted_len(), 2);
    });
}

#[test]
fn full_queues_say_so_and_still_match() {
    with_four(|m| {
        for i in 0..4 {
            post(m, pattern(Some(9), Some(i)), 0);
            arrive(m, envelope(1, i), 'a');
        }
        assert_eq!((m.posted_room(), m.unexpected_room()), (0, 0));
        let error = MatchError::PostedFull { capacity: 4 };
        assert_eq!(m.post(pattern(Some(8), None), 0), Err(error));
        let error = MatchError::UnexpectedFull { capacity: 4 };
        assert_eq!(m.arrive(envelope(8, 0), 'b'), Err(error));
        assert_eq!(post(m, pattern(Some(1), Some(2)), 7), Some('a'));
        assert_eq!(arrive(m, envelope(9, 3), 'b'), Some(0));
        assert_eq!((m.posted_len(), m.unexpected_len()), (3, 3));
    });
}

#[test]
fn no_cells_is_full_from_the_start() {
    let mut posted: [PostedCell<()>; 0] = [];
    let mut unexpected: [UnexpectedCell<()>; 0] = [];
    let mut m = Matcher::new(&mut posted[..], &mut unexpected[..]);
    let capacity = 0;
    let error = MatchError::PostedFull { capacity };
    assert_eq!(m.post(pattern(None, None), ()), Err(error));
    let error = MatchError::UnexpectedFull { capacity };
    assert_eq!(m.arrive(envelope(0, 0), ()), Err(error));
    assert_eq!(m.probe(&pattern(None, None)), None);
}

#[test]
fn waiting_entries_are_listed_and_discarded() {
    with_four(|m| {
        arrive(m, envelope(1, 5), 'a');
        let Ok(Arrived::Unexpected(handle)) = m.arrive(envelope(2, 5), 'b') else {
            panic!("matched nothing");
        };
        *m.unexpected_mut(handle).expect("waiting") = 'B';
        assert_eq!(m.unexpected().map(|(_, _, m)| *m).max(), Some('a'));
        assert!(
            m.unexpected()
                .any(|(h, e, m)| h == handle && e.source == 2 && *m == 'B')
        );
        assert_eq!(m.discard(handle), Some((envelope(2, 5), 'B')));
        assert_eq!((m.discard(handle), m.unexpected_mut(handle)), (None, None));
        post(m, pattern(Some(4), None), 7);
        assert!(
            m.posted()
                .map(|(_, p, r)| (*p, *r))
                .eq([(pattern(Some(4), None), 7)])
        );
        assert_eq!(
            m.would_match(&envelope(4, 1)),
            Some((&pattern(Some(4), None), &7))
        );
        assert_eq!(m.would_match(&envelope(5, 1)), None);
    });
}

#[test]
fn used_cells_are_emptied_by_a_new_matcher() {
    let mut posted = [PostedCell::EMPTY; 2];
    let mut unexpected = [UnexpectedCell::EMPTY; 2];
    Matcher::new(&mut posted[..], &mut unexpected[..])
        .arrive(envelope(1, 1), 'a')
        .unwrap();
    let mut m: Matcher<'_, u32, char> = Matcher::new(&mut posted[..], &mut unexpected[..]);
    assert_eq!(
        (m.unexpected_len(), m.take(&pattern(None, None))),
        (0, None)
    );
    assert_eq!(arrive(&mut m, envelope(1, 1), 'b'), None);
}

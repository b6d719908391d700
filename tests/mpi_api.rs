//! Point-to-point calls and layouts, over the in-memory reference.
#![cfg(feature = "alloc")]

mod common;

use std::future::Future;

use multipc::mpi::api::{
    ANY_SOURCE, ANY_TAG, Communicator, Layout, PROC_NULL, Peer, Status, Tag, complete_all, testall,
    testany, waitall, waitany,
};
use multipc::mpi::process::{MpiError, PointToPoint, RequestId};
use multipc::mpi::reference::{Local, ReferenceConfig, ReferenceError, run};
use multipc::time::{Duration, Instant};
use proptest::prelude::*;

type Comm = Communicator<Local>;

fn attempt<R, F, Fut>(size: u32, seed: Option<u64>, program: F) -> Result<Vec<R>, ReferenceError>
where
    R: 'static,
    F: Fn(Comm) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<R, MpiError>> + 'static,
{
    let mut config = ReferenceConfig::default();
    config.seed = seed;
    let results = run(size, config, |process| {
        let program = program.clone();
        async move { program(Communicator::world(process)).await }
    })?;
    Ok(results.into_iter().map(|r| r.expect("a rank")).collect())
}

fn world<R, F, Fut>(size: u32, seed: Option<u64>, program: F) -> Vec<R>
where
    R: 'static,
    F: Fn(Comm) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<R, MpiError>> + 'static,
{
    attempt(size, seed, program).unwrap_or_else(|error| panic!("{error}"))
}

fn from(source: u32, tag: i32, length: u64) -> Status {
    Status {
        source: Peer::Rank(source),
        tag: Tag::Value(tag),
        length,
    }
}

#[test]
fn messages_of_one_sender_do_not_overtake_each_other() {
    for seed in 0..30 {
        let results = world(2, Some(seed), |comm| async move {
            if comm.rank() == 0 {
                for i in 0..20u32 {
                    comm.send(&[i], 1, (i % 3) as i32).await?;
                }
                return Ok(vec![]);
            }
            let mut got = vec![];
            for _ in 0..6 {
                got.push(comm.recv::<u32>(1, 0, 2).await?.0[0]);
            }
            for _ in 0..14 {
                got.push(comm.recv::<u32>(1, ANY_SOURCE, ANY_TAG).await?.0[0]);
            }
            Ok(got)
        });
        let expected: Vec<u32> = (0..20)
            .filter(|i| i % 3 == 2)
            .chain((0..20).filter(|i| i % 3 != 2))
            .collect();
        assert_eq!(results[1], expected);
    }
}

#[test]
fn the_earliest_posted_receive_that_matches_takes_the_message() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            comm.barrier().await?;
            for (value, tag) in [(10u8, 1), (11, 2), (12, 1), (13, 2)] {
                comm.send(&[value], 1, tag).await?;
            }
            return Ok(vec![]);
        }
        let receives = [
            comm.irecv::<u8>(1, 0, 2)?,
            comm.irecv::<u8>(1, ANY_SOURCE, ANY_TAG)?,
            comm.irecv::<u8>(1, 0, ANY_TAG)?,
            comm.irecv::<u8>(1, ANY_SOURCE, 2)?,
        ];
        comm.barrier().await?;
        let got = waitall(receives).await?;
        Ok(got
            .into_iter()
            .map(|(data, status)| (data[0], status))
            .collect())
    });
    let expected = [
        (11, from(0, 2, 1)),
        (10, from(0, 1, 1)),
        (12, from(0, 1, 1)),
        (13, from(0, 2, 1)),
    ];
    assert_eq!(results[1], expected);
}

#[test]
fn a_longer_message_is_truncated_and_the_next_one_is_whole() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            for value in [1u16, 2, 3] {
                comm.send(&[value; 5], 1, 0).await?;
            }
            return Ok((None, [9; 3], None, vec![]));
        }
        let short = comm.recv::<u16>(3, 0, 0).await;
        let mut buffer = [9u16; 3];
        let into = comm.recv_into(&mut buffer, 0, 0).await;
        let whole = comm.recv::<u16>(5, 0, 0).await?;
        Ok((Some(short), buffer, Some(into), whole.0))
    });
    let truncate = MpiError::Truncate {
        total: 10,
        capacity: 6,
    };
    let (short, buffer, into, whole) = &results[1];
    assert_eq!(*short, Some(Err(truncate)));
    assert_eq!((*buffer, *into), ([2; 3], Some(Err(truncate))));
    assert_eq!(*whole, [3; 5]);
}

#[test]
fn a_shorter_message_says_its_length_and_leaves_the_rest() {
    let results = world(2, None, |comm| async move {
        let mut buffer = [7u32; 4];
        if comm.rank() == 0 {
            comm.send(&[1u32, 2], 1, 3).await?;
            comm.send::<u32>(&[], 1, 4).await?;
            return Ok((Status::NULL, Status::NULL, buffer));
        }
        let two = comm.recv_into(&mut buffer, 0, 3).await?;
        let (data, none) = comm.recv::<u32>(4, 0, 4).await?;
        assert!(data.is_empty());
        Ok((two, none, buffer))
    });
    let (two, none, buffer) = results[1];
    assert_eq!((two, none), (from(0, 3, 8), from(0, 4, 0)));
    assert_eq!(
        (two.count::<u32>(), two.count::<[u8; 3]>()),
        (Some(2), None)
    );
    assert_eq!(buffer, [1, 2, 7, 7]);
}

#[test]
fn bytes_that_are_no_whole_elements_are_an_error() {
    let results = world(1, None, |comm| async move {
        comm.send(&[1u8, 2, 3], 0, 0).await?;
        Ok(comm.recv::<u16>(2, 0, 0).await)
    });
    let expected = MpiError::PartialElement {
        length: 3,
        element: 2,
    };
    assert_eq!(results[0], Err(expected));
}

#[test]
fn nobody_takes_everything_and_gives_nothing_at_once() {
    let results = world(1, None, |comm| async move {
        comm.send(&[1u8; 100_000], PROC_NULL, 0).await?;
        comm.ssend(&[1u8], PROC_NULL, 0).await?;
        let (data, status) = comm.recv::<u8>(10, PROC_NULL, ANY_TAG).await?;
        assert!(data.is_empty());
        let probed = comm.probe(PROC_NULL, 3).await?;
        let (_, both) = comm
            .sendrecv::<u8, u8>(&[1], PROC_NULL, 0, 1, PROC_NULL, 0)
            .await?;
        let mut buffer = [5u8];
        let into = comm.recv_into(&mut buffer, PROC_NULL, 0).await?;
        assert_eq!(buffer, [5]);
        Ok([status, probed, both, into])
    });
    assert_eq!(results[0], [Status::NULL; 4]);
}

#[test]
fn wrong_ranks_and_tags_are_refused() {
    world(2, None, |comm| async move {
        let rank = MpiError::InvalidRank { rank: 2, size: 2 };
        let tag = MpiError::InvalidTag { tag: -1 };
        assert_eq!(comm.send(&[0u8], 2, 0).await, Err(rank));
        assert_eq!(comm.send(&[0u8], 1, -1).await, Err(tag));
        assert_eq!(comm.recv::<u8>(1, 2, 0).await, Err(rank));
        assert_eq!(comm.recv::<u8>(1, 1, -1).await, Err(tag));
        assert_eq!(comm.probe(2, 0).await, Err(rank));
        assert_eq!(comm.iprobe(ANY_SOURCE, -1).await, Err(tag));
        let long = comm.irecv::<u64>(usize::MAX, 0, 0).map(drop);
        assert!(matches!(long, Err(MpiError::TooLong { .. })));
        Ok(())
    });
}

#[test]
fn a_synchronous_send_waits_for_its_receive() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            let mut standard = comm.isend(&[1u8], 1, 0)?;
            let mut synchronous = comm.issend(&[2u8], 1, 0)?;
            let early = (
                standard.test().await.is_some(),
                synchronous.test().await.is_some(),
            );
            comm.barrier().await?;
            synchronous.wait().await?;
            return Ok(early);
        }
        comm.barrier().await?;
        comm.recv::<u8>(1, 0, 0).await?;
        comm.recv::<u8>(1, 0, 0).await?;
        Ok((true, false))
    });
    assert_eq!(results[0], (true, false));
}

#[test]
fn a_probe_sees_unmatched_messages_and_leaves_them() {
    for seed in 0..20 {
        let results = world(2, Some(seed), |comm| async move {
            if comm.rank() == 0 {
                comm.send(&[1u8; 4], 1, 8).await?;
                comm.send(&[2u8; 6], 1, 9).await?;
                return Ok(vec![]);
            }
            // Takes the first message, so that no probe sees it.
            let first = comm.irecv::<u8>(4, 0, 8)?;
            let probed = comm.probe(ANY_SOURCE, ANY_TAG).await?;
            let again = comm.probe(0, 9).await?;
            let polled = comm.iprobe(0, ANY_TAG).await?;
            let (data, status) = comm.recv_probed::<u8>(0, ANY_TAG).await?;
            assert_eq!(data, [2; 6]);
            assert_eq!(comm.iprobe(0, ANY_TAG).await?, None);
            first.wait().await?;
            Ok(vec![Some(probed), Some(again), polled, Some(status)])
        });
        assert_eq!(results[1], [Some(from(0, 9, 6)); 4]);
    }
}

#[test]
fn a_cancelled_receive_leaves_its_message_to_the_next_one() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            comm.barrier().await?;
            comm.send(&[5u8], 1, 0).await?;
            return Ok((true, false, Ok(vec![]), vec![]));
        }
        let first = comm.irecv::<u8>(1, 0, 0)?;
        let second = comm.irecv::<u8>(1, 0, 0)?;
        let cancelled = first.cancel().await;
        comm.barrier().await?;
        let got = second.wait().await?;
        // Matched: too late.
        comm.send(&[6u8], 1, 1).await?;
        let third = comm.irecv::<u8>(1, 1, 1)?;
        let late = third.cancel().await;
        let other = third.wait().await?;
        let first = first.wait().await.map(|(data, _)| data);
        assert_eq!(other.0, [6]);
        Ok((cancelled, late, first, got.0))
    });
    let expected = (true, false, Err(MpiError::Cancelled), vec![5]);
    assert_eq!(results[1], expected);
}

#[test]
fn a_message_to_self_needs_no_second_rank() {
    let results = world(1, None, |comm| async move {
        comm.send(&[1u8], 0, 0).await?;
        let (eager, _) = comm.recv::<u8>(1, 0, 0).await?;
        let receive = comm.irecv::<u8>(100_000, ANY_SOURCE, 1)?;
        comm.send(&[2u8; 100_000], 0, 1).await?;
        let (long, status) = receive.wait().await?;
        assert_eq!(long, [2; 100_000]);
        Ok((eager, status))
    });
    assert_eq!(results[0], (vec![1], from(0, 1, 100_000)));
}

#[test]
fn a_blocking_message_to_self_that_would_never_end_is_an_error() {
    let results = world(1, None, |comm| async move {
        let long = comm.send(&[0u8; 16_349], 0, 0).await;
        let synchronous = comm.ssend(&[0u8; 3], 0, 0).await;
        let fits = comm.send(&[0u8; 16_348], 0, 0).await;
        Ok((long, synchronous, fits))
    });
    let error = |length, limit| Err(MpiError::SelfDeadlock { length, limit });
    let expected = (error(16_349, 16_348), error(3, 0), Ok(()));
    assert_eq!(results[0], expected);
}

#[test]
fn waitany_gives_what_is_complete_and_passes_over_what_was_taken() {
    let results = world(3, Some(7), |comm| async move {
        if comm.rank() > 0 {
            // In turns: rank 2 first.
            match comm.rank() {
                1 => comm.recv::<u8>(0, 2, 1).await?,
                _ => comm.recv::<u8>(0, 0, 2).await?,
            };
            comm.send(&[comm.rank()], 0, 0).await?;
            if comm.rank() == 2 {
                comm.recv::<u8>(0, 0, 1).await?;
                comm.send::<u8>(&[], 1, 1).await?;
            }
            return Ok(vec![]);
        }
        let mut one = comm.irecv::<u32>(1, 1, 0)?;
        let mut two = comm.irecv::<u32>(1, 2, 0)?;
        let mut done = comm.isend(&[0u8; 0], PROC_NULL, 0)?;
        let mut order = vec![waitany(&mut [&mut one, &mut two, &mut done]).await];
        done.test().await.transpose()?;
        comm.send::<u8>(&[], 2, 2).await?;
        order.push(waitany(&mut [&mut one, &mut two, &mut done]).await);
        two.test().await.transpose()?;
        comm.send::<u8>(&[], 2, 1).await?;
        order.push(waitany(&mut [&mut one, &mut two, &mut done]).await);
        one.test().await.transpose()?;
        order.push(waitany(&mut [&mut one, &mut two, &mut done]).await);
        // A request that was tested to its end is done with.
        let invalid = MpiError::InvalidRequest {
            request: RequestId(u64::MAX),
        };
        assert_eq!(one.wait().await, Err(invalid));
        Ok(order)
    });
    assert_eq!(results[0], [Some(2), Some(1), Some(0), None]);
}

#[test]
fn testall_and_testany_wait_for_nothing() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            comm.barrier().await?;
            comm.send(&[4u8], 1, 1).await?;
            comm.barrier().await?;
            comm.recv::<u8>(0, 1, 2).await?;
            comm.send(&[3u8], 1, 0).await?;
            return Ok(vec![]);
        }
        let mut requests = [comm.irecv::<u8>(1, 0, 0)?, comm.irecv::<u8>(1, 0, 1)?];
        let mut seen = vec![(testany(&mut requests).await, testall(&mut requests).await)];
        comm.barrier().await?;
        comm.barrier().await?;
        seen.push((testany(&mut requests).await, testall(&mut requests).await));
        comm.send::<u8>(&[], 0, 2).await?;
        while !testall(&mut requests).await {}
        let [first, second] = &mut requests;
        complete_all(&mut [first, second]).await;
        seen.push((testany(&mut requests).await, testall(&mut requests).await));
        let got = waitall(requests).await?;
        assert_eq!((got[0].0[0], got[1].0[0]), (3, 4));
        Ok(seen)
    });
    let expected = [(None, false), (Some(1), false), (Some(0), true)];
    assert_eq!(results[1], expected);
}

#[test]
fn dropped_requests_go_on_by_themselves() {
    let results = world(2, Some(1), |comm| async move {
        if comm.rank() == 0 {
            drop(comm.issend(&[1u8; 50_000], 1, 0)?);
            drop(comm.irecv::<u8>(1, 1, 0)?);
            // The dropped receive takes the first message.
            let (data, _) = comm.recv::<u8>(1, 1, 0).await?;
            drop(comm.ibarrier());
            comm.recv::<u8>(0, 1, 1).await?;
            return Ok(data[0]);
        }
        let (data, _) = comm.recv::<u8>(50_000, 0, 0).await?;
        assert_eq!(data, [1; 50_000]);
        comm.send(&[2u8], 0, 0).await?;
        comm.send(&[3u8], 0, 0).await?;
        comm.barrier().await?;
        comm.send::<u8>(&[], 0, 1).await?;
        Ok(0)
    });
    assert_eq!(results[0], 3);
}

#[test]
fn ranks_that_wait_for_each_other_are_a_deadlock() {
    let result = attempt(3, None, |comm| async move {
        if comm.rank() < 2 {
            comm.recv::<u8>(1, 1 - comm.rank(), 0).await?;
        }
        Ok(())
    });
    let waiting = vec![0, 1];
    assert_eq!(result, Err(ReferenceError::Deadlock { waiting }));
}

#[test]
fn programs_that_rely_on_buffering_are_found() {
    let exchange = |limit| {
        let mut config = ReferenceConfig::default();
        config.eager_limit = limit;
        run(2, config, |process| async move {
            let comm = Communicator::world(process);
            comm.send(&[1u8; 8], 1 - comm.rank(), 0).await?;
            comm.recv::<u8>(8, 1 - comm.rank(), 0).await
        })
        .is_ok()
    };
    assert!(exchange(8));
    assert!(!exchange(7));
}

#[test]
fn contexts_keep_communicators_apart() {
    let results = world(4, Some(2), |comm| async move {
        let twin = comm.dup().await?;
        let half = comm.split(Some(comm.rank() % 2), 0).await?;
        let half = half.expect("every rank has a colour");
        let (me, next) = (comm.rank(), (comm.rank() + 1) % 4);
        // The same tag everywhere; received in another order than sent.
        let sends = [
            comm.isend(&[me], next, 0)?,
            twin.isend(&[me + 10], next, 0)?,
            half.isend(&[me + 20], 1 - half.rank(), 0)?,
        ];
        let inside = half.recv::<u32>(1, ANY_SOURCE, ANY_TAG).await?;
        let other = twin.recv::<u32>(1, ANY_SOURCE, ANY_TAG).await?;
        let first = comm.recv::<u32>(1, ANY_SOURCE, ANY_TAG).await?;
        waitall(sends).await?;
        half.free().await?;
        twin.free().await?;
        Ok([first.0[0], other.0[0], inside.0[0]])
    });
    for (rank, got) in results.into_iter().enumerate() {
        let rank = rank as u32;
        let previous = (rank + 3) % 4;
        assert_eq!(got, [previous, previous + 10, (rank + 2) % 4 + 20]);
    }
}

#[test]
fn a_communicator_is_not_freed_silently_with_messages_left() {
    let results = world(2, None, |comm| async move {
        let twin = comm.dup().await?;
        if comm.rank() == 0 {
            twin.send(&[1u8; 9], 1, 4).await?;
            twin.send(&[2u8], 1, 5).await?;
        }
        Ok(twin.free().await)
    });
    let (context, messages) = (2, 2);
    let left = MpiError::MessagesLeft { context, messages };
    assert_eq!(results, [Ok(()), Err(left)]);
}

#[test]
fn computation_moves_the_time_of_its_own_rank() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 1 {
            comm.compute(Duration::from_us(3)).await;
        }
        Ok(comm.now())
    });
    assert_eq!(results, [Instant::ZERO, Instant::from_ps(3_000_000)]);
}

#[test]
fn a_result_is_given_once() {
    let results = run(1, ReferenceConfig::default(), |process| async move {
        let comm = Communicator::world(process.clone());
        let unknown = process.try_wait(RequestId(77));
        comm.send(&[1u8], 0, 0).await.unwrap();
        unknown
    });
    let request = RequestId(77);
    let expected = Some(Err(MpiError::InvalidRequest { request }));
    assert_eq!(results, Ok(vec![expected]));
}

#[test]
fn a_column_travels_as_a_row() {
    let results = world(2, None, |comm| async move {
        let mut matrix = [[0u16; 4]; 3];
        if comm.rank() == 0 {
            for (i, x) in matrix.as_flattened_mut().iter_mut().enumerate() {
                *x = i as u16;
            }
            let column = Layout::vector(3, 1, 4)?;
            comm.send_layout(matrix.as_flattened(), 2, &column, 1, 1, 0)
                .await?;
        } else {
            let row = Layout::contiguous(3)?;
            let status = comm
                .recv_layout(matrix.as_flattened_mut(), 4, &row, 1, 0, 0)
                .await?;
            assert_eq!(status.count::<u16>(), Some(3));
        }
        Ok(matrix)
    });
    assert_eq!(results[1], [[0; 4], [2, 6, 10, 0], [0; 4]]);
}

#[test]
fn layouts_have_the_size_and_extent_of_the_standard() {
    let size_and_extent = |layout: &Layout| (layout.size(), layout.lower(), layout.extent());
    let contiguous = Layout::contiguous(5).unwrap();
    assert_eq!(size_and_extent(&contiguous), (5, 0, 5));
    let vector = Layout::vector(3, 2, 5).unwrap();
    assert_eq!(size_and_extent(&vector), (6, 0, 12));
    let down = Layout::vector(3, 2, -5).unwrap();
    assert_eq!(size_and_extent(&down), (6, -10, 12));
    let dense = Layout::vector(4, 2, 2).unwrap();
    assert_eq!(dense.segments(), contiguous_of(8).segments());
    let indexed = Layout::indexed(&[(4, 2), (-3, 1), (0, 0)]).unwrap();
    assert_eq!(size_and_extent(&indexed), (3, -3, 9));
    let empty = Layout::indexed(&[]).unwrap();
    assert_eq!(size_and_extent(&empty), (0, 0, 0));
    assert_eq!(empty.span(9), Ok(None));
    assert_eq!(vector.span(2), Ok(Some((0, 24))));
    let resized = vector.resized(0, -1);
    assert_eq!(resized.span(3), Ok(Some((-2, 12))));
}

fn contiguous_of(count: u64) -> Layout {
    Layout::contiguous(count).unwrap()
}

#[test]
fn layouts_stay_inside_of_their_buffers() {
    let column = Layout::vector(3, 1, 4).unwrap();
    let mut buffer = [0u8; 12];
    assert_eq!(column.pack(&buffer, 3, 1).map(|p| p.len()), Ok(3));
    let above = MpiError::OutOfBounds {
        index: 12,
        length: 12,
    };
    assert_eq!(column.pack(&buffer, 4, 1), Err(above));
    assert_eq!(column.unpack(&[1; 3], &mut buffer, 4, 1), Err(above));
    let below = MpiError::OutOfBounds {
        index: -4,
        length: 12,
    };
    let down = Layout::vector(3, 1, -4).unwrap();
    assert_eq!(down.pack(&buffer, 4, 1), Err(below));
    let count = MpiError::InvalidCount {
        count: 4,
        expected: 3,
    };
    assert_eq!(column.unpack(&[1; 4], &mut buffer, 0, 1), Err(count));
    let twice = Layout::indexed(&[(0, 3), (2, 1)]).unwrap();
    let overlap = MpiError::OutOfBounds {
        index: 2,
        length: 12,
    };
    assert_eq!(twice.unpack(&[1; 4], &mut buffer, 0, 1), Err(overlap));
    assert_eq!(buffer, [0; 12]);
    assert_eq!(twice.pack(&buffer, 0, 1), Ok(vec![0; 4]));
    let far = Layout::indexed(&[(i64::MAX - 1, 1)]).unwrap();
    assert!(far.pack(&buffer, 1, 1).is_err());
    assert!(far.pack(&buffer, 0, u64::MAX).is_err());
    assert!(Layout::indexed(&[(i64::MAX, 1)]).is_err());
    assert!(Layout::contiguous(u64::MAX).is_err());
    assert!(Layout::vector(u32::MAX, 1, i64::MAX).is_err());
    assert!(Layout::indexed(&[(i64::MIN, 1), (5, 1)]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(common::cases(256)))]

    /// Packing takes what element-by-element arithmetic names; unpacking puts it back
    /// and touches nothing else.
    #[test]
    fn pack_and_unpack_follow_the_definition(
        blocks in prop::collection::vec((-20i64..20, 0u64..5), 0..6),
        extent in -25i64..25,
        origin in 0usize..120,
        copies in 0u64..4,
    ) {
        let layout = Layout::indexed(&blocks).unwrap().resized(0, extent);
        let buffer: Vec<u32> = (1000..1150).collect();
        let places: Vec<i64> = (0..copies as i64)
            .flat_map(|copy| {
                blocks.iter().flat_map(move |&(offset, length)| {
                    (0..length as i64).map(move |i| origin as i64 + copy * extent + offset + i)
                })
            })
            .collect();
        let inside = places.iter().all(|place| (0..150).contains(place));
        let packed = layout.pack(&buffer, origin, copies);
        prop_assert_eq!(packed.is_ok(), inside);
        let Ok(packed) = packed else { return Ok(()) };
        let expected: Vec<u32> = places.iter().map(|place| 1000 + *place as u32).collect();
        prop_assert_eq!(&packed, &expected);
        let mut blank = vec![0u32; 150];
        let unpacked = layout.unpack(&packed, &mut blank, origin, copies);
        let mut distinct = places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(unpacked.is_ok(), distinct.len() == places.len());
        for (i, value) in blank.iter().enumerate() {
            let touched = unpacked.is_ok() && places.contains(&(i as i64));
            prop_assert_eq!(*value, if touched { 1000 + i as u32 } else { 0 });
        }
    }

    /// Repetition is the same as several copies.
    #[test]
    fn repeated_layouts_are_copies(
        blocks in prop::collection::vec((-5i64..5, 0u64..4), 0..4),
        times in 0u32..4,
        copies in 0u64..3,
    ) {
        let layout = Layout::indexed(&blocks).unwrap();
        let buffer: Vec<u16> = (0..400).collect();
        let whole = layout.repeated(times).unwrap();
        let packed = whole.pack(&buffer, 100, copies);
        prop_assert_eq!(packed, layout.pack(&buffer, 100, copies * u64::from(times)));
    }
}

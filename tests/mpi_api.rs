//! Point-to-point calls and communicators, over the in-memory reference.
#![cfg(feature = "alloc")]

#[path = "common/ranks.rs"]
mod ranks;

use multipc::mpi::api::{ANY_SOURCE, ANY_TAG, Communicator, PROC_NULL, Status, waitall};
use multipc::mpi::process::MpiError;
use multipc::mpi::reference::{ReferenceConfig, ReferenceError, run};
use multipc::time::{Duration, Instant};
use ranks::{attempt, from, world};

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

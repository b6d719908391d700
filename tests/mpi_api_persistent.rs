//! Persistent requests as the standard has them (3.9), over the in-memory reference.
#![cfg(feature = "alloc")]

#[path = "common/ranks.rs"]
mod ranks;

use multipc::mpi::api::{
    ANY_SOURCE, ANY_TAG, AnyRequest, PROC_NULL, Start, Status, complete_all, startall, testall,
    testany, testsome, waitall, waitany, waitsome,
};
use multipc::mpi::process::MpiError;
use ranks::{from, world};

#[test]
fn one_request_carries_many_messages_with_the_data_of_each_start() {
    let results = world(2, Some(3), |comm| async move {
        let mut got = vec![];
        if comm.rank() == 0 {
            let mut send = comm.send_init(&[0u32; 2], 1, 7)?;
            for round in 0..5u32 {
                send.data_mut()[0] = round;
                send.start()?;
                // Taken over at the start: this is for the next one.
                send.data_mut()[1] = 100 + round;
                send.wait().await?;
            }
            assert_eq!(send.data(), [4, 104]);
            return Ok(got);
        }
        let mut receive = comm.recv_init::<u32>(2, 0, ANY_TAG)?;
        for _ in 0..5 {
            receive.start()?;
            let (data, status) = receive.wait().await?.expect("it was started");
            assert_eq!(status, from(0, 7, 8));
            got.extend(data);
        }
        Ok(got)
    });
    assert_eq!(results[1], [0, 0, 1, 100, 2, 101, 3, 102, 4, 103]);
}

/// "A persistent communication request ... is inactive after it was created"; a wait or
/// a test of it "returns immediately with an empty status".
#[test]
fn an_inactive_request_has_an_empty_status_and_may_be_dropped() {
    world(2, None, |comm| async move {
        let mut send = comm.send_init(&[1u8], 1, 0)?;
        let mut receive = comm.recv_init::<u8>(1, 1, 0)?;
        assert_eq!(send.wait().await, Ok(()));
        assert_eq!(send.test().await, Some(Ok(())));
        assert_eq!(receive.wait().await, Ok(None));
        assert_eq!(receive.test().await, Some(Ok(None)));
        assert!(!receive.cancel().await);
        assert!(!send.is_active() && !receive.is_active());
        // Nothing was sent.
        comm.barrier().await?;
        assert_eq!(comm.iprobe(ANY_SOURCE, ANY_TAG).await?, None);
        Ok(())
    });
}

#[test]
fn a_request_is_started_when_it_is_inactive_only() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            comm.barrier().await?;
            comm.send(&[1u8], 1, 0).await?;
            comm.send(&[2u8], 1, 0).await?;
            return Ok(vec![]);
        }
        let mut receive = comm.recv_init::<u8>(1, 0, 0)?;
        receive.start()?;
        assert_eq!(receive.start(), Err(MpiError::Active));
        assert!(receive.test().await.is_none() && receive.is_active());
        comm.barrier().await?;
        // Complete, but nobody has asked: still active.
        comm.probe(0, 0).await?;
        assert_eq!(receive.start(), Err(MpiError::Active));
        let mut got = receive.wait().await?.expect("it was started").0;
        assert!(!receive.is_active());
        receive.start()?;
        got.extend(receive.wait().await?.expect("it was started").0);
        Ok(got)
    });
    // The second start did not post another receive.
    assert_eq!(results[1], [1, 2]);
}

/// "If the operation is cancelled ... it becomes inactive"; "a persistent request is
/// allowed to be started again".
#[test]
fn a_cancelled_receive_is_inactive_once_it_was_waited_for() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            comm.barrier().await?;
            comm.send(&[1u8], 1, 0).await?;
            comm.send(&[2u8], 1, 0).await?;
            return Ok(vec![]);
        }
        let mut receive = comm.recv_init::<u8>(1, 0, 0)?;
        receive.start()?;
        assert!(receive.cancel().await && receive.is_active());
        assert_eq!(receive.wait().await, Err(MpiError::Cancelled));
        assert_eq!(receive.wait().await, Ok(None));
        receive.start()?;
        comm.barrier().await?;
        let mut got = receive.wait().await?.expect("it was started").0;
        // Matched: cancelled too late.
        comm.probe(0, 0).await?;
        receive.start()?;
        assert!(!receive.cancel().await);
        got.extend(receive.wait().await?.expect("it was started").0);
        Ok(got)
    });
    assert_eq!(results[1], [1, 2]);
}

#[test]
fn all_are_started_and_completed_together() {
    for seed in 0..10 {
        let results = world(3, Some(seed), |comm| async move {
            let (me, size) = (comm.rank(), comm.size());
            let (next, previous) = ((me + 1) % size, (me + size - 1) % size);
            let mut right = comm.send_init(&[me, 1], next, 1)?;
            let mut left = comm.ssend_init(&[me, 2], previous, 2)?;
            let mut from_left = comm.recv_init::<u32>(2, previous, 1)?;
            let mut from_right = comm.recv_init::<u32>(2, next, 2)?;
            let mut sum = 0;
            for round in 0..4 {
                right.data_mut()[1] = round;
                startall::<&mut dyn Start>(&mut [
                    &mut from_left,
                    &mut from_right,
                    &mut right,
                    &mut left,
                ])?;
                complete_all::<&mut dyn AnyRequest>(&mut [
                    &mut from_left,
                    &mut from_right,
                    &mut right,
                    &mut left,
                ])
                .await;
                let (a, _) = from_left.wait().await?.expect("it was started");
                let (b, _) = from_right.wait().await?.expect("it was started");
                assert_eq!((a, b), (vec![previous, round], vec![next, 2]));
                right.wait().await?;
                left.wait().await?;
                sum += 1;
            }
            Ok(sum)
        });
        assert_eq!(results, [4, 4, 4]);
    }
}

#[test]
fn the_first_that_cannot_be_started_ends_startall() {
    world(1, None, |comm| async move {
        let mut requests = Vec::new();
        for tag in 0..3 {
            requests.push(comm.recv_init::<u8>(1, 0, tag)?);
        }
        requests[1].start()?;
        assert_eq!(startall(&mut requests), Err(MpiError::Active));
        let active: Vec<bool> = requests.iter().map(|r| r.is_active()).collect();
        assert_eq!(active, [true, true, false]);
        Ok(())
    });
}

/// Any and some pass inactive requests over; all do not wait for them.
#[test]
fn inactive_requests_count_as_null_ones() {
    world(1, None, |comm| async move {
        let mut requests = Vec::new();
        for tag in 0..3 {
            requests.push(comm.recv_init::<u8>(1, 0, tag)?);
        }
        assert!(testall(&mut requests).await);
        complete_all(&mut requests).await;
        assert_eq!(waitany(&mut requests).await, None);
        assert_eq!(waitsome(&mut requests).await, None);
        assert_eq!(testany(&mut requests).await, Some(None));
        assert_eq!(testsome(&mut requests).await, None);

        startall(&mut requests[1..])?;
        assert_eq!(testany(&mut requests).await, None);
        assert_eq!(testsome(&mut requests).await, Some(vec![]));
        comm.send(&[2u8], 0, 2).await?;
        assert_eq!(waitany(&mut requests).await, Some(2));
        assert!(!testall(&mut requests).await);
        comm.send(&[1u8], 0, 1).await?;
        assert_eq!(waitsome(&mut requests).await, Some(vec![1, 2]));
        assert!(testall(&mut requests).await);
        for (i, request) in requests.iter_mut().enumerate() {
            let got = request.wait().await?.map(|(data, _)| data);
            assert_eq!(got, (i > 0).then(|| vec![i as u8]));
        }
        assert_eq!(waitany(&mut requests).await, None);
        Ok(())
    });
}

#[test]
fn an_active_request_that_is_dropped_goes_on() {
    let results = world(2, Some(5), |comm| async move {
        if comm.rank() == 0 {
            let mut send = comm.ssend_init(&[8u8; 40_000], 1, 0)?;
            send.start()?;
            drop(send);
            comm.recv::<u8>(0, 1, 1).await?;
            return Ok(0);
        }
        let (data, _) = comm.recv::<u8>(40_000, 0, 0).await?;
        comm.send::<u8>(&[], 0, 1).await?;
        Ok(data.len())
    });
    assert_eq!(results[1], 40_000);
}

#[test]
fn arguments_are_checked_when_they_are_given() {
    world(2, None, |comm| async move {
        let rank = MpiError::InvalidRank { rank: 2, size: 2 };
        let tag = MpiError::InvalidTag { tag: -3 };
        assert_eq!(comm.send_init(&[0u8], 2, 0).err(), Some(rank));
        assert_eq!(comm.rsend_init(&[0u8], 1, -3).err(), Some(tag));
        assert_eq!(comm.recv_init::<u8>(1, 2, 0).err(), Some(rank));
        assert_eq!(comm.recv_init::<u8>(1, 0, -3).err(), Some(tag));
        let long = comm.recv_init::<u64>(usize::MAX, 0, 0).err();
        assert!(matches!(long, Some(MpiError::TooLong { .. })));
        Ok(())
    });
}

#[test]
fn nobody_is_a_peer_like_others() {
    world(1, None, |comm| async move {
        let mut send = comm.send_init(&[0u8; 100_000], PROC_NULL, 0)?;
        let mut receive = comm.recv_init::<u8>(10, PROC_NULL, 0)?;
        for _ in 0..2 {
            startall::<&mut dyn Start>(&mut [&mut send, &mut receive])?;
            send.wait().await?;
            assert_eq!(receive.wait().await?, Some((vec![], Status::NULL)));
        }
        Ok(())
    });
}

#[test]
fn persistent_and_other_requests_wait_together() {
    let results = world(2, None, |comm| async move {
        let other = 1 - comm.rank();
        let mut again = comm.recv_init::<u8>(1, other, 0)?;
        again.start()?;
        let mut once = comm.irecv::<u8>(1, other, 1)?;
        let sends = [comm.isend(&[5u8], other, 0)?, comm.isend(&[6u8], other, 1)?];
        complete_all::<&mut dyn AnyRequest>(&mut [&mut again, &mut once]).await;
        let (first, _) = again.wait().await?.expect("it was started");
        let (second, _) = once.wait().await?;
        waitall(sends).await?;
        Ok((first, second))
    });
    assert_eq!(results[0], (vec![5], vec![6]));
}

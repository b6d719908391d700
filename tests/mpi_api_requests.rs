//! Requests: complete, test, cancel, drop them, over the in-memory reference.
#![cfg(feature = "alloc")]

#[path = "common/ranks.rs"]
mod ranks;

use multipc::mpi::api::{
    AnyRequest, Communicator, PROC_NULL, complete_all, testall, testany, testsome, waitall,
    waitany, waitsome,
};
use multipc::mpi::process::{MpiError, PointToPoint, RequestId};
use multipc::mpi::reference::{ReferenceConfig, run};
use ranks::world;

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
        let mut order =
            vec![waitany::<&mut dyn AnyRequest>(&mut [&mut one, &mut two, &mut done]).await];
        done.test().await.transpose()?;
        comm.send::<u8>(&[], 2, 2).await?;
        order.push(waitany::<&mut dyn AnyRequest>(&mut [&mut one, &mut two, &mut done]).await);
        two.test().await.transpose()?;
        comm.send::<u8>(&[], 2, 1).await?;
        order.push(waitany::<&mut dyn AnyRequest>(&mut [&mut one, &mut two, &mut done]).await);
        one.test().await.transpose()?;
        order.push(waitany::<&mut dyn AnyRequest>(&mut [&mut one, &mut two, &mut done]).await);
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
    let expected = [(None, false), (Some(Some(1)), false), (Some(Some(0)), true)];
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

/// The standard, 3.7.5: "an active ... request"; inactive ones and null requests are
/// passed over, and without an active one the index is MPI_UNDEFINED.
#[test]
fn some_gives_all_that_are_complete_and_passes_over_the_rest() {
    let results = world(2, None, |comm| async move {
        if comm.rank() == 0 {
            comm.barrier().await?;
            for tag in [3, 1] {
                comm.send(&[tag as u8], 1, tag).await?;
            }
            comm.barrier().await?;
            comm.recv::<u8>(0, 1, 9).await?;
            for tag in [0, 2] {
                comm.send(&[tag as u8], 1, tag).await?;
            }
            return Ok(vec![]);
        }
        let mut requests = Vec::new();
        for tag in 0..4 {
            requests.push(comm.irecv::<u8>(1, 0, tag)?);
        }
        let mut seen = vec![testsome(&mut requests).await];
        comm.barrier().await?;
        comm.barrier().await?;
        // Both are there; they stay complete until their results are taken.
        seen.push(waitsome(&mut requests).await);
        seen.push(testsome(&mut requests).await);
        for i in [1, 3] {
            let (data, _) = requests[i].test().await.expect("complete")?;
            assert_eq!(data, [i as u8]);
        }
        seen.push(testsome(&mut requests).await);
        comm.send::<u8>(&[], 0, 9).await?;
        while let Some(complete) = waitsome(&mut requests).await {
            for i in complete {
                requests[i].complete().await?;
                seen.push(Some(vec![i]));
            }
        }
        seen.push(testsome(&mut requests).await);
        assert_eq!(testany(&mut requests).await, Some(None));
        assert_eq!(waitany(&mut requests).await, None);
        assert!(testall(&mut requests).await);
        complete_all(&mut requests).await;
        Ok(seen)
    });
    let some = |places: &[usize]| Some(places.to_vec());
    let expected = [
        some(&[]),
        some(&[1, 3]),
        some(&[1, 3]),
        some(&[]),
        some(&[0]),
        some(&[2]),
        None,
    ];
    assert_eq!(results[1], expected);
}

#[test]
fn nothing_to_wait_for_is_complete_at_once() {
    let results = world(1, None, |comm| async move {
        let none = &mut [comm.isend(&[0u8], PROC_NULL, 0)?][..0];
        complete_all(none).await;
        assert!(testall(none).await);
        assert_eq!(testany(none).await, Some(None));
        assert_eq!(testsome(none).await, None);
        assert_eq!(waitsome(none).await, None);
        Ok(waitany(none).await)
    });
    assert_eq!(results, [None]);
}

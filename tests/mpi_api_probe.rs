//! Matched probes as the standard has them (3.8.2), over the in-memory reference.
#![cfg(feature = "alloc")]

#[path = "common/ranks.rs"]
mod ranks;

use multipc::mpi::api::{ANY_SOURCE, ANY_TAG, PROC_NULL, Status};
use multipc::mpi::process::MpiError;
use ranks::{from, world};

/// "The matched message can only be received by MPI_Mrecv": the flaw of probe and
/// receive in programs where several parts receive.
#[test]
fn what_a_matched_probe_has_found_nobody_else_receives() {
    for seed in 0..20 {
        let results = world(2, Some(seed), |comm| async move {
            if comm.rank() == 0 {
                for i in 0..4u32 {
                    comm.send(&vec![i; i as usize + 1], 1, 5).await?;
                }
                return Ok(vec![]);
            }
            let first = comm.mprobe(0, 5).await?;
            assert_eq!(first.status(), from(0, 5, 4));
            // A probe of the same pattern, then a receive, get the later ones.
            let second = loop {
                if let Some(found) = comm.improbe(ANY_SOURCE, ANY_TAG).await? {
                    break found;
                }
            };
            assert_eq!(second.status(), from(0, 5, 8));
            let mut got = comm.recv::<u32>(4, 0, 5).await?.0;
            let later = second.irecv::<u32>(2)?;
            got.extend(first.recv::<u32>(1).await?.0);
            got.extend(later.wait().await?.0);
            got.extend(comm.recv_probed::<u32>(0, ANY_TAG).await?.0);
            assert!(comm.improbe(ANY_SOURCE, ANY_TAG).await?.is_none());
            Ok(got)
        });
        assert_eq!(results[1], [2, 2, 2, 0, 1, 1, 3, 3, 3, 3]);
    }
}

#[test]
fn a_found_message_is_truncated_by_its_receive_and_is_used_up() {
    let results = world(1, None, |comm| async move {
        comm.send(&[1u8; 6], 0, 0).await?;
        comm.send(&[2u8; 6], 0, 0).await?;
        let short = comm.mprobe(0, 0).await?.recv::<u8>(4).await;
        let odd = comm.mprobe(0, 0).await?.recv::<u32>(2).await;
        assert!(comm.improbe(0, 0).await?.is_none());
        Ok((short.err(), odd.err()))
    });
    let (total, capacity) = (6, 4);
    let truncate = MpiError::Truncate { total, capacity };
    let (length, element) = (6, 4);
    let partial = MpiError::PartialElement { length, element };
    assert_eq!(results[0], (Some(truncate), Some(partial)));
}

/// MPI_MESSAGE_NO_PROC.
#[test]
fn nobody_has_an_empty_message_at_once() {
    world(1, None, |comm| async move {
        let found = comm.mprobe(PROC_NULL, 3).await?;
        assert_eq!(found.status(), Status::NULL);
        assert_eq!(found.recv::<u8>(5).await?, (vec![], Status::NULL));
        let found = comm.improbe(PROC_NULL, 3).await?.expect("at once");
        assert_eq!(found.irecv::<u8>(5)?.wait().await?.1, Status::NULL);
        let rank = MpiError::InvalidRank { rank: 1, size: 1 };
        assert_eq!(comm.mprobe(1, 0).await.map(drop), Err(rank));
        assert_eq!(comm.improbe(1, 0).await.map(drop), Err(rank));
        Ok(())
    });
}

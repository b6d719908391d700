//! Collective operations over caller-owned storage, polled by hand.
#![cfg(feature = "alloc")]

mod mpi_rig;
mod polled_rig;

use std::pin::pin;

use multipc::mpi::collective::FixedOp;
use multipc::mpi::polled::{Courier, Group, Operation};
use multipc::mpi::process::MpiError;
use polled_rig::calls::{Case, E, ZERO, algorithms, data, then};
use polled_rig::{Run, Team, at_once, mixed, run};
use proptest::prelude::*;

/// All calls on all ranks give what a serial program gives.
fn check(case: Case, how: Run) {
    let outcome = run(how, async |team: &Team<'_, '_>| case.polled(team).await);
    for (rank, given) in outcome.all().into_iter().enumerate() {
        // Said in short: the values fill pages.
        let right = given == Ok(case.expected(rank));
        assert!(right, "rank {rank} of {case:?}: {:?}", given.err());
    }
}

#[test]
fn each_call_and_algorithm_gives_the_serial_result_for_each_size() {
    for size in 1..=9 {
        for n in 0..20 {
            let case = Case {
                size,
                count: [0, 1, 3, 40][n % 4],
                root: n * 7 % size,
                algorithms: algorithms(n / 4),
            };
            check(case, Run::of(size));
        }
    }
}

#[test]
fn long_messages_by_rendezvous_give_the_serial_result() {
    for (size, n) in [(2, 0), (5, 1), (8, 2), (9, 3), (3, 4)] {
        let mut algorithms = algorithms(n);
        algorithms.segment_bytes = 4096;
        let case = Case {
            size,
            count: 700,
            root: size - 1,
            algorithms,
        };
        check(case, Run::of(size));
    }
}

/// Ranks of both kinds in one world: bit `rank` of `owns` says which own their data.
fn check_mixed(case: Case, owns: u64, how: Run) {
    let is_owner = |rank| owns >> rank & 1 == 1;
    let polled = async |team: &Team<'_, '_>| case.polled(team).await;
    let outcome = mixed(how, is_owner, polled, |comm| case.owned(comm));
    for (rank, given) in outcome.all().into_iter().enumerate() {
        let right = given == Ok(case.expected(rank));
        let told = given.err();
        assert!(right, "rank {rank} of {case:?}, owners {owns:b}: {told:?}");
    }
}

#[test]
fn ranks_that_allocate_and_ranks_that_do_not_meet_in_one_operation() {
    for size in 2..=9 {
        for n in 0..10 {
            let case = Case {
                size,
                count: [3, 0, 40][n % 3],
                root: n % size,
                algorithms: algorithms(n / 2),
            };
            let owns = [0x155, 0x0aa, 1, 0x1fe];
            check_mixed(case, owns[n / 2 % 4], Run::of(size));
        }
    }
}

#[test]
fn both_kinds_send_as_many_messages() {
    for size in 1..=9 {
        for n in 0..5 {
            let case = Case {
                size,
                count: 40,
                root: size / 2,
                algorithms: algorithms(n),
            };
            let sent = |owns: bool| {
                let polled = async |team: &Team<'_, '_>| case.polled(team).await;
                let how = Run::of(size);
                mixed(how, |_| owns, polled, |comm| case.owned(comm)).sent
            };
            assert_eq!(sent(false), sent(true), "{case:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        if std::env::var_os("MULTIPC_LONG").is_some() { 2000 } else { 60 }
    ))]

    #[test]
    fn any_calls_in_any_pace_give_the_serial_result(
        size in 1usize..=9,
        count in 0usize..120,
        root in 0usize..9,
        n in 0usize..60,
        seed in 1u64..,
        owns in 0u64..512,
    ) {
        let case = Case { size, count, root: root % size, algorithms: algorithms(n) };
        let mut how = Run::of(size);
        how.seed = seed;
        check_mixed(case, owns, how);
    }
}

#[test]
fn several_operations_are_under_way_at_once_and_end_in_any_order() {
    let outcome = run(Run::of(5), async |team: &Team<'_, '_>| {
        let rank = team.rank();
        let (mut sum, mut max) = ([rank, 1], [rank * 10]);
        let (mut work, mut more) = ([0; 2], [0; 1]);
        let mut word = [if rank == 3 { 77 } else { 0 }];
        let (plus, larger) = (FixedOp::<u32>::sum(), FixedOp::<u32>::max());
        {
            let barrier = pin!(team.barrier());
            let first = pin!(team.allreduce(&mut sum, &plus, &mut work));
            let second = pin!(team.allreduce(&mut max, &larger, &mut more));
            let third = pin!(team.bcast(&mut word, 3));
            let mut barrier = Operation::start(barrier);
            let mut first = Operation::start(first);
            let mut second = Operation::start(second);
            let mut third = Operation::start(third);
            // Each rank looks in another order.
            std::future::poll_fn(|_| {
                let mut ended = true;
                for i in 0..4 {
                    ended &= match (i + rank) % 4 {
                        0 => barrier.look(),
                        1 => first.look(),
                        2 => second.look(),
                        _ => third.look(),
                    };
                }
                match ended {
                    true => std::task::Poll::Ready(()),
                    false => std::task::Poll::Pending,
                }
            })
            .await;
            let results = [barrier.take(), first.take(), second.take(), third.take()];
            assert_eq!(results, [const { Some(Ok(())) }; 4]);
            assert!(barrier.is_done() && barrier.take().is_none());
        }
        (sum, max, word)
    });
    assert_eq!(outcome.all(), [([10, 5], [40], [77]); 5]);
}

#[test]
fn nobody_leaves_a_barrier_before_everybody_has_come() {
    use std::cell::Cell;
    for size in 2..=9 {
        for n in 0..2 {
            let come = Cell::new(0);
            let mut how = Run::of(size);
            how.seed = 5;
            run(how, async |team: &Team<'_, '_>| {
                team.set_algorithms(algorithms(n));
                for round in 1..4 {
                    come.set(come.get() + 1);
                    team.barrier().await.unwrap();
                    assert!(come.get() >= round * size);
                }
            });
        }
    }
}

#[test]
fn groups_within_the_world_do_not_mix() {
    let outcome = run(Run::of(7), async |team: &Team<'_, '_>| {
        let rank = team.rank();
        // Even and odd ranks, the latter from the highest down.
        let (even, odd) = ([0, 2, 4, 6], [5, 3, 1]);
        let (ranks, place) = match rank % 2 {
            0 => (&even[..], rank / 2),
            _ => (&odd[..], (5 - rank) / 2),
        };
        let part = team.part(ranks, place, 1).unwrap();
        let (mut all, mut here, mut work) = ([rank], [rank], [0]);
        let (mut again, mut room) = ([rank * 100], [0]);
        let plus = FixedOp::<u32>::sum();
        part.allreduce(&mut here, &plus, &mut work).await.unwrap();
        team.allreduce(&mut all, &plus, &mut room).await.unwrap();
        part.scan(&mut again, &plus, &mut work).await.unwrap();
        (all[0], here[0], again[0])
    });
    let expected = [
        (21, 12, 0),
        (21, 9, 900),
        (21, 12, 200),
        (21, 9, 800),
        (21, 12, 600),
        (21, 9, 500),
        (21, 12, 1200),
    ];
    assert_eq!(outcome.all(), expected);
}

#[test]
fn an_operator_with_a_state_of_its_own_is_called_in_rank_order() {
    use multipc::mpi::collective::Combine;
    /// Rejects what is out of order: values are runs `[first, one past the last]`.
    struct Runs(std::cell::Cell<u32>);
    impl Combine<E> for Runs {
        fn is_commutative(&self) -> bool {
            false
        }
        fn combine(&self, left: &E, right: &E) -> E {
            self.0.set(self.0.get() + u32::from(left[1] != right[0]));
            [left[0], right[1]]
        }
    }
    for size in 1..=9u32 {
        for n in 0..3 {
            let outcome = run(Run::of(size as usize), async |team: &Team<'_, '_>| {
                team.set_algorithms(algorithms(n));
                let op = Runs(std::cell::Cell::new(0));
                let root = size - 1;
                let own = [team.rank(), team.rank() + 1];
                let (mut to_all, mut to_root) = ([own], [own]);
                let mut work = [ZERO; 2];
                team.allreduce(&mut to_all, &op, &mut work).await.unwrap();
                team.reduce(&mut to_root, &op, root, &mut work)
                    .await
                    .unwrap();
                if team.rank() == root {
                    assert_eq!(to_root, [[0, size]]);
                }
                (to_all[0], op.0.get())
            });
            assert_eq!(outcome.all(), vec![([0, size], 0); size as usize]);
        }
    }
}

fn count<T>(count: u64, expected: u64) -> Option<Result<T, MpiError>> {
    Some(Err(MpiError::InvalidCount { count, expected }))
}

#[test]
fn wrong_lengths_and_roots_are_errors_with_value_and_limit_and_nothing_is_sent() {
    let how = Run::of(4);
    let outcome = run(how, async |team: &Team<'_, '_>| {
        let op = FixedOp::ordered(then);
        let mut two = [ZERO; 2];
        let is_root = team.rank() == 1;
        let root = Some(Err(MpiError::InvalidRoot { root: 4, size: 4 }));
        assert_eq!(at_once(team.bcast(&mut two, 4)), root);
        assert_eq!(at_once(team.gather(&[ZERO], &mut two, 4)), root);
        assert_eq!(at_once(team.reduce(&mut two, &op, 4, &mut [])), root);
        assert_eq!(at_once(team.scatter(&[], &mut two, 4, &mut [])), root);

        let short = at_once(team.allreduce(&mut two, &op, &mut [ZERO]));
        assert_eq!(short, count(1, 2));
        assert_eq!(at_once(team.scan(&mut two, &op, &mut [])), count(0, 2));
        let mut below = [ZERO; 3];
        let mut work = [ZERO; 2];
        let long = at_once(team.exscan(&mut two, &mut below, &op, &mut work));
        assert_eq!(long, count(3, 2));
        assert_eq!(at_once(team.reduce(&mut two, &op, 1, &mut [])), count(0, 2));
        let mut all = [ZERO; 9];
        let long = at_once(team.allgather(&[ZERO; 2], &mut all));
        assert_eq!(long, count(9, 8));
        let short = at_once(team.allgatherv(&[ZERO], &mut all, &[1; 3]));
        assert_eq!(short, count(3, 4));
        let short = at_once(team.allgatherv(&[ZERO], &mut all, &[2; 4]));
        assert_eq!(short, count(1, 2));
        let odd = at_once(team.alltoall(&[ZERO; 9], &mut all, &mut []));
        assert_eq!(odd, count(9, 8));
        let short = at_once(team.alltoall(&[ZERO; 8], &mut two, &mut []));
        assert_eq!(short, count(2, 8));
        let short = at_once(team.alltoallv(&[ZERO; 3], &[1; 4], &mut all, &[1; 4]));
        assert_eq!(short, count(3, 4));
        let wrong = at_once(team.reduce_scatter(&mut two, &[1; 4], &op, &mut [ZERO], &mut []));
        assert_eq!(wrong, count(2, 4));
        if is_root {
            let long = at_once(team.gather(&[ZERO], &mut all, 1));
            assert_eq!(long, count(9, 4));
            let long = at_once(team.gatherv(&[ZERO], &mut all, &[1; 4], 1));
            assert_eq!(long, count(9, 4));
            let long = at_once(team.scatter(&[ZERO; 9], &mut two, 1, &mut []));
            assert_eq!(long, count(9, 8));
            let long = at_once(team.scatterv(&[ZERO; 9], &[2; 4], &mut two, 1));
            assert_eq!(long, count(9, 8));
        }
        // Rank 3 has a child in the tree of rank 1.
        if team.rank() == 3 {
            assert_eq!(at_once(team.gather(&[ZERO], &mut [], 1)), count(0, 2));
            let mut own = [ZERO; 1];
            let short = at_once(team.scatter(&[], &mut own, 1, &mut []));
            assert_eq!(short, count(0, 2));
        }
    });
    assert_eq!(outcome.sent, [0; 4]);
}

#[test]
fn a_courier_that_is_too_small_is_an_error_before_anything_is_sent() {
    let mut how = Run::of(9);
    how.staging = 15;
    let outcome = run(how, async |team: &Team<'_, '_>| {
        let (mut sum, mut work) = ([ZERO], [ZERO]);
        let op = FixedOp::ordered(then);
        let (length, max) = (16, 15);
        let result = at_once(team.allreduce(&mut sum, &op, &mut work));
        assert_eq!(result, Some(Err(MpiError::TooLong { length, max })));
        // Barriers take no bytes.
        team.barrier().await.unwrap();
    });
    assert_eq!(outcome.all().len(), 9);
    let mut staging = [0; 64];
    let courier: Courier<'_, 1> = Courier::new(&mut staging, 0);
    let group = Group::new(&courier, &[4, 2, 7], 1, 5).unwrap();
    let limit = Some(Err(MpiError::Resource { limit: 1 }));
    assert_eq!(at_once(group.barrier()), limit);
    assert_eq!(courier.messages(), 0);
}

#[test]
fn groups_that_are_none_are_refused() {
    let mut staging = [0; 64];
    let courier: Courier<'_, 1> = Courier::new(&mut staging, 0);
    let (rank, size) = (2, 2);
    let wrong = Group::new(&courier, &[4, 2], rank, 5).map(|_| ());
    assert_eq!(wrong, Err(MpiError::InvalidRank { rank, size }));
    let wrong = Group::new(&courier, &[4, 2], 0, 1 << 31).map(|_| ());
    assert_eq!(wrong, Err(MpiError::NoContext { limit: 1 << 31 }));
}

/// The announced need is enough: each call runs in a courier of just so many bytes.
#[test]
fn calls_end_in_the_bytes_that_they_ask_for() {
    for size in 2..=9 {
        for n in 0..5 {
            let case = Case {
                size,
                count: 40,
                root: 1,
                algorithms: algorithms(n),
            };
            // The most that any call asks for: found by being refused.
            let mut how = Run::of(size);
            how.staging = 0;
            how.patience = Some(3_000);
            loop {
                let outcome = run(how, async |team: &Team<'_, '_>| case.polled(team).await);
                let refused = outcome.results.iter().flatten().filter_map(|r| match r {
                    Err(MpiError::TooLong { length, .. }) => Some(*length as usize),
                    _ => None,
                });
                match refused.max() {
                    Some(length) => how.staging = length,
                    None => {
                        let ended = outcome.all();
                        assert!(ended.iter().all(Result::is_ok), "{case:?}: {ended:?}");
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn a_lost_link_fails_the_operations_that_need_it_and_no_others() {
    let mut how = Run::of(4);
    // In the tree of rank 0 ranks 1 and 3 have no message for each other.
    how.lost = Some((1, 3));
    how.patience = Some(2_000);
    let outcome = run(how, async |team: &Team<'_, '_>| {
        let mut word = [u32::from(team.rank() == 0) * 7];
        let tree = team.bcast(&mut word, 0).await;
        let mut all = [0; 4];
        // A linear exchange needs every link.
        team.set_algorithms(algorithms(3));
        let linear = team.allgather(&[team.rank()], &mut all).await;
        ((tree, word[0]), linear)
    });
    let lost = Err(MpiError::PeerClosed { rank: 3 });
    let tree = (Ok(()), 7);
    assert_eq!(outcome.results[1], Some((tree, lost)));
    // Nobody tells rank 3, which waits for rank 1.
    assert_eq!(outcome.results[3], None);
    for rank in [0, 2] {
        assert_eq!(outcome.results[rank], Some((tree, Ok(()))), "rank {rank}");
    }
}

#[test]
fn a_peer_that_sends_another_length_is_an_error_with_both() {
    let how = Run::of(2);
    let outcome = run(how, async |team: &Team<'_, '_>| {
        let mut words = [0u32; 3];
        let length = if team.rank() == 0 { 3 } else { 2 };
        let long = team.bcast(&mut words[..length], 0).await;
        let length = if team.rank() == 0 { 2 } else { 3 };
        let short = team.bcast(&mut words[..length], 0).await;
        (long, short)
    });
    let (total, capacity) = (12, 8);
    let long = Err(MpiError::Truncate { total, capacity });
    let (count, expected) = (2, 3);
    let short = Err(MpiError::InvalidCount { count, expected });
    assert_eq!(outcome.all(), [(Ok(()), Ok(())), (long, short)]);
}

#[test]
fn a_dropped_operation_gives_back_what_it_had_when_its_messages_are_over() {
    let outcome = run(Run::of(2), async |team: &Team<'_, '_>| {
        let mut word = [5u32];
        let mut work = [0u32];
        let plus = FixedOp::sum();
        // Called and left: its two messages go on by themselves.
        assert_eq!(at_once(team.allreduce(&mut word, &plus, &mut work)), None);
        team.barrier().await.unwrap();
        team.barrier().await.unwrap();
        word
    });
    // The rig checks that no message is left.
    assert_eq!(outcome.all(), [[5]; 2]);
}

#[test]
fn an_operation_that_finds_too_little_left_is_refused_and_the_others_go_on() {
    let mut how = Run::of(2);
    how.staging = 24;
    let outcome = run(how, async |team: &Team<'_, '_>| {
        let (mut a, mut b) = ([team.rank(); 2], [1u32; 2]);
        let (mut work, mut room) = ([0; 2], [0; 2]);
        let plus = FixedOp::sum();
        {
            let first = pin!(team.allreduce(&mut a, &plus, &mut work));
            let mut first = Operation::start(first);
            let second = at_once(team.allreduce(&mut b, &plus, &mut room));
            assert_eq!(second, Some(Err(MpiError::Resource { limit: 24 })));
            while !first.look() {
                std::future::poll_fn({
                    let mut asked = false;
                    move |_| match std::mem::replace(&mut asked, true) {
                        true => std::task::Poll::Ready(()),
                        false => std::task::Poll::Pending,
                    }
                })
                .await;
            }
            assert_eq!(first.take(), Some(Ok(())));
        }
        // What the first one had is free again.
        team.allreduce(&mut b, &plus, &mut room).await.unwrap();
        (a, b)
    });
    assert_eq!(outcome.all(), [([1; 2], [2; 2]); 2]);
}

#[test]
fn windows_outside_of_memory_are_errors() {
    use multipc::mpi::{Lent, endpoint::Endpoint};
    use multipc::remote::InMemoryToken;
    let mut rig: mpi_rig::Rig<2> = mpi_rig::Rig::new(mpi_rig::free());
    let mut staging = [0; 64];
    let courier: Courier<'_, 4> = Courier::new(&mut staging, u64::MAX - 8);
    let place = *rig.endpoints[0].place();
    let group = Group::world(&courier, &place);
    let mut data = data(0, 0, 1);
    let call = pin!(group.bcast(&mut data, 0));
    let mut operation = Operation::start(call);
    let endpoint: &mut Endpoint<'_, InMemoryToken> = &mut rig.endpoints[0];
    let mut port = Lent::new(&mut rig.writers[0], &mut rig.memories, 0);
    courier.serve(endpoint, &mut port);
    assert!(operation.look());
    let (addr, len) = (u64::MAX - 8, 8);
    let told = Some(Err(MpiError::Unreachable { addr, len }));
    assert_eq!(operation.take(), told);
    assert_eq!(courier.messages(), 0);
}

#[test]
fn operations_allocate_nothing() {
    use multipc::mpi::Lent;
    use multipc::time::Duration;
    let mut rig: mpi_rig::Rig<2> = mpi_rig::Rig::new(mpi_rig::free());
    let (mut left, mut right) = ([0; 4096], [0; 4096]);
    let couriers: [Courier<'_, 8>; 2] = [
        Courier::new(&mut left, rig.user),
        Courier::new(&mut right, rig.user),
    ];
    let places = [*rig.endpoints[0].place(), *rig.endpoints[1].place()];
    let information = allocation_counter::measure(|| {
        let groups = [
            Group::world(&couriers[0], &places[0]),
            Group::world(&couriers[1], &places[1]),
        ];
        let plus = FixedOp::<u32>::sum();
        let program = async |rank: usize| {
            let group = &groups[rank];
            let (mut sum, mut work, mut all) = ([rank as u32; 50], [0; 50], [0; 100]);
            group.barrier().await?;
            group.allreduce(&mut sum, &plus, &mut work).await?;
            group.allgather(&sum, &mut all).await?;
            assert_eq!(all, [1; 100]);
            group.bcast(&mut all, 1).await
        };
        let (first, second) = (pin!(program(0)), pin!(program(1)));
        let mut operations = [Operation::start(first), Operation::start(second)];
        while !operations.iter_mut().fold(true, |all, op| all & op.look()) {
            for (rank, courier) in couriers.iter().enumerate() {
                let node = rank as u16;
                let mut port = Lent::new(&mut rig.writers[rank], &mut rig.memories, node);
                let endpoint = &mut rig.endpoints[rank];
                courier.progress(endpoint, &mut port, rig.now, &mut ());
            }
            rig.now = rig.now + Duration::from_us(1);
        }
        assert!(operations.iter_mut().all(|op| op.take() == Some(Ok(()))));
    });
    assert_eq!(information.count_total, 0);
}

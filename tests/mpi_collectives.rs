//! Every collective, every algorithm, against serial computation.
#![cfg(feature = "alloc")]

mod common;

use std::future::Future;

use multipc::mpi::api::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Blocks, Communicator,
    Op, Reduce, ReduceScatter, Rooted, Scan,
};
use multipc::mpi::process::MpiError;
use multipc::mpi::reference::{Local, ReferenceConfig, run};
use proptest::prelude::*;

type Comm = Communicator<Local>;

/// Sizes of every test: to 17, powers of two and their neighbours among them.
const SIZES: std::ops::RangeInclusive<u32> = 1..=17;

/// Runs a program on a world of `size`, sends synchronous and arrival shuffled unless
/// `seed` is `None`.
fn world<R, F, Fut>(size: u32, seed: Option<u64>, algorithms: Algorithms, program: F) -> Vec<R>
where
    R: 'static,
    F: Fn(Comm) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<R, MpiError>> + 'static,
{
    let mut config = ReferenceConfig::default();
    config.seed = seed;
    if seed.is_some() {
        config.eager_limit = 0;
    }
    let results = run(size, config, |process| {
        let program = program.clone();
        async move {
            let comm = Communicator::world(process);
            comm.set_algorithms(algorithms);
            program(comm).await
        }
    });
    let results = results.unwrap_or_else(|error| panic!("P = {size}, {algorithms:?}: {error}"));
    results
        .into_iter()
        .map(|result| result.unwrap_or_else(|error| panic!("P = {size}: {error}")))
        .collect()
}

/// What rank `rank` has: `count` elements, all different.
fn own(rank: u32, count: usize) -> Vec<u64> {
    (0..count as u64)
        .map(|i| u64::from(rank) * 1_000 + i)
        .collect()
}

/// Roots worth a look.
fn roots(size: u32) -> Vec<u32> {
    let mut roots = vec![0, size / 2, size - 1];
    roots.dedup();
    roots
}

/// Composition of affine maps `x -> a x + b` over u32: associative, not commutative.
fn compose() -> Op<[u32; 2]> {
    Op::ordered(|f: &[u32; 2], g: &[u32; 2]| {
        [
            f[0].wrapping_mul(g[0]),
            g[0].wrapping_mul(f[1]).wrapping_add(g[1]),
        ]
    })
}

fn maps(rank: u32, count: usize) -> Vec<[u32; 2]> {
    (0..count as u32)
        .map(|i| [2 * rank + 3 + 2 * i, 7 * rank + i])
        .collect()
}

/// Fold of everybody's maps over a range of ranks, from the left.
fn composed(ranks: std::ops::Range<u32>, count: usize) -> Option<Vec<[u32; 2]>> {
    let op = compose();
    ranks.map(|rank| maps(rank, count)).reduce(|sum, next| {
        let pairs = sum.iter().zip(&next);
        pairs.map(|(a, b)| op.apply(a, b)).collect()
    })
}

fn each(mut change: impl FnMut(&mut Algorithms)) -> Algorithms {
    let mut algorithms = Algorithms::default();
    // Small, so that segments and sizes matter with little data.
    algorithms.short_bytes = 64;
    algorithms.segment_bytes = 24;
    change(&mut algorithms);
    algorithms
}

const COUNTS: [usize; 5] = [0, 1, 3, 16, 61];

#[test]
fn nobody_leaves_a_barrier_before_everybody_has_come() {
    use std::cell::Cell;
    use std::rc::Rc;
    for barrier in [Barrier::Dissemination, Barrier::Tree] {
        for size in SIZES {
            for seed in 0..10 {
                let here = Rc::new(Cell::new(0));
                world(
                    size,
                    Some(seed),
                    each(|a| a.barrier = barrier),
                    move |comm| {
                        let here = here.clone();
                        async move {
                            for round in 1..=3 {
                                here.set(here.get() + 1);
                                comm.barrier().await?;
                                assert!(here.get() >= round * size, "{barrier:?}");
                                comm.barrier().await?;
                            }
                            Ok(())
                        }
                    },
                );
            }
        }
    }
}

#[test]
fn bcast_gives_everybody_the_data_of_the_root() {
    for bcast in [
        Bcast::Auto,
        Bcast::Binomial,
        Bcast::Chain,
        Bcast::ScatterAllgather,
    ] {
        for size in SIZES {
            for root in roots(size) {
                for count in COUNTS {
                    let results = world(
                        size,
                        Some(1),
                        each(|a| a.bcast = bcast),
                        move |comm| async move {
                            let mut data = own(comm.rank(), count);
                            comm.bcast(&mut data, root).await?;
                            Ok(data)
                        },
                    );
                    for data in results {
                        assert_eq!(data, own(root, count), "{bcast:?} P {size} root {root}");
                    }
                }
            }
        }
    }
}

#[test]
fn reduce_keeps_the_order_of_ranks() {
    for reduce in [Reduce::Binomial, Reduce::Linear] {
        for size in SIZES {
            for root in roots(size) {
                for count in [0, 1, 5] {
                    let results = world(
                        size,
                        Some(2),
                        each(|a| a.reduce = reduce),
                        move |comm| async move {
                            comm.reduce(&maps(comm.rank(), count), &compose(), root)
                                .await
                        },
                    );
                    for (rank, result) in results.into_iter().enumerate() {
                        let expected = composed(0..size, count).filter(|_| rank as u32 == root);
                        assert_eq!(result, expected, "{reduce:?} P {size} root {root}");
                    }
                }
            }
        }
    }
}

#[test]
fn reduce_sums_at_the_root() {
    for reduce in [Reduce::Binomial, Reduce::Linear] {
        for size in SIZES {
            for root in roots(size) {
                let results = world(
                    size,
                    Some(3),
                    each(|a| a.reduce = reduce),
                    move |comm| async move { comm.reduce(&own(comm.rank(), 4), &Op::sum(), root).await },
                );
                let n = u64::from(size);
                let sums: Vec<u64> = (0..4).map(|i| 1_000 * n * (n - 1) / 2 + i * n).collect();
                for (rank, result) in results.into_iter().enumerate() {
                    let expected = (rank as u32 == root).then(|| sums.clone());
                    assert_eq!(result, expected, "{reduce:?} P {size} root {root}");
                }
            }
        }
    }
}

#[test]
fn allreduce_keeps_the_order_of_ranks() {
    for allreduce in [
        Allreduce::Auto,
        Allreduce::RecursiveDoubling,
        Allreduce::ReduceBcast,
    ] {
        for size in SIZES {
            for count in [0, 1, 20] {
                let algorithms = each(|a| a.allreduce = allreduce);
                let results = world(size, Some(4), algorithms, move |comm| async move {
                    comm.allreduce(&maps(comm.rank(), count), &compose()).await
                });
                for result in results {
                    assert_eq!(
                        Some(result),
                        composed(0..size, count),
                        "{allreduce:?} P {size}"
                    );
                }
            }
        }
    }
}

#[test]
fn allreduce_sums_everywhere() {
    for allreduce in [
        Allreduce::Auto,
        Allreduce::RecursiveDoubling,
        Allreduce::Ring,
        Allreduce::ReduceBcast,
    ] {
        for size in SIZES {
            for count in COUNTS {
                let algorithms = each(|a| a.allreduce = allreduce);
                let results = world(size, Some(5), algorithms, move |comm| async move {
                    comm.allreduce(&own(comm.rank(), count), &Op::sum()).await
                });
                let n = u64::from(size);
                let sums: Vec<u64> = (0..count as u64)
                    .map(|i| 1_000 * n * (n - 1) / 2 + i * n)
                    .collect();
                for result in results {
                    assert_eq!(result, sums, "{allreduce:?} P {size}");
                }
            }
        }
    }
}

#[test]
fn allreduce_of_floats_gives_all_ranks_the_same_bits_at_each_run() {
    for allreduce in [
        Allreduce::RecursiveDoubling,
        Allreduce::Ring,
        Allreduce::ReduceBcast,
    ] {
        for size in SIZES {
            let run = |seed| {
                let algorithms = each(|a| a.allreduce = allreduce);
                world(size, seed, algorithms, move |comm| async move {
                    let data: Vec<f64> = (0..9)
                        .map(|i| 1.0 / f64::from(3 + i + comm.rank() * comm.rank()))
                        .collect();
                    comm.allreduce(&data, &Op::sum()).await
                })
            };
            let first = run(None);
            assert!(first.iter().all(|result| *result == first[0]));
            assert_eq!(first, run(Some(1)));
            assert_eq!(first, run(Some(2)));
        }
    }
}

#[test]
fn a_ring_refuses_operators_that_do_not_commute() {
    let mut algorithms = Algorithms::default();
    algorithms.allreduce = Allreduce::Ring;
    algorithms.reduce_scatter = ReduceScatter::Ring;
    let results = world(3, None, algorithms, |comm| async move {
        let all = comm.allreduce(&maps(0, 3), &compose()).await;
        let part = comm.reduce_scatter(&maps(0, 3), &[1; 3], &compose()).await;
        Ok((all, part))
    });
    for (all, part) in results {
        assert_eq!(all, Err(MpiError::Unsupported));
        assert_eq!(part, Err(MpiError::Unsupported));
    }
}

#[test]
fn scan_and_exscan_give_prefixes_in_rank_order() {
    for scan in [Scan::Linear, Scan::RecursiveDoubling] {
        for size in SIZES {
            for count in [0, 1, 6] {
                let results = world(
                    size,
                    Some(6),
                    each(|a| a.scan = scan),
                    move |comm| async move {
                        let data = maps(comm.rank(), count);
                        let with = comm.scan(&data, &compose()).await?;
                        Ok((with, comm.exscan(&data, &compose()).await?))
                    },
                );
                for (rank, (with, below)) in results.into_iter().enumerate() {
                    let rank = rank as u32;
                    assert_eq!(
                        Some(with),
                        composed(0..rank + 1, count),
                        "{scan:?} P {size}"
                    );
                    assert_eq!(below, composed(0..rank, count), "{scan:?} P {size}");
                }
            }
        }
    }
}

#[test]
fn gather_and_scatter_are_inverse() {
    for rooted in [Rooted::Linear, Rooted::Binomial] {
        for size in SIZES {
            for root in roots(size) {
                for count in [0, 1, 7] {
                    let algorithms = each(|a| (a.gather, a.scatter) = (rooted, rooted));
                    let results = world(size, Some(7), algorithms, move |comm| async move {
                        let all = comm.gather(&own(comm.rank(), count), root).await?;
                        let data = all.clone().unwrap_or_default();
                        Ok((all, comm.scatter(&data, count, root).await?))
                    });
                    let expected: Vec<u64> = (0..size).flat_map(|r| own(r, count)).collect();
                    for (rank, (all, back)) in results.into_iter().enumerate() {
                        let expected = (rank as u32 == root).then(|| expected.clone());
                        assert_eq!(all, expected, "{rooted:?} P {size} root {root}");
                        assert_eq!(back, own(rank as u32, count), "{rooted:?} P {size}");
                    }
                }
            }
        }
    }
}

/// Counts with zeros among them.
fn uneven(size: u32) -> Vec<usize> {
    (0..size as usize).map(|rank| (rank * 5 + 3) % 4).collect()
}

#[test]
fn gatherv_and_scatterv_are_inverse() {
    for size in SIZES {
        for root in roots(size) {
            let results = world(
                size,
                Some(8),
                Algorithms::default(),
                move |comm| async move {
                    let counts = uneven(size);
                    let count = counts[comm.rank() as usize];
                    // Counts matter at the root only.
                    let known = if comm.rank() == root { counts } else { vec![] };
                    let all = comm.gatherv(&own(comm.rank(), count), &known, root).await?;
                    let data = all.clone().unwrap_or_default();
                    Ok((all, comm.scatterv(&data, &known, count, root).await?))
                },
            );
            let counts = uneven(size);
            let expected: Vec<u64> = (0..size).flat_map(|r| own(r, counts[r as usize])).collect();
            for (rank, (all, back)) in results.into_iter().enumerate() {
                let expected = (rank as u32 == root).then(|| expected.clone());
                assert_eq!(all, expected, "P {size} root {root}");
                assert_eq!(back, own(rank as u32, counts[rank]), "P {size} root {root}");
            }
        }
    }
}

#[test]
fn allgather_with_and_without_counts() {
    for allgather in [
        Allgather::Auto,
        Allgather::Ring,
        Allgather::Bruck,
        Allgather::Linear,
        Allgather::GatherBcast,
    ] {
        for size in SIZES {
            for count in [0, 1, 9] {
                let algorithms = each(|a| a.allgather = allgather);
                let results = world(size, Some(9), algorithms, move |comm| async move {
                    let counts = uneven(size);
                    let mine = counts[comm.rank() as usize];
                    let even = comm.allgather(&own(comm.rank(), count)).await?;
                    let data = own(comm.rank(), mine);
                    Ok((even, comm.allgatherv(&data, &counts).await?))
                });
                let counts = uneven(size);
                let even: Vec<u64> = (0..size).flat_map(|r| own(r, count)).collect();
                let odd: Vec<u64> = (0..size).flat_map(|r| own(r, counts[r as usize])).collect();
                for result in results {
                    assert_eq!(
                        result,
                        (even.clone(), odd.clone()),
                        "{allgather:?} P {size}"
                    );
                }
            }
        }
    }
}

/// Element `i` of what `from` has for `to`.
fn parcel(from: u32, to: u32, count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|i| from * 10_000 + to * 100 + i)
        .collect()
}

#[test]
fn alltoall_transposes() {
    for alltoall in [
        Alltoall::Auto,
        Alltoall::Pairwise,
        Alltoall::Linear,
        Alltoall::Bruck,
    ] {
        for size in SIZES {
            for count in [0, 1, 4, 70] {
                let algorithms = each(|a| a.alltoall = alltoall);
                let results = world(size, Some(10), algorithms, move |comm| async move {
                    let data: Vec<u32> = (0..size)
                        .flat_map(|to| parcel(comm.rank(), to, count))
                        .collect();
                    comm.alltoall(&data).await
                });
                for (rank, result) in results.into_iter().enumerate() {
                    let expected: Vec<u32> = (0..size)
                        .flat_map(|from| parcel(from, rank as u32, count))
                        .collect();
                    assert_eq!(result, expected, "{alltoall:?} P {size} count {count}");
                }
            }
        }
    }
}

/// How much `from` has for `to` in the case `case`.
fn share(case: usize, from: u32, to: u32) -> usize {
    match case {
        // Nothing at all; some zeros; one rank sends nothing; one receives nothing;
        // to self only; one pair only.
        0 => 0,
        1 => (from as usize * 3 + to as usize * 5) % 4,
        2 => usize::from(from != 1) * 2,
        3 => usize::from(to != 1) * 2,
        4 => usize::from(from == to) * 3,
        _ => usize::from((from, to) == (0, 2)) * 5,
    }
}

#[test]
fn alltoallv_delivers_each_parcel_to_its_place() {
    for alltoallv in [Alltoallv::Pairwise, Alltoallv::Linear] {
        for size in SIZES {
            for case in 0..6 {
                let algorithms = each(|a| a.alltoallv = alltoallv);
                let results = world(size, Some(11), algorithms, move |comm| async move {
                    let me = comm.rank();
                    let counts: Vec<usize> = (0..size).map(|to| share(case, me, to)).collect();
                    let data: Vec<u32> = (0..size)
                        .flat_map(|to| parcel(me, to, share(case, me, to)))
                        .collect();
                    let mut from = Blocks::packed(&counts);
                    // Blocks of the result: last rank first, one element apart.
                    let mut to = Blocks::default();
                    let mut end = 1;
                    for rank in (0..size).rev() {
                        to.counts.insert(0, share(case, rank, me));
                        to.displacements.insert(0, end);
                        end += share(case, rank, me) + 1;
                    }
                    // A wild displacement does not matter where nothing lies.
                    for (count, start) in counts.iter().zip(&mut from.displacements) {
                        if *count == 0 {
                            *start = usize::MAX;
                        }
                    }
                    let mut buffer = vec![u32::MAX; end];
                    comm.alltoallv(&data, &from, &mut buffer, &to).await?;
                    Ok(buffer)
                });
                for (me, buffer) in results.into_iter().enumerate() {
                    let mut expected = vec![u32::MAX];
                    for rank in (0..size).rev() {
                        expected.extend(parcel(rank, me as u32, share(case, rank, me as u32)));
                        expected.push(u32::MAX);
                    }
                    assert_eq!(buffer, expected, "{alltoallv:?} P {size} case {case}");
                }
            }
        }
    }
}

#[test]
fn alltoallv_refuses_blocks_that_overlap_in_the_result_only() {
    let results = world(2, None, Algorithms::default(), |comm| async move {
        let overlapping = Blocks {
            counts: vec![2, 2],
            displacements: vec![0, 1],
        };
        let apart = Blocks::packed(&[2, 2]);
        let mut buffer = [0u8; 4];
        let data = [comm.rank() as u8, 7, 8];
        let refused = comm
            .alltoallv(&data, &apart, &mut buffer, &overlapping)
            .await;
        comm.alltoallv(&data, &overlapping, &mut buffer, &apart)
            .await?;
        Ok((refused, buffer))
    });
    let refused = Err(MpiError::OutOfBounds {
        index: 1,
        length: 3,
    });
    assert_eq!(results[0], (refused, [0, 7, 1, 7]));
    assert_eq!(results[1], (refused, [7, 8, 7, 8]));
}

#[test]
fn reduce_scatter_gives_each_its_part() {
    for reduce_scatter in [
        ReduceScatter::Pairwise,
        ReduceScatter::Ring,
        ReduceScatter::ReduceScatterv,
    ] {
        for size in SIZES {
            let algorithms = each(|a| a.reduce_scatter = reduce_scatter);
            let ordered = reduce_scatter != ReduceScatter::Ring;
            let results = world(size, Some(12), algorithms, move |comm| async move {
                let counts = uneven(size);
                let total = counts.iter().sum();
                let sums = comm
                    .reduce_scatter(&own(comm.rank(), total), &counts, &Op::sum())
                    .await?;
                let even = comm
                    .reduce_scatter_block(&own(comm.rank(), 2 * size as usize), &Op::max())
                    .await?;
                let maps = match ordered {
                    true => {
                        let data = maps(comm.rank(), total);
                        comm.reduce_scatter(&data, &counts, &compose()).await?
                    }
                    false => vec![],
                };
                Ok((sums, even, maps))
            });
            let counts = uneven(size);
            let total: usize = counts.iter().sum();
            let n = u64::from(size);
            let mut start = 0;
            for (rank, (sums, even, maps)) in results.into_iter().enumerate() {
                let range = start..start + counts[rank];
                let expected: Vec<u64> = range
                    .clone()
                    .map(|i| 1_000 * n * (n - 1) / 2 + i as u64 * n)
                    .collect();
                assert_eq!(sums, expected, "{reduce_scatter:?} P {size}");
                let highest = own(size - 1, 2 * size as usize);
                assert_eq!(even, highest[2 * rank..2 * rank + 2]);
                if ordered {
                    let all = composed(0..size, total).unwrap();
                    assert_eq!(maps, all[range.clone()], "{reduce_scatter:?} P {size}");
                }
                start = range.end;
            }
        }
    }
}

#[test]
fn standard_operators() {
    let results = world(3, None, Algorithms::default(), |comm| async move {
        let rank = comm.rank() as i32;
        let bits = [[0b1100, 0], [0b1010, 3], [0b1001, 0]][rank as usize];
        let value = [[2.5, 0.0], [-1.0, 1.0], [2.5, 2.0]][rank as usize];
        let (max, min) = (Op::max(), Op::min());
        Ok((
            [
                comm.allreduce(&[rank - 5], &Op::sum()).await?[0],
                comm.allreduce(&[rank - 5], &Op::prod()).await?[0],
                comm.allreduce(&[rank - 5], &min).await?[0],
                comm.allreduce(&[rank - 5], &max).await?[0],
            ],
            [
                comm.allreduce(&bits, &Op::land()).await?,
                comm.allreduce(&bits, &Op::lor()).await?,
                comm.allreduce(&bits, &Op::lxor()).await?,
                comm.allreduce(&bits, &Op::band()).await?,
                comm.allreduce(&bits, &Op::bor()).await?,
                comm.allreduce(&bits, &Op::bxor()).await?,
            ],
            [
                comm.allreduce(&[value], &Op::minloc()).await?[0],
                comm.allreduce(&[value], &Op::maxloc()).await?[0],
            ],
        ))
    });
    for (arithmetic, bits, located) in results {
        assert_eq!(arithmetic, [-12, -60, -5, -3]);
        let expected: [[i32; 2]; 6] = [
            [1, 0],
            [1, 1],
            [1, 1],
            [0b1000, 0],
            [0b1111, 3],
            [0b1111, 3],
        ];
        assert_eq!(bits.concat(), expected.concat());
        // Equal values: the lower index.
        assert_eq!(located, [[-1.0, 1.0], [2.5, 0.0]]);
    }
}

#[test]
fn wrong_roots_and_counts_are_refused() {
    let results = world(2, None, Algorithms::default(), |comm| async move {
        let root = comm.bcast(&mut [0u8], 2).await;
        let count = comm.allgatherv(&[0u8; 3], &[2, 2]).await;
        let blocks = comm.alltoall(&[0u8; 3]).await;
        Ok((root, count, blocks))
    });
    for (root, count, blocks) in results {
        assert_eq!(root, Err(MpiError::InvalidRoot { root: 2, size: 2 }));
        let (three, two) = (3, 2);
        let expected = MpiError::InvalidCount {
            count: three,
            expected: two,
        };
        assert_eq!(count, Err(expected));
        assert_eq!(blocks, Err(expected));
    }
}

#[test]
fn a_refused_call_still_counts_as_one() {
    // Both ranks are refused; the next operations must meet.
    let results = world(2, None, Algorithms::default(), |comm| async move {
        let refused = comm.alltoall(&[0u8; 3]).await.is_err();
        Ok((refused, comm.allreduce(&[1u8], &Op::sum()).await?))
    });
    assert_eq!(results, [(true, vec![2]), (true, vec![2])]);
}

#[test]
fn several_collectives_are_outstanding_and_complete_in_any_order() {
    for seed in 0..50 {
        let results = world(6, Some(seed), Algorithms::default(), |comm| async move {
            let rank = u64::from(comm.rank());
            let barrier = comm.ibarrier();
            let sum = comm.iallreduce(&[rank], &Op::sum());
            let all = comm.iallgather(&[rank]);
            let cast = comm.ibcast(&[rank + 7], 3)?;
            let prefix = comm.iscan(&[rank], &Op::sum());
            let parts = comm.ireduce_scatter(&[rank; 6], &[1; 6], &Op::max());
            // Each rank waits in another order.
            let mut results = (vec![], vec![], vec![], vec![], vec![]);
            if rank % 2 == 0 {
                results.4 = parts.wait().await?;
                results.3 = prefix.wait().await?;
                results.2 = cast.wait().await?;
                results.1 = all.wait().await?;
                results.0 = sum.wait().await?;
                barrier.wait().await?;
            } else {
                barrier.wait().await?;
                results.0 = sum.wait().await?;
                results.1 = all.wait().await?;
                results.4 = parts.wait().await?;
                results.2 = cast.wait().await?;
                results.3 = prefix.wait().await?;
            }
            Ok(results)
        });
        for (rank, result) in results.into_iter().enumerate() {
            let rank = rank as u64;
            let all = (0..6).collect();
            let prefix = vec![rank * (rank + 1) / 2];
            assert_eq!(result, (vec![15], all, vec![10], prefix, vec![5]));
        }
    }
}

#[test]
fn a_started_barrier_goes_on_while_its_rank_blocks_in_a_receive() {
    // Rank 0 starts the barrier and blocks in a receive from rank 1, which sends only
    // after its barrier: that needs rank 0's part of the later rounds.
    let results = world(8, Some(3), Algorithms::default(), |comm| async move {
        let barrier = comm.ibarrier();
        let mut got = 0;
        if comm.rank() == 0 {
            got = comm.recv::<u32>(1, 1, 5).await?.0[0];
            barrier.wait().await?;
        } else {
            barrier.wait().await?;
            if comm.rank() == 1 {
                comm.send(&[17u32], 0, 5).await?;
            }
        }
        Ok(got)
    });
    assert_eq!(results[0], 17);
}

#[test]
fn collectives_progress_in_tests_alone() {
    let results = world(5, Some(4), Algorithms::default(), |comm| async move {
        let mut request = comm.iallreduce(&[comm.rank()], &Op::sum());
        loop {
            if let Some(result) = request.test().await {
                return result;
            }
        }
    });
    assert!(results.iter().all(|sum| sum[..] == [10]));
}

#[test]
fn collectives_and_messages_of_the_same_communicator_do_not_mix() {
    let results = world(4, Some(5), Algorithms::default(), |comm| async move {
        let next = (comm.rank() + 1) % 4;
        // A receive of any tag from anybody is open while collectives run.
        let any = comm.irecv::<u32>(
            10,
            multipc::mpi::api::ANY_SOURCE,
            multipc::mpi::api::ANY_TAG,
        )?;
        let sum = comm.allreduce(&[1u32], &Op::sum()).await?;
        comm.barrier().await?;
        comm.send(&[comm.rank()], next, 0).await?;
        let (data, _) = any.wait().await?;
        Ok((sum[0], data))
    });
    for (rank, result) in results.into_iter().enumerate() {
        assert_eq!(result, (4, vec![(rank as u32 + 3) % 4]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(common::cases(64)))]

    /// Split by random colours and keys, then collectives inside of each part at the
    /// same time, then on the whole.
    #[test]
    fn collectives_of_split_communicators(
        ranks in prop::collection::vec((prop::option::of(0u32..3), -2i32..3), 1..14),
        seed: u64,
    ) {
        let size = ranks.len() as u32;
        let plan = ranks.clone();
        let results = world(size, Some(seed), Algorithms::default(), move |comm| {
            let (color, key) = plan[comm.rank() as usize];
            async move {
                let part = comm.split(color, key).await?;
                let mut inside = None;
                if let Some(part) = part {
                    let members = part.allgather(&[comm.rank()]).await?;
                    let sum = part.allreduce(&[comm.rank()], &Op::sum()).await?;
                    let twin = part.dup().await?;
                    let below = twin.exscan(&[comm.rank()], &Op::sum()).await?;
                    inside = Some((part.rank(), members, sum[0], below));
                }
                let all = comm.allgather(&[comm.rank()]).await?;
                Ok((inside, all))
            }
        });
        for (rank, (inside, all)) in results.into_iter().enumerate() {
            prop_assert_eq!(all, (0..size).collect::<Vec<_>>());
            let (color, _) = ranks[rank];
            let Some(color) = color else {
                prop_assert_eq!(inside, None);
                continue;
            };
            let mut members: Vec<u32> = (0..size).collect();
            members.retain(|r| ranks[*r as usize].0 == Some(color));
            members.sort_by_key(|r| (ranks[*r as usize].1, *r));
            let place = members.iter().position(|r| *r == rank as u32).unwrap();
            let sum: u32 = members.iter().sum();
            let below = (place > 0).then(|| vec![members[..place].iter().sum()]);
            prop_assert_eq!(inside, Some((place as u32, members, sum, below)));
        }
    }

    /// Random counts and roots through every rooted and unrooted data movement.
    #[test]
    fn random_counts(
        counts in prop::collection::vec(0usize..40, 1..12),
        root in any::<prop::sample::Index>(),
        seed: u64,
        which in 0usize..4,
    ) {
        let size = counts.len() as u32;
        let root = root.index(counts.len()) as u32;
        let algorithms = each(|a| {
            a.allgather = [
                Allgather::Ring, Allgather::Bruck, Allgather::Linear, Allgather::GatherBcast,
            ][which];
            a.alltoallv = [Alltoallv::Pairwise, Alltoallv::Linear][which % 2];
            a.reduce_scatter = [
                ReduceScatter::Pairwise, ReduceScatter::Ring, ReduceScatter::ReduceScatterv,
                ReduceScatter::Pairwise,
            ][which];
        });
        let plan = counts.clone();
        let results = world(size, Some(seed), algorithms, move |comm| {
            let counts = plan.clone();
            async move {
                let rank = comm.rank();
                let count = counts[rank as usize];
                let data = own(rank, count);
                let all = comm.allgatherv(&data, &counts).await?;
                let at_root = comm.gatherv(&data, &counts, root).await?;
                let source = at_root.clone().unwrap_or_default();
                let back = comm.scatterv(&source, &counts, count, root).await?;
                // Rank r sends counts[j] elements to rank j: everybody gets `count` of each.
                let from = Blocks::packed(&counts);
                let to = Blocks::packed(&vec![count; counts.len()]);
                let mut table = vec![0; to.end()];
                comm.alltoallv(&all, &from, &mut table, &to).await?;
                let sums = comm.reduce_scatter(&all, &counts, &Op::sum()).await?;
                Ok((all, at_root, back, table, sums))
            }
        });
        let all: Vec<u64> = (0..size).flat_map(|r| own(r, counts[r as usize])).collect();
        for (rank, (got, at_root, back, table, sums)) in results.into_iter().enumerate() {
            let mine = own(rank as u32, counts[rank]);
            prop_assert_eq!(&got, &all);
            prop_assert_eq!(at_root, (rank as u32 == root).then(|| all.clone()));
            prop_assert_eq!(&back, &mine);
            prop_assert_eq!(table, mine.repeat(size as usize));
            let scaled: Vec<u64> = mine.iter().map(|x| x * u64::from(size)).collect();
            prop_assert_eq!(sums, scaled);
        }
    }
}

//! After very many messages nothing is missing and nothing is left over.
//!
//! 50,000 messages; `MULTIPC_LONG=1` exchanges 1,000,000.
#![cfg(feature = "alloc")]

mod common;
#[path = "common/process.rs"]
mod process;

use multipc::mpi::credit::{CreditMode, conservation};
use multipc::mpi::process::{MpiError, Outgoing, Pattern, PointToPoint, SendMode};
use multipc::mpi::world::media::{Memory, MemoryConfig};
use multipc::mpi::world::{Process, World, WorldConfig};
use multipc::mpi::{ArrivalMode, MpiConfig};
use multipc::time::Duration;
use process::wait;

const RANKS: u32 = 4;
/// Messages of a rank that are open at once.
const BATCH: u32 = 20;

fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Message `tag` of a rank: who gets it, and its bytes. Two thirds are short,
/// one in ten goes by rendezvous.
fn offset(tag: u32) -> u32 {
    1 + (mix(u64::from(tag), 1) % u64::from(RANKS - 1)) as u32
}

fn length(source: u32, tag: u32) -> usize {
    let dice = mix(u64::from(tag) << 8 | u64::from(source), 2);
    let most = match dice % 30 {
        0 => 20_000,
        1 | 2 => 4_096,
        3..10 => 2_048,
        10 => 1,
        _ => 120,
    };
    (dice >> 8) as usize % most
}

fn bytes(source: u32, tag: u32) -> Vec<u8> {
    let mut seed = mix(u64::from(tag), u64::from(source));
    let words = (0..length(source, tag).div_ceil(8)).flat_map(|_| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        seed.to_le_bytes()
    });
    words.take(length(source, tag)).collect()
}

/// A receive that may get the message: exactly it; by its tag from anybody; the
/// next of its sender; any. Each kind has a context of its own.
fn pattern(source: u32, tag: u32) -> Pattern {
    let kind = tag % 4;
    Pattern {
        context: kind,
        source: kind.is_multiple_of(2).then_some(source),
        tag: (kind < 2).then_some(tag as i32),
    }
}

/// Exchanges messages `first..first + batches * BATCH`; the sum over what came,
/// and over what had to.
async fn exchange(process: Process, first: u32, batches: u32) -> (u64, u64) {
    let me = process.world_rank();
    let (mut got, mut due) = (0u64, 0u64);
    for batch in 0..batches {
        let tags = first + batch * BATCH..first + (batch + 1) * BATCH;
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        // Some before, some after the sends: so that messages wait for receives.
        let early = |tag: u32| mix(u64::from(tag), u64::from(me) + 7).is_multiple_of(2);
        let receive = |tag: u32| {
            let source = (me + RANKS - offset(tag)) % RANKS;
            process.irecv(pattern(source, tag), 20_000).unwrap()
        };
        // The order of receives of one kind is that of the messages.
        let early_kinds: Vec<u32> = (0..4).filter(|kind| early(batch * 4 + kind)).collect();
        let is_early = |tag: &u32| early_kinds.contains(&(tag % 4));
        receives.extend(tags.clone().filter(is_early).map(receive));
        for tag in tags.clone() {
            let to = Outgoing {
                dst: (me + offset(tag)) % RANKS,
                context: tag % 4,
                src_rank: me,
                tag: tag as i32,
                internal: false,
                mode: match mix(u64::from(tag), 3) % 16 {
                    0 => SendMode::Synchronous,
                    _ => SendMode::Standard,
                },
            };
            sends.push(process.isend(to, bytes(me, tag)).unwrap());
            let source = (me + RANKS - offset(tag)) % RANKS;
            due = due.wrapping_add(mix(u64::from(source), u64::from(tag)));
        }
        if batch % 8 == me {
            process.compute(Duration::from_us(50)).await;
        }
        receives.extend(tags.filter(|tag| !is_early(tag)).map(receive));
        for id in receives {
            let message = wait(&process, id).await.unwrap();
            let (source, tag) = (message.status.source, message.status.tag as u32);
            assert_eq!(message.data, bytes(source, tag), "{source} {tag}");
            got = got.wrapping_add(mix(u64::from(source), u64::from(tag)));
        }
        for id in sends {
            wait(&process, id).await.unwrap();
        }
    }
    // What is still on its way, credits above all.
    for _ in 0..4 {
        process.compute(Duration::from_us(2_000)).await;
        process.progress().await;
    }
    (got, due)
}

fn nothing_is_left(world: &mut World<Memory>, blocks: &[u32]) {
    for rank in 0..RANKS {
        let engine = world.endpoint(rank).unwrap();
        engine.check_invariants().unwrap();
        assert_eq!(engine.requests_in_use(), 0);
        assert_eq!(engine.pending().count(), 0);
        assert_eq!((0..4).map(|c| engine.unexpected(c)).sum::<usize>(), 0);
        assert_eq!(engine.free_blocks(), blocks[rank as usize]);
        let stats = engine.stats();
        assert_eq!((stats.closed, stats.strays, stats.port_errors), (0, 0, 0));
        for peer in (0..RANKS).filter(|peer| *peer != rank) {
            let there = world.endpoint(peer).unwrap();
            let (out, back) = (engine.credit(peer).unwrap(), there.credit(rank).unwrap());
            let written = out.counter_unread(back);
            conservation(out, back, 0, written).unwrap();
            assert_eq!(out.rx_full(), 0);
            assert_eq!(out.eager_out(), back.eager_matched());
            // Owed are fewer than are worth a message of their own.
            assert!(out.rx_owed() < out.config().threshold, "{out:?}");
        }
    }
    // The user's memory is whole again: all of it can be had at once.
    let all = world.config().user_bytes as usize;
    let whole = world.run(|process| async move {
        let nobody = Pattern {
            context: 99,
            source: None,
            tag: None,
        };
        let id = process.irecv(nobody, all).unwrap();
        process.cancel(id).await && wait(&process, id).await == Err(MpiError::Cancelled)
    });
    assert_eq!(whole.unwrap().results, [true; RANKS as usize]);
}

fn run(world: &mut World<Memory>, first: u32, batches: u32) {
    let outcome = world.run(|process| exchange(process, first, batches));
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    for (got, due) in outcome.results {
        assert_eq!(got, due);
    }
}

fn leaves_nothing(mpi: MpiConfig, messages: u32) {
    let mut config = WorldConfig::new(RANKS, mpi);
    config.user_bytes = 4 << 20;
    let mut memory = MemoryConfig::new(RANKS as u16);
    memory.arena_bytes = config.arena_bytes(RANKS as u16) as usize;
    let mut world = World::new(Memory::new(memory), config).unwrap();
    let blocks: Vec<u32> = (0..RANKS)
        .map(|rank| world.endpoint(rank).unwrap().free_blocks())
        .collect();
    let batches = messages.div_ceil(RANKS * BATCH);
    let few = batches / 10;
    // The first tenth takes what the host's tables need; what follows must do
    // with it.
    run(&mut world, 0, few);
    nothing_is_left(&mut world, &blocks);
    let short = allocation_counter::measure(|| run(&mut world, few * BATCH, few));
    let long = allocation_counter::measure(|| {
        run(&mut world, 2 * few * BATCH, batches - 2 * few);
    });
    nothing_is_left(&mut world, &blocks);
    let sent: u64 = (0..RANKS)
        .map(|rank| world.endpoint(rank).unwrap().stats())
        .map(|stats| stats.shorts + stats.requests)
        .sum();
    assert_eq!(sent, u64::from(batches * BATCH * RANKS));
    println!("{sent} messages; {short:?}; {long:?}");
    assert!(long.bytes_current.abs() < 100_000, "{long:?}");
    assert!(
        long.bytes_max < 2 * short.bytes_max + 100_000,
        "{short:?} {long:?}"
    );
}

#[test]
fn after_very_many_messages_nothing_is_missing_or_left_over() {
    let messages = if common::is_long() { 1_000_000 } else { 50_000 };
    leaves_nothing(MpiConfig::mpi2(), messages);
}

#[test]
fn nor_with_few_slots_and_credits_in_a_counter_word() {
    let mpi = MpiConfig::mpi2()
        .with_slots(4)
        .with_arrival(ArrivalMode::Slots)
        .with_credit_mode(CreditMode::Counter);
    leaves_nothing(mpi, if common::is_long() { 100_000 } else { 10_000 });
}

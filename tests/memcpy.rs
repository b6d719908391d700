//! What arrives is what was sent, byte for byte, and nothing else changes.
#![cfg(feature = "alloc")]

mod common;
mod machine_rig;

use common::cases;
use machine_rig::{Rng, assert_clean, quick, run_to};
use multipc::cluster::Cluster;
use multipc::fabric::topology::Topology;
use multipc::fabric::{Host, NoProbe};
use multipc::put::{AddError, Control, Entry};
use multipc::remote::{Flags, Progress, RemoteWrite, Transfer};
use multipc::time::Duration;
use proptest::prelude::*;

/// First byte of the source area, on both nodes.
const SOURCE: u32 = 0x1_0000;
/// First byte of the target area, on both nodes.
const TARGET: u32 = 0x4_0000;
/// Bytes of each area.
const AREA: usize = 0x3_0000;
/// LMI_NEW: moves when the report is in memory, after the data.
const LMI_NEW: u8 = 0x68;

fn two_boards() -> Cluster {
    let mut config = quick();
    config.board.memory_bytes = TARGET as usize + AREA;
    config.entries = 64;
    Cluster::boot(&Topology::pair().unwrap(), &config).unwrap()
}

/// Posts one page with a report and runs until the report is there.
fn send(cluster: &mut Cluster, from: u16, local: u32, remote: u32, length: u32) {
    let (machine, writers) = cluster.parts();
    let to = 1 - from;
    let before = machine.nodes()[usize::from(to)].ddc().register(LMI_NEW);
    let flags = Control::LMP.with(Control::LMI);
    let entry = Entry::page(to, 1, local, remote, length, flags);
    let sender = writers[usize::from(from)].put_mut();
    let mut host = machine.host(from).unwrap();
    while let Err(error) = sender.add_entry(&mut host, entry) {
        assert!(matches!(error, AddError::RingFull { .. }), "{error}");
        sender.flush_lme(&mut host, 64, |_| {}).unwrap();
    }
    run_to(machine, "no report", |m| {
        m.nodes()[usize::from(to)].ddc().register(LMI_NEW) != before
    });
    let receiver = writers[usize::from(to)].put_mut();
    let mut host = machine.host(to).unwrap();
    let served = receiver.flush_lmr(&mut host, 64, |_| {}).unwrap();
    assert_eq!(served.reports, 1);
}

/// Sends one page over a target of known bytes; 64 bytes on both sides of it
/// must stay.
fn arrives_as_by_memcpy(cluster: &mut Cluster, rng: &mut Rng, [local, remote, length]: [u32; 3]) {
    const GUARD: u32 = 64;
    let from = (rng.next() & 1) as u16;
    let data = rng.bytes(length as usize);
    let mut expected = rng.bytes((length + 2 * GUARD) as usize);
    cluster.store(from, local, &data).unwrap();
    cluster.store(1 - from, remote - GUARD, &expected).unwrap();
    expected[GUARD as usize..][..length as usize].copy_from_slice(&data);
    send(cluster, from, local, remote, length);
    let mut found = vec![0; expected.len()];
    cluster.load(1 - from, remote - GUARD, &mut found).unwrap();
    let wrong = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(wrong, None, "{length} bytes from {local:#x} to {remote:#x}");
}

fn every_alignment(lengths: impl Iterator<Item = u32> + Clone) {
    let mut cluster = two_boards();
    let mut rng = Rng(1);
    for (local, remote) in (0..16).map(|i| (i / 4, i % 4)) {
        for length in lengths.clone() {
            // Also relative to the lines of a cache and the blocks of a burst.
            let local = SOURCE + 128 + 4 * rng.below(16) + local;
            let remote = TARGET + 128 + 4 * rng.below(16) + remote;
            arrives_as_by_memcpy(&mut cluster, &mut rng, [local, remote, length]);
        }
    }
    assert_clean(cluster.machine());
}

#[test]
fn pages_of_1_to_70_bytes_arrive_at_every_alignment() {
    every_alignment(1..=70);
}

#[test]
fn pages_about_one_packet_arrive_at_every_alignment() {
    every_alignment(526..=540);
}

#[test]
fn pages_about_4096_bytes_arrive_at_every_alignment() {
    every_alignment(4095..=4097);
}

#[test]
fn pages_of_65535_bytes_arrive_at_every_alignment() {
    every_alignment(65_535..=65_535);
}

/// A copy by `start`, in the words of the spec: at most so many bytes.
fn transfer(local: u32, remote: u32, length: u32, tag: u32, to: u16) -> Transfer {
    Transfer {
        node: to,
        local: local.into(),
        remote: remote.into(),
        length: length.into(),
        flags: Flags {
            notify_receiver: true,
            tag,
        },
    }
}

/// Carries out transfers `(local, remote, length)` offsets from node 0 to node
/// 1, several at once, and compares the whole target area with a copy made by
/// `copy_from_slice` in the same order.
fn transfers_copy(list: &[(u32, u32, u32)]) {
    let mut cluster = two_boards();
    let mut rng = Rng(list.len() as u64);
    let source = rng.bytes(AREA);
    let mut expected = rng.bytes(AREA);
    cluster.store(0, SOURCE, &source).unwrap();
    cluster.store(1, TARGET, &expected).unwrap();
    for &(local, remote, length) in list {
        let (local, remote, length) = (local as usize, remote as usize, length as usize);
        expected[remote..remote + length].copy_from_slice(&source[local..local + length]);
    }

    type Cpu<'m> = Host<'m, 'static, NoProbe>;
    let (machine, writers) = cluster.parts();
    let mut waiting = list.iter().enumerate();
    let mut next = waiting.next();
    let mut tokens = Vec::new();
    let mut tags = Vec::new();
    let end = machine.now() + Duration::from_us(100_000);
    while tags.len() < list.len() || !tokens.is_empty() || next.is_some() {
        assert!(machine.now() < end, "{} of {}", tags.len(), list.len());
        while let Some((tag, &(local, remote, length))) = next {
            let wanted = transfer(SOURCE + local, TARGET + remote, length, tag as u32, 1);
            let mut host = machine.host(0).unwrap();
            match writers[0].start(&mut host, wanted) {
                Ok(token) => tokens.push(token),
                Err(multipc::put::WriteError::QueueFull { .. }) => break,
                Err(error) => panic!("{error}"),
            }
            next = waiting.next();
        }
        for node in [0, 1] {
            let mut host: Cpu<'_> = machine.host(node).unwrap();
            writers[usize::from(node)].poll(&mut host).unwrap();
        }
        tokens.retain(|token| writers[0].progress(token).unwrap() == Progress::Pending);
        while let Some(arrival) = writers[1].arrival() {
            tags.push(arrival.tag);
        }
    }
    // Told once each, in the order of their start.
    assert_eq!(tags, (0..list.len() as u32).collect::<Vec<_>>());
    let mut found = vec![0; AREA];
    cluster.load(1, TARGET, &mut found).unwrap();
    let wrong = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(wrong, None);
    assert_clean(cluster.machine());
}

#[test]
fn transfers_over_65535_bytes_are_copied() {
    transfers_copy(&[(0, 3, 65_536), (1, 0x1_8001, 65_537), (5, 2, 150_001)]);
}

/// Offset and offset and length, inside the areas.
fn piece(longest: u32) -> impl Strategy<Value = (u32, u32, u32)> {
    (1..=longest).prop_flat_map(|length| {
        let room = AREA as u32 - length;
        (0..=room, 0..=room, Just(length))
    })
}

fn pieces() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    let piece = prop_oneof![
        8 => piece(80),
        4 => piece(1_200),
        1 => piece(10_000),
    ];
    prop::collection::vec(piece, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    #[test]
    fn lists_of_transfers_are_copied_in_order(list in pieces()) {
        transfers_copy(&list);
    }

    #[test]
    fn long_transfers_are_copied(long in piece(100_000), short in piece(80)) {
        transfers_copy(&[long, short]);
    }
}

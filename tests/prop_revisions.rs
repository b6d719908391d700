//! A remote write is a copy, on every revision of the silicon.

mod ddc_rig;
mod put_rig;

use ddc_rig::LAST;
use multipc::ddc::{Erratum, Revision};
use multipc::put::{Control, Entry, Event, Model};
use multipc::remote::Arrival;
use proptest::prelude::*;
use put_rig::{FAR, NEAR, Writers, at, fill, pair, serve};

const REVISIONS: [Revision; 3] = [Revision::IDEAL, Revision::RUN_1, Revision::RUN_2];
const MODELS: [Model; 2] = [Model::Polling, Model::Interrupt];

/// Writes, and holds memory against a copy, two words beyond included.
fn copies(machine: &mut Writers, local: u32, remote: u32, length: u32, tag: u32) {
    let bytes = fill(&mut machine.rig, 0, NEAR, (local + length) as usize);
    let window = (remote + length + 8) as usize;
    let mut expected = vec![0xEE; window];
    machine.rig.boards[1]
        .bytes_mut(FAR, window)
        .copy_from_slice(&expected);
    let (from, to) = (local as usize, remote as usize);
    expected[to..][..length as usize].copy_from_slice(&bytes[from..]);
    let arrivals = machine.write(NEAR + local, FAR + remote, length, tag);
    assert_eq!(arrivals, Some(vec![Arrival { tag }]));
    let got = machine.rig.boards[1].bytes(FAR, window);
    assert!(got == expected, "{local} to {remote}, {length} bytes");
}

#[test]
fn every_alignment_and_length_arrives_as_by_memcpy_on_every_revision() {
    for revision in REVISIONS {
        let mut machine = Writers::new(revision, revision, Model::Polling);
        let mut tag = 0;
        for local in 8..12 {
            for remote in 8..12 {
                for length in [1, 2, 3, 4, 5, 7, 8, 9, 13] {
                    copies(&mut machine, local, remote, length, tag);
                    tag = (tag + 1) % 100;
                }
            }
        }
        machine.rig.assert_clean();
    }
}

#[test]
fn transfers_without_bytes_and_long_ones_work_on_every_revision_and_model() {
    for (revision, model) in REVISIONS.into_iter().flat_map(|r| MODELS.map(|m| (r, m))) {
        let mut machine = Writers::new(revision, revision, model);
        for (tag, length) in [(1, 0), (2, 5_001), (3, 0), (4, 0), (5, 66_000)] {
            copies(&mut machine, 9, 10, length, tag);
        }
        machine.rig.assert_clean();
    }
}

#[test]
fn pages_and_short_messages_by_interrupts_both_ways_on_every_revision() {
    for revision in REVISIONS {
        let (mut rig, mut puts) = pair(revision, revision);
        let bytes = fill(&mut rig, 0, NEAR, 4_000);
        fill(&mut rig, 1, NEAR, 4_000);
        for mi in 0..6 {
            for (board, put) in puts.iter_mut().enumerate() {
                let mut hw = at(&mut rig, board);
                let (to, skip) = (1 - board as u16, 500 * mi);
                let entry = Entry::page(to, mi, NEAR + skip + 1, FAR + skip + mi, 400, LAST);
                put.add_entry(&mut hw, entry).unwrap();
                if mi == 3 {
                    let short = Entry::short(to, 10, [mi, 77], Control::NOS);
                    put.add_entry(&mut hw, short).unwrap();
                }
            }
        }
        let told = serve(&mut rig, &mut puts, 2_000);
        for (board, told) in rig.boards.iter().zip(&told) {
            let sent = |event: &Event| match event {
                Event::Sent { mi, .. } => Some(*mi),
                _ => None,
            };
            let got = |event: &Event| match event {
                Event::Received { mi, data, .. } => Some((*mi, *data)),
                _ => None,
            };
            let all = [0, 1, 2, 3, 10, 4, 5];
            assert_eq!(told.iter().filter_map(sent).collect::<Vec<_>>(), all);
            let all = all.map(|mi| (mi, (mi == 10).then_some([3, 77])));
            assert_eq!(told.iter().filter_map(got).collect::<Vec<_>>(), all);
            assert_eq!(told.len(), 14, "{told:?}");
            for mi in 0..6 {
                let there = board.bytes(FAR + 501 * mi, 400);
                let from = 500 * mi as usize + 1;
                assert!(there == &bytes[from..from + 400], "{revision}");
            }
        }
        rig.assert_clean();
    }
}

/// The errata whose bits are set, erratum 1 in bit 0.
fn set(bits: u32) -> Revision {
    let has = |erratum: &Erratum| bits >> (erratum.number() - 1) & 1 == 1;
    let errata: Vec<Erratum> = Erratum::ALL.into_iter().filter(has).collect();
    Revision::of(&errata)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_set_of_errata_is_worked_around(
        bits in 0u32..1 << 21,
        model in prop::sample::select(&MODELS),
        transfers in prop::collection::vec((0u32..8, 0u32..8, 0u32..300), 1..6),
    ) {
        let revision = set(bits);
        let mut machine = Writers::new(revision, revision, model);
        for (tag, (local, remote, length)) in (0..).zip(transfers) {
            copies(&mut machine, local, remote, length, tag);
        }
        machine.rig.assert_clean();
    }

    #[test]
    fn transfers_of_both_boards_at_once_arrive_once_and_in_order(
        bits in prop_oneof![Just(0), Just(0x7FFF), Just(0x1F_80FF), 0u32..1 << 21],
        model in prop::sample::select(&MODELS),
        lists in prop::array::uniform2(
            prop::collection::vec((0u32..8, 0u32..8, 0u32..2_000), 1..5),
        ),
    ) {
        let revision = set(bits);
        let mut machine = Writers::new(revision, revision, model);
        let bytes = fill(&mut machine.rig, 0, NEAR, 10_000);
        fill(&mut machine.rig, 1, NEAR, 10_000);
        let mut expected = [vec![0u8; 10_000], vec![0u8; 10_000]];
        let lists = [0, 1].map(|board: usize| {
            let place = |(k, &(local, remote, length)): (usize, &(u32, u32, u32))| {
                let (from, to) = (local as usize, 2_500 * k + remote as usize);
                expected[1 - board][to..][..length as usize]
                    .copy_from_slice(&bytes[from..][..length as usize]);
                (NEAR + local, FAR + to as u32, length)
            };
            lists[board].iter().enumerate().map(place).collect::<Vec<_>>()
        });
        let told = machine.exchange(&lists);
        let tags = |board: usize| (0..lists[1 - board].len() as u32).collect::<Vec<_>>();
        prop_assert_eq!(told, Some([tags(0), tags(1)]));
        for (board, expected) in machine.rig.boards.iter().zip(&expected) {
            prop_assert!(board.bytes(FAR, 10_000) == expected);
        }
        machine.rig.assert_clean();
    }
}

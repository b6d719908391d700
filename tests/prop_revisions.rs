//! A remote write is a copy, on every revision of the silicon.

mod ddc_rig;
mod put_rig;

use multipc::ddc::{Erratum, Revision};
use multipc::put::Model;
use multipc::remote::Arrival;
use proptest::prelude::*;
use put_rig::{FAR, NEAR, Writers, fill};

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_set_of_errata_is_worked_around(
        bits in 0u32..1 << 21,
        model in prop::sample::select(&MODELS),
        transfers in prop::collection::vec((0u32..8, 0u32..8, 0u32..300), 1..6),
    ) {
        let errata: Vec<Erratum> = Erratum::ALL
            .into_iter()
            .filter(|erratum| bits >> (erratum.number() - 1) & 1 == 1)
            .collect();
        let revision = Revision::of(&errata);
        let mut machine = Writers::new(revision, revision, model);
        for (tag, (local, remote, length)) in (0..).zip(transfers) {
            copies(&mut machine, local, remote, length, tag);
        }
        machine.rig.assert_clean();
    }
}

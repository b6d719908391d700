//! Random programs over the reference: the same digests however it is scheduled, and
//! with or without buffering.
#![cfg(feature = "alloc")]

mod common;
mod mpi_programs;

use std::rc::Rc;

use mpi_programs::{Event, Program, Shape, build, play};
use multipc::mpi::reference::{ReferenceConfig, run};

fn digests(program: &Rc<Program>, seed: Option<u64>, eager_limit: u64) -> Vec<u64> {
    let mut config = ReferenceConfig::default();
    config.seed = seed;
    config.eager_limit = eager_limit;
    let results = run(program.size, config, |process| {
        play(process, Rc::clone(program))
    });
    let results = results.unwrap_or_else(|error| panic!("{error}\n{program:#?}"));
    let digests = results.into_iter().collect::<Result<Vec<_>, String>>();
    digests.unwrap_or_else(|error| panic!("{error}"))
}

/// Programs of 1 to 9 ranks.
fn shape(seed: u64) -> Shape {
    Shape {
        ranks: 1 + (seed % 9) as u32,
        events: 60,
        long: 6_000,
    }
}

#[test]
fn programs_do_not_depend_on_scheduling_arrival_or_buffering() {
    for seed in 0..u64::from(common::cases(1_000)) {
        let program = Rc::new(build(seed, shape(seed)));
        let plain = digests(&program, None, 16_348);
        assert_eq!(plain, digests(&program, Some(seed), 16_348), "seed {seed}");
        assert_eq!(plain, digests(&program, Some(!seed), 0), "seed {seed}");
    }
}

#[test]
fn programs_use_everything_they_can() {
    let mut seen = std::collections::BTreeMap::new();
    let mut behind = 0;
    for seed in 0..200 {
        for event in build(seed, shape(seed)).events {
            let name = match &event {
                Event::Message(m) => {
                    let wild = (m.by_source, m.by_tag);
                    let short = m.capacity < m.count;
                    format!("{:?} {:?} {wild:?} {short}", m.send, m.receive)
                }
                Event::Collective { kind, .. } => format!("{kind:?}"),
                Event::Split { .. } => "split".into(),
                Event::Dup { .. } => "dup".into(),
                Event::Storm { .. } => "storm".into(),
                Event::Compute { .. } => "compute".into(),
                Event::Complete { how, .. } => format!("{how:?}"),
            };
            if let Event::Collective { behind: ranks, .. } = &event {
                behind += ranks.len();
            }
            *seen.entry(name).or_insert(0) += 1;
        }
    }
    // 4 ways to send, 4 to receive, 3 kinds of pattern; two of the receives also too
    // short; 13 collectives, 4 other events, 5 ways to complete.
    assert_eq!(seen.len(), 4 * (4 + 2) * 3 + 13 + 4 + 5, "{seen:#?}");
    assert!(behind > 1_000);
}

#[test]
fn a_digest_tells_programs_apart() {
    let of = |seed| {
        let shape = Shape {
            ranks: 4,
            events: 60,
            long: 10,
        };
        digests(&Rc::new(build(seed, shape)), None, 0)
    };
    let all: std::collections::BTreeSet<u64> = (0..50).flat_map(of).collect();
    // Nearly all: a rank may have no part.
    assert!(all.len() > 195, "{}", all.len());
}

extern crate std;
use std::boxed::Box;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::maspar::{MachineSize, RouterConfig};

const SIZE: MachineSize = MachineSize::Pes16384;

fn router() -> Router {
    Router::new(&RouterConfig::MP1).unwrap()
}

fn best(pattern: &Pattern) -> (u32, u32, Option<Found>) {
    let mut router = router();
    let mut best = Box::new(Best::new(1));
    let schedule = best.schedule(&mut router, pattern).unwrap();
    (
        Bound::of(&router, pattern).unwrap().phases,
        schedule.phases(),
        best.found(),
    )
}

#[test]
fn structured_permutations_reach_sixteen_phases() {
    for (name, pattern) in [
        ("bit reversal", Pattern::bit_reversal(SIZE)),
        ("shuffle", Pattern::shuffle(SIZE)),
        ("unshuffle", Pattern::unshuffle(SIZE)),
        ("butterfly", Pattern::butterfly(SIZE)),
        ("row bit reversal", Pattern::row_bit_reversal(SIZE)),
        ("transpose", Pattern::transpose(SIZE)),
        ("stride", Pattern::stride(SIZE, 5)),
        ("shift", Pattern::shift(SIZE, 1)),
    ] {
        let (bound, phases, _) = best(&pattern);
        assert_eq!((bound, phases), (16, 16), "{name}");
    }
}

#[test]
fn random_permutations_reach_their_bound() {
    for (seed, bound) in [(1, 22), (2, 21), (3, 22), (4, 22), (5, 22)] {
        let pattern = Pattern::random_permutation(SIZE, seed);
        let (found, phases, by) = best(&pattern);
        assert_eq!(
            (found, phases, by),
            (bound, bound, Some(Found::Colouring)),
            "seed {seed}"
        );
    }
}

#[test]
fn composed_permutations_reach_their_published_phases() {
    let compose = |a: Pattern, b: Pattern| a.then(&b).unwrap();
    let shift = |d| Pattern::shift(SIZE, d);
    let (_, phases, _) = best(&compose(Pattern::bit_reversal(SIZE), shift(37)));
    assert_eq!(phases, 16);
    let (_, phases, _) = best(&compose(Pattern::shuffle(SIZE), shift(1000)));
    assert_eq!(phases, 16);
    let (_, phases, _) = best(&compose(shift(37), Pattern::bit_reversal(SIZE)));
    assert!((16..=17).contains(&phases), "{phases}");
}

#[test]
fn random_functions_reach_their_bound_with_and_without_races() {
    let pattern = Pattern::random_function(SIZE, 1);
    let (bound, phases, _) = best(&pattern);
    assert_eq!((bound, phases), (34, 34));
    let alone = one_sender_each_by_load(&router(), pattern.clone()).unwrap();
    let (bound, phases, _) = best(&alone);
    assert!(phases == bound && bound <= 20, "{bound} {phases}");
    let targets = |p: &Pattern| p.pairs().map(|(_, to)| to).collect::<PeSet>();
    assert_eq!(targets(&alone), targets(&pattern));
    assert_eq!(alone.messages(), targets(&pattern).len());
    assert_eq!(
        one_sender_each(pattern.clone()).messages(),
        alone.messages()
    );
}

#[test]
fn all_to_one_takes_a_phase_a_pe() {
    let (bound, phases, found) = best(&Pattern::all_to(SIZE, 77));
    assert_eq!((bound, phases, found), (16384, 16384, Some(Found::Loop)));
}

#[test]
fn nobody_needs_no_phase() {
    assert_eq!(best(&Pattern::nobody(SIZE)).1, 0);
}

#[test]
fn masks_serve_affine_functions_and_parts_of_them() {
    let mut router = router();
    let mut masks = ParityMasks::default();
    for pattern in [
        Pattern::row_head(SIZE),
        Pattern::bit_reversal(SIZE).only(|id| id % 3 == 0),
        Pattern::all_to(SIZE, 5).only(|id| id < 16),
    ] {
        let schedule = masks.schedule(&mut router, &pattern).unwrap();
        assert!(schedule.phases() >= Bound::of(&router, &pattern).unwrap().phases);
    }
    let shift = Pattern::shift(SIZE, 1);
    let error = masks.schedule(&mut router, &shift).unwrap_err();
    assert_eq!(error, ScheduleError::NotAffine { pe: 3 });
}

#[test]
fn wrong_schedules_are_named() {
    let mut router = router();
    let pattern = Pattern::bit_reversal(SIZE).only(|id| id < 16000);
    let good = FirstFit::default().schedule(&mut router, &pattern).unwrap();
    let mut check = |change: &dyn Fn(&mut Vec<u16>)| {
        let mut phase = good.phase().to_vec();
        change(&mut phase);
        Schedule::checked(&mut router, &pattern, &phase)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(check(&|_| {}), Ok(()));
    assert_eq!(
        check(&|p| p[9] = NO_PHASE),
        Err("PE 9 takes part but has no phase".into())
    );
    assert_eq!(
        check(&|p| p[16001] = 3),
        Err("PE 16001 has phase 3 but does not take part".into())
    );
    let empty = check(&|p| p[0] = 40).unwrap_err();
    assert_eq!(
        empty,
        std::format!("phase {} of 41 has no PE", good.phases())
    );
    assert_eq!(
        check(&|p| p.truncate(5)),
        Err("5 phases for a machine of 16384 PEs".into())
    );
    assert_eq!(
        check(&|p| p[5] = 20_000),
        Err("20001 phases are more than 16384".into())
    );
    let both = check(&|p| p[1] = p[0]).unwrap_err();
    assert_eq!(both, format_blocked(good.phase()[0]));
}

fn format_blocked(phase: u16) -> std::string::String {
    std::format!("phase {phase} takes more than one cycle: PE 1 is not connected")
}

#[test]
fn profile_counts_the_members() {
    let mut router = router();
    let pattern = Pattern::shuffle(SIZE);
    let schedule = FirstFit::default().schedule(&mut router, &pattern).unwrap();
    let mut counts = vec![0; 64];
    let counts = schedule.profile(&mut counts);
    assert_eq!(counts.iter().sum::<u32>(), 16384);
    for (phase, &count) in counts.iter().enumerate() {
        assert_eq!(schedule.members(phase as u16).count(), count as usize);
    }
}

#[test]
fn bound_names_its_reason() {
    let router = router();
    let reason = |pattern: &Pattern| Bound::of(&router, pattern).unwrap().to_string();
    assert_eq!(
        reason(&Pattern::all_to(SIZE, 0)),
        "16384 requests enter cluster 0 by one wire"
    );
    assert_eq!(
        reason(&Pattern::shift(SIZE, 0)),
        "16 requests leave cluster 0 by one wire"
    );
    let random = Bound::of(&router, &Pattern::random_permutation(SIZE, 2)).unwrap();
    assert_eq!((random.source, random.target, random.stage1), (16, 16, 21));
}

//! Properties of the router, its schedules and its remote write.

use std::collections::HashSet;

use multipc::maspar::remote::{Method, PeArray, Slot};
use multipc::maspar::schedule::{
    Best, Bound, Colouring, FirstFit, HardwareLoop, NO_PHASE, Order, ParityMasks, Schedule,
    Scheduler, one_sender_each, one_sender_each_by_load,
};
use multipc::maspar::{MachineSize, Pattern, Router, RouterConfig, TickRouter};
use multipc::remote::{Flags, Transfer};
use proptest::prelude::*;

fn size() -> impl Strategy<Value = MachineSize> {
    prop::sample::select(MachineSize::ALL.to_vec())
}

fn preset() -> impl Strategy<Value = RouterConfig> {
    prop::sample::select(RouterConfig::PRESETS.map(|(_, config)| config).to_vec())
}

/// Patterns of every kind: permutations, functions, few targets, few senders.
fn pattern() -> impl Strategy<Value = Pattern> {
    (size(), 0..6, any::<u64>(), 0..3).prop_map(|(size, kind, seed, part)| {
        let pattern = match kind {
            0 => Pattern::random_permutation(size, seed),
            1 => Pattern::random_function(size, seed),
            2 => Pattern::bit_reversal(size),
            3 => Pattern::shuffle(size)
                .then(&Pattern::shift(size, seed as i32 & 0xFFFF))
                .unwrap(),
            4 => Pattern::row_head(size),
            _ => Pattern::random_function(size, seed)
                .then(&Pattern::gray(size))
                .unwrap(),
        };
        match part {
            0 => pattern,
            1 => pattern.coin(seed ^ 1),
            _ => pattern.coin(seed ^ 1).coin(seed ^ 2).coin(seed ^ 3),
        }
    })
}

fn affine() -> impl Strategy<Value = Pattern> {
    (size(), prop::array::uniform14(any::<u16>()), any::<u16>()).prop_map(
        |(size, columns, constant)| {
            let mask = size.pes() as u16 - 1;
            Pattern::from_fn(size, |id| {
                let linear = columns
                    .iter()
                    .enumerate()
                    .fold(constant, |sum, (i, column)| sum ^ (column * (id >> i & 1)));
                Some(u32::from(linear & mask))
            })
            .unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn winners_share_no_cluster_and_no_wire(pattern in pattern(), config in preset()) {
        let mut router = Router::new(&config.with_size(pattern.size())).unwrap();
        router.load(&pattern).unwrap();
        while router.pending() {
            router.ropen();
            let (mut sources, mut targets) = (HashSet::new(), HashSet::new());
            let (mut stage1, mut stage2) = (vec![0; 4096], vec![0; 4096]);
            for path in router.connections() {
                let wiring = router.wiring();
                let (from, to) =
                    (wiring.geometry().place(path.source), wiring.geometry().place(path.target));
                let group = usize::from(wiring.group(to.cluster));
                prop_assert_eq!(pattern.target(path.source), Some(path.target));
                prop_assert!(sources.insert((from.board, from.cluster)));
                prop_assert!(targets.insert((to.board, to.cluster)));
                stage1[usize::from(from.board) * 16 + group] += 1;
                stage2[usize::from(to.board) * 16 + group] += 1;
            }
            prop_assert!(stage1.iter().chain(&stage2).all(|&wires| wires <= 4));
            prop_assert!(!sources.is_empty(), "a cycle without progress");
            router.rclose();
        }
    }

    #[test]
    fn one_more_pe_changes_no_winner_above_it_at_stage_1(
        pattern in pattern(), config in preset(), extra in any::<u16>(),
    ) {
        let size = pattern.size();
        let config = config.with_size(size);
        let extra = extra & (size.pes() as u16 - 1);
        let without = pattern.clone().only(|id| id != extra);
        let target = u32::from(extra.reverse_bits()) % size.pes() as u32;
        let with = Pattern::from_pairs(
            size,
            without
                .pairs()
                .map(|(source, target)| (u32::from(source), u32::from(target)))
                .chain([(u32::from(extra), target)]),
        )
        .unwrap();
        let stage1 = |pattern: &Pattern| {
            let mut ticks = TickRouter::new(&config).unwrap();
            ticks.ropen(pattern).unwrap();
            while ticks.step() {}
            ticks.chips(0).to_vec()
        };
        let place = config.wiring().unwrap().geometry().place(extra);
        for (board, (a, b)) in stage1(&without).iter().zip(&stage1(&with)).enumerate() {
            if board != usize::from(place.board) {
                prop_assert_eq!(a, b, "another board changed");
            }
            let above = (1u64 << place.cluster) - 1;
            prop_assert_eq!(a.connected() & above, b.connected() & above);
        }
    }

    #[test]
    fn ticks_and_sets_open_the_same_paths(pattern in pattern(), config in preset()) {
        let config = config.with_size(pattern.size());
        let mut ticks = TickRouter::new(&config).unwrap();
        ticks.ropen(&pattern).unwrap();
        while ticks.step() {}
        let slow: HashSet<_> = ticks.fetched().map(|(path, _)| path).collect();
        let mut router = Router::new(&config).unwrap();
        router.load(&pattern).unwrap();
        router.ropen();
        prop_assert_eq!(slow, router.connections().collect::<HashSet<_>>());
    }

    #[test]
    fn a_cycle_repeats_from_the_flags_alone(pattern in pattern(), cycles in 0..20) {
        // No state is kept between cycles: a router loaded with what is left
        // opens the same paths as one that has come here.
        let config = RouterConfig::MP1.with_size(pattern.size());
        let mut router = Router::new(&config).unwrap();
        router.load(&pattern).unwrap();
        for _ in 0..cycles {
            router.ropen();
            router.rclose();
        }
        let mut fresh = Router::new(&config).unwrap();
        fresh.load(&pattern.clone().only(|id| router.tflag(id))).unwrap();
        router.ropen();
        fresh.ropen();
        let paths = |router: &Router| router.connections().collect::<HashSet<_>>();
        prop_assert_eq!(paths(&router), paths(&fresh));
    }

    #[test]
    fn every_scheduler_is_accepted_and_partitions_the_pes(
        pattern in pattern(), config in preset(), seed in any::<u64>(),
    ) {
        let mut router = Router::new(&config.with_size(pattern.size())).unwrap();
        let bound = Bound::of(&router, &pattern).unwrap().phases;
        let mut colouring = Box::new(Colouring::new(seed));
        colouring.effort = 2000;
        let mut best = Box::new(Best::new(seed));
        best.colouring.effort = 2000;
        let mut schedulers: [&mut dyn Scheduler; 7] = [
            &mut HardwareLoop,
            &mut FirstFit::new(Order::Hardware),
            &mut FirstFit::new(Order::Id),
            &mut FirstFit::new(Order::Random(seed)),
            &mut ParityMasks::default(),
            &mut *colouring,
            &mut *best,
        ];
        for scheduler in &mut schedulers {
            let Ok(schedule) = scheduler.schedule(&mut router, &pattern) else {
                // Only these two may decline.
                prop_assert!(["parity masks", "edge colouring"].contains(&scheduler.name()));
                continue;
            };
            prop_assert!(schedule.phases() >= bound, "{}", scheduler.name());
            let again = Schedule::checked(&mut router, &pattern, schedule.phase());
            prop_assert_eq!(&again, &Ok(schedule.clone()));
            for id in 0..pattern.size().pes() as u16 {
                let phase = schedule.phase()[id as usize];
                prop_assert_eq!(phase == NO_PHASE, pattern.target(id).is_none());
                prop_assert!(phase == NO_PHASE || u32::from(phase) < schedule.phases());
            }
        }
    }

    #[test]
    fn masks_serve_every_affine_map(pattern in affine(), config in preset()) {
        let mut router = Router::new(&config.with_size(pattern.size())).unwrap();
        let schedule = ParityMasks::default().schedule(&mut router, &pattern).unwrap();
        let bound = Bound::of(&router, &pattern).unwrap().phases;
        // The next power of two at most: loads of affine maps are powers of two.
        prop_assert!(schedule.phases() <= bound.next_power_of_two() * 2);
    }

    #[test]
    fn no_text_upsets_the_parsers(text in "[-+*/%<>=!&|^~?:(),a-z0-9 \n]{0,60}", any in any::<String>()) {
        for text in [&text, &any] {
            let _ = text.parse::<multipc::maspar::Named>();
            #[cfg(feature = "alloc")]
            {
                use multipc::maspar::{Expr, parse_pairs};
                let size = MachineSize::Pes1024;
                let read = parse_pairs(size, text);
                prop_assert!(read.is_ok() || !text.is_empty());
                match Expr::parse(text) {
                    Ok(expr) => drop(expr.pattern(size, Some(&expr))),
                    Err(error) => prop_assert!(error.at <= text.len()),
                }
            }
        }
    }

    #[test]
    fn one_sender_is_left_for_each_target(pattern in pattern()) {
        let router = Router::new(&RouterConfig::MP1.with_size(pattern.size())).unwrap();
        let targets: HashSet<u16> = pattern.pairs().map(|(_, to)| to).collect();
        for kept in [
            one_sender_each(pattern.clone()),
            one_sender_each_by_load(&router, pattern.clone()).unwrap(),
        ] {
            prop_assert_eq!(kept.messages(), targets.len());
            prop_assert_eq!(kept.pairs().map(|(_, to)| to).collect::<HashSet<_>>(), targets.clone());
            prop_assert!(kept.pairs().all(|(from, to)| pattern.target(from) == Some(to)));
        }
    }

    #[test]
    fn remote_writes_arrive_as_by_copy(
        seed in any::<u64>(), lengths in prop::collection::vec(0u64..20, 1024),
    ) {
        // Permutation: nobody is written twice, so a plain copy is the answer.
        let size = MachineSize::Pes1024;
        let pattern = Pattern::random_permutation(size, seed).coin(seed ^ 5);
        let (mut memory, mut slots) = (vec![0u8; 1024 * 64], vec![Slot::IDLE; 1024]);
        for (i, byte) in memory.iter_mut().enumerate() {
            *byte = (i as u64).wrapping_mul(seed | 1) as u8;
        }
        let mut expected = memory.clone();
        let jobs: Vec<(u16, Transfer)> = pattern
            .pairs()
            .map(|(source, node)| {
                let length = lengths[source as usize];
                let (local, remote) = (u64::from(source % 11), 32 + u64::from(source % 12));
                let (from, to) = (source as usize * 64, node as usize * 64);
                for i in 0..length as usize {
                    expected[to + remote as usize + i] = memory[from + local as usize + i];
                }
                (source, Transfer { node, local, remote, length, flags: Flags::default() })
            })
            .collect();
        let config = RouterConfig::MP1.with_size(size);
        let mut array = PeArray::new(&config, &mut memory[..], &mut slots[..]).unwrap();
        array.write(&jobs, Method::Loop).unwrap();
        for pe in 0..1024u16 {
            let at = pe as usize * 64;
            prop_assert_eq!(array.memory(pe), &expected[at..at + 64]);
        }
    }
}

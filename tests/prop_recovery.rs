//! Random machines, random traffic, random faults: nothing is lost silently,
//! told twice, late, wrong or out of order, and every run ends.
//!
//! `MULTIPC_LONG=1` runs 10,000 cases instead of 200, `PROPTEST_CASES` another
//! number.
#![cfg(feature = "alloc")]

mod recovery_rig;

use multipc::fabric::End;
use multipc::fabric::faults::{BusFault, CableFault, FaultEvent, Kind, Transfers};
use multipc::fabric::topology::Topology;
use multipc::hsl::Symbol;
use multipc::pci::TargetResponse;
use multipc::put::Policy;
use multipc::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::Config;
use recovery_rig::{Rig, Setup};

fn topology() -> impl Strategy<Value = Topology<'static>> {
    prop_oneof![
        4 => Just(Topology::pair()),
        4 => (2..=5usize).prop_map(Topology::line),
        2 => (3..=6usize).prop_map(Topology::ring),
        2 => (2..=4usize, 2..=4usize).prop_map(|(x, y)| Topology::mesh(&[x, y])),
        1 => (2..=4usize).prop_map(Topology::hypercube),
        1 => (2..=16usize, 2..=3usize).prop_map(|(n, c)| Topology::tree(n, c)),
        1 => (2..=7usize).prop_map(Topology::star),
    ]
    .prop_map(Result::unwrap)
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => Just(Kind::Packet),
        1 => Just(Kind::Character),
        1 => Just(Kind::Data),
        2 => Just(Kind::End),
        2 => Just(Kind::Grant),
    ]
}

fn cable_fault() -> impl Strategy<Value = CableFault> {
    prop_oneof![
        4 => (1..0x200u16).prop_map(CableFault::Corrupt),
        3 => Just(CableFault::Drop),
        2 => (0..0x200u16).prop_map(|bits| CableFault::Insert(Symbol::from_bits(bits))),
        2 => (prop_oneof![Just(1u64), 1..200u64, 1..20_000u64], any::<bool>())
            .prop_map(|(cycles, both)| CableFault::Cut { cycles, both }),
    ]
}

fn bus_fault() -> impl Strategy<Value = BusFault> {
    let response = prop_oneof![
        Just(TargetResponse::Retry),
        (0..8u32).prop_map(TargetResponse::DisconnectAfter),
        (1..8u32).prop_map(TargetResponse::DisconnectWith),
        Just(TargetResponse::TargetAbort),
        (0..8u32).prop_map(TargetResponse::AbortAfter),
        (1..200u32).prop_map(TargetResponse::ExtraLatency),
        Just(TargetResponse::BadParity),
        Just(TargetResponse::Ignore),
    ];
    prop_oneof![
        4 => (response, 1..4u32).prop_map(|(response, times)| BusFault::Respond { response, times }),
        1 => (1..100u32, 1..5_000u64).prop_map(|(extra, cycles)| BusFault::SlowReads { extra, cycles }),
        1 => (1..5_000u64).prop_map(|cycles| BusFault::HoldGrant { cycles }),
    ]
}

/// A fault at a place still to be chosen among those of the machine.
#[derive(Clone, Debug)]
enum Fault {
    Cable(prop::sample::Index, Kind, u64, CableFault),
    Bus(prop::sample::Index, Transfers, u64, BusFault),
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![1..100u64, 1..1_000u64, 1..8_000u64]
}

fn fault() -> impl Strategy<Value = Fault> {
    let transfers = prop_oneof![
        Just(Transfers::All),
        Just(Transfers::Reads),
        Just(Transfers::Writes)
    ];
    prop_oneof![
        3 => (any::<prop::sample::Index>(), kind(), number(), cable_fault())
            .prop_map(|(at, of, number, fault)| Fault::Cable(at, of, number, fault)),
        1 => (any::<prop::sample::Index>(), transfers, 1..300u64, bus_fault())
            .prop_map(|(at, of, number, fault)| Fault::Bus(at, of, number, fault)),
    ]
}

impl Fault {
    fn at(&self, ends: &[End], nodes: u16) -> FaultEvent {
        match self {
            Self::Cable(at, of, number, fault) => {
                let number = match of {
                    Kind::End | Kind::Grant => 1 + number / 40,
                    _ => *number,
                };
                FaultEvent::cable(*at.get(ends), *of, number, *fault)
            }
            Self::Bus(at, of, number, fault) => {
                FaultEvent::bus(at.index(nodes.into()) as u16, *of, *number, *fault)
            }
        }
    }
}

fn length() -> impl Strategy<Value = u32> {
    prop_oneof![1..20u32, 1..600u32, 1..3_000u32]
}

#[derive(Clone, Debug)]
struct Message(prop::sample::Index, prop::sample::Index, u32);

fn message() -> impl Strategy<Value = Message> {
    (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        length(),
    )
        .prop_map(|(from, to, length)| Message(from, to, length))
}

impl Message {
    fn start(&self, rig: &mut Rig) {
        let nodes = usize::from(rig.nodes());
        let from = self.0.index(nodes);
        let to = (from + 1 + self.1.index(nodes - 1)) % nodes;
        rig.start(from as u16, to as u16, self.2);
    }
}

fn holds(policy: Policy, topology: &Topology<'_>, faults: &[Fault], waves: &[Vec<Message>]) {
    let mut rig = Rig::new(topology, &Setup::of(policy));
    let ends = rig.ends();
    let events: Vec<_> = faults
        .iter()
        .map(|fault| fault.at(&ends, rig.nodes()))
        .collect();
    rig.inject(&events);
    for wave in waves {
        for message in wave {
            message.start(&mut rig);
        }
        rig.run_for(Duration::from_us(40));
    }
    let ended = rig.run(Duration::from_us(400_000));
    assert!(ended, "the run does not end\n{}", rig.explain());
    let explained = rig.explain();
    rig.verdict();

    // The machine goes on: without faults all arrives, from everywhere.
    rig.machine.take_faults();
    rig.run_for(Duration::from_us(4_000));
    let (_, failed) = rig.verdict();
    for from in 0..rig.nodes() {
        rig.start(from, (from + 1) % rig.nodes(), 100);
    }
    let ended = rig.run(Duration::from_us(400_000));
    assert!(
        ended,
        "the machine is stuck\n{explained}\n{}",
        rig.explain()
    );
    let (_, still) = rig.verdict();
    assert_eq!(
        failed,
        still,
        "a message failed without faults\n{explained}\n{}",
        rig.explain()
    );
}

fn cases() -> u32 {
    if std::env::var_os("MULTIPC_LONG").is_some() {
        10_000
    } else if std::env::var_os("PROPTEST_CASES").is_some() {
        Config::default().cases
    } else {
        200
    }
}

proptest! {
    #![proptest_config(Config { cases: cases(), max_shrink_iters: 400, ..Config::default() })]

    #[test]
    fn no_message_is_lost_silently_told_twice_or_wrong(
        policy in prop_oneof![2 => Just(Policy::Ideal), 1 => Just(Policy::Run2), 1 => Just(Policy::Run1)],
        topology in topology(),
        faults in prop::collection::vec(fault(), 0..=20),
        waves in prop::collection::vec(prop::collection::vec(message(), 1..8), 1..6),
    ) {
        holds(policy, &topology, &faults, &waves);
    }
}

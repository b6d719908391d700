//! Random scripts of faults on small machines: no panic, no message that is
//! reported complete and is not, and nothing lost that nobody sees, beyond what
//! hw/doc/faults.md lists under "Seen by nobody".
#![cfg(feature = "alloc")]

mod fault_rig;

use std::fmt::Write;

use fault_rig::*;
use multipc::fabric::End;
use multipc::fabric::faults::{
    BusFault, CableFault, Effect, FaultEvent, FaultRecord, Faults, Kind, Transfers,
};
use multipc::fabric::topology::Topology;
use multipc::hsl::Symbol;
use multipc::pci::TargetResponse;
use proptest::prelude::*;
use proptest::sample::select;

/// A fault, before it is known what the machine looks like.
#[derive(Clone, Debug)]
struct Draft {
    place: u16,
    when: (u8, u64, u64),
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Cable(CableFault),
    Bus(BusFault),
}

fn cable_faults() -> impl Strategy<Value = CableFault> {
    let codes: Vec<Symbol> = Symbol::CONTROL.iter().map(|(symbol, _)| *symbol).collect();
    prop_oneof![
        4 => (1u16..0x200).prop_map(CableFault::Corrupt),
        2 => (select(codes.clone()), any::<u8>())
            .prop_map(|(code, data)| CableFault::Corrupt(code.bits() ^ u16::from(data))),
        3 => Just(CableFault::Drop),
        2 => (0u16..0x200).prop_map(|bits| CableFault::Insert(Symbol::from_bits(bits))),
        1 => select(codes).prop_map(CableFault::Insert),
        2 => (1u64..2_000, any::<bool>())
            .prop_map(|(cycles, both)| CableFault::Cut { cycles, both }),
    ]
}

fn bus_faults() -> impl Strategy<Value = BusFault> {
    let response = prop_oneof![
        Just(TargetResponse::Retry),
        (0u32..40).prop_map(TargetResponse::DisconnectAfter),
        (0u32..40).prop_map(TargetResponse::DisconnectWith),
        Just(TargetResponse::TargetAbort),
        (0u32..40).prop_map(TargetResponse::AbortAfter),
        (0u32..100).prop_map(TargetResponse::ExtraLatency),
        (0u32..20).prop_map(TargetResponse::WaitStates),
        Just(TargetResponse::BadParity),
        Just(TargetResponse::Ignore),
    ];
    prop_oneof![
        6 => (response, 1u32..5)
            .prop_map(|(response, times)| BusFault::Respond { response, times }),
        1 => (1u32..200, 1u64..5_000)
            .prop_map(|(extra, cycles)| BusFault::SlowReads { extra, cycles }),
        1 => (1u64..5_000).prop_map(|cycles| BusFault::HoldGrant { cycles }),
    ]
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let what = prop_oneof![
        3 => cable_faults().prop_map(What::Cable),
        1 => bus_faults().prop_map(What::Bus),
    ];
    let when = (any::<u8>(), 1u64..40_000, 1u64..600);
    let draft =
        (any::<u16>(), when, what).prop_map(|(place, when, what)| Draft { place, when, what });
    prop::collection::vec(draft, 0..=20)
}

#[derive(Clone, Debug)]
struct Case {
    shape: u8,
    /// From, to, bytes, skews, microseconds until the next.
    messages: Vec<(u16, u16, u32, [u32; 2], u64)>,
    faults: Vec<Draft>,
}

fn cases() -> impl Strategy<Value = Case> {
    let bytes = prop_oneof![1u32..100, 1u32..5_000];
    let skew = [0u32..4, 0u32..4];
    let message = (any::<u16>(), any::<u16>(), bytes, skew, 0u64..40);
    let messages = prop::collection::vec(message, 1..16);
    (0u8..5, messages, drafts()).prop_map(|(shape, messages, faults)| Case {
        shape,
        messages,
        faults,
    })
}

fn topology(shape: u8) -> Topology<'static> {
    match shape {
        0 => Topology::pair(),
        1 => Topology::line(3),
        2 => Topology::ring(4),
        3 => Topology::star(5),
        _ => Topology::tree(5, 2),
    }
    .unwrap()
}

fn event(draft: &Draft, rig: &Rig) -> FaultEvent {
    let (stream, cycle, number) = draft.when;
    match draft.what {
        What::Cable(fault) => {
            let ends: Vec<End> = rig.machine.cables().flatten().collect();
            let from = ends[usize::from(draft.place) % ends.len()];
            let kinds = [Kind::Character, Kind::Packet, Kind::Data];
            match stream % 8 {
                0..2 => FaultEvent::cable_at(from, rig.machine.link_cycle() + cycle, fault),
                // Few of these pass.
                2 => FaultEvent::cable(from, Kind::End, 1 + number % 12, fault),
                3 => FaultEvent::cable(from, Kind::Grant, 1 + number % 20, fault),
                n => FaultEvent::cable(from, kinds[usize::from(n) % 3], number, fault),
            }
        }
        What::Bus(fault) => {
            let node = draft.place % rig.machine.nodes().len() as u16;
            match stream % 4 {
                0 => FaultEvent::bus_at(node, rig.machine.pci_cycle() + cycle / 2, fault),
                1 => FaultEvent::bus(node, Transfers::All, 1 + number % 30, fault),
                2 => FaultEvent::bus(node, Transfers::Reads, 1 + number % 20, fault),
                _ => FaultEvent::bus(node, Transfers::Writes, 1 + number % 20, fault),
            }
        }
    }
}

/// The machine after the traffic and the faults of a case, `recover` says
/// whether software clears errors meanwhile.
fn play(case: &Case, recover: bool) -> Rig {
    let mut config = config();
    config.board.check_bus = false;
    let mut rig = Rig::boot(&topology(case.shape), &config);
    let events: Vec<FaultEvent> = case.faults.iter().map(|d| event(d, &rig)).collect();
    rig.machine.set_faults(Faults::script(events)).unwrap();
    let nodes = rig.machine.nodes().len() as u16;
    for &(from, to, bytes, skew, pause) in &case.messages {
        rig.post_at(from % nodes, to % nodes, bytes, skew);
        rig.us(pause);
        if recover {
            (0..nodes).for_each(|node| rig.recover(node));
        }
    }
    rig.us(1_500);
    // More than the time-out inside a packet.
    rig.us(35_000);
    rig
}

fn records(rig: &Rig) -> Vec<FaultRecord> {
    let faults = rig.machine.faults().unwrap();
    assert!(faults.total() <= 4096, "the log holds all");
    faults.records().copied().collect()
}

/// An error that software can see: a status bit, or a link that is down.
fn visible(rig: &Rig) -> bool {
    (0..rig.machine.nodes().len() as u16).any(|node| {
        let status = rig.register(node, STATUS);
        let fatal = rig.pci_errors(node) & 0x7900_0000 != 0;
        status & ERRORS != 0 || fatal || !rig.bus_master(node)
    })
}

/// "Seen by nobody": FCCs that were lost.
fn grants_lost(records: &[FaultRecord]) -> bool {
    records.iter().any(|record| match record.effect {
        Effect::Changed { before, after, .. } => {
            let granted = |line: multipc::hsl::Line| Kind::Grant.holds(line);
            granted(before) && !granted(after)
        }
        _ => false,
    })
}

/// "Seen by nobody": a tail whose CRC was switched off by the fault itself. A
/// tail has bit 6 and the bits 5:2 clear.
fn tail_spoilt(records: &[FaultRecord]) -> bool {
    records.iter().any(|record| match record.effect {
        Effect::Changed { before, after, .. } => {
            let (was, is) = (before.symbol(), after.symbol());
            !was.is_control() && was.value() & 0x7C == 0 && is.value() & 0x40 != 0
        }
        _ => false,
    })
}

/// Packets that routers dropped without telling software.
fn dropped(rig: &Rig) -> bool {
    rig.machine.routers().iter().any(|router| {
        let ports = router.chip().stats().ports;
        ports.iter().any(|p| p.events.short + p.events.no_route > 0)
    })
}

fn losses(rig: &Rig, at: End) -> u64 {
    let End::Router { router, port } = at else {
        return 0;
    };
    let chip = rig.machine.routers()[usize::from(router)].chip();
    chip.port_stats(port.into()).events.link_losses
}

/// "Seen by nobody": the wires between a controller and its router fell silent.
fn board_fell(rig: &Rig) -> bool {
    let boards = rig.machine.cables();
    boards
        .filter(|ends| ends.iter().any(|end| matches!(end, End::Node(_))))
        .any(|ends| ends.iter().any(|end| losses(rig, *end) > 0))
}

/// A cable fell, which the controllers at both ends have to tell.
fn cable_fell(rig: &Rig) -> Result<bool, TestCaseError> {
    let ends: Vec<[End; 2]> = rig.machine.cables().collect();
    let boards: Vec<(u16, u16)> = ends
        .iter()
        .filter_map(|ends| match *ends {
            [End::Node(node), End::Router { router, .. }] => Some((node, router)),
            _ => None,
        })
        .collect();
    let mut fell = false;
    for end in ends.iter().filter(|ends| !matches!(ends[0], End::Node(_))) {
        for at in end.iter().filter(|at| losses(rig, **at) > 0) {
            fell = true;
            let End::Router { router, .. } = *at else {
                continue;
            };
            let owner = boards.iter().find(|(_, r)| *r == router);
            let told = owner.is_none_or(|(node, _)| rig.errors(*node) & R3 != 0);
            prop_assert!(told, "{at} fell\n{}", report(rig));
        }
    }
    Ok(fell)
}

fn report(rig: &Rig) -> String {
    let mut text = rig.explain();
    for node in 0..rig.machine.nodes().len() as u16 {
        let (status, pci) = (rig.register(node, STATUS), rig.register(node, PCI_04));
        let _ = writeln!(text, "node {node}: status {status:#010x}, 04h {pci:#010x}");
    }
    for message in &rig.posted {
        let _ = writeln!(text, "{message:?}");
    }
    text
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let mut rig = play(case, false);
    let records = records(&rig);
    let quiet = records.is_empty();
    let fell = cable_fell(&rig)? || board_fell(&rig);
    let (mut lost, mut wrong) = (0, 0);
    for message in rig.posted.clone() {
        let told = rig.told(message);
        prop_assert!(told <= 1, "{message:?} told {told} times\n{}", report(&rig));
        if told == 0 {
            lost += 1;
        } else if rig.memory(message) != message.content() {
            // Single packets are safe but for their tail.
            let single = message.bytes + message.skew[1] <= 532;
            let hole = !single && (visible(&rig) || dropped(&rig) || fell);
            prop_assert!(
                hole || tail_spoilt(&records),
                "{message:?}\n{}",
                report(&rig)
            );
            wrong += 1;
        }
    }
    prop_assert!(!quiet || lost + wrong == 0, "{}", report(&rig));
    let explained = visible(&rig) || grants_lost(&records) || dropped(&rig) || board_fell(&rig);
    prop_assert!(lost == 0 || explained, "{lost} lost\n{}", report(&rig));
    Ok(())
}

/// After the last fault and a restart of every link, the machine is as good as
/// new, whatever it went through.
fn check_that_it_works_again(case: &Case) -> Result<(), TestCaseError> {
    let mut rig = play(case, true);
    rig.machine.take_faults();
    let cut = CableFault::Cut {
        cycles: 1,
        both: true,
    };
    let cycle = rig.machine.link_cycle() + 1;
    let cuts: Vec<FaultEvent> = rig
        .machine
        .cables()
        .map(|[end, _]| FaultEvent::cable_at(end, cycle, cut))
        .collect();
    rig.machine.set_faults(Faults::script(cuts)).unwrap();
    let nodes = rig.machine.nodes().len() as u16;
    // What is still in the rings goes out, and may find its error to tell.
    for _ in 0..6 {
        rig.us(500);
        (0..nodes).for_each(|node| rig.recover(node));
    }
    prop_assert!(
        (0..nodes).all(|node| !rig.pending(node)),
        "{}",
        report(&rig)
    );
    for from in 0..nodes {
        for to in 0..nodes {
            let message = rig.post(from, to, 700);
            rig.us(60);
            prop_assert!(rig.arrived(message), "{message:?}\n{}", report(&rig));
        }
    }
    prop_assert!(
        (0..nodes).all(|node| rig.errors(node) & !R3 == 0),
        "{}",
        report(&rig)
    );
    Ok(())
}

/// 100 cases each, or as many as PROPTEST_CASES says.
fn cases_to_run() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 100;
    }
    config
}

proptest! {
    #![proptest_config(cases_to_run())]

    #[test]
    fn nothing_is_lost_or_spoilt_that_nobody_can_see(case in cases()) {
        check(&case)?;
    }

    #[test]
    fn after_the_faults_and_a_restart_of_the_links_the_machine_works(case in cases()) {
        check_that_it_works_again(&case)?;
    }
}

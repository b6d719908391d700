//! Each rule fires on a trace that breaks it: legal traces, recorded from
//! bridge and test initiator, with one thing wrong.
//!
//! In every trace REQ# is asserted from clock 0 on, so GNT# is seen in clock 1
//! and the address in clock 2.

extern crate std;

use std::string::ToString;
use std::vec::Vec;

use super::*;
use crate::mem::Ram;
use crate::pci::{BridgeConfig, HostBridge, TargetResponse, TestMaster, TestMasterConfig, resolve};

type Trace = Vec<Observation>;

fn record(command: Command, irdy_waits: u32, response: TargetResponse) -> Trace {
    let mut store = [0x5Au8; 64];
    let mut memory = Ram::new(0, &mut store[..]);
    let mut bridge = HostBridge::new(BridgeConfig::default());
    let config = TestMasterConfig {
        irdy_waits,
        ..TestMasterConfig::default()
    };
    let mut master = TestMaster::new(config);
    bridge.respond_next(response).unwrap();
    master.submit(command, 0, &[11, 22, 33, 44]);
    let mut trace = Trace::new();
    let mut end = None;
    while end.is_none_or(|end| trace.len() < end + 4) {
        let bus = resolve(&[bridge.drive(), master.drive()]);
        let (req_n, gnt_n) = (master.req_n(), bridge.ddc_gnt_n());
        trace.push(bridge.observation(&bus, master.drive(), req_n));
        bridge.step(&bus, req_n, &mut memory);
        master.step(&bus, gnt_n);
        if master.take().is_some() {
            end = Some(trace.len());
        }
        assert!(trace.len() < 500, "the transfer does not end");
    }
    trace
}

/// Data in clocks 8 to 11, DEVSEL# from clock 4.
fn read() -> Trace {
    record(Command::MemoryRead, 0, TargetResponse::Normal)
}

/// Data in clocks 5 to 8, DEVSEL# from clock 4.
fn write() -> Trace {
    record(Command::MemoryWrite, 0, TargetResponse::Normal)
}

/// Data in clock 8; the target waits in clocks 9 to 11 for the second word.
fn slow_initiator() -> Trace {
    record(Command::MemoryRead, 0b11_00, TargetResponse::Normal)
}

/// Data in clocks 5 and 6, STOP# from clock 7, FRAME# high in clock 8.
fn disconnect() -> Trace {
    record(Command::MemoryWrite, 0, TargetResponse::DisconnectAfter(2))
}

/// Nobody answers; FRAME# high in clock 7, IRDY# high in clock 8.
fn nobody() -> Trace {
    record(Command::MemoryRead, 0, TargetResponse::Ignore)
}

/// Resolves the bus again, since drives may have been changed, and checks.
fn run(trace: &Trace) -> Checker {
    let mut checker = Checker::new();
    for observation in trace {
        let bus = resolve(&[observation.bridge, observation.ddc]);
        checker.observe(&Observation {
            bus,
            ..*observation
        });
    }
    checker
}

const LOW: Option<bool> = Some(false);
const HIGH: Option<bool> = Some(true);

/// Rule, legal trace, what is done to it.
type Mutation = (Rule, fn() -> Trace, fn(&mut Trace));

const MUTATIONS: [Mutation; Rule::ALL.len()] = [
    (Rule::AdConflict, read, |t| t[9].ddc.ad = Some(0)),
    (Rule::CbeConflict, read, |t| t[9].bridge.cbe_n = Some(0)),
    (Rule::ParConflict, read, |t| t[9].ddc.par = HIGH),
    (Rule::ControlConflict, read, |t| t[9].ddc.devsel_n = LOW),
    (Rule::AdTurnaround, read, |t| t[3].bridge.ad = Some(0)),
    (Rule::ControlTurnaround, read, |t| t[13].ddc.devsel_n = HIGH),
    (Rule::NotRestored, read, |t| t[12].bridge.devsel_n = None),
    (Rule::TwoGrants, read, |t| t[5].bridge_gnt_n = false),
    (Rule::GrantSwitchedIdle, read, |t| t[0].bridge_gnt_n = false),
    (Rule::AddressWithoutGrant, read, |t| t[1].ddc_gnt_n = true),
    (Rule::AddressOnBusyBus, read, |t| t[12].bridge.frame_n = LOW),
    (Rule::FrameReasserted, read, |t| t[5].ddc.frame_n = HIGH),
    (Rule::FrameReleasedEarly, read, |t| {
        t[5].ddc.frame_n = HIGH;
        t[5].ddc.irdy_n = HIGH;
    }),
    (Rule::FrameChangedInPhase, read, |t| t[6].ddc.frame_n = HIGH),
    (Rule::IrdyDropped, read, |t| t[6].ddc.irdy_n = HIGH),
    (Rule::IrdyWithoutTransaction, read, |t| {
        t[13].ddc.irdy_n = LOW
    }),
    (Rule::EnablesChanged, read, |t| t[6].ddc.cbe_n = Some(5)),
    (Rule::WriteDataChanged, write, |t| t[4].ddc.ad = Some(99)),
    (Rule::StopIgnored, disconnect, |t| t[8].ddc.frame_n = LOW),
    (Rule::MasterAbortEarly, nobody, |t| t[5].ddc.irdy_n = HIGH),
    (Rule::DevselLate, read, |t| {
        (4..7).for_each(|i| t[i].bridge.devsel_n = HIGH)
    }),
    (Rule::DevselDropped, read, |t| t[6].bridge.devsel_n = HIGH),
    (Rule::TrdyWithoutDevsel, read, |t| {
        t[8].bridge.devsel_n = HIGH
    }),
    (Rule::StopWithoutDevsel, read, |t| t[3].bridge.stop_n = LOW),
    (Rule::TargetWithoutTransaction, read, |t| {
        t[13].bridge.trdy_n = LOW
    }),
    (Rule::TargetChangedInPhase, slow_initiator, |t| {
        t[10].bridge.trdy_n = HIGH
    }),
    (Rule::StopReleasedEarly, disconnect, |t| {
        t[8].bridge.stop_n = HIGH
    }),
    (Rule::DataAfterStop, disconnect, |t| {
        t[8].bridge.trdy_n = LOW
    }),
    (Rule::ReadDataChanged, slow_initiator, |t| {
        t[10].bridge.ad = Some(1)
    }),
    (Rule::ParityMissing, read, |t| t[3].ddc.par = None),
    (Rule::ParityWrong, read, |t| {
        t[9].bridge.par = t[9].bridge.par.map(|par| !par)
    }),
    (Rule::PerrUnexpected, write, |t| t[4].bridge.perr_n = LOW),
    (Rule::IdselMisplaced, read, |t| t[5].idsel = true),
    (
        Rule::FirstDataLate,
        || record(Command::MemoryRead, 0, TargetResponse::ExtraLatency(10)),
        |t| t.insert(10, t[10]),
    ),
    (
        Rule::NextDataLate,
        || record(Command::MemoryRead, 0, TargetResponse::WaitStates(7)),
        |t| t.insert(10, t[10]),
    ),
    (
        Rule::IrdyLate,
        || record(Command::MemoryRead, 0, TargetResponse::ExtraLatency(10)),
        |t| (3..11).for_each(|i| t[i].ddc.irdy_n = HIGH),
    ),
];

#[test]
fn each_rule_fires_on_its_mutation() {
    for (rule, trace, mutate) in MUTATIONS {
        let mut trace = trace();
        let checker = run(&trace);
        assert_eq!(
            checker.violations(),
            [],
            "{rule:?}: the legal trace breaks rules"
        );
        mutate(&mut trace);
        let checker = run(&trace);
        assert!(
            checker.count(rule) > 0,
            "{rule:?} did not fire: {:?}",
            checker.violations()
        );
        assert_eq!(
            checker.is_clean(),
            rule.is_warning(),
            "{rule:?}: {:?}",
            checker.violations()
        );
    }
}

#[test]
fn each_rule_has_a_mutation() {
    for rule in Rule::ALL {
        assert!(MUTATIONS.iter().any(|(of, ..)| *of == rule), "{rule:?}");
    }
}

#[test]
fn violations_name_their_clock() {
    let mut trace = read();
    trace[5].idsel = true;
    let checker = run(&trace);
    assert_eq!(
        checker.violations()[0].to_string(),
        "PCI clock 5: IDSEL is high outside the address clock of a configuration access"
    );
}

#[test]
fn violations_beyond_the_list_are_counted() {
    let mut bad = Observation::IDLE;
    bad.idsel = true;
    let mut checker = Checker::new();
    for _ in 0..40 {
        checker.observe(&bad);
    }
    assert_eq!(checker.violations().len(), MAX_VIOLATIONS);
    assert_eq!(
        (checker.count(Rule::IdselMisplaced), checker.lost()),
        (40, 8)
    );
    assert_eq!(checker.cycles(), 40);
}

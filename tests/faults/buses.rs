//! Bus transactions end badly or late, and grants are withheld.

use multipc::fabric::faults::{BusFault, FaultEvent, Transfers};
use multipc::pci::{Rule, TargetResponse, Violation};

use super::*;

#[test]
fn aborts_stop_the_bus_master_and_nothing_is_lost() {
    for (response, bit) in [
        (TargetResponse::TargetAbort, 28),
        (TargetResponse::AbortAfter(5), 28),
        (TargetResponse::Ignore, 29),
    ] {
        // Sender: the descriptor, the page. Receiver: data, report.
        for (node, of, number) in [
            (0, Transfers::Reads, 1),
            (0, Transfers::Reads, 2),
            (1, Transfers::Writes, 1),
        ] {
            let mut rig = Rig::pair();
            rig.inject(&[FaultEvent::respond(node, of, number, response)]);
            let message = rig.post(0, 1, 256);
            rig.us(60);
            if response == TargetResponse::AbortAfter(5) && number == 1 && node == 0 {
                // A descriptor has 4 words.
                assert!(rig.arrived(message));
                continue;
            }
            assert_eq!(
                rig.pci_errors(node),
                1 << bit,
                "{response:?} {node} {number}"
            );
            assert!(!rig.bus_master(node) && rig.interrupt(node));
            assert_eq!((rig.errors(node), rig.told(message)), (0, 0));
            rig.recover(node);
            rig.us(60);
            assert!(rig.arrived(message), "{response:?} {node} {number}");
            rig.assert_clean();
        }
    }
}

#[test]
fn an_aborted_report_is_written_after_recovery() {
    let mut rig = Rig::pair();
    let abort = TargetResponse::TargetAbort;
    rig.inject(&[FaultEvent::respond(1, Transfers::Writes, 2, abort)]);
    let message = rig.post(0, 1, 4);
    rig.us(60);
    assert_eq!((rig.pci_errors(1), rig.told(message)), (1 << 28, 0));
    rig.recover(1);
    rig.us(10);
    assert!(rig.arrived(message));
}

#[test]
fn a_bus_that_is_only_slow_loses_nothing() {
    let respond = |response, times| BusFault::Respond { response, times };
    let time = |fault: Option<BusFault>| {
        let mut rig = Rig::pair();
        let events: Vec<FaultEvent> = fault
            .iter()
            .flat_map(|&fault| [0, 1].map(|node| FaultEvent::bus(node, Transfers::All, 1, fault)))
            .collect();
        rig.inject(&events);
        let message = rig.post(0, 1, 2048);
        let start = rig.machine.now();
        let limit = multipc::time::Duration::from_us(3_000);
        assert!(rig.machine.run_while_not(limit, |machine| {
            machine.nodes()[1].ddc().register(STATUS) & 1 << 30 != 0
        }));
        let time = rig.machine.now().since(start);
        assert!(rig.arrived(message), "{fault:?}");
        for node in [0, 1] {
            assert_eq!(
                (rig.errors(node), rig.pci_errors(node)),
                (0, 0),
                "{fault:?}"
            );
        }
        // A target may take 16 clocks to its first data; so slow it may not be.
        let slow = matches!(fault, Some(BusFault::SlowReads { .. }));
        for node in rig.machine.nodes() {
            let seen = node.checker().unwrap().violations();
            let late = |v: &Violation| v.rule == Rule::FirstDataLate;
            assert!(seen.iter().all(|v| slow && late(v)), "{fault:?}: {seen:?}");
        }
        time.as_us_f64()
    };
    let smooth = time(None);
    for fault in [
        respond(TargetResponse::Retry, 20),
        respond(TargetResponse::DisconnectAfter(3), 40),
        respond(TargetResponse::DisconnectWith(2), 40),
        respond(TargetResponse::ExtraLatency(9), 40),
        respond(TargetResponse::WaitStates(5), 20),
        BusFault::SlowReads {
            extra: 300,
            cycles: u64::MAX,
        },
        BusFault::HoldGrant { cycles: 1_000 },
    ] {
        let slow = time(Some(fault));
        assert!(slow > smooth, "{fault:?}: {slow} against {smooth} us");
    }
}

#[test]
fn bad_parity_is_noted_and_fatal_only_when_the_response_is_on() {
    let bad = TargetResponse::BadParity;
    for answers in [false, true] {
        let mut rig = Rig::pair();
        if answers {
            rig.write(0, PCI_04, 0x0000_0144);
        }
        rig.inject(&[FaultEvent::respond(0, Transfers::Reads, 2, bad)]);
        let message = rig.post(0, 1, 64);
        rig.us(60);
        let expected = if answers { 1 << 31 | 1 << 24 } else { 1 << 31 };
        assert_eq!(rig.pci_errors(0), expected);
        assert_eq!(rig.bus_master(0), !answers);
        assert_eq!(rig.interrupt(0), answers);
        if answers {
            rig.write(0, PCI_04, 0xFFFF_0144);
            rig.us(60);
        }
        // Only PAR was wrong.
        assert!(rig.arrived(message));
        let seen = rig.machine.nodes()[0].checker().unwrap().violations();
        assert!(seen.iter().all(|v| v.rule == Rule::ParityWrong) && !seen.is_empty());
    }
}

#[test]
fn without_grant_for_ever_the_sender_waits_and_says_nothing() {
    let mut rig = Rig::pair();
    let cycle = rig.machine.pci_cycle() + 1;
    let hold = BusFault::HoldGrant { cycles: u64::MAX };
    rig.inject(&[FaultEvent::bus_at(0, cycle, hold)]);
    let message = rig.post(0, 1, 64);
    rig.us(100_000);
    assert!(rig.pending(0) && rig.told(message) == 0);
    assert_eq!((rig.errors(0), rig.pci_errors(0)), (0, 0));
    rig.machine.take_faults();
    rig.us(60);
    assert!(rig.arrived(message));
}

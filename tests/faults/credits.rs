//! Flow control characters are lost.

use multipc::fabric::faults::{CableFault, FaultEvent, Kind};

use super::*;

/// Microseconds for 4096 bytes from 0 to 1 when these FCCs of router 1 are lost;
/// none when it does not arrive.
fn with_lost_grants(lost: &[u64]) -> (Option<f64>, Rig) {
    let mut rig = Rig::pair();
    let lost: Vec<FaultEvent> = lost
        .iter()
        .map(|&n| FaultEvent::cable(port(1, 1), Kind::Grant, n, CableFault::Drop))
        .collect();
    rig.inject(&lost);
    let message = rig.post(0, 1, 4096);
    let start = rig.machine.now();
    let limit = multipc::time::Duration::from_us(1_000);
    let done = rig.machine.run_while_not(limit, |machine| {
        machine.nodes()[1].ddc().register(STATUS) & 1 << 30 != 0
    });
    let time = rig.machine.now().since(start).as_us_f64();
    assert_eq!(done, rig.arrived(message));
    (done.then_some(time), rig)
}

#[test]
fn a_lost_fcc_costs_32_credits_and_a_third_of_the_rate() {
    let (whole, _) = with_lost_grants(&[]);
    let (slow, mut rig) = with_lost_grants(&[1]);
    let ratio = slow.unwrap() / whole.unwrap();
    // 32 characters, and 17 cycles of waiting for the next FCC.
    assert!((1.3..1.6).contains(&ratio), "{ratio}");
    assert_eq!(rig.machine.routers()[0].chip().output_state(1).credit, 32);
    assert_eq!((rig.errors(0), rig.errors(1)), (0, 0), "nobody is told");
    rig.assert_works(0, 1);
}

#[test]
fn two_lost_fccs_stop_the_link_until_the_receiver_times_out() {
    let (time, mut rig) = with_lost_grants(&[2, 3]);
    assert_eq!(time, None);
    assert_eq!(rig.machine.routers()[0].chip().output_state(1).credit, 0);
    assert_eq!((rig.errors(0), rig.errors(1)), (0, 0));
    rig.us(32_000);
    assert_eq!((rig.errors(0), rig.errors(1)), (0, TIMEOUT));
    // Only a new start of the link brings the credit back.
    let cycle = rig.machine.link_cycle() + 1;
    let cut = CableFault::Cut {
        cycles: 1,
        both: true,
    };
    rig.inject(&[FaultEvent::cable_at(port(0, 1), cycle, cut)]);
    rig.us(300);
    assert_eq!(rig.errors(1), TIMEOUT | EEP | R3);
    rig.recover(0);
    rig.assert_works(0, 1);
}

#[test]
fn two_lost_fccs_between_packets_are_seen_by_nobody() {
    let lost = [1, 2].map(|n| FaultEvent::cable(port(1, 1), Kind::Grant, n, CableFault::Drop));
    let mut rig = Rig::pair();
    rig.inject(&lost);
    let first = rig.post(0, 1, 36); // 64 characters: both flits, no more
    rig.us(30);
    assert!(rig.arrived(first));
    assert_eq!(rig.machine.routers()[0].chip().output_state(1).credit, 0);
    let second = rig.post(0, 1, 4);
    rig.us(100_000);
    assert_eq!(rig.told(second), 0);
    for node in [0, 1] {
        assert_eq!((rig.errors(node), rig.pci_errors(node)), (0, 0));
        assert_eq!(rig.link_status(node), 3);
    }
}

//! No signal for a while, and links that start over.

use multipc::fabric::End;
use multipc::fabric::faults::{CableFault, FaultEvent, Kind};
use multipc::hsl::Symbol;

use super::*;

/// Link cycles from the fall of the status bit of port 1 of `router` to its
/// rise.
fn time_down(rig: &mut Rig, router: u16) -> u64 {
    let limit = multipc::time::Duration::from_us(1_000);
    let up = |m: &multipc::fabric::Machine<'static>| {
        m.routers()[usize::from(router)].chip().link_status() & 2 != 0
    };
    assert!(rig.machine.run_while_not(limit, |m| !up(m)));
    let down = rig.machine.link_cycle();
    assert!(rig.machine.run_while_not(limit, up));
    rig.machine.link_cycle() - down
}

/// From reset to the first character that can be sent: 4096 + 4096 + 3000 + 7,
/// the handshake 1 + 7 + 8 (hw/doc/hsl.md, "Start-up"; 7 edges from port to port).
const FULL_RESTART: u64 = 4096 + 4096 + 3000 + 7 + 1 + 7 + 8;

/// When one end falls, the other sees its silence so much later.
const OTHER_END: u64 = 1 + 7;

#[test]
fn a_cut_closes_the_packet_by_eep_and_the_link_starts_from_its_reset() {
    for (cycles, both) in [(1, true), (1, false), (500, true)] {
        let mut rig = Rig::pair();
        let cut = CableFault::Cut { cycles, both };
        rig.inject(&[FaultEvent::cable(port(0, 1), Kind::Packet, 300, cut)]);
        let first = rig.post(0, 1, 1000);
        let down = time_down(&mut rig, 1);
        if both {
            assert_eq!(down, FULL_RESTART, "cut of {cycles}");
        } else {
            assert_eq!(down, FULL_RESTART + OTHER_END, "cut of {cycles}");
        }
        rig.us(60);
        assert_eq!(rig.errors(1), EEP | R3, "cut of {cycles}");
        assert_eq!(rig.errors(0), R3);
        assert!(!rig.bus_master(1) && rig.bus_master(0));
        assert_eq!(rig.told(first), 0);
        // What was written before stays.
        assert!(rig.memory(first).starts_with(&first.content()[..100]));
        assert_eq!((rig.link_status(0), rig.link_status(1)), (3, 3));
        rig.recover(0);
        rig.assert_works(0, 1);
        rig.recover(0);
        rig.assert_works(1, 0);
    }
}

#[test]
fn packets_wait_while_their_link_is_down() {
    let mut rig = Rig::pair();
    let cycle = rig.machine.link_cycle() + 1;
    let cut = CableFault::Cut {
        cycles: 100_000,
        both: true,
    };
    rig.inject(&[FaultEvent::cable_at(port(0, 1), cycle, cut)]);
    rig.us(10);
    assert_eq!((rig.link_status(0), rig.link_status(1)), (1, 1));
    assert_eq!((rig.errors(0), rig.errors(1)), (R3, R3));
    assert!(rig.bus_master(0) && !rig.interrupt(0), "told, no more");
    let message = rig.post(0, 1, 64);
    rig.us(1_000);
    assert_eq!(rig.told(message), 0);
    rig.us(1_000);
    assert!(rig.arrived(message), "{}", rig.explain());
}

#[test]
fn on_the_board_a_cut_is_short_and_ends_the_packet() {
    // From the router to the controller of node 1, inside a packet.
    let cut = CableFault::Cut {
        cycles: 3,
        both: false,
    };
    let mut rig = one_fault_many(FaultEvent::cable(port(1, 0), Kind::Packet, 40, cut));
    assert_eq!(rig.errors(1), EEP);
    rig.us(20);
    rig.recover(1);
    rig.assert_works(0, 1);
    rig.assert_works(1, 0);
}

#[test]
fn a_glitch_on_the_board_restarts_both_sides() {
    // Whoever sees it falls silent, so that the other one forgets its credits.
    for from in [End::Node(1), port(1, 0)] {
        let mut rig = Rig::pair();
        let cycle = rig.machine.link_cycle() + 1;
        let cut = CableFault::Cut {
            cycles: 1,
            both: false,
        };
        rig.inject(&[FaultEvent::cable_at(from, cycle, cut)]);
        rig.us(10);
        assert_eq!(rig.machine.routers()[1].chip().output_state(0).credit, 64);
        assert_eq!((rig.errors(1), rig.link_status(1)), (0, 3));
        rig.assert_works(0, 1);
        rig.assert_works(1, 0);
    }
}

/// As `one_fault`, with faults that have an end to tell of.
fn one_fault_many(event: FaultEvent) -> Rig {
    let mut rig = Rig::pair();
    rig.inject(&[event]);
    rig.post(0, 1, 64);
    rig.us(60);
    rig
}

#[test]
fn credit_out_of_nothing_and_a_stray_request_restart_the_link() {
    for stray in [Symbol::FCC, Symbol::REQUEST] {
        let mut rig = Rig::pair();
        let cycle = rig.machine.link_cycle() + 1;
        let flip = CableFault::Corrupt(mask(Symbol::IDLE, stray));
        rig.inject(&[FaultEvent::cable_at(port(0, 1), cycle, flip)]);
        assert_eq!(time_down(&mut rig, 1), FULL_RESTART + OTHER_END, "{stray}");
        let events = rig.machine.routers()[1].chip().port_stats(1).events;
        assert_eq!(events.link_losses, 1);
        assert_eq!(events.credit_errors, u64::from(stray == Symbol::FCC));
        rig.us(10);
        assert_eq!((rig.errors(0), rig.errors(1)), (R3, R3));
        rig.recover(0);
        rig.assert_works(0, 1);
    }
    // An ACKNOWLEDGE means nothing any more.
    let mut rig = Rig::pair();
    let cycle = rig.machine.link_cycle() + 1;
    let flip = CableFault::Corrupt(mask(Symbol::IDLE, Symbol::ACKNOWLEDGE));
    rig.inject(&[FaultEvent::cable_at(port(0, 1), cycle, flip)]);
    rig.us(10);
    assert_eq!((rig.errors(0), rig.link_status(1)), (0, 3));
    rig.assert_works(0, 1);
}

#[test]
fn taking_the_faults_off_mends_a_cut_cable() {
    let mut rig = Rig::pair();
    let cycle = rig.machine.link_cycle() + 5;
    let cut = CableFault::Cut {
        cycles: u64::MAX,
        both: true,
    };
    rig.inject(&[FaultEvent::cable_at(port(1, 1), cycle, cut)]);
    rig.us(1_000);
    assert_eq!((rig.link_status(0), rig.link_status(1)), (1, 1));
    let faults = rig.machine.take_faults().unwrap();
    assert_eq!(faults.total(), 2);
    rig.us(300);
    assert_eq!((rig.link_status(0), rig.link_status(1)), (3, 3));
    rig.recover(1);
    rig.assert_works(0, 1);
}

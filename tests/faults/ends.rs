//! The end of a packet, or of its header, is spoilt, lost or early.

use multipc::fabric::faults::{CableFault, FaultEvent, Kind};
use multipc::hsl::Symbol;

use super::*;

#[test]
fn a_lost_end_takes_the_next_message_with_it() {
    let mut rig = one_fault(corrupt(port(0, 1), LAST, 0x100));
    rig.assert_stopped(1, EP);
    rig.recover(1);
    let second = rig.post(0, 1, 64);
    rig.us(60);
    // The rest of the bad packet goes up to the next EP.
    assert_eq!((rig.told(second), rig.errors(1)), (0, 0));
    rig.assert_works(0, 1);
}

#[test]
fn an_end_that_never_comes_times_out_and_holds_the_way() {
    let drop = FaultEvent::cable(port(0, 1), Kind::End, 1, CableFault::Drop);
    let mut rig = Rig::line(3);
    rig.inject(&[drop]);
    rig.post(0, 1, 64);
    rig.us(60);
    assert_eq!(rig.errors(1), 0, "nothing to see yet");
    // Router 1 keeps its port 0 for the packet that has not ended.
    let other = rig.post(2, 1, 64);
    rig.us(31_000);
    assert_eq!((rig.errors(1), rig.told(other)), (0, 0));
    rig.us(1_000);
    assert_eq!(rig.errors(1), TIMEOUT, "2^20 PCI cycles are 31.46 ms");
    assert!(!rig.bus_master(1));
    rig.recover(1);
    // The next packet of the same source brings an end.
    let next = rig.post(0, 1, 64);
    rig.us(60);
    assert_eq!(rig.errors(1), EP);
    assert_eq!(rig.told(next), 0);
    rig.recover(1);
    rig.us(60);
    assert!(rig.arrived(other));
    rig.assert_works(0, 1);
}

#[test]
fn an_early_end_makes_two_bad_packets_of_one() {
    let mut rig = one_fault(into(3, Symbol::EP));
    // The rest begins with bytes 4 and 5 as its header: a number beyond all
    // nodes, which leads to node 1 as well.
    rig.assert_stopped(1, EP);
    assert_eq!(rig.errors(0), 0);
    rig.assert_works(0, 1);
}

#[test]
fn ep_turned_into_eep_is_an_eep_error() {
    let mut rig = one_fault(corrupt(port(0, 1), LAST, mask(Symbol::EP, Symbol::EEP)));
    rig.assert_stopped(1, EEP);
    rig.assert_works(0, 1);
}

#[test]
fn a_header_cut_to_one_character_is_dropped_and_only_the_router_counts_it() {
    let to_ep = mask(Symbol::data(1), Symbol::EP);
    let mut rig = one_fault(corrupt(port(0, 1), RP_LOW, to_ep));
    let events = rig.machine.routers()[1].chip().port_stats(1).events;
    assert_eq!(events.short, 1);
    // What follows looks like a packet for node 0x001B.
    rig.assert_stopped(1, EP);
    rig.assert_works(0, 1);
}

//! A character is spoilt, lost or added.

use multipc::fabric::faults::{CableFault, FaultEvent, Kind};
use multipc::hsl::Symbol;

use super::*;

#[test]
fn corrupted_data_fails_the_data_crc_and_completes_nothing() {
    for number in [DATA, DATA + 30, 81, 85] {
        let mut rig = one_fault(corrupt(port(0, 1), number, 0x04));
        rig.assert_stopped(1, CRC_DATA);
        assert_eq!(rig.errors(0), 0);
        rig.assert_works(0, 1);
    }
}

#[test]
fn a_corrupted_header_fails_its_crc_and_writes_nothing() {
    for number in [3, MI, 8, 9, 13] {
        let mut rig = one_fault(corrupt(port(0, 1), number, 0x20));
        rig.assert_stopped(1, CRC_HEADER);
        let message = rig.posted[0];
        assert_eq!(rig.memory(message), [0; 64]);
        rig.assert_works(0, 1);
    }
}

#[test]
fn a_corrupted_destination_is_caught_by_whoever_gets_it() {
    // 1 becomes 2: the next router passes it on. A number beyond all nodes
    // goes the way of the highest.
    for (number, mask) in [(RP_LOW, 0x03), (RP_HIGH, 0x80)] {
        let mut rig = Rig::line(3);
        rig.inject(&[corrupt(port(0, 1), number, mask)]);
        rig.post(0, 1, 64);
        rig.us(60);
        rig.assert_stopped(2, CRC_HEADER);
        assert_eq!((rig.errors(1), rig.errors(0)), (0, 0));
        rig.assert_works(0, 1);
        rig.assert_works(0, 2);
    }
    // 1 becomes 0: back where it came from.
    let mut rig = one_fault(corrupt(port(0, 1), RP_LOW, 0x01));
    rig.assert_stopped(0, CRC_HEADER);
    assert_eq!(rig.errors(1), 0);
    rig.recover(0);
    rig.assert_works(0, 1);
}

#[test]
fn a_lost_or_additional_character_shifts_the_packet_and_is_told() {
    for (number, error) in [(3, EP), (MI, CRC_HEADER), (DATA, EP), (81, EP), (89, EP)] {
        let drop = FaultEvent::cable(port(0, 1), Kind::Packet, number, CableFault::Drop);
        let mut rig = one_fault(drop);
        rig.assert_stopped(1, error);
        rig.assert_works(0, 1);
    }
    // A stray character between packets becomes the first of the next one.
    let mut rig = Rig::pair();
    let cycle = rig.machine.link_cycle() + 1;
    let stray = CableFault::Insert(Symbol::data(0));
    rig.inject(&[FaultEvent::cable_at(port(0, 1), cycle, stray)]);
    rig.us(5);
    assert_eq!(rig.errors(1), 0, "it waits for its packet");
    rig.post(0, 1, 64);
    rig.us(60);
    // Header 0x0000 instead of 0x0001: back to its source.
    rig.assert_stopped(0, EP);
    rig.recover(0);
    rig.assert_works(0, 1);
}

#[test]
fn a_control_character_among_the_data_is_an_ep_error() {
    for code in [Symbol::BP, Symbol::ED, Symbol::from_bits(0x1FF)] {
        let mut rig = one_fault(into(2, code));
        rig.assert_stopped(1, EP);
        rig.assert_works(0, 1);
    }
    // In the last byte of a word BP begins a packet, whose header fails, and ED
    // ends the data.
    for (byte, code, errors) in [
        (7, Symbol::BP, EP | CRC_HEADER),
        (15, Symbol::ED, EP | CRC_DATA),
        (7, Symbol::from_bits(0x1FF), EP),
        // The byte before ED is the tail; this one's bit 6 switches the CRC off.
        (7, Symbol::ED, EP),
    ] {
        let mut rig = one_fault(into(byte, code));
        rig.assert_stopped(1, errors);
        rig.assert_works(0, 1);
    }
}

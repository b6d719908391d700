//! Each fault leads to what the chips are documented to do (hw/doc/faults.md).
#![cfg(feature = "alloc")]

#[path = "faults/buses.rs"]
mod buses;
#[path = "faults/characters.rs"]
mod characters;
#[path = "faults/credits.rs"]
mod credits;
#[path = "faults/cuts.rs"]
mod cuts;
#[path = "faults/ends.rs"]
mod ends;
mod fault_rig;
#[path = "faults/records.rs"]
mod records;

use fault_rig::*;
use multipc::fabric::End;
use multipc::fabric::faults::{CableFault, FaultEvent, Faults, Kind};
use multipc::hsl::Symbol;

// The characters of a packet of 64 bytes, counted from 1.
const RP_HIGH: u64 = 1;
const RP_LOW: u64 = 2;
const MI: u64 = 5;
const DATA: u64 = 17;
const LAST: u64 = 92;

fn corrupt(from: End, number: u64, mask: u16) -> FaultEvent {
    FaultEvent::cable(from, Kind::Packet, number, CableFault::Corrupt(mask))
}

fn mask(from: Symbol, to: Symbol) -> u16 {
    from.bits() ^ to.bits()
}

/// The byte of this number of the first message becomes another character.
fn into(byte: u64, code: Symbol) -> FaultEvent {
    let first = Message {
        from: 0,
        to: 1,
        mi: 0,
        bytes: 64,
        skew: [0; 2],
    };
    let was = Symbol::data(first.content()[byte as usize]);
    corrupt(port(0, 1), DATA + byte, mask(was, code))
}

impl Rig {
    fn inject(&mut self, events: &[FaultEvent]) {
        self.machine.set_faults(Faults::script(events)).unwrap();
    }

    /// The receiver stopped with this error, and nothing was reported.
    fn assert_stopped(&mut self, node: u16, error: u32) {
        assert_eq!(self.errors(node), error, "{}", self.explain());
        assert!(!self.bus_master(node) && self.interrupt(node));
        assert_eq!(self.reports(node).len(), 0);
    }

    /// After software has recovered, the machine works again.
    fn assert_works(&mut self, from: u16, to: u16) {
        self.recover(to);
        let message = self.post(from, to, 64);
        self.us(60);
        assert!(self.arrived(message), "{}", self.explain());
        assert_eq!(self.errors(to), 0);
        self.assert_clean();
    }
}

/// One message of 64 bytes from 0 to 1 with one fault on the cable.
fn one_fault(event: FaultEvent) -> Rig {
    let mut rig = Rig::pair();
    rig.inject(&[event]);
    rig.post(0, 1, 64);
    rig.us(60);
    assert_eq!(rig.machine.faults().unwrap().total(), 1);
    rig
}

//! Where faults can be, and what is written down of them.

use multipc::fabric::faults::{
    BusFault, BusSlot, CableFault, CableSlot, Effect, FaultEvent, FaultRecord, Faults, Kind,
    Transfers,
};
use multipc::hsl::Symbol;
use multipc::pci::TargetResponse;

use super::*;

#[test]
fn places_that_are_not_there_are_named() {
    let mut rig = Rig::pair();
    let mut say = |event| {
        let error = rig.machine.set_faults(Faults::script([event])).unwrap_err();
        assert!(rig.machine.faults().is_none());
        error.to_string()
    };
    assert_eq!(
        say(corrupt(port(0, 2), 1, 1)),
        "fault on the cable from router 0 port 2, which the machine does not have"
    );
    assert_eq!(
        say(FaultEvent::bus_at(2, 1, BusFault::HoldGrant { cycles: 1 })),
        "fault on the bus of node 2, which the machine does not have"
    );
    assert_eq!(
        say(corrupt(port(0, 1), 0, 1)),
        "fault on the cable from router 0 port 1 at 0: cycles and numbers begin at 1"
    );
    let event = corrupt(port(0, 1), 1, 1);
    let faults = Faults::new([event], [], [], []);
    assert_eq!(
        rig.machine.set_faults(faults).unwrap_err().to_string(),
        "no slot left of 0 for faults on the cable from router 0 port 1"
    );
}

#[test]
fn storage_can_be_the_callers() {
    let mut rig = Rig::pair();
    // A cut of both directions takes two slots, a bus one.
    let cut = CableFault::Cut {
        cycles: 1,
        both: true,
    };
    let events = [
        FaultEvent::respond(1, Transfers::Writes, 1, TargetResponse::Retry),
        FaultEvent::cable(port(0, 1), Kind::Data, 30, cut),
    ];
    let cables = [CableSlot::FREE, CableSlot::FREE];
    let records = [FaultRecord::EMPTY, FaultRecord::EMPTY];
    let faults = Faults::new(events, cables, [BusSlot::FREE], records);
    rig.machine.set_faults(faults).unwrap();
    let message = rig.post(0, 1, 64);
    rig.us(300);
    assert_eq!((rig.errors(1), rig.told(message)), (EEP | R3, 0));
    let faults = rig.machine.faults().unwrap();
    // Two cuts, their ends, and the retry of what had come; the newest two stay.
    assert_eq!((faults.total(), faults.records().count()), (5, 2));
    let last = faults.records().last().unwrap();
    assert!(matches!(
        last.effect,
        Effect::Responded {
            transaction: 1,
            response: TargetResponse::Retry,
            ..
        }
    ));
    // The rest of the packet drained before the cable.
    assert_eq!(faults.cables()[0].count(Kind::End), 0);
    assert_eq!(faults.buses()[0].count(Transfers::Writes), 2);
    rig.recover(0);
    rig.assert_works(0, 1);
}

#[test]
fn the_records_tell_what_happened_and_when() {
    let cycle = |rig: &Rig| rig.machine.link_cycle() + 7;
    let mut rig = Rig::pair();
    let at = cycle(&rig);
    rig.inject(&[
        FaultEvent::cable_at(port(0, 1), at, CableFault::Insert(Symbol::EEP)),
        FaultEvent::cable_at(
            port(1, 1),
            at + 10,
            CableFault::Cut {
                cycles: 4,
                both: true,
            },
        ),
    ]);
    rig.us(10);
    let cable = |router: u16| format!("cable from router {router} port 1");
    let lines = [
        (at, cable(0), "character 0 is EEP instead of IDLE".into()),
        (at + 10, cable(0), String::from("no signal for 4 cycles")),
        (at + 10, cable(1), "no signal for 4 cycles".into()),
        (at + 14, cable(0), "signal back".into()),
        (at + 14, cable(1), "signal back".into()),
    ];
    let mut told: Vec<String> = rig.explain().lines().map(String::from).collect();
    told.sort();
    let expected = lines.map(|(at, place, what)| format!("link cycle {at}, {place}: {what}"));
    assert_eq!(told, expected);
}

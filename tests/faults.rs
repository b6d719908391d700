//! Each fault leads to what the chips are documented to do (hw/doc/faults.md).
#![cfg(feature = "alloc")]

mod fault_rig;

use fault_rig::*;
use multipc::fabric::End;
use multipc::fabric::faults::{
    BusFault, BusSlot, CableFault, CableSlot, Effect, FaultEvent, FaultRecord, Faults, Kind,
    Transfers,
};
use multipc::hsl::Symbol;
use multipc::pci::{Rule, TargetResponse, Violation};

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

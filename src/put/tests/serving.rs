use std::vec::Vec;

use super::super::testing::{Access, Quirks};
use super::*;

fn with_sap(config: &PutConfig<'_>) -> (Put, FakeController<'static>, Sap) {
    let (mut put, hw) = started(config);
    let sap = put.register_sap().unwrap();
    put.attach_mi_range(sap, 8).unwrap();
    (put, hw, sap)
}

#[test]
fn read_by_the_chip_is_not_sent() {
    let (mut put, mut hw, sap) = with_sap(&config(8));
    put.add_entry(&mut hw, page(Control::LMP.with(Control::NOS)))
        .unwrap();
    hw.step();
    assert_eq!(hw.peek(0x54), 0x1010, "the chip has read the entry");
    assert_eq!(poll(&mut put, &mut hw, 8), []);
    assert_eq!(put.lpe_free(), 6, "the entry is still the chip's");
    hw.step();
    let events = poll(&mut put, &mut hw, 8);
    assert!(
        matches!(events[..], [Event::Sent { sap: s, mi: 3, .. }] if s == sap),
        "{events:?}"
    );
    assert_eq!(put.lpe_free(), 7);
    assert_eq!(hw.counters(), [0, 0]);
}

#[test]
fn a_silent_page_has_left_once_the_chip_is_beyond_the_following_entry() {
    let (mut put, mut hw, _) = with_sap(&config(8));
    let first = put.add_entry(&mut hw, page(Control::LMP)).unwrap();
    put.add_entry(&mut hw, page(Control::LMP)).unwrap();
    // Read first; send first; read second.
    for left in [false, false, true] {
        hw.step();
        assert_eq!(poll(&mut put, &mut hw, 8), []);
        assert_eq!(put.has_left(first), left);
    }
}

#[test]
fn every_page_with_nos_and_every_message_with_nor_is_acknowledged_once() {
    for acknowledge in [Acknowledge::Single, Acknowledge::Weighted] {
        let (mut put, mut hw, sap) = with_sap(&PutConfig {
            acknowledge,
            ..config(512)
        });
        for _ in 0..300 {
            put.add_entry(&mut hw, page(ALL)).unwrap();
        }
        hw.run(1000);
        assert_eq!(hw.counters(), [300, 300]);
        hw.forget_writes();
        let mut events = Vec::new();
        // Budgets that split the acknowledged groups.
        for _ in 0..50 {
            events.extend(poll(&mut put, &mut hw, 7));
        }
        assert_eq!(events.len(), 600);
        let received = Event::Received {
            sap,
            mi: 3,
            data: None,
            packets: 1,
        };
        assert_eq!(
            events.iter().filter(|event| **event == received).count(),
            300
        );
        assert_eq!(hw.counters(), [0, 0]);
        assert_eq!(put.stats().acknowledged, [300, 300]);
        let acks = hw
            .writes()
            .iter()
            .filter(|write| write.offset == 0x40)
            .count();
        match acknowledge {
            Acknowledge::Single => assert_eq!(acks, 600),
            // 256 + 2 * 16 + 12 * 1 each.
            Acknowledge::Weighted => assert_eq!(acks, 2 * (1 + 2 + 12)),
        }
    }
}

#[test]
fn the_consumer_pointer_is_given_back_after_the_reports() {
    for swapped in [false, true] {
        let capabilities = Capabilities {
            lmi_writes_swapped: swapped,
            ..Capabilities::default()
        };
        let (mut put, mut hw) = started(&PutConfig {
            capabilities,
            ..config(4)
        });
        hw.quirks.lmi_writes_swapped = swapped;
        for turn in 1..=10u32 {
            put.add_entry(&mut hw, page(ALL)).unwrap();
            hw.run(10);
            hw.forget_writes();
            assert_eq!(poll(&mut put, &mut hw, 8).len(), 2);
            let expected = 0x1040 + 16 * (turn % 4);
            assert_eq!(hw.peek(0x64), expected);
            let offset = if swapped { 0x68 } else { 0x64 };
            assert_eq!(
                hw.writes().last(),
                Some(&Access {
                    offset,
                    value: expected
                })
            );
        }
    }
}

#[test]
fn reports_without_nor_are_seen_unless_the_recorded_rule_is_asked_for() {
    let silent = Control::LMP.with(Control::LMI);
    for (scan, seen) in [(ReportScan::Always, 1), (ReportScan::WhenCounted, 0)] {
        let (mut put, mut hw, _) = with_sap(&PutConfig { scan, ..config(8) });
        put.add_entry(&mut hw, page(silent)).unwrap();
        hw.run(10);
        assert_eq!(poll(&mut put, &mut hw, 8).len(), seen);
        // One with NOR brings the silent one along.
        put.add_entry(&mut hw, page(silent.with(Control::NOR)))
            .unwrap();
        hw.run(10);
        assert_eq!(poll(&mut put, &mut hw, 8).len(), 2 - seen);
        assert_eq!(hw.counters(), [0, 0]);
    }
}

#[test]
fn events_of_nobody_are_told_as_such() {
    let (mut put, mut hw) = started(&config(8));
    put.add_entry(&mut hw, page(ALL)).unwrap();
    hw.run(10);
    let events = poll(&mut put, &mut hw, 8);
    assert!(
        matches!(
            events[..],
            [Event::UnclaimedSent { .. }, Event::UnclaimedReceived { .. }]
        ),
        "{events:?}"
    );
    assert_eq!(put.stats().unclaimed, 2);
}

#[test]
fn the_budget_bounds_a_call_and_nothing_is_lost() {
    let (mut put, mut hw, _) = with_sap(&config(16));
    for _ in 0..10 {
        put.add_entry(&mut hw, page(ALL)).unwrap();
    }
    hw.run(100);
    let mut events = 0;
    let served = put.on_interrupt(&mut hw, 4, |_| events += 1).unwrap();
    assert!(served.more && served.cause);
    assert_eq!((served.descriptors, served.reports, events), (4, 4, 8));
    let served = put.on_interrupt(&mut hw, 0, |_| panic!()).unwrap();
    assert!(served.more);
    put.on_interrupt(&mut hw, 100, |_| events += 1).unwrap();
    assert_eq!(events, 20);
    assert!(!hw.inta());
}

#[test]
fn an_interrupt_without_a_cause_is_counted_and_ignored() {
    let (mut put, mut hw, _) = with_sap(&config(8));
    let served = put.on_interrupt(&mut hw, 8, |_| panic!()).unwrap();
    assert_eq!(served, Served::default());
    assert_eq!(put.stats().spurious, 1);
    assert_eq!(put.phase(), Phase::Running);
}

#[test]
fn a_cause_that_shows_late_is_waited_for() {
    let (mut put, mut hw, _) = with_sap(&config(8));
    put.add_entry(&mut hw, page(ALL)).unwrap();
    // The chip works while the handler reads.
    hw.quirks = Quirks {
        steps_per_access: 1,
        ..Quirks::default()
    };
    let mut events = 0;
    let served = put.on_interrupt(&mut hw, 8, |_| events += 1).unwrap();
    assert!(served.cause);
    assert_eq!(events, 2);
}

#[test]
fn flushes_do_one_side_each() {
    let (mut put, mut hw, _) = with_sap(&config(8));
    put.add_entry(&mut hw, page(ALL)).unwrap();
    hw.run(10);
    let mut events = Vec::new();
    put.flush_lmr(&mut hw, 8, |event| events.push(event))
        .unwrap();
    assert!(matches!(events[..], [Event::Received { .. }]));
    put.flush_lme(&mut hw, 8, |event| events.push(event))
        .unwrap();
    assert!(matches!(events[..], [_, Event::Sent { .. }]));
}

#[test]
fn a_port_error_at_any_access_of_a_poll_loses_and_doubles_nothing() {
    for after in 0..40 {
        let (mut put, mut hw, _) = with_sap(&config(8));
        for _ in 0..3 {
            put.add_entry(&mut hw, page(ALL)).unwrap();
        }
        hw.run(100);
        hw.quirks.fail_after = Some(after);
        let mut events = 0;
        for _ in 0..3 {
            let _ = put.poll(&mut hw, 8, |_| events += 1);
        }
        assert_eq!(events, 6, "after {after} accesses");
        assert_eq!(hw.counters(), [0, 0]);
        assert_eq!(hw.peek(0x64), hw.peek(0x68), "all reports given back");
    }
}

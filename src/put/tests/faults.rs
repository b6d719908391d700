use std::string::ToString;
use std::vec::Vec;

use super::super::testing::{Access, HostileController};
use super::*;

/// One interrupt; the only event is an error: its text, and whether it stopped.
fn fault(put: &mut Put, hw: &mut FakeController<'_>) -> (std::string::String, bool) {
    let mut events = Vec::new();
    put.on_interrupt(hw, 8, |event| events.push(event)).unwrap();
    match events[..] {
        [Event::Error { fault, stopped }] => (fault.to_string(), stopped),
        _ => panic!("{events:?}"),
    }
}

#[test]
fn fatal_errors_stop_the_board() {
    let fatal = [
        (23, "eep"),
        (22, "crc header"),
        (21, "crc data"),
        (20, "ep"),
        (19, "timeout"),
        (13, "illegal lrm access"),
    ];
    for (bit, name) in fatal {
        let (mut put, mut hw) = started(&config(8));
        hw.raise(1 << bit);
        let text = std::format!("board reports {name}");
        assert_eq!(fault(&mut put, &mut hw), (text, true));
        assert!(matches!(
            put.phase(),
            Phase::Stopped(Fault::Reported { .. })
        ));
        assert_eq!(put.add_entry(&mut hw, page(ALL)), Err(AddError::Stopped));
        assert!(!hw.inta());
        let reset = Access {
            offset: 0x48,
            value: 0x8000,
        };
        assert_eq!(hw.writes().last(), Some(&reset));
        put.end();
        put.init(&mut hw, &config(8)).unwrap();
    }
}

#[test]
fn pci_errors_stop_the_board_and_parity_alone_does_not() {
    let fatal = [
        (30, "signalled system error"),
        (29, "received master abort"),
        (28, "received target abort"),
        (27, "signalled target abort"),
        (24, "data parity error"),
    ];
    for (bit, name) in fatal {
        let (mut put, mut hw) = started(&config(8));
        hw.raise_pci(1 << bit);
        let text = std::format!("board reports {name}");
        assert_eq!(fault(&mut put, &mut hw), (text, true));
    }
    let (mut put, mut hw) = started(&config(8));
    hw.raise_pci(1 << 31);
    assert!(!put.on_interrupt(&mut hw, 8, |_| panic!()).unwrap().cause);
    assert_eq!(put.phase(), Phase::Running);
}

#[test]
fn overflows_are_cleared_and_the_board_goes_on() {
    let survived = [
        (17, "page transmitted overflow"),
        (16, "page received overflow"),
        (15, "sent packet overflow"),
        (14, "received packet overflow"),
        (12, "lmi overflow"),
    ];
    for (bit, name) in survived {
        let (mut put, mut hw) = started(&config(8));
        hw.raise(1 << bit);
        assert_eq!(hw.peek(0x04) & 0x4, 0);
        let text = std::format!("board reports {name}");
        assert_eq!(fault(&mut put, &mut hw), (text, false));
        assert_eq!(put.phase(), Phase::Running);
        assert_eq!(hw.peek(0x40) & 0x00FF_F000, 0);
        assert_eq!(hw.peek(0x04) & 0xFFFF, 0x0104, "Bus Master is set again");
    }
}

#[test]
fn several_errors_are_one_event_with_all_names() {
    let (mut put, mut hw) = started(&config(8));
    hw.raise(1 << 23 | 1 << 21 | 1 << 12);
    hw.raise_pci(1 << 29);
    let text = "board reports eep, crc data, lmi overflow, received master abort";
    assert_eq!(fault(&mut put, &mut hw), (text.to_string(), true));
}

#[test]
fn a_full_report_ring_stalls_the_chip_and_loses_no_message() {
    for quirk in [false, true] {
        let capabilities = Capabilities {
            lmi_overflow_clears_by_13: quirk,
            ..Capabilities::default()
        };
        let (mut put, mut hw) = started(&PutConfig {
            capabilities,
            ..config(4)
        });
        hw.quirks.lmi_overflow_clears_by_13 = quirk;
        let mut received = 0;
        let mut overflows = 0;
        let mut posted = 0;
        for _ in 0..200 {
            // Messages come in as fast as the ring takes them; polls are rare.
            while posted < 60 && put.add_entry(&mut hw, page(ALL)).is_ok() {
                posted += 1;
                hw.run(10);
                put.flush_lme(&mut hw, 8, |_| ()).unwrap();
            }
            put.poll(&mut hw, 8, |event| match event {
                Event::UnclaimedReceived { .. } => received += 1,
                Event::Error {
                    fault:
                        Fault::Reported {
                            status: 0x1000,
                            pci: 0,
                        },
                    ..
                } => {
                    overflows += 1;
                }
                Event::UnclaimedSent { .. } => {}
                event => panic!("{event:?}"),
            })
            .unwrap();
            hw.run(10);
        }
        assert_eq!((posted, received), (60, 60));
        assert!(overflows > 0, "the ring was never full");
        assert_eq!(hw.counters(), [0, 0]);
    }
}

#[test]
fn a_pointer_that_lies_stops_the_board_and_moves_nothing() {
    // Ring 0x1000..0x1080, one entry posted at 0x1000.
    for value in [0x0FF0, 0x1020, 0x1008, 0x1080, 0, 0xFFFF_FFF0] {
        let (mut put, mut hw) = started(&config(8));
        put.add_entry(&mut hw, page(ALL)).unwrap();
        hw.poke(0x54, value);
        let mut events = Vec::new();
        put.poll(&mut hw, 8, |event| events.push(event)).unwrap();
        let fault = Fault::BadPointer {
            offset: 0x54,
            value,
        };
        assert_eq!(
            events,
            [Event::Error {
                fault,
                stopped: true
            }]
        );
        assert_eq!(put.phase(), Phase::Stopped(fault));
        assert_eq!(put.stats().sent, 0);
    }
    let (mut put, mut hw) = started(&config(8));
    hw.poke(0x68, 0x1000);
    let mut events = Vec::new();
    put.poll(&mut hw, 8, |event| events.push(event)).unwrap();
    let fault = Fault::BadPointer {
        offset: 0x68,
        value: 0x1000,
    };
    assert_eq!(
        events,
        [Event::Error {
            fault,
            stopped: true
        }]
    );
    assert_eq!(
        fault.to_string(),
        "register 0x68 points to 0x00001000, outside what was posted"
    );
}

#[test]
fn a_count_that_nothing_explains_stops_the_interrupt_loop() {
    for (counts, bit) in [([1, 0], 31), ([0, 1], 30)] {
        let (mut put, mut hw) = started(&config(8));
        let [transmitted, received] = counts;
        hw.miscount(transmitted, received);
        let status = 1 << bit | 0x03;
        let text =
            std::format!("status {status:#010x} counts pages but there is none to acknowledge");
        assert_eq!(fault(&mut put, &mut hw), (text, true));
        assert!(hw.writes().contains(&Access {
            offset: 0x40,
            value: 1 << bit
        }));
        assert!(!hw.inta());
    }
}

#[test]
fn every_call_on_noise_returns_and_keeps_the_ring_in_order() {
    for seed in 1..400 {
        let mut hw = HostileController::new(&[], seed);
        let mut put = Put::new();
        hw.quiet = true;
        put.init(&mut hw, &config(8)).unwrap();
        hw.quiet = false;
        hw.failures = if seed % 3 == 0 { 20 } else { 0 };
        for call in 0..50u16 {
            let before = hw.accesses();
            let mut events = 0;
            match call % 4 {
                0 => drop(put.add_entry(&mut hw, page(ALL))),
                1 => drop(put.poll(&mut hw, 5, |_| events += 1)),
                2 => drop(put.on_interrupt(&mut hw, 5, |_| events += 1)),
                _ => drop(put.flush_lme(&mut hw, 5, |_| events += 1)),
            }
            assert!(events <= 12, "{events} events");
            // 22 reads for the cause and four an entry, each up to 11 times.
            assert!(
                hw.accesses() - before < 11 * (22 + 10 * 4),
                "too many accesses"
            );
            assert!(put.lpe_free() < 8);
            if !matches!(put.phase(), Phase::Running) {
                put.end();
                hw.quiet = true;
                hw.failures = 0;
                put.init(&mut hw, &config(8)).unwrap();
                hw.quiet = false;
            }
        }
    }
}

use std::string::ToString;
use std::vec::Vec;

use super::super::testing::Access;
use super::*;

#[test]
fn an_entry_is_in_memory_before_lpe_new_moves() {
    let (mut put, mut hw) = started(&config(4));
    let sequence = put.add_entry(&mut hw, page(ALL)).unwrap();
    assert_eq!(
        hw.writes(),
        [Access {
            offset: 0x58,
            value: 0x1010
        }]
    );
    // length 8 | node 1 << 16, NOR LMP LMI NOS and identifier 3, remote, local.
    let mut bytes = [0; 16];
    hw.load(0x1000, &mut bytes).unwrap();
    let words: Vec<u32> = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert_eq!(words, [0x0001_0008, 0xCA00_0003, 0x9000, 0x8000]);
    assert!(sequence < put.next_sequence());
    assert_eq!(put.stats().posted, 1);
}

#[test]
fn a_full_ring_refuses_and_a_poll_makes_room() {
    let (mut put, mut hw) = started(&config(4));
    for _ in 0..3 {
        put.add_entry(&mut hw, page(Control::LMP)).unwrap();
    }
    let error = put.add_entry(&mut hw, page(Control::LMP)).unwrap_err();
    assert_eq!(error, AddError::RingFull { needed: 1, free: 0 });
    assert_eq!(error.to_string(), "ring full: 1 entries needed, 0 free");
    assert_eq!(put.lpe_free(), 0);
    hw.step();
    poll(&mut put, &mut hw, 8);
    assert_eq!(put.lpe_free(), 1);
    put.add_entry(&mut hw, page(Control::LMP)).unwrap();
    // After the last entry comes the first.
    assert_eq!(
        hw.writes().last(),
        Some(&Access {
            offset: 0x58,
            value: 0x1000
        })
    );
}

#[test]
fn the_reserve_is_kept_back_from_the_count_and_floored_at_zero() {
    let (put, _) = started(&PutConfig {
        reserve: RECORD_RESERVE,
        ..config(16)
    });
    assert_eq!(put.lpe_free(), 8);
    let (put, _) = started(&PutConfig {
        reserve: RECORD_RESERVE,
        ..config(4)
    });
    assert_eq!(put.lpe_free(), 0);
}

#[test]
fn refused_entries_leave_no_trace() {
    let (mut put, mut hw) = started(&config(4));
    let mut refused = |entry: Entry| {
        let before = put.clone();
        let error = put.add_entry(&mut hw, entry).unwrap_err();
        assert_eq!(put, before);
        assert_eq!(hw.writes(), []);
        error.to_string()
    };
    let good = page(ALL);
    assert_eq!(
        refused(Entry { node: 16, ..good }),
        "node 16 is unknown, allowed 0..16"
    );
    assert_eq!(
        refused(Entry { node: 999, ..good }),
        "node 999 is unknown, allowed 0..16"
    );
    assert_eq!(
        refused(Entry {
            length: 65_536,
            ..good
        }),
        "page of 65536 bytes, allowed 1..=65535"
    );
    assert_eq!(
        refused(Entry { length: 0, ..good }),
        "page of 0 bytes, allowed 1..=65535"
    );
    assert_eq!(refused(page(Control::NOS)), "nos without lmp");
    assert_eq!(refused(page(Control::NOR)), "nor without lmi");
}

#[test]
fn calls_on_a_closed_driver_say_so() {
    let mut put = Put::new();
    let mut hw = controller();
    let text = "driver is not open";
    assert_eq!(
        put.add_entry(&mut hw, page(ALL)).unwrap_err().to_string(),
        text
    );
    assert_eq!(put.add_message(&mut hw, &[]).unwrap_err().to_string(), text);
    assert_eq!(put.poll(&mut hw, 1, |_| ()).unwrap_err().to_string(), text);
    assert_eq!(
        put.on_interrupt(&mut hw, 1, |_| ())
            .unwrap_err()
            .to_string(),
        text
    );
    assert_eq!(
        put.flush_lme(&mut hw, 1, |_| ()).unwrap_err().to_string(),
        text
    );
    assert_eq!(
        put.flush_lmr(&mut hw, 1, |_| ()).unwrap_err().to_string(),
        text
    );
    assert_eq!(put.register_sap().unwrap_err().to_string(), text);
    assert_eq!(put.clear_counter(&mut hw, 0).unwrap_err().to_string(), text);
    assert_eq!(put.on_hsl(0), None);
}

#[test]
fn sap_and_range_refusals_are_named() {
    let (mut put, _) = started(&config(4));
    let saps: Vec<Sap> = (0..6).map(|_| put.register_sap().unwrap()).collect();
    assert_eq!(
        put.register_sap().unwrap_err().to_string(),
        "all 6 saps are in use"
    );
    let mut attach = |sap, n| {
        put.attach_mi_range(sap, n)
            .map_err(|error| error.to_string())
    };
    let text = |error: &str| Err(error.to_string());
    assert_eq!(
        attach(saps[0], 3),
        text("range of 3 message identifiers is not a power of 2")
    );
    assert_eq!(
        attach(saps[0], 1 << 24),
        text("first range of 16777216 message identifiers, allowed 1..16777216")
    );
    assert_eq!(attach(saps[0], 1 << 23), Ok(()));
    assert_eq!(
        attach(saps[0], 1),
        text("sap has 8388608 message identifiers from 0 already")
    );
    assert_eq!(
        attach(saps[1], 1 << 24),
        text("no room for 16777216 message identifiers below 16777216 after the ranges in use")
    );
    put.unregister_sap(saps[2]).unwrap();
    assert_eq!(
        put.unregister_sap(saps[2]).unwrap_err().to_string(),
        "sap 2 is not registered"
    );
    assert_eq!(
        put.mi_range(saps[0]),
        Ok(Some(MiRange {
            start: 0,
            size: 1 << 23
        }))
    );
    assert_eq!(put.mi_range(saps[1]), Ok(None));
}

#[test]
fn a_message_is_posted_whole_or_not_at_all() {
    let (mut put, mut hw) = started(&config(8));
    let inner = page(Control::default());
    let message = [inner, inner, page(ALL)];
    put.add_message(&mut hw, &message).unwrap();
    assert_eq!(
        hw.writes(),
        [Access {
            offset: 0x58,
            value: 0x1030
        }]
    );
    put.add_message(&mut hw, &message).unwrap();
    hw.forget_writes();
    assert_eq!(
        put.add_message(&mut hw, &message),
        Err(AddError::RingFull { needed: 3, free: 1 })
    );
    let bad = [inner, page(Control::NOS)];
    assert_eq!(
        put.add_message(&mut hw, &bad),
        Err(AddError::Protocol(Protocol::NosWithoutLmp))
    );
    let error = put.add_message(&mut hw, &[inner; 8]).unwrap_err();
    assert_eq!(error.to_string(), "message of 8 pages, allowed 1..=7");
    assert_eq!(hw.writes(), []);
}

#[test]
fn a_port_error_at_any_access_posts_nothing_and_a_retry_posts_once() {
    let message = [page(Control::default()), page(ALL)];
    let (mut put, mut hw) = started(&config(8));
    hw.quirks.fail_after = Some(0);
    let error = put.add_message(&mut hw, &message).unwrap_err();
    assert!(matches!(
        error,
        AddError::Port(PortError::Register { offset: 0x58, .. })
    ));
    assert_eq!(put.lpe_free(), 7);
    put.add_message(&mut hw, &message).unwrap();
    hw.run(10);
    assert_eq!(hw.counters(), [1, 1]);
}

#[test]
fn a_short_message_arrives_in_the_event() {
    let (mut put, mut hw) = started(&config(8));
    let sap = put.register_sap().unwrap();
    put.attach_mi_range(sap, 8).unwrap();
    put.send_short(&mut hw, 0, 5, [0xDEAD_BEEF, 7]).unwrap();
    hw.run(10);
    let data = Some([0xDEAD_BEEF, 7]);
    assert_eq!(
        poll(&mut put, &mut hw, 8),
        [Event::Received {
            sap,
            mi: 5,
            data,
            packets: 1
        }]
    );
}

#[test]
fn a_composed_message_is_complete_when_all_its_parts_are_there() {
    let (mut put, mut hw) = started(&PutConfig {
        count_packets: true,
        ..config(8)
    });
    assert_eq!(hw.peek(0x48), 0x8000_7200);
    let sap = put.register_sap().unwrap();
    put.attach_mi_range(sap, 8).unwrap();
    // One part comes before the receiver says how many there will be.
    put.send_composed(&mut hw, 0, 5).unwrap();
    hw.run(10);
    put.expect_composed(&mut hw, 5, 3).unwrap();
    put.send_composed(&mut hw, 0, 5).unwrap();
    hw.run(10);
    assert_eq!(poll(&mut put, &mut hw, 8), []);
    put.send_composed(&mut hw, 0, 5).unwrap();
    hw.run(10);
    let done = Event::Received {
        sap,
        mi: 5,
        data: None,
        packets: 3,
    };
    assert_eq!(poll(&mut put, &mut hw, 8), [done]);

    let refused = |result: Result<(), CounterError<_>>| result.unwrap_err().to_string();
    assert_eq!(
        refused(put.expect_composed(&mut hw, 64, 3)),
        "no packet counter for message identifier 64, allowed 0..64"
    );
    for packets in [0, 65_536] {
        let text = std::format!("{packets} packets expected, allowed 1..=65535");
        assert_eq!(refused(put.expect_composed(&mut hw, 5, packets)), text);
    }
}

#[test]
fn clearing_a_counter_zeroes_its_four_bytes_only() {
    let (mut put, mut hw) = started(&config(8));
    let counters = BASE + 2 * 16 * 8;
    hw.store(counters, &[0xFF; 256]).unwrap();
    put.clear_counter(&mut hw, 5).unwrap();
    let bytes = hw.ram().slice(counters, 256).unwrap();
    let zeroes: Vec<usize> = (0..256).filter(|at| bytes[*at] == 0).collect();
    assert_eq!(zeroes, [20, 21, 22, 23]);
}

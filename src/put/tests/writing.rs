use std::string::ToString;
use std::vec::Vec;

use super::*;
use crate::remote::{Arrival, Flags, Progress, RemoteWrite, Transfer};

type Small = Writer<4, 4>;

fn writer(config: &PutConfig<'_>, choices: WriterConfig) -> (Small, FakeController<'static>) {
    let (put, hw) = started(config);
    (Writer::new(put, choices).unwrap(), hw)
}

fn transfer(length: u64, tag: Option<u32>) -> Transfer {
    let flags = Flags {
        notify_receiver: tag.is_some(),
        tag: tag.unwrap_or(0),
    };
    Transfer {
        node: 1,
        local: 0x8000,
        remote: 0x2_0000,
        length,
        flags,
    }
}

#[test]
fn a_transfer_of_many_pages_and_messages_arrives_and_is_told_once() {
    let choices = WriterConfig {
        page: 100,
        pages_per_message: 3,
        ..WriterConfig::default()
    };
    let (mut writer, mut hw) = writer(&config(4), choices);
    let bytes: Vec<u8> = (0..2345u32).map(|i| (i * 7 % 251) as u8).collect();
    hw.store(0x8000, &bytes).unwrap();
    let token = writer.start(&mut hw, transfer(2345, Some(9))).unwrap();
    let mut arrivals = Vec::new();
    for _ in 0..100 {
        hw.run(10);
        writer.poll(&mut hw).unwrap();
        arrivals.extend(writer.arrival());
    }
    assert_eq!(writer.progress(&token), Ok(Progress::Sent));
    assert_eq!(arrivals, [Arrival { tag: 9 }]);
    assert_eq!(hw.ram().slice(0x2_0000, 2345).unwrap(), bytes);
    assert_eq!(hw.ram().slice(0x2_0000 + 2345, 1).unwrap(), [0]);
    // 24 pages of at most 100 bytes; one counted, the rest silent.
    assert_eq!(writer.put().stats().posted, 24);
    assert_eq!(writer.put().stats().sent, 1);
}

#[test]
fn sent_is_said_when_the_last_page_has_left_and_not_before() {
    let (mut writer, mut hw) = writer(&config(8), WriterConfig::default());
    let token = writer.start(&mut hw, transfer(8, None)).unwrap();
    hw.step();
    writer.poll(&mut hw).unwrap();
    assert_eq!(
        writer.progress(&token),
        Ok(Progress::Pending),
        "read, not sent"
    );
    hw.step();
    writer.poll(&mut hw).unwrap();
    assert_eq!(writer.progress(&token), Ok(Progress::Sent));
}

#[test]
fn without_a_count_sent_is_said_after_the_following_entry_was_read() {
    let choices = WriterConfig {
        completion: Completion::NextEntry,
        ..WriterConfig::default()
    };
    let (mut writer, mut hw) = writer(&config(8), choices);
    let first = writer.start(&mut hw, transfer(8, None)).unwrap();
    hw.run(10);
    writer.poll(&mut hw).unwrap();
    assert_eq!(writer.progress(&first), Ok(Progress::Pending));
    let second = writer.start(&mut hw, transfer(8, None)).unwrap();
    hw.step();
    writer.poll(&mut hw).unwrap();
    assert_eq!(writer.progress(&first), Ok(Progress::Sent));
    assert_eq!(writer.progress(&second), Ok(Progress::Pending));
    assert_eq!(hw.counters(), [0, 0]);
}

#[test]
fn a_transfer_of_nothing_is_sent_at_once_and_its_notification_still_comes() {
    let (mut writer, mut hw) = writer(&config(8), WriterConfig::default());
    let nothing = Transfer {
        local: 0,
        remote: 0,
        ..transfer(0, None)
    };
    let token = writer.start(&mut hw, nothing).unwrap();
    assert_eq!(writer.progress(&token), Ok(Progress::Sent));
    assert_eq!(writer.put().stats().posted, 0);
    let told = writer.start(&mut hw, transfer(0, Some(5))).unwrap();
    hw.run(10);
    writer.poll(&mut hw).unwrap();
    assert_eq!(writer.progress(&told), Ok(Progress::Sent));
    assert_eq!(writer.arrival(), Some(Arrival { tag: 5 }));
    assert_eq!(writer.arrival(), None);
}

#[test]
fn refused_transfers_are_named_and_not_started() {
    let (mut writer, mut hw) = writer(
        &config(8),
        WriterConfig {
            tags: 16,
            ..Default::default()
        },
    );
    let mut refused = |transfer: Transfer| {
        let error = writer.start(&mut hw, transfer).unwrap_err();
        assert_eq!(writer.put().stats().posted, 0);
        error.to_string()
    };
    let good = transfer(8, None);
    assert_eq!(refused(transfer(8, Some(16))), "tag 16, allowed 0..16");
    assert_eq!(
        refused(Transfer { node: 16, ..good }),
        "node 16 is unknown, allowed 0..16"
    );
    assert_eq!(
        refused(Transfer { remote: 0, ..good }),
        "remote address of a page is 0"
    );
    assert_eq!(
        refused(Transfer { local: 0, ..good }),
        "local address of a page is 0"
    );
    assert_eq!(
        refused(Transfer {
            local: 0xFFFF_FFFF,
            ..good
        }),
        "8 bytes at 0xffffffff do not end below 2^32"
    );
    assert_eq!(
        refused(Transfer {
            remote: u64::MAX,
            ..good
        }),
        "8 bytes at 0xffffffffffffffff do not end below 2^32"
    );
    assert_eq!(
        refused(Transfer {
            length: u64::MAX,
            ..good
        }),
        "18446744073709551615 bytes at 0x20000 do not end below 2^32"
    );
}

#[test]
fn as_many_transfers_as_fit_then_one_more_after_a_poll() {
    let (mut writer, mut hw) = writer(&config(3), WriterConfig::default());
    for _ in 0..4 {
        writer.start(&mut hw, transfer(8, None)).unwrap();
    }
    let error = writer.start(&mut hw, transfer(8, None)).unwrap_err();
    assert_eq!(error.to_string(), "queue full: 4 transfers in progress");
    hw.run(10);
    writer.poll(&mut hw).unwrap();
    writer.start(&mut hw, transfer(8, None)).unwrap();
}

#[test]
fn notifications_that_are_not_taken_wait_in_the_ring() {
    let (mut writer, mut hw) = writer(&config(16), WriterConfig::default());
    for tag in 0..12 {
        while writer.start(&mut hw, transfer(8, Some(tag))).is_err() {
            hw.run(10);
            writer.poll(&mut hw).unwrap();
        }
    }
    let mut tags = Vec::new();
    for _ in 0..20 {
        hw.run(10);
        writer.poll(&mut hw).unwrap();
        tags.extend(writer.arrival().map(|arrival| arrival.tag));
    }
    assert_eq!(tags, (0..12).collect::<Vec<_>>());
}

#[test]
fn other_users_of_the_board_find_their_events() {
    let (mut writer, mut hw) = writer(
        &config(16),
        WriterConfig {
            tags: 8,
            ..Default::default()
        },
    );
    let put = writer.put_mut();
    let other = put.register_sap().unwrap();
    put.attach_mi_range(other, 8).unwrap();
    for n in 0..10 {
        writer.put_mut().send_short(&mut hw, 1, 8, [n, 0]).unwrap();
    }
    hw.run(100);
    let mut seen = Vec::new();
    for _ in 0..40 {
        writer.poll(&mut hw).unwrap();
        while let Some(Event::Received {
            sap,
            data: Some([n, _]),
            ..
        }) = writer.event()
        {
            assert_eq!(sap, other);
            seen.push(n);
        }
    }
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_stopped_board_fails_its_transfers() {
    let (mut writer, mut hw) = writer(&config(8), WriterConfig::default());
    let token = writer.start(&mut hw, transfer(8, None)).unwrap();
    hw.raise(1 << 23);
    writer.poll(&mut hw).unwrap();
    let error = writer.progress(&token).unwrap_err();
    assert_eq!(
        error.to_string(),
        "transfer lost, board stopped: board reports eep"
    );
    assert!(matches!(
        writer.event(),
        Some(Event::Error { stopped: true, .. })
    ));
    assert_eq!(
        writer
            .start(&mut hw, transfer(8, None))
            .unwrap_err()
            .to_string(),
        "board was stopped after a fault"
    );
}

#[test]
fn a_port_error_in_start_refuses_that_transfer_only() {
    let (mut writer, mut hw) = writer(&config(8), WriterConfig::default());
    let first = writer.start(&mut hw, transfer(8, Some(1))).unwrap();
    hw.quirks.fail_after = Some(0);
    assert!(matches!(
        writer.start(&mut hw, transfer(8, Some(2))),
        Err(WriteError::Refused(AddError::Port(_)))
    ));
    let third = writer.start(&mut hw, transfer(8, Some(3))).unwrap();
    hw.run(10);
    writer.poll(&mut hw).unwrap();
    assert_eq!(writer.progress(&first), Ok(Progress::Sent));
    assert_eq!(writer.progress(&third), Ok(Progress::Sent));
    assert_eq!(writer.arrival(), Some(Arrival { tag: 1 }));
    assert_eq!(writer.arrival(), Some(Arrival { tag: 3 }));
    assert_eq!(writer.arrival(), None);
}

#[test]
fn wrong_choices_are_named() {
    let text = |choices| {
        let (put, _) = started(&config(4));
        Small::new(put, choices).unwrap_err().to_string()
    };
    let good = WriterConfig::default();
    assert_eq!(
        text(WriterConfig {
            page: 65_536,
            ..good
        }),
        "writer pages of 65536 bytes, allowed 1..=65535"
    );
    assert_eq!(
        text(WriterConfig { page: 0, ..good }),
        "writer pages of 0 bytes, allowed 1..=65535"
    );
    assert_eq!(
        text(WriterConfig {
            pages_per_message: 0,
            ..good
        }),
        "writer messages of 0 pages, allowed 1.."
    );
    assert_eq!(
        text(WriterConfig { budget: 0, ..good }),
        "writer budget of 0, allowed 1..=65535"
    );
    assert_eq!(
        text(WriterConfig { tags: 0, ..good }),
        "writer with 0 tags, allowed 1..=16777216"
    );
    assert_eq!(
        text(WriterConfig { tags: 12, ..good }),
        "range of 12 message identifiers is not a power of 2"
    );
    assert_eq!(
        Small::new(Put::new(), good).unwrap_err().to_string(),
        "driver is not open"
    );
}

#[test]
fn a_token_of_another_writer_is_unknown() {
    let (mut writer, mut hw) = writer(&config(8), WriterConfig::default());
    let (mut other, _) = self::writer(&config(8), WriterConfig::default());
    let token = writer.start(&mut hw, transfer(8, None)).unwrap();
    assert_eq!(
        other.progress(&token).unwrap_err().to_string(),
        "transfer 0 was not started here"
    );
}

#[test]
fn identifiers_that_are_not_the_writers_are_events_of_others() {
    // Somebody takes the writer's place and range by its back door.
    let (mut put, mut hw) = started(&config(16));
    let below = put.register_sap().unwrap();
    put.attach_mi_range(below, 4).unwrap();
    let choices = WriterConfig {
        tags: 16,
        ..WriterConfig::default()
    };
    let mut writer: Small = Writer::new(put, choices).unwrap();
    let put = writer.put_mut();
    assert!(put.end());
    put.init(&mut hw, &config(16)).unwrap();
    put.register_sap().unwrap();
    let sap = put.register_sap().unwrap();
    put.attach_mi_range(sap, 4).unwrap();
    let page = Entry::page(1, 3, 0x8000, 0x9000, 8, ALL);
    put.add_entry(&mut hw, page).unwrap();
    for _ in 0..4 {
        hw.run(10);
        writer.poll(&mut hw).unwrap();
    }
    assert_eq!(writer.arrival(), None);
    let received = core::iter::from_fn(|| writer.event())
        .any(|event| matches!(event, Event::Received { mi: 3, .. }));
    assert!(received);
}

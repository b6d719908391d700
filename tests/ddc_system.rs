//! Two controllers back to back: what they do.

mod ddc_rig;

use ddc_rig::*;
use multipc::ddc::DdcConfig;
use multipc::ddc::lme::Control;
use multipc::ddc::packet::Tail;
use multipc::pci::BridgeConfig;

#[test]
fn one_page_arrives_and_is_reported() {
    let mut rig = Rig::started(ALL_ON);
    let text: Vec<u8> = (0..5).map(|b| 0xA1 + b).collect();
    rig.boards[0].bytes_mut(DATA + 1, 5).copy_from_slice(&text);
    rig.post(0, &[last(5, DATA + 1, DATA + 3, 0x12_3456)]);
    rig.until(1000, |rig| rig.boards[1].intr());
    assert_eq!(
        rig.boards[1].bytes(DATA, 12),
        [0, 0, 0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0, 0, 0, 0]
    );
    let reports = rig.reports(1);
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].packet_number, 1);
    assert_eq!(reports[0].r3_status, 3);
    assert_eq!(reports[0].control, LAST.with_mi(0x12_3456));
    assert_eq!(rig.read(0, STATUS) & 0xFFFF_F000, 0x8000_0000);
    assert_eq!(rig.read(1, STATUS) & 0xFFFF_F000, 0x4000_0000);
    rig.assert_clean();
}

#[test]
fn the_ring_wraps_empties_and_fills() {
    let mut rig = Rig::started(ALL_ON);
    let mut sent = 0u32;
    for round in 0..12 {
        let count = [15, 1, 7, 15, 3, 2][round % 6];
        let pages: Vec<_> = (0..count)
            .map(|k| last(4, DATA + 4 * (sent + k), DATA + 4 * (sent + k), sent + k))
            .collect();
        for k in 0..count {
            rig.boards[0].set_word(DATA + 4 * (sent + k), 0xC0DE_0000 + sent + k);
        }
        rig.post(0, &pages);
        let new = rig.boards[0].ddc.register(LPE_NEW);
        rig.until(3000, |rig| rig.boards[0].ddc.register(LPE_CURRENT) == new);
        rig.run(200);
        let reports = rig.reports(1);
        let mis: Vec<u32> = reports.iter().map(|r| r.control.mi()).collect();
        assert_eq!(mis, (sent..sent + count).collect::<Vec<_>>());
        for _ in 0..count {
            rig.write(0, STATUS, 0x8000_0000);
            rig.write(1, STATUS, 0x4000_0000);
        }
        assert!(!rig.boards[0].intr() && !rig.boards[1].intr());
        sent += count;
    }
    for k in 0..sent {
        assert_eq!(rig.boards[1].word(DATA + 4 * k), 0xC0DE_0000 + k);
    }
    rig.assert_clean();
}

#[test]
fn lpe_current_moves_before_the_page_is_read() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(0, &[last(2000, DATA, DATA, 1)]);
    rig.until(100, |rig| {
        rig.boards[0].ddc.register(LPE_CURRENT) == LPE + 16
    });
    assert_eq!(rig.boards[0].bridge.stats().words_read, 4);
    assert_eq!(rig.boards[0].ddc.register(STATUS) >> 31, 0);
}

#[test]
fn interrupt_is_a_level_that_follows_status_and_mask() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(0, &[last(4, DATA, DATA, 1), last(4, DATA, DATA, 2)]);
    rig.run(300);
    assert!(rig.boards[0].intr() && rig.boards[1].intr());
    rig.write(0, STATUS, 0x8000_0000);
    assert!(rig.boards[0].intr());
    rig.write(0, MASK, 0x00FB_F0FF);
    assert!(!rig.boards[0].intr());
    rig.write(0, MASK, 0xC0FB_F0FF);
    assert!(rig.boards[0].intr());
    rig.write(0, STATUS, 0x8000_0000);
    assert!(!rig.boards[0].intr());
}

#[test]
fn the_report_is_in_memory_before_the_interrupt() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(0, &[last(100, DATA, DATA, 0x77)]);
    rig.until(1000, |rig| rig.boards[1].intr());
    assert_eq!(rig.boards[1].word(LMI + 4), LAST.with_mi(0x77).bits());
    assert_eq!(rig.boards[1].ddc.register(LMI_NEW), LMI + 16);
    assert_eq!(rig.boards[1].ddc.register(MSG), LAST.with_mi(0x77).bits());
}

#[test]
fn short_messages_put_their_8_bytes_into_the_report() {
    let mut rig = Rig::started(ALL_ON);
    rig.boards[0].record = true;
    let control = LAST.with(Control::SM).with_mi(0xABCDE);
    rig.post(0, &[page(0, 0x8877_6655, 0x4433_2211, control)]);
    rig.until(500, |rig| rig.boards[1].intr());
    assert_eq!(rig.boards[0].sent.len(), 24);
    assert_eq!(rig.boards[0].bridge.stats().words_read, 4);
    let report = rig.reports(1)[0];
    assert_eq!(
        (report.data, report.packet_number),
        ([0x4433_2211, 0x8877_6655], 1)
    );
    assert_eq!(report.control, control);
    rig.assert_clean();
}

#[test]
fn a_composed_message_completes_at_the_count_software_wrote() {
    let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
    rig.boards[1].set_word(LRM + 4 * 3, 3 << 16);
    let control = LAST.with(Control::CM).with(Control::LRM).with_mi(3);
    for sender in 0..3u32 {
        assert!(!rig.boards[1].intr());
        rig.post(0, &[page(0, 0, sender, control)]);
        rig.run(150);
    }
    assert!(rig.boards[1].intr());
    let reports = rig.reports(1);
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].packet_number, 3);
    assert_eq!(rig.boards[1].word(LRM + 4 * 3), 0);
    rig.assert_clean();
}

#[test]
fn composed_and_standard_messages_share_an_entry_through_memory() {
    // The cached counter of a standard message goes to memory before a composed
    // packet counts there.
    let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
    let counted = LAST.with(Control::LRM).with_mi(6);
    rig.feed(1, &long_packet(counted, DATA, &[1], Tail::default()));
    assert_eq!(rig.boards[1].word(LRM + 24), 0);
    // Without the flag LRM it does not count.
    rig.feed(1, &short_packet(Control::CM.with_mi(6), [0; 2]));
    assert_eq!(rig.boards[1].word(LRM + 24), 0);
    let composed = Control::CM.with(Control::LRM).with_mi(6);
    rig.feed(1, &short_packet(composed, [0; 2]));
    assert_eq!(rig.boards[1].word(LRM + 24), 2);
}

#[test]
fn counted_messages_complete_when_their_packets_come_in_any_order() {
    let orders: [[usize; 4]; 5] = [
        [0, 1, 2, 3],
        [3, 2, 1, 0],
        [3, 0, 1, 2],
        [1, 3, 0, 2],
        [2, 0, 3, 1],
    ];
    for order in orders {
        let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
        // A second message is interleaved, so that the cache misses each time.
        for (k, part) in order.into_iter().enumerate() {
            for mi in [8u32, 9] {
                let control = LAST.with(Control::LRM).with_mi(mi);
                let tail = if part == 3 {
                    last_of(4)
                } else {
                    Tail::default()
                };
                let address = DATA + 0x100 * mi + 8 * part as u32;
                let symbols = long_packet(control, address, &[part as u8 + 1; 8], tail);
                rig.feed(1, &symbols);
                assert_eq!(rig.boards[1].ddc.register(STATUS) >> 30 & 1 == 1, k == 3);
            }
        }
        let reports = rig.reports(1);
        assert_eq!(
            reports
                .iter()
                .map(|r| (r.control.mi(), r.packet_number))
                .collect::<Vec<_>>(),
            [(8, 4), (9, 4)]
        );
        for mi in [8u32, 9] {
            let bytes = rig.boards[1].bytes(DATA + 0x100 * mi, 32);
            assert!(
                bytes
                    .chunks(8)
                    .enumerate()
                    .all(|(k, c)| c == [k as u8 + 1; 8])
            );
            assert_eq!(rig.boards[1].word(LRM + 4 * mi), 0);
        }
        rig.assert_clean();
    }
}

#[test]
fn consecutive_packets_of_one_message_need_no_counter_access() {
    let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
    rig.post(
        0,
        &[page(5320, DATA, DATA, LAST.with(Control::LRM).with_mi(2))],
    );
    rig.until(10_000, |rig| rig.boards[1].intr());
    // One read for the first packet; the entry in memory was 0 all the time.
    assert_eq!(rig.boards[1].bridge.stats().words_read, 1);
    assert_eq!(rig.reports(1)[0].packet_number, 10);
}

#[test]
fn without_the_global_switch_counters_are_not_used() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(
        0,
        &[page(1064, DATA, DATA, LAST.with(Control::LRM).with_mi(2))],
    );
    rig.until(3000, |rig| rig.boards[1].intr());
    assert_eq!(rig.boards[1].bridge.stats().words_read, 0);
    assert_eq!(rig.reports(1)[0].packet_number, 2);
}

#[test]
fn messages_of_many_pages_count_all_their_packets() {
    let mut rig = Rig::started(ALL_ON);
    let silent = Control::LRM.with_mi(4);
    rig.post(
        0,
        &[
            page(600, DATA, DATA, silent),
            page(10, DATA, DATA, silent),
            page(1, DATA, DATA, LAST.with_mi(4)),
        ],
    );
    rig.until(3000, |rig| rig.boards[1].intr());
    rig.post(0, &[last(1, DATA, DATA, 5)]);
    rig.run(200);
    let packets: Vec<u16> = rig.reports(1).iter().map(|r| r.packet_number).collect();
    assert_eq!(packets, [4, 1]);
}

#[test]
fn nos_counts_without_lmp_too() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(
        0,
        &[
            page(4, DATA, DATA, Control::NOS),
            page(4, DATA, DATA, Control::LMP),
        ],
    );
    rig.run(300);
    assert_eq!(rig.read(0, STATUS) >> 24, 0x80);
    rig.write(0, STATUS, 0x8000_0000);
    assert!(!rig.boards[0].intr());
}

#[test]
fn the_senders_free_bit_does_not_travel() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(0, &[page(4, DATA, DATA, LAST.with(Control::RESERVED))]);
    rig.until(300, |rig| rig.boards[1].intr());
    assert_eq!(rig.reports(1)[0].control, LAST);
}

#[test]
fn nonsense_descriptors_end_in_something_defined() {
    let mut rig = Rig::started(ALL_ON);
    rig.boards[0].record = true;
    // No bytes: nothing leaves, but the page counts.
    rig.post(0, &[page(0, DATA, DATA, Control::NOS.with_mi(1))]);
    rig.run(100);
    assert_eq!(
        (
            rig.boards[0].sent.len(),
            rig.boards[0].ddc.register(STATUS) >> 31
        ),
        (0, 1)
    );
    // No bytes at the end of a message: a packet without data ends it.
    rig.post(
        0,
        &[
            page(5, DATA, DATA, Control::NOS.with_mi(2)),
            last(0, DATA, DATA, 2),
        ],
    );
    rig.run(300);
    assert_eq!(rig.boards[0].sent.len(), (28 + 8) + 28);
    // A length in a short message is ignored.
    rig.post(0, &[page(77, 2, 1, LAST.with(Control::SM).with_mi(3))]);
    // SM without LMP reports nothing.
    rig.post(
        0,
        &[page(0, 2, 1, Control::SM.with(Control::LMI).with_mi(4))],
    );
    // SM and CM without counters: each packet completes.
    rig.post(
        0,
        &[page(
            9,
            2,
            1,
            LAST.with(Control::SM).with(Control::CM).with_mi(5),
        )],
    );
    rig.run(500);
    let reports = rig.reports(1);
    let told: Vec<_> = reports
        .iter()
        .map(|r| (r.control.mi(), r.packet_number, r.data))
        .collect();
    assert_eq!(told, [(2, 2, [0, 0]), (3, 1, [1, 2]), (5, 1, [1, 2])]);
    assert_eq!(rig.boards[1].ddc.register(STATUS) & 0x00FF_F000, 0);
    rig.assert_clean();
}

#[test]
fn mpl_cuts_packets_in_words() {
    for (limit, packets) in [(1u32, 25), (10, 3), (133, 1), (4095, 1), (0, 1)] {
        let mut rig = Rig::started(ALL_ON | limit << 16);
        rig.post(0, &[last(98, DATA, DATA + 1, 1)]);
        rig.until(3000, |rig| rig.boards[1].intr());
        assert_eq!(rig.reports(1)[0].packet_number, packets, "limit {limit}");
    }
}

#[test]
fn loopback_sends_to_itself_and_leaves_the_cable_silent() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(0, COMMAND, ALL_ON | LOOPBACK);
    let text: Vec<u8> = (0..3000u32).map(|k| (k * 5) as u8).collect();
    rig.boards[0]
        .bytes_mut(DATA + 3, 3000)
        .copy_from_slice(&text);
    rig.boards[0].record = true;
    rig.post(0, &[last(3000, DATA + 3, DATA + 0x8002, 1)]);
    rig.until(6000, |rig| rig.boards[0].ddc.register(STATUS) >> 30 == 3);
    assert_eq!(rig.boards[0].bytes(DATA + 0x8002, 3000), text);
    assert_eq!(rig.boards[0].sent.len(), 0);
    assert_eq!(rig.boards[1].bridge.stats().transactions, 0);
    // And back to the cable.
    rig.reports(0);
    rig.write(0, COMMAND, ALL_ON);
    rig.post(0, &[last(100, DATA + 3, DATA + 2, 2)]);
    rig.until(1000, |rig| rig.boards[1].intr());
    assert_eq!(rig.boards[1].bytes(DATA + 2, 100), &text[..100]);
    rig.assert_clean();
}

#[test]
fn a_receiver_that_is_off_or_slow_loses_nothing() {
    let mut rig = Rig::new(DdcConfig::default(), BridgeConfig::default());
    rig.start(0, ALL_ON);
    rig.start(1, BALANCED | TX_INIT | R3_INIT);
    let text: Vec<u8> = (0..20_000u32).map(|k| (k ^ k >> 8) as u8).collect();
    rig.boards[0].bytes_mut(DATA, 20_000).copy_from_slice(&text);
    rig.boards[0].record = true;
    rig.post(0, &[last(20_000, DATA, DATA + 1, 1)]);
    rig.run(2000);
    assert_eq!(rig.boards[0].sent.len(), 0);
    // On, but its bus is kept from it: FIFOs and credit fill up, nothing more leaves.
    rig.boards[1].bridge.hold_grant(true);
    rig.write(1, COMMAND, ALL_ON);
    rig.run(3000);
    let stuck = rig.boards[0].sent.len();
    assert!((500..800).contains(&stuck), "{stuck}");
    rig.run(3000);
    assert_eq!(rig.boards[0].sent.len(), stuck);
    rig.boards[1].bridge.hold_grant(false);
    rig.until(20_000, |rig| rig.boards[1].intr());
    assert_eq!(rig.boards[1].bytes(DATA + 1, 20_000), text);
    rig.assert_clean();
}

#[test]
fn slow_memory_only_costs_time() {
    let mut slow = BridgeConfig::default();
    slow.read_latency = 15;
    slow.write_latency = 12;
    slow.wait_states = 6;
    let mut rig = Rig::new(DdcConfig::default(), slow);
    rig.start(0, ALL_ON);
    rig.start(1, ALL_ON);
    for board in 0..2u8 {
        rig.boards[usize::from(board)]
            .bytes_mut(DATA, 3000)
            .fill(board + 1);
        rig.post(usize::from(board), &[last(3000, DATA, DATA + 0x2003, 1)]);
    }
    rig.until(40_000, |rig| {
        rig.boards.iter().all(|b| b.ddc.register(STATUS) >> 30 == 3)
    });
    assert_eq!(rig.boards[0].bytes(DATA + 0x2003, 3000), [2; 3000]);
    assert_eq!(rig.boards[1].bytes(DATA + 0x2003, 3000), [1; 3000]);
    rig.assert_clean();
}

#[test]
fn registers_can_be_read_while_both_directions_stream() {
    let mut rig = Rig::started(ALL_ON);
    for board in 0..2 {
        rig.post(board, &[last(30_000, DATA, DATA + 0x2_0000, 1)]);
    }
    for _ in 0..200 {
        for board in 0..2 {
            let current = rig.read(board, LPE_CURRENT);
            assert!([LPE, LPE + 16].contains(&current));
            assert_eq!(rig.read(board, LMI_NEW) & !0x10, LMI);
        }
    }
    rig.assert_clean();
}

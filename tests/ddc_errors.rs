//! The controller when things go wrong: spoilt packets, full rings, bus errors,
//! lost signal, resets.

mod ddc_rig;

use ddc_rig::*;
use multipc::ddc::lme::Control;
use multipc::ddc::packet::Tail;
use multipc::ddc::{DdcConfig, Transaction};
use multipc::hsl::Symbol;
use multipc::pci::{BridgeConfig, Rule, TargetResponse};

const EEP: u32 = 1 << 23;
const CRC_HEADER: u32 = 1 << 22;
const CRC_DATA: u32 = 1 << 21;
const EP: u32 = 1 << 20;
const TIMEOUT: u32 = 1 << 19;
const R3: u32 = 1 << 18;
const SENT_OF: u32 = 1 << 15;
const RECEIVED_OF: u32 = 1 << 14;
const ILLEGAL_LRM: u32 = 1 << 13;
const LMI_OF: u32 = 1 << 12;
const ERRORS: u32 = 0x00FF_F000;

fn errors(rig: &Rig, board: usize) -> u32 {
    rig.boards[board].ddc.register(STATUS) & ERRORS
}

fn bus_master(rig: &Rig, board: usize) -> bool {
    rig.boards[board].ddc.register(PCI_04) & 4 != 0
}

/// Clears everything and sets Bus Master again.
fn recover(rig: &mut Rig, board: usize) {
    rig.write(board, STATUS, ERRORS);
    rig.write(board, PCI_04, 0xFFFF_0104);
}

/// Feeds symbols that spoil a packet and checks what is told, that the bus master
/// stopped, that nothing was reported, and that the next packet is good again.
fn spoilt(symbols: &[Symbol], expected: u32) -> Rig {
    let mut rig = Rig::started(ALL_ON);
    rig.feed(1, symbols);
    assert_eq!(errors(&rig, 1), expected);
    assert!(!bus_master(&rig, 1) && rig.boards[1].intr());
    assert_eq!(rig.boards[1].ddc.register(LMI_NEW), LMI);
    recover(&mut rig, 1);
    assert!(!rig.boards[1].intr());
    rig.feed(
        1,
        &long_packet(LAST.with_mi(9), DATA + 0x801, &[1, 2, 3], last_of(1)),
    );
    assert_eq!(rig.boards[1].bytes(DATA + 0x800, 5), [0, 1, 2, 3, 0]);
    assert_eq!(rig.reports(1).len(), 1);
    assert_eq!(errors(&rig, 1), 0);
    rig.assert_clean();
    rig
}

fn good() -> Vec<Symbol> {
    long_packet(LAST.with_mi(5), DATA, &[0xAA; 12], last_of(1))
}

#[test]
fn a_header_that_fails_its_crc_writes_nothing() {
    for symbol in [0, 1, 2, 4, 8, 11, 12, 15] {
        let mut symbols = good();
        symbols[symbol] = Symbol::data(symbols[symbol].value() ^ 0x10);
        let rig = spoilt(&symbols, CRC_HEADER);
        assert_eq!(rig.boards[1].bytes(DATA, 12), [0; 12]);
    }
}

#[test]
fn data_that_fails_its_crc_is_not_completed() {
    // Data, the tail's EPN, the CRC itself.
    for symbol in [16, 27, 28, 29, 32, 35] {
        let mut symbols = good();
        symbols[symbol] = Symbol::data(symbols[symbol].value() ^ 0x01);
        spoilt(&symbols, CRC_DATA);
    }
}

#[test]
fn the_sender_can_switch_the_data_crc_off() {
    let tail = Tail {
        crc_disable: true,
        ..last_of(1)
    };
    let mut symbols = long_packet(LAST, DATA, &[1, 2, 3, 4], tail);
    symbols[24] = Symbol::data(symbols[24].value() ^ 0xFF);
    let mut rig = Rig::started(ALL_ON);
    rig.feed(1, &symbols);
    assert_eq!((errors(&rig, 1), rig.reports(1).len()), (0, 1));
}

#[test]
fn an_exceptional_end_is_told_wherever_it_comes() {
    for cut in 1..good().len() {
        let mut symbols = good();
        symbols.truncate(cut);
        symbols.push(Symbol::EEP);
        spoilt(&symbols, EEP);
    }
}

#[test]
fn a_packet_that_ends_early_is_told() {
    for cut in 1..good().len() - 1 {
        let mut symbols = good();
        symbols.truncate(cut);
        symbols.push(Symbol::EP);
        spoilt(&symbols, EP);
    }
}

#[test]
fn a_packet_without_end_is_told_by_the_next_one() {
    for cut in (4..good().len() - 4).step_by(4) {
        let mut symbols = good();
        symbols.truncate(cut);
        symbols.extend(good());
        let mut rig = Rig::started(ALL_ON);
        rig.write(1, MASK, 0); // no stop: the second packet must be taken
        rig.feed(1, &symbols);
        assert_eq!(errors(&rig, 1), EP, "cut at {cut}");
        assert_eq!(rig.reports(1).len(), 1, "cut at {cut}");
    }
}

#[test]
fn masked_errors_neither_stop_nor_interrupt() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(1, MASK, 0xC000_0000);
    rig.feed(1, &[Symbol::data(1), Symbol::EEP]);
    assert_eq!(errors(&rig, 1), EEP);
    assert!(bus_master(&rig, 1) && !rig.boards[1].intr());
    rig.feed(1, &good());
    assert_eq!(rig.reports(1).len(), 1);
}

#[test]
fn a_link_that_falls_is_told_but_stops_nothing() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(1, MASK, 0xC0FF_F001);
    rig.boards[1].r3_status = 0x01;
    rig.run(4);
    assert_eq!(errors(&rig, 1), 0);
    rig.boards[1].r3_status = 0x00;
    rig.run(4);
    assert_eq!(errors(&rig, 1), R3);
    assert!(bus_master(&rig, 1) && rig.boards[1].intr());
    assert_eq!(rig.boards[1].ddc.register(STATUS) & 0xFF, 0);
}

#[test]
fn silence_inside_a_packet_times_out_once_and_loses_nothing() {
    let mut config = DdcConfig::default();
    config.rx_timeout_cycles = 500;
    let mut rig = Rig::new(config, BridgeConfig::default());
    rig.start(1, ALL_ON);
    rig.write(1, MASK, 0);
    let symbols = good();
    rig.feed(1, &symbols[..22]);
    rig.run(300);
    assert_eq!(errors(&rig, 1), 0);
    rig.run(200);
    assert_eq!(errors(&rig, 1), TIMEOUT);
    rig.write(1, STATUS, ERRORS);
    rig.run(2000);
    assert_eq!(errors(&rig, 1), 0);
    rig.feed(1, &symbols[22..]);
    assert_eq!(rig.reports(1).len(), 1);
    assert_eq!(rig.boards[1].bytes(DATA, 12), [0xAA; 12]);
}

#[test]
fn no_timeout_when_it_is_off_or_between_packets() {
    for (timeout, symbols) in [(0, &good()[..22]), (300, &good()[..])] {
        let mut config = DdcConfig::default();
        config.rx_timeout_cycles = timeout;
        let mut rig = Rig::new(config, BridgeConfig::default());
        rig.start(1, ALL_ON);
        rig.feed(1, symbols);
        rig.run(3000);
        assert_eq!(errors(&rig, 1), 0);
    }
}

#[test]
fn a_full_report_ring_holds_the_report_until_there_is_room() {
    let mut rig = Rig::started(ALL_ON);
    let count = ENTRIES as usize + 3;
    for mi in 0..count as u32 {
        rig.post(0, &[last(4, DATA + 4 * mi, DATA + 4 * mi, mi)]);
        rig.run(100);
    }
    assert_eq!(errors(&rig, 1), LMI_OF);
    assert!(!bus_master(&rig, 1));
    assert_eq!(
        rig.boards[1].ddc.register(LMI_NEW),
        LMI + 16 * (ENTRIES - 1)
    );
    // Bus Master without room: the event comes again.
    recover(&mut rig, 1);
    rig.run(20);
    assert_eq!(errors(&rig, 1), LMI_OF);
    assert!(!bus_master(&rig, 1));
    let mut mis: Vec<u32> = rig.reports(1).iter().map(|r| r.control.mi()).collect();
    assert_eq!(mis.len(), ENTRIES as usize - 1);
    recover(&mut rig, 1);
    rig.run(500);
    mis.extend(rig.reports(1).iter().map(|r| r.control.mi()));
    assert_eq!(mis, (0..count as u32).collect::<Vec<_>>());
    assert_eq!(errors(&rig, 1), 0);
    rig.assert_clean();
}

#[test]
fn a_masked_full_ring_goes_on_by_itself() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(1, MASK, 0);
    for mi in 0..ENTRIES {
        rig.post(0, &[last(4, DATA, DATA, mi)]);
        rig.run(100);
    }
    assert_eq!(errors(&rig, 1), LMI_OF);
    assert_eq!(rig.reports(1).len(), ENTRIES as usize - 1);
    rig.run(60);
    assert_eq!(rig.reports(1).len(), 1);
}

#[test]
fn aborts_stop_the_bus_master_and_the_transfer_is_tried_again() {
    for (response, bit) in [
        (TargetResponse::TargetAbort, 1 << 28),
        (TargetResponse::AbortAfter(2), 1 << 28),
        (TargetResponse::Ignore, 1 << 29),
    ] {
        for board in [0, 1] {
            let mut rig = Rig::started(ALL_ON);
            rig.boards[0].bytes_mut(DATA, 64).copy_from_slice(&[7; 64]);
            rig.boards[board].bridge.respond_next(response).unwrap();
            rig.post(0, &[last(64, DATA, DATA, 1)]);
            rig.run(400);
            assert_eq!(rig.boards[board].ddc.register(PCI_04) & 0x7900_0004, bit);
            assert!(rig.boards[board].intr());
            recover(&mut rig, board);
            rig.until(500, |rig| rig.boards[1].ddc.register(LMI_NEW) != LMI);
            assert_eq!(rig.boards[1].bytes(DATA, 64), [7; 64]);
            rig.assert_clean();
        }
    }
}

#[test]
fn bad_parity_is_noted_and_answered_only_when_told_to() {
    for (command, expected) in [(0x104, 0x8000_0000u32), (0x144, 0x8100_0000)] {
        let mut rig = Rig::started(ALL_ON);
        rig.write(0, PCI_04, command);
        rig.boards[0]
            .bridge
            .respond_next(TargetResponse::BadParity)
            .unwrap();
        rig.post(0, &[last(64, DATA, DATA, 1)]);
        rig.run(300);
        assert_eq!(rig.boards[0].ddc.register(PCI_04) & 0xF900_0000, expected);
        assert_eq!(bus_master(&rig, 0), command == 0x104);
        // Only the fault that was asked for breaks a rule.
        assert!(
            rig.boards[0]
                .checker
                .violations()
                .iter()
                .all(|v| v.rule == Rule::ParityWrong),
            "{:?}",
            rig.boards[0].checker.violations()
        );
    }
}

#[test]
fn without_bus_master_nothing_is_transferred() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(0, PCI_04, 0x100);
    rig.post(0, &[last(64, DATA, DATA, 1)]);
    rig.run(300);
    assert_eq!(rig.boards[0].ddc.register(LPE_CURRENT), LPE);
    assert_eq!(rig.boards[0].bridge.stats().transactions, 0);
    rig.write(0, PCI_04, 0x104);
    rig.until(300, |rig| rig.boards[1].intr());
}

#[test]
fn clearing_bus_master_in_the_middle_of_a_page_only_pauses_it() {
    let mut rig = Rig::started(ALL_ON);
    let text: Vec<u8> = (0..4000u32).map(|k| (k * 7 + k / 256) as u8).collect();
    rig.boards[0].bytes_mut(DATA, 4000).copy_from_slice(&text);
    rig.post(0, &[last(4000, DATA, DATA + 2, 1)]);
    for round in 0..20 {
        rig.run(37 + round);
        let board = (round & 1) as usize;
        rig.write(board, PCI_04, 0x100);
        rig.run(25);
        rig.write(board, PCI_04, 0x104);
    }
    rig.until(5000, |rig| rig.boards[1].intr());
    assert_eq!(rig.boards[1].bytes(DATA + 2, 4000), text);
    rig.assert_clean();
}

#[test]
fn losing_the_signal_ends_the_packet_at_both_ends() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(
        0,
        &[
            page(2000, DATA, DATA, LAST),
            last(8, DATA, DATA + 0x4000, 2),
        ],
    );
    rig.run(250);
    rig.cut = true;
    rig.run(50);
    rig.cut = false;
    rig.until(100, |rig| errors(rig, 1) == EEP);
    assert!(!bus_master(&rig, 1));
    recover(&mut rig, 1);
    // The message that was cut is lost or ends without its middle; the next is whole.
    rig.until(5000, |rig| rig.boards[1].ddc.register(MSG) & 0xFF_FFFF == 2);
    rig.assert_clean();
}

#[test]
fn soft_reset_in_the_middle_of_everything_leaves_a_chip_like_new() {
    for at in 0..240u64 {
        let mut rig = Rig::started(ALL_ON);
        for board in 0..2 {
            let text: Vec<u8> = (0..900u32).map(|k| (k * 3) as u8 ^ board as u8).collect();
            rig.boards[board]
                .bytes_mut(DATA, 900)
                .copy_from_slice(&text);
            rig.post(
                board,
                &[
                    last(900, DATA + 1, DATA + 0x2000, 1),
                    last(5, DATA, DATA, 2),
                ],
            );
        }
        rig.run(at * 7 / 2);
        rig.write(0, COMMAND, 0x8000);
        for offset in (0..=0x74).step_by(4) {
            let fresh = multipc::ddc::Ddc::new(DdcConfig::default()).register(offset);
            let mask = if offset == STATUS {
                0xFFFF_FF00
            } else {
                u32::MAX
            };
            assert_eq!(
                rig.boards[0].ddc.register(offset) & mask,
                fresh,
                "{offset:#x} at {at}"
            );
        }
        assert!(!rig.boards[0].intr());
        // The other side too, since its packet was cut.
        rig.run(40);
        rig.write(1, COMMAND, 0x8000);
        rig.run(10);
        rig.start(0, ALL_ON);
        rig.start(1, ALL_ON);
        for board in 0..2 {
            rig.boards[board].bytes_mut(DATA + 0x2000, 1000).fill(0);
            rig.post(board, &[last(700, DATA + 1, DATA + 0x2000, 3)]);
        }
        rig.until(2000, |rig| {
            rig.boards.iter().all(|b| b.ddc.register(STATUS) >> 30 == 3)
        });
        for board in 0..2 {
            let sent = rig.boards[1 - board].bytes(DATA + 1, 700).to_vec();
            assert_eq!(
                rig.boards[board].bytes(DATA + 0x2000, 700),
                sent,
                "reset at {at}"
            );
            assert_eq!(errors(&rig, board), 0);
        }
        rig.assert_clean();
    }
}

#[test]
fn packet_counters_that_make_no_sense_are_told() {
    let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
    rig.boards[1].set_word(LRM + 4 * 7, 0x0001_0005);
    let control = LAST.with(Control::LRM).with_mi(7);
    rig.feed(1, &long_packet(control, DATA, &[1], Tail::default()));
    assert_eq!(errors(&rig, 1), ILLEGAL_LRM);
    assert!(!bus_master(&rig, 1));
}

#[test]
fn the_transaction_number_tells_the_last_transfer() {
    let mut rig = Rig::started(ALL_ON);
    assert_eq!(rig.boards[0].ddc.register(STATUS) >> 8 & 0xF, 0);
    rig.post(0, &[last(4, DATA, DATA, 1)]);
    rig.until(500, |rig| rig.boards[1].intr());
    let number = |board: usize| rig.boards[board].ddc.register(STATUS) >> 8 & 0xF;
    assert_eq!(
        Transaction::from_number(number(0)),
        Some(Transaction::PageRead)
    );
    assert_eq!(
        Transaction::from_number(number(1)),
        Some(Transaction::ReportWrite)
    );
}

#[test]
fn more_than_65535_packets_of_a_message_are_told_at_both_ends() {
    let mut rig = Rig::started(ALL_ON | 1 << 16);
    let middle = page(65532, DATA, DATA + 0x2_0000, Control::default());
    rig.write(0, MASK, 0);
    rig.post(0, &[middle; 4]);
    // 65532 packets so far: three more are the most that can be told.
    rig.post(
        0,
        &[
            page(12, DATA, DATA, Control::default()),
            last(4, DATA, DATA, 0),
        ],
    );
    rig.until(4_000_000, |rig| rig.boards[1].intr());
    assert_eq!(errors(&rig, 0), SENT_OF);
    assert_eq!(rig.reports(1)[0].packet_number, u16::MAX);

    let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
    rig.boards[1].set_word(LRM + 4 * 7, 0xFFFF);
    let control = LAST.with(Control::LRM).with_mi(7);
    rig.feed(1, &long_packet(control, DATA, &[1], Tail::default()));
    assert_eq!(errors(&rig, 1), RECEIVED_OF);
}

#[test]
fn tx_init_cleared_lets_the_page_in_hand_finish() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(0, &[last(2000, DATA, DATA, 1), last(8, DATA, DATA, 2)]);
    rig.run(100);
    rig.write(0, COMMAND, ALL_ON & !TX_INIT);
    rig.run(4000);
    assert_eq!(rig.reports(1).len(), 1);
    assert_eq!(rig.boards[0].ddc.register(LPE_CURRENT), LPE + 16);
    rig.write(0, COMMAND, ALL_ON);
    rig.run(300);
    assert_eq!(rig.reports(1).len(), 1);
}

#[test]
fn rx_init_cleared_cuts_the_packet_and_the_port_comes_up_again() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(1, MASK, 0);
    rig.post(0, &[last(2000, DATA, DATA, 1), last(8, DATA, DATA, 2)]);
    rig.run(100);
    rig.write(1, COMMAND, ALL_ON & !RX_INIT);
    rig.run(100);
    assert_eq!(errors(&rig, 1), EEP);
    rig.write(1, COMMAND, ALL_ON);
    rig.until(5000, |rig| rig.boards[1].ddc.register(MSG) & 0xFF == 2);
    rig.assert_clean();
}

//! Packets that are spoilt, cut, late or too many.

use multipc::ddc::DdcConfig;
use multipc::ddc::lme::Control;
use multipc::ddc::packet::Tail;
use multipc::hsl::Symbol;
use multipc::pci::BridgeConfig;

use super::*;

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
fn packet_counters_that_make_no_sense_are_told() {
    let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
    rig.boards[1].set_word(LRM + 4 * 7, 0x0001_0005);
    let control = LAST.with(Control::LRM).with_mi(7);
    rig.feed(1, &long_packet(control, DATA, &[1], Tail::default()));
    assert_eq!(errors(&rig, 1), ILLEGAL_LRM);
    assert!(!bus_master(&rig, 1));
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

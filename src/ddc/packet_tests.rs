extern crate std;
use super::*;
use std::string::ToString;
use std::vec::Vec;

fn bits(words: &[Word]) -> Vec<u16> {
    words
        .iter()
        .flat_map(|word| word.symbols())
        .map(Symbol::bits)
        .collect()
}

/// 5 bytes A1..A5 at remote address 0x00100003, node 0x0102, MI 0x123456, flags
/// NOR+LMP+LMI = 0xC8: one byte in lane 3 of the first data word, four in the
/// second.
const FIVE_BYTES: [u16; 36] = [
    0x01, 0x02, 0x00, 0x11B, // RP, BP
    0x56, 0x34, 0x12, 0xC8, // MI, flags
    0x03, 0x00, 0x10, 0x00, // address
    0x58, 0x29, 0xE0, 0x96, // CRC of 01 02 00 1B 56 34 12 C8 03 00 10 00
    0x00, 0x00, 0x00, 0xA1, //
    0xA2, 0xA3, 0xA4, 0xA5, //
    0x01, 0x00, 0x83, 0x13B, // EPN 1, last, lane 3, ED
    0x15, 0x7F, 0x72, 0x35, // CRC of 00 00 00 A1 A2 A3 A4 A5 01 00 83 3B
    0x00, 0x00, 0x00, 0x12B, // EP
];

/// Data 0x44332211 and 0x88776655, node 0x0102, MI 0x00ABCD, flags 0xCC.
const SHORT: [u16; 24] = [
    0x01, 0x02, 0x00, 0x11B, 0xCD, 0xAB, 0x00, 0xCC, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
    0x88, 0x29, 0x58, 0x05, 0x0F, // CRC of the 16 before
    0x00, 0x00, 0x00, 0x12B,
];

/// CRC-32 bit by bit, straight from its definition.
fn slow_crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
        }
    }
    !crc
}

fn header() -> Header {
    Header {
        routing_part: 0x0102,
        control: Control::from_bits(0xC812_3456),
        address: 0x0010_0003,
    }
}

fn tail() -> Tail {
    Tail {
        expected: 1,
        last: true,
        crc_disable: false,
        last_lane: 3,
    }
}

fn five_bytes() -> [Word; 9] {
    let mut words = [Word::default(); 9];
    let data = [Word::data(0xA100_0000), Word::data(0xA5A4_A3A2)];
    let packet = PacketView::Long {
        header: header(),
        data: &data,
        tail: tail(),
    };
    assert_eq!(packet.emit(&mut words), Ok(9));
    words
}

#[test]
fn crc_is_the_one_of_ieee_802_3() {
    assert_eq!(slow_crc(b"123456789"), 0xCBF4_3926);
    assert_eq!(crc_word(0, 0x3433_3231), slow_crc(b"1234"));
    assert_eq!(
        crc_word(crc_word(0, 0x3433_3231), 0x3837_3635),
        slow_crc(b"12345678")
    );
}

#[test]
fn five_bytes_at_lane_3_by_hand() {
    assert_eq!(bits(&five_bytes()), FIVE_BYTES);
    let words = five_bytes();
    let view = PacketView::parse(&words).unwrap();
    assert_eq!(
        view,
        PacketView::Long {
            header: header(),
            data: &words[4..6],
            tail: tail()
        }
    );
}

#[test]
fn short_packet_by_hand() {
    let short = Short {
        routing_part: 0x0102,
        control: Control::from_bits(0xCC00_ABCD),
        data: [0x4433_2211, 0x8877_6655],
    };
    assert_eq!(bits(&short.words()), SHORT);
    assert_eq!(
        PacketView::parse(&short.words()),
        Ok(PacketView::Short(short))
    );
}

#[test]
fn symbols_gather_into_the_words_they_came_from() {
    let words = five_bytes();
    let symbols: Vec<Symbol> = words.iter().flat_map(|word| word.symbols()).collect();
    let mut back = [Word::default(); 9];
    assert_eq!(words_from_symbols(&symbols, &mut back), Ok(9));
    assert_eq!(back, words);
    assert_eq!(
        words_from_symbols(&symbols, &mut back[..8]),
        Err(PacketError::NoRoom { room: 8, needed: 9 })
    );
    assert_eq!(
        words_from_symbols(&symbols[..35], &mut back),
        Err(PacketError::PartialWord { symbols: 35 })
    );
    for bad in [Symbol::EEP, Symbol::FCC, Symbol::IDLE] {
        let mut symbols = symbols.clone();
        symbols[7] = bad;
        assert_eq!(
            words_from_symbols(&symbols, &mut back),
            Err(PacketError::BadSymbol {
                index: 7,
                bits: bad.bits()
            })
        );
    }
}

#[test]
fn every_truncation_is_an_error() {
    let words = five_bytes();
    for count in 0..words.len() {
        assert!(PacketView::parse(&words[..count]).is_err(), "{count} words");
    }
    let short = Short {
        control: Control::SM,
        ..Short::default()
    }
    .words();
    for count in 0..short.len() {
        assert!(PacketView::parse(&short[..count]).is_err(), "{count} words");
    }
}

#[test]
fn every_single_bit_flip_is_found_except_in_bytes_that_mean_nothing() {
    for words in [
        &five_bytes()[..],
        &Short {
            control: Control::SM,
            ..Short::default()
        }
        .words(),
    ] {
        for index in 0..words.len() {
            for bit in 0..32 {
                let mut copy = words.to_vec();
                copy[index].value ^= 1 << bit;
                // The last word carries EP and three undefined bytes. The flip
                // that sets "CRC off" in the tail takes the check away with it.
                let free = index == words.len() - 1
                    || (words.len() == 9 && index == words.len() - 3 && bit == 22);
                assert_eq!(
                    PacketView::parse(&copy).is_ok(),
                    free,
                    "word {index} bit {bit}"
                );
            }
        }
    }
}

#[test]
fn errors_name_the_thing_and_the_range() {
    let mut words = five_bytes();
    words[8].mark = Mark::Data;
    assert_eq!(
        PacketView::parse(&words).unwrap_err().to_string(),
        "word 8 is marked Data, must be Ep"
    );
    assert_eq!(
        PacketView::parse(&words[..3]).unwrap_err().to_string(),
        "packet of 3 words, at least 6 needed"
    );
}

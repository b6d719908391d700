//! Packets between controllers.
//!
//! Input: a byte that chooses, then either symbols (two bytes each, low byte
//! first, bits above the ninth dropped) or the parts of a packet that is built,
//! checked, damaged in one bit and checked again.

use multipc::ddc::lme::Control;
use multipc::ddc::packet::{Header, Mark, PacketView, Short, Tail, Word, words_from_symbols};
use multipc::hsl::Symbol;

/// Any symbols as a packet, and any packet with one wrong bit.
pub fn packet(data: &[u8]) {
    let mut data = data;
    let [choice] = super::take(&mut data);
    match choice % 3 {
        0 => any_symbols(data),
        1 => long(data),
        _ => short(data),
    }
}

fn any_symbols(data: &[u8]) {
    let symbols: Vec<Symbol> = data
        .as_chunks()
        .0
        .iter()
        .map(|pair| Symbol::from_bits(u16::from_le_bytes(*pair)))
        .collect();
    match read(&symbols) {
        Ok(words) => match PacketView::parse(&words) {
            Ok(view) => {
                let again = emit(&view);
                assert_eq!(PacketView::parse(&again), Ok(view));
                assert_eq!(again.len(), words.len());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        Err(message) => assert!(!message.is_empty()),
    }
}

fn long(mut data: &[u8]) {
    let header = header(&mut data);
    let bit = u16::from_le_bytes(super::take(&mut data));
    let [count_low, count_high, bits] = super::take(&mut data);
    let tail = Tail {
        expected: u16::from_le_bytes([count_low, count_high]),
        last: bits & 0x80 != 0,
        crc_disable: bits & 0x40 != 0,
        last_lane: bits & 3,
    };
    let payload: Vec<Word> = data
        .as_chunks()
        .0
        .iter()
        .map(|bytes| Word::data(u32::from_le_bytes(*bytes)))
        .collect();
    let view = PacketView::Long {
        header,
        data: &payload,
        tail,
    };
    round_trip(&view);
    let tail_at = 4 + payload.len();
    damage(&view, bit, |word| match word {
        0..4 => true,
        // Whether the CRC is checked is itself in the tail.
        word if word == tail_at => false,
        word if word <= tail_at + 1 => !tail.crc_disable,
        _ => false,
    });
}

fn short(mut data: &[u8]) {
    let Header {
        routing_part,
        control,
        address,
    } = header(&mut data);
    let bit = u16::from_le_bytes(super::take(&mut data));
    let second = u32::from_le_bytes(super::take(&mut data));
    let view = PacketView::Short(Short {
        routing_part,
        control: if control.is_short() {
            control
        } else {
            control.with(Control::SM)
        },
        data: [address, second],
    });
    round_trip(&view);
    damage(&view, bit, |word| word < 5);
}

/// The fields that both kinds have.
fn header(data: &mut &[u8]) -> Header {
    Header {
        routing_part: u16::from_le_bytes(super::take(data)),
        control: Control::from_bits(u32::from_le_bytes(super::take(data))),
        address: u32::from_le_bytes(super::take(data)),
    }
}

/// A built packet reads back as itself, unless its flags say the other kind.
fn round_trip(view: &PacketView<'_>) {
    let words = emit(view);
    let symbols = symbols(&words);
    assert_eq!(read(&symbols).as_deref(), Ok(words.as_slice()));
    assert_eq!(symbols.last(), Some(&Symbol::EP));
    let ends = symbols.iter().filter(|symbol| symbol.ends_packet()).count();
    assert_eq!(ends, 1, "one end of packet");
    match view {
        PacketView::Long { header, .. } if header.control.is_short() => {
            assert!(PacketView::parse(&words).is_err());
        }
        _ => assert_eq!(PacketView::parse(&words), Ok(*view)),
    }
}

/// One wrong bit: told where `told` says so for its word, harmless elsewhere.
fn damage(view: &PacketView<'_>, bit: u16, told: impl Fn(usize) -> bool) {
    let mut symbols = symbols(&emit(view));
    let at = usize::from(bit) / 9 % symbols.len();
    symbols[at] = Symbol::from_bits(symbols[at].bits() ^ 1 << (bit % 9));
    let Ok(words) = read(&symbols) else { return };
    let result = PacketView::parse(&words);
    assert!(
        result.is_err() || !told(at / 4),
        "bit {bit} of {view:?} went unnoticed: {result:?}"
    );
}

fn symbols(words: &[Word]) -> Vec<Symbol> {
    words.iter().flat_map(|word| word.symbols()).collect()
}

fn emit(view: &PacketView<'_>) -> Vec<Word> {
    let needed = match view {
        PacketView::Long { data, .. } => data.len() + 7,
        _ => 6,
    };
    let mut words = vec![Word::default(); needed];
    assert_eq!(view.emit(&mut words), Ok(needed));
    let error = view
        .emit(&mut words[1..])
        .map_err(|error| error.to_string());
    assert!(error.is_err_and(|text| text.contains(&needed.to_string())));
    words
}

fn read(symbols: &[Symbol]) -> Result<Vec<Word>, String> {
    let mut words = vec![Word::default(); symbols.len() / 4];
    let used = words_from_symbols(symbols, &mut words).map_err(|error| error.to_string())?;
    assert_eq!(used, words.len());
    for word in &words {
        if let Some(symbol) = word.mark.symbol() {
            assert_eq!((word.value >> 24) as u8, symbol.value());
        } else {
            assert_eq!(word.mark, Mark::Data);
        }
    }
    Ok(words)
}

//! The configuration chain of a router, and the decoding of headers by it.
//!
//! Input: a link, a header (low byte first), then the bytes shifted in, first one
//! first; fewer than 258 leave zeros behind them, more push the first ones out.

use multipc::hsl::{Line, Symbol};
use multipc::rcube::{InputState, PORTS, Rcube, RcubeConfig, RoutingTable};

/// Longer than any symbol takes from a pin to the switch.
const CYCLES: usize = 24;

/// Any bytes shifted in, any header at any link.
pub fn chain(data: &[u8]) {
    let mut data = data;
    let [link] = super::take(&mut data);
    let link = usize::from(link) % PORTS;
    let header = u16::from_le_bytes(super::take(&mut data));

    let table = RoutingTable::parse(&shifted(data));
    round_trip(&table);
    assert_eq!(RoutingTable::try_from(data).is_ok(), data.len() == 258);
    for (link, bounds) in table.bounds.iter().enumerate() {
        let near = bounds
            .iter()
            .flat_map(|b| [b.wrapping_sub(1), *b, b.wrapping_add(1)]);
        for header in near.chain([header, 0, 0xFF, 0xFFFF]) {
            one_interval(&table, link, header);
        }
    }
    through_the_router(data, &table, link, header);
}

/// What a shift register of 258 bytes holds: the last byte shifted in is byte 0.
fn shifted(data: &[u8]) -> [u8; 258] {
    let mut bytes = [0; 258];
    for (place, byte) in bytes.iter_mut().zip(data.iter().rev()) {
        *place = *byte;
    }
    bytes
}

fn round_trip(table: &RoutingTable) {
    assert_eq!(RoutingTable::parse(&table.emit()), *table);
    if let Err(error) = table.check() {
        assert!(!error.to_string().is_empty());
    }
}

/// A header belongs to one interval; for ascending bounds to the one that the
/// definition says, and to no other.
fn one_interval(table: &RoutingTable, link: usize, header: u16) {
    let both = table.header_length >> link & 1 == 1;
    // One-character headers: the character against the high bytes.
    let header = if both { header } else { header & 0xFF };
    let interval = table.interval(link, header);
    assert!(interval < 8);
    assert_eq!(table.select(link, header), table.selections[link][interval]);

    let bounds = table.bounds[link].map(|bound| if both { bound } else { bound >> 8 });
    if !bounds.is_sorted() {
        return;
    }
    let by_definition = |i: usize| match i {
        7 => header >= bounds[7] || header < bounds[0],
        i => bounds[i] <= header && header < bounds[i + 1],
    };
    let holding: Vec<usize> = (0..8).filter(|i| by_definition(*i)).collect();
    assert_eq!(holding, [interval], "header {header} among {bounds:?}");
}

/// The chip with these bytes in its chain asks for the outputs of the table.
fn through_the_router(data: &[u8], table: &RoutingTable, link: usize, header: u16) {
    let mut router = Rcube::new(RcubeConfig::default().with_parallel(0xFF));
    for byte in data {
        router.chain(false, Some(*byte));
    }
    router.chain(true, None);
    // Bytes beside a high R3_INIT are ignored.
    router.chain(true, Some(0xA5));
    let mut inputs = [Line::IDLE; PORTS];
    for _ in 0..CYCLES {
        router.step(&inputs);
    }

    let [low, high] = header.to_le_bytes();
    let both = table.header_length >> link & 1 == 1;
    let expected = table.select(link, if both { header } else { u16::from(high) });
    let packet = [high, low, 1, 2].map(Symbol::data);
    let mut seen = false;
    for cycle in 0..CYCLES {
        inputs[link] = packet
            .get(cycle)
            .map_or(Line::IDLE, |s| Line::symbol_of(*s));
        router.step(&inputs);
        match router.input_state(link) {
            InputState::Header => assert!(!seen, "a packet without end does not end"),
            InputState::Request { outputs } => {
                assert_eq!(outputs, expected);
                seen = true;
            }
            InputState::Stream { output } => {
                assert!(
                    expected >> output & 1 == 1,
                    "{output} is not in {expected:#b}"
                );
                seen = true;
            }
            InputState::Drop => {
                assert_eq!(expected, 0);
                seen = true;
            }
            state => panic!("{state:?} at a link that is up"),
        }
    }
    assert!(seen, "the header was never decoded");
}

//! Any symbols into all links of a router.
//!
//! Input: which ports are parallel u8, then lines of 16 bits, low byte first,
//! link after link, eight a cycle.

use multipc::hsl::{Line, Symbol};
use multipc::rcube::{PORTS, Rcube, RcubeConfig, RoutingTable};

/// Nothing panics; after a reset a packet gets through.
pub fn router(data: &[u8]) {
    let mut data = data;
    let [parallel] = super::take(&mut data);
    let config = RcubeConfig::default()
        .with_short_start_up()
        .with_parallel(parallel | 0b11);
    let mut router = Rcube::new(config);
    let table = RoutingTable::uniform([0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 4, 8, 16, 32, 64, 128]);
    router.configure(&table);
    // Serial links with themselves at the other end come up.
    for _ in 0..512 {
        let looped = *router.outputs();
        router.step(&looped);
    }
    for cycle in data.as_chunks::<16>().0 {
        let mut lines = [Line::IDLE; PORTS];
        for (line, pair) in lines.iter_mut().zip(cycle.as_chunks::<2>().0) {
            *line = Line::from_bits(u16::from_le_bytes(*pair));
        }
        router.step(&lines);
    }

    router.chain(false, None);
    for _ in 0..8 {
        router.step(&[Line::DEAD; PORTS]);
    }
    router.configure(&table);
    let mut inputs = [Line::DEAD; PORTS];
    (inputs[0], inputs[1]) = (Line::IDLE, Line::IDLE.with_fcc_pulse());
    for _ in 0..2 {
        // Two flits of credit for the output.
        router.step(&inputs);
    }
    inputs[1] = Line::IDLE;
    for cycle in 0..64 {
        if matches!(cycle, 32 | 40) {
            inputs[1] = Line::IDLE.with_fcc_pulse();
        }
        router.step(&inputs);
        inputs[1] = Line::IDLE;
    }
    let packet = [0, 1, 0x5A]
        .map(Symbol::data)
        .into_iter()
        .chain([Symbol::EP]);
    let mut out = Vec::new();
    let mut feed = packet.clone();
    for _ in 0..64 {
        inputs[0] = feed.next().map_or(Line::IDLE, Line::symbol_of);
        router.step(&inputs);
        let line = router.outputs()[1];
        if line.has_signal() && !line.symbol().is_link_level() {
            out.push(line.symbol());
        }
    }
    assert!(packet.eq(out.iter().copied()), "after a reset: {out:?}");
}

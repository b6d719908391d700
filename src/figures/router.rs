//! The latency of one router.

use crate::hsl::{Line, Symbol};
use crate::rcube::{PortKind, Rcube, RcubeConfig};

use super::record;

/// Link cycles from a header's first character on an input link to the same
/// character on the output link, without contention, measured on one router
/// whose links are looped back so that they start. None if it never comes out.
pub fn router_latency(config: &RcubeConfig) -> Option<u64> {
    let mut config = config.clone();
    config.ports = [PortKind::Serial; 8];
    let mut router = Rcube::new(config);
    // All bounds 0: interval 7 holds every header, and names link 2.
    let mut table = [0u8; 258];
    for byte in table.iter_mut().skip(64).take(64) {
        *byte = 1 << 2;
    }
    for byte in table.iter_mut().skip(194).take(64) {
        *byte = 1 << 2;
    }
    if let Some(length) = table.get_mut(129) {
        *length = 0xFF;
    }
    for &byte in table.iter().rev() {
        router.chain(false, Some(byte));
    }
    router.chain(true, None);
    // Start-up takes about 11,200 cycles; the rest is for the first credits.
    for _ in 0..20_000 {
        let looped = *router.outputs();
        router.step(&looped);
    }
    let packet = [
        Symbol::data(0),
        Symbol::data(1),
        Symbol::data(0xA5),
        Symbol::EP,
    ];
    let mark = Line::symbol_of(Symbol::data(0));
    for cycle in 0..20 * record::ROUTER_LATENCY_CYCLES {
        let mut inputs = *router.outputs();
        inputs[1] = packet
            .get(cycle as usize)
            .map_or(Line::IDLE, |&s| Line::symbol_of(s));
        router.step(&inputs);
        // What the edge `cycle` sampled is driven after it `latency - 1` later.
        if router.outputs()[2] == mark {
            return Some(cycle + 1);
        }
    }
    None
}

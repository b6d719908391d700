//! Trial target.
#![no_main]

use libfuzzer_sys::fuzz_target;
use multipc::hsl::{Line, Symbol};

fuzz_target!(|data: &[u8]| {
    for pair in data.chunks_exact(2) {
        let bits = u16::from_le_bytes([pair[0], pair[1]]);
        let symbol = Symbol::from_bits(bits);
        assert_eq!(Line::symbol_of(symbol).symbol(), symbol);
    }
});

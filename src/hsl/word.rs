//! Eight ports side by side: sets of ports in a byte, a counter or a row a port
//! in the bytes of a word. Byte `k` belongs to port `k`.

/// 1 in each byte.
pub(crate) const LOW: u64 = 0x0101_0101_0101_0101;
/// The top bit of each byte.
pub(crate) const HIGH: u64 = LOW << 7;

/// The same byte eight times.
pub(crate) const fn broadcast(byte: u8) -> u64 {
    byte as u64 * LOW
}

// Looked up, because a cycle of a router needs some twenty of them.
static ONES: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        // Byte k keeps bit k; adding 127 carries it into bit 7.
        let bits = broadcast(set as u8) & 0x8040_2010_0804_0201;
        table[set] = ((bits + !HIGH) & HIGH) >> 7;
        set += 1;
    }
    table
};

/// 1 in the bytes of `set`.
#[inline]
pub(crate) fn ones(set: u8) -> u64 {
    ONES[set as usize]
}

/// The bytes outside `set` from `word`, else 0.
pub(crate) fn without(word: u64, set: u8) -> u64 {
    word & !(ones(set) * 0xFF)
}

// The set of the bytes whose top bit is set; other bits are ignored.
#[inline]
const fn tops(word: u64) -> u8 {
    // The product collects bit 0 of byte k in bit 56 + k.
    (((word & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

// The top bit of each byte that is not zero.
pub(crate) const fn flags(word: u64) -> u64 {
    (((word & !HIGH) + !HIGH) | word) & HIGH
}

/// The ports whose byte is not zero.
#[inline]
pub(crate) const fn nonzero(word: u64) -> u8 {
    tops(flags(word))
}

/// The ports whose byte is at least `least`, for bytes and `least` up to 127.
#[inline]
pub(crate) const fn at_least(word: u64, least: u8) -> u8 {
    tops(word.wrapping_add(broadcast(128u8.wrapping_sub(least))))
}

/// Byte `k` (modulo 8).
pub(crate) const fn byte(word: u64, k: usize) -> u8 {
    (word >> ((k & 7) * 8)) as u8
}

/// Byte `k` (modulo 8) alone, with this value.
pub(crate) const fn only_byte(k: usize, value: u8) -> u64 {
    (value as u64) << ((k & 7) * 8)
}

/// The members of a port set, lowest first.
#[derive(Clone, Copy)]
pub(crate) struct Set(pub(crate) u8);

impl Iterator for Set {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let port = self.0.trailing_zeros() as usize & 7;
        self.0 &= self.0 - 1;
        Some(port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_eight_bytes(word: u64, set: u8, least in 0u8..=127) {
            let bytes = word.to_le_bytes();
            let small = word & !HIGH;
            for (k, value) in bytes.into_iter().enumerate() {
                let member = set >> k & 1 == 1;
                prop_assert_eq!(nonzero(word) >> k & 1 == 1, value != 0);
                prop_assert_eq!(ones(set).to_le_bytes()[k], u8::from(member));
                prop_assert_eq!(without(word, set).to_le_bytes()[k], if member { 0 } else { value });
                prop_assert_eq!(byte(word, k), value);
                prop_assert_eq!(byte(only_byte(k, set), k), set);
                prop_assert_eq!(at_least(small, least) >> k & 1 == 1, small.to_le_bytes()[k] >= least);
            }
            prop_assert!(Set(set).eq((0..8).filter(|k| set >> k & 1 == 1)));
        }
    }
}

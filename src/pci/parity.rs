//! The parity of a clock.

/// The value PAR must have in the clock *after* one with this AD and C/BE#: it
/// makes the number of ones on `AD[31:0]`, `C/BE#[3:0]` and PAR even.
///
/// ```
/// assert!(!multipc::pci::even_parity(0x0000_0003, 0b0000));
/// assert!(multipc::pci::even_parity(0x0000_0003, 0b0111));
/// ```
pub const fn even_parity(ad: u32, cbe_n: u8) -> bool {
    (ad ^ (cbe_n & 0xF) as u32).count_ones() & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::even_parity;

    #[test]
    fn each_of_the_36_lines_turns_the_parity() {
        for (ad, cbe) in [(0, 0), (0xDEAD_BEEF, 0x6), (u32::MAX, 0xF)] {
            let before = even_parity(ad, cbe);
            assert!((0..32).all(|bit| even_parity(ad ^ (1 << bit), cbe) != before));
            assert!((0..4).all(|bit| even_parity(ad, cbe ^ (1 << bit)) != before));
        }
    }
}

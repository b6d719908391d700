//! CRC-32 of packets: the IEEE 802.3 polynomial, reflected, initial value all
//! ones, result complemented. Document: hw/doc/hsl.md, "Check sum".

use crc::{CRC_32_ISO_HDLC, Crc, Table};

// One table of 1 KiB, computed by the compiler.
static TABLE: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// A running CRC-32: plain data, so that it can live in the state of a chip.
///
/// ```
/// use multipc::hsl::Crc32;
///
/// let mut crc = Crc32::new();
/// crc.update(b"1234");
/// crc.update(b"56789");
/// assert_eq!(crc.value(), 0xCBF4_3926);
/// assert_eq!(crc, Crc32::of(b"123456789"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Crc32 {
    value: u32,
}

impl Crc32 {
    /// Of no bytes at all.
    pub const fn new() -> Self {
        // All ones complemented.
        Self { value: 0 }
    }

    /// Of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            value: TABLE.checksum(bytes),
        }
    }

    /// Takes the next bytes in.
    pub fn update(&mut self, bytes: &[u8]) {
        // The digest starts from the register as the polynomial sees it:
        // complement undone, bit 31 first.
        let mut digest = TABLE.digest_with_initial((!self.value).reverse_bits());
        digest.update(bytes);
        self.value = digest.finalize();
    }

    /// The check sum of the bytes so far.
    pub const fn value(self) -> u32 {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value_of_the_standard() {
        assert_eq!(Crc32::of(b"123456789").value(), 0xCBF4_3926);
        assert_eq!(Crc32::of(b""), Crc32::new());
    }

    #[test]
    fn any_split_gives_the_same_sum() {
        let bytes = *b"the quick brown fox jumps over the lazy dog";
        for cut in 0..=bytes.len() {
            let mut crc = Crc32::new();
            crc.update(&bytes[..cut]);
            crc.update(&bytes[cut..]);
            assert_eq!(crc, Crc32::of(&bytes), "cut at {cut}");
        }
    }
}

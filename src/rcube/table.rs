//! The routing table: 258 bytes, as software keeps them in a file and as the
//! configuration chain holds them. Document: hw/doc/rcube.md, "Configuration".
//!
//! | offset | length | contents |
//! |---|---|---|
//! | 0 | 64 | bounds of links 0, 2, 4, 6; each eight 16-bit bounds, high byte first |
//! | 64 | 64 | selections of links 6, 4, 2, 0; each intervals 7 down to 0: mask, 0 |
//! | 128 | 1 | header deletion, bit `k`: output `k` |
//! | 129 | 1 | header length, bit `k`: input `k`, 1 = two characters |
//! | 130 | 64 | bounds of links 1, 3, 5, 7 |
//! | 194 | 64 | selections of links 7, 5, 3, 1 |
//!
//! Any 258 bytes are a table (the chip judges nothing);
//! [`check`](RoutingTable::check) says what makes no sense. The second byte of
//! a selection is ignored and emitted as 0, so `emit(parse(bytes))` gives
//! `bytes` back when those are 0, as in every published table.

use core::fmt;

use super::PORTS;

// Offset of the half of each link parity, and its links in order of bounds.
const HALVES: [(usize, [usize; 4]); 2] = [(0, [0, 2, 4, 6]), (130, [1, 3, 5, 7])];
const SELECTIONS: usize = 64;
const DELETION: usize = 128;
const LENGTH: usize = 129;

/// What the configuration chain says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RoutingTable {
    /// Per input link: the lower bounds of its intervals, ascending; high byte
    /// `mbound`, low byte `lbound`.
    #[doc(alias = "mbound")]
    #[doc(alias = "lbound")]
    pub bounds: [[u16; 8]; PORTS],
    /// Per input link and interval: the eligible outputs, bit `k` = link `k`.
    pub selections: [[u8; 8]; PORTS],
    /// Bit `k`: output `k` removes the header. Chosen meaning of byte 128.
    pub header_deletion: u8,
    /// Bit `k`: headers at input `k` have two characters, else one. Chosen
    /// meaning of byte 129.
    pub header_length: u8,
}

impl RoutingTable {
    /// Bytes of a table.
    pub const WIRE_LEN: usize = 258;

    /// Reads any 258 bytes.
    pub fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Self {
        let mut table = Self {
            header_deletion: bytes[DELETION],
            header_length: bytes[LENGTH],
            ..Self::default()
        };
        for (base, links) in HALVES {
            for (place, link) in links.into_iter().enumerate() {
                for k in 0..8 {
                    let at = base + place * 16 + k * 2;
                    table.bounds[link][k] = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
                    // Selections run backwards: last link, last interval first.
                    let at = base + SELECTIONS + (3 - place) * 16 + (7 - k) * 2;
                    table.selections[link][k] = bytes[at];
                }
            }
        }
        table
    }

    /// The bytes of this table.
    pub fn emit(&self) -> [u8; Self::WIRE_LEN] {
        let mut bytes = [0; Self::WIRE_LEN];
        bytes[DELETION] = self.header_deletion;
        bytes[LENGTH] = self.header_length;
        for (base, links) in HALVES {
            for (place, link) in links.into_iter().enumerate() {
                for k in 0..8 {
                    let at = base + place * 16 + k * 2;
                    let [high, low] = self.bounds[link][k].to_be_bytes();
                    (bytes[at], bytes[at + 1]) = (high, low);
                    bytes[base + SELECTIONS + (3 - place) * 16 + (7 - k) * 2] =
                        self.selections[link][k];
                }
            }
        }
        bytes
    }

    /// The table in which every input has the same bounds and selections, with
    /// two-character headers and no deletion: what the table generator makes.
    pub const fn uniform(bounds: [u16; 8], selections: [u8; 8]) -> Self {
        Self {
            bounds: [bounds; PORTS],
            selections: [selections; PORTS],
            header_deletion: 0,
            header_length: 0xFF,
        }
    }

    /// The interval that `header` belongs to at input `link` (taken modulo 8):
    /// `i` if `bound[i] <= header < bound[i + 1]`, 7 above the last bound and
    /// below the first. With one-character headers only the high bytes of the
    /// bounds count, and `header` is that character. Equal bounds make an
    /// empty interval.
    pub fn interval(&self, link: usize, header: u16) -> usize {
        // A one-character header compares as a high byte against high bytes.
        let link = link & (PORTS - 1);
        let (header, mask) = if self.header_length >> link & 1 == 1 {
            (header, 0xFFFF)
        } else {
            (header << 8, 0xFF00)
        };
        // Eight comparators and a count: for ascending bounds the number of
        // bounds not above the header is the interval plus one, 0 being 7.
        let reached = self.bounds[link]
            .iter()
            .filter(|&&bound| bound & mask <= header)
            .count();
        reached.wrapping_sub(1) & 7
    }

    /// The eligible outputs of `header` at input `link` (taken modulo 8).
    pub fn select(&self, link: usize, header: u16) -> u8 {
        self.selections[link & (PORTS - 1)][self.interval(link, header)]
    }

    /// Whether the table makes sense: bounds ascend, and no interval that a
    /// header can fall into is without output.
    ///
    /// # Errors
    /// The first [`TableError`] in order of link and interval.
    pub fn check(&self) -> Result<(), TableError> {
        for (link, bounds) in self.bounds.iter().enumerate() {
            for (k, pair) in bounds.windows(2).enumerate() {
                if let &[low, high] = pair
                    && high < low
                {
                    return Err(TableError::Descending {
                        link,
                        interval: k + 1,
                        bound: high,
                        below: low,
                    });
                }
            }
            for (interval, &mask) in self.selections[link].iter().enumerate() {
                let empty = interval < 7 && bounds[interval] == bounds[interval + 1];
                if mask == 0 && !empty {
                    return Err(TableError::NoOutput { link, interval });
                }
            }
        }
        Ok(())
    }
}

impl TryFrom<&[u8]> for RoutingTable {
    type Error = TableError;

    fn try_from(bytes: &[u8]) -> Result<Self, TableError> {
        let whole = bytes.try_into().map_err(|_| TableError::Length {
            length: bytes.len(),
        })?;
        Ok(Self::parse(whole))
    }
}

/// What is wrong with a routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TableError {
    /// Not the length of the chain.
    Length {
        /// Bytes given.
        length: usize,
    },
    /// A bound lies below the one before it.
    Descending {
        /// Input link.
        link: usize,
        /// Interval of the offending bound.
        interval: usize,
        /// Its bound.
        bound: u16,
        /// The bound of the interval before.
        below: u16,
    },
    /// An interval that headers can fall into selects no output: such packets
    /// are dropped.
    NoOutput {
        /// Input link.
        link: usize,
        /// Interval.
        interval: usize,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { length } => {
                write!(
                    f,
                    "routing table of {length} bytes, must be {}",
                    RoutingTable::WIRE_LEN
                )
            }
            Self::Descending {
                link,
                interval,
                bound,
                below,
            } => {
                write!(
                    f,
                    "bound {bound} of link {link}, interval {interval}, must be at least {below}"
                )
            }
            Self::NoOutput { link, interval } => {
                write!(
                    f,
                    "selection 0 of link {link}, interval {interval}, must name an output (1..=255)"
                )
            }
        }
    }
}

impl core::error::Error for TableError {}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    // The example of the RCUBE specification.
    const EXAMPLE: [u16; 8] = [501, 2570, 5315, 16259, 27016, 36672, 51237, 53699];

    #[test]
    fn example_of_the_specification() {
        let table = RoutingTable::uniform(EXAMPLE, [1; 8]);
        for (header, interval) in [(60_000, 7), (100, 7), (600, 0)] {
            assert_eq!(table.interval(3, header), interval, "header {header}");
        }
    }

    #[test]
    fn intervals_are_half_open_and_the_last_wraps() {
        let table = RoutingTable::uniform(EXAMPLE, [1; 8]);
        for (k, bound) in EXAMPLE.into_iter().enumerate() {
            assert_eq!(table.interval(0, bound), k);
            assert_eq!(table.interval(0, bound - 1), (k + 7) & 7);
        }
        assert_eq!((table.interval(0, 0), table.interval(0, 0xFFFF)), (7, 7));
    }

    #[test]
    fn equal_bounds_are_empty_intervals() {
        let table = RoutingTable::uniform([0, 1, 1, 1, 1, 1, 1, 1], [1; 8]);
        assert_eq!(table.interval(0, 0), 0);
        for header in 1..=0xFFFF {
            assert_eq!(table.interval(0, header), 7);
        }
    }

    #[test]
    fn one_character_headers_compare_mbound_only() {
        let mut table = RoutingTable::uniform(
            [
                0x10FF, 0x20FF, 0x30FF, 0x40FF, 0x50FF, 0x60FF, 0x70FF, 0x80FF,
            ],
            [1; 8],
        );
        table.header_length = 0xFE;
        assert_eq!(table.interval(0, 0x10), 0);
        assert_eq!(table.interval(0, 0x0F), 7);
        assert_eq!(table.interval(0, 0x80), 7);
        assert_eq!(table.interval(0, 0x7F), 6);
        assert_eq!(table.interval(1, 0x1000), 7, "other inputs compare both");
    }

    #[test]
    fn length_error_names_both_lengths() {
        for length in [0, 1, 257, 259] {
            let bytes = std::vec![0; length];
            let error = RoutingTable::try_from(bytes.as_slice()).unwrap_err();
            assert_eq!(
                error.to_string(),
                std::format!("routing table of {length} bytes, must be 258")
            );
        }
    }

    #[test]
    fn check_names_what_makes_no_sense() {
        let mut table = RoutingTable::uniform(EXAMPLE, [1; 8]);
        assert_eq!(table.check(), Ok(()));
        table.selections[4][2] = 0;
        assert_eq!(
            table.check(),
            Err(TableError::NoOutput {
                link: 4,
                interval: 2
            })
        );
        table.bounds[2][5] = 7;
        let error = table.check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "bound 7 of link 2, interval 5, must be at least 27016"
        );
    }
}

//! 8x8 bit matrices and vectors of 8 counters, each in one machine word.
//!
//! Byte `r` of a matrix is row `r`; bit `c` of it is column `c`.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;

/// Row `i` allows the columns from `i` on: the rotating start of input `i`.
pub(super) const FROM_DIAGONAL: u64 = 0x80C0_E0F0_F8FC_FEFF;

/// Every row allows every column: nobody has won yet.
pub(super) const ALL: u64 = u64::MAX;

/// The same row eight times.
pub(super) const fn broadcast(row: u8) -> u64 {
    row as u64 * LOW
}

/// 1 in each byte whose bit is set in `set`.
pub(super) const fn ones(set: u8) -> u64 {
    // Byte i keeps bit i; adding 127 carries it into bit 7.
    let bits = broadcast(set) & 0x8040_2010_0804_0201;
    ((bits + !HIGH) & HIGH) >> 7
}

// 0x80 in each byte that is not zero.
const fn flags(matrix: u64) -> u64 {
    (((matrix & !HIGH) + !HIGH) | matrix) & HIGH
}

/// The rows that are not empty.
pub(super) const fn nonempty(matrix: u64) -> u8 {
    // The product collects bit 0 of byte i in bit 56 + i.
    ((flags(matrix) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

// 0xFF in each byte that is not zero.
const fn filled(matrix: u64) -> u64 {
    (flags(matrix) >> 7) * 0xFF
}

// Each byte negated on its own.
const fn negate(matrix: u64) -> u64 {
    let not = !matrix;
    ((not & !HIGH) + LOW) ^ (not & HIGH)
}

/// Keeps one column of each row: the lowest of those that `first` allows, else
/// the lowest of all.
pub(super) const fn pick(matrix: u64, first: u64) -> u64 {
    let preferred = matrix & first;
    let left = preferred | (matrix & !filled(preferred));
    left & negate(left)
}

/// For rows with one column: all columns above it; other rows from `old`. This
/// is the round robin: next time the search starts after the winner.
pub(super) const fn after(winners: u64, old: u64) -> u64 {
    let above = negate((winners & !HIGH) << 1);
    let won = filled(winners);
    (above & won) | (old & !won)
}

/// Rows become columns.
pub(super) const fn transpose(matrix: u64) -> u64 {
    let mut m = matrix;
    let mut swap = (m ^ (m >> 7)) & 0x00AA_00AA_00AA_00AA;
    m ^= swap ^ (swap << 7);
    swap = (m ^ (m >> 14)) & 0x0000_CCCC_0000_CCCC;
    m ^= swap ^ (swap << 14);
    swap = (m ^ (m >> 28)) & 0x0000_0000_F0F0_F0F0;
    m ^ swap ^ (swap << 28)
}

/// Row `r` alone, with these columns.
pub(super) const fn row(r: usize, columns: u8) -> u64 {
    (columns as u64) << ((r & 7) * 8)
}

/// The columns of row `r`.
pub(super) const fn columns(matrix: u64, r: usize) -> u8 {
    (matrix >> ((r & 7) * 8)) as u8
}

/// All rows but those of `set`.
pub(super) const fn without(matrix: u64, set: u8) -> u64 {
    matrix & !(ones(set) * 0xFF)
}

/// The members of a port set, lowest first.
#[derive(Clone, Copy)]
pub(super) struct Ports(pub(super) u8);

impl Iterator for Ports {
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

    fn rows(matrix: u64) -> [u8; 8] {
        matrix.to_le_bytes()
    }

    // By the book: search upwards from `start`, around the end.
    fn search(row: u8, start: u32) -> u8 {
        (0..8)
            .map(|k| (start + k) % 8)
            .find(|c| row >> c & 1 == 1)
            .map_or(0, |c| 1 << c)
    }

    proptest! {
        #[test]
        fn pick_searches_each_row_from_its_start(m: u64, starts in prop::array::uniform8(0u32..8)) {
            let first = u64::from_le_bytes(starts.map(|s| 0xFFu8 << s));
            let picked = rows(pick(m, first));
            for (r, row) in rows(m).into_iter().enumerate() {
                prop_assert_eq!(picked[r], search(row, starts[r]));
            }
        }

        #[test]
        fn after_starts_above_the_winner(winners in prop::array::uniform8(0u32..9), old: u64) {
            let next = rows(after(u64::from_le_bytes(winners.map(|w| if w == 8 { 0 } else { 1 << w })), old));
            for (r, w) in winners.into_iter().enumerate() {
                let expected = if w == 8 { rows(old)[r] } else { (0xFE_u32 << w) as u8 };
                prop_assert_eq!(next[r], expected);
            }
        }

        #[test]
        fn transpose_swaps_rows_and_columns(m: u64) {
            let t = rows(transpose(m));
            for (r, row) in rows(m).into_iter().enumerate() {
                for (c, column) in t.iter().enumerate() {
                    prop_assert_eq!(row >> c & 1, column >> r & 1);
                }
            }
        }

        #[test]
        fn sets_and_words_agree(m: u64, set: u8) {
            for r in 0..8 {
                prop_assert_eq!(nonempty(m) >> r & 1 == 1, rows(m)[r] != 0);
                prop_assert_eq!(rows(ones(set))[r], set >> r & 1);
                prop_assert_eq!(rows(without(m, set))[r], if set >> r & 1 == 1 { 0 } else { rows(m)[r] });
                prop_assert_eq!(columns(row(r, set), r), set);
            }
            prop_assert!(Ports(set).eq((0..8).filter(|r| set >> r & 1 == 1)));
        }
    }

    #[test]
    fn the_diagonal_start_of_input_i_is_i() {
        for (i, row) in rows(FROM_DIAGONAL).into_iter().enumerate() {
            assert_eq!(row, 0xFF << i);
        }
    }
}

//! 8x8 bit matrices, each in one machine word.
//!
//! Byte `r` of a matrix is row `r`; bit `c` of it is column `c`.

use crate::hsl::word::{HIGH, LOW, flags};

/// Row `i` allows the columns from `i` on: the rotating start of input `i`.
pub(super) const FROM_DIAGONAL: u64 = 0x80C0_E0F0_F8FC_FEFF;

/// Every row allows every column: nobody has won yet.
pub(super) const ALL: u64 = u64::MAX;

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
    }

    #[test]
    fn the_diagonal_start_of_input_i_is_i() {
        for (i, row) in rows(FROM_DIAGONAL).into_iter().enumerate() {
            assert_eq!(row, 0xFF << i);
        }
    }
}

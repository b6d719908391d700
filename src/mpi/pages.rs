//! From a process's buffers to physical pieces, and two lists of pieces to
//! transfers.

use super::config::MAX_PIECE;

/// Contiguous bytes of physical memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Piece {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
}

/// Where the bytes of a process lie in physical memory.
pub trait PageMap {
    /// The piece that starts at address `addr` of the process, of 1 to `len`
    /// bytes; none when that byte is not mapped. `len` is not 0.
    fn piece(&self, addr: u64, len: u64) -> Option<Piece>;
}

/// Addresses of the process are physical ones: a boot-time contiguous arena,
/// mapped into user space (MPI-MPC 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Direct;

impl PageMap for Direct {
    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        Some(Piece { addr, len })
    }
}

impl<M: PageMap + ?Sized> PageMap for &M {
    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        (**self).piece(addr, len)
    }
}

/// The pieces of `len` bytes from `addr`, physically adjacent ones merged.
/// Ends early, with [`is_whole`](Self::is_whole) false, at a byte that is not
/// mapped.
#[derive(Clone, Debug)]
pub struct Pieces<F> {
    map: F,
    addr: u64,
    len: u64,
    hole: bool,
}

impl<F: FnMut(u64, u64) -> Option<Piece>> Pieces<F> {
    /// Pieces by a function as [`PageMap::piece`].
    pub const fn new(map: F, addr: u64, len: u64) -> Self {
        Self {
            map,
            addr,
            len,
            hole: false,
        }
    }

    /// Whether no byte was found unmapped so far.
    pub const fn is_whole(&self) -> bool {
        !self.hole
    }

    fn look(&mut self) -> Option<Piece> {
        if self.len == 0 || self.hole {
            return None;
        }
        let piece = (self.map)(self.addr, self.len);
        // A map that answers with nothing, or too much, is not followed.
        piece.filter(|piece| (1..=self.len).contains(&piece.len))
    }

    fn pass(&mut self, len: u64) {
        self.addr = self.addr.wrapping_add(len);
        self.len -= len.min(self.len);
    }
}

impl<F: FnMut(u64, u64) -> Option<Piece>> Iterator for Pieces<F> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.len == 0 || self.hole {
            return None;
        }
        let Some(mut piece) = self.look() else {
            self.hole = true;
            return None;
        };
        self.pass(piece.len);
        while let Some(next) = self.look()
            && piece.addr.checked_add(piece.len) == Some(next.addr)
        {
            piece.len += next.len;
            self.pass(next.len);
        }
        Some(piece)
    }
}

/// Bytes of the next transfer from a piece with `here` bytes left to `remote`,
/// with `there` bytes left: at least 1 when both are. With `aligned`, cut so
/// that what follows starts at a multiple of 4 there.
pub(super) fn cut(here: u64, remote: u64, there: u64, aligned: bool) -> u64 {
    let most = here.min(there).min(MAX_PIECE);
    if !aligned {
        return most;
    }
    let first = (4 - remote % 4) % 4;
    if first != 0 {
        return most.min(first);
    }
    // The last bytes of the pieces need no cut, nothing follows within them.
    let odd = most % 4;
    if most > odd && (here > most || there > most) {
        most - odd
    } else {
        most
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn piece(addr: u64, len: u64) -> Piece {
        Piece { addr, len }
    }

    #[test]
    fn adjacent_pages_become_one_piece() {
        // Pages of 4 KB; 0, 1 and 2 lie next to each other, 3 elsewhere.
        let frames = [7u64, 8, 9, 2];
        let map = |addr: u64, len: u64| {
            let frame = frames.get((addr / 4096) as usize)?;
            let within = addr % 4096;
            Some(piece(frame * 4096 + within, len.min(4096 - within)))
        };
        let pieces: Vec<Piece> = Pieces::new(map, 100, 4 * 4096 - 100).collect();
        assert_eq!(
            pieces,
            [piece(7 * 4096 + 100, 3 * 4096 - 100), piece(2 * 4096, 4096)]
        );
        let mut short = Pieces::new(map, 3 * 4096, 5000);
        assert_eq!(short.by_ref().count(), 1);
        assert!(!short.is_whole());
    }

    #[test]
    fn maps_that_lie_end_the_pieces() {
        for wrong in [piece(0, 0), piece(0, 11)] {
            let mut pieces = Pieces::new(|_, _| Some(wrong), 0, 10);
            assert_eq!(pieces.next(), None);
            assert!(!pieces.is_whole());
        }
    }

    #[test]
    fn no_transfer_is_longer_than_61440_bytes() {
        assert_eq!(cut(1 << 40, 0, 1 << 20, false), 61_440);
        assert_eq!(cut(65_536, 0, 65_537, false), 61_440);
        assert_eq!(cut(5, 3, 100, true), 1);
        assert_eq!(cut(7, 4, 100, true), 4);
        assert_eq!(cut(3, 4, 100, true), 3);
        assert_eq!(cut(7, 4, 7, true), 7);
    }

    proptest! {
        #[test]
        fn cuts_cover_both_lists_once(
            here in prop::collection::vec(1u64..200_000, 1..6),
            there in prop::collection::vec(1u64..200_000, 1..6),
            aligned: bool,
        ) {
            let total: u64 = here.iter().sum::<u64>().min(there.iter().sum());
            let (mut i, mut j, mut in_i, mut in_j, mut done) = (0, 0, 0, 0, 0u64);
            let mut transfers = 0u64;
            while done < total {
                let (left, right) = (here[i] - in_i, there[j] - in_j);
                let n = cut(left, in_j, right, aligned);
                prop_assert!((1..=left.min(right)).contains(&n));
                transfers += 1;
                (in_i, in_j, done) = (in_i + n, in_j + n, done + n);
                if in_i == here[i] { (i, in_i) = (i + 1, 0); }
                if in_j == there[j] { (j, in_j) = (j + 1, 0); }
            }
            prop_assert_eq!(done, total);
            if !aligned {
                let most = (here.len() + there.len() - 1) as u64 + total / MAX_PIECE;
                prop_assert!(transfers <= most, "{transfers} of {most}");
            }
        }
    }
}

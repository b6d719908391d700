//! The table of a router input, and its bytes as the configuration path wants
//! them.

use crate::fabric::topology::{PORTS, Routes};

/// Bytes of a router's configuration.
pub const IMAGE_LEN: usize = 258;

/// Header length byte for two characters on every input.
pub const HEADER_LENGTH_TWO: u8 = 0xFF;

/// The eight intervals of one input link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Intervals {
    /// Ascending: interval `i` is `bounds[i] <= header < bounds[i + 1]`, the
    /// last one all the rest.
    pub bounds: [u16; 8],
    /// Outputs of each interval, bit `k`: port `k`.
    pub selection: [u8; 8],
}

impl Intervals {
    /// Offers no output to any header.
    pub const NONE: Self = Self {
        bounds: [0; 8],
        selection: [0; 8],
    };

    /// The interval of a header. Bounds that do not ascend are answered too:
    /// the highest interval that holds the header.
    pub fn interval_of(&self, header: u16) -> usize {
        let reached = self.bounds.iter().rposition(|&bound| bound <= header);
        // Below the first bound: the last interval wraps around.
        reached.unwrap_or(7)
    }

    /// The outputs a header may take.
    pub fn eligible(&self, header: u16) -> u8 {
        self.selection
            .get(self.interval_of(header))
            .copied()
            .unwrap_or(0)
    }

    /// Bounds from the labels of the ports: the distinct ones ascending, the
    /// last repeated; selections: the ports of each, all or only the lowest.
    pub(super) fn from_labels(bound: impl Fn(u8) -> Option<u16>, adaptive: bool) -> Self {
        let mut this = Self::NONE;
        let mut used = 0;
        let mut next = 0u32;
        while used < 8 {
            // The smallest label from `next` on.
            let labels = (0..PORTS).filter_map(&bound).map(u32::from);
            let Some(label) = labels.filter(|&label| label >= next).min() else {
                break;
            };
            let mut ports = 0u8;
            for port in (0..PORTS).filter(|&port| bound(port).map(u32::from) == Some(label)) {
                ports |= 1 << port;
            }
            if !adaptive {
                ports &= ports.wrapping_neg();
            }
            // All later entries too: the last label fills the rest.
            for i in used..8 {
                if let (Some(b), Some(s)) = (this.bounds.get_mut(i), this.selection.get_mut(i)) {
                    (*b, *s) = (label as u16, ports);
                }
            }
            used += 1;
            next = label + 1;
        }
        this
    }
}

impl Default for Intervals {
    fn default() -> Self {
        Self::NONE
    }
}

/// One table a router, the same for all inputs.
impl Routes for [Intervals] {
    fn eligible(&self, router: u16, _input: u8, header: u16) -> u8 {
        self.get(usize::from(router))
            .map_or(0, |table| table.eligible(header))
    }
}

/// One table an input.
impl Routes for [[Intervals; PORTS as usize]] {
    fn eligible(&self, router: u16, input: u8, header: u16) -> u8 {
        self.get(usize::from(router))
            .and_then(|inputs| inputs.get(usize::from(input)))
            .map_or(0, |table| table.eligible(header))
    }
}

/// The configuration of a router, byte 0 first (the chain is fed from byte 257
/// down): the tables of its eight inputs, the header deletion bits of its
/// outputs, the header length bits of its inputs (1: two characters).
///
/// ```text
///   0  bounds 0, 2, 4, 6        16 bits big-endian, interval 0..7
///  64  selections 6, 4, 2, 0    mask, then 0; interval 7..0
/// 128  header deletion
/// 129  header length
/// 130  bounds 1, 3, 5, 7
/// 194  selections 7, 5, 3, 1
/// ```
pub fn image(
    inputs: &[Intervals; PORTS as usize],
    deletion: u8,
    header_length: u8,
) -> [u8; IMAGE_LEN] {
    let mut bytes = [0; IMAGE_LEN];
    let mut at = bytes.iter_mut();
    let mut put = |byte: u8| {
        if let Some(slot) = at.next() {
            *slot = byte;
        }
    };
    for parity in [0usize, 1] {
        let group = || inputs.iter().skip(parity).step_by(2);
        for bound in group().flat_map(|table| table.bounds) {
            bound.to_be_bytes().into_iter().for_each(&mut put);
        }
        for mask in group()
            .rev()
            .flat_map(|table| table.selection.into_iter().rev())
        {
            put(mask);
            put(0);
        }
        if parity == 0 {
            put(deletion);
            put(header_length);
        }
    }
    bytes
}

//! The intervals that labels give a router, and routes through them.

use crate::fabric::topology::{PORTS, Routes};
use crate::rcube::RoutingTable;

/// Eight intervals, the same for every input of a router.
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

    /// The configuration of a router with these intervals on each input: header
    /// deletion off, headers of two characters.
    pub const fn table(&self) -> RoutingTable {
        RoutingTable::uniform(self.bounds, self.selection)
    }

    /// Bounds from the labels of the ports: the distinct ones ascending, the
    /// last repeated; selections: the ports of each, all or only the lowest.
    /// An adaptive table offers all of `alike` where it offers one of them.
    pub(super) fn from_labels(
        bound: impl Fn(u8) -> Option<u16>,
        adaptive: bool,
        alike: u8,
    ) -> Self {
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
            } else if ports & alike != 0 {
                ports |= alike;
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

/// The tables as the routers hold them, one an input. Header deletion is not
/// followed: the header stays as it was sent.
impl Routes for [RoutingTable] {
    fn eligible(&self, router: u16, input: u8, header: u16) -> u8 {
        let Some(table) = self.get(usize::from(router)) else {
            return 0;
        };
        let input = input & (PORTS - 1);
        // Of a two-character header the high byte comes first, and is all that
        // an input with one-character headers looks at.
        let two = table.header_length & (1 << input) != 0;
        table.select(usize::from(input), if two { header } else { header >> 8 })
    }
}

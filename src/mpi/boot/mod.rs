//! What the processes of a world tell each other before the first message, over
//! the control network.

mod entry;
mod error;
mod network;

pub use entry::BootEntry;
pub use error::BootError;
pub use network::{ControlNetwork, Exchange};

pub(super) use entry::check_index;

/// Version of the formats; others are refused.
pub const VERSION: u32 = 1;

/// Which process this is, and where its memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Place {
    /// Its rank in the world.
    pub rank: u32,
    /// Ranks of the world.
    pub ranks: u32,
    /// Its node.
    pub node: u16,
    /// Physical address of its arena, a multiple of 64.
    pub base: u64,
    /// First index of its slots in the message identifiers of the node, 0 for
    /// the only rank of a node; it takes as many as it has slots a pair.
    pub control_index: u16,
    /// First index of its landings, likewise.
    pub landing_index: u16,
    /// A number that differs from those of earlier starts of this process.
    pub incarnation: u32,
}

impl Place {
    /// The only rank of node `rank`, with its arena at `base`.
    #[must_use]
    pub const fn alone(rank: u16, ranks: u32, base: u64) -> Self {
        Self {
            rank: rank as u32,
            ranks,
            node: rank,
            base,
            control_index: 0,
            landing_index: 0,
            incarnation: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::config::MpiConfig;
    use super::*;
    use core::task::Poll;
    use std::string::ToString;

    #[test]
    fn entries_survive_the_wire() {
        let mut place = Place::alone(3, 9, 0x12340);
        place.control_index = 0x102;
        place.incarnation = 0xDEAD_BEEF;
        let entry = BootEntry::new(&MpiConfig::default(), &place);
        assert_eq!(BootEntry::parse(&entry.emit()), entry);
    }

    #[test]
    fn all_gather_is_over_when_the_last_has_come() {
        let mut board = [None; 2];
        let mut network = Exchange::new(&mut board[..]);
        let mut all = [BootEntry::default(); 2];
        let entry = |rank| BootEntry::new(&MpiConfig::default(), &Place::alone(rank, 2, 0));
        assert_eq!(network.all_gather(&entry(1), &mut all), Ok(Poll::Pending));
        assert_eq!(network.all_gather(&entry(0), &mut all), Ok(Poll::Ready(())));
        assert_eq!(all, [entry(0), entry(1)]);
        let error = network.all_gather(&entry(2), &mut all).unwrap_err();
        assert_eq!(error.to_string(), "rank 2, allowed 0..2");
    }

    #[test]
    fn peers_with_other_choices_are_named() {
        let config = MpiConfig::default();
        let mut entry = BootEntry::new(&config, &Place::alone(1, 2, 0));
        assert_eq!(entry.check(&config, 1, 2), Ok(()));
        entry.slot_bytes = 8192;
        assert_eq!(
            entry.check(&config, 1, 2).unwrap_err().to_string(),
            "slot size of rank 1 is 8192, here 16384"
        );
        entry.version = 2;
        let error = entry.check(&config, 1, 2).unwrap_err();
        assert_eq!(error.to_string(), "version of rank 1 is 2, here 1");
    }
}

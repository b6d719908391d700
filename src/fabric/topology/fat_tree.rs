//! Fat trees of routers with eight ports: as many cables up as down at every
//! switch below the top.
//!
//! ```text
//! arity 2, 2 levels:      top    S8       S9        4 down each
//!                               / | \ \ / / | \     every leaf switch to
//!                              /  |  .. ..  |  \    every top switch
//!                     leaf    S4   S5   S6   S7     2 down, 2 up
//!                             /\   /\   /\   /\
//!                     board  0  1 2  3 4  5 6  7
//! ```
//!
//! With arity `h` and `n` levels of switches there are `2 h^n` boards. A switch
//! below the top has `h` ports down (0 up) and `h` ports up (`h` up), one at
//! the top has `2 h` ports down; so arity 4 uses every port: 8, 32, 128 boards
//! with 1, 2, 3 levels. Board `i` is generator `i` on port 0 of router `i`, its
//! port 1 leads up. The switches follow, lowest level first.
//!
//! A switch of level `l` (from 1) is named by the subtree below it, `h^l`
//! boards from `h^l * prefix`, and by the ways up that lead to it, `rank`: a
//! number of `l - 1` digits to the base `h`, the first way in the highest
//! digit. Its router number counts `prefix` first, then `rank`.

use super::{Cable, Limit, PORTS, PortId, Topology, TopologyError};

/// The shape of a fat tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FatTree {
    levels: u8,
    arity: u8,
    boards: u16,
    routers: u16,
}

/// A router of a fat tree without a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Switch {
    /// From 1, right above the boards, to the levels of the tree.
    pub level: u8,
    /// Which subtree it stands on.
    pub prefix: u16,
    /// Which of the switches on this subtree.
    pub rank: u16,
}

impl FatTree {
    /// Most ports up from a switch: half of them.
    pub const MAX_ARITY: usize = PORTS as usize / 2;

    /// `levels` levels of switches with `arity` ports up.
    ///
    /// # Errors
    /// [`TopologyError::EmptyShape`] without levels or ports up;
    /// [`TopologyError::TooMany`] beyond [`MAX_ARITY`](Self::MAX_ARITY) ports up,
    /// 255 levels or [`Topology::MAX`] routers.
    pub fn new(levels: usize, arity: usize) -> Result<Self, TopologyError> {
        if levels == 0 || arity == 0 {
            return Err(TopologyError::EmptyShape);
        }
        let too_many = |what, count, max| TopologyError::TooMany { what, count, max };
        if arity > Self::MAX_ARITY {
            return Err(too_many(Limit::PortsUp, arity, Self::MAX_ARITY));
        }
        let max = Topology::MAX;
        let power =
            |exponent: usize| arity.saturating_pow(exponent.min(usize::BITS as usize) as u32);
        let boards = power(levels).saturating_mul(2);
        let top = power(levels - 1);
        // Below the top, twice as many on each level.
        let switches = top.saturating_mul(levels.saturating_mul(2) - 1);
        let routers = boards.saturating_add(switches);
        if routers > max {
            return Err(too_many(Limit::Routers, routers, max));
        }
        // With one way up a level costs two routers only.
        let most = usize::from(u8::MAX);
        if levels > most {
            return Err(too_many(Limit::Levels, levels, most));
        }
        Ok(Self {
            levels: levels as u8,
            arity: arity as u8,
            boards: boards as u16,
            routers: routers as u16,
        })
    }

    /// Levels of switches.
    pub const fn levels(&self) -> u8 {
        self.levels
    }

    /// Ports up from a switch below the top.
    pub const fn arity(&self) -> u8 {
        self.arity
    }

    /// Boards: the first routers, with the generators.
    pub const fn boards(&self) -> u16 {
        self.boards
    }

    /// Routers, boards and switches.
    pub const fn routers(&self) -> u16 {
        self.routers
    }

    /// Boards below a switch of `level`; 1 for a board itself.
    pub fn below(&self, level: u8) -> u16 {
        if level >= self.levels {
            self.boards
        } else {
            self.power(level)
        }
    }

    fn power(&self, exponent: u8) -> u16 {
        // At most half of the boards.
        u16::from(self.arity).saturating_pow(exponent.into())
    }

    /// Switches of a level.
    fn switches(&self, level: u8) -> u16 {
        let top = self.power(self.levels - 1);
        if level == self.levels { top } else { 2 * top }
    }

    /// What a router is; none for a board and for one that does not exist.
    pub fn switch(&self, router: u16) -> Option<Switch> {
        let mut number = router.checked_sub(self.boards)?;
        for level in 1..=self.levels {
            if number < self.switches(level) {
                let ranks = self.power(level - 1);
                return Some(Switch {
                    level,
                    prefix: number / ranks,
                    rank: number % ranks,
                });
            }
            number -= self.switches(level);
        }
        None
    }

    /// The router of a switch, or the board `prefix` on level 0.
    fn router(&self, level: u8, prefix: u16, rank: u16) -> u16 {
        if level == 0 {
            return prefix;
        }
        let before: u16 = (1..level).map(|level| self.switches(level)).sum();
        self.boards + before + prefix * self.power(level - 1) + rank
    }

    /// Ports down, from port 0.
    pub fn down(&self, level: u8) -> u8 {
        if level == self.levels {
            2 * self.arity
        } else {
            self.arity
        }
    }

    /// Ports up, from port [`down`](Self::down).
    pub fn up(&self, level: u8) -> u8 {
        if level == self.levels { 0 } else { self.arity }
    }

    /// Where the boards are plugged in: port 0 of the first routers.
    pub fn generators(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.boards).map(|router| PortId::new(router, 0))
    }

    /// Every cable once, by the switch at its upper end, then by port.
    pub fn cables(&self) -> impl Iterator<Item = Cable> + use<> {
        let tree = *self;
        (tree.boards..tree.routers).flat_map(move |router| {
            let down = tree.switch(router).map_or(0, |own| tree.down(own.level));
            (0..down).filter_map(move |port| tree.cable_down(router, port))
        })
    }

    fn cable_down(&self, router: u16, port: u8) -> Option<Cable> {
        let own = self.switch(router)?;
        let level = own.level - 1;
        let h = u16::from(self.arity);
        let prefix = own.prefix * h + u16::from(port);
        let (lower, up) = if level == 0 {
            (prefix, 1)
        } else {
            // The last way up is the one from there to here.
            let up = self.down(level) + (own.rank % h) as u8;
            (self.router(level, prefix, own.rank / h), up)
        };
        Some(Cable::new(
            PortId::new(router, port),
            PortId::new(lower, up),
        ))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn arity_4_uses_every_port() {
        for (levels, boards, routers) in [(1, 8, 9), (2, 32, 44), (3, 128, 208)] {
            let tree = FatTree::new(levels, 4).unwrap();
            assert_eq!((tree.boards(), tree.routers()), (boards, routers));
            let mut used = std::vec![0u8; usize::from(routers)];
            for cable in tree.cables() {
                for end in cable.ends {
                    let bit = 1 << end.port;
                    let ports = &mut used[usize::from(end.router)];
                    assert_eq!(*ports & bit, 0, "{end}");
                    *ports |= bit;
                }
            }
            assert!(used[..usize::from(boards)].iter().all(|&p| p == 0b10));
            assert!(used[usize::from(boards)..].iter().all(|&p| p == 0xFF));
        }
    }

    #[test]
    fn every_leaf_switch_meets_every_top_switch() {
        let tree = FatTree::new(2, 2).unwrap();
        let mut between: Vec<(u16, u16)> = tree
            .cables()
            .map(|cable| (cable.ends[1].router, cable.ends[0].router))
            .filter(|&(lower, _)| lower >= 8)
            .collect();
        between.sort_unstable();
        let expected: Vec<(u16, u16)> = [8, 9, 10, 11]
            .into_iter()
            .flat_map(|leaf| [(leaf, 12), (leaf, 13)])
            .collect();
        assert_eq!(between, expected);
    }

    #[test]
    fn numbers_and_names_are_inverse() {
        for (levels, arity) in [(1, 1), (3, 1), (4, 2), (3, 3), (3, 4)] {
            let tree = FatTree::new(levels, arity).unwrap();
            assert_eq!(tree.switch(tree.boards() - 1), None);
            assert_eq!(tree.switch(tree.routers()), None);
            for router in tree.boards()..tree.routers() {
                let own = tree.switch(router).unwrap();
                assert_eq!(tree.router(own.level, own.prefix, own.rank), router);
            }
        }
    }

    #[test]
    fn shapes_that_cannot_be_are_named() {
        assert_eq!(FatTree::new(0, 4), Err(TopologyError::EmptyShape));
        assert_eq!(
            FatTree::new(2, 5).unwrap_err().to_string(),
            "5 ports up from a switch, at most 4 are possible"
        );
        for levels in [256, 300] {
            assert_eq!(
                FatTree::new(levels, 1).unwrap_err().to_string(),
                std::format!("{levels} levels of switches, at most 255 are possible")
            );
        }
        assert!(FatTree::new(255, 1).is_ok());
        for levels in [9, 300, usize::MAX] {
            assert!(FatTree::new(levels, 4).is_err());
        }
    }
}

//! What happens inside an `ropen` and its close: request sets and wires.

use super::{NOBODY, PAIRS, PATHS, Router};
use crate::maspar::chip::{Personality, first_four, lowest};
use crate::maspar::geometry::{CLUSTER_PES, GROUPS, MAX_BOARDS, MAX_CLUSTERS};

impl Router {
    /// Rebuilds every request set from the flags and addresses.
    pub(super) fn settle(&mut self) {
        self.asks = [0; PAIRS];
        self.who = [NOBODY; MAX_CLUSTERS];
        self.inputs = [0; PATHS];
        self.open = [0; GROUPS];
        for cluster in 0..MAX_CLUSTERS {
            let flags = self.tflag[cluster];
            if flags != 0 {
                let path = self.address[cluster * CLUSTER_PES + lead(flags)] >> 4;
                self.head[cluster] = path;
                let pair = (cluster >> 6) * GROUPS + group_of(path);
                self.asks[pair] |= 1 << (cluster & 63);
            }
        }
        for pair in 0..PAIRS {
            if self.asks[pair] != 0 {
                self.deal_wires(pair);
            }
        }
    }

    /// Puts the winners of one stage-1 group, by (board, group), on its wires.
    #[inline]
    fn deal_wires(&mut self, pair: usize) {
        let (board, group) = ((pair / GROUPS) & (MAX_BOARDS - 1), pair % GROUPS);
        let outputs = self.stage1.outputs(self.asks[pair & (PAIRS - 1)]);
        for (wire, output) in outputs.iter().enumerate() {
            let input = self.wiring.stage2_input(wire as u8, board as u8);
            let bit = 1u64 << (input & 63);
            let at = (group << 6 | input as usize) & (MAX_CLUSTERS - 1);
            if self.who[at] != NOBODY {
                self.inputs[self.path[at] as usize & (PATHS - 1)] &= !bit;
            }
            match output {
                Some(lane) => {
                    let cluster = (board << 6 | *lane as usize) & (MAX_CLUSTERS - 1);
                    let path = self.head[cluster];
                    self.who[at] = cluster as u16;
                    self.path[at] = path;
                    self.inputs[path as usize & (PATHS - 1)] |= bit;
                }
                None => self.who[at] = NOBODY,
            }
        }
    }

    /// Stages 2 and 3 of all chips; stage 1 is kept up to date.
    #[inline]
    pub(in crate::maspar) fn arbitrate(&mut self) {
        if self.config.stage3_wires == [0, 1, 2, 3] {
            let (ab, cd) = self.inputs.split_at(2 * PAIRS);
            let ((a, b), (c, d)) = (ab.split_at(PAIRS), cd.split_at(PAIRS));
            for (group, open) in self.open.iter_mut().enumerate() {
                let from = group * MAX_BOARDS;
                let (a, b) = (&a[from..from + MAX_BOARDS], &b[from..from + MAX_BOARDS]);
                let (c, d) = (&c[from..from + MAX_BOARDS], &d[from..from + MAX_BOARDS]);
                let mut connected = 0;
                for board in 0..MAX_BOARDS {
                    let (a, b, c, d) = (a[board], b[board], c[board], d[board]);
                    let granted = first_four(a | b | c | d);
                    connected |= lowest(a & granted)
                        | lowest(b & granted)
                        | lowest(c & granted)
                        | lowest(d & granted);
                }
                *open = connected;
            }
        } else {
            for (group, open) in self.open.iter_mut().enumerate() {
                *open = 0;
                for board in 0..MAX_BOARDS {
                    let pair = group * MAX_BOARDS + board;
                    let corners =
                        [0, 1, 2, 3].map(|corner: usize| self.inputs[corner * PAIRS + pair]);
                    let wants = corners.iter().fold(0, |all, set| all | set);
                    let outputs = Personality::Hyperbar.outputs(wants);
                    let mut taken = 0;
                    for &wire in &self.config.stage3_wires {
                        let Some(input) = outputs[wire as usize & 3] else {
                            continue;
                        };
                        let bit = 1u64 << (input & 63);
                        for (corner, set) in corners.iter().enumerate() {
                            if set & bit != 0 && taken >> corner & 1 == 0 {
                                taken |= 1 << corner;
                                *open |= bit;
                            }
                        }
                    }
                }
            }
        }
    }

    /// One router cycle without ticks: opens, tells the slot of each PE
    /// served, closes. Returns how many PEs were served.
    #[inline]
    pub(in crate::maspar) fn cycle(&mut self, served: impl FnMut(u16)) -> u32 {
        self.arbitrate();
        self.close(served)
    }

    #[inline]
    pub(super) fn close(&mut self, mut served: impl FnMut(u16)) -> u32 {
        let mut count = 0;
        // Stage-1 groups whose requests change; wires must be dealt anew.
        let mut stale = [0u16; MAX_BOARDS];
        for group in 0..GROUPS {
            let mut left = self.open[group];
            self.open[group] = 0;
            count += left.count_ones();
            while left != 0 {
                let at = group << 6 | left.trailing_zeros() as usize & 63;
                let bit = lowest(left);
                left ^= bit;
                let cluster = self.who[at] as usize & (MAX_CLUSTERS - 1);
                let flags = self.tflag[cluster];
                served((cluster * CLUSTER_PES + lead(flags)) as u16 ^ self.flip);
                let flags = flags & flags.wrapping_sub(1);
                self.tflag[cluster] = flags;
                let board = cluster >> 6;
                if flags != 0 {
                    let path = self.address[cluster * CLUSTER_PES + lead(flags)] >> 4;
                    self.head[cluster] = path;
                    let next = group_of(path);
                    if next == group {
                        // Same group, so the same wire: only its goal moves.
                        let old = self.path[at] as usize & (PATHS - 1);
                        self.path[at] = path;
                        self.inputs[old] ^= bit;
                        self.inputs[path as usize & (PATHS - 1)] |= bit;
                        continue;
                    }
                    self.asks[board * GROUPS + next] |= 1 << (cluster & 63);
                    stale[board] |= 1 << next;
                }
                self.asks[board * GROUPS + group] &= !(1 << (cluster & 63));
                stale[board] |= 1 << group;
            }
        }
        for (board, stale) in stale.iter().enumerate() {
            let mut left = *stale;
            while left != 0 {
                let group = left.trailing_zeros() as usize & 15;
                left &= left - 1;
                self.deal_wires(board * GROUPS + group);
            }
        }
        count
    }
}

/// The PE of a cluster that leads.
#[inline]
pub(super) fn lead(flags: u16) -> usize {
    flags.trailing_zeros() as usize & 15
}

/// The stage-1 group of a path.
#[inline]
fn group_of(path: u16) -> usize {
    path as usize >> 4 & (GROUPS - 1)
}

#[cfg(test)]
mod tests {
    use crate::maspar::{Router, TickRouter};

    #[test]
    fn routers_are_small_enough_for_a_firmware_image() {
        assert!(
            size_of::<Router>() <= 52 * 1024,
            "{} bytes",
            size_of::<Router>()
        );
        assert!(
            size_of::<TickRouter>() <= 44 * 1024,
            "{} bytes",
            size_of::<TickRouter>()
        );
    }
}

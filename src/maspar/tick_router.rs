//! One `ropen` and one `rfetchc` tick by tick, chip by chip.
//!
//! The same machine as [`Router`](super::Router), as 48 chips with wires and
//! registers between them: address bits travel serially through the stages,
//! each stage takes the four it needs, arbitrates, and lets the rest pass a
//! tick later. For looking at, and for holding the fast model against.
//!
//! Record: the ticks of each instruction; three switching stages and a fourth
//! that resolves the PE; which bits each resolves; two bits resolved twice.
//! Chosen: which tick does what ([`Step`]), one bit a tick, the most significant
//! address bit and the least significant data bit first, one register a stage.
//!
//! ```text
//! tick      0  2     6      8     12     14     18     20    24  26    30    42
//! cluster   |pick|G bits| |board bits| |corner bits| |PE bits|        |told |
//! stage 1        |take 4|o|- - - - - - pass, one tick later - - -|ack |
//! stage 2               |  |take 4|o|- - - - - - - - - - - - - - |ack|
//! stage 3                             |take 4|o|- - - - - - - - -|ack|
//! PE select                                      |take 4|o|ack|
//! ```

use super::chip::{Personality, RouterChip};
use super::config::{ConfigError, Pick, RouterConfig, Wiring};
use super::geometry::{CLUSTER_PES, CLUSTERS, GROUPS, MAX_BOARDS, MAX_CLUSTERS};
use super::pattern::{Pattern, SizeMismatch};
use super::router::Connection;
use super::ticks::Width;

/// Switching stages.
pub const STAGES: usize = 3;

/// What an edge does; `n` ticks in all, most of them shared with other stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Step {
    /// No instruction under way.
    #[default]
    Idle,
    /// `ropen`, at this tick from 0.
    Open(u32),
    /// `rfetchc` or `rsendc`, at this tick from 0.
    Transfer(u32),
}

/// Edges of `ropen` at which each stage takes its first address bit.
const TAKE: [u32; STAGES + 1] = [2, 8, 14, 20];
/// Edges at which the cluster puts out the first bit for each stage.
const SEND: [u32; STAGES + 1] = [1, 6, 11, 16];
/// Edge of `ropen` at which the PE select holds its path.
const SELECTED: u32 = 24;
/// Edge of `rfetchc` at which the target loads its value.
const LOADED: u32 = 5;

/// Inputs of the chips of one stage, a bit a wire.
pub type Wires = [u64; MAX_BOARDS];

/// The router as chips, wires and registers.
///
/// `request[s]`, `data[s]`, `back[s]` are the wires at the inputs of stage
/// `s + 1` (element 3: at the PE select), one word a chip. All are registers:
/// what they show changes only at a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TickRouter {
    config: RouterConfig,
    wiring: Wiring,
    chips: [[RouterChip; MAX_BOARDS]; STAGES],
    request: [Wires; STAGES + 1],
    data: [Wires; STAGES + 1],
    back: [Wires; STAGES + 1],
    // The last four address bits taken at each input, newest in plane 0.
    taken: [[[u64; 4]; MAX_BOARDS]; STAGES + 1],
    step: Step,
    width: Width,
    // The PE that each cluster puts forward and its 16 address bits.
    forward: [u16; MAX_CLUSTERS],
    address: [u16; MAX_CLUSTERS],
    asks: Wires,
    connected: Wires,
    // Shift registers of the target and source clusters.
    out: [u64; MAX_CLUSTERS],
    got: [u64; MAX_CLUSTERS],
    ticks: u64,
}

impl TickRouter {
    /// A router at rest.
    ///
    /// # Errors
    /// [`ConfigError`] names the field that makes no sense.
    pub fn new(config: &RouterConfig) -> Result<Self, ConfigError> {
        let wiring = config.wiring()?;
        let stage = |personality| core::array::from_fn(|_| RouterChip::new(personality));
        Ok(Self {
            config: *config,
            wiring,
            chips: [
                stage(config.stage1_personality()),
                stage(Personality::Hyperbar),
                stage(Personality::crossbars_by([5, 4])),
            ],
            request: [[0; MAX_BOARDS]; STAGES + 1],
            data: [[0; MAX_BOARDS]; STAGES + 1],
            back: [[0; MAX_BOARDS]; STAGES + 1],
            taken: [[[0; 4]; MAX_BOARDS]; STAGES + 1],
            step: Step::Idle,
            width: Width::W32,
            forward: [0; MAX_CLUSTERS],
            address: [0; MAX_CLUSTERS],
            asks: [0; MAX_BOARDS],
            connected: [0; MAX_BOARDS],
            out: [0; MAX_CLUSTERS],
            got: [0; MAX_CLUSTERS],
            ticks: 0,
        })
    }

    /// What the next edge does.
    pub const fn step_now(&self) -> Step {
        self.step
    }

    /// Ticks so far.
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// The chips of stage 1, 2 or 3 (`stage` 0, 1, 2).
    pub fn chips(&self, stage: usize) -> &[RouterChip] {
        self.chips.get(stage).map_or(&[], |chips| chips)
    }

    /// Request wires at the inputs of a stage; 3 is the PE select.
    pub fn requests(&self, stage: usize) -> Wires {
        self.request.get(stage).copied().unwrap_or_default()
    }

    /// Address or sent bits at the inputs of a stage; 3 is the PE select.
    pub fn data(&self, stage: usize) -> Wires {
        self.data.get(stage).copied().unwrap_or_default()
    }

    /// Acknowledgements and fetched bits at the inputs of a stage, on their
    /// way back; 3 is the PE select.
    pub fn back(&self, stage: usize) -> Wires {
        self.back.get(stage).copied().unwrap_or_default()
    }

    /// Source clusters that know of their path, a word a board.
    pub const fn connected(&self) -> &Wires {
        &self.connected
    }

    /// Starts a `ropen` of every PE that takes part in `pattern`. Paths that
    /// are open are taken down. PEs are told of theirs at tick 30: a
    /// configuration with a shorter `ropen` never tells them.
    ///
    /// # Errors
    /// [`SizeMismatch`] when the pattern is for a machine of another size.
    pub fn ropen(&mut self, pattern: &Pattern) -> Result<(), SizeMismatch> {
        pattern.fits(self.config.size)?;
        self.close();
        let geometry = self.wiring.geometry();
        for (id, target) in pattern.pairs() {
            let slot = geometry.slot(id);
            let cluster = slot as usize >> 4 & (MAX_CLUSTERS - 1);
            let bit = 1 << (cluster & 63);
            let better = match self.config.pick {
                Pick::Lowest => slot < self.forward[cluster],
                Pick::Highest => slot > self.forward[cluster],
            };
            if self.asks[cluster >> 6] & bit == 0 || better {
                self.asks[cluster >> 6] |= bit;
                self.forward[cluster] = slot;
                self.address[cluster] = self.serial(geometry.slot(target));
            }
        }
        self.step = Step::Open(0);
        Ok(())
    }

    /// The 16 address bits that a cluster sends, first at the top: group,
    /// board, corner and the low half of the group again, PE.
    fn serial(&self, target: u16) -> u16 {
        let address = self.wiring.address(target);
        let (corner, group) = (address >> 12 & 3, address >> 8 & 15);
        group << 12 | (address >> 4 & 15) << 8 | (corner << 2 | group & 3) << 4 | address & 15
    }

    /// Starts an `rfetchc` over the open paths: `value` is what each target PE
    /// holds.
    pub fn rfetch(&mut self, width: Width, mut value: impl FnMut(u16) -> u64) {
        self.width = width;
        self.out = [0; MAX_CLUSTERS];
        self.got = [0; MAX_CLUSTERS];
        let targets: Wires = self.request[STAGES];
        for (board, &set) in targets.iter().enumerate() {
            for lane in (0..CLUSTERS).filter(|lane| set >> lane & 1 == 1) {
                let planes = &self.taken[STAGES][board];
                let pe = (0..4).fold(0, |pe, k| pe | (planes[k] >> lane & 1) << k) as usize;
                let slot = (board * CLUSTERS + lane) * CLUSTER_PES + pe;
                self.out[board * CLUSTERS + lane] = value(self.wiring.geometry().id(slot as u16));
            }
        }
        self.step = Step::Transfer(0);
    }

    /// The paths that are open and what came back over each.
    pub fn fetched(&self) -> impl Iterator<Item = (Connection, u64)> + '_ {
        let geometry = self.wiring.geometry();
        (0..MAX_CLUSTERS)
            .filter(|c| self.connected[c >> 6] >> (c & 63) & 1 == 1)
            .map(move |c| {
                let bits = self.address[c];
                let (group, corner) = (bits >> 12, bits >> 6 & 3);
                let address = corner << 12 | group << 8 | (bits >> 8 & 15) << 4 | bits & 15;
                let path = Connection {
                    source: geometry.id(self.forward[c]),
                    target: geometry.id(self.wiring.slot(address)),
                };
                (path, self.got[c])
            })
    }

    fn close(&mut self) {
        self.chips.iter_mut().flatten().for_each(RouterChip::close);
        self.request = [[0; MAX_BOARDS]; STAGES + 1];
        self.data = self.request;
        self.back = self.request;
        self.asks = [0; MAX_BOARDS];
        self.connected = [0; MAX_BOARDS];
    }

    /// One tick. Returns whether the instruction goes on.
    pub fn step(&mut self) -> bool {
        let next = match self.step {
            Step::Idle => return false,
            Step::Open(tick) => {
                self.open_edge(tick);
                (tick + 1 < self.config.costs.ropen).then_some(Step::Open(tick + 1))
            }
            Step::Transfer(tick) => {
                self.transfer_edge(tick);
                let ticks = self.config.costs.rfetch(self.width);
                (tick + 1 < ticks).then_some(Step::Transfer(tick + 1))
            }
        };
        self.ticks += 1;
        self.step = next.unwrap_or_default();
        next.is_some()
    }

    fn open_edge(&mut self, tick: u32) {
        // Stages take their bits from the wires as they were, and arbitrate.
        for ((&first, taken), data) in TAKE.iter().zip(&mut self.taken).zip(&self.data) {
            if (first..first + 4).contains(&tick) {
                for (planes, &data) in taken.iter_mut().zip(data) {
                    *planes = [data, planes[0], planes[1], planes[2]];
                }
            }
        }
        let before = self.data;
        let asked = self.request;
        for stage in (0..STAGES).rev() {
            self.data[stage + 1] = self.forth(stage, &before[stage]);
            self.request[stage + 1] = self.forth(stage, &asked[stage]);
            if tick == TAKE[stage] + 4 {
                let inputs = self.taken[stage].iter().zip(&asked[stage]);
                for (chip, (taken, &asked)) in self.chips[stage].iter_mut().zip(inputs) {
                    chip.open(&wants(taken, asked));
                }
            }
        }
        if tick == 1 {
            self.request[0] = self.asks;
        }
        self.data[0] = [0; MAX_BOARDS];
        for (stage, &first) in SEND.iter().enumerate() {
            if let Some(bit @ 0..4) = tick.checked_sub(first) {
                let shift = 15 - 4 * stage as u32 - bit;
                for cluster in 0..MAX_CLUSTERS {
                    let bit = u64::from(self.address[cluster] >> shift & 1);
                    self.data[0][cluster >> 6] |= bit << (cluster & 63);
                }
                for (data, asks) in self.data[0].iter_mut().zip(&self.asks) {
                    *data &= asks;
                }
            }
        }
        let selected = if tick > SELECTED {
            self.request[STAGES]
        } else {
            [0; MAX_BOARDS]
        };
        self.return_edge(selected);
        if tick == SELECTED + 5 {
            self.connected = self.back[0];
        }
    }

    fn transfer_edge(&mut self, tick: u32) {
        let bits = self.width.bits();
        // A bit put out at one edge is at the source four edges later.
        if let Some(bit) = tick.checked_sub(LOADED + 5).filter(|&bit| bit < bits) {
            for cluster in 0..MAX_CLUSTERS {
                self.got[cluster] |= (self.back[0][cluster >> 6] >> (cluster & 63) & 1) << bit;
            }
        }
        let mut wires = [0; MAX_BOARDS];
        if let Some(bit) = tick.checked_sub(LOADED + 1).filter(|&bit| bit < bits) {
            for cluster in 0..MAX_CLUSTERS {
                wires[cluster >> 6] |= (self.out[cluster] >> bit & 1) << (cluster & 63);
            }
        }
        self.return_edge(wires);
        // The rest: one stage after the other closes.
        if let Some(stage) = tick.checked_sub(bits + LOADED + 5) {
            if let Some(chips) = self.chips.get_mut(stage as usize) {
                chips.iter_mut().for_each(RouterChip::close);
            }
            if let Some(request) = self.request.get_mut(stage as usize) {
                *request = [0; MAX_BOARDS];
            }
        }
    }

    /// Moves everything on its way back by one register.
    fn return_edge(&mut self, wires: Wires) {
        let back = self.back;
        for stage in 0..STAGES {
            self.back[stage] = self.backward(stage, &back[stage + 1]);
        }
        self.back[STAGES] = wires;
    }

    /// Where output `output` of `group` of a chip leads: chip and input of the
    /// next stage, or board and cluster after the last.
    fn leads_to(&self, stage: usize, chip: usize, group: usize, output: usize) -> (usize, u8) {
        match stage {
            0 => (group, self.wiring.stage2_input(output as u8, chip as u8)),
            1 => {
                let order = &self.config.stage3_wires;
                let rank = order
                    .iter()
                    .position(|&w| usize::from(w) == output)
                    .unwrap_or(0);
                (group, (chip * 4 + rank) as u8)
            }
            _ => {
                let (corner, low) = (group >> 2, group & 3);
                let address = corner << 12 | (output << 2 | low) << 8 | chip << 4;
                (chip, (self.wiring.slot(address as u16) >> 4 & 63) as u8)
            }
        }
    }

    fn forth(&self, stage: usize, wires: &Wires) -> Wires {
        self.through(stage, |from, to, out| {
            out[to.0] |= (wires[from.0] >> from.1 & 1) << to.1
        })
    }

    fn backward(&self, stage: usize, wires: &Wires) -> Wires {
        self.through(stage, |from, to, out| {
            out[from.0] |= (wires[to.0] >> to.1 & 1) << from.1
        })
    }

    /// Follows every path through the chips of a stage.
    fn through(&self, stage: usize, carry: impl Fn((usize, u8), (usize, u8), &mut Wires)) -> Wires {
        let mut out = [0; MAX_BOARDS];
        let Some(chips) = self.chips.get(stage) else {
            return out;
        };
        for (number, chip) in chips.iter().enumerate() {
            for (group, outputs) in chip.outputs().iter().enumerate() {
                for (output, input) in outputs.iter().enumerate() {
                    let Some(input) = input else { continue };
                    let (next, at) = self.leads_to(stage, number, group, output);
                    let (from, to) = ((number & 15, input & 63), (next & 15, at & 63));
                    carry(from, to, &mut out);
                }
            }
        }
        out
    }
}

/// The requests for each group, from the four steering bits of each input.
fn wants(planes: &[u64; 4], requests: u64) -> [u64; GROUPS] {
    core::array::from_fn(|group| {
        planes.iter().enumerate().fold(requests, |set, (k, plane)| {
            set & if group >> k & 1 == 1 { *plane } else { !plane }
        })
    })
}

#[cfg(test)]
mod tests;

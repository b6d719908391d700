//! The router of a whole machine: all chips of all stages, one `ropen` at a time.
//!
//! The state is kept as request sets and changed only where a path was made,
//! so a cycle costs a few instructions for each group of stage 2 and a few for
//! each PE connected. It gives what the chips of [`chip`](super::chip), wired
//! up one by one, give; see [`stages`](super::stages).
//!
//! ```text
//!  tflag        stage 1 wires       stage 2 inputs            stage 2 + 3
//!  [cluster] -> [board][group] ---> [corner][group][board] -> first four,
//!  lowest PE    first four          sets of 64 inputs         then one a corner
//! ```

use super::chip::{Personality, first_four, lowest};
use super::config::{ConfigError, Pick, RouterConfig, Wiring};
use super::geometry::{
    CLUSTER_PES, CLUSTERS, GROUPS, MAX_BOARDS, MAX_CLUSTERS, MAX_PES, MachineSize, WIRES,
};
use super::pattern::{Pattern, SizeMismatch};
use super::set::PeSet;
use super::ticks::Width;

/// (board, group) and (group, board) pairs.
const PAIRS: usize = MAX_BOARDS * GROUPS;
const NO_CLUSTER: u8 = u8::MAX;

/// One path of the router, from the PE that asked to the PE it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Connection {
    /// The PE that executed `ropen`.
    pub source: u16,
    /// The PE it named.
    pub target: u16,
}

/// The wires of one stage-1 group: who is on them and where they lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Wires {
    cluster: [u8; WIRES],
    // Group, board and corner of the target: an address without its PE.
    path: [u16; WIRES],
}

impl Wires {
    const IDLE: Self = Self {
        cluster: [NO_CLUSTER; WIRES],
        path: [0; WIRES],
    };
}

/// The global router and the flags of the PE array that drive it.
///
/// About 50 KiB of plain data; nothing is allocated. Addresses are loaded with
/// [`load`](Self::load), then the instructions follow as a program would issue
/// them: [`ropen`](Self::ropen), [`rfetch`](Self::rfetch) or
/// [`rsend`](Self::rsend), [`gor1`](Self::gor1).
///
/// ```
/// use multipc::maspar::{Pattern, Router, RouterConfig, Width};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = RouterConfig::MP1;
/// let mut router = Router::new(&config)?;
/// router.load(&Pattern::bit_reversal(config.size))?;
/// let mut cycles = 0;
/// while router.pending() {
///     router.ropen();
///     router.rfetch(Width::W32, |_path| { /* move a value along it */ });
///     router.gor1();
///     cycles += 1;
/// }
/// assert_eq!(cycles, 70);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Router {
    config: RouterConfig,
    wiring: Wiring,
    stage1: Personality,
    ticks: u64,
    /// Router address that each PE names, by slot of the PE.
    address: [u16; MAX_PES],
    /// PEs with `tflag` 1, by cluster.
    tflag: [u16; MAX_CLUSTERS],
    /// Path that each cluster asks for (valid while it has a `tflag`).
    head: [u16; MAX_CLUSTERS],
    /// Clusters that ask, by (board, group).
    asks: [u64; PAIRS],
    /// Wires out of stage 1, by (board, group).
    wires: [Wires; PAIRS],
    /// Stage-2 inputs that ask, by corner, then (group, board).
    inputs: [[u64; PAIRS]; WIRES],
    /// Stage-2 inputs that are connected right through, by group.
    open: [u64; GROUPS],
}

impl Router {
    /// A router at rest: no `tflag`, every address 0.
    ///
    /// # Errors
    /// [`ConfigError`] names the field that makes no sense.
    pub fn new(config: &RouterConfig) -> Result<Self, ConfigError> {
        let wiring = config.wiring()?;
        Ok(Self {
            config: *config,
            stage1: config.stage1_personality(),
            ticks: 0,
            address: [wiring.address(0); MAX_PES],
            wiring,
            tflag: [0; MAX_CLUSTERS],
            head: [0; MAX_CLUSTERS],
            asks: [0; PAIRS],
            wires: [Wires::IDLE; PAIRS],
            inputs: [[0; PAIRS]; WIRES],
            open: [0; GROUPS],
        })
    }

    /// The structure.
    pub const fn config(&self) -> &RouterConfig {
        &self.config
    }

    /// The machine's size.
    pub const fn size(&self) -> MachineSize {
        self.config.size
    }

    /// Ids, slots and addresses.
    pub const fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// Ticks of the instructions so far.
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Starts counting ticks from 0.
    pub fn reset_ticks(&mut self) {
        self.ticks = 0;
    }

    /// Loads the pattern: each PE's address, and its enable flag as `tflag`.
    ///
    /// # Errors
    /// [`SizeMismatch`] when the pattern is for
    /// a machine of another size.
    pub fn load(&mut self, pattern: &Pattern) -> Result<(), SizeMismatch> {
        self.set_addresses(pattern)?;
        self.set_tflags(pattern.enabled());
        Ok(())
    }

    /// Loads the addresses alone and clears every `tflag`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn set_addresses(&mut self, pattern: &Pattern) -> Result<(), SizeMismatch> {
        pattern.fits(self.size())?;
        let geometry = self.wiring.geometry();
        for (id, &target) in pattern.targets().iter().enumerate() {
            let slot = geometry.slot(id as u16) as usize & (MAX_PES - 1);
            self.address[slot] = self.wiring.address(geometry.slot(target));
        }
        self.tflag = [0; MAX_CLUSTERS];
        self.settle();
        Ok(())
    }

    /// Sets the `tflag` of exactly the PEs in `set`; ids the machine lacks are
    /// ignored. Takes open paths down.
    pub fn set_tflags(&mut self, set: &PeSet) {
        self.tflag = [0; MAX_CLUSTERS];
        let pes = self.size().pes();
        for id in set.iter().take_while(|&id| (id as usize) < pes) {
            let slot = self.wiring.geometry().slot(id);
            self.tflag[slot as usize >> 4 & (MAX_CLUSTERS - 1)] |= 1 << (slot & 15);
        }
        self.settle();
    }

    /// The same by cluster: bit `p` of word `c` is PE `p` of cluster `c`
    /// (slots `16 c + p`).
    pub(crate) fn set_tflags_by_cluster(&mut self, flags: &[u16; MAX_CLUSTERS]) {
        self.tflag = *flags;
        let clusters = self.size().clusters();
        for flags in self.tflag.iter_mut().skip(clusters) {
            *flags = 0;
        }
        self.settle();
    }

    /// Whether a PE's `tflag` is 1.
    pub fn tflag(&self, id: u16) -> bool {
        let slot = self.wiring.geometry().slot(id);
        self.tflag[slot as usize >> 4 & (MAX_CLUSTERS - 1)] >> (slot & 15) & 1 == 1
    }

    /// Whether any `tflag` is 1, without its ticks.
    pub fn pending(&self) -> bool {
        self.tflag.iter().any(|&flags| flags != 0)
    }

    /// `gor1`: the OR of all `tflag`s. Its ticks include the branch and the
    /// count: the rest of one time round the loop.
    pub fn gor1(&mut self) -> bool {
        self.ticks += u64::from(self.config.costs.rest);
        self.pending()
    }

    /// The PE that a cluster puts forward.
    #[inline]
    fn pick(&self, flags: u16) -> u32 {
        match self.config.pick {
            Pick::Lowest => flags.trailing_zeros() & 15,
            Pick::Highest => flags.leading_zeros() ^ 15,
        }
    }

    /// Rebuilds every request set from the flags and addresses.
    fn settle(&mut self) {
        self.asks = [0; PAIRS];
        self.wires = [Wires::IDLE; PAIRS];
        self.inputs = [[0; PAIRS]; WIRES];
        self.open = [0; GROUPS];
        for cluster in 0..MAX_CLUSTERS {
            let flags = self.tflag[cluster];
            if flags != 0 {
                let pe = self.pick(flags) as usize;
                let path = self.address[cluster * CLUSTER_PES + pe] >> 4;
                self.head[cluster] = path;
                let pair = (cluster >> 6) * GROUPS + (path as usize >> 6 & 15);
                self.asks[pair] |= 1 << (cluster & 63);
            }
        }
        for pair in 0..PAIRS {
            if self.asks[pair] != 0 {
                self.connect_wires(pair);
            }
        }
    }

    /// Puts the winners of one stage-1 group on its wires.
    #[inline]
    fn connect_wires(&mut self, pair: usize) {
        let board = pair / GROUPS;
        let old = self.wires[pair & (PAIRS - 1)];
        let mut new = Wires::IDLE;
        let outputs = self.stage1.outputs(self.asks[pair & (PAIRS - 1)]);
        for wire in 0..WIRES {
            let input = 1u64 << self.wiring.stage2_input(wire as u8, board as u8);
            if old.cluster[wire] != NO_CLUSTER {
                *self.input_set(old.path[wire]) &= !input;
            }
            if let Some(cluster) = outputs[wire] {
                let path = self.head[(board * CLUSTERS + cluster as usize) & (MAX_CLUSTERS - 1)];
                new.cluster[wire] = cluster;
                new.path[wire] = path;
                *self.input_set(path) |= input;
            }
        }
        self.wires[pair & (PAIRS - 1)] = new;
    }

    #[inline]
    fn input_set(&mut self, path: u16) -> &mut u64 {
        &mut self.inputs[path as usize & 3][path as usize >> 2 & (PAIRS - 1)]
    }

    /// `ropen`: tries to connect every PE whose `tflag` is 1, and takes 42
    /// ticks. Paths hold until [`rclose`](Self::rclose), which
    /// [`rfetch`](Self::rfetch) and [`rsend`](Self::rsend) include.
    pub fn ropen(&mut self) {
        self.ticks += u64::from(self.config.costs.ropen);
        self.arbitrate();
    }

    /// Stages 2 and 3 of all chips; stage 1 is kept up to date.
    #[inline]
    fn arbitrate(&mut self) {
        if self.config.stage3_wires == [0, 1, 2, 3] {
            let [a, b, c, d] = &self.inputs;
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
                    let corners = [0, 1, 2, 3].map(|corner: usize| self.inputs[corner][pair]);
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

    /// How many PEs are connected.
    pub fn connected(&self) -> u32 {
        self.open.iter().map(|set| set.count_ones()).sum()
    }

    /// The paths that are open.
    pub fn connections(&self) -> impl Iterator<Item = Connection> + '_ {
        self.open
            .iter()
            .enumerate()
            .flat_map(move |(group, &open)| {
                let mut left = open;
                core::iter::from_fn(move || {
                    if left == 0 {
                        return None;
                    }
                    let input = left.trailing_zeros() as u8;
                    left &= left - 1;
                    Some(self.connection(group, input))
                })
            })
    }

    fn connection(&self, group: usize, input: u8) -> Connection {
        let (wire, board) = self.wiring.stage2_source(input);
        let board = board as usize;
        let cluster = self.wires[(board * GROUPS + group) & (PAIRS - 1)].cluster[wire as usize & 3];
        let cluster = (board * CLUSTERS + cluster as usize) & (MAX_CLUSTERS - 1);
        let slot = cluster * CLUSTER_PES + self.pick(self.tflag[cluster]) as usize;
        let geometry = self.wiring.geometry();
        Connection {
            source: geometry.id(slot as u16),
            target: geometry.id(self.wiring.slot(self.address[slot & (MAX_PES - 1)])),
        }
    }

    /// `rfetchc`: moves a value of `width` from the target to the source of
    /// each open path (`carry` does it), then closes: 17 ticks and one a bit.
    /// Returns how many PEs were served.
    pub fn rfetch(&mut self, width: Width, carry: impl FnMut(Connection)) -> u32 {
        self.ticks += u64::from(self.config.costs.rfetch(width));
        self.connections().for_each(carry);
        self.rclose()
    }

    /// `rsendc`: the same from the source to the target.
    #[doc(alias = "rsendc")]
    pub fn rsend(&mut self, width: Width, carry: impl FnMut(Connection)) -> u32 {
        self.rfetch(width, carry)
    }

    /// `rclose`: takes all paths down and clears the `tflag` of the PEs that
    /// had one. Returns how many they were. Its ticks are part of `rfetchc`.
    pub fn rclose(&mut self) -> u32 {
        self.close(|_slot| {})
    }

    /// One router cycle without ticks: opens, tells the slot of each PE
    /// served, closes. Returns how many PEs were served.
    #[inline]
    pub(crate) fn cycle(&mut self, served: impl FnMut(u16)) -> u32 {
        self.arbitrate();
        self.close(served)
    }

    #[inline]
    fn close(&mut self, mut served: impl FnMut(u16)) -> u32 {
        let mut count = 0;
        // Stage-1 groups whose requests change; wires must be dealt anew.
        let mut stale = [0u16; MAX_BOARDS];
        for group in 0..GROUPS {
            let mut left = self.open[group];
            self.open[group] = 0;
            while left != 0 {
                let input = left.trailing_zeros() as u8;
                left &= left - 1;
                count += 1;
                let (wire, board) = self.wiring.stage2_source(input);
                let (wire, board) = (wire as usize & 3, board as usize & 15);
                let pair = board * GROUPS + group;
                let wires = &mut self.wires[pair];
                let old = wires.path[wire];
                let lane = wires.cluster[wire] & 63;
                let cluster = board * CLUSTERS + lane as usize;

                let flags = self.tflag[cluster];
                let pe = match self.config.pick {
                    Pick::Lowest => flags.trailing_zeros() & 15,
                    Pick::Highest => flags.leading_zeros() ^ 15,
                };
                served((cluster * CLUSTER_PES) as u16 | pe as u16);
                let flags = flags & !(1 << pe);
                self.tflag[cluster] = flags;
                if flags != 0 {
                    let pe = match self.config.pick {
                        Pick::Lowest => flags.trailing_zeros() & 15,
                        Pick::Highest => flags.leading_zeros() ^ 15,
                    };
                    let path = self.address[cluster * CLUSTER_PES + pe as usize] >> 4;
                    self.head[cluster] = path;
                    let next = path as usize >> 6 & 15;
                    if next == group {
                        // Same group, so the same wire: only its goal moves.
                        wires.path[wire] = path;
                        let bit = 1u64 << (input & 63);
                        *self.input_set(old) &= !bit;
                        *self.input_set(path) |= bit;
                        continue;
                    }
                    self.asks[board * GROUPS + next] |= 1 << lane;
                    stale[board] |= 1 << next;
                }
                self.asks[pair] &= !(1 << lane);
                stale[board] |= 1 << group;
            }
        }
        for board in 0..MAX_BOARDS {
            let mut left = stale[board];
            while left != 0 {
                let group = left.trailing_zeros() as usize & 15;
                left &= left - 1;
                self.connect_wires(board * GROUPS + group);
            }
        }
        count
    }
}

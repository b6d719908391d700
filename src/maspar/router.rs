//! The router of a whole machine: all chips of all stages, one `ropen` at a time.
//!
//! The state is kept as request sets and changed only where a path was made,
//! so a cycle costs a few instructions for each group of stage 2 and a few for
//! each PE connected. It gives what the chips of [`chip`](super::chip), wired
//! up one by one, give; see [`stages`](super::stages).
//!
//! ```text
//!  tflag        stage 1 wires       stage 2 inputs            stage 2 + 3
//!  [cluster] -> [board][group] ---> [corner, group, board] -> first four,
//!  lowest PE    first four          sets of 64 inputs         then one a corner
//! ```

mod arbitration;

use self::arbitration::lead;
use super::chip::Personality;
use super::config::{ConfigError, Pick, RouterConfig, Wiring};
use super::geometry::{CLUSTER_PES, GROUPS, MAX_BOARDS, MAX_CLUSTERS, MAX_PES, MachineSize, WIRES};
use super::pattern::{Pattern, SizeMismatch};
use super::set::PeSet;
use super::ticks::Width;

/// (board, group) and (group, board) pairs.
const PAIRS: usize = MAX_BOARDS * GROUPS;
/// (corner, group, board): the ways into target clusters.
const PATHS: usize = WIRES * PAIRS;
const NOBODY: u16 = u16::MAX;

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
    // PEs are numbered by *rank*: board, cluster, priority in the cluster.
    // That is the slot, with the PE's bits inverted when the highest leads.
    flip: u16,
    /// Router address that each PE names, by rank.
    address: [u16; MAX_PES],
    /// PEs with `tflag` 1, by cluster; bit 0 leads.
    tflag: [u16; MAX_CLUSTERS],
    /// Path that each cluster asks for (valid while it has a `tflag`).
    head: [u16; MAX_CLUSTERS],
    /// Clusters that ask, by (board, group).
    asks: [u64; PAIRS],
    /// The cluster on each wire into stage 2, by (group, input).
    who: [u16; MAX_CLUSTERS],
    /// The path that wire asks for: an address without its PE.
    path: [u16; MAX_CLUSTERS],
    /// Stage-2 inputs that ask, by path.
    inputs: [u64; PATHS],
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
            flip: match config.pick {
                Pick::Lowest => 0,
                Pick::Highest => 15,
            },
            address: [wiring.address(0); MAX_PES],
            wiring,
            tflag: [0; MAX_CLUSTERS],
            head: [0; MAX_CLUSTERS],
            asks: [0; PAIRS],
            who: [NOBODY; MAX_CLUSTERS],
            path: [0; MAX_CLUSTERS],
            inputs: [0; PATHS],
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
            let rank = (geometry.slot(id as u16) ^ self.flip) as usize & (MAX_PES - 1);
            self.address[rank] = self.wiring.address(geometry.slot(target));
        }
        self.tflag = [0; MAX_CLUSTERS];
        self.settle();
        Ok(())
    }

    /// Loads one PE's address; bits of either id beyond the machine's are
    /// ignored. It counts from the next [`set_tflags`](Self::set_tflags) on.
    pub fn set_address(&mut self, source: u16, target: u16) {
        let rank = self.rank(source) as usize & (MAX_PES - 1);
        self.address[rank] = self.wiring.address(self.wiring.geometry().slot(target));
    }

    /// Sets the `tflag` of exactly the PEs in `set`; ids the machine lacks are
    /// ignored. Takes open paths down.
    pub fn set_tflags(&mut self, set: &PeSet) {
        let size = self.size();
        if *set == PeSet::first(size.pes()) {
            self.tflag = [0; MAX_CLUSTERS];
            for flags in self.tflag.iter_mut().take(size.clusters()) {
                *flags = u16::MAX;
            }
        } else {
            self.tflag = [0; MAX_CLUSTERS];
            for (id, &word) in (0..size.pes() as u16).step_by(64).zip(set.words()) {
                let mut left = word;
                while left != 0 {
                    let rank = self.rank(id | left.trailing_zeros() as u16);
                    left &= left - 1;
                    self.tflag[rank as usize >> 4 & (MAX_CLUSTERS - 1)] |= 1 << (rank & 15);
                }
            }
        }
        self.settle();
    }

    /// The same by cluster: bit `p` of word `c` is PE `p` of cluster `c`
    /// (slot `16 c + p`).
    pub(crate) fn set_tflags_by_cluster(&mut self, flags: &[u16; MAX_CLUSTERS]) {
        let clusters = self.size().clusters();
        self.tflag = *flags;
        for (i, flags) in self.tflag.iter_mut().enumerate() {
            if i >= clusters {
                *flags = 0;
            } else if self.flip != 0 {
                *flags = flags.reverse_bits();
            }
        }
        self.settle();
    }

    #[inline]
    fn rank(&self, id: u16) -> u16 {
        self.wiring.geometry().slot(id) ^ self.flip
    }

    /// Whether a PE's `tflag` is 1.
    pub fn tflag(&self, id: u16) -> bool {
        let rank = self.rank(id);
        self.tflag[rank as usize >> 4 & (MAX_CLUSTERS - 1)] >> (rank & 15) & 1 == 1
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

    /// `ropen`: tries to connect every PE whose `tflag` is 1, and takes 42
    /// ticks. Paths hold until [`rclose`](Self::rclose), which
    /// [`rfetch`](Self::rfetch) and [`rsend`](Self::rsend) include.
    pub fn ropen(&mut self) {
        self.ticks += u64::from(self.config.costs.ropen);
        self.arbitrate();
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
        let at = (group << 6 | input as usize) & (MAX_CLUSTERS - 1);
        let cluster = self.who[at] as usize & (MAX_CLUSTERS - 1);
        let rank = cluster * CLUSTER_PES + lead(self.tflag[cluster]);
        let geometry = self.wiring.geometry();
        Connection {
            source: geometry.id(rank as u16 ^ self.flip),
            target: geometry.id(self.wiring.slot(self.address[rank])),
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
}

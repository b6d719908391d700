//! The driver of one board: its state, and the calls that touch no hardware.

use bitvec::BitArr;

use super::config::{Acknowledge, Model, PutConfig, ReportScan};
use super::error::{AttachError, MAX_NODES, SapError};
use super::event::Fault;
use super::layout::Layout;
use super::policy::Policy;
use super::port::{DmaMemory, RegisterPort};
use super::revision::Capabilities;
use super::ring::SendRing;
use super::sap::{MiRange, Sap, SapTable};

/// What the driver touches of a board: registers and the memory behind them.
pub trait Hardware: RegisterPort + DmaMemory {}

impl<T: RegisterPort + DmaMemory + ?Sized> Hardware for T {}

/// A set of nodes.
pub(crate) type NodeSet = BitArr!(for MAX_NODES as usize, in u32);

/// Where the driver stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Phase {
    /// Not started, or ended.
    #[default]
    Closed,
    /// The chip is started; its first interrupts are being ignored.
    Starting,
    /// Pages may be posted.
    Running,
    /// Stopped after a fault, until it is ended and started again.
    Stopped(Fault),
}

/// Position of an entry among all entries ever posted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sequence(pub(crate) u64);

impl Sequence {
    /// The entry of this number; the first one after a start has 0.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Its number, from 0 at the start of the driver.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Counters since the driver was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Stats {
    /// Entries posted.
    pub posted: u64,
    /// Pages acknowledged as sent.
    pub sent: u64,
    /// Reports taken.
    pub received: u64,
    /// Acknowledgements written for pages, and for messages, weight by weight.
    pub acknowledged: [u64; 2],
    /// Pages and messages whose identifier no SAP owns.
    pub unclaimed: u64,
    /// Interrupts without a cause.
    pub spurious: u32,
    /// Faults reported.
    pub faults: u32,
}

/// What stays of the configuration once the board is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Settings {
    pub(crate) node: u16,
    pub(crate) nodes: u16,
    pub(crate) model: Model,
    pub(crate) capabilities: Capabilities,
    pub(crate) count_packets: bool,
    pub(crate) acknowledge: Acknowledge,
    pub(crate) scan: ReportScan,
    pub(crate) reserve: u32,
    pub(crate) policy: Policy,
    pub(crate) recovery: bool,
    pub(crate) bounce: Option<u32>,
}

impl Settings {
    /// The value of STATUS_MASK.
    pub(crate) const fn mask(&self) -> u32 {
        if self.capabilities.config_reads {
            self.model.mask()
        } else {
            // The line has to tell what must not be read.
            Model::Interrupt.mask()
        }
    }
}

impl From<&PutConfig<'_>> for Settings {
    fn from(config: &PutConfig<'_>) -> Self {
        Self {
            node: config.node,
            nodes: config.nodes,
            model: config.model,
            capabilities: config.capabilities,
            count_packets: config.count_packets,
            acknowledge: config.acknowledge,
            scan: config.scan,
            policy: config.policy,
            recovery: config.recovery,
            reserve: config.reserve.max(config.capabilities.reserve()),
            bounce: config.bounce,
        }
    }
}

/// The driver of one board.
///
/// It owns no hardware: each call that needs some is lent it. See the
/// [module](super) for the rings and who owns what.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Put {
    pub(crate) phase: Phase,
    pub(crate) settings: Settings,
    pub(crate) layout: Layout,
    pub(crate) ring: SendRing,
    /// Next report to take, and the value of LMI_CURRENT.
    pub(crate) report: u32,
    pub(crate) report_written: u32,
    /// Acknowledged to the chip and not yet matched with an entry: pages, and
    /// messages.
    pub(crate) credit: [u16; 2],
    /// Entries retired since the start.
    pub(crate) retired: u64,
    /// The page outstanding was acknowledged on the guess that it has left.
    pub(crate) presumed: bool,
    /// Bus Master is to be set again.
    pub(crate) rearm: bool,
    /// The nodes that are reached by HSL.
    #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
    pub(crate) hsl: NodeSet,
    pub(crate) saps: SapTable,
    pub(crate) stats: Stats,
}

impl Default for Put {
    fn default() -> Self {
        Self::new()
    }
}

impl Put {
    /// A driver that is not started.
    pub fn new() -> Self {
        Self {
            phase: Phase::Closed,
            settings: Settings::default(),
            layout: Layout::new(0, 2, 0),
            ring: SendRing::new(2),
            report: 0,
            report_written: 0,
            credit: [0; 2],
            retired: 0,
            presumed: false,
            rearm: false,
            hsl: NodeSet::ZERO,
            saps: SapTable::default(),
            stats: Stats::default(),
        }
    }

    /// Where the driver stands.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Counters.
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// This node, while the driver is open.
    #[doc(alias = "put_get_node")]
    pub const fn node(&self) -> Option<u16> {
        match self.phase {
            Phase::Closed => None,
            _ => Some(self.settings.node),
        }
    }

    /// Nodes of the machine.
    pub const fn nodes(&self) -> u16 {
        self.settings.nodes
    }

    /// Interrupts or polling.
    pub const fn model(&self) -> Model {
        self.settings.model
    }

    /// Entries that can be posted now, less the reserve of the configuration.
    #[doc(alias = "put_get_lpe_free")]
    pub const fn lpe_free(&self) -> u32 {
        self.ring.free().saturating_sub(self.settings.reserve)
    }

    /// Entries that were retired since the start: every entry below this was
    /// read by the chip, and those with NOS have left.
    pub const fn retired(&self) -> Sequence {
        Sequence(self.retired)
    }

    /// The entry that will be posted next.
    pub const fn next_sequence(&self) -> Sequence {
        Sequence(self.retired + self.ring.used() as u64)
    }

    /// Whether the page at `entry`, posted without NOS, is known to have left:
    /// the chip has gone beyond the *following* entry.
    ///
    /// That LPE_CURRENT has moved past the entry itself says only that the
    /// chip began to read it.
    pub const fn has_left(&self, entry: Sequence) -> bool {
        // One page at a time: each is counted when it has left.
        let behind = if self.settings.capabilities.one_page {
            0
        } else {
            1
        };
        self.retired > entry.0.saturating_add(behind)
    }

    pub(crate) const fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Closed)
    }

    /// Registers a user of the board in the first free slot.
    ///
    /// # Errors
    /// [`SapError::NotOpen`], or [`SapError::Full`] when all six are taken.
    #[doc(alias = "put_register_SAP")]
    pub fn register_sap(&mut self) -> Result<Sap, SapError> {
        self.open()?;
        self.saps.register().ok_or(SapError::Full)
    }

    /// Takes a user off the board and frees its message identifiers.
    ///
    /// # Errors
    /// [`SapError::NotOpen`] or [`SapError::Unknown`].
    #[doc(alias = "put_unregister_SAP")]
    pub fn unregister_sap(&mut self, sap: Sap) -> Result<(), SapError> {
        self.open()?;
        self.saps.unregister(sap)
    }

    /// Gives a SAP `n` message identifiers, a power of 2, starting at a
    /// multiple of `n`; 0 gives none and succeeds.
    ///
    /// The first range of a board starts at 0, later ones at the first fit
    /// after an existing range; the space below the first range is not used
    /// again before all are gone.
    ///
    /// # Errors
    /// [`AttachError`], with the offending value.
    #[doc(alias = "put_attach_mi_range")]
    pub fn attach_mi_range(&mut self, sap: Sap, n: u32) -> Result<(), AttachError> {
        self.open()?;
        self.saps.attach(sap, n)
    }

    /// The message identifiers of a SAP, if it has any.
    ///
    /// # Errors
    /// [`SapError::NotOpen`] or [`SapError::Unknown`].
    #[doc(alias = "put_get_mi_start")]
    pub fn mi_range(&self, sap: Sap) -> Result<Option<MiRange>, SapError> {
        self.open()?;
        self.saps.range(sap)
    }

    fn open(&self) -> Result<(), SapError> {
        if self.is_open() {
            Ok(())
        } else {
            Err(SapError::NotOpen)
        }
    }

    /// Whether `node` is reached by HSL; `None` when there is no such node.
    #[doc(alias = "set_mode_read")]
    #[doc(alias = "remote_hsl")]
    pub fn on_hsl(&self, node: u16) -> Option<bool> {
        if node >= self.settings.nodes {
            return None;
        }
        self.hsl.get(usize::from(node)).as_deref().copied()
    }

    /// Says whether `node` is reached by HSL; false when there is no such
    /// node.
    #[doc(alias = "set_mode_write")]
    pub fn set_on_hsl(&mut self, node: u16, on: bool) -> bool {
        if node >= self.settings.nodes {
            return false;
        }
        match self.hsl.get_mut(usize::from(node)) {
            Some(mut reached) => {
                *reached = on;
                true
            }
            None => false,
        }
    }

    /// The ring invariants.
    pub(crate) fn check(&self) {
        debug_assert!(self.ring.is_ordered(), "{:?}", self.ring);
        debug_assert!(self.report < self.layout.entries());
    }
}

//! What the driver is told at the start.

use super::emulate;
use super::error::{InitError, MAX_ENTRIES, MAX_NODES, TABLE_LEN};
use super::layout::Layout;
use super::policy::Policy;
use super::revision::Capabilities;
use super::sap::MI_LIMIT;

/// How the driver learns of pages that left and messages that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Model {
    /// Both raise INTA#; the handler is [`Put::on_interrupt`](super::Put::on_interrupt).
    #[default]
    Interrupt,
    /// Only errors raise INTA#; [`Put::poll`](super::Put::poll) finds the rest.
    Polling,
}

impl Model {
    /// The value of STATUS_MASK.
    pub const fn mask(self) -> u32 {
        match self {
            Self::Interrupt => 0xC0FB_F0FF,
            Self::Polling => 0x00FB_F0FF,
        }
    }
}

/// How many pages or messages one write to STATUS acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Acknowledge {
    /// One, as the driver of the record does.
    #[default]
    Single,
    /// The largest of 4096, 256, 16 and 1 that the counter has reached.
    Weighted,
}

/// When the reports are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReportScan {
    /// Whenever LMI_NEW has moved. Chosen: silent reports (LMI without NOR)
    /// would otherwise stay unseen in the polling model.
    #[default]
    Always,
    /// Only while STATUS says PAGE_RECEIVED, as the driver of the record does.
    WhenCounted,
}

/// What [`Put::begin`](super::Put::begin) is told.
///
/// The defaults are the plain build of the record: rings of 1024 entries,
/// 65,536 packet counters, 16 nodes, interrupt model, one second of settling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct PutConfig<'t> {
    /// Physical address of the tables, a multiple of 16; the LME, the LMR and
    /// the packet counters follow each other from here
    /// ([`table_bytes`](Self::table_bytes)).
    pub base: u32,
    /// Entries of the LME, and of the LMR: 2..=65,536, of which one less is
    /// usable.
    pub entries: u32,
    /// Packet counters, one a message identifier from 0: 0..=2^24.
    #[doc(alias = "LRM")]
    pub counters: u32,
    /// This node.
    pub node: u16,
    /// Nodes of the machine: 1..=256. Chosen: 256 where the record's tables
    /// have 16 or 4, so that the 128-processor machine fits.
    pub nodes: u16,
    /// The configuration chain of the board's router, 258 bytes; without it
    /// no node is reached by HSL.
    pub table: Option<&'t [u8]>,
    /// Interrupts or polling.
    pub model: Model,
    /// What the silicon can do.
    pub capabilities: Capabilities,
    /// Count packets (COMMAND bit 9, flag LRM): needed by adaptive routing and
    /// composed messages. Chosen: off, as the driver of the record.
    #[doc(alias = "LRM_ENABLE")]
    pub count_packets: bool,
    /// Acknowledge weights.
    pub acknowledge: Acknowledge,
    /// When reports are looked at.
    pub scan: ReportScan,
    /// Entries that [`Put::lpe_free`](super::Put::lpe_free) keeps back. Chosen:
    /// 0; the record keeps [`RECORD_RESERVE`] for the short message
    /// emulation of the first run, which the ideal chip does not need. Silicon
    /// that needs several entries a page raises it to that.
    pub reserve: u32,
    /// How long interrupts are ignored after the start, in microseconds.
    pub settle_us: u32,
    /// What register 00h must hold; `None` skips the test.
    pub identity: Option<u32>,
    /// What is done about errors.
    pub policy: Policy,
    /// A layer above sends lost messages again, so that link errors do not
    /// stop the board; `Reliable` sets it itself.
    #[doc(alias = "AVOID_LINK_ERROR")]
    pub recovery: bool,
    /// Physical address, a multiple of 4, of [`BOUNCE_BYTES`] of memory that the
    /// driver may use as it likes. Needed to post pages that silicon without
    /// [`Capabilities::unaligned_local`] cannot read in place.
    #[doc(alias = "MISALIGN")]
    pub bounce: Option<u32>,
}

/// Entries that the driver of the record keeps back in its count of free ones.
pub const RECORD_RESERVE: u32 = 7;

/// Bytes of the bounce buffer, as in the record.
pub const BOUNCE_BYTES: u32 = 65_544;

impl Default for PutConfig<'_> {
    fn default() -> Self {
        Self {
            base: 0,
            entries: 1024,
            counters: 65_536,
            node: 0,
            nodes: 16,
            table: None,
            model: Model::default(),
            capabilities: Capabilities::default(),
            count_packets: false,
            acknowledge: Acknowledge::default(),
            scan: ReportScan::default(),
            reserve: 0,
            settle_us: 1_000_000,
            identity: Some(0),
            policy: Policy::default(),
            recovery: false,
            bounce: None,
        }
    }
}

impl<'t> PutConfig<'t> {
    /// The defaults, for `node` with its tables at `base` and its router's
    /// configuration chain.
    pub fn new(node: u16, base: u32, table: &'t [u8]) -> Self {
        Self {
            node,
            base,
            table: Some(table),
            ..Self::default()
        }
    }

    /// The same without the routing table, for whoever keeps that apart.
    pub(crate) fn without_table(&self) -> PutConfig<'static> {
        let Self {
            base,
            entries,
            counters,
            node,
            nodes,
            table: _,
            model,
            capabilities,
            count_packets,
            acknowledge,
            scan,
            reserve,
            settle_us,
            identity,
            policy,
            recovery,
            bounce,
        } = *self;
        PutConfig {
            base,
            entries,
            counters,
            node,
            nodes,
            table: None,
            model,
            capabilities,
            count_packets,
            acknowledge,
            scan,
            reserve,
            settle_us,
            identity,
            policy,
            recovery,
            bounce,
        }
    }

    /// Bytes of the three tables.
    pub const fn table_bytes(&self) -> u64 {
        Layout::size(self.entries, self.counters)
    }

    /// Everything but the hardware.
    pub(crate) fn check<E>(&self) -> Result<Layout, InitError<E>> {
        let Self {
            base,
            entries,
            counters,
            node,
            nodes,
            ..
        } = *self;
        if !(2..=MAX_ENTRIES).contains(&entries) {
            return Err(InitError::Entries { entries });
        }
        if counters > MI_LIMIT {
            return Err(InitError::Counters { counters });
        }
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(InitError::Nodes { nodes });
        }
        if node >= nodes {
            return Err(InitError::OwnNode { node, nodes });
        }
        if base % 16 != 0 {
            return Err(InitError::UnalignedRing { base });
        }
        let size = self.table_bytes();
        if u64::from(base) + size > 1 << 32 {
            return Err(InitError::RingPastEnd { base, size });
        }
        if let Some(table) = self.table
            && table.len() != TABLE_LEN
        {
            return Err(InitError::TableLength { len: table.len() });
        }
        if self.count_packets && !self.capabilities.packet_counters {
            return Err(InitError::BrokenCounters);
        }
        if let Some(bounce) = self.bounce
            && (bounce % 4 != 0 || bounce.checked_add(BOUNCE_BYTES).is_none())
        {
            return Err(InitError::BadBounce { bounce });
        }
        if !self.capabilities.short_messages {
            let needed = emulate::counters_needed(nodes);
            if nodes > emulate::MAX_NODES {
                return Err(InitError::EmulatedNodes { nodes });
            }
            if counters < needed {
                return Err(InitError::EmulationRoom { counters, needed });
            }
            if entries <= emulate::MESSAGES {
                return Err(InitError::EmulationEntries { entries });
            }
        }
        Ok(Layout::new(base, entries, counters))
    }
}

//! Choices of a cluster.

use crate::ddc::Revision;
use crate::fabric::labelling::Method;
use crate::fabric::{BoardConfig, MachineConfig};
use crate::put::{Model, WriterConfig};

/// What a cluster is made of, and how its drivers run.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ClusterConfig {
    /// Clocks and stepping.
    pub machine: MachineConfig,
    /// Every board.
    pub board: BoardConfig,
    /// How the routers' tables are made.
    pub method: Method,
    /// Interrupts or polling. Default polling.
    pub model: Model,
    /// Physical address of the driver's tables, a multiple of 16. Default
    /// 0x1000.
    pub tables_at: u32,
    /// Entries of each ring. Default 1024, as the plain build of the record.
    pub entries: u32,
    /// Packet counters. Default 65,536, as the plain build of the record.
    pub counters: u32,
    /// How long first interrupts are ignored, microseconds. Default 1 s, as
    /// the record; idle time costs the simulation nothing.
    pub settle_us: u32,
    /// The writers.
    pub writer: WriterConfig,
    /// Errata of every chip, which every driver works around. Errata in
    /// [`board`](Self::board) are the chips' alone: the drivers do not know.
    pub revision: Revision,
    /// Physical address of the drivers' bounce buffers, a multiple of 4. `None`,
    /// the default: behind the tables, where the revision needs one.
    pub bounce_at: Option<u32>,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self {
            machine: MachineConfig::default(),
            board: BoardConfig::default(),
            method: Method::default(),
            model: Model::Polling,
            tables_at: 0x1000,
            entries: 1024,
            counters: 65_536,
            settle_us: 1_000_000,
            writer: WriterConfig::default(),
            revision: Revision::IDEAL,
            bounce_at: None,
        }
    }
}

//! Two drivers on the two boards of the rig.
#![allow(dead_code)]

use std::convert::Infallible;

use embedded_hal::delay::DelayNs;
use multipc::ddc::{DdcConfig, ErrataRates, Revision};
use multipc::mem::OutOfMemory;
use multipc::pci::BridgeConfig;
use multipc::put::{
    Capabilities, DmaMemory, Event, Model, Put, PutConfig, RegisterPort, Writer, WriterConfig,
};
use multipc::remote::{Arrival, Flags, Progress, RemoteWrite, Transfer};

use crate::ddc_rig::Rig;

pub const TABLE: [u8; 258] = [0; 258];
pub const TABLES: u32 = 0x1000;
pub const BOUNCE: u32 = 0x1_0000;
pub const NEAR: u32 = 0x3_0000;
pub const FAR: u32 = 0x6_0000;

/// One board of the rig, lent to its driver.
pub struct Board<'a> {
    pub rig: &'a mut Rig,
    pub board: usize,
}

pub fn at(rig: &mut Rig, board: usize) -> Board<'_> {
    Board { rig, board }
}

impl RegisterPort for Board<'_> {
    type Error = Infallible;
    fn read(&mut self, offset: u8) -> Result<u32, Infallible> {
        Ok(self.rig.read(self.board, offset))
    }
    fn write(&mut self, offset: u8, value: u32) -> Result<(), Infallible> {
        self.rig.write(self.board, offset, value);
        Ok(())
    }
    fn inta(&mut self) -> Option<bool> {
        Some(self.rig.boards[self.board].intr())
    }
}

impl DmaMemory for Board<'_> {
    type Error = OutOfMemory;
    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), OutOfMemory> {
        let memory = &self.rig.boards[self.board].memory;
        bytes.copy_from_slice(memory.slice(addr, bytes.len())?);
        Ok(())
    }
    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), OutOfMemory> {
        let memory = &mut self.rig.boards[self.board].memory;
        memory.slice_mut(addr, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }
}

impl DelayNs for Board<'_> {
    fn delay_ns(&mut self, ns: u32) {
        self.rig.run(u64::from(ns / 30));
    }
}

/// The spurious interrupts of the start are over after this many microseconds
/// of the rig.
const SETTLE_US: u32 = 100;

/// Chips of this revision; their start is short enough for a test.
pub fn chip(revision: Revision) -> DdcConfig {
    let mut config = DdcConfig::default();
    config.revision = revision;
    config.errata = quick(ErrataRates::default());
    config
}

fn quick(mut rates: ErrataRates) -> ErrataRates {
    rates.spurious_window = 2_000;
    rates.spurious_period = 300;
    rates
}

pub fn config(node: u16, known: Revision) -> PutConfig<'static> {
    let mut config = PutConfig::new(node, TABLES, &TABLE);
    config.entries = 32;
    config.counters = 1024;
    config.settle_us = SETTLE_US;
    config.nodes = 2;
    config.bounce = Some(BOUNCE);
    config.capabilities = Capabilities::from_errata(known);
    config
}

/// Two boards with chips of revision `silicon`, started by drivers that know of
/// the errata `known`.
pub fn pair(silicon: Revision, known: Revision) -> (Rig, [Put; 2]) {
    pair_with(silicon, known, |_| ())
}

pub fn pair_with(
    silicon: Revision,
    known: Revision,
    change: impl Fn(&mut PutConfig<'static>),
) -> (Rig, [Put; 2]) {
    let mut rig = Rig::new(chip(silicon), BridgeConfig::default());
    let puts = [0, 1].map(|board| {
        let mut config = config(board as u16, known);
        change(&mut config);
        let mut put = Put::new();
        let started = put.init(&mut at(&mut rig, board), &config).unwrap();
        assert!(started.hsl, "{started:?}");
        let sap = put.register_sap().unwrap();
        put.attach_mi_range(sap, 64).unwrap();
        put
    });
    (rig, puts)
}

pub fn fill(rig: &mut Rig, board: usize, address: u32, len: usize) -> Vec<u8> {
    let bytes: Vec<u8> = (0..len).map(|at| (at * 37 + at / 255 + 1) as u8).collect();
    rig.boards[board]
        .bytes_mut(address, len)
        .copy_from_slice(&bytes);
    bytes
}

/// Lets both drivers serve for some rounds; what each told.
pub fn serve(rig: &mut Rig, puts: &mut [Put; 2], rounds: usize) -> [Vec<Event>; 2] {
    let mut told = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        rig.run(60);
        for board in 0..2 {
            let mut hw = at(rig, board);
            let sink = |event| told[board].push(event);
            let served = if puts[board].model() == Model::Interrupt {
                if !hw.rig.boards[board].intr() {
                    continue;
                }
                puts[board].on_interrupt(&mut hw, 16, sink)
            } else {
                puts[board].poll(&mut hw, 16, sink)
            };
            if served.is_err() {
                // Stopped: the event says so.
                continue;
            }
        }
    }
    told
}

/// A remote write from board 0 to board 1 by writers on both, and what arrived.
pub struct Writers {
    pub rig: Rig,
    pub writers: [Writer<4, 8>; 2],
}

impl Writers {
    pub fn new(silicon: Revision, known: Revision, model: Model) -> Self {
        let mut rig = Rig::new(chip(silicon), BridgeConfig::default());
        let writers = [0, 1].map(|board| {
            let mut config = config(board as u16, known);
            config.model = model;
            let mut put = Put::new();
            put.init(&mut at(&mut rig, board), &config).unwrap();
            Writer::new(put, WriterConfig::default()).unwrap()
        });
        Self { rig, writers }
    }

    /// Starts a transfer, runs until it is sent and told, or for `limit` rounds.
    pub fn write(
        &mut self,
        local: u32,
        remote: u32,
        length: u32,
        tag: u32,
    ) -> Option<Vec<Arrival>> {
        // One-word packets take some 24 cycles each.
        self.write_within(local, remote, length, tag, 4_000 + length as usize)
    }

    pub fn write_within(
        &mut self,
        local: u32,
        remote: u32,
        length: u32,
        tag: u32,
        limit: usize,
    ) -> Option<Vec<Arrival>> {
        let Self { rig, writers } = self;
        let transfer = Transfer {
            node: 1,
            local: local.into(),
            remote: remote.into(),
            length: length.into(),
            flags: Flags {
                notify_receiver: true,
                tag,
            },
        };
        let token = writers[0].start(&mut at(rig, 0), transfer).unwrap();
        let mut arrivals = Vec::new();
        let mut sent = false;
        for _ in 0..limit {
            rig.run(40);
            for board in [0, 1] {
                writers[board].poll(&mut at(rig, board)).ok()?;
            }
            arrivals.extend(writers[1].arrival());
            sent |= writers[0].progress(&token).ok()? == Progress::Sent;
            if sent && !arrivals.is_empty() {
                // Nothing more comes.
                for _ in 0..4 {
                    rig.run(40);
                    writers[1].poll(&mut at(rig, 1)).ok()?;
                    arrivals.extend(writers[1].arrival());
                }
                return Some(arrivals);
            }
        }
        None
    }

    /// Starts all transfers of both boards at once (at most 4 each) and runs until
    /// all are sent and told; the tags that arrived at each board. Transfer `tag`
    /// of a board goes from `local` of it to `remote` of the other.
    pub fn exchange(&mut self, transfers: &[Vec<(u32, u32, u32)>; 2]) -> Option<[Vec<u32>; 2]> {
        let Self { rig, writers } = self;
        let mut open = [Vec::new(), Vec::new()];
        for (board, list) in transfers.iter().enumerate() {
            for (tag, &(local, remote, length)) in (0..).zip(list) {
                let transfer = Transfer {
                    node: 1 - board as u16,
                    local: local.into(),
                    remote: remote.into(),
                    length: length.into(),
                    flags: Flags {
                        notify_receiver: true,
                        tag,
                    },
                };
                let token = writers[board].start(&mut at(rig, board), transfer);
                open[board].push(token.unwrap());
            }
        }
        let mut told = [Vec::new(), Vec::new()];
        for _ in 0..60_000 {
            rig.run(31);
            for board in [0, 1] {
                let writer = &mut writers[board];
                writer.poll(&mut at(rig, board)).ok()?;
                while let Some(arrival) = writer.arrival() {
                    told[board].push(arrival.tag);
                }
                open[board].retain(|token| writer.progress(token) == Ok(Progress::Pending));
            }
            let all = [0, 1].map(|board| told[board].len() == transfers[1 - board].len());
            if all == [true, true] && open.iter().all(Vec::is_empty) {
                return Some(told);
            }
        }
        None
    }
}

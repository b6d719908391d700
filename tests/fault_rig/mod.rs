//! Booted machines whose rings are driven by hand, so that faults meet the
//! chips and no driver hides what they do.
#![allow(dead_code)]

#[path = "../support/chip.rs"]
mod chip;

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::ddc::lme::{Control, Descriptor};
use multipc::ddc::lmr::Report;
use multipc::fabric::topology::Topology;
use multipc::fabric::{End, Machine};
use multipc::time::Duration;

pub use chip::*;

pub const ENTRIES: u32 = 64;
/// Most bytes of a message.
pub const ROOM: u32 = 0x1800;
const SOURCE: u32 = 0x4_0000;
const TARGET: u32 = 0x10_0000;

/// A message that was posted.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub from: u16,
    pub to: u16,
    pub mi: u32,
    pub bytes: u32,
    /// Added to the addresses.
    pub skew: [u32; 2],
}

impl Message {
    pub fn source(&self) -> u32 {
        SOURCE + self.mi * ROOM + self.skew[0]
    }

    pub fn target(&self) -> u32 {
        TARGET + self.mi * ROOM + self.skew[1]
    }

    pub fn content(&self) -> Vec<u8> {
        let byte = |i: u32| (i.wrapping_mul(37) ^ self.mi.wrapping_mul(101)) as u8 | 1;
        (0..self.bytes).map(byte).collect()
    }
}

pub struct Rig {
    pub machine: Machine<'static>,
    pub posted: Vec<Message>,
}

pub fn port(router: u16, port: u8) -> End {
    End::Router { router, port }
}

pub fn config() -> ClusterConfig {
    let mut config = ClusterConfig::default();
    config.entries = ENTRIES;
    config.counters = 64;
    config.settle_us = 0;
    config.writer.tags = 1;
    config.board.memory_bytes = 0x20_0000;
    config.board.check_bus = true;
    config
}

impl Rig {
    pub fn boot(topology: &Topology<'_>, config: &ClusterConfig) -> Self {
        let cluster = Cluster::boot(topology, config).expect("boots");
        let mut rig = Self {
            machine: cluster.into_machine(),
            posted: Vec::new(),
        };
        // The second FCC of every link is out.
        rig.cycles(100);
        rig
    }

    pub fn pair() -> Self {
        Self::boot(&Topology::pair().unwrap(), &config())
    }

    pub fn line(boards: usize) -> Self {
        Self::boot(&Topology::line(boards).unwrap(), &config())
    }

    /// Runs for so many link cycles.
    pub fn cycles(&mut self, cycles: u64) {
        let period = self.machine.clocks()[0].period().ps();
        self.machine.run_for(Duration::from_ps(period * cycles));
    }

    pub fn us(&mut self, us: u64) {
        self.machine.run_for(Duration::from_us(us));
    }

    pub fn register(&self, node: u16, offset: u8) -> u32 {
        self.machine.nodes()[usize::from(node)]
            .ddc()
            .register(offset)
    }

    pub fn write(&mut self, node: u16, offset: u8, value: u32) {
        let mut host = self.machine.host(node).unwrap();
        host.write_register(offset, value).unwrap();
    }

    pub fn errors(&self, node: u16) -> u32 {
        self.register(node, STATUS) & ERRORS
    }

    /// Status bits of 04h that are fatal, and bit 31.
    pub fn pci_errors(&self, node: u16) -> u32 {
        self.register(node, PCI_04) & 0xF900_0000
    }

    pub fn bus_master(&self, node: u16) -> bool {
        self.register(node, PCI_04) & 4 != 0
    }

    pub fn interrupt(&self, node: u16) -> bool {
        !self.machine.nodes()[usize::from(node)].inta_n()
    }

    pub fn link_status(&self, router: u16) -> u8 {
        let router = &self.machine.routers()[usize::from(router)];
        router.chip().link_status()
    }

    /// Clears the errors and sets Bus Master again, as the driver of the record
    /// does on its halt path.
    pub fn recover(&mut self, node: u16) {
        self.write(node, STATUS, ERRORS);
        self.write(node, PCI_04, 0xFFFF_0104);
    }

    /// Posts a message of one page.
    pub fn post(&mut self, from: u16, to: u16, bytes: u32) -> Message {
        self.post_at(from, to, bytes, [0; 2])
    }

    pub fn post_at(&mut self, from: u16, to: u16, bytes: u32, skew: [u32; 2]) -> Message {
        let message = Message {
            from,
            to,
            mi: self.posted.len() as u32,
            bytes,
            skew,
        };
        self.posted.push(message);
        let flags = Control::LMP
            .with(Control::LMI)
            .with(Control::NOS)
            .with(Control::NOR);
        let descriptor = Descriptor {
            page_length: bytes as u16,
            routing_part: to,
            control: flags.with_mi(message.mi),
            prsa: message.target(),
            plsa: message.source(),
        };
        let (new, base) = (self.register(from, LPE_NEW), self.register(from, LPE_BASE));
        let mut host = self.machine.host(from).unwrap();
        host.store(message.source(), &message.content()).unwrap();
        host.store(new, &descriptor.emit()).unwrap();
        let next = base + (new + 16 - base) % (16 * ENTRIES);
        self.write(from, LPE_NEW, next);
        message
    }

    /// The reports of a node since boot; its ring has not wrapped.
    pub fn reports(&mut self, node: u16) -> Vec<Report> {
        let (base, new) = (self.register(node, LMI_BASE), self.register(node, LMI_NEW));
        let host = self.machine.host(node).unwrap();
        let mut entry = [0; 16];
        (base..new)
            .step_by(16)
            .map(|at| {
                host.load(at, &mut entry).unwrap();
                Report::parse(&entry)
            })
            .collect()
    }

    /// How often a message was reported complete.
    pub fn told(&mut self, message: Message) -> usize {
        let reports = self.reports(message.to);
        let of = |report: &&Report| report.control.mi() == message.mi;
        reports.iter().filter(of).count()
    }

    pub fn memory(&mut self, message: Message) -> Vec<u8> {
        let mut bytes = vec![0; message.bytes as usize];
        let host = self.machine.host(message.to).unwrap();
        host.load(message.target(), &mut bytes).unwrap();
        bytes
    }

    /// Told once, and all bytes there.
    pub fn arrived(&mut self, message: Message) -> bool {
        self.told(message) == 1 && self.memory(message) == message.content()
    }

    /// Descriptors that the chip has not taken yet.
    pub fn pending(&self, node: u16) -> bool {
        self.register(node, LPE_CURRENT) != self.register(node, LPE_NEW)
    }

    /// What the faults did, as text.
    pub fn explain(&self) -> String {
        let faults = self.machine.faults();
        let records = faults.into_iter().flat_map(|faults| faults.records());
        records.map(|record| format!("{record}\n")).collect()
    }

    /// The buses kept to the protocol.
    pub fn assert_clean(&self) {
        for (i, node) in self.machine.nodes().iter().enumerate() {
            if let Some(checker) = node.checker() {
                assert_eq!(checker.violations(), [], "bus of node {i}");
            }
        }
    }
}

//! Two boards on one cable: controller, bridge and memory each, no router.
//! Every clock of both buses is watched by a protocol checker.
#![allow(dead_code)]

#[path = "../support/chip.rs"]
mod chip;

use std::collections::VecDeque;

use multipc::ddc::lme::{Control, Descriptor};
use multipc::ddc::lmr::Report;
use multipc::ddc::packet::{Header, PacketView, Short, Tail, Word};
use multipc::ddc::{Ddc, DdcConfig, PciInputs, PciOutputs};
use multipc::hsl::{Line, Symbol};
use multipc::mem::{Memory, Ram};
use multipc::pci::{BridgeConfig, Checker, ConfigAccess, HostBridge, resolve};
use multipc::time::{Clock, Frequency, Instant};

pub use chip::*;

pub const MEMORY: usize = 1 << 20;
/// Rings of 16 entries; the LRM behind them.
pub const LPE: u32 = 0x1000;
pub const LMI: u32 = 0x2000;
pub const ENTRIES: u32 = 16;
pub const LRM: u32 = 0x4000;
pub const DATA: u32 = 0x1_0000;

pub const TX_INIT: u32 = 1 << 14;
pub const R3_INIT: u32 = 1 << 13;
pub const RX_INIT: u32 = 1 << 12;
pub const LRM_ENABLE: u32 = 1 << 9;
pub const LOOPBACK: u32 = 1 << 8;
pub const BALANCED: u32 = 8 << 28;
pub const ALL_ON: u32 = BALANCED | TX_INIT | R3_INIT | RX_INIT;

pub struct Board {
    pub ddc: Ddc,
    pub bridge: HostBridge,
    pub memory: Ram<'static>,
    pub checker: Checker,
    pub r3_status: u8,
    /// Words that moved on the bus: instant, read or write by the controller.
    pub beats: Vec<Instant>,
    /// Symbols sent: instant and symbol.
    pub sent: Vec<(Instant, Symbol)>,
    pub record: bool,
    /// What arrives is replaced by this.
    pub inject: Option<VecDeque<Line>>,
    soft_new: u32,
    soft_lmi: u32,
}

impl Board {
    pub fn new(config: DdcConfig, bridge: BridgeConfig) -> Self {
        let store = vec![0u8; MEMORY].leak();
        Self {
            ddc: Ddc::new(config),
            bridge: HostBridge::new(bridge),
            memory: Ram::new(0, store),
            checker: Checker::new(),
            r3_status: 0x03,
            beats: Vec::new(),
            sent: Vec::new(),
            record: false,
            inject: None,
            soft_new: LPE,
            soft_lmi: LMI,
        }
    }

    fn step_pci(&mut self, now: Instant) {
        let PciOutputs { drive, req_n, .. } = self.ddc.pci_outputs();
        let bus = resolve(&[self.bridge.drive(), drive]);
        self.checker
            .observe(&self.bridge.observation(&bus, drive, req_n));
        if self.record && !bus.irdy_n && !bus.trdy_n && drive.irdy_n == Some(false) {
            self.beats.push(now);
        }
        let pins = PciInputs {
            bus,
            idsel: self.bridge.idsel(),
            gnt_n: self.bridge.ddc_gnt_n(),
            r3_status: self.r3_status,
        };
        self.bridge.step(&bus, req_n, &mut self.memory);
        self.ddc.step_pci(&pins);
    }

    pub fn word(&self, address: u32) -> u32 {
        self.memory.read_word(address)
    }

    pub fn set_word(&mut self, address: u32, value: u32) {
        self.memory.write_word(address, value, 0xF);
    }

    pub fn bytes(&self, address: u32, len: usize) -> &[u8] {
        self.memory.slice(address, len).unwrap()
    }

    pub fn bytes_mut(&mut self, address: u32, len: usize) -> &mut [u8] {
        self.memory.slice_mut(address, len).unwrap()
    }

    pub fn intr(&self) -> bool {
        !self.ddc.pci_outputs().inta_n
    }
}

pub struct Rig {
    pub boards: [Board; 2],
    pub link: Clock,
    pub pci: Clock,
    pub now: Instant,
    /// The cable is cut.
    pub cut: bool,
    /// Boards are stepped in the other order.
    pub swapped: bool,
}

impl Rig {
    pub fn new(config: DdcConfig, bridge: BridgeConfig) -> Self {
        Self {
            boards: [Board::new(config, bridge), Board::new(config, bridge)],
            link: Clock::new(Frequency::LINK_66_MHZ),
            pci: Clock::new(Frequency::PCI_33_MHZ),
            now: Instant::ZERO,
            cut: false,
            swapped: false,
        }
    }

    /// Default parameters, both boards started with this COMMAND.
    pub fn started(command: u32) -> Self {
        let mut rig = Self::new(DdcConfig::default(), BridgeConfig::default());
        rig.start(0, command);
        rig.start(1, command);
        rig
    }

    pub fn step(&mut self) {
        if self.link.next_edge() <= self.pci.next_edge() {
            self.now = self.link.next_edge();
            self.link.tick();
            let lines = [1, 0].map(|i: usize| self.boards[i].ddc.link_output());
            for i in self.order() {
                let (board, line) = (&mut self.boards[i], lines[i]);
                let mut line = if self.cut { Line::DEAD } else { line };
                if let Some(queue) = &mut board.inject {
                    line = queue.pop_front().unwrap_or(Line::IDLE);
                }
                board.ddc.step_link(line);
                if board.record {
                    let out = board.ddc.link_output();
                    if out.has_signal() && !out.symbol().is_link_level() {
                        board.sent.push((self.now, out.symbol()));
                    }
                }
            }
        } else {
            self.now = self.pci.next_edge();
            self.pci.tick();
            let now = self.now;
            self.order()
                .into_iter()
                .for_each(|i| self.boards[i].step_pci(now));
        }
    }

    fn order(&self) -> [usize; 2] {
        if self.swapped { [1, 0] } else { [0, 1] }
    }

    /// Runs for some PCI cycles.
    pub fn run(&mut self, cycles: u64) {
        let end = self.pci.cycle() + cycles;
        while self.pci.cycle() < end {
            self.step();
        }
    }

    /// Runs until the condition holds; panics after `limit` PCI cycles.
    #[track_caller]
    pub fn until(&mut self, limit: u64, mut done: impl FnMut(&Self) -> bool) {
        let end = self.pci.cycle() + limit;
        while !done(self) {
            assert!(
                self.pci.cycle() < end,
                "not done within {limit} PCI cycles\n{}",
                self.dump()
            );
            self.step();
        }
    }

    pub fn dump(&self) -> String {
        let mut text = String::new();
        for board in &self.boards {
            for offset in (0x40..=0x74).step_by(4) {
                text += &format!("{:02x}:{:08x} ", offset, board.ddc.register(offset));
            }
            text += &format!("04:{:08x}\n", board.ddc.register(4));
        }
        text
    }

    #[track_caller]
    fn access(&mut self, board: usize, access: ConfigAccess) -> u32 {
        self.boards[board].bridge.submit(access).unwrap();
        for _ in 0..100_000 {
            self.step();
            if let Some(outcome) = self.boards[board].bridge.take() {
                return outcome.data;
            }
        }
        panic!("configuration access does not end");
    }

    #[track_caller]
    pub fn write(&mut self, board: usize, offset: u8, value: u32) {
        self.access(board, ConfigAccess::write(offset, value));
    }

    #[track_caller]
    pub fn read(&mut self, board: usize, offset: u8) -> u32 {
        self.access(board, ConfigAccess::read(offset))
    }

    /// Rings, mask, COMMAND, Bus Master.
    pub fn start(&mut self, board: usize, command: u32) {
        let last = 16 * (ENTRIES - 1);
        self.write(board, 0x0C, 0xFF00);
        for (offset, value) in [
            (0x50, LPE + last),
            (0x54, LPE),
            (0x58, LPE),
            (0x5C, LPE),
            (0x60, LMI + last),
            (0x64, LMI),
            (0x68, LMI),
            (0x6C, LMI),
            (0x70, LRM),
            (COMMAND, command),
            (MASK, 0xC0FB_F0FF),
            (PCI_04, 0x104),
        ] {
            self.write(board, offset, value);
        }
        self.boards[board].soft_new = LPE;
        self.boards[board].soft_lmi = LMI;
    }

    /// Puts descriptors into the ring without telling the chip.
    pub fn place(&mut self, board: usize, descriptors: &[Descriptor]) -> u32 {
        let board = &mut self.boards[board];
        for descriptor in descriptors {
            let at = board.soft_new;
            board.bytes_mut(at, 16).copy_from_slice(&descriptor.emit());
            board.soft_new = next(at, LPE);
        }
        board.soft_new
    }

    /// Puts descriptors into the ring and moves LPE_NEW.
    pub fn post(&mut self, board: usize, descriptors: &[Descriptor]) {
        let new = self.place(board, descriptors);
        self.write(board, LPE_NEW, new);
    }

    /// Takes the reports that are there (memory and register only, not the bus)
    /// and gives the entries back.
    pub fn reports(&mut self, board: usize) -> Vec<Report> {
        let mut out = Vec::new();
        while self.boards[board].soft_lmi != self.boards[board].ddc.register(LMI_NEW) {
            let at = self.boards[board].soft_lmi;
            let bytes = self.boards[board].bytes(at, 16).try_into().unwrap();
            out.push(Report::parse(bytes));
            self.boards[board].soft_lmi = next(at, LMI);
        }
        if !out.is_empty() {
            let current = self.boards[board].soft_lmi;
            self.write(board, LMI_CURRENT, current);
        }
        out
    }

    #[track_caller]
    pub fn assert_clean(&self) {
        for board in &self.boards {
            assert!(board.checker.is_clean(), "{:?}", board.checker.violations());
        }
    }
}

pub fn next(at: u32, base: u32) -> u32 {
    if at == base + 16 * (ENTRIES - 1) {
        base
    } else {
        at + 16
    }
}

/// A page with these flags.
pub fn page(length: u16, local: u32, remote: u32, control: Control) -> Descriptor {
    Descriptor {
        page_length: length,
        routing_part: 0x0001,
        control,
        prsa: remote,
        plsa: local,
    }
}

/// A last page that is reported and counted.
pub fn last(length: u16, local: u32, remote: u32, mi: u32) -> Descriptor {
    page(length, local, remote, LAST.with_mi(mi))
}

/// LMP, NOS, NOR, LMI.
pub const LAST: Control = Control::LMP
    .with(Control::NOS)
    .with(Control::NOR)
    .with(Control::LMI);

/// The symbols of a long packet that carries `bytes` to `address`.
pub fn long_packet(control: Control, address: u32, bytes: &[u8], tail: Tail) -> Vec<Symbol> {
    let mut lanes = vec![0u8; (address & 3) as usize];
    lanes.extend(bytes);
    lanes.resize(lanes.len().next_multiple_of(4), 0);
    let data: Vec<Word> = lanes
        .chunks(4)
        .map(|chunk| Word::data(u32::from_le_bytes(chunk.try_into().unwrap())))
        .collect();
    let last_lane = (address.wrapping_add(bytes.len() as u32).wrapping_sub(1) & 3) as u8;
    let header = Header {
        routing_part: 1,
        control,
        address,
    };
    emit(&PacketView::Long {
        header,
        data: &data,
        tail: Tail { last_lane, ..tail },
    })
}

/// The symbols of a short packet.
pub fn short_packet(control: Control, data: [u32; 2]) -> Vec<Symbol> {
    emit(&PacketView::Short(Short {
        routing_part: 1,
        control,
        data,
    }))
}

fn emit(packet: &PacketView<'_>) -> Vec<Symbol> {
    let mut words = [Word::default(); 200];
    let count = packet.emit(&mut words).unwrap();
    words[..count]
        .iter()
        .flat_map(|word| word.symbols())
        .collect()
}

impl Rig {
    /// Feeds symbols to a board as if they came over the cable, and runs until
    /// they are in and dealt with.
    pub fn feed(&mut self, board: usize, symbols: &[Symbol]) {
        let queue = self.boards[board].inject.get_or_insert_default();
        queue.extend(symbols.iter().map(|&symbol| Line::symbol_of(symbol)));
        while self.boards[board]
            .inject
            .as_ref()
            .is_some_and(|queue| !queue.is_empty())
        {
            self.step();
        }
        self.run(120);
    }
}

/// Tail of a last packet.
pub fn last_of(packets: u16) -> Tail {
    Tail {
        expected: packets,
        last: true,
        ..Tail::default()
    }
}

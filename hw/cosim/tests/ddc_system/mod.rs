//! Two boards on one cable: controller (model and RTL in lock-step), bridge and
//! memory each. A driver that keeps no manners makes the traffic.
#![allow(dead_code)]

use multipc::ddc::lme::{Control, Descriptor};
use multipc::hsl::{Line, Symbol};
use multipc::mem::{Memory, Ram};
use multipc::pci::{BridgeConfig, Checker, ConfigAccess, HostBridge, TargetResponse, resolve};
use multipc::time::{Clock, Frequency};
use multipc_cosim::ddc::{DdcIn, DdcModel, Resettable};
use multipc_cosim::{Lockstep, Random};

pub const MEMORY: usize = 1 << 20;
pub const LPE: u32 = 0x1000;
pub const LMI: u32 = 0x2000;
pub const ENTRIES: u32 = 16;
pub const LRM: u32 = 0x4000;
pub const DATA: u32 = 0x1_0000;

pub const STATUS: u8 = 0x40;
pub const MASK: u8 = 0x44;
pub const COMMAND: u8 = 0x48;
pub const LPE_CURRENT: u8 = 0x54;
pub const LPE_NEW: u8 = 0x58;
pub const LMI_CURRENT: u8 = 0x64;
pub const LMI_NEW: u8 = 0x68;

pub const TX_INIT: u32 = 1 << 14;
pub const R3_INIT: u32 = 1 << 13;
pub const RX_INIT: u32 = 1 << 12;
pub const LRM_ENABLE: u32 = 1 << 9;
pub const LOOPBACK: u32 = 1 << 8;
pub const ALL_ON: u32 = 8 << 28 | TX_INIT | R3_INIT | RX_INIT;

pub struct Board<R> {
    pub chip: Lockstep<DdcModel, R>,
    pub bridge: HostBridge,
    pub memory: Ram<'static>,
    pub checker: Checker,
    pub r3_status: u8,
    /// Inverts what the chip samples, for one PCI edge: PAR, PERR#.
    pub wrong_par: bool,
    pub assert_perr: bool,
    pub soft_new: u32,
}

impl<R: Resettable> Board<R> {
    fn new(name: &'static str, bridge: BridgeConfig) -> Self {
        let store = vec![0u8; MEMORY].leak();
        // Data, and what lies beside it, differ in every byte and board.
        let mut random = Random::new(name.bytes().map(u64::from).sum());
        for word in store[DATA as usize..].chunks_mut(8) {
            word.copy_from_slice(&random.bits().to_le_bytes());
        }
        Self {
            chip: Lockstep::new(name, DdcModel::new(R::config()), R::reset()),
            bridge: HostBridge::new(bridge),
            memory: Ram::new(0, store),
            checker: Checker::new(),
            r3_status: 3,
            wrong_par: false,
            assert_perr: false,
            soft_new: LPE,
        }
    }

    pub fn register(&self, offset: u8) -> u32 {
        self.chip.model.ddc.register(offset)
    }

    fn step_pci(&mut self) {
        let outputs = self.chip.model.ddc.pci_outputs();
        let mut bus = resolve(&[self.bridge.drive(), outputs.drive]);
        self.checker
            .observe(&self.bridge.observation(&bus, outputs.drive, outputs.req_n));
        let (idsel, gnt_n) = (self.bridge.idsel(), self.bridge.ddc_gnt_n());
        self.bridge.step(&bus, outputs.req_n, &mut self.memory);
        bus.par ^= std::mem::take(&mut self.wrong_par);
        bus.perr_n &= !std::mem::take(&mut self.assert_perr);
        let inputs = DdcIn::pci(&bus, idsel, gnt_n, self.r3_status);
        if let Err(difference) = self.chip.step(&inputs) {
            panic!("{difference}\n{}", self.registers());
        }
    }

    fn step_link(&mut self, line: Line) {
        if let Err(difference) = self.chip.step(&DdcIn::link(line)) {
            panic!("{difference}\n{}", self.registers());
        }
    }

    pub fn registers(&self) -> String {
        let mut text = format!("04:{:08x}", self.register(4));
        for offset in (0x40..=0x74).step_by(4) {
            text += &format!(" {offset:02x}:{:08x}", self.register(offset));
        }
        text
    }

    pub fn post(&mut self, descriptor: &Descriptor) {
        let bytes = descriptor.emit();
        for (k, word) in bytes.chunks(4).enumerate() {
            let word = u32::from_le_bytes(word.try_into().unwrap());
            self.memory
                .write_word(self.soft_new + 4 * k as u32, word, 0xF);
        }
        self.soft_new = next(self.soft_new, LPE);
    }
}

pub fn next(at: u32, base: u32) -> u32 {
    if at == base + 16 * (ENTRIES - 1) {
        base
    } else {
        at + 16
    }
}

pub fn page(length: u16, local: u32, remote: u32, control: Control) -> Descriptor {
    Descriptor {
        page_length: length,
        routing_part: 1,
        control,
        prsa: remote,
        plsa: local,
    }
}

/// What goes wrong on the cable, at the next symbol that comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    Flip(u16),
    Replace(Symbol),
    Dead,
    ExtraFcc,
    NoFcc,
    /// A symbol where none was sent.
    Insert(Symbol),
}

pub struct Rig<R> {
    pub boards: [Board<R>; 2],
    pub link: Clock,
    pub pci: Clock,
    /// For what board `i` receives.
    pub faults: [Option<Fault>; 2],
    /// The cable is cut for this many link cycles.
    pub cut: u32,
}

impl<R: Resettable> Rig<R> {
    pub fn new(names: [&'static str; 2], bridge: BridgeConfig, link: Frequency) -> Self {
        Self {
            boards: names.map(|name| Board::new(name, bridge)),
            link: Clock::new(link),
            pci: Clock::new(Frequency::PCI_33_MHZ),
            faults: [None; 2],
            cut: 0,
        }
    }

    /// Next edge; true if it was one of the PCI clock.
    pub fn step(&mut self) -> bool {
        if self.link.next_edge() <= self.pci.next_edge() {
            self.link.tick();
            let lines = [1, 0].map(|i: usize| self.boards[i].chip.model.ddc.link_output());
            for (i, mut line) in lines.into_iter().enumerate() {
                let symbol = line.has_signal() && !line.symbol().is_link_level();
                if self.cut > 0 {
                    line = Line::DEAD;
                } else if let Some(fault) = self.faults[i] {
                    let before = line;
                    let pulse = |new: Line| {
                        if line.fcc_pulse() {
                            new.with_fcc_pulse()
                        } else {
                            new
                        }
                    };
                    match fault {
                        Fault::Flip(bits) if symbol => {
                            line = pulse(Line::symbol_of(Symbol::from_bits(
                                line.symbol().bits() ^ bits,
                            )));
                        }
                        Fault::Replace(other) if symbol => line = pulse(Line::symbol_of(other)),
                        Fault::Dead => line = Line::DEAD,
                        Fault::ExtraFcc if line.has_signal() => line = line.with_fcc_pulse(),
                        Fault::NoFcc if line.has_signal() && line.fcc_pulse() => {
                            line = Line::symbol_of(line.symbol());
                        }
                        Fault::Insert(other) if !symbol && line.has_signal() => {
                            line = pulse(Line::symbol_of(other));
                        }
                        _ => {}
                    }
                    if before != line {
                        self.faults[i] = None;
                    }
                }
                self.boards[i].step_link(line);
            }
            self.cut = self.cut.saturating_sub(1);
            false
        } else {
            self.pci.tick();
            self.boards.iter_mut().for_each(Board::step_pci);
            true
        }
    }

    pub fn run(&mut self, cycles: u64) {
        let end = self.pci.cycle() + cycles;
        while self.pci.cycle() < end {
            self.step();
        }
    }

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

    pub fn write(&mut self, board: usize, offset: u8, value: u32) {
        self.access(board, ConfigAccess::write(offset, value));
    }

    pub fn read(&mut self, board: usize, offset: u8) -> u32 {
        self.access(board, ConfigAccess::read(offset))
    }

    /// Rings, mask, COMMAND, Bus Master.
    pub fn start(&mut self, board: usize, command: u32) {
        for (offset, value) in start_writes(command) {
            self.write(board, offset, value);
        }
        self.boards[board].soft_new = LPE;
    }

    pub fn assert_clean(&self) {
        for board in &self.boards {
            assert!(board.checker.is_clean(), "{:?}", board.checker.violations());
        }
    }
}

pub fn start_writes(command: u32) -> Vec<(u8, u32)> {
    let last = 16 * (ENTRIES - 1);
    vec![
        (0x0C, 0xFF00),
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
        (0x04, 0x144),
    ]
}

/// Which things a random run does, one in how many PCI cycles (0: never).
#[derive(Clone, Copy, Default)]
pub struct Profile {
    pub command: u32,
    /// Reads of any register.
    pub reads: u64,
    /// Writes of any value to any register.
    pub wild: u64,
    pub posts: u64,
    /// Reports given back, STATUS acknowledged, Bus Master set again.
    pub service: u64,
    /// Retry, disconnect, wait states.
    pub responses: u64,
    /// Aborts, bad parity.
    pub pci_faults: u64,
    pub grants: u64,
    pub link_faults: u64,
    pub cuts: u64,
    pub link_status: u64,
    /// COMMAND changes: MPL, balance, loopback, Rx off.
    pub commands: u64,
    pub resets: u64,
    /// Longest page.
    pub longest: u64,
    /// Short and composed messages, odd flags.
    pub kinds: bool,
    pub lrm: bool,
    /// Reports are given back only when the ring has run full.
    pub miser: bool,
    /// Now and then any address and any message identifier.
    pub wide: bool,
}

/// What happened, for a bench in which nothing does would agree, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub reports: u64,
    pub pages: u64,
    /// Rises of STATUS 31:12.
    pub status: [u64; 20],
    /// Rises of 04h 31:24.
    pub pci: [u64; 8],
    /// Transfers of each kind.
    pub kinds: [u64; 7],
    pub stops: u64,
    pub resets: u64,
    last: [[u32; 4]; 2],
}

impl Seen {
    fn look<R: Resettable>(&mut self, i: usize, board: &Board<R>) {
        let now = [STATUS, 4, LMI_NEW, LPE_CURRENT].map(|offset| board.register(offset));
        let was = std::mem::replace(&mut self.last[i], now);
        for (k, count) in self.status.iter_mut().enumerate() {
            *count += u64::from(now[0] & !was[0]) >> (12 + k) & 1;
        }
        for (k, count) in self.pci.iter_mut().enumerate() {
            *count += u64::from(now[1] & !was[1]) >> (24 + k) & 1;
        }
        self.stops += u64::from(!now[1] & was[1]) >> 2 & 1;
        self.reports += u64::from(now[2] != was[2]);
        self.pages += u64::from(now[3] != was[3]);
        let kind = (now[0] >> 8 & 0xF) as usize;
        if kind != (was[0] >> 8 & 0xF) as usize {
            self.kinds[kind] += 1;
        }
    }
}

impl Seen {
    pub fn add(&mut self, other: &Self) {
        self.reports += other.reports;
        self.pages += other.pages;
        self.stops += other.stops;
        self.resets += other.resets;
        let add = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.status, &other.status);
        add(&mut self.pci, &other.pci);
        add(&mut self.kinds, &other.kinds);
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "  {} pages, {} reports, {} stops of the bus master, {} resets",
            self.pages, self.reports, self.stops, self.resets
        )?;
        writeln!(f, "  transfers 1 to 6 {:?}", &self.kinds[1..])?;
        writeln!(f, "  rises of STATUS 12 to 31 {:?}", self.status)?;
        write!(f, "  rises of 04h 24 to 31 {:?}", self.pci)
    }
}

impl Profile {
    /// The bus keeps its rules: nothing is bent behind the bridge's back.
    pub fn is_legal(&self) -> bool {
        self.pci_faults == 0
    }
}

pub struct Software {
    pub seen: Seen,
    random: Random,
    queue: [Vec<(u8, u32)>; 2],
    hold: [bool; 2],
    /// A configuration access is under way.
    waiting: [bool; 2],
}

impl Software {
    pub fn new(seed: u64) -> Self {
        Self {
            seen: Seen::default(),
            random: Random::new(seed),
            queue: Default::default(),
            hold: [false; 2],
            waiting: [false; 2],
        }
    }

    fn chance(&mut self, n: u64) -> bool {
        n != 0 && self.random.one_in(n)
    }

    pub fn run<R: Resettable>(&mut self, rig: &mut Rig<R>, profile: &Profile, cycles: u64) {
        let end = rig.pci.cycle() + cycles;
        while rig.pci.cycle() < end {
            if rig.step() {
                for board in 0..2 {
                    self.act(rig, board, profile);
                }
            } else {
                for board in 0..2 {
                    if self.chance(profile.link_faults) {
                        rig.faults[board] = Some(self.fault());
                    }
                }
                if self.chance(profile.cuts) {
                    rig.cut = 1 + self.random.below(40) as u32;
                }
            }
        }
    }

    fn fault(&mut self) -> Fault {
        match self.random.below(7) {
            0 => Fault::Flip(1 << self.random.below(9)),
            1 => Fault::Flip(1 + self.random.below(0x1FF) as u16),
            2 => Fault::Replace(Symbol::CONTROL[self.random.below(8) as usize].0),
            3 => Fault::Dead,
            4 => Fault::ExtraFcc,
            5 => Fault::NoFcc,
            _ => Fault::Insert(Symbol::from_bits(self.random.bits() as u16 & 0x1FF)),
        }
    }

    fn act<R: Resettable>(&mut self, rig: &mut Rig<R>, i: usize, profile: &Profile) {
        let board = &mut rig.boards[i];
        self.seen.look(i, board);
        if self.chance(profile.grants) {
            self.hold[i] ^= true;
            board.bridge.hold_grant(self.hold[i]);
        }
        if self.chance(profile.responses) {
            let n = self.random.below(6) as u32;
            let response = match self.random.below(6) {
                0 => TargetResponse::Retry,
                1 => TargetResponse::DisconnectAfter(n),
                2 => TargetResponse::DisconnectWith(n),
                3 => TargetResponse::ExtraLatency(n),
                4 => TargetResponse::WaitStates(n),
                _ => TargetResponse::Normal,
            };
            let _ = board.bridge.respond_next(response);
        }
        if self.chance(profile.pci_faults) {
            let n = self.random.below(6) as u32;
            match self.random.below(6) {
                0 => {
                    let _ = board.bridge.respond_next(TargetResponse::TargetAbort);
                }
                1 => {
                    let _ = board.bridge.respond_next(TargetResponse::AbortAfter(n));
                }
                2 => {
                    let _ = board.bridge.respond_next(TargetResponse::BadParity);
                }
                3 => {
                    let _ = board.bridge.respond_next(TargetResponse::Ignore);
                }
                4 => board.wrong_par = true,
                _ => board.assert_perr = true,
            }
        }
        if self.chance(profile.link_status) {
            board.r3_status = self.random.bits() as u8;
        }
        if board.bridge.take().is_some() {
            self.waiting[i] = false;
        }
        if !self.waiting[i] {
            self.configure(board, i, profile);
        }
    }

    fn configure<R: Resettable>(&mut self, board: &mut Board<R>, i: usize, profile: &Profile) {
        let mut access = None;
        if !self.queue[i].is_empty() {
            let (offset, value) = self.queue[i].remove(0);
            access = Some(ConfigAccess::write(offset, value));
        } else if self.chance(profile.resets) {
            self.queue[i] = start_writes(profile.command);
            board.soft_new = LPE;
            access = Some(ConfigAccess::write(COMMAND, 0x8000));
            self.seen.resets += 1;
        } else if self.chance(profile.posts) {
            let count = 1 + self.random.below(3);
            for _ in 0..count {
                let at = next(board.soft_new, LPE);
                if at != board.register(LPE_CURRENT) && board.soft_new >= LPE {
                    let descriptor = self.descriptor(profile);
                    board.post(&descriptor);
                }
            }
            access = Some(ConfigAccess::write(LPE_NEW, board.soft_new));
        } else if self.chance(profile.service) {
            let full = board.register(STATUS) >> 12 & 1 == 1;
            access = Some(match self.random.below(4) {
                0 if !profile.miser || full => {
                    ConfigAccess::write(LMI_CURRENT, board.register(LMI_NEW))
                }
                1 => ConfigAccess::write(STATUS, self.random.bits() as u32),
                2 => ConfigAccess::write(STATUS, 0xC0FF_F000),
                _ => ConfigAccess::write(0x04, 0xFF00_0144),
            });
        } else if self.chance(profile.commands) {
            let r = self.random.bits();
            let mut command = profile.command & 0x0000_FFFF | (r as u32 & 0xF000_0000);
            if r & 3 == 0 {
                command |= (self.random.below(160) as u32) << 16;
            }
            if r >> 8 & 7 == 0 {
                command ^= LOOPBACK;
            }
            if r >> 12 & 7 == 0 {
                command ^= RX_INIT;
            }
            if r >> 16 & 7 == 0 {
                command ^= TX_INIT;
            }
            if r >> 20 & 7 == 0 {
                command ^= LRM_ENABLE;
            }
            access = Some(match r >> 24 & 7 {
                0 => ConfigAccess::write(0x0C, (r >> 32) as u32),
                1 => ConfigAccess::write(MASK, (r >> 32) as u32),
                _ => ConfigAccess::write(COMMAND, command),
            });
        } else if self.chance(profile.wild) {
            let offset = 4 * self.random.below(0x40) as u8;
            let mut value = self.random.bits() as u32;
            if offset == COMMAND {
                value &= !0x8000;
            }
            access = Some(ConfigAccess::write(offset, value));
        } else if self.chance(profile.reads) {
            let offset = 4 * self.random.below(0x40) as u8;
            access = Some(ConfigAccess::read(offset));
        }
        if let Some(access) = access {
            self.waiting[i] = board.bridge.submit(access).is_ok();
        }
    }

    fn descriptor(&mut self, profile: &Profile) -> Descriptor {
        let r = self.random.bits();
        let length = match r & 7 {
            0 => self.random.below(9),
            1..=4 => self.random.below(100),
            _ => self.random.below(profile.longest + 1),
        } as u16;
        let mut flags = Control::NOS;
        let (lmp, lmi, nor) = (r >> 8 & 3 != 0, r >> 10 & 3 != 0, r >> 12 & 3 != 0);
        for (on, flag) in [
            (lmp, Control::LMP),
            (lmi, Control::LMI),
            (nor, Control::NOR),
        ] {
            if on {
                flags = flags.with(flag);
            }
        }
        if profile.lrm && r >> 14 & 1 == 1 {
            flags = flags.with(Control::LRM);
        }
        let mut length = length;
        if profile.kinds {
            match r >> 16 & 15 {
                0..=3 => {
                    flags = flags.with(Control::SM);
                    length = 0;
                }
                4 => flags = flags.with(Control::CM),
                5 => flags = flags.with(Control::CM).with(Control::SM),
                _ => {}
            }
        }
        let mut descriptor = Descriptor {
            page_length: length,
            routing_part: (r >> 32) as u16,
            control: flags.with_mi((r >> 48) as u32 & 7),
            prsa: DATA + self.random.below(0x4_0000) as u32,
            plsa: DATA + self.random.below(0x4_0000) as u32,
        };
        if profile.wide && r >> 20 & 7 == 0 {
            match r >> 23 & 3 {
                0 => descriptor.prsa = self.random.bits() as u32,
                1 => descriptor.plsa = self.random.bits() as u32,
                2 => descriptor.control = flags.with_mi(self.random.bits() as u32),
                _ => descriptor.page_length = self.random.bits() as u16,
            }
        }
        descriptor
    }
}

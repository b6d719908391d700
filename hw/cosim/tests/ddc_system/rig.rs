//! Two boards, the cable between them, both clocks.

use multipc::hsl::{Line, Symbol};
use multipc::pci::{BridgeConfig, ConfigAccess};
use multipc::time::{Clock, Frequency};
use multipc_cosim::ddc::Resettable;

use super::{Board, COMMAND, ENTRIES, LMI, LPE, LRM, MASK};

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

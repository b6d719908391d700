//! A board: its chip twice, its bridge, its memory.

use multipc::ddc::lme::{Control, Descriptor};
use multipc::hsl::Line;
use multipc::mem::{Memory, Ram};
use multipc::pci::{BridgeConfig, Checker, HostBridge, resolve};
use multipc_cosim::ddc::{DdcIn, DdcModel, Resettable};
use multipc_cosim::{Lockstep, Random};

use super::{DATA, ENTRIES, LPE, MEMORY};

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
    pub(super) fn new(name: &'static str, bridge: BridgeConfig) -> Self {
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

    pub(super) fn step_pci(&mut self) {
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

    pub(super) fn step_link(&mut self, line: Line) {
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

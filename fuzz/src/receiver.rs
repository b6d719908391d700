//! Any symbols into PCI-DDC's receive port.
//!
//! Input: flags u8 (bit 0 packet counters, bit 1 loopback), then lines of 16
//! bits, low byte first, one a link cycle.

use multipc::ddc::lme::Control;
use multipc::ddc::lmr::Report;
use multipc::ddc::packet::Short;
use multipc::ddc::{Ddc, DdcConfig, PciInputs, PciOutputs};
use multipc::hsl::Line;
use multipc::mem::Ram;
use multipc::pci::{BridgeConfig, ConfigAccess, HostBridge, resolve};

const MEMORY: usize = 1 << 16;
const LPE: u32 = 0x1000;
const LMI: u32 = 0x2000;
const LRM: u32 = 0x4000;
const ON: u32 = 0x8000_7000;

struct Board<'m> {
    ddc: Ddc,
    bridge: HostBridge,
    memory: Ram<'m>,
    cycle: u64,
}

impl Board<'_> {
    /// A link cycle, and a PCI cycle at every second one.
    fn step(&mut self, line: Line) {
        self.ddc.step_link(line);
        self.cycle += 1;
        if self.cycle.is_multiple_of(2) {
            self.step_pci();
        }
    }

    fn step_pci(&mut self) {
        let PciOutputs { drive, req_n, .. } = self.ddc.pci_outputs();
        let bus = resolve(&[self.bridge.drive(), drive]);
        let pins = PciInputs {
            bus,
            idsel: self.bridge.idsel(),
            gnt_n: self.bridge.ddc_gnt_n(),
            r3_status: 3,
        };
        self.bridge.step(&bus, req_n, &mut self.memory);
        self.ddc.step_pci(&pins);
    }

    fn write(&mut self, offset: u8, value: u32) {
        self.bridge
            .submit(ConfigAccess::write(offset, value))
            .expect("one access at a time");
        for _ in 0..4096 {
            self.step_pci();
            if self.bridge.take().is_some() {
                return;
            }
        }
        panic!("no answer to a write of {offset:#04x}");
    }

    fn start(&mut self, command: u32) {
        for _ in 0..4 {
            self.write(0x48, 0x8000);
        }
        for (offset, value) in [
            (0x0C, 0xFF00),
            (0x44, 0xC0FB_F0FF),
            (0x50, LPE + 0xF0),
            (0x54, LPE),
            (0x58, LPE),
            (0x5C, LPE),
            (0x60, LMI + 0xF0),
            (0x64, LMI),
            (0x68, LMI),
            (0x6C, LMI),
            (0x70, LRM),
            (0x48, command),
            (0x04, 0x104),
        ] {
            self.write(offset, value);
        }
    }
}

/// Nothing panics or hangs, and after a reset the chip receives.
pub fn receiver(data: &[u8]) {
    let mut data = data;
    let [flags] = super::take(&mut data);
    let mut store = vec![0; MEMORY];
    let mut board = Board {
        ddc: Ddc::new(DdcConfig::default()),
        bridge: HostBridge::new(BridgeConfig::default()),
        memory: Ram::new(0, &mut store[..]),
        cycle: 0,
    };
    board.start(ON | u32::from(flags & 3) << 8);
    for _ in 0..32 {
        board.step(Line::IDLE);
    }
    for pair in data.as_chunks::<2>().0 {
        board.step(Line::from_bits(u16::from_le_bytes(*pair)));
    }
    for _ in 0..4096 {
        board.step(Line::IDLE);
    }

    // A reset, seen on both sides of the cable, and a good packet.
    board.start(ON);
    for _ in 0..64 {
        board.step(Line::DEAD);
    }
    for _ in 0..64 {
        board.step(Line::IDLE);
    }
    let notice = Control::SM
        .with(Control::LMP)
        .with(Control::LMI)
        .with(Control::NOR);
    let short = Short {
        routing_part: 1,
        control: notice.with_mi(7),
        data: [0x0123_4567, 0x89AB_CDEF],
    };
    for symbol in short.words().into_iter().flat_map(|word| word.symbols()) {
        board.step(Line::symbol_of(symbol));
    }
    for _ in 0..1024 {
        board.step(Line::IDLE);
    }
    let bytes = board.memory.slice(LMI, 16).expect("in memory");
    let report = Report::parse(bytes.try_into().expect("16 bytes"));
    assert_eq!(
        report.data, short.data,
        "no report after a reset: {report:?}"
    );
    assert_eq!(report.control.mi(), 7);
}

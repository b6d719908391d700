//! The network controller: model and RTL behind the same pins.

use multipc::ddc::{Ddc, DdcConfig, PciInputs, PciOutputs};
use multipc::hsl::{Line, Symbol};
use multipc::pci::{Drive, Signals};

use crate::{Device, pins, verilated};

pins! {
    /// What the controller samples. An edge of the PCI clock samples the bus and
    /// the link status, one of the link clock the port.
    pub struct DdcIn {
        /// `AD[31:0]`.
        pub ad: u32 [32],
        /// This edge is one of the PCI clock, else of the link clock.
        pub pci_edge: u8 [1],
        /// Power-on reset.
        pub rst_n: u8 [1],
        /// `C/BE#[3:0]`.
        pub cbe_n: u8 [4],
        /// PAR.
        pub par: u8 [1],
        /// FRAME#.
        pub frame_n: u8 [1],
        /// IRDY#.
        pub irdy_n: u8 [1],
        /// TRDY#.
        pub trdy_n: u8 [1],
        /// DEVSEL#.
        pub devsel_n: u8 [1],
        /// STOP#.
        pub stop_n: u8 [1],
        /// PERR#.
        pub perr_n: u8 [1],
        /// IDSEL.
        pub idsel: u8 [1],
        /// GNT#.
        pub gnt_n: u8 [1],
        /// Link status pins of the router.
        pub r3_status: u8 [8],
        /// The port sees a signal.
        pub rx_signal: u8 [1],
        /// Flow control pulse.
        pub rx_fcc: u8 [1],
        /// A symbol, not a filler.
        pub rx_valid: u8 [1],
        /// The symbol.
        pub rx_symbol: u16 [9],
    }
}

pins! {
    /// What the controller drives. Control lines: 0 asserted, 1 high, 2 released.
    pub struct DdcOut {
        /// `AD[31:0]`, 0 when released.
        pub ad: u32 [32],
        /// AD is driven.
        pub ad_oe: u8 [1],
        /// `C/BE#[3:0]`, 0 when released.
        pub cbe_n: u8 [4],
        /// C/BE# is driven.
        pub cbe_oe: u8 [1],
        /// PAR.
        pub par: u8 [2],
        /// FRAME#.
        pub frame: u8 [2],
        /// IRDY#.
        pub irdy: u8 [2],
        /// TRDY#.
        pub trdy: u8 [2],
        /// DEVSEL#.
        pub devsel: u8 [2],
        /// STOP#.
        pub stop: u8 [2],
        /// PERR#.
        pub perr: u8 [2],
        /// SERR#.
        pub serr: u8 [2],
        /// REQ#.
        pub req_n: u8 [1],
        /// INTA#.
        pub inta_n: u8 [1],
        /// A byte is on the configuration chain.
        pub chain: u8 [1],
        /// R3_INIT.
        pub r3_init: u8 [1],
        /// The port drives a signal.
        pub tx_signal: u8 [1],
        /// Flow control pulse.
        pub tx_fcc: u8 [1],
        /// A symbol, not a filler.
        pub tx_valid: u8 [1],
        /// The byte, 0 without.
        pub chain_byte: u16 [8],
        /// The symbol, 0 without.
        pub tx_symbol: u16 [9],
    }
}

verilated!(
    /// The controller in RTL.
    pub DdcRtl = "ddc_edges", ddc_edges_shim, DdcIn => DdcOut
);

verilated!(
    /// The controller in RTL with small FIFOs and a short timeout.
    pub DdcSmallRtl = "ddc_small", ddc_small_shim, DdcIn => DdcOut
);

/// RTL that can be reset.
pub trait Resettable: Device<In = DdcIn, Out = DdcOut> {
    /// An instance after its power-on reset.
    fn reset() -> Self;
    /// The parameters that it was Verilated with.
    fn config() -> DdcConfig;
}

impl Resettable for DdcRtl {
    fn reset() -> Self {
        let mut rtl = Self::new();
        for rst_n in [1, 0, 1] {
            rtl.settle(&DdcIn {
                rst_n,
                ..DdcIn::default()
            });
        }
        rtl
    }

    fn config() -> DdcConfig {
        DdcConfig::default()
    }
}

impl Resettable for DdcSmallRtl {
    fn reset() -> Self {
        let mut rtl = Self::new();
        for rst_n in [1, 0, 1] {
            rtl.settle(&DdcIn {
                rst_n,
                ..DdcIn::default()
            });
        }
        rtl
    }

    /// As in `shim/ddc_small.sv`.
    fn config() -> DdcConfig {
        let mut config = DdcConfig::default();
        config.fifo_words = 24;
        config.rx_fifo_words = 20;
        config.rx_burst_words = 4;
        config.refill_words = 10;
        config.packet_gap = 0;
        config.rx_timeout_cycles = 300;
        config.link_to_pci_sync = 2;
        config
    }
}

impl DdcIn {
    /// An edge of the PCI clock.
    pub fn pci(bus: &Signals, idsel: bool, gnt_n: bool, r3_status: u8) -> Self {
        Self {
            pci_edge: 1,
            rst_n: 1,
            ad: bus.ad,
            cbe_n: bus.cbe_n,
            par: bus.par.into(),
            frame_n: bus.frame_n.into(),
            irdy_n: bus.irdy_n.into(),
            trdy_n: bus.trdy_n.into(),
            devsel_n: bus.devsel_n.into(),
            stop_n: bus.stop_n.into(),
            perr_n: bus.perr_n.into(),
            idsel: idsel.into(),
            gnt_n: gnt_n.into(),
            r3_status,
            ..Self::default()
        }
    }

    /// An edge of the link clock.
    pub fn link(line: Line) -> Self {
        let symbol = line.has_signal() && !line.symbol().is_link_level();
        Self {
            rst_n: 1,
            rx_signal: line.has_signal().into(),
            rx_fcc: line.fcc_pulse().into(),
            rx_valid: symbol.into(),
            rx_symbol: if symbol { line.symbol().bits() } else { 0 },
            ..Self::default()
        }
    }

    fn line(&self) -> Line {
        line_of(self.rx_signal, self.rx_fcc, self.rx_valid, self.rx_symbol)
    }

    fn bus(&self) -> Signals {
        Signals {
            ad: self.ad,
            cbe_n: self.cbe_n,
            par: self.par != 0,
            frame_n: self.frame_n != 0,
            irdy_n: self.irdy_n != 0,
            trdy_n: self.trdy_n != 0,
            devsel_n: self.devsel_n != 0,
            stop_n: self.stop_n != 0,
            perr_n: self.perr_n != 0,
            serr_n: true,
        }
    }
}

impl DdcOut {
    /// The PCI side as the fabric has it.
    pub fn pci(&self) -> PciOutputs {
        let level = |level: u8| (level < 2).then_some(level == 1);
        PciOutputs {
            drive: Drive {
                ad: (self.ad_oe != 0).then_some(self.ad),
                cbe_n: (self.cbe_oe != 0).then_some(self.cbe_n),
                par: level(self.par),
                frame_n: level(self.frame),
                irdy_n: level(self.irdy),
                trdy_n: level(self.trdy),
                devsel_n: level(self.devsel),
                stop_n: level(self.stop),
                perr_n: level(self.perr),
                serr_n: level(self.serr),
            },
            req_n: self.req_n != 0,
            inta_n: self.inta_n != 0,
            r3_init: self.r3_init != 0,
            r3_dout: (self.chain != 0).then_some(self.chain_byte as u8),
        }
    }

    /// What the port drives.
    pub fn line(&self) -> Line {
        line_of(self.tx_signal, self.tx_fcc, self.tx_valid, self.tx_symbol)
    }
}

fn line_of(signal: u8, fcc: u8, valid: u8, symbol: u16) -> Line {
    let line = match (signal, valid) {
        (0, _) => Line::DEAD,
        (_, 0) => Line::IDLE,
        _ => Line::symbol_of(Symbol::from_bits(symbol)),
    };
    if fcc != 0 {
        line.with_fcc_pulse()
    } else {
        line
    }
}

/// The model.
pub struct DdcModel {
    /// The chip.
    pub ddc: Ddc,
}

impl DdcModel {
    /// A controller after its power-on reset.
    pub fn new(config: DdcConfig) -> Self {
        Self {
            ddc: Ddc::new(config),
        }
    }

    /// Its output pins.
    pub fn outputs(&self) -> DdcOut {
        let PciOutputs {
            drive,
            req_n,
            inta_n,
            ..
        } = self.ddc.pci_outputs();
        let (r3_init, byte) = self.ddc.chain_pins();
        let line = self.ddc.link_output();
        let symbol = line.has_signal() && !line.symbol().is_link_level();
        let level = |line: Option<bool>| line.map_or(2, u8::from);
        DdcOut {
            ad: drive.ad.unwrap_or(0),
            ad_oe: drive.ad.is_some().into(),
            cbe_n: drive.cbe_n.unwrap_or(0),
            cbe_oe: drive.cbe_n.is_some().into(),
            par: level(drive.par),
            frame: level(drive.frame_n),
            irdy: level(drive.irdy_n),
            trdy: level(drive.trdy_n),
            devsel: level(drive.devsel_n),
            stop: level(drive.stop_n),
            perr: level(drive.perr_n),
            serr: level(drive.serr_n),
            req_n: req_n.into(),
            inta_n: inta_n.into(),
            chain: byte.is_some().into(),
            r3_init: r3_init.into(),
            tx_signal: line.has_signal().into(),
            tx_fcc: line.fcc_pulse().into(),
            tx_valid: symbol.into(),
            chain_byte: byte.unwrap_or(0).into(),
            tx_symbol: if symbol { line.symbol().bits() } else { 0 },
        }
    }
}

impl Device for DdcModel {
    type In = DdcIn;
    type Out = DdcOut;

    fn step(&mut self, pins: &DdcIn) -> DdcOut {
        if pins.pci_edge != 0 {
            let bus = pins.bus();
            self.ddc.step_pci(&PciInputs {
                bus,
                idsel: pins.idsel != 0,
                gnt_n: pins.gnt_n != 0,
                r3_status: pins.r3_status,
            });
        } else {
            self.ddc.step_link(pins.line());
        }
        self.outputs()
    }
}

//! Pins as structures of fixed-width integers.
//!
//! A flag is a `uint8_t`: 0 is low, all else is high. Names that end in `_n` are active
//! low, as on the data sheet.

use multipc::ddc::{PciInputs, PciOutputs};
use multipc::hsl::{Line, Symbol};
use multipc::pci::Signals;

/// Ports of a router.
pub const MULTIPC_PORTS: usize = 8;
/// Bytes of a routing table.
pub const MULTIPC_TABLE_BYTES: usize = 258;

/// A line: no signal, the sender is in reset.
pub const MULTIPC_LINE_NO_SIGNAL: u16 = 0x400;
/// A line, beside a symbol: the FCC pulse of a parallel port.
pub const MULTIPC_LINE_FCC: u16 = 0x200;
/// Mask of the symbol of a line: bit 8 marks a control character.
pub const MULTIPC_LINE_SYMBOL: u16 = 0x1FF;

/// Control character: normal end of packet.
pub const MULTIPC_EP: u16 = 0x12B;
/// Control character: exceptional end of packet.
pub const MULTIPC_EEP: u16 = 0x14B;
/// Control character: 32 more characters may be sent.
pub const MULTIPC_FCC: u16 = 0x18B;
/// Control character: filler.
pub const MULTIPC_IDLE: u16 = 0x1AB;

// A constant of the header is a plain number; here it is held against its source.
const _: () = {
    assert!(MULTIPC_LINE_NO_SIGNAL == Line::DEAD.bits());
    assert!(MULTIPC_LINE_FCC == Line::from_bits(0).with_fcc_pulse().bits());
    assert!(MULTIPC_EP == Symbol::EP.bits());
    assert!(MULTIPC_EEP == Symbol::EEP.bits());
    assert!(MULTIPC_FCC == Symbol::FCC.bits());
    assert!(MULTIPC_IDLE == Symbol::IDLE.bits());
    assert!(MULTIPC_PORTS == multipc::rcube::PORTS);
    assert!(MULTIPC_TABLE_BYTES == multipc::rcube::RoutingTable::WIRE_LEN);
};

/// What the ports of a router sample at a link clock edge.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_rcube_inputs {
    /// A line a port: symbol, `MULTIPC_LINE_FCC`, or `MULTIPC_LINE_NO_SIGNAL`. Higher
    /// bits are ignored.
    pub lines: [u16; MULTIPC_PORTS],
}

/// What the ports of a router drive after a link clock edge.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_rcube_outputs {
    /// A line a port.
    pub lines: [u16; MULTIPC_PORTS],
    /// Bit `k`: link `k` works.
    pub link_status: u8,
}

/// What the PCI side of the controller samples at a PCI clock edge.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_ddc_inputs {
    /// AD.
    pub ad: u32,
    /// C/BE#, 4 bits.
    pub cbe_n: u8,
    /// PAR.
    pub par: u8,
    /// FRAME#.
    pub frame_n: u8,
    /// IRDY#.
    pub irdy_n: u8,
    /// TRDY#.
    pub trdy_n: u8,
    /// DEVSEL#.
    pub devsel_n: u8,
    /// STOP#.
    pub stop_n: u8,
    /// PERR#.
    pub perr_n: u8,
    /// SERR#.
    pub serr_n: u8,
    /// IDSEL, active high.
    pub idsel: u8,
    /// GNT#.
    pub gnt_n: u8,
    /// Link status of the router: bit `k`, link `k` works.
    pub r3_status: u8,
}

/// What the PCI side of the controller drives after a PCI clock edge; `_oe` is 1 where it
/// drives, 0 where it is released (the value is then that of the pull-up).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_ddc_outputs {
    /// AD.
    pub ad: u32,
    /// AD is driven.
    pub ad_oe: u8,
    /// C/BE#.
    pub cbe_n: u8,
    /// C/BE# is driven.
    pub cbe_oe: u8,
    /// PAR.
    pub par: u8,
    /// PAR is driven.
    pub par_oe: u8,
    /// FRAME#.
    pub frame_n: u8,
    /// FRAME# is driven.
    pub frame_oe: u8,
    /// IRDY#.
    pub irdy_n: u8,
    /// IRDY# is driven.
    pub irdy_oe: u8,
    /// TRDY#.
    pub trdy_n: u8,
    /// TRDY# is driven.
    pub trdy_oe: u8,
    /// DEVSEL#.
    pub devsel_n: u8,
    /// DEVSEL# is driven.
    pub devsel_oe: u8,
    /// STOP#.
    pub stop_n: u8,
    /// STOP# is driven.
    pub stop_oe: u8,
    /// PERR#.
    pub perr_n: u8,
    /// PERR# is driven.
    pub perr_oe: u8,
    /// SERR#, open drain: low or released.
    pub serr_n: u8,
    /// SERR# is driven.
    pub serr_oe: u8,
    /// REQ#.
    pub req_n: u8,
    /// INTA#, a level.
    pub inta_n: u8,
    /// R3_INIT: releases the router.
    pub r3_init: u8,
    /// A byte for the router's configuration chain is on `r3_dout` in this cycle.
    pub r3_strobe: u8,
    /// R3_DOUT.
    pub r3_dout: u8,
}

impl multipc_rcube_inputs {
    pub(crate) fn lines(&self) -> [Line; MULTIPC_PORTS] {
        self.lines.map(Line::from_bits)
    }
}

impl From<&multipc_ddc_inputs> for PciInputs {
    fn from(pins: &multipc_ddc_inputs) -> Self {
        Self {
            bus: Signals {
                ad: pins.ad,
                cbe_n: pins.cbe_n & 0xF,
                par: pins.par != 0,
                frame_n: pins.frame_n != 0,
                irdy_n: pins.irdy_n != 0,
                trdy_n: pins.trdy_n != 0,
                devsel_n: pins.devsel_n != 0,
                stop_n: pins.stop_n != 0,
                perr_n: pins.perr_n != 0,
                serr_n: pins.serr_n != 0,
            },
            idsel: pins.idsel != 0,
            gnt_n: pins.gnt_n != 0,
            r3_status: pins.r3_status,
        }
    }
}

impl From<&PciInputs> for multipc_ddc_inputs {
    fn from(pins: &PciInputs) -> Self {
        let bus = &pins.bus;
        Self {
            ad: bus.ad,
            cbe_n: bus.cbe_n,
            par: bus.par.into(),
            frame_n: bus.frame_n.into(),
            irdy_n: bus.irdy_n.into(),
            trdy_n: bus.trdy_n.into(),
            devsel_n: bus.devsel_n.into(),
            stop_n: bus.stop_n.into(),
            perr_n: bus.perr_n.into(),
            serr_n: bus.serr_n.into(),
            idsel: pins.idsel.into(),
            gnt_n: pins.gnt_n.into(),
            r3_status: pins.r3_status,
        }
    }
}

impl From<&PciOutputs> for multipc_ddc_outputs {
    fn from(pins: &PciOutputs) -> Self {
        let drive = &pins.drive;
        // Value and enable; released lines are pulled up.
        let pair = |line: Option<bool>| (u8::from(line.unwrap_or(true)), u8::from(line.is_some()));
        let (par, par_oe) = pair(drive.par);
        let (frame_n, frame_oe) = pair(drive.frame_n);
        let (irdy_n, irdy_oe) = pair(drive.irdy_n);
        let (trdy_n, trdy_oe) = pair(drive.trdy_n);
        let (devsel_n, devsel_oe) = pair(drive.devsel_n);
        let (stop_n, stop_oe) = pair(drive.stop_n);
        let (perr_n, perr_oe) = pair(drive.perr_n);
        let (serr_n, serr_oe) = pair(drive.serr_n);
        Self {
            ad: drive.ad.unwrap_or(u32::MAX),
            ad_oe: drive.ad.is_some().into(),
            cbe_n: drive.cbe_n.unwrap_or(0xF),
            cbe_oe: drive.cbe_n.is_some().into(),
            par,
            par_oe,
            frame_n,
            frame_oe,
            irdy_n,
            irdy_oe,
            trdy_n,
            trdy_oe,
            devsel_n,
            devsel_oe,
            stop_n,
            stop_oe,
            perr_n,
            perr_oe,
            serr_n,
            serr_oe,
            req_n: pins.req_n.into(),
            inta_n: pins.inta_n.into(),
            r3_init: pins.r3_init.into(),
            r3_strobe: pins.r3_dout.is_some().into(),
            r3_dout: pins.r3_dout.unwrap_or(0),
        }
    }
}

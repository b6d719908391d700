//! A link port alone: `hsl::Port` against `hsl_end`.

use multipc::hsl::{Line, LinkConfig, Port, PortKind, Received, Slot, Symbol};

use crate::{Device, pins, verilated};

pins! {
    /// What the port is given.
    pub struct EndIn {
        /// The symbol that waits.
        pub offer_sym: u16 [9],
        /// What the line carries.
        pub in_sym: u16 [9],
        /// Reset, asynchronous.
        pub rst_n: u8 [1],
        /// The port is on.
        pub enable: u8 [1],
        /// Strap: parallel port.
        pub parallel: u8 [1],
        /// Strap: start-up counts of 1.
        pub quick: u8 [1],
        /// A symbol waits.
        pub offer: u8 [1],
        /// A symbol leaves the input FIFO.
        pub freed: u8 [1],
        /// The line has a signal.
        pub in_signal: u8 [1],
        /// `fccreceived` of a parallel port.
        pub in_fcc: u8 [1],
    }
}

pins! {
    /// What the port shows.
    pub struct EndOut {
        /// What the line carries, 0 without signal.
        pub out_sym: u16 [9],
        /// The symbol for the input FIFO, 0 when there is none.
        pub stored_sym: u16 [9],
        /// The line has a signal.
        pub out_signal: u8 [1],
        /// `sendfcc` of a parallel port.
        pub out_fcc: u8 [1],
        /// The offered symbol was taken.
        pub taken: u8 [1],
        /// A symbol came in.
        pub stored: u8 [1],
        /// The link went down.
        pub went_down: u8 [1],
        /// The link is up.
        pub up: u8 [1],
    }
}

verilated!(
    /// The port in RTL.
    pub EndRtl = "hsl_end", hsl_end_shim, EndIn => EndOut
);

/// The line that the pins of an input stand for.
pub fn line(signal: bool, fcc: bool, sym: u16) -> Line {
    if !signal {
        return Line::DEAD;
    }
    let line = Line::symbol_of(Symbol::from_bits(sym));
    if fcc { line.with_fcc_pulse() } else { line }
}

/// Symbol, signal, pulse of an output.
pub fn pins_of(line: Line) -> (u16, bool, bool) {
    if line.has_signal() {
        (line.symbol().bits(), true, line.fcc_pulse())
    } else {
        (0, false, false)
    }
}

/// The port of the model.
#[derive(Default)]
pub struct EndModel {
    port: Option<Port>,
}

impl EndModel {
    /// The port behind the pins, once there was an edge.
    pub fn port(&self) -> Option<&Port> {
        self.port.as_ref()
    }
}

/// The counts that the strap `quick` gives.
pub fn link_config(quick: bool) -> LinkConfig {
    let mut config = LinkConfig::default();
    if quick {
        config.reset_cycles = 1;
        config.calibration_cycles = 1;
        config.signal_cycles = 1;
    }
    config
}

impl Device for EndModel {
    type In = EndIn;
    type Out = EndOut;

    fn step(&mut self, pins: &EndIn) -> EndOut {
        let kind = if pins.parallel == 1 {
            PortKind::Parallel
        } else {
            PortKind::Serial
        };
        let mut out = EndOut::default();
        if pins.rst_n == 0 || pins.enable == 0 {
            self.port = None;
            return out;
        }
        // The edge that takes `enable` in does nothing else.
        let Some(port) = &mut self.port else {
            let mut port = Port::new(kind);
            port.enable();
            self.port = Some(port);
            return out;
        };
        let offered = (pins.offer == 1).then(|| Symbol::from_bits(pins.offer_sym));
        let (sent, slot) = port.transmit(offered);
        let (sym, signal, fcc) = pins_of(sent);
        out.out_sym = sym;
        out.out_signal = signal.into();
        out.out_fcc = fcc.into();
        out.taken = (slot == Slot::Symbol).into();
        if pins.freed == 1 {
            port.freed();
        }
        let heard = line(pins.in_signal == 1, pins.in_fcc == 1, pins.in_sym);
        match port.receive(heard, &link_config(pins.quick == 1)) {
            Received::Symbol(symbol) => {
                out.stored = 1;
                out.stored_sym = symbol.bits();
            }
            Received::Down(_) => out.went_down = 1,
            _ => {}
        }
        out.up = port.is_up().into();
        out
    }
}

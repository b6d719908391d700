//! RCUBE: the 8x8 wormhole router of HS links.
//!
//! ```text
//!           per input                                          per output
//! pin -> [deserialise 4] -> [FIFO 64] -> crossbar -> [FIFO 5] -> [serialise 3] -> pin
//!                              |            ^                       ^
//!                       header |            | circuit               | FCC, credit
//!                              v            |                       |
//!                      [interval compare] -> [arbitration]      link port
//! ```
//!
//! Each bracket ends in a register; the numbers are registers on the way of a
//! symbol. A header character leaves 12 cycles after it arrived: 4 to
//! deserialise, 1 to be written to the FIFO, 1 for the second character of the
//! header, 1 compare, 1 arbitration, 1 crossbar, 3 to serialise. Behind it the
//! packet streams at a symbol a cycle. A parallel port has no deserialiser and
//! only the output register: 8 cycles from a parallel port to a serial one, 10
//! back, 6 between two parallel ones.
//!
//! | file | block |
//! |---|---|
//! | `chain`, `table` | configuration chain; routing table and interval decoder |
//! | `lanes` | deserialisers and serialisers |
//! | `input` | reception, input FIFOs, headers |
//! | `crossbar`, `matrix` | circuits, arbitration as one bit-matrix operation |
//! | `output` | output FIFOs, emission |
//! | `idle` | many cycles at once while nothing moves |
//! | `stats`, `view` | counters and looks inside |
//!
//! Document: hw/doc/rcube.md (facts with sources, choices, one cycle walked
//! through).

mod chain;
mod config;
mod crossbar;
mod idle;
mod input;
mod lanes;
mod matrix;
mod output;
mod ring;
mod stats;
mod table;
mod view;

use crate::hsl::{Line, PortBank};

pub use crate::hsl::PortKind;
pub use config::RcubeConfig;
pub use stats::{InputStats, OutputStats, PortEvents, PortStats, RcubeStats};
pub use table::{RoutingTable, TableError};
pub use view::{InputState, OutputState};

use chain::Chain;
use config::{INPUT_FIFO, OUTPUT_RING, STAGES};
use crossbar::Switch;
use lanes::{Blend, Stages};
use ring::Rings;
use stats::Counters;

/// Ports of a router.
pub const PORTS: usize = 8;

/// The router.
///
/// Pins:
/// - `chain`: R3_INIT (level) and R3_DOUT (byte strobe) -- inputs, of the PCI
///   clock of the board; R3_INIT is sampled on the link clock.
/// - `inputs` (a [`Line`] each) -- sampled on the link clock.
/// - `outputs` (a [`Line`] each) -- registered on the link clock.
/// - `link_status` (a bit each) -- registered.
///
/// ```
/// use multipc::hsl::Line;
/// use multipc::rcube::{PORTS, Rcube, RcubeConfig, RoutingTable};
///
/// let mut router = Rcube::new(RcubeConfig::default().with_parallel(1));
/// router.configure(&RoutingTable::uniform([0, 1, 1, 1, 1, 1, 1, 1], [1, 2, 2, 2, 2, 2, 2, 2]));
/// for _ in 0..10_000 {
///     router.step(&[Line::DEAD; PORTS]);
/// }
/// // Calibrated, and nobody there; the parallel port needs no start-up.
/// assert_eq!(router.outputs(), &[Line::IDLE; PORTS]);
/// assert_eq!(router.link_status(), 0b0000_0001);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(alias = "R3")]
pub struct Rcube {
    config: RcubeConfig,
    chain: Chain,
    // Out of reset, with the table as it was in the chain at that edge.
    running: bool,
    table: RoutingTable,

    ports: PortBank,

    deserialiser: Stages,
    serialiser: Stages,
    blend: Blend,
    outputs: [Line; PORTS],

    input_fifo: Rings<INPUT_FIFO>,
    output_fifo: Rings<OUTPUT_RING>,

    switch: Switch,
    counters: Counters,
}

/// What the registers said before the edge, for all blocks.
#[derive(Clone, Copy)]
struct Before {
    up: u8,
    // FIFOs that are not empty.
    input_ready: u8,
    output_ready: u8,
    // Outputs that belong to a packet.
    held: u8,
    // Inputs: in a circuit, dropping, closing, waiting for an output; and those
    // whose circuit ends in a full output FIFO.
    streaming: u8,
    dropping: u8,
    closing: u8,
    requesting: u8,
    blocked: u8,
}

/// What moved at the edge, for the statistics.
#[derive(Clone, Copy, Default)]
struct Moved {
    // Inputs that moved a symbol, or were granted an output.
    popped: u8,
    granted: u8,
    // Outputs that sent a symbol, or an FCC character.
    sent: u8,
    fcc: u8,
}

impl Rcube {
    /// A router in reset, its configuration chain all zero.
    pub fn new(config: RcubeConfig) -> Self {
        let mut config = config;
        config.serial_input_stages = config.serial_input_stages.min(STAGES as u8);
        config.parallel_input_stages = config.parallel_input_stages.min(STAGES as u8);
        config.serial_output_stages = config.serial_output_stages.clamp(1, STAGES as u8);
        config.parallel_output_stages = config.parallel_output_stages.clamp(1, STAGES as u8);
        config.output_fifo = config.output_fifo.clamp(1, OUTPUT_RING as u8);
        let ports = PortBank::new(config.ports);
        Self {
            config,
            chain: Chain::new(),
            running: false,
            table: RoutingTable::default(),
            deserialiser: Stages::DEAD,
            serialiser: Stages::DEAD,
            blend: Blend::new(!ports.serial()),
            ports,
            outputs: [Line::DEAD; PORTS],
            input_fifo: Rings::new(),
            output_fifo: Rings::new(),
            switch: Switch::new(),
            counters: Counters::new(),
        }
    }

    /// One PCI edge of the configuration pins: while R3_INIT is low the router
    /// is in reset and each byte of R3_DOUT shifts the chain; bytes beside a
    /// high R3_INIT are ignored. The level reaches the router at its next link
    /// edge.
    #[doc(alias = "R3_INIT")]
    #[doc(alias = "R3_DOUT")]
    pub fn chain(&mut self, r3_init: bool, dout: Option<u8>) {
        self.chain.clock(r3_init, dout);
    }

    /// Shifts a whole table in as software does, byte 257 first, and raises
    /// R3_INIT.
    pub fn configure(&mut self, table: &RoutingTable) {
        for byte in table.emit().into_iter().rev() {
            self.chain.clock(false, Some(byte));
        }
        self.chain.clock(true, None);
    }

    /// The model's configuration, as adjusted to its limits.
    pub const fn config(&self) -> &RcubeConfig {
        &self.config
    }

    /// What each output pin carries since the last edge.
    pub const fn outputs(&self) -> &[Line; PORTS] {
        &self.outputs
    }

    /// Bit `k`: link `k` is usable; that of a parallel port is 1 out of reset.
    #[doc(alias = "linkstatus")]
    pub const fn link_status(&self) -> u8 {
        if self.running {
            self.ports.up() | !self.ports.serial()
        } else {
            0
        }
    }

    /// One edge of the link clock.
    pub fn step(&mut self, inputs: &[Line; PORTS]) {
        if !self.running || !self.chain.init() {
            self.step_in_reset();
            return;
        }
        // Against the stream, so that each block finds the registers before it
        // as they were; what flows backwards is in `before`.
        let before = self.before();
        let mut moved = Moved::default();
        let sent = self.transmit(&before, &mut moved);
        self.cross(&before, &mut moved);
        self.arbitrate(&before, &mut moved);
        self.decode(&before);
        self.counters.count(&self.doing(&before, &moved));
        let received = self.deserialised(inputs);
        self.receive(&received);

        self.deserialiser.shift(inputs);
        self.serialiser.shift(&sent);
        self.outputs = self.blend.of(
            self.serialiser.tap(self.config.serial_output_stages),
            self.serialiser.tap(self.config.parallel_output_stages),
        );
    }

    // R3_INIT low, or the edge at which its change arrives.
    #[cold]
    #[inline(never)]
    fn step_in_reset(&mut self) {
        if self.running == self.chain.init() {
            return;
        }
        self.running = self.chain.init();
        self.ports.disable();
        if self.running {
            self.table = self.chain.table();
            self.ports.enable();
        }
        self.deserialiser = Stages::DEAD;
        self.serialiser = Stages::DEAD;
        self.outputs = [Line::DEAD; PORTS];
        self.input_fifo.clear(u8::MAX);
        self.output_fifo.clear(u8::MAX);
        self.switch = Switch::new();
    }

    #[inline]
    fn before(&self) -> Before {
        Before {
            up: self.ports.up(),
            input_ready: self.input_fifo.ready(),
            output_ready: self.output_fifo.ready(),
            held: self.switch.held,
            streaming: self.switch.streaming,
            dropping: self.switch.dropping,
            closing: self.switch.closing,
            requesting: self.switch.requesting(),
            blocked: self
                .switch
                .leading_to(self.output_fifo.holding(self.config.output_fifo)),
        }
    }

    // What arrives behind the deserialisers at this edge.
    #[inline]
    fn deserialised(&self, inputs: &[Line; PORTS]) -> [Line; PORTS] {
        let behind = |stages| {
            if stages == 0 {
                inputs
            } else {
                self.deserialiser.tap(stages)
            }
        };
        self.blend.of(
            behind(self.config.serial_input_stages),
            behind(self.config.parallel_input_stages),
        )
    }

    /// Counters of all ports.
    pub fn stats(&self) -> RcubeStats {
        self.counters.all()
    }

    /// Counters of port `port` (modulo 8).
    pub fn port_stats(&self, port: usize) -> PortStats {
        self.counters.port(port & (PORTS - 1))
    }

    /// Counts from zero again.
    pub fn clear_stats(&mut self) {
        self.counters = Counters::new();
    }
}

#[cfg(test)]
mod tests;

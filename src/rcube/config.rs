//! What is chosen about a router. Document: hw/doc/rcube.md, "Choices".

use super::PORTS;
use crate::hsl::{LinkConfig, PortKind};

/// Configuration of the model (not of the chip: that is the
/// [`RoutingTable`](super::RoutingTable)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RcubeConfig {
    /// How each port is wired. Default: all serial.
    pub ports: [PortKind; PORTS],
    /// Start-up counts and limits.
    pub link: LinkConfig,
    /// Registers between a serial input pin and the input FIFO: 4. Chosen:
    /// part of the recorded 12 cycles of the whole router.
    pub serial_input_stages: u8,
    /// Registers between the output FIFO and a serial output pin, the pin's own
    /// included: 3. Chosen, as above.
    pub serial_output_stages: u8,
    /// The same at a parallel input: 0. Chosen: no deserialiser.
    pub parallel_input_stages: u8,
    /// The same at a parallel output: 1. Chosen: no serialiser, but outputs
    /// come from a register.
    pub parallel_output_stages: u8,
    /// Symbols in an output FIFO: 5. On record (simulation model of the
    /// router).
    pub output_fifo: u8,
}

/// Symbols of an input FIFO: the two flits granted at start-up.
pub(super) const INPUT_FIFO: usize = 64;
/// Most registers of an input or output path; more act as this many.
pub(super) const STAGES: usize = 4;
/// Most symbols of an output FIFO; more act as this many.
pub(super) const OUTPUT_RING: usize = 8;

impl Default for RcubeConfig {
    fn default() -> Self {
        Self {
            ports: [PortKind::Serial; PORTS],
            link: LinkConfig::default(),
            serial_input_stages: 4,
            serial_output_stages: 3,
            parallel_input_stages: 0,
            parallel_output_stages: 1,
            output_fifo: 5,
        }
    }
}

impl RcubeConfig {
    /// The default with the ports of `set` (bit `k` = port `k`) parallel. On
    /// record, two of the eight can be.
    pub fn with_parallel(mut self, set: u8) -> Self {
        for (k, port) in self.ports.iter_mut().enumerate() {
            if set >> k & 1 == 1 {
                *port = PortKind::Parallel;
            }
        }
        self
    }

    /// The same with start-up counts of 1: for tests that are not about
    /// start-up.
    pub fn with_short_start_up(mut self) -> Self {
        self.link.reset_cycles = 1;
        self.link.calibration_cycles = 1;
        self.link.signal_cycles = 1;
        self
    }
}

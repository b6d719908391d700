//! The published figures, and the model measured against them.
//!
//! [`record`] holds what was measured in 2000; [`PutBench`] repeats the
//! original benchmarks on a two-board machine; [`router_latency`] measures one
//! router alone. Nothing here fits anything: the numbers come out of the
//! chips. Document: hw/doc/figures.md.

mod put_bench;
pub mod record;
mod router;

pub use put_bench::{BenchError, LatencySplit, PutBench};
pub use record::throughput_band;
pub use router::router_latency;

/// One point of the throughput curve, record and model side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PutPoint {
    /// Bytes a page.
    pub bytes: u32,
    /// Measured in 2000, Mbit/s.
    pub record_mbit_s: f64,
    /// Measured on the model, Mbit/s.
    pub model_mbit_s: f64,
}

impl PutPoint {
    /// Relative difference of the model to the record.
    pub fn difference(&self) -> f64 {
        self.model_mbit_s / self.record_mbit_s - 1.0
    }

    /// The accepted relative difference.
    pub fn band(&self) -> f64 {
        throughput_band(self.bytes)
    }

    /// Whether the model is inside the band.
    pub fn passes(&self) -> bool {
        let difference = self.difference();
        difference <= self.band() && difference >= -self.band()
    }
}

//! The published figures that the model is held against.
//!
//! Source: result slides of April 2000 in the MPC-OS repository
//! (`docs/debitlat`): two Pentium II at 350 MHz, 440BX, FastHSL boards with a
//! 66 MHz link clock; hw/doc/figures.md.

/// One measured point of the throughput curve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RecordPoint {
    /// Bytes a page.
    pub bytes: u32,
    /// Measured throughput, Mbit/s (10^6).
    pub mbit_s: f64,
}

const fn point(bytes: u32, mbit_s: f64) -> RecordPoint {
    RecordPoint { bytes, mbit_s }
}

/// Throughput of PUT against the page size: the 44 published points.
#[rustfmt::skip]
pub const THROUGHPUT: [RecordPoint; 44] = [
    point(1, 3.9), point(4, 15.7), point(8, 31.4), point(16, 62.9),
    point(32, 126.0), point(40, 153.3), point(50, 188.2), point(60, 223.4),
    point(64, 236.6), point(66, 246.4), point(68, 254.2), point(70, 255.0),
    point(80, 287.5), point(90, 312.6), point(100, 334.4), point(128, 345.8),
    point(150, 356.8), point(200, 372.9), point(250, 412.5), point(300, 420.0),
    point(350, 430.1), point(400, 438.1), point(500, 455.6), point(512, 458.5),
    point(520, 463.8), point(530, 461.6), point(534, 447.5), point(536, 448.6),
    point(538, 429.6), point(540, 431.2), point(550, 435.0), point(560, 441.0),
    point(570, 444.0), point(600, 449.6), point(700, 462.5), point(800, 466.3),
    point(900, 472.6), point(1024, 480.3), point(2048, 488.1), point(4096, 489.9),
    point(8192, 493.5), point(16384, 493.9), point(32768, 494.1), point(65534, 494.6),
];

/// The accepted relative difference for a page size: 5 % from 128 bytes on,
/// 6 % up to 70, and 12 % between, where the software floor and the chip
/// overlap.
pub const fn throughput_band(bytes: u32) -> f64 {
    match bytes {
        0..=70 => 0.06,
        71..=127 => 0.12,
        _ => 0.05,
    }
}

/// A range of published microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Range {
    /// Smallest.
    pub min_us: f64,
    /// Largest.
    pub max_us: f64,
}

impl Range {
    /// Whether a time lies in the range, ends included.
    pub fn holds(&self, us: f64) -> bool {
        us >= self.min_us && us <= self.max_us
    }
}

/// One-way latency of a page of 1 to 4 bytes, polling.
pub mod latency {
    use super::Range;

    /// The put call.
    pub const SOFTWARE_US: f64 = 1.9;
    /// From the register write to the last byte in remote memory.
    pub const HARDWARE: Range = Range {
        min_us: 1.7,
        max_us: 2.1,
    };
    /// Until the receiver's polling sees it.
    pub const POLLING: Range = Range {
        min_us: 0.01,
        max_us: 0.4,
    };
    /// One way in all.
    pub const TOTAL_US: f64 = 4.0;
}

/// Cycles from link in to link out of one router without contention: 180 ns at
/// 66 MHz, 150 ns at 80 MHz.
pub const ROUTER_LATENCY_CYCLES: u64 = 12;

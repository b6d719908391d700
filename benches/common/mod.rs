//! What the benchmarks share: a seeded generator, a check sum, a stopwatch.

// Each benchmark uses its part.
#![allow(dead_code)]

use std::time::{Duration, Instant};
use std::{fs, thread};

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % n
    }
}

/// FNV-1a, 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv(pub u64);

impl Fnv {
    pub const NEW: Self = Self(0xCBF2_9CE4_8422_2325);

    pub fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x100_0000_01B3);
    }

    pub fn add_bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.add(byte.into()));
    }
}

/// Processor time of this thread where the system tells it (Linux), so that
/// other work on the machine does not count; else the time on the wall.
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<u64>,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self {
            cpu: cpu_ns(),
            wall: Instant::now(),
        }
    }

    pub fn seconds(&self) -> f64 {
        let wall = self.wall.elapsed();
        match (self.cpu, cpu_ns()) {
            (Some(begin), Some(end)) => end.saturating_sub(begin) as f64 / 1e9,
            _ => wall.as_secs_f64(),
        }
    }
}

fn cpu_ns() -> Option<u64> {
    // The count is brought up to date when the thread leaves its processor, and
    // else only a few hundred times a second.
    thread::sleep(Duration::from_micros(1));
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split_whitespace().next()?.parse().ok()
}

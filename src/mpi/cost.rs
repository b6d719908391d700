//! What the message layer's software costs on the machine of the record.
//!
//! The engine charges these as steps of its process's CPU; what the hardware
//! costs comes from the models. Source: hw/doc/mpi.md, section "Costs".

use crate::time::Duration;

/// Software costs of a process on a Pentium II at 350 MHz.
///
/// One empty message of MPI-MPC 2: `send + put + hardware + polling +
/// receive` = 4.1 + 1.9 + 2.8 + 0.1 + 6.1 = 15.0 us. MPI-MPC 1: without
/// polling, with an interrupt and three system calls, 26.1 us. The hardware's
/// 2.8 us are what the simulated boards take for the 36 bytes of a control
/// message and its report; the published 1.9 us are for a page of 4 bytes
/// without one. `tests/mpi_figures.rs` measures both sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct MpiCost {
    /// A send call down to the PUT. Calibrated: closes the sum of 15 us.
    pub send: Duration,
    /// From a notification to the return of the receive: matching, tiny
    /// copies. Calibrated: closes the sum of 15 us.
    pub receive: Duration,
    /// Posting a receive. Chosen: nothing, it is part of `receive`.
    pub post: Duration,
    /// The answer to a REQ. Chosen: 3.1 us, a send call without its upper
    /// layer, so that an answer takes 13 us on its way.
    pub control_send: Duration,
    /// What is done on an answer, or on the end of a data message. Chosen:
    /// 5.1 us, see `control_send`.
    pub control_receive: Duration,
    /// Giving or taking credits alone. Chosen: 0.5 us, a few cache misses.
    pub credit: Duration,
    /// One call of PUT for one descriptor.
    pub put: Duration,
    /// From one descriptor to the next of the same message.
    pub posting_period: Duration,
    /// From a look at the notifications that finds one to acting on it.
    pub poll_detect: Duration,
    /// Between two looks; charged by whoever lets the process wait.
    pub poll_period: Duration,
    /// Entering and leaving the kernel (MPI-MPC 1).
    pub system_call: Duration,
    /// An interrupt: entry, handler, event queue, waking the process (MPI-MPC
    /// 1). Calibrated: closes the sum of 26 us.
    pub interrupt: Duration,
    /// Copying a byte from memory to memory, in picoseconds. Chosen: 5,556,
    /// 180 bytes a microsecond, as boards of the time do.
    pub copy_ps_per_byte: u64,
    /// Pinning and translating one page of 4 KB (MPI-MPC 1). Calibrated: the
    /// difference between 490 and 450 Mbit/s.
    pub pin_page: Duration,
}

impl Default for MpiCost {
    fn default() -> Self {
        Self {
            send: Duration::from_ps(4_100_000),
            receive: Duration::from_ps(6_100_000),
            post: Duration::ZERO,
            control_send: Duration::from_ps(3_100_000),
            control_receive: Duration::from_ps(5_100_000),
            credit: Duration::from_ps(500_000),
            put: Duration::from_ps(1_900_000),
            posting_period: Duration::from_ps(2_035_000),
            poll_detect: Duration::from_ps(10_000),
            poll_period: Duration::from_ps(390_000),
            system_call: Duration::from_ps(1_100_000),
            interrupt: Duration::from_ps(7_900_000),
            copy_ps_per_byte: 5_556,
            pin_page: Duration::from_ps(6_000_000),
        }
    }
}

/// Bytes of a page of the processor.
pub const PAGE: u64 = 4096;

impl MpiCost {
    /// Software that takes no time: for tests, and for real processors.
    pub const FREE: Self = Self {
        send: Duration::ZERO,
        receive: Duration::ZERO,
        post: Duration::ZERO,
        control_send: Duration::ZERO,
        control_receive: Duration::ZERO,
        credit: Duration::ZERO,
        put: Duration::ZERO,
        posting_period: Duration::ZERO,
        poll_detect: Duration::ZERO,
        poll_period: Duration::ZERO,
        system_call: Duration::ZERO,
        interrupt: Duration::ZERO,
        copy_ps_per_byte: 0,
        pin_page: Duration::ZERO,
    };

    /// Copying `bytes` bytes.
    #[must_use]
    pub const fn copy(&self, bytes: u64) -> Duration {
        Duration::from_ps(bytes.saturating_mul(self.copy_ps_per_byte))
    }

    /// Pinning the pages of `bytes` bytes.
    #[must_use]
    pub const fn pin(&self, bytes: u64) -> Duration {
        Duration::from_ps(self.pin_page.ps().saturating_mul(bytes.div_ceil(PAGE)))
    }

    /// `times` system calls.
    #[must_use]
    pub const fn system_calls(&self, times: u64) -> Duration {
        Duration::from_ps(self.system_call.ps().saturating_mul(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control message without data, and polling, on the simulated boards.
    const HARDWARE: u64 = 2_800_000;
    const POLLING: u64 = 100_000;

    #[test]
    fn the_sums_are_the_published_latencies() {
        let cost = MpiCost::default();
        let common = cost.send.ps() + cost.put.ps() + HARDWARE + cost.receive.ps();
        assert_eq!(common + POLLING, 15_000_000);
        let kernel = cost.system_calls(3).ps() + cost.interrupt.ps();
        assert_eq!(common + kernel, 26_100_000);
    }

    #[test]
    fn pinned_pages_come_at_450_mbit_s() {
        let cost = MpiCost::default();
        // A page of 4 KB at 490 Mbit/s, then the pin.
        let page = 4096.0 * 8.0 / 490.0 + cost.pin(4096).as_us_f64();
        let rate = 4096.0 * 8.0 / page;
        assert!((449.0..451.0).contains(&rate), "{rate}");
    }
}

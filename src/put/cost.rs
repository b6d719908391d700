//! What software costs on the machine of the record.
//!
//! The driver itself takes no simulated time; whoever measures charges these.

use crate::time::Duration;

/// Software costs of the machine that the published figures come from: two
/// Pentium II at 350 MHz. Source: hw/doc/put.md, section "Costs".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct CostModel {
    /// One call that posts one page, in the kernel.
    pub put_call: Duration,
    /// From one posted page to the next when posting back to back: the period
    /// measured with pages so small that the chip never limits.
    pub posting_period: Duration,
    /// A system call, when the caller is a process.
    pub system_call: Duration,
    /// Between two looks at a byte in memory. Chosen: 390 ns, so that
    /// detection takes [`poll_detect`](Self::poll_detect) to 400 ns, the
    /// recorded spread of 10 to 400 ns.
    pub poll_period: Duration,
    /// From a look that finds the byte to the program acting on it.
    pub poll_detect: Duration,
}

impl Default for CostModel {
    fn default() -> Self {
        Self {
            put_call: Duration::from_ps(1_900_000),
            posting_period: Duration::from_ps(2_035_000),
            system_call: Duration::from_ps(1_100_000),
            poll_period: Duration::from_ps(390_000),
            poll_detect: Duration::from_ps(10_000),
        }
    }
}

impl CostModel {
    /// The shortest time from a byte in memory to the program acting on it.
    pub const fn fastest_detection(&self) -> Duration {
        self.poll_detect
    }

    /// The longest.
    pub fn slowest_detection(&self) -> Duration {
        self.poll_period + self.poll_detect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_takes_10_to_400_ns() {
        let cost = CostModel::default();
        assert_eq!(cost.fastest_detection(), Duration::from_ns(10));
        assert_eq!(cost.slowest_detection(), Duration::from_ns(400));
    }
}

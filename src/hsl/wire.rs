//! Cables, in cycles. Document: hw/doc/hsl.md, "Cable".

use crate::time::{Duration, Frequency};

/// Propagation: 5 ns per metre. Chosen: two thirds of the speed of light, as
/// in usual coaxial cable and fibre.
pub const PS_PER_METRE: u64 = 5_000;

/// Length of a cable where nothing else is said. Chosen: neighbouring cabinets;
/// coaxial cable goes to about 5 m.
pub const DEFAULT_CABLE_METRES: u64 = 3;

/// Propagation time of a cable of `metres` (saturating).
pub const fn cable_delay(metres: u64) -> Duration {
    Duration::from_ps(metres.saturating_mul(PS_PER_METRE))
}

/// Cycles of `clock` that a wire of this `delay` takes: rounded up, and at
/// least 1, because an output register and the input that samples it are one
/// edge apart.
///
/// ```
/// use multipc::hsl::{cable_delay, wire_delay_cycles};
/// use multipc::time::Frequency;
///
/// assert_eq!(wire_delay_cycles(cable_delay(3), Frequency::LINK_66_MHZ), 1);
/// assert_eq!(wire_delay_cycles(cable_delay(5), Frequency::LINK_80_MHZ), 2);
/// ```
pub const fn wire_delay_cycles(delay: Duration, clock: Frequency) -> u64 {
    let cycles = clock.cycles_covering(delay);
    if cycles == 0 { 1 } else { cycles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_rounds_up_and_is_never_zero() {
        let clock = Frequency::LINK_80_MHZ; // 12.5 ns
        for (ps, cycles) in [
            (0, 1),
            (1, 1),
            (12_500, 1),
            (12_501, 2),
            (25_000, 2),
            (25_001, 3),
        ] {
            assert_eq!(
                wire_delay_cycles(Duration::from_ps(ps), clock),
                cycles,
                "{ps} ps"
            );
        }
    }

    #[test]
    fn fibre_of_70_metres_takes_28_cycles_at_80_mhz() {
        assert_eq!(
            wire_delay_cycles(cable_delay(70), Frequency::LINK_80_MHZ),
            28
        );
    }
}

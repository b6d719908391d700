//! Interval decoder: model against RTL.
#![cfg(feature = "rcube")]

use multipc_cosim::rcube::{IntervalIn, IntervalModel, IntervalRtl};
use multipc_cosim::{Device, Lockstep, Random, cycles};

#[test]
fn rtl_knows_the_intervals_of_the_specification() {
    let mut rtl = IntervalRtl::new();
    let bounds = [501, 2570, 5315, 16259, 27016, 36672, 51237, 53699];
    for (header, interval) in [(60_000, 7), (100, 7), (600, 0)] {
        assert_eq!(
            rtl.step(&IntervalIn {
                bounds,
                header,
                two: 1
            })
            .interval,
            interval
        );
    }
}

#[test]
fn intervals_are_equal_for_random_tables_sorted_or_not() {
    let mut random = Random::new(1);
    let mut bench = Lockstep::new("rcube_interval", IntervalModel, IntervalRtl::new());
    for _ in 0..cycles(20_000, 1_000_000) {
        let mut inputs = IntervalIn {
            header: random.bits() as u16,
            two: random.below(2) as u8,
            ..Default::default()
        };
        let top = 1 << random.below(17);
        inputs.bounds = std::array::from_fn(|_| random.below(top) as u16);
        if !random.one_in(8) {
            inputs.bounds.sort_unstable();
        }
        if random.one_in(4) {
            inputs.header = inputs.bounds[random.below(8) as usize];
        }
        bench
            .step(&inputs)
            .unwrap_or_else(|difference| panic!("{difference}"));
    }
}

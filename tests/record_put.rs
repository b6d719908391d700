//! The published figures of PUT, measured on the chips.
#![cfg(feature = "alloc")]

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::topology::Topology;
use multipc::figures::record::{self, latency};
use multipc::figures::{LatencySplit, PutBench, router_latency, throughput_band};
use multipc::put::CostModel;
use multipc::rcube::RcubeConfig;

/// What was published, as data: `bytes,mbit_per_s`.
const CURVE: &str = include_str!("vectors/put/throughput.csv");

fn published() -> Vec<(u32, f64)> {
    let mut lines = CURVE.lines();
    assert_eq!(lines.next(), Some("bytes,mbit_per_s"));
    lines
        .map(|line| {
            let (bytes, rate) = line.split_once(',').expect("two columns");
            (bytes.parse().unwrap(), rate.parse().unwrap())
        })
        .collect()
}

fn on_two_boards<R>(
    measure: impl FnOnce(&mut PutBench<'_, 'static, multipc::fabric::NoProbe>) -> R,
) -> R {
    let mut config = ClusterConfig::default();
    config.settle_us = 1_000;
    let mut cluster = Cluster::boot(&Topology::pair().unwrap(), &config).unwrap();
    let (machine, writers) = cluster.parts();
    let [first, second] = writers else {
        panic!("two nodes");
    };
    let drivers = [first.put_mut(), second.put_mut()];
    measure(&mut PutBench::new(machine, drivers, CostModel::default()).unwrap())
}

#[test]
fn the_curve_in_the_code_is_the_published_one() {
    let published = published();
    assert_eq!(published.len(), 44);
    let ours = record::THROUGHPUT.map(|point| (point.bytes, point.mbit_s));
    assert_eq!(published, ours);
}

#[test]
fn bands_are_6_12_and_5_per_cent() {
    for (bytes, _) in published() {
        let band = match bytes {
            1..=70 => 0.06,
            80..=100 => 0.12,
            _ => 0.05,
        };
        assert_eq!(throughput_band(bytes), band, "{bytes} bytes");
    }
}

#[test]
fn throughput_is_inside_its_band_at_all_44_page_sizes() {
    let outside: Vec<String> = on_two_boards(|bench| {
        let points = record::THROUGHPUT.into_iter().map(|point| {
            // The model does not scatter: a few pages say as much as many,
            // once they fill the FIFOs.
            let pages = (40_000 / point.bytes).clamp(4, 60);
            bench.point(point, pages).unwrap()
        });
        let points: Vec<_> = points.collect();
        assert_eq!(points.len(), 44);
        let left = points.iter().filter(|point| {
            let ratio = point.model_mbit_s / point.record_mbit_s;
            let band = throughput_band(point.bytes);
            !(1.0 - band..=1.0 + band).contains(&ratio) || !point.passes()
        });
        left.map(|point| format!("{point:?}")).collect()
    });
    assert_eq!(outside, Vec::<String>::new());
}

#[test]
fn latency_of_1_to_4_bytes_is_inside_the_published_ranges() {
    for bytes in 1..=4 {
        let split: LatencySplit = on_two_boards(|bench| bench.latency(bytes, 40).unwrap());
        let LatencySplit {
            software_us,
            hardware_us,
            polling_us,
            ..
        } = split;
        let text = format!("{bytes} bytes: {split:?}");
        // The put call, with its register write as the last act.
        assert!((software_us - 1.9).abs() < 0.02, "{text}");
        assert!((1.7..=2.1).contains(&hardware_us), "{text}");
        assert!((0.01..=0.4).contains(&polling_us), "{text}");
        let sum = software_us + hardware_us + polling_us;
        assert!((split.total_us() - sum).abs() < 1e-9, "{text}");
        // 4.0 us one way on record; 1.9 + 1.7 + 0.01 to 1.9 + 2.1 + 0.4.
        assert!((3.6..=4.4).contains(&sum), "{text}");
    }
}

#[test]
fn ranges_in_the_code_are_the_published_ones() {
    assert_eq!(latency::SOFTWARE_US, 1.9);
    assert_eq!(
        (latency::HARDWARE.min_us, latency::HARDWARE.max_us),
        (1.7, 2.1)
    );
    assert_eq!(
        (latency::POLLING.min_us, latency::POLLING.max_us),
        (0.01, 0.4)
    );
    assert_eq!(latency::TOTAL_US, 4.0);
}

#[test]
fn a_router_takes_12_cycles() {
    assert_eq!(record::ROUTER_LATENCY_CYCLES, 12);
    assert_eq!(router_latency(&RcubeConfig::default()), Some(12));
}

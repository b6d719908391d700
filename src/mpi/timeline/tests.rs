extern crate std;
use std::string::String;
use std::vec;

use super::*;
use crate::time::{Duration, Instant};

fn at(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

fn small() -> Timeline {
    let mut first = Lane::new(0, at(1_000_000), true);
    first.push(Part::SendSoftware, at(1_000_000), at(5_500_000));
    first.push(Part::Put, at(5_500_000), at(7_400_001));
    let mut second = Lane::new(1, at(1_000_000), true);
    second.push(Part::Hardware, at(7_400_001), at(9_000_000));
    Timeline {
        lanes: vec![first, second],
        messages: vec![Message {
            from: 0,
            to: 1,
            control: true,
            bytes: 36,
            sent: at(7_400_001),
            received: at(9_000_000),
        }],
    }
}

#[test]
fn parts_of_a_lane_add_up_to_its_length() {
    let mut lane = Lane::new(0, at(10), true);
    lane.push(Part::Put, at(20), at(30));
    lane.push(Part::Copy, at(25), at(40));
    lane.push(Part::Copy, at(40), at(50));
    lane.push(Part::Polling, at(0), at(50));
    assert_eq!(lane.breakdown.total(), Duration::from_ps(40));
    assert_eq!(lane.breakdown[Part::Waiting], Duration::from_ps(10));
    assert_eq!(lane.breakdown[Part::Copy], Duration::from_ps(20));
    assert_eq!(lane.breakdown[Part::Polling], Duration::ZERO);
    let ends: Vec<_> = lane
        .spans
        .iter()
        .map(|span| (span.start, span.end))
        .collect();
    assert_eq!(ends, [(at(10), at(20)), (at(20), at(30)), (at(30), at(50))]);
}

#[test]
fn chrome_trace_is_json_with_a_span_a_stretch_and_two_ends_a_message() {
    let mut text = String::new();
    small().write_chrome(&mut text).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|e| e["ph"] == phase).count();
    assert_eq!([of("M"), of("X"), of("s"), of("f")], [4, 4, 1, 1]);
    let put = events.iter().find(|e| e["name"] == "put").unwrap();
    assert_eq!(put["ts"].as_f64(), Some(4.5));
    assert!(text.contains("\"dur\":1.900001"));
}

#[test]
fn paje_trace_is_in_order_of_time_and_closes_its_links() {
    let mut text = String::new();
    small().write_paje(&mut text).unwrap();
    let body: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with(['5', '6', '7', '8']))
        .collect();
    assert_eq!(
        body,
        [
            "5 0.000000000000 S r0 p0",
            "5 0.000000000000 S r1 p11",
            "5 0.000004500000 S r0 p1",
            "5 0.000006400001 S r0 p11",
            "5 0.000006400001 S r1 p2",
            "6 0.000006400001 L m r0 control 0",
            "5 0.000008000000 S r1 p11",
            "7 0.000008000000 L m r1 control 0",
            "8 0.000008000000 R r0",
            "8 0.000008000000 R r1",
            "8 0.000008000000 M m",
        ]
    );
}

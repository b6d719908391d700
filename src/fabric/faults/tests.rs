extern crate std;
use std::vec::Vec;

use super::*;
use crate::fabric::End;
use crate::hsl::{Line, Symbol};

const ANY: End = End::Node(0);

fn data(value: u8) -> Line {
    Line::symbol_of(Symbol::data(value))
}

fn pass(events: &mut [FaultEvent], lines: &[Line]) -> Vec<Line> {
    let mut cable = LossyCable::new(events);
    lines.iter().map(|line| cable.pass(*line)).collect()
}

#[test]
fn each_kind_is_counted_apart_and_from_1() {
    let fcc = Line::symbol_of(Symbol::FCC);
    let ep = Line::symbol_of(Symbol::EP);
    let lines = [
        data(1),
        Line::IDLE,
        fcc,
        data(2),
        ep,
        data(3),
        Line::IDLE,
        ep,
    ];
    for (of, number, hit) in [
        (Kind::Character, 2, 2),
        (Kind::Packet, 2, 3),
        (Kind::Data, 3, 5),
        (Kind::End, 2, 7),
        (Kind::Grant, 1, 2),
    ] {
        let mut event = [FaultEvent::cable(ANY, of, number, CableFault::Drop)];
        let mut expected = lines;
        expected[hit] = Line::IDLE;
        assert_eq!(pass(&mut event, &lines), expected, "{of:?}");
    }
}

#[test]
fn a_pulse_is_lost_without_the_character_beside_it() {
    let lines = [data(1).with_fcc_pulse(), Line::IDLE.with_fcc_pulse()];
    let mut event = [FaultEvent::cable(ANY, Kind::Grant, 1, CableFault::Drop)];
    assert_eq!(pass(&mut event, &lines), [data(1), lines[1]]);
    let mut event = [FaultEvent::cable(ANY, Kind::Data, 1, CableFault::Drop)];
    let alone = Line::IDLE.with_fcc_pulse();
    assert_eq!(pass(&mut event, &lines), [alone, alone]);
}

#[test]
fn corruption_inverts_the_bits_of_the_mask_for_one_cycle() {
    let mut events = [
        FaultEvent::cable_at(ANY, 2, CableFault::Corrupt(0x100)),
        FaultEvent::cable_at(ANY, 1, CableFault::Corrupt(0x0FF)),
    ];
    let got = pass(&mut events, &[data(0x2B), data(0x2B), Line::IDLE]);
    assert_eq!(got, [data(0xD4), Line::symbol_of(Symbol::EP), Line::IDLE]);
}

#[test]
fn an_insertion_waits_for_the_next_idle_cycle() {
    let mut events = [FaultEvent::cable_at(
        ANY,
        1,
        CableFault::Insert(Symbol::EEP),
    )];
    let lines = [data(1), data(2), Line::DEAD, Line::IDLE, Line::IDLE];
    let mut expected = lines;
    expected[3] = Line::symbol_of(Symbol::EEP);
    assert_eq!(pass(&mut events, &lines), expected);
}

#[test]
fn a_cut_lasts_as_long_as_it_should_and_overlaps_join() {
    let cut = |cycles| CableFault::Cut {
        cycles,
        both: false,
    };
    let mut events = [
        FaultEvent::cable_at(ANY, 2, cut(3)),
        FaultEvent::cable_at(ANY, 3, cut(1)),
        FaultEvent::cable_at(ANY, 7, cut(0)),
    ];
    let lines = [data(9); 9];
    let got = pass(&mut events, &lines);
    let dead: Vec<usize> = (0..9).filter(|&i| got[i] == Line::DEAD).collect();
    assert_eq!(dead, [1, 2, 3, 6]);
}

#[test]
fn random_faults_are_the_same_however_idle_time_passes() {
    let mut random = RandomFaults::new(3);
    random.cable.corrupt = 0.05;
    random.cable.drop = 0.05;
    let run = |idle: usize, seed: u64| -> Vec<Line> {
        let random = RandomFaults { seed, ..random };
        let mut cable = LossyCable::new(&mut [][..]).with_random(&random).unwrap();
        (0..2_000)
            .map(|n| {
                for _ in 0..(n * idle) % 7 {
                    assert_eq!(cable.pass(Line::IDLE), Line::IDLE);
                }
                cable.pass(data(n as u8))
            })
            .collect()
    };
    assert_eq!(run(0, 3), run(5, 3));
    assert_ne!(run(0, 3), run(0, 4));
    let spoilt = (0..2_000u32)
        .zip(run(0, 3))
        .filter(|(n, l)| *l != data(*n as u8))
        .count();
    assert!((140..260).contains(&spoilt), "{spoilt} of 2000 at 10 %");
}

#[test]
fn rates_are_probabilities() {
    use std::string::ToString;
    for (rate, text) in [
        (-0.1, "cable drop rate -0.1 is outside 0..=1"),
        (1.1, "cable drop rate 1.1 is outside 0..=1"),
        (f64::NAN, "cable drop rate NaN is outside 0..=1"),
        (0.75, "sum of cable rate 1.25 is outside 0..=1"),
    ] {
        let mut random = RandomFaults::new(0);
        (random.cable.drop, random.cable.cut) = (rate, 0.5);
        assert_eq!(random.check().unwrap_err().to_string(), text);
    }
}

#[test]
fn the_log_keeps_the_newest() {
    let mut storage = [FaultRecord::EMPTY; 3];
    let mut log = Log {
        slots: (&mut storage[..]).into(),
        total: 0,
    };
    for cycle in 1..=5 {
        log.push(FaultRecord {
            cycle,
            ..FaultRecord::EMPTY
        });
    }
    let kept: Vec<u64> = log.iter().map(|record| record.cycle).collect();
    assert_eq!((kept, log.total), (std::vec![3, 4, 5], 5));
    let mut none = Log {
        slots: (&mut [][..]).into(),
        total: 0,
    };
    none.push(FaultRecord::EMPTY);
    assert_eq!((none.iter().count(), none.total), (0, 1));
}

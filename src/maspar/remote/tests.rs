extern crate std;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::maspar::Pattern;
use crate::maspar::schedule::{FirstFit, Scheduler};
use crate::remote::{Flags, Progress, RemoteWrite};

const SIZE: MachineSize = MachineSize::Pes1024;
const BYTES: usize = 64;

fn array<'a>(memory: &'a mut [u8], slots: &'a mut [Slot]) -> PeArray<'a> {
    for (i, byte) in memory.iter_mut().enumerate() {
        *byte = (i * 7 / 3) as u8;
    }
    PeArray::new(&RouterConfig::MP1.with_size(SIZE), memory, slots).unwrap()
}

fn transfers(pattern: &Pattern, length: u64) -> Vec<(u16, Transfer)> {
    let one = |(source, node)| {
        (
            source,
            Transfer {
                node,
                local: 3,
                remote: 40,
                length,
                flags: Flags::default(),
            },
        )
    };
    pattern.pairs().map(one).collect()
}

fn expect_moved(array: &PeArray<'_>, before: &[u8], pattern: &Pattern, len: usize) {
    for (source, target) in pattern.pairs() {
        let from = source as usize * BYTES + 3;
        assert_eq!(
            array.memory(target)[40..40 + len],
            before[from..from + len],
            "{source}"
        );
    }
}

#[test]
fn loop_and_schedule_move_the_same_bytes_and_the_schedule_is_cheaper() {
    let pattern = Pattern::bit_reversal(SIZE);
    let mut router = Router::new(&RouterConfig::MP1.with_size(SIZE)).unwrap();
    let schedule = FirstFit::default().schedule(&mut router, &pattern).unwrap();
    let mut costs = Vec::new();
    for method in [Method::Loop, Method::Schedule(&schedule)] {
        let (mut memory, mut slots) = (vec![0; 1024 * BYTES], vec![Slot::IDLE; 1024]);
        let mut array = array(&mut memory, &mut slots);
        let before = array.memory.to_vec();
        let cost = array.write(&transfers(&pattern, 10), method).unwrap();
        expect_moved(&array, &before, &pattern, 10);
        assert_eq!(cost.rounds, 3);
        costs.push(cost);
    }
    assert_eq!(costs[1].cycles, 3 * schedule.phases());
    assert_eq!(costs[1].ticks, u64::from(costs[1].cycles) * (95 + 32));
    assert_eq!(costs[0].ticks, u64::from(costs[0].cycles) * (100 + 32));
    assert!(costs[1].ticks < costs[0].ticks);
}

#[test]
fn read_brings_the_targets_bytes() {
    let pattern = Pattern::random_function(SIZE, 3).coin(1);
    let (mut memory, mut slots) = (vec![0; 1024 * BYTES], vec![Slot::IDLE; 1024]);
    let mut array = array(&mut memory, &mut slots);
    let before = array.memory.to_vec();
    array.read(&transfers(&pattern, 7), Method::Loop).unwrap();
    for (source, target) in pattern.pairs() {
        let from = target as usize * BYTES + 40;
        assert_eq!(array.memory(source)[3..10], before[from..from + 7]);
    }
}

#[test]
fn values_are_read_before_any_is_stored_in_a_cycle() {
    // Two PEs of different clusters exchange a word in place, in one cycle.
    let (mut memory, mut slots) = (vec![0; 1024 * BYTES], vec![Slot::IDLE; 1024]);
    let mut array = array(&mut memory, &mut slots);
    let before = [array.memory(0)[..4].to_vec(), array.memory(4)[..4].to_vec()];
    assert_ne!(before[0], before[1]);
    let to = |node| Transfer {
        node,
        local: 0,
        remote: 0,
        length: 4,
        flags: Flags::default(),
    };
    let cost = array
        .write(&[(0, to(4)), (4, to(0))], Method::Loop)
        .unwrap();
    assert_eq!(cost.cycles, 1);
    assert_eq!(
        [array.memory(4)[..4].to_vec(), array.memory(0)[..4].to_vec()],
        before
    );
}

#[test]
fn ports_deliver_and_notify() {
    let (mut memory, mut slots) = (vec![0; 1024 * BYTES], vec![Slot::IDLE; 1024]);
    let mut array = array(&mut memory, &mut slots);
    let before = array.memory.to_vec();
    let mut receiver = PePort::new(9);
    let mut ports: Vec<PePort> = (100..103).map(PePort::new).collect();
    let mut tokens = Vec::new();
    for (port, tag) in ports.iter_mut().zip(1..) {
        let flags = Flags {
            notify_receiver: true,
            tag,
        };
        let remote = 8 * u64::from(tag);
        let transfer = Transfer {
            node: 9,
            local: 0,
            remote,
            length: 6,
            flags,
        };
        tokens.push(port.start(&mut array, transfer).unwrap());
        assert_eq!(
            port.start(&mut array, transfer),
            Err(RemoteError::Busy { pe: port.pe() })
        );
    }
    assert_eq!(ports[0].progress(&tokens[0]), Ok(Progress::Pending));
    let mut tags = Vec::new();
    for _ in 0..20 {
        receiver.poll(&mut array).unwrap();
        tags.extend(receiver.arrival().map(|arrival| arrival.tag));
    }
    tags.sort();
    assert_eq!(tags, [1, 2, 3]);
    for (port, token) in ports.iter_mut().zip(&tokens) {
        port.poll(&mut array).unwrap();
        assert_eq!(port.progress(token), Ok(Progress::Sent));
        let at = 8 * (port.pe() as usize - 99);
        let from = port.pe() as usize * BYTES;
        assert_eq!(array.memory(9)[at..at + 6], before[from..from + 6]);
    }
    // Two words and the tag, each in three cycles: one cluster in.
    assert_eq!((array.cost().rounds, array.cost().cycles), (3, 9));
}

#[test]
fn nothing_to_move_is_over_at_once() {
    let (mut memory, mut slots) = (vec![0; 1024 * BYTES], vec![Slot::IDLE; 1024]);
    let mut array = array(&mut memory, &mut slots);
    let mut port = PePort::new(1);
    let transfer = Transfer {
        node: 2,
        local: 64,
        remote: 64,
        length: 0,
        flags: Flags::default(),
    };
    let token = port.start(&mut array, transfer).unwrap();
    assert_eq!(port.progress(&token), Ok(Progress::Sent));
    port.poll(&mut array).unwrap();
    assert_eq!(array.cost(), Cost::default());
}

#[test]
fn nothing_with_a_notification_is_sent_at_once_and_told_later() {
    let (mut memory, mut slots) = (vec![0; 1024 * BYTES], vec![Slot::IDLE; 1024]);
    let mut array = array(&mut memory, &mut slots);
    let (mut sender, mut receiver) = (PePort::new(1), PePort::new(2));
    let flags = Flags {
        notify_receiver: true,
        tag: 77,
    };
    let transfer = Transfer {
        node: 2,
        local: 0,
        remote: 0,
        length: 0,
        flags,
    };
    let token = sender.start(&mut array, transfer).unwrap();
    assert_eq!(sender.progress(&token), Ok(Progress::Sent));
    assert_eq!(receiver.arrival(), None);
    receiver.poll(&mut array).unwrap();
    assert_eq!(receiver.arrival().map(|arrival| arrival.tag), Some(77));
    assert!(sender.start(&mut array, transfer).is_ok());
}

#[test]
fn misuse_is_named_and_moves_nothing() {
    let (mut memory, mut slots) = (vec![0; 1024 * BYTES], vec![Slot::IDLE; 1024]);
    let mut array = array(&mut memory, &mut slots);
    let before = array.memory.to_vec();
    let good = Transfer {
        node: 2,
        local: 0,
        remote: 0,
        length: 4,
        flags: Flags::default(),
    };
    let mut error = |transfers: &[(u16, Transfer)]| {
        array
            .write(transfers, Method::Loop)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(&[(1, good), (1, good)]),
        "PE 1 has a transfer under way"
    );
    assert_eq!(
        error(&[(1, good), (5000, good)]),
        "PE 5000 is outside 0..1024"
    );
    assert_eq!(
        error(&[(1, good), (3, Transfer { remote: 61, ..good })]),
        "4 bytes at 0x3d are outside the 64 bytes of PE 2"
    );
    assert_eq!(
        error(&[(
            3,
            Transfer {
                local: u64::MAX,
                ..good
            }
        )]),
        "4 bytes at 0xffffffffffffffff are outside the 64 bytes of PE 3"
    );
    assert_eq!(array.memory.to_vec(), before);
    assert!(array.write(&[(1, good)], Method::Loop).is_ok());
    let mut router = Router::new(&RouterConfig::MP1.with_size(SIZE)).unwrap();
    let schedule = FirstFit::default()
        .schedule(&mut router, &Pattern::shift(SIZE, 1))
        .unwrap();
    let clash = [(0, good), (4, good)];
    let same_phase = schedule.phase()[0] == schedule.phase()[4];
    let result = array.write(&clash, Method::Schedule(&schedule));
    assert_eq!(result.is_err(), same_phase, "{result:?}");
}

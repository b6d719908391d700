//! The driver on whole machines: rings, models, counters, reports, stops.
#![cfg(feature = "alloc")]

mod common;
mod driver_rig;

use common::cases;
use driver_rig::{BASE, Boards, ENTRIES, LAST, SOURCE, Seen, TARGET, nor, nos, received, sent};
use multipc::fabric::topology::Topology;
use multipc::put::{Acknowledge, Control, Entry, Fault, Model, Phase};
use multipc::time::Duration;
use proptest::prelude::*;

const MODELS: [Model; 2] = [Model::Interrupt, Model::Polling];
const STATUS: u8 = 0x40;
const PCI_COMMAND: u8 = 0x04;
const BUS_MASTER: u32 = 1 << 2;
const LMI_OVERFLOW: u32 = 1 << 12;

fn two(model: Model) -> Boards {
    Boards::start(&Topology::pair().unwrap(), |config| config.model = model)
}

/// A page of `length` bytes to the slot of its identifier.
fn page(to: u16, mi: u32, length: u32, flags: Control) -> Entry {
    let slot = 1024 * (mi % 64);
    Entry::page(to, mi, SOURCE + slot, TARGET + slot, length, flags)
}

#[test]
fn rings_of_8_entries_wrap_many_times() {
    for model in MODELS {
        let mut boards = two(model);
        for round in 0..150u32 {
            for node in 0..2 {
                let mi = round % 64;
                let data = [round as u8 ^ 0x55, node as u8];
                boards.store(node, SOURCE + 1024 * mi, &data);
                let to = 1 - node as u16;
                boards.post(node, page(to, mi, 2, nor(nos(LAST))));
            }
            // The slot is used again 64 rounds later.
            if round >= 20 {
                let mi = (round - 20) % 64;
                let data = boards.load(0, TARGET + 1024 * mi, 2);
                assert_eq!(data, [(round - 20) as u8 ^ 0x55, 1]);
            }
        }
        boards.drain();
        let all: Vec<u32> = (0..150).map(|round| round % 64).collect();
        for node in 0..2 {
            assert_eq!(sent(&boards.seen[node]), all, "{model:?} node {node}");
            assert_eq!(received(&boards.seen[node]), all, "{model:?} node {node}");
            // 150 = 18 * 8 + 6: entry 6 of LME and LMR are next.
            assert_eq!(boards.register(node, 0x54), BASE + 6 * 16);
            assert_eq!(boards.register(node, 0x58), BASE + 6 * 16);
            assert_eq!(boards.register(node, 0x64), BASE + 8 * 16 + 6 * 16);
            assert_eq!(boards.register(node, 0x68), BASE + 8 * 16 + 6 * 16);
            assert_eq!(boards.puts[node].lpe_free(), ENTRIES - 1);
        }
        boards.assert_clean();
    }
}

/// Length, with NOS, and what the receiver gets: nothing, LMI, LMI and NOR.
type Message = (u32, bool, u8);

/// Sends messages both ways; returns the boards once all is quiet.
fn exchange(model: Model, acknowledge: Acknowledge, messages: &[Message]) -> Boards {
    let pair = Topology::pair().unwrap();
    let mut boards = Boards::start(&pair, |config| {
        config.model = model;
        config.acknowledge = acknowledge;
        // Room for all reports: silent ones raise no interrupt, and a full
        // ring is an error that is told (a test of its own below).
        config.entries = 64;
    });
    for (mi, &(length, told, report)) in (0..).zip(messages) {
        let flags = if told { nos(LAST) } else { LAST };
        let flags = match report {
            0 => flags,
            1 => flags.with(Control::LMI),
            _ => nor(flags),
        };
        for node in [0, 1] {
            boards.post(node, page(1 - node as u16, mi % 64, length, flags));
        }
        boards.run(Duration::from_us(u64::from(length % 5)));
    }
    // Silent messages are seen with the next one that is not, in the
    // interrupt model: here is one.
    for node in [0, 1] {
        boards.post(node, page(1 - node as u16, 63, 4, nor(nos(LAST))));
    }
    boards.drain();
    boards
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let length = prop_oneof![1..=70u32, 1..=1000u32];
    prop::collection::vec((length, any::<bool>(), 0..3u8), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    #[test]
    fn each_page_with_nos_and_message_with_nor_is_acknowledged_once(list in messages()) {
        // The one message at the end counts, too.
        let with_nos = 1 + list.iter().filter(|(_, told, _)| *told).count() as u64;
        let with_nor = 1 + list.iter().filter(|(_, _, report)| *report == 2).count() as u64;
        let with_lmi = 1 + list.iter().filter(|(_, _, report)| *report > 0).count() as u64;
        for model in MODELS {
            for acknowledge in [Acknowledge::Single, Acknowledge::Weighted] {
                let boards = exchange(model, acknowledge, &list);
                for (node, put) in boards.puts.iter().enumerate() {
                    let stats = put.stats();
                    prop_assert_eq!(stats.acknowledged, [with_nos, with_nor]);
                    prop_assert_eq!((stats.sent, stats.received), (with_nos, with_lmi));
                    prop_assert_eq!(stats.posted, list.len() as u64 + 1);
                    prop_assert_eq!((stats.faults, stats.unclaimed), (0, 0));
                    // No count is left, no error was seen.
                    prop_assert_eq!(boards.register(node, STATUS) & 0xFFFF_F000, 0);
                    prop_assert!(boards.machine.nodes()[node].inta_n());
                }
                boards.assert_clean();
            }
        }
    }

    #[test]
    fn both_models_tell_the_same_in_the_same_order(list in messages()) {
        let [interrupt, polling] =
            MODELS.map(|model| exchange(model, Acknowledge::Single, &list));
        for (a, b) in interrupt.seen.iter().zip(&polling.seen) {
            prop_assert_eq!(sent(a), sent(b));
            prop_assert_eq!(received(a), received(b));
        }
        let reported = (0..).zip(&list).filter(|(_, (_, _, report))| *report > 0);
        let mut expected: Vec<u32> = reported.map(|(mi, _)| mi).collect();
        expected.push(63);
        prop_assert_eq!(received(&polling.seen[0]), expected);
    }
}

#[test]
fn a_full_report_ring_holds_the_message_and_goes_on() {
    for model in MODELS {
        let mut boards = two(model);
        boards.store(0, SOURCE, &(1..=64).collect::<Vec<u8>>());
        let post = |boards: &mut Boards, mi: u32| {
            let (local, remote) = (SOURCE + mi, TARGET + mi);
            let entry = Entry::page(1, mi, local, remote, 1, nor(LAST));
            let mut host = boards.machine.host(0).unwrap();
            let put = &mut boards.puts[0];
            put.flush_lme(&mut host, 64, |_| {}).unwrap();
            put.add_entry(&mut host, entry).unwrap();
            boards.machine.run_for(Duration::from_us(10));
        };
        // Node 1 looks at nothing: seven reports fit, the eighth waits.
        for mi in 0..7 {
            post(&mut boards, mi);
        }
        assert_eq!(boards.register(1, STATUS) & LMI_OVERFLOW, 0);
        assert_ne!(boards.register(1, PCI_COMMAND) & BUS_MASTER, 0);
        post(&mut boards, 7);
        assert_ne!(boards.register(1, STATUS) & LMI_OVERFLOW, 0);
        assert_eq!(boards.register(1, PCI_COMMAND) & BUS_MASTER, 0);
        assert_eq!(boards.register(1, 0x68), BASE + 8 * 16 + 7 * 16);
        // More arrive behind the one that waits; none overtakes.
        for mi in 8..12 {
            post(&mut boards, mi);
        }
        assert_eq!(boards.register(1, 0x68), BASE + 8 * 16 + 7 * 16);
        assert_eq!(boards.load(1, TARGET + 8, 4), [0; 4]);

        boards.drain();
        let errors = boards.seen[1]
            .iter()
            .filter(|seen| matches!(seen, Seen::Error(_)));
        assert!(errors.clone().count() >= 1);
        for error in errors {
            assert_eq!(*error, Seen::Error("board reports lmi overflow".into()));
        }
        assert_eq!(received(&boards.seen[1]), (0..12).collect::<Vec<_>>());
        assert_eq!(boards.load(1, TARGET, 12), (1..=12).collect::<Vec<u8>>());
        assert_ne!(boards.register(1, PCI_COMMAND) & BUS_MASTER, 0);
        assert_eq!(boards.register(1, STATUS) & 0xFFFF_F000, 0);
        boards.assert_clean();
    }
}

#[test]
fn short_messages_carry_eight_bytes_in_the_report() {
    for model in MODELS {
        let mut boards = two(model);
        let data = |mi: u32| [0x0102_0304 * mi, !mi];
        for mi in 0..30 {
            boards.post(0, Entry::short(1, mi, data(mi), Control::NOS));
            boards.post(1, Entry::short(0, mi, data(mi + 100), Control::NOS));
        }
        boards.drain();
        for (node, offset) in [(1, 0), (0, 100)] {
            let got = boards.seen[node]
                .iter()
                .filter(|s| matches!(s, Seen::Received(..)));
            let expected = (0..30).map(|mi| Seen::Received(mi, Some(data(mi + offset))));
            let got: Vec<Seen> = got.cloned().collect();
            assert_eq!(got, expected.collect::<Vec<_>>());
            assert_eq!(sent(&boards.seen[node]), (0..30).collect::<Vec<_>>());
        }
        boards.assert_clean();
    }
}

#[test]
fn four_boards_meet_at_a_barrier_of_composed_messages() {
    for model in MODELS {
        let ring = Topology::ring(4).unwrap();
        let mut boards = Boards::start(&ring, |config| {
            config.model = model;
            config.count_packets = true;
        });
        // Each node counts the others under one identifier a round, and the
        // identifiers are used again.
        for round in 0..12u32 {
            let mi = round % 3;
            for node in 0..4 {
                let mut host = boards.machine.host(node as u16).unwrap();
                boards.puts[node].expect_composed(&mut host, mi, 3).unwrap();
            }
            // One node is late, another one each round.
            let late = (round % 4) as usize;
            let arrive = |boards: &mut Boards, node: usize| {
                for to in (0..4).filter(|&to| to != node) {
                    boards.post(node, Entry::composed(to as u16, mi, Control::default()));
                }
            };
            for node in (0..4).filter(|&node| node != late) {
                arrive(&mut boards, node);
            }
            boards.run(Duration::from_us(60));
            for node in 0..4 {
                // The late node itself has heard of all others.
                let rounds = round as usize + usize::from(node == late);
                assert_eq!(received(&boards.seen[node]).len(), rounds, "node {node}");
            }
            arrive(&mut boards, late);
            boards.run(Duration::from_us(60));
            for node in 0..4 {
                let rounds: Vec<u32> = (0..=round).map(|round| round % 3).collect();
                assert_eq!(received(&boards.seen[node]), rounds, "node {node}");
            }
        }
        // The counters are zero again, ready for the next.
        for node in 0..4 {
            let counters = boards.load(node, BASE + 2 * ENTRIES * 16, 12);
            assert_eq!(counters, [0; 12], "node {node}");
            assert_eq!(boards.register(node, STATUS) & 0x00FF_F000, 0);
        }
        boards.assert_clean();
    }
}

/// Stops a board in the middle of a stream to it, starts `again` anew, and
/// expects everything to work.
fn a_stopped_board_comes_back(model: Model, again: &[usize]) {
    let mut boards = two(model);
    for mi in 0..4 {
        boards.post(0, page(1, mi, 1000, LAST));
    }
    boards.machine.run_for(Duration::from_us(9));
    let fault = Fault::BadPointer {
        offset: 0x54,
        value: 0,
    };
    let mut host = boards.machine.host(1).unwrap();
    boards.puts[1].emergency_stop(&mut host, fault).unwrap();
    assert_eq!(boards.puts[1].phase(), Phase::Stopped(fault));
    // In reset: no bus master, pointers gone, no interrupt.
    assert_eq!(boards.register(1, PCI_COMMAND) & BUS_MASTER, 0);
    assert_eq!(boards.register(1, 0x48), 0);
    assert!(boards.machine.nodes()[1].inta_n());
    boards.machine.run_for(Duration::from_us(50));
    let before = boards.load(1, TARGET, 0x1_0000);
    boards.machine.run_for(Duration::from_us(50));
    assert_eq!(
        before,
        boards.load(1, TARGET, 0x1_0000),
        "writes after a stop"
    );

    for &node in again {
        assert!(boards.puts[node].end());
        boards.begin(node, |config| config.model = model);
    }
    boards.settle();
    boards.seen = vec![Vec::new(); 2];
    boards.run(Duration::from_us(50));
    boards.store(0, SOURCE + 1024 * 9, b"once more");
    boards.store(1, SOURCE + 1024 * 9, b"and back!");
    for node in [0, 1] {
        boards.post(node, page(1 - node as u16, 9, 9, nor(nos(LAST))));
    }
    boards.drain();
    assert_eq!(boards.load(1, TARGET + 1024 * 9, 9), b"once more");
    assert_eq!(boards.load(0, TARGET + 1024 * 9, 9), b"and back!");
    for node in [0, 1] {
        assert_eq!(boards.seen[node].len(), 2, "{:?}", boards.seen[node]);
        assert_eq!(received(&boards.seen[node]), [9]);
        assert_eq!(sent(&boards.seen[node]), [9]);
    }
    boards.assert_clean();
}

#[test]
fn after_an_emergency_stop_both_boards_start_again() {
    for model in MODELS {
        a_stopped_board_comes_back(model, &[0, 1]);
        a_stopped_board_comes_back(model, &[1, 0]);
    }
}

#[test]
fn after_an_emergency_stop_one_board_starts_again_alone() {
    for model in MODELS {
        a_stopped_board_comes_back(model, &[1]);
    }
}

#[test]
fn in_loopback_a_board_writes_to_itself() {
    let mut boards = two(Model::Polling);
    let mut host = boards.machine.host(0).unwrap();
    let command = host.read_register(0x48).unwrap();
    host.write_register(0x48, command | 1 << 8).unwrap();
    let data: Vec<u8> = (0..=255).cycle().take(1000).collect();
    boards.store(0, SOURCE + 1024 * 5, &data);
    boards.post(0, page(0, 5, 1000, nor(nos(LAST))));
    boards.post(0, Entry::short(0, 6, [7, 8], Control::NOS));
    boards.drain();
    assert_eq!(boards.load(0, TARGET + 1024 * 5, 1000), data);
    assert_eq!(sent(&boards.seen[0]), [5, 6]);
    assert_eq!(received(&boards.seen[0]), [5, 6]);
    // Nothing left the board.
    assert_eq!(boards.seen[1], []);
    assert_eq!(boards.load(1, TARGET + 1024 * 5, 1000), [0; 1000]);

    // And back on the network.
    let mut host = boards.machine.host(0).unwrap();
    host.write_register(0x48, command).unwrap();
    boards.run(Duration::from_us(20));
    boards.post(0, page(1, 5, 1000, nor(nos(LAST))));
    boards.drain();
    assert_eq!(boards.load(1, TARGET + 1024 * 5, 1000), data);
    assert_eq!(received(&boards.seen[1]), [5]);
    boards.assert_clean();
}

//! Several cables between two routers, chosen packet by packet: packets
//! overtake each other, and only packet counters say when a message is whole.

#![cfg(feature = "alloc")]

mod common;

use multipc::fabric::labelling::{Labelling, Method};
use multipc::fabric::topology::{Cable, Medium, PortId, Topology, TopologyBuilder};
use multipc::fabric::{BoardConfig, Machine, MachineConfig};
use multipc::put::{Control, Entry, Model, Put, PutConfig};
use multipc::time::Duration;
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::prop_assert;

const SOURCE: u32 = 0x8000;
const TARGET: u32 = 0x1_0000;
const LMI_NEW: u8 = 0x68;
const COMMAND: u8 = 0x48;
/// Far longer on the way than a packet of one word and the gap behind it (39
/// cycles), so that a later packet on the short cable comes first.
const LONG_WAY: Duration = Duration::from_ns(930);

/// Two boards on either side of two cables, one short and one long.
fn two_paths() -> Topology<'static> {
    let mut builder = TopologyBuilder::new();
    let (left, right) = (builder.router(), builder.router());
    for router in [left, right] {
        builder.generator(PortId::new(router, 0));
        builder.generator(PortId::new(router, 1));
    }
    let cable = |port| Cable::new(PortId::new(left, port), PortId::new(right, port));
    builder.cable(cable(2));
    builder.cable(cable(3).with_medium(Medium::Fibre).with_delay(LONG_WAY));
    builder.build().unwrap()
}

struct Run {
    machine: Machine<'static>,
    drivers: Vec<Put>,
}

/// A machine whose packets carry one word each.
fn boot(adaptive: bool, count_packets: bool) -> Run {
    let topology = two_paths();
    let labelling = Labelling::new(&topology, Method::Ir)
        .unwrap()
        .with_adaptive(adaptive);
    let mut board = BoardConfig::default();
    board.memory_bytes = 0x2_0000;
    board.check_bus = true;
    let mut machine =
        Machine::build(&topology, &labelling, MachineConfig::default(), &board).unwrap();
    let mut drivers = Vec::new();
    for node in 0..4 {
        let at = topology.generators()[usize::from(labelling.generator_of(node).unwrap())];
        let table = labelling.table(at.router).emit();
        let mut config = PutConfig::new(node, 0x1000, &table);
        config.entries = 64;
        config.counters = 1024;
        config.model = Model::Polling;
        config.settle_us = 400;
        config.count_packets = count_packets;
        let mut driver = Put::new();
        let mut host = machine.host(node).unwrap();
        driver.init(&mut host, &config).unwrap();
        let command = host.read_register(COMMAND).unwrap();
        host.write_register(COMMAND, command | 1 << 16).unwrap();
        drivers.push(driver);
    }
    Run { machine, drivers }
}

/// Both boards on the left send one message to a board on the right each.
/// Returns whether each message was whole in memory at the very edge at which
/// its report was.
fn send_and_look(run: &mut Run, lengths: [u32; 2], seed: u8) -> [bool; 2] {
    let pairs = [(0u16, 2u16), (1, 3)];
    let mut wanted = Vec::new();
    for ((from, _), length) in pairs.into_iter().zip(lengths) {
        let bytes: Vec<u8> = (0..length)
            .map(|i| (i * 7 + u32::from(from)) as u8 ^ seed)
            .collect();
        run.machine
            .host(from)
            .unwrap()
            .store(SOURCE, &bytes)
            .unwrap();
        wanted.push(bytes);
    }
    for (_, to) in pairs {
        run.machine
            .host(to)
            .unwrap()
            .store(TARGET, &[0xEE; 0x1000])
            .unwrap();
    }
    let reports =
        |machine: &Machine<'_>, to: u16| machine.nodes()[usize::from(to)].ddc().register(LMI_NEW);
    let before = pairs.map(|(_, to)| reports(&run.machine, to));
    let flags = Control::LMP
        .with(Control::LMI)
        .with(Control::NOR)
        .with(Control::LRM);
    for ((from, to), length) in pairs.into_iter().zip(lengths) {
        let entry = Entry::page(to, u32::from(from), SOURCE, TARGET, length, flags);
        let mut host = run.machine.host(from).unwrap();
        run.drivers[usize::from(from)]
            .add_entry(&mut host, entry)
            .unwrap();
    }
    let mut whole = [None; 2];
    let reported = run
        .machine
        .run_while_not(Duration::from_us(10_000), |machine| {
            for (i, (_, to)) in pairs.into_iter().enumerate() {
                if whole[i].is_none() && reports(machine, to) != before[i] {
                    let memory = machine.nodes()[usize::from(to)].memory();
                    let length = lengths[i] as usize;
                    whole[i] = Some(memory.slice(TARGET, length).unwrap() == wanted[i]);
                }
            }
            whole.iter().all(Option::is_some)
        });
    assert!(reported, "no report within 10 ms: {whole:?}");
    // Later packets of a message that was reported too early may still come.
    run.machine.run_for(Duration::from_us(20));
    for ((from, to), bytes) in pairs.into_iter().zip(&wanted) {
        let memory = run.machine.nodes()[usize::from(to)].memory();
        assert_eq!(
            memory.slice(TARGET, bytes.len()).unwrap(),
            bytes,
            "{from} to {to}"
        );
        for node in [from, to] {
            let mut host = run.machine.host(node).unwrap();
            run.drivers[usize::from(node)]
                .poll(&mut host, 64, |_| {})
                .unwrap();
        }
    }
    for node in run.machine.nodes() {
        let checker = node.checker().unwrap();
        assert!(checker.is_clean(), "{:?}", checker.violations());
    }
    whole.map(|whole| whole == Some(true))
}

#[test]
fn without_packet_counters_a_report_comes_before_the_message() {
    let mut run = boot(true, false);
    // While both send, each keeps to a cable of its own; when the first is
    // done, the second one's last packets find the short one free.
    let whole: Vec<_> = (0..16)
        .map(|i| send_and_look(&mut run, [400, 400 + 2 * i], i as u8))
        .collect();
    assert!(whole.iter().flatten().any(|whole| !whole), "{whole:?}");
}

#[test]
fn on_a_single_path_a_report_without_counters_is_right() {
    let mut run = boot(false, false);
    for i in 0..8 {
        assert_eq!(send_and_look(&mut run, [400 + i; 2], i as u8), [true; 2]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(common::cases(8)))]

    #[test]
    fn with_packet_counters_a_report_says_that_all_packets_are_in_memory(
        lengths in proptest::array::uniform2(1u32..1500),
        seed in any::<u8>(),
        again in 1usize..4,
    ) {
        let mut run = boot(true, true);
        for _ in 0..again {
            prop_assert!(send_and_look(&mut run, lengths, seed) == [true; 2]);
        }
        // The chip leaves every counter as it found it.
        for node in run.machine.nodes() {
            let base = node.ddc().register(0x70);
            prop_assert!(node.memory().slice(base, 4096).unwrap().iter().all(|byte| *byte == 0));
        }
    }
}

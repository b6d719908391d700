//! RCUBE through its pins: tables, start-up, latency, rates.

#[path = "support/router_lab.rs"]
mod router_lab;

use std::collections::VecDeque;

use multipc::hsl::{Line, LinkConfig, Port, Received, Slot, Symbol};
use multipc::rcube::{PORTS, PortKind, Rcube, RcubeConfig, RoutingTable};
use router_lab::{Lab, one_to_one, packet};

fn default_lab() -> Lab {
    Lab::up(RcubeConfig::default(), &one_to_one())
}

// --- Routing tables ---

fn vector(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect()
}

#[test]
fn two_node_vectors_decode_exactly_and_emit_back() {
    let bounds = [0, 1, 1, 1, 1, 1, 1, 1];
    let files = [
        (
            include_str!("vectors/rcube/two-nodes-router0.hex"),
            [1, 2, 2, 2, 2, 2, 2, 2],
            None,
        ),
        // The shipped file of router 1 names link 2 for what comes in on link 0.
        (
            include_str!("vectors/rcube/two-nodes-router1.hex"),
            [2, 1, 1, 1, 1, 1, 1, 1],
            Some(4),
        ),
    ];
    for (text, selections, hand_edit) in files {
        let bytes = vector(text);
        let mut expected = RoutingTable::uniform(bounds, selections);
        if let Some(mask) = hand_edit {
            expected.selections[0][0] = mask;
        }
        let table = RoutingTable::try_from(bytes.as_slice()).unwrap();
        assert_eq!(table, expected);
        assert_eq!(table.emit().as_slice(), bytes);
        assert_eq!(table.check(), Ok(()));
    }
}

#[test]
fn the_chain_takes_byte_257_first_and_pushes_out_what_is_too_much() {
    let bytes = vector(include_str!("vectors/rcube/two-nodes-router0.hex"));
    let mut router = Rcube::new(
        RcubeConfig::default()
            .with_short_start_up()
            .with_parallel(0b11),
    );
    for junk in 0..40 {
        router.chain(false, Some(junk));
    }
    for &byte in bytes.iter().rev() {
        router.chain(false, Some(byte));
    }
    router.chain(true, Some(0xFF)); // too late: ignored
    let mut expected = Rcube::new(
        RcubeConfig::default()
            .with_short_start_up()
            .with_parallel(0b11),
    );
    expected.configure(&RoutingTable::try_from(bytes.as_slice()).unwrap());
    for _ in 0..50 {
        router.step(&[Line::IDLE; PORTS]);
        expected.step(&[Line::IDLE; PORTS]);
    }
    assert_eq!(router, expected);
}

// --- Start-up ---

#[test]
fn no_signal_leaves_a_router_in_reset() {
    let mut router = Rcube::new(RcubeConfig::default().with_parallel(1));
    for byte in 0..=255 {
        router.chain(false, Some(byte));
        router.step(&[Line::IDLE; PORTS]);
        assert_eq!(
            (router.outputs(), router.link_status()),
            (&[Line::DEAD; PORTS], 0)
        );
    }
    assert_eq!(router.stats().cycles, 0);
}

/// Two routers, all links between them: steps until link 0 is up at both.
fn start_up_cycles(config: RcubeConfig) -> (u64, u64, [Vec<u64>; 2]) {
    let mut routers = [Rcube::new(config.clone()), Rcube::new(config)];
    routers.iter_mut().for_each(|r| r.configure(&one_to_one()));
    let (mut cycle, mut idle_from, mut up) = (0, None, None);
    let mut fccs = [vec![], vec![]];
    while cycle < 12_000 {
        let lines = [*routers[0].outputs(), *routers[1].outputs()];
        for (seen, lines) in fccs.iter_mut().zip(&lines) {
            if lines[0].fcc_pulse() || lines[0] == Line::symbol_of(Symbol::FCC) {
                seen.push(cycle);
            }
        }
        if lines[0][0].has_signal() {
            idle_from.get_or_insert(cycle);
        }
        routers[0].step(&lines[1]);
        routers[1].step(&lines[0]);
        cycle += 1;
        if routers.iter().all(|r| r.link_status() & 1 == 1) {
            up.get_or_insert(cycle);
        }
    }
    (idle_from.unwrap(), up.unwrap(), fccs)
}

#[test]
fn start_up_takes_11216_cycles_from_reset_release() {
    let (idle_from, up, fccs) = start_up_cycles(RcubeConfig::default());
    // 1 edge takes the level of R3_INIT in; 8192 edges without signal; the
    // first IDLE leaves the third serialiser register 3 edges later.
    assert_eq!(idle_from, 1 + 4096 + 4096 + 3);
    // That IDLE is taken in behind four registers at the 5th edge; 3000 edges
    // of calibration; REQUEST is sent at the next and seen 7 edges later; then
    // 8 ACKNOWLEDGEs are sent, the first of which is seen at the 8th of these
    // edges.
    let seen = idle_from + 5;
    assert_eq!(up, seen - 1 + 3000 + 8 + 8);
    assert_eq!(up, 11_216);
    for seen in fccs {
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[1] - seen[0], 8);
        assert_eq!(
            seen[0],
            up + 3,
            "the first FCC is on the pin 3 edges after the link is up"
        );
    }
}

#[test]
fn parallel_ports_need_no_calibration() {
    let (idle_from, up, fccs) = start_up_cycles(RcubeConfig::default().with_parallel(1));
    assert_eq!((idle_from, up), (2, 1));
    assert_eq!(fccs, [vec![4, 12], vec![4, 12]]);
}

// --- Latency ---

/// Cycles from pin to pin of each symbol of a packet that meets nothing.
fn latencies(parallel: u8, one_character: bool) -> Vec<u64> {
    let mut table = one_to_one();
    let mut header = vec![5, 0];
    if one_character {
        table.header_length = 0;
        header.pop();
    }
    let mut lab = Lab::up(RcubeConfig::default().with_parallel(parallel), &table);
    let symbols = packet(&header, 40);
    lab.send(2, &symbols);
    let mut entered = vec![];
    for _ in 0..200 {
        if !lab.inputs[2].symbol().is_link_level() {
            entered.push(lab.cycle);
        }
        lab.step();
    }
    assert_eq!(lab.read(5), symbols);
    lab.times(5)
        .iter()
        .zip(entered)
        .map(|(out, into)| out - into)
        .collect()
}

#[test]
fn serial_to_serial_is_12_cycles_pin_to_pin_for_each_symbol() {
    // The source may hold a symbol back for an FCC; no packet of this length
    // makes the router do so on the way out.
    assert_eq!(latencies(0, false), vec![12; 43]);
}

#[test]
fn parallel_ports_save_the_serial_halves() {
    assert_eq!(latencies(1 << 2, false), vec![8; 43], "parallel in");
    assert_eq!(latencies(1 << 5, false), vec![10; 43], "parallel out");
    assert_eq!(latencies(1 << 2 | 1 << 5, false), vec![6; 43], "both");
}

#[test]
fn a_one_character_header_saves_the_cycle_of_the_second() {
    assert_eq!(latencies(0, true), vec![11; 42]);
}

#[test]
fn the_packet_after_leaves_two_cycles_after_ep() {
    let mut lab = default_lab();
    let symbols = packet(&[5, 0], 10);
    lab.send(2, &symbols);
    lab.send(2, &symbols);
    lab.run(100);
    let times = lab.times(5);
    assert_eq!(times[symbols.len()] - times[symbols.len() - 1], 3);
}

#[test]
fn another_input_takes_over_after_one_cycle() {
    let mut lab = default_lab();
    let symbols = packet(&[5, 0], 10);
    lab.send(2, &symbols);
    lab.send(3, &symbols);
    lab.run(100);
    let times = lab.times(5);
    assert_eq!(times.len(), 2 * symbols.len());
    assert_eq!(times[symbols.len()] - times[symbols.len() - 1], 2);
}

// --- Rates and credits ---

#[test]
fn a_long_packet_streams_at_the_rate_of_the_line_but_for_fccs() {
    let mut lab = default_lab();
    let symbols = packet(&[5, 0], 20_000);
    lab.send(2, &symbols);
    lab.run(21_000);
    assert_eq!(lab.read(5), symbols);
    let times = lab.times(5);
    // Nothing comes the other way, so this direction carries no FCC at all.
    assert_eq!(times[times.len() - 1] - times[0], times.len() as u64 - 1);
}

#[test]
fn both_ways_at_once_each_direction_loses_one_cycle_in_33() {
    let mut lab = default_lab();
    for (from, to) in [(2, 5), (5, 2)] {
        lab.send(from, &packet(&[to, 0], 33_000));
    }
    lab.run(30_000);
    lab.router.clear_stats();
    lab.run(3_300);
    for port in [2, 5] {
        let output = lab.router.port_stats(port).output;
        assert_eq!((output.busy, output.fcc), (3_200, 100), "port {port}");
    }
}

/// Cycles that 20 000 characters take from the first to the last, through two
/// routers joined by a cable of `cable` cycles on link 1.
fn two_routers(cable: usize) -> u64 {
    let config = RcubeConfig::default()
        .with_parallel(1)
        .with_short_start_up();
    let link = config.link;
    let tables = [[2; 8], [1; 8]].map(|selections| RoutingTable::uniform([0; 8], selections));
    let mut routers = tables.map(|table| {
        let mut router = Rcube::new(config.clone());
        router.configure(&table);
        router
    });
    let mut peers = [Port::new(PortKind::Parallel); 2];
    peers.iter_mut().for_each(Port::enable);
    let mut pins = [[Line::DEAD; 2]; 2];
    let mut wires: [VecDeque<Line>; 2] = Default::default();
    wires
        .iter_mut()
        .for_each(|wire| wire.resize(cable - 1, Line::DEAD));
    let (mut left, mut first, mut last, mut read, mut cycle) = (20_000u32, 0, 0, 0, 0);
    while read < 20_000 {
        assert!(cycle < 100_000, "{read} characters came out");
        let outputs = [*routers[0].outputs(), *routers[1].outputs()];
        for (wire, output) in wires.iter_mut().zip(&outputs) {
            wire.push_back(output[1]);
        }
        for (k, router) in routers.iter_mut().enumerate() {
            let mut inputs = [Line::DEAD; PORTS];
            inputs[0] = pins[k][0];
            inputs[1] = wires[1 - k].pop_front().unwrap();
            router.step(&inputs);
        }
        let offered = (cycle > 200 && left > 0).then_some(Symbol::data(7));
        let (line, slot) = peers[0].transmit(offered);
        left -= u32::from(slot == Slot::Symbol);
        pins[0][0] = line;
        pins[1][0] = peers[1].transmit(None).0;
        peers[0].receive(outputs[0][0], &link);
        if let Received::Symbol(_) = peers[1].receive(outputs[1][0], &link) {
            peers[1].freed();
            if read == 0 {
                first = cycle;
            }
            last = cycle;
            read += 1;
        }
        cycle += 1;
    }
    last - first
}

#[test]
fn full_rate_survives_cables_up_to_9_cycles() {
    for cable in 1..=9 {
        assert_eq!(two_routers(cable), 19_999, "cable of {cable} cycles");
    }
    assert!(two_routers(10) > 20_300);
}

#[test]
fn disjoint_pairs_do_not_affect_each_other() {
    let symbols = packet(&[5, 0], 500);
    let mut alone = default_lab();
    alone.send(2, &symbols);
    alone.run(700);
    let mut together = default_lab();
    together.send(2, &symbols);
    for (from, to) in [(0, 1), (1, 0), (3, 7), (4, 6), (6, 3), (7, 4)] {
        together.send(from, &packet(&[to, 0], 600));
    }
    together.run(700);
    assert_eq!(alone.peers[5].received, together.peers[5].received);
}

#[test]
fn one_fcc_per_32_symbols_and_never_more_than_64_outstanding() {
    for parallel in [0, 0xFF] {
        let mut lab = Lab::up(
            RcubeConfig::default().with_parallel(parallel),
            &one_to_one(),
        );
        lab.peers[5].reads = false;
        lab.send(2, &packet(&[5, 0], 1_000));
        lab.run(2_000);
        // 64 at the reader and 5 in the output FIFO have left the input FIFO:
        // that is two flits, so the source has had credit for 64 + 64.
        assert_eq!(lab.peers[5].fifo.len(), 64);
        assert_eq!(lab.router.output_state(5).queued, 5);
        assert_eq!(lab.router.output_state(5).credit, 0);
        assert_eq!(lab.peers[2].to_send.len(), 1_003 - 128);
        assert_eq!(lab.router.input_queued(2), 128 - 64 - 5);
    }
}

#[test]
fn a_peer_that_ignores_credits_overflows_without_harm() {
    let mut lab = default_lab();
    lab.peers[5].reads = false;
    lab.send(2, &packet(&[5, 0], 200));
    lab.run(300);
    let mut lines = lab.inputs;
    lines[2] = Line::symbol_of(Symbol::data(7));
    for _ in 0..100 {
        lab.router.step(&lines);
    }
    let events = lab.router.port_stats(2).events;
    assert!(
        events.overflow > 0 && lab.router.input_queued(2) == 64,
        "{events:?}"
    );
}

#[test]
fn extreme_configurations_act_as_the_nearest_allowed() {
    let mut config = RcubeConfig::default();
    config.serial_input_stages = 200;
    config.serial_output_stages = 0;
    config.output_fifo = 0;
    config.link = LinkConfig::default();
    let router = Rcube::new(config);
    let config = router.config();
    assert_eq!(
        (
            config.serial_input_stages,
            config.serial_output_stages,
            config.output_fifo
        ),
        (4, 1, 1)
    );
    assert_eq!(config.ports[0], PortKind::Serial);
}

//! Cycle by cycle as hw/doc/rcube.md has it, on the pins of model and RTL.
#![cfg(feature = "rcube")]

mod common;

use common::Rig;
use multipc::hsl::Symbol;
use multipc::rcube::RoutingTable;
use multipc_cosim::Random;
use multipc_cosim::traffic::table;

const EP: u16 = 0x12B;

/// Feeds symbols (edge, port, code) and returns what leaves (edge, port, code).
/// Edge 0 samples what an input pin carries in cycle 0.
fn feed(rig: &mut Rig, given: &[(usize, usize, u16)]) -> Vec<(usize, usize, u16)> {
    let mut seen = Vec::new();
    for edge in 0..120 {
        let shown = rig.step(|inputs| {
            for (_, port, sym) in given.iter().filter(|(at, ..)| *at == edge) {
                inputs.sym[*port] = *sym;
            }
        });
        for (port, sym) in shown.sym.into_iter().enumerate() {
            if !Symbol::from_bits(sym).is_link_level() {
                // After edge n the pins carry the value of cycle n + 1.
                seen.push((edge + 1, port, sym));
            }
        }
    }
    seen
}

fn straight() -> RoutingTable {
    table(0, &mut Random::new(1))
}

/// The four ways of the table "from, to".
#[test]
fn first_character_takes_12_8_10_6_cycles() {
    for (input, output, cycles) in [(2, 3, 12), (0, 3, 8), (2, 0, 10), (0, 7, 6)] {
        let mut rig = Rig::up("timing_latency", 0x81, &straight());
        let packet: Vec<_> = [output as u16, 0, 0xD, 0xE, EP]
            .into_iter()
            .enumerate()
            .map(|(k, sym)| (k, input, sym))
            .collect();
        let expected: Vec<_> = packet
            .iter()
            .map(|(at, _, sym)| (at + cycles, output, *sym))
            .collect();
        assert_eq!(feed(&mut rig, &packet), expected, "{input} to {output}");
    }
}

#[test]
fn header_of_one_character_saves_a_cycle() {
    let mut routes = straight();
    routes.header_length = 0;
    let mut rig = Rig::up("timing_one", 0, &routes);
    let seen = feed(&mut rig, &[(0, 2, 3), (1, 2, 0xD), (2, 2, EP)]);
    assert_eq!(seen, [(11, 3, 3), (12, 3, 0xD), (13, 3, EP)]);
}

#[test]
fn deleted_header_takes_its_cycles_and_vanishes() {
    let mut routes = straight();
    routes.header_deletion = 1 << 3;
    let mut rig = Rig::up("timing_deletion", 0, &routes);
    let seen = feed(&mut rig, &[(0, 2, 3), (1, 2, 0), (2, 2, 0xD), (3, 2, EP)]);
    assert_eq!(seen, [(14, 3, 0xD), (15, 3, EP)]);
}

#[test]
fn two_cycles_are_lost_between_packets_of_one_input() {
    let mut rig = Rig::up("timing_packets", 0, &straight());
    let given = [
        (0, 2, 3),
        (1, 2, 0),
        (2, 2, EP),
        (3, 2, 3),
        (4, 2, 1),
        (5, 2, EP),
    ];
    let edges: Vec<_> = feed(&mut rig, &given)
        .into_iter()
        .map(|(at, ..)| at)
        .collect();
    assert_eq!(edges, [12, 13, 14, 17, 18, 19]);
}

#[test]
fn one_cycle_is_lost_when_an_output_passes_to_another_input() {
    let mut rig = Rig::up("timing_output", 0, &straight());
    let given = [
        (0, 2, 3),
        (1, 2, 0),
        (2, 2, EP),
        (0, 5, 3),
        (1, 5, 1),
        (2, 5, EP),
    ];
    let seen = feed(&mut rig, &given);
    let edges: Vec<_> = seen.iter().map(|(at, ..)| *at).collect();
    assert_eq!(edges, [12, 13, 14, 16, 17, 18]);
    assert_eq!(
        (seen[1].2, seen[4].2),
        (0, 1),
        "input 2 comes before 5 after reset"
    );
}

#[test]
fn outputs_go_round_robin_after_the_last_winner() {
    let mut rig = Rig::up("timing_turns", 0, &straight());
    // Input 5 wins alone, then 2, 5 and 7 ask at once: 7, 2, 5.
    let mut given = vec![(0, 5, 3), (1, 5, 5), (2, 5, EP)];
    for input in [2, 5, 7] {
        given.extend([
            (20, input, 3),
            (21, input, 0x10 + input as u16),
            (22, input, EP),
        ]);
    }
    let marks: Vec<_> = feed(&mut rig, &given)
        .into_iter()
        .filter(|(.., sym)| *sym >> 4 == 1)
        .map(|(.., sym)| sym & 15)
        .collect();
    assert_eq!(marks, [7, 2, 5]);
}

#[test]
fn adaptive_packets_take_the_first_free_output_from_their_own_number() {
    let mut routes = straight();
    routes.selections = [[0b0110_0010; 8]; 8];
    let mut rig = Rig::up("timing_adaptive", 0, &routes);
    // Eligible are 1, 5, 6. Input 4 takes 5; then input 5 finds 6; input 7 finds 1.
    let mut given = Vec::new();
    for (at, input) in [(0, 4), (4, 5), (8, 7)] {
        given.extend([(at, input, 0), (at + 1, input, 0x20 + input as u16)]);
    }
    let ways: Vec<_> = feed(&mut rig, &given)
        .into_iter()
        .filter(|(.., sym)| *sym >> 4 == 2)
        .map(|(_, output, sym)| (sym & 15, output))
        .collect();
    assert_eq!(ways, [(4, 5), (5, 6), (7, 1)]);
}

#[test]
fn bytes_beyond_258_push_the_first_ones_out() {
    let table = straight();
    let mut rig = Rig::new("timing_chain", 3, 0, true);
    let mut bytes = table.emit().to_vec();
    // The last one of the list is shifted in first.
    bytes.extend([0xFF; 40]);
    rig.traffic.load_bytes(bytes);
    rig.traffic.mood = multipc_cosim::traffic::Mood::SILENT;
    rig.run(400, |_, _| {});
    let seen = feed(&mut rig, &[(0, 1, 6), (1, 1, 0), (2, 1, EP)]);
    assert_eq!(seen, [(12, 6, 6), (13, 6, 0), (14, 6, EP)]);
}

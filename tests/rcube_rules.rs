//! RCUBE through its pins: wormhole rules, headers, exceptions.

#[path = "support/router_lab.rs"]
mod router_lab;

use multipc::hsl::{Line, Symbol};
use multipc::rcube::{InputState, PORTS, RcubeConfig, RoutingTable};
use router_lab::{Lab, one_to_one, packet};

fn default_lab() -> Lab {
    Lab::up(RcubeConfig::default(), &one_to_one())
}

// --- Wormhole, arbitration, adaptivity ---

#[test]
fn a_blocked_packet_holds_what_it_holds_and_others_wait() {
    let mut lab = default_lab();
    lab.peers[5].reads = false;
    lab.send(2, &packet(&[5, 0], 300));
    lab.run(300);
    lab.send(3, &packet(&[5, 0], 10));
    lab.send(4, &packet(&[6, 0], 10));
    lab.run(300);
    assert_eq!(lab.router.output_state(5).holder, Some(2));
    assert_eq!(
        lab.router.input_state(3),
        InputState::Request { outputs: 1 << 5 }
    );
    assert_eq!(lab.read(6), packet(&[6, 0], 10), "a third party passes");
    lab.peers[5].reads = true;
    lab.run(500);
    let mut both = packet(&[5, 0], 300);
    both.extend(packet(&[5, 0], 10));
    assert_eq!(lab.read(5), both, "whole, one after the other");
    lab.assert_stats_add_up();
    assert!(lab.router.port_stats(3).input.output_taken > 250);
}

#[test]
fn inputs_that_contend_take_turns() {
    let mut lab = default_lab();
    for input in [0, 1, 3, 4, 7] {
        for n in 0..20 {
            lab.send(input, &[5, 0, input as u8, n].map(Symbol::data));
            lab.send(input, &[Symbol::EP]);
        }
    }
    lab.run(2_000);
    let order: Vec<u8> = lab
        .read(5)
        .chunks(5)
        .map(|packet| packet[2].value())
        .collect();
    assert_eq!(order.len(), 100);
    for round in order.chunks(5) {
        assert_eq!(round, [0, 1, 3, 4, 7]);
    }
}

#[test]
fn adaptive_packets_take_the_first_free_output_from_their_own_number_on() {
    let table = RoutingTable::uniform([0; 8], [0, 0, 0, 0, 0, 0, 0, 0b0101_0010]);
    let mut lab = Lab::up(RcubeConfig::default(), &table);
    lab.peers.iter_mut().for_each(|peer| peer.reads = false);
    // Input 5 may take 1, 4 or 6: 6 first, then 1 (around the end), then 4.
    let mut taken = vec![];
    for input in [5, 7, 2, 0] {
        lab.send(input, &packet(&[0, 0], 300));
        lab.run(300);
        taken.push(lab.router.input_state(input));
    }
    assert_eq!(
        taken,
        [
            InputState::Stream { output: 6 },
            InputState::Stream { output: 1 },
            InputState::Stream { output: 4 },
            InputState::Request {
                outputs: 0b0101_0010
            },
        ]
    );
}

#[test]
fn adaptive_packets_avoid_links_that_are_down() {
    let table = RoutingTable::uniform([0; 8], [0, 0, 0, 0, 0, 0, 0, 0b0000_0110]);
    let mut lab = Lab::up(RcubeConfig::default(), &table);
    lab.peers[1].plugged = false;
    lab.run(20);
    lab.send(0, &packet(&[0, 0], 30));
    lab.run(100);
    assert_eq!(lab.read(2), packet(&[0, 0], 30));
}

// --- Headers ---

#[test]
fn deletion_removes_the_whole_header_per_output() {
    for (length, header) in [(0xFF, vec![5, 0]), (0x00, vec![5])] {
        let mut table = one_to_one();
        table.header_length = length;
        table.header_deletion = 1 << 5;
        let mut lab = Lab::up(RcubeConfig::default(), &table);
        let mut inner = header.clone();
        inner.push(0xAB);
        lab.send(2, &packet(&inner, 10));
        lab.send(3, &packet(&[6, 0], 10));
        let mut entered = None;
        for _ in 0..100 {
            if !lab.inputs[2].symbol().is_link_level() {
                entered.get_or_insert(lab.cycle);
            }
            lab.step();
        }
        assert_eq!(lab.read(5), packet(&[0xAB], 10), "length {length:02x}");
        assert_eq!(lab.read(6), packet(&[6, 0], 10), "other outputs keep it");
        // The deleted characters had their cycles: the next one is as late as ever.
        let latency = 10 + header.len() as u64;
        assert_eq!(
            lab.times(5)[0] - entered.unwrap(),
            latency + header.len() as u64
        );
    }
}

#[test]
fn a_packet_without_output_is_dropped_and_its_credits_return() {
    let mut table = one_to_one();
    table.selections[2][5] = 0;
    let mut lab = Lab::up(RcubeConfig::default(), &table);
    lab.send(2, &packet(&[5, 0], 500));
    lab.send(2, &packet(&[6, 0], 5));
    lab.run(700);
    assert_eq!(lab.read(6), packet(&[6, 0], 5));
    assert!(lab.read(5).is_empty());
    assert_eq!(lab.router.port_stats(2).events.no_route, 1);
}

#[test]
fn a_packet_shorter_than_its_header_is_dropped() {
    let mut lab = default_lab();
    lab.send(2, &[Symbol::EP, Symbol::data(5), Symbol::EEP, Symbol::EEP]);
    lab.send(2, &packet(&[6, 0], 0));
    lab.run(100);
    assert_eq!(lab.read(6), packet(&[6, 0], 0));
    assert!(lab.read(5).is_empty());
    assert_eq!(lab.router.port_stats(2).events.short, 3);
}

#[test]
fn control_characters_inside_a_packet_pass() {
    let mut lab = default_lab();
    let unknown = Symbol::from_bits(0x1FF);
    let symbols = [
        Symbol::data(5),
        Symbol::data(0),
        Symbol::BP,
        unknown,
        Symbol::ED,
        Symbol::EEP,
    ];
    lab.send(2, &symbols);
    lab.run(100);
    assert_eq!(lab.read(5), symbols);
}

// --- Exceptions ---

#[test]
fn a_packet_cut_by_loss_of_signal_is_closed_by_eep() {
    for parallel in [0, 1 << 2] {
        let mut lab = Lab::up(
            RcubeConfig::default().with_parallel(parallel),
            &one_to_one(),
        );
        lab.send(2, &packet(&[5, 0], 10_000));
        lab.run(200);
        lab.peers[2].plugged = false;
        lab.peers[2].to_send.clear();
        lab.run(100);
        let read = lab.read(5);
        assert_eq!(read.last(), Some(&Symbol::EEP));
        assert_eq!(
            read[..read.len() - 1],
            packet(&[5, 0], 10_000)[..read.len() - 1]
        );
        let events = lab.router.port_stats(2).events;
        assert_eq!((events.closed, events.link_losses), (1, 1));
        assert_eq!(lab.router.output_state(5).holder, None);
        // And again.
        lab.peers[2].plugged = true;
        lab.run(100);
        lab.send(2, &packet(&[5, 0], 10));
        lab.run(100);
        assert_eq!(lab.read(5)[read.len()..], packet(&[5, 0], 10));
        lab.assert_stats_add_up();
    }
}

#[test]
fn a_closing_packet_waits_for_room_and_keeps_its_output() {
    let mut lab = default_lab();
    lab.peers[5].reads = false;
    lab.send(2, &packet(&[5, 0], 300));
    lab.run(300);
    lab.peers[2].plugged = false;
    lab.run(100);
    assert_eq!(lab.router.input_state(2), InputState::Close { output: 5 });
    lab.peers[5].reads = true;
    lab.run(100);
    assert_eq!(lab.read(5).len(), 64 + 5 + 1);
    assert_eq!(lab.read(5).last(), Some(&Symbol::EEP));
    lab.assert_stats_add_up();
}

#[test]
fn a_request_in_the_run_state_restarts_the_link() {
    let mut lab = default_lab();
    lab.send(2, &packet(&[5, 0], 10_000));
    lab.run(200);
    lab.inputs[2] = Line::symbol_of(Symbol::REQUEST);
    lab.run(30);
    assert_eq!(
        lab.peers[2].downs, 1,
        "the peer saw the silence of the restart"
    );
    lab.peers[2].to_send.clear();
    lab.run(100);
    assert_eq!(lab.read(5).last(), Some(&Symbol::EEP));
    assert_eq!(lab.router.link_status(), 0xFF, "and it came back");
}

#[test]
fn an_output_that_goes_down_drains_its_packet() {
    let mut lab = default_lab();
    lab.send(2, &packet(&[5, 0], 1_000));
    lab.send(2, &packet(&[6, 0], 10));
    lab.run(200);
    lab.peers[5].plugged = false;
    lab.run(50);
    lab.peers[5].plugged = true;
    lab.run(200);
    assert_eq!(
        lab.router.link_status(),
        0xFF,
        "the link is back while the packet drains"
    );
    let before = lab.read(5).len();
    lab.run(1_000);
    assert_eq!(lab.read(5).len(), before, "the rest does not come out");
    assert_eq!(lab.read(6), packet(&[6, 0], 10));
    assert_eq!(lab.router.port_stats(5).events.drained, 1);
    lab.send(2, &packet(&[5, 0], 10));
    lab.run(100);
    assert_eq!(
        lab.read(5)[before..],
        packet(&[5, 0], 10),
        "the next one does"
    );
    lab.assert_stats_add_up();
}

#[test]
fn a_packet_for_a_link_that_is_down_waits() {
    let mut lab = default_lab();
    lab.peers[5].plugged = false;
    lab.run(50);
    lab.send(2, &packet(&[5, 0], 10));
    lab.run(100);
    assert!(lab.router.port_stats(2).input.output_down > 50);
    lab.peers[5].plugged = true;
    lab.run(200);
    assert_eq!(lab.read(5), packet(&[5, 0], 10));
}

#[test]
fn reset_in_the_middle_forgets_the_packet_and_starts_over() {
    let mut lab = default_lab();
    lab.send(2, &packet(&[5, 0], 1_000));
    lab.run(200);
    lab.router.chain(false, None);
    lab.run(5);
    assert_eq!(
        (lab.router.outputs(), lab.router.link_status()),
        (&[Line::DEAD; PORTS], 0)
    );
    lab.peers[2].to_send.clear();
    lab.router.chain(true, None);
    lab.run(200);
    assert_eq!(lab.router.link_status(), 0xFF);
    lab.peers[5].received.clear();
    lab.send(2, &packet(&[5, 0], 10));
    lab.run(100);
    assert_eq!(lab.read(5), packet(&[5, 0], 10), "the chain kept its table");
}

//! Each fault that has a pin, one at a time: what the router does (hw/doc/hsl.md
//! and hw/doc/rcube.md, "Exceptions"), and that model and RTL do the same.
#![cfg(feature = "rcube")]

mod common;

use common::Rig;
use multipc::hsl::Symbol;
use multipc::rcube::RoutingTable;
use multipc_cosim::Random;
use multipc_cosim::rcube::RcubeIn;
use multipc_cosim::traffic::{Mood, table};

/// Port 0 is parallel, and output k gets what begins with k.
const PARALLEL: u8 = 0x01;

fn rig(name: &'static str) -> Rig {
    Rig::up(name, PARALLEL, &table(0, &mut Random::new(1)))
}

/// The same, busy for a while.
fn busy(name: &'static str) -> Rig {
    let mut rig = rig(name);
    rig.traffic.mood = Mood::FULL;
    rig.run(1_000, |_, _| {});
    rig
}

fn put(inputs: &mut RcubeIn, port: usize, symbol: Symbol) {
    inputs.signal |= 1 << port;
    inputs.sym[port] = symbol.bits();
}

#[test]
fn one_cycle_without_signal_restarts_the_link_and_cuts_its_packets() {
    for port in 0..8 {
        let (to, from) = ((port + 1) & 7, (port + 5) & 7);
        let mut rig = rig("fault_dead");
        // Two packets under way: from this link, and to it.
        rig.run(20, |edge, inputs| {
            let header = edge == 0;
            put(
                inputs,
                port,
                Symbol::data(if header { to as u8 } else { 0x55 }),
            );
            put(
                inputs,
                from,
                Symbol::data(if header { port as u8 } else { 0x66 }),
            );
        });
        let mut fell = false;
        let mut leaves = Vec::new();
        for edge in 0..300 {
            let shown = rig.step(|inputs| {
                if edge == 0 {
                    inputs.signal &= !(1 << port);
                }
            });
            fell |= shown.link_status >> port & 1 == 0;
            leaves.push(Symbol::from_bits(shown.sym[to]));
        }
        let events = rig.events();
        // The status bit of the parallel port stays: it says "out of reset".
        assert_eq!(fell, port != 0, "port {port}");
        assert_eq!(
            (events.link_losses, events.closed, events.drained),
            (1, 1, 1),
            "port {port}"
        );
        leaves.retain(|symbol| !symbol.is_link_level());
        assert_eq!(leaves.last(), Some(&Symbol::EEP), "port {port}");
        assert_eq!(rig.shown.link_status, 0xFF, "port {port} is up again");
    }
}

#[test]
fn request_restarts_a_serial_link_and_means_nothing_on_a_parallel_one() {
    for (port, losses) in [(0, 0), (5, 1)] {
        let mut rig = busy("fault_request");
        rig.run(600, |edge, inputs| {
            if edge == 0 {
                put(inputs, port, Symbol::REQUEST);
            }
        });
        assert_eq!(rig.events().link_losses, losses, "port {port}");
    }
}

#[test]
fn more_credit_than_64_restarts_the_link() {
    for port in [0, 3] {
        let mut rig = rig("fault_credit");
        rig.run(600, |edge, inputs| {
            if edge == 0 {
                put(
                    inputs,
                    port,
                    if port == 0 { Symbol::IDLE } else { Symbol::FCC },
                );
                inputs.fcc |= u8::from(port == 0);
            }
        });
        assert_eq!(rig.events().credit_errors, 1, "port {port}");
        assert_eq!(rig.shown.link_status, 0xFF, "port {port} is up again");
    }
}

#[test]
fn pulse_without_signal_or_on_a_serial_link_is_no_credit() {
    let mut rig = rig("fault_pulse");
    rig.run(200, |edge, inputs| {
        if edge < 10 {
            inputs.fcc |= 0x0E;
        }
    });
    assert_eq!(rig.events().credit_errors, 0);
}

#[test]
fn long_silence_keeps_the_link_down_until_the_signal_is_back() {
    let mut rig = busy("fault_plug");
    rig.run(500, |_, inputs| inputs.signal &= !0x06);
    assert_eq!(rig.shown.link_status, 0xF9);
    rig.run(500, |_, _| {});
    assert_eq!(rig.shown.link_status, 0xFF);
}

#[test]
fn symbols_without_credit_are_dropped_when_the_fifo_is_full() {
    let mut rig = rig("fault_overflow");
    // Nobody reads, so that a packet for output 2 stands.
    rig.traffic.mood.drain = u64::MAX;
    rig.run(400, |edge, inputs| {
        let header = edge < 2;
        put(inputs, 4, Symbol::data(if header { 2 } else { edge as u8 }));
    });
    let events = rig.events();
    // 64 in the peer, 5 in the output FIFO, 64 in the input FIFO; the other
    // symbols had no room. Four are still in the deserialiser.
    assert_eq!(events.overflow, 400 - 4 - 64 - 5 - 64);
}

#[test]
fn a_peer_that_does_not_read_gets_64_symbols() {
    for port in [0, 6] {
        let mut rig = rig("fault_full");
        rig.traffic.mood = Mood {
            drain: u64::MAX,
            ..Mood::FULL
        };
        let mut symbols = 0;
        for _ in 0..3_000 {
            let sym = Symbol::from_bits(rig.step(|_| {}).sym[port]);
            symbols += u32::from(!sym.is_link_level());
        }
        assert_eq!(symbols, 64, "port {port}");
    }
}

#[test]
fn headers_without_route_are_dropped_and_credit_returns() {
    let mut rig = Rig::up(
        "fault_route",
        PARALLEL,
        &RoutingTable::uniform([0; 8], [0; 8]),
    );
    rig.traffic.mood = Mood::FULL;
    rig.run(3_000, |_, _| {});
    let events = rig.events();
    assert!(
        events.no_route > 8 * 50 && events.packets_out == 0,
        "{events:?}"
    );
}

#[test]
fn packets_shorter_than_their_header_are_dropped() {
    let mut rig = rig("fault_short");
    let stumps = [Symbol::EP, Symbol::data(3), Symbol::EP, Symbol::EEP];
    rig.run(100, |edge, inputs| {
        if let Some(symbol) = stumps.get(edge as usize) {
            put(inputs, 2, *symbol);
        }
    });
    let events = rig.events();
    assert_eq!((events.short, events.packets_out), (3, 0));
}

#[test]
fn eep_that_arrives_ends_the_packet_and_passes() {
    let mut rig = rig("fault_eep");
    let packet = [
        Symbol::data(3),
        Symbol::data(0),
        Symbol::data(9),
        Symbol::EEP,
    ];
    let mut seen = Vec::new();
    for edge in 0..100 {
        let shown = rig.step(|inputs| {
            if let Some(symbol) = packet.get(edge) {
                put(inputs, 1, *symbol);
            }
        });
        let symbol = Symbol::from_bits(shown.sym[3]);
        if !symbol.is_link_level() {
            seen.push(symbol);
        }
    }
    assert_eq!(seen, packet);
    assert_eq!(rig.events().link_losses, 0);
}

#[test]
fn lost_and_wrong_symbols_inside_a_packet_do_not_touch_the_link() {
    for spoilt in [
        Symbol::IDLE,
        Symbol::ACKNOWLEDGE,
        Symbol::EP,
        Symbol::BP,
        Symbol::from_bits(0x1FF),
    ] {
        let mut rig = busy("fault_symbol");
        rig.run(2_000, |edge, inputs| {
            if edge == 7 {
                put(inputs, 3, spoilt);
            }
        });
        assert_eq!(rig.events().link_losses, 0, "{spoilt}");
    }
}

#[test]
fn reset_in_the_middle_silences_everything_and_all_links_return() {
    let mut rig = busy("fault_reset");
    let shown = rig.step(|inputs| inputs.r3_init = 0);
    assert_eq!((shown.signal, shown.link_status), (0, 0));
    rig.run(600, |_, _| {});
    assert_eq!(rig.shown.link_status, 0xFF);

    let shown = rig.step(|inputs| inputs.rst_n = 0);
    assert_eq!((shown.signal, shown.link_status), (0, 0));
    // The chain is empty now: no routes, but links.
    rig.run(600, |_, _| {});
    let events = rig.events();
    assert_eq!((rig.shown.link_status, events.packets_out), (0xFF, 0));
    assert!(events.no_route + events.short > 0);
}

#[test]
fn output_of_a_packet_that_drains_stays_taken_to_its_end() {
    let mut rig = rig("fault_drain");
    // Input 1 holds output 3 and pauses; link 3 goes down and comes back.
    rig.run(40, |edge, inputs| match edge {
        0 => put(inputs, 1, Symbol::data(3)),
        1 => put(inputs, 1, Symbol::data(0)),
        20 => inputs.signal &= !0x08,
        _ => {}
    });
    rig.run(400, |_, _| {});
    assert_eq!(rig.shown.link_status, 0xFF);
    // Another packet for output 3 waits as long as the first one has no end.
    let other = [Symbol::data(3), Symbol::data(0), Symbol::EP];
    let mut counts = Vec::new();
    for edge in 0..200 {
        rig.step(|inputs| {
            if let Some(symbol) = other.get(edge) {
                put(inputs, 2, *symbol);
            }
            if edge == 100 {
                put(inputs, 1, Symbol::EP);
            }
        });
        counts.push(rig.events().packets_out);
    }
    assert_eq!((counts[100], counts[199]), (0, 2));
}

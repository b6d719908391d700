//! RCUBE against a functional reference, and `skip` against `step`.

#[path = "support/router_lab.rs"]
mod router_lab;

use std::collections::BTreeMap;

use multipc::hsl::{Line, Symbol};
use multipc::rcube::{PORTS, Rcube, RcubeConfig, RoutingTable};
use proptest::prelude::*;
use router_lab::{Lab, one_to_one};

/// Eligible outputs, word for word as the specification has it.
fn reference_select(table: &RoutingTable, input: usize, header: u16) -> u8 {
    let long = table.header_length >> input & 1 == 1;
    let bounds = table.bounds[input].map(|b| if long { b } else { b >> 8 });
    let interval = (0..7)
        .find(|&i| bounds[i] <= header && header < bounds[i + 1])
        .unwrap_or(7);
    table.selections[input][interval]
}

fn sorted_bounds() -> impl Strategy<Value = [u16; 8]> {
    // Few high bytes, so that equal bounds and one-character headers meet.
    prop::array::uniform8(prop_oneof![any::<u16>(), (0u16..6).prop_map(|h| h << 8)]).prop_map(
        |mut b| {
            b.sort_unstable();
            b
        },
    )
}

fn selection() -> impl Strategy<Value = u8> {
    prop_oneof![4 => (0u32..8).prop_map(|k| 1 << k), 3 => any::<u8>(), 1 => Just(0)]
}

fn tables() -> impl Strategy<Value = RoutingTable> {
    (
        prop::array::uniform8(sorted_bounds()),
        prop::array::uniform8(prop::array::uniform8(selection())),
        prop_oneof![Just(0u8), any::<u8>()],
        prop_oneof![Just(0xFFu8), any::<u8>()],
    )
        .prop_map(
            |(bounds, selections, header_deletion, header_length)| RoutingTable {
                bounds,
                selections,
                header_deletion,
                header_length,
            },
        )
}

#[derive(Clone, Debug)]
struct Packet {
    input: usize,
    header: u16,
    payload: usize,
    eep: bool,
    /// Cycles before it is handed to the source.
    gap: u64,
    /// Ends after this many header characters.
    cut: Option<usize>,
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (
        0..PORTS,
        prop_oneof![any::<u16>(), (0u16..6).prop_map(|h| h << 8)],
        prop_oneof![0usize..6, 0usize..200],
        prop::bool::weighted(0.1),
        prop_oneof![3 => Just(0u64), 1 => 0u64..60],
        prop::option::weighted(0.05, 0usize..2),
    )
        .prop_map(|(input, header, payload, eep, gap, cut)| Packet {
            input,
            header,
            payload,
            eep,
            gap,
            cut,
        });
    prop::collection::vec(packet, 1..60)
}

/// Packet `id` as it enters: its header, two characters that name it, payload
/// with control characters in between, EP or EEP.
fn symbols_of(packet: &Packet, id: usize, table: &RoutingTable) -> (Vec<Symbol>, usize) {
    let header = match table.header_length >> packet.input & 1 {
        1 => packet.header.to_be_bytes().to_vec(),
        _ => vec![(packet.header >> 8) as u8],
    };
    let mut symbols: Vec<_> = header.iter().map(|&h| Symbol::data(h)).collect();
    if let Some(cut) = packet.cut {
        symbols.truncate(cut.min(header.len() - 1));
    } else {
        symbols.extend([Symbol::data((id >> 8) as u8), Symbol::data(id as u8)]);
        symbols.extend((0..packet.payload).map(|n| match n % 23 {
            0 => Symbol::BP,
            11 => Symbol::ED,
            22 => Symbol::from_bits(0x100 | n as u16),
            _ => Symbol::data((n * 7 + id) as u8),
        }));
        // Nothing in the payload may look like the end or like the link.
        for symbol in &mut symbols {
            if symbol.ends_packet() || symbol.is_link_level() {
                *symbol = Symbol::BP;
            }
        }
    }
    symbols.push(if packet.eep { Symbol::EEP } else { Symbol::EP });
    (symbols, header.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn table_bytes_round_trip(table in tables()) {
        let bytes = table.emit();
        prop_assert_eq!(RoutingTable::parse(&bytes), table);
        prop_assert_eq!(RoutingTable::try_from(bytes.as_slice()), Ok(table));
    }

    #[test]
    fn any_bytes_are_a_table_and_come_back_but_for_second_selection_bytes(
        bytes in prop::collection::vec(any::<u8>(), 258),
    ) {
        let table = RoutingTable::try_from(bytes.as_slice()).unwrap();
        let mut expected = bytes;
        for base in [64, 194] {
            expected[base..base + 64].chunks_mut(2).for_each(|pair| pair[1] = 0);
        }
        prop_assert_eq!(table.emit().to_vec(), expected);
    }

    #[test]
    fn interval_decoder_is_the_definition(table in tables(), headers in prop::collection::vec(any::<u16>(), 64)) {
        for input in 0..PORTS {
            let long = table.header_length >> input & 1 == 1;
            let near = table.bounds[input].into_iter().flat_map(|b| [b, b.wrapping_sub(1), b.wrapping_add(1)]);
            for header in headers.iter().copied().chain(near) {
                let header = if long { header } else { header >> 8 };
                prop_assert_eq!(table.select(input, header), reference_select(&table, input, header));
            }
        }
    }

    /// Every packet comes out exactly once, whole, not interleaved, at an
    /// eligible output, in order for each input and output; what has no output
    /// or no whole header is dropped and counted; credits are kept; cycles add
    /// up.
    #[test]
    fn packets_come_out_as_the_reference_says(
        table in tables(),
        packets in packets(),
        parallel: u8,
        slow in prop::array::uniform8(0u32..4),
    ) {
        let mut lab = Lab::up(RcubeConfig::default().with_parallel(parallel), &table);
        let mut expected = BTreeMap::new();
        let (mut no_route, mut short) = ([0u64; PORTS], [0u64; PORTS]);
        let mut random = 1u32;
        let mut tick = |lab: &mut Lab| {
            for (k, peer) in lab.peers.iter_mut().enumerate() {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                peer.reads = (random >> 16).is_multiple_of(1 << slow[k]);
            }
            lab.step();
            for (k, peer) in lab.peers.iter().enumerate() {
                assert!(peer.deepest <= 64, "{} symbols outstanding at {k}", peer.deepest);
            }
        };
        for (id, packet) in packets.iter().enumerate() {
            let (symbols, header) = symbols_of(packet, id, &table);
            lab.send(packet.input, &symbols);
            let value = if header == 2 { packet.header } else { packet.header >> 8 };
            let eligible = reference_select(&table, packet.input, value);
            if packet.cut.is_some() {
                short[packet.input] += 1;
            } else if eligible == 0 {
                no_route[packet.input] += 1;
            } else {
                expected.insert(id, (packet.input, eligible, symbols, header));
            }
            for _ in 0..packet.gap {
                tick(&mut lab);
            }
        }
        // Ample: all through one output to the slowest reader.
        let total: usize = packets.iter().map(|p| p.payload + 16).sum();
        for _ in 0..total * 12 + 500 {
            tick(&mut lab);
        }

        for output in 0..PORTS {
            let read = lab.read(output);
            let mut last = BTreeMap::new();
            for whole in read.split_inclusive(|symbol| symbol.ends_packet()) {
                prop_assert!(whole.last().unwrap().ends_packet(), "unfinished packet at output {}", output);
                let deleted = table.header_deletion >> output & 1 == 1;
                // The header's length depends on the input, which the id tells.
                let found = [1usize, 2].into_iter().find_map(|header| {
                    let skip = if deleted { 0 } else { header };
                    let name = whole.get(skip..skip + 2)?;
                    let id = usize::from(name[0].value()) << 8 | usize::from(name[1].value());
                    let (input, eligible, symbols, length) = expected.get(&id)?;
                    let from = if deleted { *length } else { 0 };
                    (*length == header && symbols[from..] == *whole).then_some((id, *input, *eligible))
                });
                let Some((id, input, eligible)) = found else {
                    return Err(TestCaseError::fail(format!("output {output} gave {whole:?}")));
                };
                expected.remove(&id);
                prop_assert!(eligible >> output & 1 == 1, "packet {} at output {}", id, output);
                if let Some(before) = last.insert(input, id) {
                    prop_assert!(before < id, "packet {} overtook {}", before, id);
                }
            }
        }
        prop_assert!(expected.is_empty(), "never came out: {:?}", expected.keys());
        for port in 0..PORTS {
            let events = lab.router.port_stats(port).events;
            prop_assert_eq!(events.no_route, no_route[port]);
            prop_assert_eq!(events.short, short[port]);
            prop_assert_eq!(events.overflow + events.credit_errors + events.link_losses, 0);
            prop_assert_eq!(lab.router.input_queued(port), 0);
        }
        lab.assert_stats_add_up();
    }

    /// Any lines at all, valid or not: no panic, and cycles add up.
    #[test]
    fn noise_on_the_pins_does_no_harm(
        table in tables(),
        parallel: u8,
        noise in prop::collection::vec(any::<[u16; 8]>(), 1..400),
        rare: bool,
    ) {
        let mut lab = Lab::up(RcubeConfig::default().with_parallel(parallel), &table);
        for lines in noise {
            // Mostly data, else no link lives long.
            let lines = lines.map(|bits| match rare && bits % 64 != 0 {
                true => Line::symbol_of(Symbol::data((bits >> 8) as u8)),
                false => Line::from_bits(bits),
            });
            lab.router.step(&lines);
        }
        lab.assert_stats_add_up();
    }
}

/// What happens while lines are recorded.
#[derive(Clone, Debug)]
enum Act {
    Send {
        input: usize,
        output: u8,
        payload: usize,
    },
    /// Some symbols, wherever the packet is.
    Piece {
        input: usize,
        symbols: Vec<Symbol>,
    },
    Plug {
        port: usize,
        plugged: bool,
    },
    Read {
        port: usize,
        reads: bool,
    },
    Init {
        level: bool,
    },
    Wait {
        cycles: u64,
    },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let piece = prop_oneof![4 => (0u8..8).prop_map(Symbol::data), 1 => Just(Symbol::EP)];
    let act = prop_oneof![
        5 => (0..PORTS, 0u8..8, 0usize..150).prop_map(|(input, output, payload)| Act::Send { input, output, payload }),
        4 => (0..PORTS, prop::collection::vec(piece, 1..5)).prop_map(|(input, symbols)| Act::Piece { input, symbols }),
        1 => (0..PORTS, any::<bool>()).prop_map(|(port, plugged)| Act::Plug { port, plugged }),
        2 => (0..PORTS, any::<bool>()).prop_map(|(port, reads)| Act::Read { port, reads }),
        1 => prop::bool::weighted(0.7).prop_map(|level| Act::Init { level }),
        5 => (0u64..2_500).prop_map(|cycles| Act::Wait { cycles }),
    ];
    prop::collection::vec(act, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Start-up, traffic with gaps, blocked packets, plugs pulled, resets: one
    /// router is stepped, the other skips whenever it may, and after each
    /// skip both have the same state and the outputs have not changed.
    #[test]
    fn skipping_is_stepping(acts in acts(), parallel: u8, seed: u64, start: u64) {
        let mut config = RcubeConfig::default().with_parallel(parallel);
        config.link.reset_cycles = 700;
        config.link.calibration_cycles = 300;
        config.link.signal_cycles = 200;
        let mut lab = Lab::new(config.clone(), &one_to_one());
        let mut script: Vec<([Line; PORTS], bool)> = vec![];
        let mut level = true;
        let mut record = |lab: &mut Lab, cycles: u64, level: bool| {
            for _ in 0..cycles {
                script.push((lab.inputs, level));
                lab.step();
            }
        };
        record(&mut lab, start % 2_000, level);
        for act in acts {
            match act {
                Act::Send { input, output, payload } => lab.send(input, &router_lab::packet(&[output, 0], payload)),
                Act::Piece { input, symbols } => lab.send(input, &symbols),
                Act::Plug { port, plugged } => lab.peers[port].plugged = plugged,
                Act::Read { port, reads } => lab.peers[port].reads = reads,
                Act::Init { level: l } => {
                    level = l;
                    lab.router.chain(level, None);
                }
                Act::Wait { cycles } => record(&mut lab, cycles, level),
            }
        }
        record(&mut lab, 600, level);

        let mut stepped = Rcube::new(config);
        stepped.configure(&one_to_one());
        let mut skipping = stepped.clone();
        let mut random = seed | 1;
        let mut at = 0;
        let mut skipped = 0;
        while at < script.len() {
            let (inputs, level) = script[at];
            stepped.chain(level, None);
            skipping.chain(level, None);
            let idle = skipping.idle_for(&inputs);
            if idle == 0 {
                stepped.step(&inputs);
                skipping.step(&inputs);
                at += 1;
                continue;
            }
            let same = script[at..].iter().take_while(|&&next| next == script[at]).count() as u64;
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let cycles = idle.min(same).min(1 + (random >> 33) % 1_000);
            let outputs = *skipping.outputs();
            skipping.skip(cycles, &inputs);
            for _ in 0..cycles {
                stepped.step(&inputs);
                prop_assert_eq!(stepped.outputs(), &outputs, "outputs moved while idle");
            }
            prop_assert_eq!(&stepped, &skipping, "after cycle {} + {}", at, cycles);
            at += cycles as usize;
            skipped += cycles;
        }
        prop_assert_eq!(&stepped, &skipping);
        prop_assert_eq!(&stepped, &lab.router);
        prop_assert!(skipped > 0, "nothing was ever skipped");
        lab.assert_stats_add_up();
    }
}

#[test]
fn a_router_without_cables_is_idle_but_for_three_edges() {
    let mut router = Rcube::new(RcubeConfig::default());
    let dead = [Line::DEAD; PORTS];
    assert_eq!(router.idle_for(&dead), u64::MAX);
    router.configure(&one_to_one());
    let mut stepped = 0;
    let mut cycles = 0;
    while router.idle_for(&dead) != u64::MAX {
        let idle = router.idle_for(&dead);
        if idle == 0 {
            router.step(&dead);
            stepped += 1;
            cycles += 1;
        } else {
            router.skip(idle, &dead);
            cycles += idle;
        }
    }
    // R3_INIT taken in, reset over, calibration over; then IDLE passes the
    // serialiser's four registers.
    assert_eq!((stepped, cycles), (3 + 4, 1 + 4096 + 4096 + 4));
}

#[test]
fn a_skip_longer_than_allowed_is_stepped_where_it_must() {
    let mut router = Rcube::new(RcubeConfig::default());
    router.configure(&one_to_one());
    let mut stepped = router.clone();
    router.skip(9_000, &[Line::DEAD; PORTS]);
    for _ in 0..9_000 {
        stepped.step(&[Line::DEAD; PORTS]);
    }
    assert_eq!(router, stepped);
}

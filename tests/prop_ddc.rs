//! Properties of two controllers back to back: bytes arrive as by memcpy,
//! whatever the alignment, length, parameters and behaviour of the memories;
//! skipping equals stepping; noise on the link breaks nothing.

mod ddc_rig;

use ddc_rig::*;
use multipc::ddc::{Ddc, DdcConfig, Erratum, PciInputs, Revision};
use multipc::hsl::{Line, Symbol};
use multipc::pci::{BridgeConfig, Signals, TargetResponse};
use proptest::prelude::*;

/// Something different in every byte.
fn pattern(seed: u32, len: usize) -> Vec<u8> {
    let mut state = seed | 1;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

/// Sends one page from board 0 to board 1 and checks it, and what lies around it.
fn copy(rig: &mut Rig, length: u16, from: u32, to: u32, mi: u32) {
    const GUARD: usize = 8;
    let len = usize::from(length);
    let text = pattern(mi.wrapping_mul(77) + u32::from(length), len);
    rig.boards[0].bytes_mut(from, len).copy_from_slice(&text);
    let around = rig.boards[1].bytes_mut(to - GUARD as u32, len + 2 * GUARD);
    around.fill(0xEE);
    rig.post(0, &[last(length, from, to, mi)]);
    let before = rig.boards[1].ddc.register(LMI_NEW);
    rig.until(4000 + 60 * u64::from(length), |rig| {
        rig.boards[1].ddc.register(LMI_NEW) != before
    });
    let around = rig.boards[1].bytes(to - GUARD as u32, len + 2 * GUARD);
    assert!(
        around[..GUARD]
            .iter()
            .chain(&around[GUARD + len..])
            .all(|&b| b == 0xEE)
    );
    assert_eq!(
        around[GUARD..GUARD + len],
        text,
        "{length} bytes from {from:#x} to {to:#x}"
    );
    let reports = rig.reports(1);
    let words = ((to & 3) + u32::from(length)).div_ceil(4);
    let limit = u32::from(rig.boards[0].ddc.config().fifo_words);
    assert_eq!(reports.len(), 1);
    assert_eq!(u32::from(reports[0].packet_number), words.div_ceil(limit));
}

#[test]
fn bytes_arrive_as_by_memcpy_for_every_alignment_and_short_length() {
    let mut rig = Rig::started(ALL_ON);
    let mut mi = 0;
    for from in 0..4 {
        for to in 0..4 {
            for length in 1..=70 {
                copy(&mut rig, length, DATA + from, DATA + 0x100 + to, mi);
                mi += 1;
            }
        }
    }
    rig.assert_clean();
}

#[test]
fn bytes_arrive_as_by_memcpy_around_the_cut_and_at_the_longest_page() {
    let mut rig = Rig::started(ALL_ON);
    let mut mi = 0;
    for (from, to) in (0..16).map(|k| (k / 4, k % 4)) {
        for length in (524..=540).chain([1063, 1064, 1065, 4095, 4096, 4097]) {
            copy(&mut rig, length, DATA + from, DATA + 0x2_0000 + to, mi);
            mi += 1;
        }
    }
    for (from, to) in [(0, 0), (1, 3), (3, 1)] {
        copy(&mut rig, 65535, DATA + from, DATA + 0x2_0000 + to, mi);
        mi += 1;
    }
    rig.assert_clean();
}

prop_compose! {
    fn any_config()(
        fifo_words in prop_oneof![8u16..40, Just(100), Just(133), Just(256)],
        rx_fifo_words in prop_oneof![8u16..40, Just(133), Just(256)],
        refill_words in 0u16..150,
        rx_burst_words in 0u16..40,
        packet_gap in 0u8..12,
        link_to_pci_sync in 0u8..3,
    ) -> DdcConfig {
        let mut config = DdcConfig::default();
        config.fifo_words = fifo_words;
        config.rx_fifo_words = rx_fifo_words;
        config.refill_words = refill_words;
        config.rx_burst_words = rx_burst_words;
        config.packet_gap = packet_gap;
        config.link_to_pci_sync = link_to_pci_sync;
        config
    }
}

prop_compose! {
    fn any_bridge()(
        read_latency in 1u32..12,
        write_latency in 0u32..8,
        wait_states in 0u32..4,
        parked in any::<bool>(),
    ) -> BridgeConfig {
        let mut bridge = BridgeConfig::default();
        bridge.read_latency = read_latency;
        bridge.write_latency = write_latency;
        bridge.wait_states = wait_states;
        bridge.park = parked.then_some(multipc::pci::Agent::Ddc);
        bridge
    }
}

/// Everything a target may do short of an abort.
fn any_response() -> impl Strategy<Value = TargetResponse> {
    prop_oneof![
        Just(TargetResponse::Normal),
        Just(TargetResponse::Retry),
        (0u32..6).prop_map(TargetResponse::DisconnectAfter),
        (0u32..6).prop_map(TargetResponse::DisconnectWith),
        (0u32..9).prop_map(TargetResponse::ExtraLatency),
        (0u32..7).prop_map(TargetResponse::WaitStates),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn messages_in_both_directions_arrive_whatever_the_memories_do(
        config in any_config(),
        bridge in any_bridge(),
        balance in 0u32..16,
        limit in prop_oneof![Just(0u32), 1u32..200],
        latency in prop_oneof![Just(0u32), Just(0x20), Just(0xFF)],
        responses in prop::collection::vec((0usize..2, any_response()), 0..60),
        pages in prop::collection::vec((1u16..1500, 0u32..4, 0u32..4), 1..10),
    ) {
        let mut rig = Rig::new(config, bridge);
        let mut expected = [vec![], vec![]];
        for (board, expected) in expected.iter_mut().enumerate() {
            let command = balance << 28 | limit << 16 | TX_INIT | R3_INIT | RX_INIT;
            rig.start(board, command);
            rig.write(board, 0x0C, latency << 8);
            let descriptors: Vec<_> = pages.iter().enumerate().map(|(k, &(length, from, to))| {
                let from = DATA + 0x800 * k as u32 + from;
                let to = DATA + 0x2_0000 + 0x800 * k as u32 + to;
                let text = pattern((k + 100 * board) as u32, usize::from(length));
                rig.boards[board].bytes_mut(from, text.len()).copy_from_slice(&text);
                expected.push((to, text));
                last(length, from, to, k as u32)
            }).collect();
            rig.post(board, &descriptors);
        }
        let mut responses = responses.into_iter();
        let mut cycles = 0;
        while rig.boards.iter().any(|b| b.ddc.register(LMI_NEW) != LMI + 16 * pages.len() as u32) {
            if let Some((board, response)) = responses.next() {
                let _ = rig.boards[board].bridge.respond_next(response);
            }
            rig.run(50);
            cycles += 50;
            prop_assert!(cycles < 400_000, "{}", rig.dump());
        }
        rig.run(5);
        for board in 0..2 {
            for (to, text) in &expected[1 - board] {
                prop_assert_eq!(rig.boards[board].bytes(*to, text.len()), &text[..]);
            }
            let order: Vec<u32> = rig.reports(board).iter().map(|r| r.control.mi()).collect();
            prop_assert_eq!(order, (0..pages.len() as u32).collect::<Vec<_>>());
            prop_assert_eq!(rig.boards[board].ddc.register(STATUS) & 0x00FF_F000, 0);
        }
        rig.assert_clean();
    }

    #[test]
    fn skipping_equals_stepping(
        config in any_config(),
        timeout in prop_oneof![Just(0u32), 1u32..80, Just(1 << 20)],
        pages in prop::collection::vec((0u16..900, 0u32..4, 0u32..4), 1..6),
        stop in prop::collection::vec(0u64..400, 1..6),
        receiver_on in any::<bool>(),
        cut in any::<bool>(),
        errata in prop::collection::vec(prop::sample::select(&Erratum::ALL), 0..8),
    ) {
        let mut config = config;
        config.rx_timeout_cycles = timeout;
        config.revision = Revision::of(&errata);
        config.errata.spurious_window = 300;
        config.errata.spurious_period = 20;
        config.errata.spurious_length = 3;
        config.errata.cause_delay = 9;
        let mut rig = Rig::new(config, BridgeConfig::default());
        rig.start(0, ALL_ON);
        rig.start(1, if receiver_on { ALL_ON } else { BALANCED | TX_INIT });
        rig.write(0, MASK, 0);
        let descriptors: Vec<_> = pages.iter().enumerate()
            .map(|(k, &(length, from, to))| last(length, DATA + from, DATA + to, k as u32))
            .collect();
        rig.post(0, &descriptors);
        for stop in stop {
            for _ in 0..stop {
                rig.step();
                for board in &rig.boards {
                    check_skip(board)?;
                }
            }
            rig.cut ^= cut;
        }
    }

    #[test]
    fn a_hostile_driver_never_breaks_the_bus_and_a_reset_heals_the_chip(
        writes in prop::collection::vec((0u8..0x20, any_value(), 0u64..60), 1..60),
        feed in prop::collection::vec(noise(), 0..100),
    ) {
        let mut rig = Rig::started(ALL_ON | LRM_ENABLE);
        for board in 0..2 {
            rig.post(board, &[last(900, DATA + 1, DATA + 0x800, 1), last(5, DATA, DATA, 2)]);
        }
        for (offset, value, wait) in writes {
            rig.write(0, 4 * offset, value);
            rig.run(wait);
        }
        rig.feed(0, &feed);
        rig.assert_clean();
        for board in 0..2 {
            rig.write(board, COMMAND, 0x8000);
        }
        rig.boards[0].inject = None;
        rig.run(10);
        for board in 0..2 {
            rig.start(board, ALL_ON);
        }
        for mi in 0..3 {
            copy(&mut rig, 700, DATA + 1, DATA + 0x2_0002, mi);
        }
        rig.assert_clean();
    }

    #[test]
    fn noise_on_the_link_never_hangs_or_writes_without_a_header(
        noise in prop::collection::vec(noise(), 0..400),
        command in prop_oneof![Just(ALL_ON), Just(ALL_ON | LRM_ENABLE)],
    ) {
        let mut rig = Rig::started(command);
        rig.write(1, MASK, 0);
        rig.feed(1, &noise);
        rig.run(200);
        prop_assert!(rig.boards[1].bytes(DATA, 0x1000).iter().all(|&b| b == 0));
        // An end, and the next packet is taken.
        rig.feed(1, &[Symbol::EEP, Symbol::EEP]);
        rig.feed(1, &long_packet(LAST.with_mi(1), DATA, &[1, 2, 3], last_of(1)));
        prop_assert_eq!(rig.boards[1].bytes(DATA, 4), &[1, 2, 3, 0]);
        rig.assert_clean();
    }

    #[test]
    fn spoilt_packets_are_never_completed(
        bytes in prop::collection::vec(any::<u8>(), 1..40),
        lane in 0u32..4,
        at in any::<prop::sample::Index>(),
        bits in 1u16..0x200,
    ) {
        let mut symbols = long_packet(LAST.with_mi(1), DATA + lane, &bytes, last_of(1));
        let index = at.index(symbols.len());
        let old = symbols[index];
        symbols[index] = Symbol::from_bits(old.bits() ^ bits);
        let free = index + 4 >= symbols.len() && index + 1 < symbols.len();
        let mut rig = Rig::started(ALL_ON);
        rig.feed(1, &symbols);
        let told = rig.reports(1).len();
        let crc_off = index + 10 == symbols.len() && symbols[index].value() & 0x40 != 0;
        if !(free && !symbols[index].is_control() || crc_off) {
            prop_assert_eq!(told, 0, "symbol {} {:?} became {:?}", index, old, symbols[index]);
        }
        rig.assert_clean();
    }
}

/// Register values: anything, ring entries, and what makes the chip work.
fn any_value() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (0u32..64).prop_map(|k| LPE + 16 * k),
        (0u32..64).prop_map(|k| LMI + 16 * k),
        Just(ALL_ON),
        Just(ALL_ON | LOOPBACK),
        Just(0x104),
        Just(u32::MAX),
    ]
}

/// Symbols in no order, with all control codes.
fn noise() -> impl Strategy<Value = Symbol> {
    prop_oneof![
        4 => any::<u8>().prop_map(Symbol::data),
        1 => (0usize..8).prop_map(|k| Symbol::CONTROL[k].0),
        1 => (0u16..0x200).prop_map(Symbol::from_bits),
    ]
}

/// What a chip says it can skip, it can: in both clocks, at this very state.
fn check_skip(board: &Board) -> Result<(), TestCaseError> {
    let idle = board.ddc.pci_idle_for();
    let pins = PciInputs {
        r3_status: board.r3_status,
        bus: Signals::IDLE,
        idsel: false,
        gnt_n: true,
    };
    for cycles in [1, 2, idle.min(90)] {
        if cycles <= idle && cycles > 0 {
            let (mut stepped, mut skipped) = (board.ddc.clone(), board.ddc.clone());
            (0..cycles).for_each(|_| stepped.step_pci(&pins));
            skipped.skip_pci(cycles);
            prop_assert!(stepped == skipped, "{} PCI cycles", cycles);
        }
    }
    for line in [Line::IDLE, Line::DEAD] {
        if board.ddc.link_idle_for(line) > 0 {
            let mut stepped: Ddc = board.ddc.clone();
            (0..3).for_each(|_| stepped.step_link(line));
            let mut skipped = board.ddc.clone();
            skipped.skip_link(3, line);
            prop_assert!(stepped == skipped, "link");
        }
    }
    Ok(())
}

#[test]
fn an_idle_chip_says_so() {
    let mut rig = Rig::started(ALL_ON);
    rig.run(100);
    for board in &rig.boards {
        assert_eq!(board.ddc.pci_idle_for(), u64::MAX);
        assert_eq!(board.ddc.link_idle_for(Line::IDLE), u64::MAX);
        assert_eq!(board.ddc.link_idle_for(Line::DEAD), 0);
    }
    let fresh = Ddc::new(DdcConfig::default());
    assert_eq!(fresh.pci_idle_for(), u64::MAX);
    assert_eq!(fresh.link_idle_for(Line::DEAD), u64::MAX);
}

#[test]
fn boards_in_any_order_give_the_same_run() {
    let run = |swap: u64| {
        let mut rig = Rig::started(ALL_ON);
        for board in 0..2 {
            rig.post(
                board,
                &[
                    last(2001, DATA + 1, DATA + 0x2002, 1),
                    last(7, DATA, DATA + 3, 2),
                ],
            );
        }
        for k in 0..4000 {
            rig.swapped = k % (swap + 1) == swap;
            rig.step();
        }
        rig.boards
            .map(|board| (board.ddc, board.bridge, board.memory))
    };
    let first = run(0);
    assert!(
        first
            .iter()
            .all(|(ddc, ..)| ddc.register(STATUS) >> 30 == 3)
    );
    assert!((1..4).all(|swap| run(swap) == first));
}

#[test]
fn state_fits_a_firmware_image() {
    assert!(size_of::<Ddc>() <= 8 * 1024, "{} bytes", size_of::<Ddc>());
}

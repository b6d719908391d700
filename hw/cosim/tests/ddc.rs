//! PCI-DDC: model and RTL in lock-step, two boards on one cable.
#![cfg(feature = "ddc")]

mod ddc_system;

use ddc_system::*;
use multipc::ddc::lme::Control;
use multipc::mem::Memory;
use multipc::pci::{Agent, BridgeConfig, DecodeSpeed};
use multipc::time::Frequency;
use multipc_cosim::ddc::{DdcRtl, DdcSmallRtl, Resettable};
use multipc_cosim::{Random, cycles};

/// Runs of 10 000 PCI cycles until there are enough; each has its own machine.
fn runs<R: Resettable>(
    name: [&'static str; 2],
    first_seed: u64,
    cycles: u64,
    profile: impl Fn(&mut Random) -> Profile,
) -> Seen {
    let mut seen = Seen::default();
    let (mut done, mut seed) = (0, first_seed);
    while done < cycles {
        let mut random = Random::new(seed);
        let profile = profile(&mut random);
        let count = 10_000.min(cycles - done);
        let mut rig = Rig::<R>::new(name, any_bridge(&mut random), any_link(&mut random));
        for board in 0..2 {
            rig.start(board, profile.command);
        }
        let mut software = Software::new(seed);
        software.run(&mut rig, &profile, count);
        if profile.is_legal() {
            rig.assert_clean();
        }
        seen.add(&software.seen);
        done += count;
        seed += 1;
    }
    println!(
        "{}: {done} PCI cycles of two boards without a difference",
        name[0]
    );
    println!("{seen}");
    seen
}

fn any_bridge(random: &mut Random) -> BridgeConfig {
    let mut bridge = BridgeConfig::default();
    if random.one_in(2) {
        bridge.read_latency = 1 + random.below(11) as u32;
        bridge.write_latency = random.below(8) as u32;
        bridge.wait_states = random.below(4) as u32;
        bridge.devsel = [
            DecodeSpeed::Fast,
            DecodeSpeed::Medium,
            DecodeSpeed::Slow,
            DecodeSpeed::Subtractive,
        ][random.below(4) as usize];
        bridge.park = random.one_in(2).then_some(Agent::Ddc);
    }
    bridge
}

/// 66 MHz, or 40 to 83.
fn any_link(random: &mut Random) -> Frequency {
    if random.one_in(2) {
        Frequency::LINK_66_MHZ
    } else {
        Frequency::from_hz(40_000_000 + random.below(43_000_001)).unwrap()
    }
}

#[test]
fn configuration_accesses() {
    let total = cycles(10_000, 100_000);
    let seen = runs::<DdcRtl>(["ddc_config_0", "ddc_config_1"], 100, total, |_| Profile {
        reads: 3,
        wild: 3,
        link_status: 50,
        ..Profile::default()
    });
    assert!(seen.status[6] > 0, "link status errors");
}

/// Every kind of message, alignment and length, both directions at once; memories
/// that wait, retry and disconnect; grants that come late; COMMAND as it likes.
#[test]
fn messages_of_all_kinds() {
    let total = cycles(60_000, 1_000_000);
    let seen = runs::<DdcRtl>(["ddc_kinds_0", "ddc_kinds_1"], 200, total, |random| {
        Profile {
            command: ALL_ON | if random.one_in(2) { LRM_ENABLE } else { 0 },
            reads: 50,
            posts: 100,
            service: 40,
            responses: [0, 20, 100][random.below(3) as usize],
            grants: [0, 300][random.below(2) as usize],
            commands: [0, 1000][random.below(2) as usize],
            longest: 1500,
            kinds: true,
            lrm: true,
            ..Profile::default()
        }
    });
    assert!(seen.reports > total / 600 && seen.pages > total / 300);
    assert!(seen.kinds[1..].iter().all(|&count| count > total / 4000));
}

/// Whatever can go wrong: on the cable, on the bus, in software.
#[test]
fn everything_that_goes_wrong() {
    let total = cycles(100_000, 1_000_000);
    let seen = runs::<DdcRtl>(["ddc_faults_0", "ddc_faults_1"], 300, total, |random| {
        Profile {
            command: ALL_ON | if random.one_in(2) { LRM_ENABLE } else { 0 },
            reads: 50,
            wild: [0, 0, 500][random.below(3) as usize],
            posts: 60,
            service: 10,
            responses: 60,
            pci_faults: [0, 300, 2000][random.below(3) as usize],
            grants: 300,
            link_faults: [0, 100, 3000][random.below(3) as usize],
            cuts: [0, 10_000][random.below(2) as usize],
            link_status: 1000,
            commands: 2000,
            resets: [0, 1000, 3000][random.below(3) as usize],
            longest: [50, 1500][random.below(2) as usize],
            kinds: true,
            lrm: true,
            miser: random.one_in(2),
            wide: random.one_in(2),
        }
    });
    let [lrm, link, ep, data, header, eep] = [1, 6, 8, 9, 10, 11].map(|bit| seen.status[bit]);
    for (name, count) in [
        ("ILLEGAL_LRM", lrm),
        ("R3_STATUS", link),
        ("EP", ep),
        ("CRC_DATA", data),
        ("CRC_HEADER", header),
        ("EEP", eep),
        ("data parity", seen.pci[0]),
        ("target abort", seen.pci[4]),
        ("master abort", seen.pci[5]),
        ("SERR#", seen.pci[6]),
        ("parity", seen.pci[7]),
        ("resets", seen.resets),
    ] {
        assert!(count > 0, "no {name} in {total} cycles");
    }
}

/// A driver that gives reports back when the ring has run full, and not always then.
#[test]
fn a_full_report_ring() {
    let total = cycles(20_000, 200_000);
    let seen = runs::<DdcRtl>(["ddc_ring_0", "ddc_ring_1"], 500, total, |random| Profile {
        command: ALL_ON,
        posts: 20,
        service: [20, 200][random.below(2) as usize],
        longest: 8,
        kinds: true,
        miser: true,
        ..Profile::default()
    });
    assert!(seen.status[0] > 5, "full rings");
}

#[test]
fn small_fifos() {
    let total = cycles(40_000, 400_000);
    let seen = runs::<DdcSmallRtl>(["ddc_small_0", "ddc_small_1"], 400, total, |random| {
        Profile {
            command: ALL_ON | if random.one_in(2) { LRM_ENABLE } else { 0 },
            reads: 50,
            posts: 60,
            service: 10,
            responses: 60,
            pci_faults: [0, 3000][random.below(2) as usize],
            grants: [100, 800][random.below(2) as usize],
            link_faults: [0, 200][random.below(2) as usize],
            cuts: [0, 5000][random.below(2) as usize],
            commands: 2000,
            longest: [100, 1500][random.below(2) as usize],
            kinds: true,
            lrm: true,
            ..Profile::default()
        }
    });
    assert!(seen.reports > total / 600);
}

/// A ring whose only entry is always valid: the same message for ever, until the
/// counters have run over.
#[test]
fn the_same_message_for_ever() {
    let total = cycles(10_000, 2_200_000);
    let mut rig = Rig::<DdcRtl>::new(
        ["ddc_ever_0", "ddc_ever_1"],
        BridgeConfig::default(),
        Frequency::LINK_66_MHZ,
    );
    let short = Control::SM.with(Control::LMP);
    let counted = Control::LRM.with_mi(5);
    for (board, length, control) in [(0, 0, short), (1, 65_535, counted)] {
        let control = control.with(Control::NOS).with(Control::NOR);
        rig.boards[board].post(&page(length, DATA, DATA + 1, control));
        rig.start(board, ALL_ON | LRM_ENABLE | 1 << 16);
        rig.write(board, MASK, 0);
        rig.write(board, 0x50, LPE);
        rig.write(board, LPE_NEW, LPE + 16);
    }
    // INTA# tells the very edge at which a counter reaches 16, 256, 4096, its end.
    let end = rig.pci.cycle() + total;
    for (bits, until) in [
        (0x0900_0000, 2000),
        (0x1200_0000, 10_000),
        (0x2400_0000, 200_000),
        (0x0003_0000, u64::MAX),
    ] {
        for board in 0..2 {
            rig.write(board, MASK, bits);
        }
        let now = rig.pci.cycle();
        rig.run(end.min(until).saturating_sub(now));
    }
    rig.assert_clean();
    let [sender, receiver] = [0, 1].map(|board| rig.boards[board].register(STATUS));
    assert_eq!(
        sender >> 27 & 0b1_0011,
        0b1_0011,
        "256 pages sent: {sender:x}"
    );
    assert_eq!(receiver >> 24 & 0b11, 0b11, "256 messages: {receiver:x}");
    if total > 2_000_000 {
        assert_eq!(sender >> 12 & 0b10_0100, 0b10_0100, "{sender:x}");
        assert_eq!(receiver >> 12 & 0b01_1000, 0b01_1000, "{receiver:x}");
    }
}

/// A counter at its end: the cache then holds what memory does, and a composed
/// packet only has to forget it.
#[test]
fn a_composed_packet_behind_a_counter_at_its_end() {
    let mut rig = Rig::<DdcRtl>::new(
        ["ddc_end_0", "ddc_end_1"],
        BridgeConfig::default(),
        Frequency::LINK_66_MHZ,
    );
    for board in 0..2 {
        rig.start(board, ALL_ON | LRM_ENABLE);
        rig.write(board, MASK, 0);
    }
    let entry = LRM + 4 * 5;
    rig.boards[1].memory.write_word(entry, 0xFFFF, 0xF);
    let counted = Control::LRM.with_mi(5);
    for control in [counted, counted.with(Control::CM)] {
        rig.boards[0].post(&page(4, DATA, DATA, control));
    }
    let new = rig.boards[0].soft_new;
    rig.write(0, LPE_NEW, new);
    rig.run(300);
    assert_eq!(rig.boards[1].register(STATUS) >> 14 & 1, 1);
    // Read for each of the two, written for the composed one.
    assert_eq!(rig.boards[1].bridge.stats().words_read, 2);
    assert_eq!(rig.boards[1].memory.read_word(entry), 0xFFFF);
    rig.assert_clean();
}

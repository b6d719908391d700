//! Each erratum of the silicon alone: what goes wrong with a driver that does
//! not know of it, and that nothing does with one that does.
//!
//! hw/doc/errata.md names these tests; the last one holds the two together.

mod ddc_rig;
mod put_rig;

use ddc_rig::{
    ALL_ON, Board, DATA, LAST, LMI_CURRENT, LMI_NEW, LPE_CURRENT, LPE_NEW, LRM_ENABLE, MASK,
    PCI_04, Rig, STATUS, last, last_of, long_packet, page,
};
use multipc::ddc::lme::{Control, Descriptor};
use multipc::ddc::{Erratum, Revision};
use multipc::hsl::Symbol;
use multipc::pci::BridgeConfig;
use multipc::put::{
    AddError, Capabilities, Entry, Event, Fault, InitError, Model, Phase, Protocol, Put,
};
use multipc::remote::Arrival;
use put_rig::{FAR, NEAR, Writers, at, chip, config, fill, pair, pair_with, serve};

const IDEAL: Revision = Revision::IDEAL;
const COMMAND: u8 = 0x48;
const SOFT_RESET: u32 = 0x8000;
const BUS_MASTER: u32 = 4;

/// Two boards without drivers.
fn boards(revision: Revision, command: u32) -> Rig {
    let mut rig = Rig::new(chip(revision), BridgeConfig::default());
    rig.start(0, command);
    rig.start(1, command);
    rig
}

fn bare(revision: impl Into<Revision>) -> Rig {
    boards(revision.into(), ALL_ON)
}

fn status(board: &Board) -> u32 {
    board.ddc.register(STATUS)
}

fn sent(told: &[Event]) -> Vec<u32> {
    let mi = |event: &Event| match event {
        Event::Sent { mi, .. } => Some(*mi),
        _ => None,
    };
    told.iter().filter_map(mi).collect()
}

fn received(told: &[Event]) -> Vec<u32> {
    let mi = |event: &Event| match event {
        Event::Received { mi, .. } => Some(*mi),
        _ => None,
    };
    told.iter().filter_map(mi).collect()
}

fn faults(told: &[Event]) -> usize {
    let fault = |event: &&Event| matches!(event, Event::Error { .. });
    told.iter().filter(fault).count()
}

/// A page of 8 bytes of board 0, reported and counted.
fn told_page(mi: u32) -> Entry {
    Entry::page(1, mi, NEAR + 8 * mi, FAR + 8 * mi, 8, LAST)
}

/// Sends messages 0..count, one by one.
fn one_by_one(rig: &mut Rig, puts: &mut [Put; 2], count: u32) -> [Vec<Event>; 2] {
    let mut told = [Vec::new(), Vec::new()];
    for mi in 0..count {
        let posted = puts[0].add_entry(&mut at(rig, 0), told_page(mi));
        let more = serve(rig, puts, 8);
        for (told, more) in told.iter_mut().zip(more) {
            told.extend(more);
        }
        if posted.is_err() {
            break;
        }
    }
    told
}

/// Whether a transfer by writers arrives as by a copy, told once.
fn arrives(silicon: Revision, known: Revision, local: u32, remote: u32, length: u32) -> bool {
    let mut machine = Writers::new(silicon, known, Model::Polling);
    let bytes = fill(&mut machine.rig, 0, local, length as usize);
    let told = machine.write(local, remote, length, 3);
    told == Some(vec![Arrival { tag: 3 }])
        && machine.rig.boards[1].bytes(remote, length as usize) == bytes
}

#[test]
fn erratum_1_swapped_report_pointers() {
    let silicon = Revision::only(Erratum::SwappedReportPointers);
    for (known, all) in [(IDEAL, false), (silicon, true)] {
        let (mut rig, mut puts) = pair(silicon, known);
        let told = one_by_one(&mut rig, &mut puts, 40);
        assert_eq!(received(&told[1]) == (0..40).collect::<Vec<_>>(), all);
        let register = |offset| rig.boards[1].ddc.register(offset);
        assert_eq!(register(LMI_CURRENT) == register(LMI_NEW), all);
        assert_eq!(faults(&told[1]) > 0, !all, "the ring looks full");
    }
}

#[test]
fn erratum_2_silent_page() {
    let silicon = Revision::only(Erratum::SilentPage);
    for (revision, counted) in [(IDEAL, true), (silicon, false)] {
        let mut rig = bare(revision);
        rig.post(0, &[page(8, DATA, DATA, Control::NOS)]);
        rig.run(500);
        assert_eq!(status(&rig.boards[0]) >> 31 == 1, counted);
    }
    // The driver never asks for it.
    let (mut rig, mut puts) = pair(silicon, silicon);
    let entry = Entry::page(1, 1, NEAR, FAR, 8, Control::NOS);
    let refused = puts[0].add_entry(&mut at(&mut rig, 0), entry);
    assert_eq!(refused, Err(AddError::Protocol(Protocol::NosWithoutLmp)));
    let told = one_by_one(&mut rig, &mut puts, 3);
    assert_eq!(sent(&told[0]), [0, 1, 2]);
}

#[test]
fn erratum_3_broken_counters() {
    let silicon = Revision::only(Erratum::BrokenCounters);
    for (revision, complete) in [(IDEAL, true), (silicon, false)] {
        let mut rig = boards(revision, ALL_ON | LRM_ENABLE);
        let mut counted = last(1000, DATA, DATA, 5);
        counted.control = counted.control.with(Control::LRM);
        rig.post(0, &[counted]);
        rig.run(2_000);
        assert_eq!(rig.reports(1).len() == 1, complete);
    }
    // The driver does not count, and takes the flag off.
    let mut rig = Rig::new(chip(silicon), BridgeConfig::default());
    let mut counting = config(0, silicon);
    counting.count_packets = true;
    let refused = Put::new().begin(&mut at(&mut rig, 0), &counting);
    assert_eq!(refused, Err(InitError::BrokenCounters));
    let (mut rig, mut puts) = pair(silicon, silicon);
    let entry = Entry::page(1, 4, NEAR, FAR, 1000, LAST.with(Control::LRM));
    puts[0].add_entry(&mut at(&mut rig, 0), entry).unwrap();
    let told = serve(&mut rig, &mut puts, 40);
    assert_eq!(received(&told[1]), [4]);
}

#[test]
fn erratum_4_bit_24_not_carried() {
    // The ideal chip drops it too.
    for revision in [
        IDEAL,
        Revision::only(Erratum::Bit24NotCarried),
        Revision::RUN_2,
    ] {
        let mut rig = bare(revision);
        let mut marked = last(8, DATA, DATA, 5);
        marked.control = marked.control.with(Control::RESERVED);
        rig.post(0, &[marked]);
        rig.run(500);
        let there = rig.boards[1].word(ddc_rig::LMI + 4);
        assert_eq!(there, LAST.with_mi(5).bits());
    }
    // So the driver keeps in it what only the sender needs: the user's NOS.
    let (mut rig, mut puts) = pair(Revision::RUN_2, Revision::RUN_2);
    let quiet = Control::LMP.with(Control::LMI).with(Control::NOR);
    for (mi, flags) in [(1, quiet), (2, LAST), (3, quiet)] {
        let entry = Entry::page(1, mi, NEAR, FAR, 8, flags);
        puts[0].add_entry(&mut at(&mut rig, 0), entry).unwrap();
    }
    let told = serve(&mut rig, &mut puts, 60);
    assert_eq!(sent(&told[0]), [2]);
    assert_eq!(received(&told[1]), [1, 2, 3]);
}

#[test]
fn erratum_5_spurious_parity_bit() {
    let silicon = Revision::only(Erratum::SpuriousParityBit);
    let mut rig = bare(silicon);
    // Who looks at the whole of the PCI status sees an error.
    assert_eq!(rig.read(0, PCI_04) & 0xF900_0000, 1 << 31);
    assert!(!rig.boards[0].intr());
    assert_eq!(bare(IDEAL).read(0, PCI_04) & 0xF900_0000, 0);
    // The driver does not look at that bit.
    let (mut rig, mut puts) = pair(silicon, silicon);
    let told = one_by_one(&mut rig, &mut puts, 20);
    assert_eq!(rig.boards[0].ddc.register(PCI_04) >> 31, 1);
    assert_eq!(faults(&told[0]) + faults(&told[1]), 0);
    assert_eq!(received(&told[1]).len(), 20);
}

#[test]
fn erratum_6_unreliable_reset() {
    let silicon = Revision::only(Erratum::UnreliableReset);
    let used = |revision: Revision| {
        let mut rig = bare(revision);
        rig.post(0, &[last(8, DATA, DATA, 5)]);
        rig.run(500);
        assert_eq!(status(&rig.boards[0]) >> 31, 1);
        rig
    };
    for (revision, resets, clean) in [(IDEAL, 1, true), (silicon, 1, false), (silicon, 4, true)] {
        let mut rig = used(revision);
        for _ in 0..resets {
            rig.write(0, COMMAND, SOFT_RESET);
        }
        let board = &rig.boards[0];
        assert_eq!(status(board) >> 31 == 0, clean);
        assert_eq!(board.ddc.register(LPE_CURRENT) == 0, clean);
        // These are lost in any case.
        assert_eq!(board.ddc.register(0x0C) & 0xFF00, 0);
        assert_eq!(board.ddc.register(0x3C) & 0xFF, 0);
    }
    // The driver resets four times; a chip in any state starts clean.
    let (mut rig, mut puts) = pair(silicon, silicon);
    puts[0]
        .add_entry(&mut at(&mut rig, 0), told_page(1))
        .unwrap();
    rig.run(500);
    assert_eq!(status(&rig.boards[0]) >> 31, 1);
    for stop in [false, true] {
        if stop {
            let fault = Fault::Reported { status: 0, pci: 0 };
            puts[0].emergency_stop(&mut at(&mut rig, 0), fault).unwrap();
            assert_eq!(rig.boards[0].ddc.register(LPE_NEW), 0);
        }
        puts[0].end();
        let again = config(0, silicon);
        puts[0].init(&mut at(&mut rig, 0), &again).unwrap();
        assert_eq!(status(&rig.boards[0]) >> 12, 0);
        assert_eq!(rig.boards[0].ddc.register(LPE_CURRENT), again.base);
    }
}

#[test]
fn erratum_7_spurious_start_interrupts() {
    let silicon = Revision::only(Erratum::SpuriousStartInterrupts);
    let interrupts = |revision| {
        let mut rig = bare(revision);
        let mut seen = [0, 0];
        for at in 0..4_000 {
            rig.run(1);
            let board = &rig.boards[0];
            if board.intr() {
                assert_eq!(status(board) & board.ddc.register(MASK) & 0xFFFF_F000, 0);
                seen[usize::from(at >= 2_000)] += 1;
            }
        }
        seen
    };
    assert_eq!(interrupts(IDEAL), [0, 0]);
    let [early, late] = interrupts(silicon);
    assert!(early >= 32 && late == 0);
    // A driver that does not settle meets them, one that does never.
    for (settle_us, met) in [(0, true), (100, false)] {
        let (mut rig, mut puts) = pair_with(silicon, silicon, |config| {
            config.settle_us = settle_us;
        });
        for _ in 0..300 {
            serve(&mut rig, &mut puts, 1);
            rig.run(7);
        }
        assert_eq!(puts[1].stats().spurious > 0, met);
    }
}

#[test]
fn erratum_8_early_end() {
    // The ideal chip does the same: LMP ends a message.
    let flags = LAST.with_mi(5);
    for revision in [IDEAL, Revision::only(Erratum::EarlyEnd)] {
        let mut rig = bare(revision);
        rig.post(0, &[page(8, DATA, DATA, flags), page(8, DATA, DATA, flags)]);
        rig.run(1_000);
        assert_eq!(rig.reports(1).len(), 2);
    }
    // Where the driver forces LMP, only the true last page is reported.
    let (mut rig, mut puts) = pair(Revision::RUN_2, Revision::RUN_2);
    fill(&mut rig, 0, NEAR, 24);
    let middle = Control::LMI.with(Control::NOR);
    let pages = [
        Entry::page(1, 5, NEAR, FAR, 8, middle),
        Entry::page(1, 5, NEAR + 8, FAR + 8, 8, middle),
        Entry::page(1, 5, NEAR + 16, FAR + 16, 8, LAST),
    ];
    puts[0].add_message(&mut at(&mut rig, 0), &pages).unwrap();
    let told = serve(&mut rig, &mut puts, 60);
    assert_eq!((sent(&told[0]), received(&told[1])), (vec![5], vec![5]));
    let bytes = rig.boards[0].bytes(NEAR, 24).to_vec();
    assert_eq!(rig.boards[1].bytes(FAR, 24), bytes);
}

#[test]
fn erratum_9_long_packet_race() {
    let silicon = Revision::only(Erratum::LongPacketRace);
    assert!(!arrives(silicon, IDEAL, NEAR, FAR, 20));
    assert!(arrives(silicon, IDEAL, NEAR, FAR, 4), "one word is right");
    assert!(arrives(silicon, silicon, NEAR, FAR, 20));
    assert!(arrives(silicon, silicon, NEAR + 1, FAR + 2, 3_000));
}

#[test]
fn erratum_10_broken_short_messages() {
    let silicon = Revision::only(Erratum::BrokenShortMessages);
    let data = [0x0123_4567, 0x89AB_CDEF];
    for (known, expected) in [(IDEAL, [data[0]; 2]), (silicon, data)] {
        let (mut rig, mut puts) = pair(silicon, known);
        for (from, to) in [(0, 1), (1, 0)] {
            for _ in 0..3 {
                let mut hw = at(&mut rig, from);
                let short = Entry::short(to, 5, data, Control::NOS);
                puts[usize::from(from as u16)]
                    .add_entry(&mut hw, short)
                    .unwrap();
            }
        }
        let told = serve(&mut rig, &mut puts, 200);
        for told in &told {
            let arrived = told.iter().filter_map(|event| match event {
                Event::Received { mi: 5, data, .. } => *data,
                _ => None,
            });
            assert_eq!(arrived.collect::<Vec<_>>(), [expected; 3]);
            assert_eq!(sent(told), [5; 3]);
            assert_eq!(faults(told), 0);
        }
    }
}

#[test]
fn erratum_11_unaligned_remote() {
    let silicon = Revision::only(Erratum::UnalignedRemote);
    for (local, remote) in (0..4).flat_map(|l| (0..4).map(move |r| (l, r))) {
        let (from, to) = (NEAR + local, FAR + remote);
        assert_eq!(arrives(silicon, IDEAL, from, to, 50), remote == 0);
        assert!(arrives(silicon, silicon, from, to, 50));
    }
    // Inside one word it works.
    assert!(arrives(silicon, IDEAL, NEAR, FAR + 1, 3));
}

#[test]
fn erratum_12_unaligned_local() {
    let silicon = Revision::only(Erratum::UnalignedLocal);
    for (local, remote) in (0..4).flat_map(|l| (0..4).map(move |r| (l, r))) {
        let (from, to) = (NEAR + local, FAR + remote);
        assert_eq!(arrives(silicon, IDEAL, from, to, 50), local == 0);
        assert!(arrives(silicon, silicon, from, to, 50));
    }
    assert!(arrives(silicon, silicon, NEAR + 1, FAR, 65_535));
    // Without a buffer to copy to it is refused, not sent wrong.
    let (mut rig, mut puts) = pair_with(silicon, silicon, |config| config.bounce = None);
    let entry = Entry::page(1, 1, NEAR + 1, FAR, 8, LAST);
    let refused = puts[0].add_entry(&mut at(&mut rig, 0), entry);
    let (local, length) = (NEAR + 1, 8);
    assert_eq!(
        refused,
        Err(AddError::Protocol(Protocol::NoBounceBuffer {
            local,
            length
        }))
    );
}

/// Five messages posted before the chip has begun the first.
fn burst(silicon: Revision, known: Revision) -> (Rig, [Put; 2], [Vec<Event>; 2]) {
    let (mut rig, mut puts) = pair(silicon, known);
    fill(&mut rig, 0, NEAR, 64);
    let pages: Vec<Entry> = (1..6).map(told_page).collect();
    puts[0].add_message(&mut at(&mut rig, 0), &pages).unwrap();
    let told = serve(&mut rig, &mut puts, 100);
    (rig, puts, told)
}

#[test]
fn erratum_13_one_page_only() {
    let silicon = Revision::only(Erratum::OnePageOnly);
    let (_, _, told) = burst(silicon, IDEAL);
    assert_eq!(received(&told[1]), [1, 3, 5], "2 and 4 are skipped");
    let (rig, _, told) = burst(silicon, silicon);
    assert_eq!(received(&told[1]), [1, 2, 3, 4, 5]);
    assert_eq!(sent(&told[0]), [1, 2, 3, 4, 5]);
    let bytes = rig.boards[0].bytes(NEAR + 8, 40).to_vec();
    assert_eq!(rig.boards[1].bytes(FAR + 8, 40), bytes);
}

#[test]
fn erratum_14_read_spoils_reception() {
    let silicon = Revision::only(Erratum::ReadSpoilsReception);
    // The receiver's driver looks while data comes in.
    assert!(!arrives(silicon, IDEAL, NEAR, FAR, 20_000));
    assert!(arrives(silicon, silicon, NEAR, FAR, 20_000));
    // Both ways at once, and by interrupts: nobody reads a register.
    let (mut rig, mut puts) = pair(silicon, silicon);
    let bytes = fill(&mut rig, 0, NEAR, 20_000);
    fill(&mut rig, 1, NEAR, 20_000);
    for mi in 0..6 {
        for (board, put) in puts.iter_mut().enumerate() {
            let (to, at_byte) = (1 - board as u16, 3_000 * mi);
            let entry = Entry::page(to, mi, NEAR + at_byte, FAR + at_byte, 3_000, LAST);
            put.add_entry(&mut at(&mut rig, board), entry).unwrap();
        }
    }
    let told = serve(&mut rig, &mut puts, 2_000);
    for (board, told) in rig.boards.iter().zip(&told) {
        assert_eq!(sent(told), [0, 1, 2, 3, 4, 5]);
        assert_eq!(received(told), [0, 1, 2, 3, 4, 5]);
        assert_eq!(faults(told), 0);
        assert_eq!(board.bytes(FAR, 18_000), &bytes[..18_000]);
    }
    assert_eq!(puts[0].stats().spurious, 0);
}

/// A report ring of 16 that 16 messages have filled, with this mask at board 1.
fn overflown(revision: Revision, mask: u32) -> Rig {
    let mut rig = bare(revision);
    rig.write(1, MASK, mask);
    for mi in 0..16 {
        rig.post(0, &[last(8, DATA, DATA, mi)]);
        rig.run(300);
    }
    assert_eq!(status(&rig.boards[1]) >> 12 & 1, 1);
    rig
}

#[test]
fn erratum_15_overflow_stops_bus_master() {
    let silicon = Revision::only(Erratum::OverflowStopsBusMaster);
    for (revision, stopped) in [(IDEAL, false), (silicon, true)] {
        let mut rig = overflown(revision, 0);
        let bus_master = rig.read(1, PCI_04) & BUS_MASTER;
        assert_eq!(bus_master == 0, stopped);
        // Room alone does not help then.
        assert_eq!(rig.reports(1).len(), 15);
        rig.run(300);
        assert_eq!(rig.reports(1).len(), usize::from(!stopped));
        rig.write(1, PCI_04, 0x104);
        rig.run(300);
        assert_eq!(rig.reports(1).len(), usize::from(stopped));
    }
    // The driver empties the ring and sets Bus Master again.
    slow_receiver(silicon, silicon);
    slow_receiver(Revision::RUN_1, Revision::RUN_1);
}

/// More messages than the report ring holds, to a receiver that looks rarely;
/// how many overflows it was told.
fn slow_receiver(silicon: Revision, known: Revision) -> usize {
    let (mut rig, mut puts) = pair_with(silicon, known, |config| {
        config.model = Model::Polling;
    });
    let [near, far] = &mut puts;
    let (mut posted, mut told) = (0, Vec::new());
    for round in 0..600 {
        if posted < 60
            && near
                .add_entry(&mut at(&mut rig, 0), told_page(posted))
                .is_ok()
        {
            posted += 1;
        }
        rig.run(100);
        let _ = near.poll(&mut at(&mut rig, 0), 8, |_| ());
        if round % 50 == 49 {
            let _ = far.poll(&mut at(&mut rig, 1), 64, |event| told.push(event));
        }
    }
    if silicon == known {
        assert_eq!(received(&told), (0..60).collect::<Vec<_>>());
    }
    faults(&told)
}

#[test]
fn erratum_16_overflow_cleared_by_13() {
    let silicon = Revision::only(Erratum::OverflowClearedBy13);
    for (revision, by_12) in [(IDEAL, true), (silicon, false)] {
        for (bit, clears) in [(12, by_12), (13, !by_12)] {
            let mut rig = overflown(revision, 0xC0FB_F0FF);
            rig.write(1, STATUS, 1 << bit);
            assert_eq!(rig.read(1, STATUS) >> 12 & 1 == 0, clears, "bit {bit}");
        }
    }
    // A driver that writes the other bit is told of one overflow for ever.
    let known = slow_receiver(silicon, silicon);
    assert!(known > 0 && known < slow_receiver(silicon, IDEAL));
}

#[test]
fn erratum_17_runaway_bus_master() {
    let silicon = Revision::only(Erratum::RunawayBusMaster);
    // Clearing Bus Master in the middle of a long page, twice.
    let goes_on = |revision: Revision| {
        let mut rig = bare(revision);
        rig.post(0, &[last(60_000, DATA, DATA, 5), last(8, DATA, DATA, 6)]);
        rig.run(200);
        for value in [0x100, 0x104, 0x100] {
            rig.write(0, PCI_04, value);
        }
        assert_eq!(rig.read(0, PCI_04) & BUS_MASTER, 0);
        rig.run(100_000);
        rig.boards[0].ddc.register(LPE_CURRENT) == rig.boards[0].ddc.register(LPE_NEW)
    };
    assert!(!goes_on(IDEAL));
    assert!(goes_on(silicon));
    // An EP error leaves Bus Master.
    for (revision, left) in [(IDEAL, false), (silicon, true)] {
        let mut rig = bare(revision);
        rig.feed(1, &[Symbol::data(1), Symbol::EP]);
        assert_eq!(status(&rig.boards[1]) >> 20 & 1, 1);
        assert_eq!(rig.read(1, PCI_04) & BUS_MASTER != 0, left);
    }
    // The driver's stop resets the chip: nothing moves afterwards, at the first
    // stop or the second.
    let both = silicon.with(Erratum::UnreliableReset);
    let (mut rig, mut puts) = pair(both, both);
    for _ in 0..2 {
        let long = Entry::page(1, 1, NEAR, FAR, 60_000, LAST);
        puts[0].add_entry(&mut at(&mut rig, 0), long).unwrap();
        rig.run(200);
        let fault = Fault::Reported { status: 0, pci: 0 };
        puts[0].emergency_stop(&mut at(&mut rig, 0), fault).unwrap();
        rig.run(1_000);
        rig.boards[0].record = true;
        rig.run(5_000);
        assert!(rig.boards[0].beats.is_empty() && rig.boards[0].sent.is_empty());
        assert_eq!(puts[0].phase(), Phase::Stopped(fault));
        puts[0].end();
        rig.boards[0].record = false;
        puts[0]
            .init(&mut at(&mut rig, 0), &config(0, both))
            .unwrap();
    }
}

#[test]
fn erratum_18_lost_pages_440bx() {
    let silicon = Revision::only(Erratum::LostPages440Bx);
    let (_, puts, told) = burst(silicon, IDEAL);
    assert!(received(&told[1]).len() < 5, "{told:?}");
    // More is counted than was sent, which the driver takes for a broken chip.
    assert!(matches!(
        puts[0].phase(),
        Phase::Stopped(Fault::InterruptLoop { .. })
    ));
    let (rig, puts, told) = burst(silicon, silicon);
    assert_eq!(received(&told[1]), [1, 2, 3, 4, 5]);
    assert_eq!(sent(&told[0]), [1, 2, 3, 4, 5]);
    assert_eq!(puts[0].phase(), Phase::Running);
    let bytes = rig.boards[0].bytes(NEAR + 8, 40).to_vec();
    assert_eq!(rig.boards[1].bytes(FAR + 8, 40), bytes);
    // Blocks (LPE_BURST) do not cure it, not even of two.
    for block in [8, 2] {
        let mut rig = bare(silicon);
        for _ in 0..8 / block {
            let pages: Vec<Descriptor> = (0..block).map(|mi| last(8, DATA, DATA, mi)).collect();
            rig.post(0, &pages);
            rig.run(4_000);
        }
        assert!(rig.reports(1).len() < 8, "blocks of {block}");
    }
}

#[test]
fn erratum_19_reads_all_ones() {
    let silicon = Revision::only(Erratum::ReadsAllOnes);
    let wrong = |revision| {
        let mut rig = bare(revision);
        let reads = (0..64).map(|_| rig.read(0, STATUS));
        reads.filter(|&value| value == u32::MAX).count()
    };
    assert_eq!((wrong(IDEAL), wrong(silicon.into())), (0, 12));
    let (mut rig, mut puts) = pair(silicon, silicon);
    let told = one_by_one(&mut rig, &mut puts, 40);
    assert_eq!(received(&told[1]), (0..40).collect::<Vec<_>>());
    assert_eq!(sent(&told[0]), (0..40).collect::<Vec<_>>());
    assert_eq!(faults(&told[0]) + faults(&told[1]), 0);
}

#[test]
fn erratum_20_late_cause() {
    let silicon = Revision::only(Erratum::LateCause);
    for (revision, late) in [(IDEAL, false), (silicon, true)] {
        let mut rig = bare(revision);
        rig.post(0, &[last(8, DATA, DATA, 5)]);
        rig.until(2_000, |rig| rig.boards[1].intr());
        assert_eq!(rig.read(1, STATUS) >> 30 == 0, late);
        rig.run(100);
        assert_eq!(rig.read(1, STATUS) >> 30, 1);
    }
    // The driver looks until it shows.
    let (mut rig, mut puts) = pair(silicon, silicon);
    puts[0]
        .add_entry(&mut at(&mut rig, 0), told_page(1))
        .unwrap();
    rig.until(2_000, |rig| rig.boards[1].intr());
    let mut told = Vec::new();
    let served = puts[1].on_interrupt(&mut at(&mut rig, 1), 8, |event| told.push(event));
    assert!(served.unwrap().cause);
    assert_eq!(received(&told), [1]);
    assert_eq!(puts[1].stats().spurious, 0);
}

#[test]
fn erratum_21_link_error_loses_messages() {
    let silicon = Revision::only(Erratum::LinkErrorLosesMessages);
    let message = |mi| long_packet(LAST.with_mi(mi), DATA, &[1, 2, 3, 4], last_of(1));
    for (revision, expected) in [(IDEAL, vec![1, 3, 4]), (silicon, vec![1, 4])] {
        let mut rig = bare(revision);
        rig.feed(1, &message(1));
        let mut cut = message(2);
        cut.truncate(14);
        cut.push(Symbol::EEP);
        rig.feed(1, &cut);
        assert_eq!(status(&rig.boards[1]) >> 23 & 1, 1);
        rig.write(1, STATUS, 1 << 23);
        rig.write(1, PCI_04, 0x104);
        rig.feed(1, &message(3));
        rig.feed(1, &message(4));
        let got = rig.reports(1);
        let mis: Vec<u32> = got.iter().map(|report| report.control.mi()).collect();
        assert_eq!(mis, expected);
        // Both lost ones arrive when they are sent again.
        rig.feed(1, &message(2));
        rig.feed(1, &message(3));
        assert_eq!(rig.reports(1).len(), 2);
    }
    // How many that are, recovery learns here.
    assert_eq!(Capabilities::from_errata(silicon).link_error_costs, 2);
    assert_eq!(Capabilities::default().link_error_costs, 1);
}

#[test]
fn the_document_names_each_erratum_and_its_test() {
    let document = include_str!("../hw/doc/errata.md");
    let source = include_str!("errata.rs");
    for erratum in Erratum::ALL {
        let row = format!("| {} | `{}` |", erratum.number(), erratum.name());
        let line = document.lines().find(|line| line.starts_with(&row));
        let line = line.unwrap_or_else(|| panic!("no row {row}"));
        let test = line.split('`').find(|part| part.starts_with("erratum_"));
        let test = test.unwrap_or_else(|| panic!("no test in {line}"));
        assert!(source.contains(&format!("fn {test}()")), "{test}");
    }
}

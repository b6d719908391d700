//! Errata 1 to 8, of both runs.

use super::ddc_rig::{
    ALL_ON, DATA, LAST, LMI, LMI_CURRENT, LMI_NEW, LPE_CURRENT, LPE_NEW, LRM_ENABLE, MASK, PCI_04,
    Rig, last, page,
};
use super::put_rig::{FAR, NEAR, at, chip, config, fill, pair, pair_with, serve};
use super::shared::{
    COMMAND, IDEAL, SOFT_RESET, bare, boards, faults, one_by_one, received, sent, status, told_page,
};
use multipc::ddc::lme::Control;
use multipc::ddc::{Erratum, Revision};
use multipc::pci::BridgeConfig;
use multipc::put::{AddError, Entry, Fault, InitError, Protocol, Put};

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
        let there = rig.boards[1].word(LMI + 4);
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

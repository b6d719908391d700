//! Errata 16 to 21, of the second run.

use super::ddc_rig::{
    DATA, LAST, LPE_CURRENT, LPE_NEW, PCI_04, STATUS, last, last_of, long_packet,
};
use super::put_rig::{FAR, NEAR, at, config, pair};
use super::shared::{
    BUS_MASTER, IDEAL, bare, burst, faults, one_by_one, overflown, received, sent, slow_receiver,
    status, told_page,
};
use multipc::ddc::lme::Descriptor;
use multipc::ddc::{Erratum, Revision};
use multipc::hsl::Symbol;
use multipc::put::{Capabilities, Entry, Fault, Phase};

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
    assert_eq!((wrong(IDEAL), wrong(silicon)), (0, 12));
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

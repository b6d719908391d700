//! Errata 9 to 15, of the first run.

use super::ddc_rig::{LAST, PCI_04};
use super::put_rig::{FAR, NEAR, at, fill, pair, pair_with, serve};
use super::shared::{
    BUS_MASTER, IDEAL, arrives, burst, faults, overflown, received, sent, slow_receiver,
};
use multipc::ddc::lme::Control;
use multipc::ddc::{Erratum, Revision};
use multipc::put::{AddError, Entry, Event, Protocol};

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

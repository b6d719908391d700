//! Boards with errata, with and without drivers, and what drivers told.

use super::ddc_rig::{ALL_ON, Board, DATA, LAST, MASK, Rig, STATUS, last};
use super::put_rig::{FAR, NEAR, Writers, at, chip, fill, pair, pair_with, serve};
use multipc::ddc::Revision;
use multipc::pci::BridgeConfig;
use multipc::put::{Entry, Event, Model, Put};
use multipc::remote::Arrival;

pub const IDEAL: Revision = Revision::IDEAL;
pub const COMMAND: u8 = 0x48;
pub const SOFT_RESET: u32 = 0x8000;
pub const BUS_MASTER: u32 = 4;

/// Two boards without drivers.
pub fn boards(revision: Revision, command: u32) -> Rig {
    let mut rig = Rig::new(chip(revision), BridgeConfig::default());
    rig.start(0, command);
    rig.start(1, command);
    rig
}

pub fn bare(revision: impl Into<Revision>) -> Rig {
    boards(revision.into(), ALL_ON)
}

pub fn status(board: &Board) -> u32 {
    board.ddc.register(STATUS)
}

pub fn sent(told: &[Event]) -> Vec<u32> {
    let mi = |event: &Event| match event {
        Event::Sent { mi, .. } => Some(*mi),
        _ => None,
    };
    told.iter().filter_map(mi).collect()
}

pub fn received(told: &[Event]) -> Vec<u32> {
    let mi = |event: &Event| match event {
        Event::Received { mi, .. } => Some(*mi),
        _ => None,
    };
    told.iter().filter_map(mi).collect()
}

pub fn faults(told: &[Event]) -> usize {
    let fault = |event: &&Event| matches!(event, Event::Error { .. });
    told.iter().filter(fault).count()
}

/// A page of 8 bytes of board 0, reported and counted.
pub fn told_page(mi: u32) -> Entry {
    Entry::page(1, mi, NEAR + 8 * mi, FAR + 8 * mi, 8, LAST)
}

/// Sends messages 0..count, one by one.
pub fn one_by_one(rig: &mut Rig, puts: &mut [Put; 2], count: u32) -> [Vec<Event>; 2] {
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
pub fn arrives(silicon: Revision, known: Revision, local: u32, remote: u32, length: u32) -> bool {
    let mut machine = Writers::new(silicon, known, Model::Polling);
    let bytes = fill(&mut machine.rig, 0, local, length as usize);
    let told = machine.write(local, remote, length, 3);
    told == Some(vec![Arrival { tag: 3 }])
        && machine.rig.boards[1].bytes(remote, length as usize) == bytes
}

/// Five messages posted before the chip has begun the first.
pub fn burst(silicon: Revision, known: Revision) -> (Rig, [Put; 2], [Vec<Event>; 2]) {
    let (mut rig, mut puts) = pair(silicon, known);
    fill(&mut rig, 0, NEAR, 64);
    let pages: Vec<Entry> = (1..6).map(told_page).collect();
    puts[0].add_message(&mut at(&mut rig, 0), &pages).unwrap();
    let told = serve(&mut rig, &mut puts, 100);
    (rig, puts, told)
}

/// A report ring of 16 that 16 messages have filled, with this mask at board 1.
pub fn overflown(revision: Revision, mask: u32) -> Rig {
    let mut rig = bare(revision);
    rig.write(1, MASK, mask);
    for mi in 0..16 {
        rig.post(0, &[last(8, DATA, DATA, mi)]);
        rig.run(300);
    }
    assert_eq!(status(&rig.boards[1]) >> 12 & 1, 1);
    rig
}

/// More messages than the report ring holds, to a receiver that looks rarely;
/// how many overflows it was told.
pub fn slow_receiver(silicon: Revision, known: Revision) -> usize {
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

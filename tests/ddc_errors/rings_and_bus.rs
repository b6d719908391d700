//! Full rings, bus errors, Bus Master taken away.

use multipc::ddc::Transaction;
use multipc::pci::{Rule, TargetResponse};

use super::*;

#[test]
fn a_full_report_ring_holds_the_report_until_there_is_room() {
    let mut rig = Rig::started(ALL_ON);
    let count = ENTRIES as usize + 3;
    for mi in 0..count as u32 {
        rig.post(0, &[last(4, DATA + 4 * mi, DATA + 4 * mi, mi)]);
        rig.run(100);
    }
    assert_eq!(errors(&rig, 1), LMI_OF);
    assert!(!bus_master(&rig, 1));
    assert_eq!(
        rig.boards[1].ddc.register(LMI_NEW),
        LMI + 16 * (ENTRIES - 1)
    );
    // Bus Master without room: the event comes again.
    recover(&mut rig, 1);
    rig.run(20);
    assert_eq!(errors(&rig, 1), LMI_OF);
    assert!(!bus_master(&rig, 1));
    let mut mis: Vec<u32> = rig.reports(1).iter().map(|r| r.control.mi()).collect();
    assert_eq!(mis.len(), ENTRIES as usize - 1);
    recover(&mut rig, 1);
    rig.run(500);
    mis.extend(rig.reports(1).iter().map(|r| r.control.mi()));
    assert_eq!(mis, (0..count as u32).collect::<Vec<_>>());
    assert_eq!(errors(&rig, 1), 0);
    rig.assert_clean();
}

#[test]
fn a_masked_full_ring_goes_on_by_itself() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(1, MASK, 0);
    for mi in 0..ENTRIES {
        rig.post(0, &[last(4, DATA, DATA, mi)]);
        rig.run(100);
    }
    assert_eq!(errors(&rig, 1), LMI_OF);
    assert_eq!(rig.reports(1).len(), ENTRIES as usize - 1);
    rig.run(60);
    assert_eq!(rig.reports(1).len(), 1);
}

#[test]
fn aborts_stop_the_bus_master_and_the_transfer_is_tried_again() {
    for (response, bit) in [
        (TargetResponse::TargetAbort, 1 << 28),
        (TargetResponse::AbortAfter(2), 1 << 28),
        (TargetResponse::Ignore, 1 << 29),
    ] {
        for board in [0, 1] {
            let mut rig = Rig::started(ALL_ON);
            rig.boards[0].bytes_mut(DATA, 64).copy_from_slice(&[7; 64]);
            rig.boards[board].bridge.respond_next(response).unwrap();
            rig.post(0, &[last(64, DATA, DATA, 1)]);
            rig.run(400);
            assert_eq!(rig.boards[board].ddc.register(PCI_04) & 0x7900_0004, bit);
            assert!(rig.boards[board].intr());
            recover(&mut rig, board);
            rig.until(500, |rig| rig.boards[1].ddc.register(LMI_NEW) != LMI);
            assert_eq!(rig.boards[1].bytes(DATA, 64), [7; 64]);
            rig.assert_clean();
        }
    }
}

#[test]
fn bad_parity_is_noted_and_answered_only_when_told_to() {
    for (command, expected) in [(0x104, 0x8000_0000u32), (0x144, 0x8100_0000)] {
        let mut rig = Rig::started(ALL_ON);
        rig.write(0, PCI_04, command);
        rig.boards[0]
            .bridge
            .respond_next(TargetResponse::BadParity)
            .unwrap();
        rig.post(0, &[last(64, DATA, DATA, 1)]);
        rig.run(300);
        assert_eq!(rig.boards[0].ddc.register(PCI_04) & 0xF900_0000, expected);
        assert_eq!(bus_master(&rig, 0), command == 0x104);
        // Only the fault that was asked for breaks a rule.
        assert!(
            rig.boards[0]
                .checker
                .violations()
                .iter()
                .all(|v| v.rule == Rule::ParityWrong),
            "{:?}",
            rig.boards[0].checker.violations()
        );
    }
}

#[test]
fn without_bus_master_nothing_is_transferred() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(0, PCI_04, 0x100);
    rig.post(0, &[last(64, DATA, DATA, 1)]);
    rig.run(300);
    assert_eq!(rig.boards[0].ddc.register(LPE_CURRENT), LPE);
    assert_eq!(rig.boards[0].bridge.stats().transactions, 0);
    rig.write(0, PCI_04, 0x104);
    rig.until(300, |rig| rig.boards[1].intr());
}

#[test]
fn clearing_bus_master_in_the_middle_of_a_page_only_pauses_it() {
    let mut rig = Rig::started(ALL_ON);
    let text: Vec<u8> = (0..4000u32).map(|k| (k * 7 + k / 256) as u8).collect();
    rig.boards[0].bytes_mut(DATA, 4000).copy_from_slice(&text);
    rig.post(0, &[last(4000, DATA, DATA + 2, 1)]);
    for round in 0..20 {
        rig.run(37 + round);
        let board = (round & 1) as usize;
        rig.write(board, PCI_04, 0x100);
        rig.run(25);
        rig.write(board, PCI_04, 0x104);
    }
    rig.until(5000, |rig| rig.boards[1].intr());
    assert_eq!(rig.boards[1].bytes(DATA + 2, 4000), text);
    rig.assert_clean();
}

#[test]
fn the_transaction_number_tells_the_last_transfer() {
    let mut rig = Rig::started(ALL_ON);
    assert_eq!(rig.boards[0].ddc.register(STATUS) >> 8 & 0xF, 0);
    rig.post(0, &[last(4, DATA, DATA, 1)]);
    rig.until(500, |rig| rig.boards[1].intr());
    let number = |board: usize| rig.boards[board].ddc.register(STATUS) >> 8 & 0xF;
    assert_eq!(
        Transaction::from_number(number(0)),
        Some(Transaction::PageRead)
    );
    assert_eq!(
        Transaction::from_number(number(1)),
        Some(Transaction::ReportWrite)
    );
}

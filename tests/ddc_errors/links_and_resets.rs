//! Lost signal, links that fall, resets in the middle.

use multipc::ddc::DdcConfig;

use super::*;

#[test]
fn a_link_that_falls_is_told_but_stops_nothing() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(1, MASK, 0xC0FF_F001);
    rig.boards[1].r3_status = 0x01;
    rig.run(4);
    assert_eq!(errors(&rig, 1), 0);
    rig.boards[1].r3_status = 0x00;
    rig.run(4);
    assert_eq!(errors(&rig, 1), R3);
    assert!(bus_master(&rig, 1) && rig.boards[1].intr());
    assert_eq!(rig.boards[1].ddc.register(STATUS) & 0xFF, 0);
}

#[test]
fn losing_the_signal_ends_the_packet_at_both_ends() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(
        0,
        &[
            page(2000, DATA, DATA, LAST),
            last(8, DATA, DATA + 0x4000, 2),
        ],
    );
    rig.run(250);
    rig.cut = true;
    rig.run(50);
    rig.cut = false;
    rig.until(100, |rig| errors(rig, 1) == EEP);
    assert!(!bus_master(&rig, 1));
    recover(&mut rig, 1);
    // The message that was cut is lost or ends without its middle; the next is whole.
    rig.until(5000, |rig| rig.boards[1].ddc.register(MSG) & 0xFF_FFFF == 2);
    rig.assert_clean();
}

#[test]
fn soft_reset_in_the_middle_of_everything_leaves_a_chip_like_new() {
    for at in 0..240u64 {
        let mut rig = Rig::started(ALL_ON);
        for board in 0..2 {
            let text: Vec<u8> = (0..900u32).map(|k| (k * 3) as u8 ^ board as u8).collect();
            rig.boards[board]
                .bytes_mut(DATA, 900)
                .copy_from_slice(&text);
            rig.post(
                board,
                &[
                    last(900, DATA + 1, DATA + 0x2000, 1),
                    last(5, DATA, DATA, 2),
                ],
            );
        }
        rig.run(at * 7 / 2);
        rig.write(0, COMMAND, 0x8000);
        for offset in (0..=0x74).step_by(4) {
            let fresh = multipc::ddc::Ddc::new(DdcConfig::default()).register(offset);
            let mask = if offset == STATUS {
                0xFFFF_FF00
            } else {
                u32::MAX
            };
            assert_eq!(
                rig.boards[0].ddc.register(offset) & mask,
                fresh,
                "{offset:#x} at {at}"
            );
        }
        assert!(!rig.boards[0].intr());
        // The other side too, since its packet was cut.
        rig.run(40);
        rig.write(1, COMMAND, 0x8000);
        rig.run(10);
        rig.start(0, ALL_ON);
        rig.start(1, ALL_ON);
        for board in 0..2 {
            rig.boards[board].bytes_mut(DATA + 0x2000, 1000).fill(0);
            rig.post(board, &[last(700, DATA + 1, DATA + 0x2000, 3)]);
        }
        rig.until(2000, |rig| {
            rig.boards.iter().all(|b| b.ddc.register(STATUS) >> 30 == 3)
        });
        for board in 0..2 {
            let sent = rig.boards[1 - board].bytes(DATA + 1, 700).to_vec();
            assert_eq!(
                rig.boards[board].bytes(DATA + 0x2000, 700),
                sent,
                "reset at {at}"
            );
            assert_eq!(errors(&rig, board), 0);
        }
        rig.assert_clean();
    }
}

#[test]
fn tx_init_cleared_lets_the_page_in_hand_finish() {
    let mut rig = Rig::started(ALL_ON);
    rig.post(0, &[last(2000, DATA, DATA, 1), last(8, DATA, DATA, 2)]);
    rig.run(100);
    rig.write(0, COMMAND, ALL_ON & !TX_INIT);
    rig.run(4000);
    assert_eq!(rig.reports(1).len(), 1);
    assert_eq!(rig.boards[0].ddc.register(LPE_CURRENT), LPE + 16);
    rig.write(0, COMMAND, ALL_ON);
    rig.run(300);
    assert_eq!(rig.reports(1).len(), 1);
}

#[test]
fn rx_init_cleared_cuts_the_packet_and_the_port_comes_up_again() {
    let mut rig = Rig::started(ALL_ON);
    rig.write(1, MASK, 0);
    rig.post(0, &[last(2000, DATA, DATA, 1), last(8, DATA, DATA, 2)]);
    rig.run(100);
    rig.write(1, COMMAND, ALL_ON & !RX_INIT);
    rig.run(100);
    assert_eq!(errors(&rig, 1), EEP);
    rig.write(1, COMMAND, ALL_ON);
    rig.until(5000, |rig| rig.boards[1].ddc.register(MSG) & 0xFF == 2);
    rig.assert_clean();
}

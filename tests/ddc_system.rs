//! Two controllers back to back: function and timing.

mod ddc_rig;

use ddc_rig::*;

#[test]
fn one_page_arrives_and_is_reported() {
    let mut rig = Rig::started(ALL_ON);
    let text: Vec<u8> = (0..5).map(|b| 0xA1 + b).collect();
    rig.boards[0].bytes_mut(DATA + 1, 5).copy_from_slice(&text);
    rig.post(0, &[last(5, DATA + 1, DATA + 3, 0x12_3456)]);
    rig.until(1000, |rig| rig.boards[1].intr());
    assert_eq!(
        rig.boards[1].bytes(DATA, 12),
        [0, 0, 0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0, 0, 0, 0]
    );
    let reports = rig.reports(1);
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].packet_number, 1);
    assert_eq!(reports[0].r3_status, 3);
    assert_eq!(reports[0].control, LAST.with_mi(0x12_3456));
    assert_eq!(rig.read(0, STATUS) & 0xFFFF_F000, 0x8000_0000);
    assert_eq!(rig.read(1, STATUS) & 0xFFFF_F000, 0x4000_0000);
    rig.assert_clean();
}

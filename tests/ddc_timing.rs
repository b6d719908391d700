//! Two controllers back to back: how long it takes, against the record
//! (hw/doc/pci-ddc.md, "Timing").

mod ddc_rig;

use ddc_rig::*;
use multipc::ddc::lme::Control;
use multipc::hsl::Symbol;
use multipc::pci::ConfigAccess;
use multipc::time::Instant;

fn us(from: Instant, to: Instant) -> f64 {
    to.since(from).as_us_f64()
}

const CHARACTER: f64 = 1.0 / 66.0;

/// Symbols of a page of so many aligned bytes.
fn symbols(length: u16) -> usize {
    let words = usize::from(length).div_ceil(4);
    28 * words.div_ceil(133) + 4 * words
}

/// Sends 14 pages of `length` bytes posted at once on a free bus; the idle time
/// between EP and the next page, and the time from page to page, in us.
fn stream(length: u16) -> (f64, f64) {
    const PAGES: usize = 14;
    let mut rig = Rig::started(ALL_ON);
    rig.boards[0].record = true;
    let pages = [page(length, DATA, DATA, Control::LMP); PAGES];
    rig.post(0, &pages);
    let all = symbols(length) * PAGES;
    rig.until(1_000_000, |rig| rig.boards[0].sent.len() == all);
    let sent = &rig.boards[0].sent;
    let starts: Vec<usize> = (0..PAGES).map(|k| k * symbols(length)).collect();
    let idle = starts[1..]
        .iter()
        .map(|&s| us(sent[s - 1].0, sent[s].0) - CHARACTER)
        .sum::<f64>();
    let period = us(sent[0].0, sent[starts[PAGES - 1]].0);
    rig.assert_clean();
    (idle / (PAGES - 1) as f64, period / (PAGES - 1) as f64)
}

#[test]
fn a_page_costs_20_pci_cycles_and_6_characters_beside_its_symbols() {
    for length in [1u16, 4, 64, 128, 200, 400, 512, 532] {
        let (idle, period) = stream(length);
        assert!((0.64..=0.73).contains(&idle), "{length} bytes: {idle} us");
        let expected = idle + symbols(length) as f64 * CHARACTER;
        assert!(
            (period - expected).abs() < 0.01,
            "{length} bytes: {period} us"
        );
    }
}

#[test]
fn pages_of_128_bytes_follow_each_other_in_3_us() {
    let (_, period) = stream(128);
    assert!((2.96..=3.10).contains(&period), "{period} us");
}

#[test]
fn the_link_is_the_bottleneck_of_a_long_page() {
    let (idle, period) = stream(u16::MAX);
    // 124 packets: 28 protocol characters and 7 idle ones each.
    let packets = f64::from(u16::MAX).div_euclid(532.0) + 1.0;
    let expected = idle + (packets * 28.0 + (packets - 1.0) * 7.0 + 65536.0) * CHARACTER;
    assert!(
        (period - expected).abs() < 0.05,
        "{period} us, expected {expected} us"
    );
}

#[test]
fn packets_are_cut_at_133_words_with_7_idle_cycles_between() {
    let mut rig = Rig::started(ALL_ON);
    rig.boards[0].record = true;
    rig.post(0, &[last(1100, DATA, DATA + 0x2002, 1)]);
    rig.until(10_000, |rig| rig.boards[1].intr());
    let sent = &rig.boards[0].sent;
    // 2 lead bytes + 1100 bytes: 276 words in packets of 133, 133 and 10.
    assert_eq!(sent.len(), 4 * (276 + 3 * 7));
    for (end, start) in [(559, 560), (1119, 1120)] {
        assert_eq!(sent[end].1, Symbol::EP);
        let idle = (us(sent[end].0, sent[start].0) / CHARACTER).round() - 1.0;
        assert_eq!(idle, 7.0);
    }
    let gapless = us(sent[0].0, sent[559].0);
    assert!((gapless - 559.0 * CHARACTER).abs() < 0.001, "{gapless} us");
    assert_eq!(rig.reports(1)[0].packet_number, 3);
    rig.assert_clean();
}

#[test]
fn descriptor_takes_12_cycles_and_the_first_word_of_the_page_9_more() {
    let mut rig = Rig::started(ALL_ON);
    rig.boards[0].record = true;
    let new = rig.place(0, &[last(8, DATA, DATA, 1)]);
    rig.boards[0]
        .bridge
        .submit(ConfigAccess::write(LPE_NEW, new))
        .unwrap();
    rig.until(100, |rig| rig.boards[0].ddc.register(LPE_NEW) == new);
    let written = rig.now;
    rig.until(200, |rig| rig.boards[0].beats.len() == 6);
    let cycle = |k: usize| (us(written, rig.boards[0].beats[k]) / 0.03).round() as u32;
    // REQ# is visible one edge after the write; then 2 + 1 + 5 + 4.
    assert_eq!([cycle(0), cycle(3)], [1 + 9, 1 + 12]);
    assert_eq!([cycle(4), cycle(5)], [1 + 12 + 9, 1 + 12 + 10]);
}

#[test]
fn a_word_is_in_memory_about_10_cycles_after_its_packet() {
    let mut rig = Rig::started(ALL_ON);
    rig.boards[0].record = true;
    rig.boards[1].record = true;
    rig.boards[0].set_word(DATA, 0x1234_5678);
    rig.post(0, &[last(4, DATA, DATA, 1)]);
    rig.until(500, |rig| rig.boards[1].intr());
    let arrival = rig.boards[0].sent.last().copied().unwrap();
    assert_eq!(arrival.1, Symbol::EP);
    let cycles = us(arrival.0, rig.boards[1].beats[0]) / 0.03;
    assert!((8.0..=11.0).contains(&cycles), "{cycles} PCI cycles");
}

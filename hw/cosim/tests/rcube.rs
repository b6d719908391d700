//! Router: model against RTL, on every pin of every link cycle.
#![cfg(feature = "rcube")]

mod common;

use common::Rig;
use multipc::rcube::PortEvents;
use multipc_cosim::traffic::{Mood, table};
use multipc_cosim::{Random, cycles};

/// Start-up with the counts on record, and again after the plug of one link was
/// pulled.
#[test]
fn links_start_by_the_counts_on_record() {
    let mut rig = Rig::new("rcube_start_up", 1, 0x01, false);
    rig.traffic.load(&table(0, &mut Random::new(1)));
    rig.run(14_000, |_, _| {});
    assert_eq!(rig.shown.link_status, 0xFF);
    rig.run(100, |edge, inputs| {
        if edge < 50 {
            inputs.signal &= !0x04;
        }
    });
    assert_eq!(rig.shown.link_status, 0xFB);
    rig.run(14_000, |_, _| {});
    assert_eq!(rig.shown.link_status, 0xFF);
}

#[test]
fn routers_are_equal_under_full_load() {
    for parallel in [0x00, 0x01, 0x81] {
        let mut rig = Rig::new("rcube_load", 2, parallel, true);
        rig.traffic.load(&table(0, &mut Random::new(2)));
        let count = cycles(20_000, 500_000);
        rig.run(count, |_, _| {});
        // Eight ports, packets of 35 characters on average, more than half of the line.
        let packets = rig.events().packets_out;
        assert!(packets > count * 8 / 2 / 36, "{packets} packets");
    }
}

/// Tables, behaviours, faults and resets change all the time.
#[test]
fn routers_are_equal_whatever_happens() {
    let total = cycles(200_000, 10_000_000);
    let (mut done, mut seed) = (0, 0);
    let mut seen = PortEvents::default();
    while done < total {
        seed += 1;
        let count = 20_000.min(total - done);
        add(&mut seen, run(seed, count));
        done += count;
    }
    println!("{done} link cycles without a difference: {seen:?}");
    // A bench in which nothing happens agrees, too.
    let least = [
        (seen.packets_out, total / 50),
        (seen.no_route, total / 2_000),
        (seen.short, total / 4_000),
        (seen.overflow, total / 2_000),
        (seen.closed, total / 4_000),
        (seen.drained, total / 4_000),
        (seen.link_losses, total / 1_000),
        (seen.credit_errors, total / 4_000),
    ];
    for (k, (found, least)) in least.into_iter().enumerate() {
        assert!(found >= least, "kind {k}: {found} of {least}; {seen:?}");
    }
}

/// One pair of routers, from power-on; what happened since its last reset.
fn run(seed: u64, count: u64) -> PortEvents {
    // None, one or two parallel ports.
    let mut straps = Random::new(seed);
    let parallel =
        (1 << straps.below(8) | 1 << straps.below(8)) * u8::from(!seed.is_multiple_of(8));
    let mut rig = Rig::new("rcube_random", seed, parallel, true);
    let mut seen = PortEvents::default();
    for cycle in 0..count {
        if cycle % 1_000 == 0 {
            let random = rig.traffic.random();
            let (what, kind) = (random.below(12), random.below(5));
            let mood = Mood::random(random);
            let table = table(kind, random);
            let bytes = random.below(300);
            let bytes = (0..bytes).map(|_| random.bits() as u8).collect();
            rig.traffic.mood = mood;
            if cycle == 0 || what < 3 {
                rig.traffic.load(&table);
            } else if what == 3 {
                rig.traffic.load_bytes(bytes);
            } else if what == 4 {
                add(&mut seen, rig.events());
                rig.traffic.power_on();
            }
        }
        rig.step(|_| {});
    }
    add(&mut seen, rig.events());
    seen
}

fn add(sum: &mut PortEvents, more: PortEvents) {
    sum.packets_in += more.packets_in;
    sum.packets_out += more.packets_out;
    sum.no_route += more.no_route;
    sum.short += more.short;
    sum.overflow += more.overflow;
    sum.closed += more.closed;
    sum.drained += more.drained;
    sum.link_losses += more.link_losses;
    sum.credit_errors += more.credit_errors;
}

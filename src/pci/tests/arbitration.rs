//! Who has the bus: grants, turns, parking.

use std::vec::Vec;

use super::*;

#[test]
fn a_held_request_keeps_the_grant_over_one_idle_clock() {
    let mut bench = bench();
    let mut addresses = Vec::new();
    let mut last_words = Vec::new();
    for clock in 0..40 {
        if clock == 0 || bench.master.take().is_some() {
            bench.master.submit(Command::MemoryRead, BASE, &[0; 2]);
        }
        let bus = bench.bus();
        let gnt_n = bench.bridge.ddc_gnt_n();
        bench.bridge.step(&bus, false, &mut bench.memory);
        bench.master.step(&bus, gnt_n);
        if !bus.frame_n && bus.irdy_n {
            addresses.push(clock);
        }
        if !bus.trdy_n && bus.frame_n {
            last_words.push(clock);
        }
    }
    // The word's parity takes a clock before the initiator reports the end.
    assert_eq!(addresses[1] - last_words[0], 3);
    assert_eq!(bench.bridge.stats().ddc_grants, 1);
}

#[test]
fn a_burst_loses_its_grant_when_the_cpu_wants_the_bus() {
    let mut bench = bench();
    bench.master.submit(Command::MemoryRead, BASE, &[0; 32]);
    for _ in 0..12 {
        bench.step();
    }
    assert!(!bench.bridge.ddc_gnt_n());
    bench.bridge.submit(ConfigAccess::read(0)).unwrap();
    bench.step();
    assert!(bench.bridge.ddc_gnt_n() && !bench.bridge.bridge_gnt_n());
    // The burst goes on until its latency timer, 255 clocks, is over: to the end.
    let mut ends = Vec::new();
    for _ in 0..60 {
        let bus = bench.step();
        if !bus.irdy_n && !bus.trdy_n && bus.frame_n {
            ends.push(bench.master.take().is_some());
        }
    }
    assert_eq!(ends.len(), 2);
    assert!(bench.bridge.take().is_some());
}

#[test]
fn both_agents_take_turns() {
    let master = TestMasterConfig {
        latency_timer: 1,
        ..TestMasterConfig::default()
    };
    let mut bench = Bench::new(BridgeConfig::default(), master);
    for _ in 0..1000 {
        if bench.bridge.take().is_some() || bench.clock == 0 {
            bench.bridge.submit(ConfigAccess::read(0)).unwrap();
        }
        if bench.master.take().is_some() || bench.clock == 0 {
            bench.master.submit(Command::MemoryRead, BASE, &[0; 2]);
        }
        bench.step();
    }
    let stats = bench.bridge.stats();
    assert!(stats.ddc_grants > 20, "{stats:?}");
    assert!(
        stats.ddc_grants.abs_diff(stats.bridge_grants) <= 1,
        "{stats:?}"
    );
}

#[test]
fn a_held_grant_stops_only_the_dma() {
    let mut bench = bench();
    bench.bridge.hold_grant(true);
    bench.master.submit(Command::MemoryRead, BASE, &[0; 4]);
    let (outcome, _) = bench.configure(ConfigAccess::read(0));
    assert_eq!(outcome.end, ConfigEnd::Done);
    for _ in 0..100 {
        assert!(bench.step().is_idle() && bench.bridge.ddc_gnt_n());
    }
    bench.bridge.hold_grant(false);
    for _ in 0..20 {
        bench.step();
    }
    assert_eq!(
        bench.master.take().map(|outcome| outcome.end),
        Some(TransferEnd::Done)
    );
}

#[test]
fn an_agent_that_does_not_start_loses_its_turn() {
    let mut bench = bench();
    let mut step = |bridge: &mut HostBridge| {
        let bus = resolve(&[bridge.drive()]);
        bridge.step(&bus, false, &mut bench.memory);
        bridge.ddc_gnt_n()
    };
    assert!(!step(&mut bench.bridge));
    bench.bridge.submit(ConfigAccess::read(0)).unwrap();
    let granted = (0..40).take_while(|_| !step(&mut bench.bridge)).count();
    assert_eq!(granted as u32, BridgeConfig::default().idle_grant_limit - 1);
    for _ in 0..12 {
        step(&mut bench.bridge);
    }
    assert!(bench.bridge.take().is_some());
}

#[test]
fn a_parked_agent_saves_the_request() {
    let config = BridgeConfig {
        park: Some(Agent::Ddc),
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    bench.step();
    assert_eq!(bench.bridge.idle_for(), 0, "PCI-DDC may start at any clock");
    let (_, moved) = bench.transfer(Command::MemoryRead, BASE, &[0]);
    assert_eq!(moved, [9 - 1]);
}

#[test]
fn a_bus_parked_on_the_bridge_does_not_float() {
    let config = BridgeConfig {
        park: Some(Agent::Bridge),
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    for _ in 0..4 {
        bench.step();
    }
    let drive = bench.bridge.drive();
    assert_eq!(
        (drive.ad, drive.cbe_n, drive.par),
        (Some(0), Some(0), Some(false))
    );
    assert_eq!(bench.bridge.idle_for(), u64::MAX);
}

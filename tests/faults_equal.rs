//! Faults come at the same cycle and do the same, however the machine is
//! stepped.
#![cfg(feature = "alloc")]

mod fault_rig;

use fault_rig::*;
use multipc::fabric::faults::{
    BusFault, CableFault, FaultEvent, FaultRecord, Faults, Kind, RandomFaults, Transfers,
};
use multipc::fabric::topology::Topology;
use multipc::hsl::Symbol;
use multipc::pci::TargetResponse;

fn script(start: [u64; 2]) -> Vec<FaultEvent> {
    let [link, pci] = start;
    let cut = |cycles, both| CableFault::Cut { cycles, both };
    vec![
        // While everything sleeps, and while it does not.
        FaultEvent::cable_at(port(0, 1), link + 40_000, cut(1, true)),
        FaultEvent::cable_at(port(1, 0), link + 41_000, cut(700, false)),
        FaultEvent::cable_at(port(1, 1), link + 60_000, CableFault::Corrupt(0x20)),
        FaultEvent::cable_at(port(2, 2), link + 61_000, CableFault::Insert(Symbol::EP)),
        FaultEvent::cable(port(1, 2), Kind::Grant, 4, CableFault::Drop),
        FaultEvent::cable(port(0, 1), Kind::Data, 900, CableFault::Corrupt(1)),
        FaultEvent::cable(port(1, 1), Kind::Packet, 300, cut(9_000, true)),
        FaultEvent::bus_at(1, pci + 2_000, BusFault::HoldGrant { cycles: 5_000 }),
        FaultEvent::bus_at(
            0,
            pci + 100,
            BusFault::SlowReads {
                extra: 8,
                cycles: 900,
            },
        ),
        FaultEvent::respond(2, Transfers::Writes, 2, TargetResponse::TargetAbort),
        FaultEvent::bus(
            0,
            Transfers::All,
            5,
            BusFault::Respond {
                response: TargetResponse::Retry,
                times: 7,
            },
        ),
    ]
}

fn random(seed: u64) -> RandomFaults {
    let mut random = RandomFaults::new(seed);
    random.cable.corrupt = 2e-4;
    random.cable.drop = 1e-4;
    random.cable.insert = 1e-4;
    random.cable.cut = 3e-5;
    random.cable.cut_cycles = 300;
    random.bus.retry = 0.05;
    random.bus.disconnect = 0.05;
    random.bus.target_abort = 0.01;
    random.bus.delay = 0.1;
    random.bus.delay_clocks = 20;
    random.bus.hold_grant = 0.02;
    random.bus.hold_cycles = 3_000;
    random.boards = true;
    random
}

/// A run of 5 ms with traffic; software recovers every now and then.
fn run(
    skip_idle: bool,
    scramble: Option<u64>,
    scripted: bool,
    seed: u64,
) -> (Rig, Vec<FaultRecord>) {
    let mut config = config();
    config.board.check_bus = false;
    config.machine.skip_idle = skip_idle;
    config.machine.scramble = scramble;
    let mut rig = Rig::boot(&Topology::line(3).unwrap(), &config);
    let start = [rig.machine.link_cycle(), rig.machine.pci_cycle()];
    let events = if scripted { script(start) } else { Vec::new() };
    let faults = Faults::script(events).with_random(if scripted {
        RandomFaults::new(0)
    } else {
        random(seed)
    });
    rig.machine.set_faults(faults).unwrap();
    for round in 0..10u16 {
        for (from, to) in [(0, 1), (0, 2), (1, 0), (2, 1), (1, 2)] {
            if rig.posted.len() < 60 && (round + from + to) % 2 == 0 {
                rig.post(from, to, 200 + 90 * u32::from(round));
            }
        }
        rig.us(250);
        for node in 0..3 {
            rig.recover(node);
        }
        rig.us(250);
    }
    let records = rig.machine.faults().unwrap().records().copied().collect();
    (rig, records)
}

#[test]
fn skipping_idle_time_and_any_order_of_visits_give_the_same_faults() {
    for (scripted, seeds) in [(true, 1), (false, 4)] {
        for seed in 0..seeds {
            let (stepped, records) = run(false, None, scripted, seed);
            assert!(records.len() > 10, "{}", records.len());
            for scramble in [None, Some(seed + 1)] {
                let (skipped, others) = run(true, scramble, scripted, seed);
                assert_eq!(records, others);
                assert_eq!(stepped.machine.difference(&skipped.machine), None);
            }
        }
    }
}

#[test]
fn other_seeds_are_other_faults() {
    let records = |seed| run(true, None, false, seed).1;
    assert_eq!(records(1), records(1));
    assert_ne!(records(1), records(2));
}

#[test]
fn faults_that_never_come_change_nothing() {
    let mut rigs = [Rig::line(2), Rig::line(2)];
    let never = [
        FaultEvent::cable(port(0, 1), Kind::Data, 1 << 40, CableFault::Drop),
        FaultEvent::cable_at(port(1, 1), 1 << 40, CableFault::Drop),
        FaultEvent::bus_at(1, 1 << 40, BusFault::HoldGrant { cycles: 1 }),
    ];
    rigs[1].machine.set_faults(Faults::script(never)).unwrap();
    for rig in &mut rigs {
        let messages = [rig.post(0, 1, 3_000), rig.post(1, 0, 777)];
        rig.us(200);
        assert!(messages.iter().all(|m| rig.arrived(*m)));
    }
    let [mut a, mut b] = rigs;
    assert_eq!(b.machine.take_faults().unwrap().total(), 0);
    a.us(1);
    b.us(1);
    assert_eq!(a.machine.difference(&b.machine), None);
}

//! No allocation per cycle: a machine that runs with traffic, statistics and a
//! driver that posts does not allocate at all.

#![cfg(feature = "alloc")]

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::MachineConfig;
use multipc::fabric::topology::Topology;
use multipc::put::{Control, Entry};
use multipc::time::Duration;

const BYTES: u32 = 1000;
const PAGES: u32 = 40;

/// Allocations while node 0 posts pages to node 1 and they travel.
fn allocations_of_a_run(skip_idle: bool) -> u64 {
    let mut config = ClusterConfig::default();
    let mut machine = MachineConfig::default();
    machine.skip_idle = skip_idle;
    config.machine = machine;
    config.settle_us = 1_000;
    let mut cluster = Cluster::boot(&Topology::pair().unwrap(), &config).unwrap();
    cluster.store(0, 0x8_0000, &[0x5A; BYTES as usize]).unwrap();
    let (machine, writers) = cluster.parts();
    let driver = writers[0].put_mut();
    let info = allocation_counter::measure(|| {
        for page in 0..PAGES {
            let remote = 0xA_0000 + page * BYTES;
            let entry = Entry::page(1, 0, 0x8_0000, remote, BYTES, Control::LMP);
            let mut host = machine.host(0).unwrap();
            driver.add_entry(&mut host, entry).unwrap();
            machine.run_for(Duration::from_us(5));
        }
        machine.run_for(Duration::from_us(1_000));
    });
    let there = machine.nodes()[1]
        .memory()
        .slice(0xA_0000, (PAGES * BYTES) as usize)
        .unwrap();
    assert!(
        there.iter().all(|&byte| byte == 0x5A),
        "traffic did not flow"
    );
    info.count_total
}

#[test]
fn a_running_machine_does_not_allocate() {
    for skip_idle in [true, false] {
        assert_eq!(
            allocations_of_a_run(skip_idle),
            0,
            "skip_idle = {skip_idle}"
        );
    }
}

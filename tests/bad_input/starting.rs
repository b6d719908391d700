//! What a driver is started with.

use multipc::cluster::{Cluster, ClusterError};
use multipc::fabric::topology::Topology;
use multipc::put::{InitError, Put, PutConfig};

use super::machine_rig::{quick, restart_config, tables};
use super::{still_works, text};

#[test]
fn ring_bases_that_are_not_multiples_of_16() {
    let mut config = quick();
    config.tables_at = 0x1004;
    let refused = Cluster::boot(&Topology::pair().unwrap(), &config).unwrap_err();
    let error = InitError::UnalignedRing { base: 0x1004 };
    assert_eq!(refused, ClusterError::Start { node: 0, error });
    assert_eq!(
        refused.to_string(),
        "node 0 did not start: ring base 0x00001004 is not a multiple of 16"
    );
}

/// What `Put::begin` on a good machine says to changed settings.
fn starting(change: impl FnOnce(&mut PutConfig<'_>)) -> String {
    let topology = Topology::pair().unwrap();
    let quick = quick();
    let mut cluster = Cluster::boot(&topology, &quick).unwrap();
    let table = &tables(&topology, &quick)[0];
    let mut config = restart_config(0, 2, table, &quick);
    change(&mut config);
    let mut put = Put::new();
    let refused = text(put.begin(&mut cluster.host(0).unwrap(), &config));
    assert_eq!(put.node(), None, "the driver stays closed");
    // Refused before the chip was touched.
    still_works(&mut cluster);
    refused
}

#[test]
fn settings_of_the_driver() {
    static SHORT: [u8; 257] = [0; 257];
    assert_eq!(
        starting(|config| config.table = Some(&SHORT)),
        "routing table of 257 bytes, must have 258"
    );
    static LONG: [u8; 259] = [0; 259];
    assert_eq!(
        starting(|config| config.table = Some(&LONG)),
        "routing table of 259 bytes, must have 258"
    );
    assert_eq!(
        starting(|config| config.base = 0x1008),
        "ring base 0x00001008 is not a multiple of 16"
    );
    assert_eq!(
        starting(|config| config.entries = 1),
        "ring of 1 entries, allowed 2..=65536"
    );
    assert_eq!(
        starting(|config| config.entries = 65_537),
        "ring of 65537 entries, allowed 2..=65536"
    );
    assert_eq!(
        starting(|config| config.counters = (1 << 24) + 1),
        "16777217 packet counters, allowed 0..=16777216"
    );
    assert_eq!(
        starting(|config| config.nodes = 0),
        "0 nodes, allowed 1..=256"
    );
    assert_eq!(
        starting(|config| config.nodes = 257),
        "257 nodes, allowed 1..=256"
    );
    assert_eq!(
        starting(|config| config.node = 2),
        "own node 2 is outside 0..2"
    );
    // 16 + 16 entries of 16 bytes and 256 counters of 4.
    assert_eq!(
        starting(|config| config.base = 0xFFFF_FFF0),
        "tables of 1536 bytes at 0xfffffff0 do not end below 2^32"
    );
    assert_eq!(
        starting(|config| config.identity = Some(0x1234_5678)),
        "no board: register 0x00 holds 0x00000000, expected 0x12345678"
    );
}

#[test]
fn a_driver_that_is_open_is_not_started_again() {
    let topology = Topology::pair().unwrap();
    let quick = quick();
    let mut cluster = Cluster::boot(&topology, &quick).unwrap();
    let table = &tables(&topology, &quick)[0];
    let config = restart_config(0, 2, table, &quick);
    let (machine, writers) = cluster.parts();
    let mut host = machine.host(0).unwrap();
    let again = writers[0].put_mut().begin(&mut host, &config);
    assert_eq!(text(again), "driver is open already");
    still_works(&mut cluster);
}

#[test]
fn tables_outside_memory() {
    let mut config = quick();
    config.tables_at = 0x4_0000;
    let refused = text(Cluster::boot(&Topology::pair().unwrap(), &config));
    assert!(refused.starts_with("node 0 did not start: access to memory at 0x00040000 failed"));
}

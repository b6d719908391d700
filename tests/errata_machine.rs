//! The revisions of the silicon in whole machines, routers and all.
#![cfg(feature = "alloc")]

use multipc::cluster::{Cluster, ClusterConfig, ClusterError};
use multipc::ddc::{Erratum, Revision};
use multipc::fabric::topology::Topology;
use multipc::put::{Control, Entry, Event};
use multipc::time::Duration;

const REVISIONS: [Revision; 3] = [Revision::IDEAL, Revision::RUN_1, Revision::RUN_2];

fn config(revision: Revision) -> ClusterConfig {
    let mut config = ClusterConfig::default();
    config.revision = revision;
    config.counters = 1024;
    config
}

#[test]
fn a_cluster_of_each_revision_boots_and_copies() {
    let topology = Topology::ring(3).unwrap();
    for revision in REVISIONS {
        let mut cluster = Cluster::boot(&topology, &config(revision)).unwrap();
        let bytes: Vec<u8> = (0..3_000).map(|at| (at * 7 + at / 256) as u8).collect();
        for (from, to, local, remote, length) in [
            (0, 1, 1, 2, 3_000),
            (1, 2, 3, 3, 257),
            (2, 0, 0, 1, 1),
            (0, 2, 2, 0, 0),
        ] {
            let (local, remote) = (0x8_0000 + local, 0xA_0000 + remote);
            cluster.store(from, local, &bytes).unwrap();
            cluster.put(from, to, local, remote, length).unwrap();
            let mut there = vec![0; length as usize];
            cluster.load(to, remote, &mut there).unwrap();
            assert!(there == bytes[..length as usize], "{revision}");
        }
    }
}

#[test]
fn a_driver_that_does_not_know_its_chip_loses_data() {
    let topology = Topology::pair().unwrap();
    let mut unknowing = config(Revision::IDEAL);
    unknowing.board.ddc.revision = Revision::RUN_1;
    let mut cluster = Cluster::boot(&topology, &unknowing).unwrap();
    cluster.store(0, 0x8_0000, &[7; 64]).unwrap();
    let told = cluster.put(0, 1, 0x8_0001, 0xA_0003, 63);
    let mut there = [0; 63];
    cluster.load(1, 0xA_0003, &mut there).unwrap();
    assert!(matches!(told, Err(ClusterError::Lost { .. })) || there != [7; 63]);
}

#[test]
fn emulated_short_messages_of_several_senders_are_told_apart() {
    let topology = Topology::ring(4).unwrap();
    let revision = Revision::only(Erratum::BrokenShortMessages);
    let mut cluster = Cluster::boot(&topology, &config(revision)).unwrap();
    let (machine, writers) = cluster.parts();
    let saps: Vec<_> = writers
        .iter_mut()
        .map(|writer| {
            let put = writer.put_mut();
            let sap = put.register_sap().unwrap();
            put.attach_mi_range(sap, 16).unwrap();
            put.mi_range(sap).unwrap().unwrap().start
        })
        .collect();
    // All of them at once, to node 0, some of it twice.
    for round in 0..2u32 {
        for node in 1..4u16 {
            let put = writers[usize::from(node)].put_mut();
            let mi = saps[usize::from(node)] + u32::from(node);
            let data = [u32::from(node) * 0x0101_0101, round];
            let short = Entry::short(0, mi, data, Control::default());
            put.add_entry(&mut machine.host(node).unwrap(), short)
                .unwrap();
        }
    }
    let mut told = Vec::new();
    for _ in 0..100 {
        machine.run_for(Duration::from_us(2));
        for node in 0..4u16 {
            let mut host = machine.host(node).unwrap();
            let put = writers[usize::from(node)].put_mut();
            put.poll(&mut host, 64, |event| told.push(event)).unwrap();
        }
    }
    let mut got: Vec<_> = told
        .iter()
        .map(|event| match event {
            Event::Received {
                mi,
                data: Some([who, round]),
                ..
            } => (mi - saps[0], *round, *who),
            event => panic!("{event:?}"),
        })
        .collect();
    got.sort_unstable();
    let expected = |node: u32, round| (node, round, node * 0x0101_0101);
    let all: Vec<_> = (1..4)
        .flat_map(|node| (0..2).map(move |round| expected(node, round)))
        .collect();
    assert_eq!(got, all);
}

#[test]
fn a_machine_with_errata_may_skip_idle_time() {
    let topology = Topology::pair().unwrap();
    for revision in [Revision::RUN_1, Revision::RUN_2] {
        let run = |skip| {
            let mut config = config(revision);
            config.machine.skip_idle = skip;
            config.settle_us = 600;
            config.board.ddc.errata.spurious_window = 15_000;
            let mut cluster = Cluster::boot(&topology, &config).unwrap();
            cluster.store(0, 0x8_0000, &[5; 300]).unwrap();
            cluster.put(0, 1, 0x8_0001, 0xA_0002, 200).unwrap();
            cluster.into_machine()
        };
        assert_eq!(run(true).difference(&run(false)), None, "{revision}");
    }
}

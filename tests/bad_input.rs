//! Bad input gives a typed error whose text names the thing, the value and what
//! is allowed; and the machine is as usable afterwards as before.
#![cfg(feature = "alloc")]

mod machine_rig;

use std::error::Error;
use std::fmt::Debug;

use machine_rig::{assert_clean, quick, restart_config, tables};
use multipc::cluster::{Cluster, ClusterError};
use multipc::fabric::HostError;
use multipc::fabric::topology::Topology;
use multipc::pci::BridgeError;
use multipc::put::{
    AddError, AttachError, Control, CounterError, Entry, Event, Fault, InitError, Protocol, Put,
    PutConfig, SapError, ServeError, WriteError, Writer, WriterConfig, WriterError,
};
use multipc::remote::{Flags, RemoteWrite, Transfer};
use multipc::time::Duration;

/// The text of an error that is a [`core::error::Error`], one line.
fn text<T: Debug, E: Error>(result: Result<T, E>) -> String {
    let text = result.unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn pair() -> Cluster {
    Cluster::boot(&Topology::pair().unwrap(), &quick()).unwrap()
}

/// Refuses nothing and loses nothing: what every test ends with.
fn still_works(cluster: &mut Cluster) {
    cluster.store(0, 0x1_0000, b"as before").unwrap();
    cluster.put(0, 1, 0x1_0000, 0x2_0001, 9).unwrap();
    let mut there = [0; 9];
    cluster.load(1, 0x2_0001, &mut there).unwrap();
    assert_eq!(&there, b"as before");
    assert_clean(cluster.machine());
}

fn page(node: u16, length: u32) -> Entry {
    Entry::page(node, 0, 0x1_0000, 0x2_0000, length, Control::LMP)
}

/// What the driver of node 0 says to an entry.
fn posting(
    cluster: &mut Cluster,
    entry: Entry,
) -> AddError<impl Debug + std::fmt::Display + use<>> {
    let (machine, writers) = cluster.parts();
    let mut host = machine.host(0).unwrap();
    let put = writers[0].put_mut();
    let free = put.lpe_free();
    let error = put.add_entry(&mut host, entry).unwrap_err();
    assert_eq!(put.lpe_free(), free, "refused entries take no room");
    error
}

#[test]
fn register_offsets_that_are_not_multiples_of_4() {
    let mut cluster = pair();
    for offset in [0x01, 0x42, 0x5F, 0xFF] {
        let mut host = cluster.host(0).unwrap();
        let expected = HostError::Bus(BridgeError::Misaligned { offset });
        assert_eq!(host.read_register(offset), Err(expected));
        assert_eq!(host.write_register(offset, 0), Err(expected));
    }
    let mut host = cluster.host(1).unwrap();
    let wanted = "configuration offset 0x42 is not a multiple of 4";
    assert_eq!(text(host.read_register(0x42)), wanted);
    still_works(&mut cluster);
}

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

#[test]
fn pages_of_no_bytes_and_of_more_than_65535() {
    let mut cluster = pair();
    for length in [0, 65_536, u32::MAX] {
        let error = posting(&mut cluster, page(1, length));
        assert!(
            matches!(error, AddError::Protocol(Protocol::PageLength { length: l }) if l == length)
        );
        let wanted = format!("page of {length} bytes, allowed 1..=65535");
        assert_eq!(error.to_string(), wanted);
    }
    still_works(&mut cluster);
}

#[test]
fn nodes_that_do_not_exist() {
    let mut cluster = pair();
    let error = posting(&mut cluster, page(2, 4));
    assert!(matches!(error, AddError::UnknownNode { node: 2, nodes: 2 }));
    assert_eq!(error.to_string(), "node 2 is unknown, allowed 0..2");
    let wanted = "node 7 is not one of the machine's 2 (0..2)";
    assert_eq!(text(cluster.host(7)), wanted);
    assert_eq!(text(cluster.put(0, 7, 0x1_0000, 0x2_0000, 4)), wanted);
    assert_eq!(text(cluster.put(7, 0, 0x1_0000, 0x2_0000, 4)), wanted);
    assert_eq!(text(cluster.store(7, 0, &[1])), wanted);
    assert_eq!(text(cluster.load(7, 0, &mut [0])), wanted);
    still_works(&mut cluster);
}

#[test]
fn entries_that_the_chip_cannot_serve() {
    let mut cluster = pair();
    let good = page(1, 4);
    let with = |flags| Entry { flags, ..good };
    let cases = [
        (with(Control::NOS), "nos without lmp"),
        (with(Control::NOR.with(Control::LMP)), "nor without lmi"),
        (Entry { remote: 0, ..good }, "remote address of a page is 0"),
        (Entry { local: 0, ..good }, "local address of a page is 0"),
        (
            Entry {
                remote: 0xFFFF_FFFD,
                ..good
            },
            "page of 4 bytes at 0xfffffffd passes 2^32",
        ),
        (
            Entry {
                mi: 0x100_0000,
                ..good
            },
            "message identifier 0x1000000, allowed 0..0x1000000",
        ),
        (
            Entry::composed(1, 0, Control::default()),
            "composed message while packets are not counted",
        ),
        (
            Entry {
                length: 8,
                ..Entry::short(1, 0, [0; 2], Control::default())
            },
            "short or composed message of 8 bytes, must be 0",
        ),
    ];
    for (entry, wanted) in cases {
        assert_eq!(posting(&mut cluster, entry).to_string(), wanted);
    }
    still_works(&mut cluster);
}

#[test]
fn more_pages_than_the_ring_has_entries() {
    let mut cluster = pair();
    let (machine, writers) = cluster.parts();
    let mut host = machine.host(0).unwrap();
    let put = writers[0].put_mut();
    let pages = [page(1, 4); 16];
    assert_eq!(
        text(put.add_message(&mut host, &pages)),
        "message of 16 pages, allowed 1..=15"
    );
    put.add_message(&mut host, &pages[..10]).unwrap();
    assert_eq!(
        text(put.add_message(&mut host, &pages[..6])),
        "ring full: 6 entries needed, 5 free"
    );
    put.add_message(&mut host, &pages[..5]).unwrap();
    assert_eq!(
        text(put.add_entry(&mut host, pages[0])),
        "ring full: 1 entries needed, 0 free"
    );
    machine.run_for(Duration::from_us(100));
    still_works(&mut cluster);
}

#[test]
fn calls_in_the_wrong_phase() {
    let mut cluster = pair();
    let mut closed = Put::new();
    let mut host = cluster.host(0).unwrap();
    assert_eq!(
        text(closed.add_entry(&mut host, page(1, 4))),
        "driver is not open"
    );
    assert_eq!(
        text(closed.poll(&mut host, 1, |_| {})),
        "driver is not open"
    );
    assert_eq!(text(closed.register_sap()), "driver is not open");
    let flushed: Result<_, ServeError<_>> = closed.flush_lme(&mut host, 1, |_| {});
    assert_eq!(flushed, Err(ServeError::NotOpen));

    let topology = Topology::pair().unwrap();
    let quick = quick();
    let table = &tables(&topology, &quick)[0];
    let mut starting = Put::new();
    starting
        .begin(&mut host, &restart_config(0, 2, table, &quick))
        .unwrap();
    assert_eq!(
        text(starting.add_entry(&mut host, page(1, 4))),
        "driver is still starting"
    );
    let fault = Fault::BadPointer {
        offset: 0x54,
        value: 0x123,
    };
    starting.emergency_stop(&mut host, fault).unwrap();
    assert_eq!(
        text(starting.add_entry(&mut host, page(1, 4))),
        "board was stopped after a fault"
    );
    assert_eq!(
        text(starting.poll(&mut host, 1, |_| {})),
        "board was stopped after a fault"
    );
}

#[test]
fn users_identifiers_and_counters() {
    let mut cluster = pair();
    let (machine, writers) = cluster.parts();
    let put = writers[0].put_mut();
    // One of the six is the writer's.
    let saps: Vec<_> = (1..6).map(|_| put.register_sap().unwrap()).collect();
    assert_eq!(put.register_sap(), Err(SapError::Full));
    assert_eq!(text(put.register_sap()), "all 6 saps are in use");
    assert_eq!(
        text(put.attach_mi_range(saps[0], 3)),
        "range of 3 message identifiers is not a power of 2"
    );
    assert_eq!(
        text(put.attach_mi_range(saps[0], 1 << 24)),
        "no room for 16777216 message identifiers below 16777216 after the ranges in use"
    );
    put.attach_mi_range(saps[0], 16).unwrap();
    let again = put.attach_mi_range(saps[0], 16);
    let size = 16;
    assert!(matches!(
        again,
        Err(AttachError::AlreadyAttached {
            start: 65_536,
            size: 16
        })
    ));
    assert_eq!(
        text(again),
        format!("sap has {size} message identifiers from 65536 already")
    );
    put.unregister_sap(saps[1]).unwrap();
    assert_eq!(text(put.unregister_sap(saps[1])), "sap 2 is not registered");
    let mut host = machine.host(0).unwrap();
    let outside: Result<(), CounterError<_>> = put.expect_composed(&mut host, 256, 1);
    assert_eq!(
        text(outside),
        "no packet counter for message identifier 256, allowed 0..256"
    );
    assert_eq!(
        text(put.expect_composed(&mut host, 0, 0)),
        "0 packets expected, allowed 1..=65535"
    );
    assert_eq!(
        text(put.expect_composed(&mut host, 0, 65_536)),
        "65536 packets expected, allowed 1..=65535"
    );
    still_works(&mut cluster);
}

#[test]
fn remote_writes() {
    let mut cluster = pair();
    let (machine, writers) = cluster.parts();
    let mut host = machine.host(0).unwrap();
    let good = Transfer {
        node: 1,
        local: 0x1_0000,
        remote: 0x2_0000,
        length: 8,
        flags: Flags {
            notify_receiver: true,
            tag: 0,
        },
    };
    let mut refused = |transfer| text(writers[0].start(&mut host, transfer));
    assert_eq!(
        refused(Transfer { node: 9, ..good }),
        "node 9 is unknown, allowed 0..2"
    );
    let tag = Flags {
        tag: 65_536,
        ..good.flags
    };
    assert_eq!(
        refused(Transfer { flags: tag, ..good }),
        "tag 65536, allowed 0..65536"
    );
    assert_eq!(
        refused(Transfer {
            remote: 0xFFFF_FFF9,
            ..good
        }),
        "8 bytes at 0xfffffff9 do not end below 2^32"
    );
    assert_eq!(
        refused(Transfer {
            local: 1 << 40,
            ..good
        }),
        "8 bytes at 0x10000000000 do not end below 2^32"
    );
    assert_eq!(
        refused(Transfer { local: 0, ..good }),
        "local address of a page is 0"
    );
    for _ in 0..8 {
        writers[0].start(&mut host, good).unwrap();
    }
    let ninth = writers[0].start(&mut host, good);
    assert_eq!(ninth, Err(WriteError::QueueFull { limit: 8 }));
    assert_eq!(text(ninth), "queue full: 8 transfers in progress");
    machine.run_for(Duration::from_us(100));
    for node in [0, 1] {
        let mut host = machine.host(node).unwrap();
        let writer = &mut writers[usize::from(node)];
        RemoteWrite::poll(writer, &mut host).unwrap();
    }
    assert_eq!(std::iter::from_fn(|| writers[1].arrival()).count(), 8);
    still_works(&mut cluster);
}

#[test]
fn settings_of_a_writer() {
    let refused = |change: fn(&mut WriterConfig)| {
        let mut config = WriterConfig::default();
        change(&mut config);
        let put = pair().parts().1[0].put().clone();
        text::<Writer, WriterError>(Writer::new(put, config))
    };
    assert_eq!(
        refused(|config| config.page = 65_536),
        "writer pages of 65536 bytes, allowed 1..=65535"
    );
    assert_eq!(
        refused(|config| config.page = 0),
        "writer pages of 0 bytes, allowed 1..=65535"
    );
    assert_eq!(
        refused(|config| config.pages_per_message = 0),
        "writer messages of 0 pages, allowed 1.."
    );
    assert_eq!(
        refused(|config| config.budget = 0),
        "writer budget of 0, allowed 1..=65535"
    );
    assert_eq!(
        refused(|config| config.tags = 0),
        "writer with 0 tags, allowed 1..=16777216"
    );
    assert_eq!(
        refused(|config| config.tags = 5),
        "range of 5 message identifiers is not a power of 2"
    );
}

#[test]
fn bytes_outside_a_nodes_memory() {
    let mut cluster = pair();
    assert_eq!(
        text(cluster.store(0, 0x3_FFFE, &[0; 4])),
        "4 bytes at 0x0003fffe are outside the memory of 262144 bytes at 0x00000000"
    );
    assert_eq!(
        text(cluster.load(1, u32::MAX, &mut [0; 4])),
        "4 bytes at 0xffffffff are outside the memory of 262144 bytes at 0x00000000"
    );
    still_works(&mut cluster);
}

#[test]
fn pages_to_memory_that_does_not_exist() {
    // No error of the call: the bus of the receiver finds out. Nobody claims
    // the write: a master abort, which the driver is told of.
    let mut cluster = pair();
    let (machine, writers) = cluster.parts();
    let entry = Entry {
        remote: 0x8_0000,
        ..page(1, 4)
    };
    let mut host = machine.host(0).unwrap();
    writers[0].put_mut().add_entry(&mut host, entry).unwrap();
    machine.run_for(Duration::from_us(20));
    let mut told = Vec::new();
    let mut host = machine.host(1).unwrap();
    let put = writers[1].put_mut();
    put.poll(&mut host, 8, |event| told.push(event)).unwrap();
    let [Event::Error { fault, stopped }] = told[..] else {
        panic!("{told:?}");
    };
    assert!(stopped);
    assert_eq!(fault.to_string(), "board reports received master abort");
    assert_eq!(
        text(put.poll(&mut host, 8, |_| {})),
        "board was stopped after a fault"
    );
}

//! Entries, messages, users of a board, and calls at the wrong time.

use std::fmt::Debug;

use multipc::cluster::Cluster;
use multipc::fabric::topology::Topology;
use multipc::put::{
    AddError, AttachError, Control, CounterError, Entry, Fault, Protocol, Put, SapError, ServeError,
};
use multipc::time::Duration;

use super::machine_rig::{quick, restart_config, tables};
use super::{page, pair, still_works, text};

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

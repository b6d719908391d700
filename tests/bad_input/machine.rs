//! Registers and memory of a node.

use multipc::cluster::Cluster;
use multipc::fabric::HostError;
use multipc::fabric::topology::Topology;
use multipc::pci::BridgeError;
use multipc::put::{Entry, Event};
use multipc::time::Duration;

use super::machine_rig::quick;
use super::{page, pair, still_works, text};

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

#[test]
fn memory_that_no_address_reaches_is_not_there() {
    let mut config = quick();
    config.board.memory_base = 0xFFFF_0000;
    config.board.memory_bytes = usize::MAX;
    config.tables_at = 0xFFFF_0000;
    let mut cluster = Cluster::boot(&Topology::pair().unwrap(), &config).unwrap();
    cluster.store(0, 0xFFFF_FFF8, &[7; 8]).unwrap();
    assert_eq!(
        text(cluster.store(0, 0xFFFF_FFF9, &[7; 8])),
        "8 bytes at 0xfffffff9 are outside the memory of 65536 bytes at 0xffff0000"
    );
}

#[test]
fn at_the_end_of_time_calls_return() {
    let mut cluster = pair();
    cluster.parts().0.run_for(Duration::from_ps(u64::MAX));
    let end = cluster.machine().now();
    assert_eq!(end.ps(), u64::MAX);
    // Nothing answers any more, since no edge comes.
    let refused = text(cluster.host(0).unwrap().read_register(0x40));
    assert!(refused.contains("without answer"), "{refused}");
    cluster.put(0, 1, 0x1_0000, 0x2_0000, 4).unwrap_err();
    cluster.parts().0.run_for(Duration::from_us(1));
    assert_eq!(cluster.machine().now(), end);
}

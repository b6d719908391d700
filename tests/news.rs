//! Registers without bus time, and runs that end when software could see
//! something new.
#![cfg(feature = "alloc")]

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::ddc::lme::{Control, Descriptor};
use multipc::ddc::registers::{Command, LmiNew, LpeBase, LpeNew, REGISTERS, Status};
use multipc::fabric::Watch;
use multipc::fabric::topology::Topology;
use multipc::time::{Duration, Instant};

const SOURCE: u32 = 0x8_0000;
const TARGET: u32 = 0xA_0000;
const LIMIT: Duration = Duration::from_us(1000);

fn pair() -> Cluster {
    Cluster::boot(&Topology::pair().unwrap(), &ClusterConfig::default()).unwrap()
}

/// Node 0 sends 64 bytes to node 1, which gets a report.
fn post(cluster: &mut Cluster) {
    let mut host = cluster.host(0).unwrap();
    host.store(SOURCE, &[0x5A; 64]).unwrap();
    let ring = host.peek_register(LpeBase::OFFSET).unwrap();
    let entry = Descriptor {
        page_length: 64,
        routing_part: 1,
        control: Control::LMP.with(Control::LMI),
        prsa: TARGET,
        plsa: SOURCE,
    };
    host.store(ring, &entry.emit()).unwrap();
    host.poke_register(LpeNew::OFFSET, ring + 16).unwrap();
}

fn arrived(cluster: &Cluster) -> bool {
    let memory = cluster.machine().nodes()[1].memory();
    memory.slice(TARGET, 64) == Ok(&[0x5A; 64])
}

#[test]
fn a_peek_gives_what_the_bus_gives_and_takes_no_time() {
    let mut cluster = pair();
    let mut host = cluster.host(1).unwrap();
    let before = host.now();
    let peeked: Vec<u32> = REGISTERS
        .iter()
        .map(|register| host.peek_register(register.offset).unwrap())
        .collect();
    assert_eq!(host.now(), before);
    for (register, peeked) in REGISTERS.iter().zip(peeked) {
        let read = host.read_register(register.offset).unwrap();
        assert_eq!(read, peeked, "{}", register.name);
    }
    assert!(host.now() > before);
}

#[test]
fn a_poke_leaves_what_the_bus_leaves() {
    for value in [0, 0x1234_5678, u32::MAX] {
        for register in REGISTERS {
            let (mut a, mut b) = (pair(), pair());
            a.host(0)
                .unwrap()
                .poke_register(register.offset, value)
                .unwrap();
            b.host(0)
                .unwrap()
                .write_register(register.offset, value)
                .unwrap();
            let end = b.machine().now() + Duration::from_us(2);
            for cluster in [&mut a, &mut b] {
                cluster.parts().0.run_until(end);
            }
            let left = |cluster: &Cluster| -> Vec<u32> {
                let ddc = cluster.machine().nodes()[0].ddc();
                let registers = REGISTERS.iter();
                registers.map(|r| ddc.register(r.offset)).collect()
            };
            assert_eq!(left(&a), left(&b), "{} <- {value:#x}", register.name);
        }
    }
}

#[test]
fn a_poked_page_leaves_and_its_report_is_news() {
    let mut cluster = pair();
    let before = cluster
        .host(1)
        .unwrap()
        .peek_register(LmiNew::OFFSET)
        .unwrap();
    let started = cluster.machine().now();
    cluster.parts().0.watch(1, Watch::Registers);
    post(&mut cluster);
    assert_eq!(cluster.machine().now(), started);
    assert!(cluster.parts().0.run_to_news(started + LIMIT));
    let mut nodes = Vec::new();
    cluster.parts().0.take_news(|node| nodes.push(node));
    assert_eq!(nodes, [1]);
    assert!(arrived(&cluster));
    let after = cluster
        .host(1)
        .unwrap()
        .peek_register(LmiNew::OFFSET)
        .unwrap();
    assert_ne!(before, after);
    // The same moment as by looking after each edge.
    let mut looked = pair();
    post(&mut looked);
    let machine = looked.parts().0;
    assert!(machine.run_while_not(LIMIT, |machine| {
        machine.nodes()[1].ddc().register(LmiNew::OFFSET) != before
    }));
    assert_eq!(looked.machine().now(), cluster.machine().now());
}

#[test]
fn writes_into_memory_are_news_to_who_waits_for_them() {
    let mut cluster = pair();
    let started = cluster.machine().now();
    cluster.parts().0.watch(1, Watch::Memory);
    post(&mut cluster);
    let mut moments = Vec::new();
    while cluster.parts().0.run_to_news(started + LIMIT) {
        moments.push((cluster.machine().now(), arrived(&cluster)));
        cluster.parts().0.take_news(|_| {});
    }
    // The write begins, it ends, the report's begins, it ends or is counted.
    assert!(moments.len() >= 3, "{moments:?}");
    assert!(!moments[0].1 && moments[1].1, "{moments:?}");
}

#[test]
fn who_does_not_watch_is_not_told() {
    let mut cluster = pair();
    let end = cluster.machine().now() + LIMIT;
    post(&mut cluster);
    assert!(!cluster.parts().0.run_to_news(end));
    assert_eq!(cluster.machine().now(), end);
    cluster
        .parts()
        .0
        .take_news(|node| panic!("news of node {node}"));
    assert!(arrived(&cluster));
}

#[test]
fn news_that_nobody_takes_stays() {
    let mut cluster = pair();
    let end = cluster.machine().now() + LIMIT;
    cluster.parts().0.watch(1, Watch::Registers);
    post(&mut cluster);
    assert!(cluster.parts().0.run_to_news(end));
    let at = cluster.machine().now();
    assert!(cluster.parts().0.run_to_news(end));
    assert_eq!(cluster.machine().now(), at);
}

#[test]
fn a_machine_at_rest_has_no_next_activity() {
    let mut cluster = pair();
    // The last register access of the boot has left something to do.
    cluster.parts().0.run_for(Duration::from_us(1));
    assert_eq!(cluster.machine().next_activity(), None);
    post(&mut cluster);
    assert!(cluster.machine().next_activity() > Some(Instant::ZERO));
    let end = cluster.machine().now() + LIMIT;
    cluster.parts().0.run_until(end);
    assert_eq!(cluster.machine().next_activity(), None);
}

#[test]
fn what_is_not_there_is_named() {
    let mut cluster = pair();
    cluster.parts().0.watch(7, Watch::Registers);
    let mut host = cluster.host(0).unwrap();
    // A register that the chip lacks reads as 0, as over the bus.
    assert_eq!(host.peek_register(0xFC), Ok(0));
    assert_eq!(host.poke_register(0xFC, 1), Ok(()));
    let status = host.peek_register(Status::OFFSET).unwrap();
    let command = host.peek_register(Command::OFFSET).unwrap();
    assert_ne!((status, command), (0, 0));
}

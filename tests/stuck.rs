//! Machines that stand still, and what is said of them.
#![cfg(feature = "alloc")]

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::deadlock::certify;
use multipc::fabric::labelling::{Intervals, Labelling, Method};
use multipc::fabric::stuck::{Ending, Reason, Report};
use multipc::fabric::topology::{FatTree, PortId, Topology};
use multipc::fabric::{BoardConfig, Machine, MachineConfig};
use multipc::put::{Put, PutConfig, Writer, WriterConfig};
use multipc::rcube::RoutingTable;
use multipc::remote::{Flags, RemoteWrite, Transfer};
use multipc::time::Duration;

/// A running machine with these tables, node `i` on router `i`.
fn boot(
    topology: &Topology,
    tables: &[RoutingTable],
    skip_idle: bool,
) -> (Machine<'static>, Vec<Writer>) {
    let labels = Labelling::tree(topology).unwrap();
    for node in 0..topology.generators().len() as u16 {
        assert_eq!(
            labels.node_of(node),
            Some(node),
            "the tree numbers along the ring"
        );
    }
    let mut config = MachineConfig::default();
    config.skip_idle = skip_idle;
    let mut machine = Machine::build(topology, &labels, config, &BoardConfig::default()).unwrap();
    let mut drivers = Vec::new();
    for (node, table) in (0..).zip(tables) {
        let bytes = table.emit();
        let mut settings = PutConfig::new(node, 0x1000, &bytes);
        settings.nodes = tables.len() as u16;
        settings.entries = 64;
        settings.counters = 1024;
        let mut driver = Put::new();
        driver
            .begin(&mut machine.host(node).unwrap(), &settings)
            .unwrap();
        drivers.push(driver);
    }
    machine.run_for(Duration::from_us(1_000));
    let mut writer = WriterConfig::default();
    writer.tags = 1024;
    let writers = (0..)
        .zip(drivers)
        .map(|(node, mut driver)| {
            driver.settled(&mut machine.host(node).unwrap()).unwrap();
            Writer::new(driver, writer).unwrap()
        })
        .collect();
    (machine, writers)
}

/// Every node writes long pages to the node `distance` further on.
fn all_round(machine: &mut Machine<'static>, writers: &mut [Writer], distance: u16) {
    let nodes = writers.len() as u16;
    for (node, writer) in (0..).zip(writers) {
        let transfer = Transfer {
            node: (node + distance) % nodes,
            local: 0x4_0000,
            remote: 0x8_0000,
            length: 60_000,
            flags: Flags {
                notify_receiver: false,
                tag: 0,
            },
        };
        writer
            .start(&mut machine.host(node).unwrap(), transfer)
            .unwrap();
    }
}

/// Everything goes round by port 1, and comes in by port 2.
fn one_way(boards: u16) -> Vec<RoutingTable> {
    let next = |own: u16| {
        [
            own,
            own + 1,
            own + 1,
            own + 1,
            own + 1,
            own + 1,
            own + 1,
            own + 1,
        ]
    };
    (0..boards)
        .map(|own| {
            Intervals {
                bounds: next(own),
                selection: [1, 2, 2, 2, 2, 2, 2, 2],
            }
            .table()
        })
        .collect()
}

/// Of the ring, the inputs with a header that waits for an output: where cables
/// wait for cables.
fn requests(report: &Report) -> Vec<PortId> {
    let asks = |at: &PortId| {
        matches!(
            report.waiter(*at).map(|waiter| waiter.reason),
            Some(Reason::Outputs { .. })
        )
    };
    report.cycle.iter().copied().filter(asks).collect()
}

#[test]
fn a_cyclic_table_hangs_the_machine_where_the_certificate_says() {
    let topology = Topology::ring(4).unwrap();
    let tables = one_way(4);
    let promised = certify(&topology, tables.as_slice()).unwrap_err();
    let (mut machine, mut writers) = boot(&topology, &tables, true);
    // The tables as they lie in the chips are the ones that were judged.
    let loaded: Vec<RoutingTable> = machine
        .routers()
        .iter()
        .map(|router| *router.chip().table())
        .collect();
    assert_eq!(loaded, tables);
    assert!(!machine.has_work());
    all_round(&mut machine, &mut writers, 2);
    let ending = machine.run_until_stuck_or(Duration::from_us(1_000_000), |_| false);
    assert_eq!(ending, Ending::Stuck);
    let report = machine.stuck().unwrap();

    // The same cables, in the same order, from wherever each begins.
    let mut ring: Vec<PortId> = promised.waits.iter().map(|wait| wait.at).collect();
    let first = ring
        .iter()
        .position(|at| *at == requests(&report)[0])
        .unwrap();
    ring.rotate_left(first);
    assert_eq!(requests(&report), ring);

    // Each page is posted, none has left, and the text tells all of it.
    assert_eq!(report.senders, [0, 1, 2, 3]);
    let text = report.to_string();
    for line in [
        "* router 0 port 2: packet for node 1 waits for port 1; port 1 is held by the packet at input 0",
        "* router 3 port 0: packet for node 1 holds port 1 and waits for credit: router 0 port 2 takes no more",
        "pages not sent: node 0, 1, 2, 3",
    ] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }

    // It really is for ever: a second more, edge by edge at first.
    let sent = |machine: &Machine| {
        let stats = machine.routers().iter().map(|router| router.chip().stats());
        stats
            .flat_map(|s| s.ports.map(|p| (p.input.busy, p.output.busy, p.output.fcc)))
            .collect::<Vec<_>>()
    };
    let before = sent(&machine);
    for _ in 0..100_000 {
        machine.step();
    }
    machine.run_for(Duration::from_us(1_000_000));
    assert_eq!(sent(&machine), before);
    assert!(machine.is_still());
}

#[test]
fn the_same_is_found_without_skipping() {
    let topology = Topology::ring(4).unwrap();
    let tables = one_way(4);
    let mut reports = [true, false].map(|skip_idle| {
        let (mut machine, mut writers) = boot(&topology, &tables, skip_idle);
        all_round(&mut machine, &mut writers, 3);
        let ending = machine.run_until_stuck_or(Duration::from_us(5_000), |_| false);
        assert_eq!(ending, Ending::Stuck);
        machine.stuck().unwrap()
    });
    let [skipping, stepping] = &mut reports;
    // Skipping sees fewer edges, so it may notice a little later.
    stepping.at = skipping.at;
    assert_eq!(skipping, stepping);
}

#[test]
fn certified_tables_bring_the_same_traffic_to_rest() {
    let topology = Topology::ring(4).unwrap();
    let labels = Labelling::ir(&topology).unwrap();
    assert!(certify(&topology, &labels).is_ok());
    let tables: Vec<RoutingTable> = (0..4).map(|router| labels.table(router)).collect();
    let (mut machine, mut writers) = boot(&topology, &tables, true);
    all_round(&mut machine, &mut writers, 2);
    assert!(machine.has_work() && !machine.is_still());
    let ending = machine.run_until_stuck_or(Duration::from_us(1_000_000), |_| false);
    assert_eq!(ending, Ending::AtRest);
    assert_eq!(machine.stuck(), None);
    assert_eq!(machine.waiting().waiters, []);
    assert!(machine.waiting().to_string().starts_with("at rest at "));
}

#[test]
fn the_condition_and_the_limit_end_a_run_as_well() {
    let topology = Topology::ring(4).unwrap();
    let (mut machine, mut writers) = boot(&topology, &one_way(4), true);
    all_round(&mut machine, &mut writers, 2);
    let began = machine.now();
    let limit = Duration::from_us(3);
    assert_eq!(
        machine.run_until_stuck_or(limit, |_| false),
        Ending::OutOfTime
    );
    assert_eq!(machine.now(), began + limit);
    assert!(machine.stuck().is_none() && !machine.waiting().still);
    let soon = machine.link_cycle() + 10;
    let ending = machine.run_until_stuck_or(limit, |machine| machine.link_cycle() >= soon);
    assert_eq!(ending, Ending::Done);
}

#[test]
fn a_port_without_a_link_is_the_root() {
    let topology = Topology::pair().unwrap();
    let mut tables = one_way(2);
    // What is for node 1 leaves router 0 by port 5, where nothing is.
    tables[0].selections = [[1, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20]; 8];
    assert!(certify(&topology, tables.as_slice()).is_ok());
    let (mut machine, mut writers) = boot(&topology, &tables, true);
    let transfer = Transfer {
        node: 1,
        local: 0x4_0000,
        remote: 0x8_0000,
        length: 2_000,
        flags: Flags {
            notify_receiver: false,
            tag: 0,
        },
    };
    writers[0]
        .start(&mut machine.host(0).unwrap(), transfer)
        .unwrap();
    let ending = machine.run_until_stuck_or(Duration::from_us(1_000_000), |_| false);
    assert_eq!(ending, Ending::Stuck);
    let report = machine.stuck().unwrap();
    assert_eq!(
        (report.cycle.len(), report.senders.as_slice()),
        (0, &[0][..])
    );
    let waiter = report.waiters[0];
    assert_eq!(
        (waiter.at, waiter.header, waiter.queued),
        (PortId::new(0, 0), Some(1), 64)
    );
    assert!(matches!(
        waiter.reason,
        Reason::Outputs {
            wanted: 0x20,
            down: 0x20,
            ..
        }
    ));
    assert_eq!(
        waiter.to_string(),
        "router 0 port 0: packet for node 1 waits for port 5; port 5 has no usable link"
    );
}

#[test]
fn a_fat_tree_boots_and_delivers() {
    let shape = FatTree::new(2, 2).unwrap();
    let topology = Topology::fat(&shape).unwrap();
    let mut config = ClusterConfig::default();
    config.method = Method::UpDown(shape);
    config.settle_us = 1_000;
    let mut cluster = Cluster::boot(&topology, &config).unwrap();
    for to in 1..8 {
        cluster.store(0, 0x8_0000, &[to as u8; 300]).unwrap();
        cluster.put(0, to, 0x8_0000, 0xA_0000, 300).unwrap();
        let mut there = [0; 300];
        cluster.load(to, 0xA_0000, &mut there).unwrap();
        assert_eq!(there, [to as u8; 300]);
    }
    // A router that is out of reset takes no table.
    let (machine, _) = cluster.parts();
    let table = RoutingTable::default();
    let errors =
        [8, 0, 99].map(|router| machine.load_table(router, &table).unwrap_err().to_string());
    assert_eq!(
        errors,
        [
            "router 8 is out of reset, a table is taken in reset only",
            "router 0 is configured by node 0, only routers without a board take a table",
            "router 99 is not one of the machine's 14 (0..14)",
        ]
    );
}

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
        matches!(report.waiter(*at).map(|waiter| waiter.reason), Some(Reason::Outputs { .. }))
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
    println!("{report}");

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

//! One chip of a machine is RTL, the rest are models: the same machine.

use multipc::figures::record;
use multipc_cosim::board::{Bench, Change, Job, Outcome, Rtl, run};

fn job() -> Job<'static> {
    // 1, 500 and 1024 bytes: bound by software, at the edge, bound by the chips.
    const SHORT: &[record::RecordPoint] = &[
        record::THROUGHPUT[0],
        record::THROUGHPUT[record::THROUGHPUT.len() / 2],
        record::THROUGHPUT[record::THROUGHPUT.len() - 7],
    ];
    let long = std::env::var_os("MULTIPC_LONG").is_some();
    Job {
        settle_us: 500,
        rounds: if long { 100 } else { 6 },
        points: if long { &record::THROUGHPUT } else { SHORT },
        pages: if long { 50 } else { 10 },
    }
}

fn machine(rtl: Rtl) -> Outcome {
    run(Bench::new(rtl, true), &job()).unwrap()
}

fn changes(outcome: &Outcome) -> &[Change] {
    outcome.cluster.machine().probe().changes()
}

/// Everything that can be seen from outside of the chips.
fn assert_same_run(model: &Outcome, rtl: &Outcome) {
    let (a, b) = (changes(model), changes(rtl));
    if let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) {
        let from = at.saturating_sub(10);
        panic!(
            "pins, models:\n{:#?}\nwith RTL:\n{:#?}",
            &a[from..=at],
            &b[from..=at]
        );
    }
    assert_eq!(a.len(), b.len(), "changes of pins");
    // The comparison had something to compare.
    assert!(a.len() > 25_000, "{} changes of pins", a.len());
    assert_eq!(model.boot, rtl.boot);
    assert_eq!(model.latency, rtl.latency);
    assert_eq!(model.points, rtl.points);
    let (a, b) = (model.cluster.machine(), rtl.cluster.machine());
    assert_eq!(
        (a.now(), a.link_cycle(), a.pci_cycle()),
        (b.now(), b.link_cycle(), b.pci_cycle())
    );
    for (node, (a, b)) in a.nodes().iter().zip(b.nodes()).enumerate() {
        assert!(a.memory() == b.memory(), "memory of node {node}");
        assert!(a.bridge() == b.bridge(), "host bridge of node {node}");
    }
}

#[test]
fn an_rtl_router_gives_the_same_cycles_and_figures() {
    let model = machine(Rtl::default());
    let rtl = machine(Rtl {
        router: true,
        ..Rtl::default()
    });
    assert_same_run(&model, &rtl);
    let (a, b) = (model.cluster.machine(), rtl.cluster.machine());
    for node in 0..2 {
        assert!(a.nodes()[node].ddc() == b.nodes()[node].ddc());
    }
    assert!(a.routers()[1].chip() == b.routers()[1].chip());
    // It was the RTL: it took every edge, and the model beside it none.
    assert_eq!(b.probe().rtl_edges(), [b.link_cycle(), 0]);
    assert!(!b.routers()[0].chip().is_running());
}

#[test]
fn an_rtl_controller_gives_the_same_cycles_and_figures() {
    let model = machine(Rtl::default());
    let rtl = machine(Rtl {
        controller: true,
        ..Rtl::default()
    });
    assert_same_run(&model, &rtl);
    let (a, b) = (model.cluster.machine(), rtl.cluster.machine());
    assert!(a.nodes()[1].ddc() == b.nodes()[1].ddc());
    for router in 0..2 {
        assert!(a.routers()[router].chip() == b.routers()[router].chip());
    }
    let edges = b.link_cycle() + b.pci_cycle();
    assert_eq!(b.probe().rtl_edges(), [0, edges]);
}

#[test]
fn a_board_of_rtl_gives_the_same_cycles_and_figures() {
    let model = machine(Rtl::default());
    let rtl = machine(Rtl {
        router: true,
        controller: true,
    });
    assert_same_run(&model, &rtl);
}

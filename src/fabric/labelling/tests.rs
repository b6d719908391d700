use super::*;
use crate::fabric::topology::{Cable, RouterPorts};

extern crate std;
use std::string::ToString;
use std::vec::Vec;

/// A machine in storage that is leaked: these tests run without `alloc` too.
fn machine(routers: usize, generators: &[(u16, u8)], cables: &[[u16; 4]]) -> Topology<'static> {
    let generators: Vec<_> = generators.iter().map(|&(r, p)| PortId::new(r, p)).collect();
    let cables: Vec<_> = cables
        .iter()
        .map(|&[a, p, b, q]| Cable::new(PortId::new(a, p as u8), PortId::new(b, q as u8)))
        .collect();
    Topology::new(
        std::vec![RouterPorts::EMPTY; routers].leak(),
        generators.leak(),
        cables.leak(),
    )
    .unwrap()
}

fn label_all(topology: &Topology<'_>, method: Method) -> Labelling<'static> {
    try_label(topology, method).unwrap()
}

fn try_label(
    topology: &Topology<'_>,
    method: Method,
) -> Result<Labelling<'static>, LabellingError> {
    Labelling::with_storage(
        topology,
        method,
        std::vec![RouterLabels::EMPTY; topology.routers().into()].leak(),
        std::vec![NodeEntry::default(); topology.generators().len()].leak(),
    )
}

/// Labels of ports 0.. of a router; -1 for none, 1000 + q for an alias of q.
fn labels_of(labels: &Labelling<'_>, router: u16, ports: u8) -> Vec<i32> {
    (0..ports)
        .map(|port| match labels.label(PortId::new(router, port)) {
            Label::None => -1,
            Label::Bound(bound) => bound.into(),
            Label::Alias(of) => 1000 + i32::from(of),
        })
        .collect()
}

#[test]
fn ir_on_a_ring_of_four_gives_the_labels_worked_by_hand() {
    // Port 1 to the next, port 2 to the previous.
    let ring = machine(
        4,
        &[(0, 0), (1, 0), (2, 0), (3, 0)],
        &[[0, 1, 1, 2], [1, 1, 2, 2], [2, 1, 3, 2], [3, 1, 0, 2]],
    );
    let labels = label_all(&ring, Method::Ir);
    // The root: its short cut to router 3 takes node 3.
    assert_eq!(labels_of(&labels, 0, 3), [0, 1, 3]);
    // The counter has come round to 0 when the parents' labels are set.
    assert_eq!(labels_of(&labels, 1, 3), [1, 2, 0]);
    assert_eq!(labels_of(&labels, 2, 3), [2, 3, 0]);
    // A short cut to node 0 would collide with the parent's 0: the mark makes
    // the parent keep its own number.
    assert_eq!(labels_of(&labels, 3, 3), [3, 0, 2]);
    assert_eq!(labels.intervals(3).bounds, [0, 2, 3, 3, 3, 3, 3, 3]);
    assert_eq!(labels.intervals(3).selection, [2, 4, 1, 1, 1, 1, 1, 1]);
    assert_eq!(labels.warnings(&ring).count(), 0);
}

#[test]
fn older_parallel_cables_are_aliases_of_the_newest() {
    let t = machine(
        2,
        &[(0, 0), (1, 0)],
        &[[0, 3, 1, 5], [0, 1, 1, 2], [0, 2, 1, 4]],
    );
    let labels = label_all(&t, Method::Ir);
    // The third cable makes the second an alias; the first stays the second's.
    assert_eq!(labels_of(&labels, 0, 4), [0, 1002, 1, 1001]);
    assert_eq!(labels_of(&labels, 1, 6), [1, -1, 1004, -1, 0, 1002]);
    // One interval for all three: the lowest port, or any.
    assert_eq!(labels.intervals(0).eligible(1), 0b0010);
    assert_eq!(labels.with_adaptive(true).intervals(0).eligible(1), 0b1110);
}

#[test]
fn two_cables_to_the_neighbour_are_no_deadlock_warning_one_is() {
    let one = machine(2, &[(0, 0), (1, 0)], &[[0, 1, 1, 1]]);
    let labels = label_all(&one, Method::Ir);
    let texts: Vec<_> = labels.warnings(&one).map(|w| w.to_string()).collect();
    assert_eq!(
        texts,
        [
            "router 0 has one neighbour: possible deadlock",
            "router 1 has one neighbour: possible deadlock"
        ]
    );
    let two = machine(2, &[(0, 0), (1, 0)], &[[0, 1, 1, 1], [0, 2, 1, 2]]);
    assert_eq!(label_all(&two, Method::Ir).warnings(&two).count(), 0);
}

#[test]
fn a_link_to_a_subtree_without_boards_becomes_one_way() {
    // Boards on routers 1 and 3 only, all behind router 0.
    let t = machine(
        4,
        &[(1, 0), (3, 0)],
        &[[0, 1, 1, 1], [0, 2, 2, 1], [0, 3, 3, 1]],
    );
    let labels = label_all(&t, Method::Ir);
    assert_eq!(labels_of(&labels, 0, 4), [-1, 0, -1, 1]);
    let at = PortId::new(0, 2);
    assert!(labels.warnings(&t).any(|w| w == Warning::OneWay { at }));
    assert!(labels.survey(&t).complete());
}

#[test]
fn the_counter_that_comes_round_hides_a_whole_subtree() {
    // Both boards behind the root's only cable: the counter is 0 before and
    // after, so the tool takes the subtree for an empty one. Here nobody is hurt.
    let t = machine(2, &[(1, 0), (1, 1)], &[[0, 1, 1, 2]]);
    let labels = label_all(&t, Method::Ir);
    assert_eq!(labels_of(&labels, 0, 2), [-1, -1]);
    assert_eq!(labels.intervals(0), Intervals::NONE);
    assert!(labels.survey(&t).complete());
    // The parent's label is node 0's as well.
    let shared = Warning::SharedLabel {
        at: PortId::new(1, 2),
        first: 0,
        label: 0,
    };
    assert!(labels.warnings(&t).any(|w| w == shared));
}

#[test]
fn an_empty_router_beside_a_board_catches_packets_in_ir_not_in_auto() {
    let t = machine(3, &[(0, 0), (2, 0)], &[[0, 1, 1, 1], [0, 2, 2, 1]]);
    let labels = label_all(&t, Method::Ir);
    let shared = Warning::SharedLabel {
        at: PortId::new(0, 2),
        first: 1,
        label: 1,
    };
    assert!(labels.warnings(&t).any(|w| w == shared));
    let looping = labels.route(&t, 0, 1);
    assert!(
        matches!(
            looping,
            Err(RouteError::Loop {
                header: 1,
                length: 2,
                ..
            })
        ),
        "{looping:?}"
    );
    let survey = labels.survey(&t);
    assert_eq!((survey.pairs, survey.delivered), (4, 3));
    let auto = label_all(&t, Method::Auto);
    assert_eq!(auto.method(), Method::Tree);
    assert_eq!(auto.route(&t, 0, 1).unwrap().routers, 2);
}

#[test]
fn a_router_cabled_to_itself_does_not_use_that_cable() {
    let t = machine(2, &[(0, 0), (1, 0)], &[[0, 1, 1, 1], [0, 2, 0, 3]]);
    for method in [Method::Ir, Method::Tree] {
        let labels = label_all(&t, method);
        assert_eq!(labels_of(&labels, 0, 4), [0, 1, -1, -1]);
        assert!(labels.survey(&t).complete());
    }
}

#[test]
fn node_numbers_follow_the_labelling_not_the_generators() {
    // Generator 0 sits on the router that is met last.
    let t = machine(
        3,
        &[(2, 0), (0, 5), (1, 0), (0, 4)],
        &[[0, 1, 1, 1], [1, 2, 2, 1]],
    );
    for method in [Method::Ir, Method::Auto] {
        let labels = label_all(&t, method);
        let nodes: Vec<_> = (0..4)
            .map(|generator| labels.node_of(generator).unwrap())
            .collect();
        assert_eq!(nodes, [3, 1, 2, 0]);
        for node in 0..4 {
            assert_eq!(
                labels.node_of(labels.generator_of(node).unwrap()),
                Some(node)
            );
        }
        assert_eq!((labels.node_of(4), labels.generator_of(4)), (None, None));
        assert_eq!(
            labels.route(&t, 3, 4),
            Err(RouteError::UnknownNode { node: 4, nodes: 4 })
        );
    }
}

#[test]
fn dimension_order_on_a_mesh_has_the_bounds_of_its_diagram() {
    let grid = Grid::mesh(&[4, 3]).unwrap();
    let generators: Vec<_> = (0..12).map(|i| (i, 0)).collect();
    let cables: Vec<_> = grid
        .cables()
        .map(|c| {
            let [a, b] = c.ends;
            [a.router, a.port.into(), b.router, b.port.into()]
        })
        .collect();
    let mesh = machine(12, &generators, &cables);
    let labels = label_all(&mesh, Method::DimensionOrder(grid));
    // Column 2 of the middle row: above, left, itself, right, below.
    let table = labels.intervals(6);
    assert_eq!(table.bounds, [0, 4, 6, 7, 8, 8, 8, 8]);
    assert_eq!(
        table.selection,
        [1 << 4, 1 << 2, 1 << 0, 1 << 1, 1 << 3, 8, 8, 8]
    );
    // The last corner: above, left, itself.
    assert_eq!(labels.intervals(11).bounds, [0, 8, 11, 11, 11, 11, 11, 11]);
}

#[test]
fn a_machine_that_is_not_the_grid_is_named() {
    let grid = |lengths: &[usize]| Method::DimensionOrder(Grid::mesh(lengths).unwrap());
    let t = machine(2, &[(0, 0), (1, 0)], &[]);
    let text = |t: &Topology<'_>, method| try_label(t, method).unwrap_err().to_string();
    assert_eq!(
        text(&t, grid(&[3])),
        "the grid has 3 routers, the machine has 2"
    );
    assert_eq!(
        text(&t, grid(&[2])),
        "no cable between router 0 and its neighbour 1 in the grid"
    );
    let t = machine(2, &[(1, 0), (0, 0)], &[[0, 1, 1, 1]]);
    assert_eq!(
        text(&t, grid(&[2])),
        "router 0 of the grid needs exactly one generator, numbered 0"
    );
}

#[test]
fn what_is_not_cabled_is_an_error_only_with_a_board_on_it() {
    let island = machine(2, &[(0, 0), (1, 0)], &[]);
    for method in [Method::Ir, Method::Tree, Method::Auto] {
        assert_eq!(
            try_label(&island, method).unwrap_err().to_string(),
            "generator 1 on router 1 cannot be reached from router 0"
        );
        let spare = machine(3, &[(0, 0), (1, 0)], &[[0, 1, 1, 1]]);
        let labels = label_all(&spare, method);
        assert!(labels.survey(&spare).complete());
        assert_eq!(labels.intervals(2), Intervals::NONE);
    }
}

#[test]
fn storage_that_is_too_small_is_named_and_more_is_fine() {
    let t = machine(2, &[(0, 0), (1, 0)], &[[0, 1, 1, 1]]);
    let mut routers = [RouterLabels::EMPTY; 3];
    let mut nodes = [NodeEntry::default(); 3];
    let error = Labelling::with_storage(&t, Method::Ir, &mut routers[..1], &mut nodes[..]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "storage for 1 routers, the machine has 2"
    );
    let error = Labelling::with_storage(&t, Method::Ir, &mut routers[..], &mut nodes[..1]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "storage for 1 nodes, the machine has 2"
    );
    let labels = Labelling::with_storage(&t, Method::Auto, &mut routers[..], &mut nodes[..]);
    let labels = labels.unwrap();
    assert!(labels.survey(&t).complete());
    assert_eq!(labels.node_of(2), None);
}

#[test]
fn storage_of_a_router_is_small() {
    assert!(size_of::<RouterLabels>() <= 112);
}

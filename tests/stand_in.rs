//! Chips that somebody else plays: here a model, behind its pins. The machine
//! must not see a difference to its own.
#![cfg(feature = "alloc")]

use multipc::cluster::{Cluster, ClusterConfig, Delivery};
use multipc::ddc::{Ddc, DdcConfig, PciInputs};
use multipc::fabric::topology::Topology;
use multipc::fabric::{ControllerPins, Edge, Parts, Probe, RouterPins, StandIn};
use multipc::hsl::Line;
use multipc::rcube::{Rcube, RcubeConfig};
use multipc::time::Duration;

const BYTES: u32 = 300;

/// Plays the router and the controller of board 0, or nothing.
struct Board {
    router: Option<Rcube>,
    controller: Option<Ddc>,
}

impl Probe for Board {
    fn after_edge(&mut self, _: Edge, _: Parts<'_, '_>) {}

    fn stand_in(&mut self) -> Option<&mut dyn StandIn> {
        Some(self)
    }
}

impl StandIn for Board {
    fn router_edge(&mut self, router: u16, inputs: &[Line; 8]) -> Option<RouterPins> {
        let chip = self.router.as_mut().filter(|_| router == 0)?;
        chip.step(inputs);
        Some(RouterPins {
            outputs: *chip.outputs(),
            link_status: chip.link_status(),
        })
    }

    fn router_chain(&mut self, router: u16, r3_init: bool, r3_dout: Option<u8>) {
        if let Some(chip) = self.router.as_mut().filter(|_| router == 0) {
            chip.chain(r3_init, r3_dout);
        }
    }

    fn controller_link_edge(&mut self, node: u16, input: Line) -> Option<ControllerPins> {
        let chip = self.controller.as_mut().filter(|_| node == 0)?;
        chip.step_link(input);
        Some(pins(chip))
    }

    fn controller_pci_edge(&mut self, node: u16, inputs: &PciInputs) -> Option<ControllerPins> {
        let chip = self.controller.as_mut().filter(|_| node == 0)?;
        chip.step_pci(inputs);
        Some(pins(chip))
    }
}

fn pins(chip: &Ddc) -> ControllerPins {
    ControllerPins {
        pci: chip.pci_outputs(),
        link: chip.link_output(),
    }
}

/// Boots, writes one way and the other.
fn run(router: bool, controller: bool, scramble: Option<u64>) -> (Cluster<Board>, Vec<Delivery>) {
    let mut config = ClusterConfig::default();
    config.machine.scramble = scramble;
    config.settle_us = 500;
    let board = Board {
        router: router.then(|| Rcube::new(RcubeConfig::default().with_parallel(1))),
        controller: controller.then(|| Ddc::new(DdcConfig::default())),
    };
    let mut cluster = Cluster::boot_with_probe(&Topology::pair().unwrap(), &config, board).unwrap();
    let page: Vec<u8> = (0..BYTES).map(|i| (i % 251) as u8).collect();
    let mut deliveries = Vec::new();
    for (from, to) in [(0, 1), (1, 0)] {
        cluster.store(from, 0x8_0000, &page).unwrap();
        deliveries.push(cluster.put(from, to, 0x8_0000, 0xA_0000, BYTES).unwrap());
        let mut there = vec![0; page.len()];
        cluster.load(to, 0xA_0000, &mut there).unwrap();
        assert_eq!(there, page);
    }
    (cluster, deliveries)
}

fn assert_same(router: bool, controller: bool, scramble: Option<u64>) {
    let (own, expected) = run(false, false, None);
    let (played, deliveries) = run(router, controller, scramble);
    assert_eq!(deliveries, expected);
    assert_eq!(played.boot_report(), own.boot_report());
    let (own, played) = (own.machine(), played.machine());
    assert_eq!(
        (played.now(), played.link_cycle(), played.pci_cycle()),
        (own.now(), own.link_cycle(), own.pci_cycle())
    );
    for i in 0..2 {
        let (a, b) = (&own.nodes()[i], &played.nodes()[i]);
        assert!(a.memory() == b.memory() && a.bridge() == b.bridge());
        assert_eq!(a.pci_outputs(), b.pci_outputs());
        assert_eq!(a.link_output(), b.link_output());
        let (a, b) = (&own.routers()[i], &played.routers()[i]);
        assert_eq!(a.outputs(), b.outputs());
        assert_eq!(a.link_status(), b.link_status());
    }
    // The chips that played have seen what the machine's own have.
    if let Some(chip) = &played.probe().router {
        assert!(chip == own.routers()[0].chip());
        assert!(!played.routers()[0].chip().is_running());
    }
    if let Some(chip) = &played.probe().controller {
        assert!(chip == own.nodes()[0].ddc());
    }
    assert!(played.routers()[1].chip() == own.routers()[1].chip());
    assert!(played.nodes()[1].ddc() == own.nodes()[1].ddc());
}

#[test]
fn a_played_router_changes_nothing() {
    assert_same(true, false, None);
}

#[test]
fn a_played_controller_changes_nothing() {
    assert_same(false, true, None);
}

#[test]
fn a_played_board_changes_nothing_in_any_order() {
    for seed in [None, Some(1), Some(2)] {
        assert_same(true, true, seed);
    }
}

#[test]
fn a_machine_with_a_played_chip_is_never_still() {
    let at_rest = |router, controller| {
        let (mut cluster, _) = run(router, controller, None);
        cluster.parts().0.run_for(Duration::from_us(1_000));
        let machine = cluster.machine();
        (machine.is_still(), machine.next_activity())
    };
    assert_eq!(at_rest(false, false), (true, None));
    assert!(matches!(at_rest(true, false), (false, Some(_))));
    assert!(matches!(at_rest(false, true), (false, Some(_))));
}

//! PCI-DDC: model and RTL in lock-step.
#![cfg(feature = "ddc")]

mod ddc_system;

use ddc_system::*;
use multipc::pci::{Agent, BridgeConfig};
use multipc_cosim::cycles;
use multipc_cosim::ddc::{DdcRtl, DdcSmallRtl, Resettable};

fn random<R: Resettable>(
    name: [&'static str; 2],
    bridge: BridgeConfig,
    seed: u64,
    cycles: u64,
    profile: Profile,
) -> Seen {
    let mut rig = Rig::<R>::new(name, bridge);
    for board in 0..2 {
        rig.start(board, profile.command);
    }
    let mut software = Software::new(seed);
    software.run(&mut rig, &profile, cycles);
    println!("{name:?}: {cycles} PCI cycles, {:?}", software.seen);
    software.seen
}

#[test]
fn configuration_accesses() {
    let profile = Profile {
        reads: 3,
        wild: 3,
        link_status: 50,
        ..Profile::default()
    };
    random::<DdcRtl>(
        ["ddc_config_0", "ddc_config_1"],
        BridgeConfig::default(),
        1,
        cycles(10_000, 100_000),
        profile,
    );
}

#[test]
fn pages() {
    let profile = Profile {
        command: ALL_ON,
        reads: 50,
        posts: 300,
        service: 60,
        longest: 1500,
        ..Profile::default()
    };
    random::<DdcRtl>(
        ["ddc_pages_0", "ddc_pages_1"],
        BridgeConfig::default(),
        2,
        cycles(20_000, 100_000),
        profile,
    );
}

#[test]
fn all_kinds_of_messages_with_wait_states_retries_and_disconnects() {
    let profile = Profile {
        command: ALL_ON | LRM_ENABLE,
        reads: 50,
        posts: 200,
        service: 60,
        responses: 40,
        grants: 300,
        commands: 2000,
        longest: 1500,
        kinds: true,
        lrm: true,
        ..Profile::default()
    };
    random::<DdcRtl>(
        ["ddc_kinds_0", "ddc_kinds_1"],
        BridgeConfig::default(),
        3,
        cycles(30_000, 600_000),
        profile,
    );
}

#[test]
fn everything_that_goes_wrong() {
    let profile = Profile {
        command: ALL_ON | LRM_ENABLE,
        reads: 50,
        wild: 3000,
        posts: 100,
        service: 30,
        responses: 60,
        pci_faults: 800,
        grants: 300,
        link_faults: 2000,
        cuts: 20_000,
        link_status: 1000,
        commands: 2000,
        resets: 5000,
        longest: 1500,
        kinds: true,
        lrm: true,
    };
    random::<DdcRtl>(
        ["ddc_faults_0", "ddc_faults_1"],
        BridgeConfig::default(),
        4,
        cycles(40_000, 1_200_000),
        profile,
    );
}

#[test]
fn small_fifos_and_a_short_timeout() {
    let profile = Profile {
        command: ALL_ON | LRM_ENABLE,
        reads: 50,
        posts: 100,
        service: 30,
        responses: 60,
        pci_faults: 3000,
        grants: 300,
        link_faults: 5000,
        cuts: 20_000,
        commands: 2000,
        longest: 1500,
        kinds: true,
        lrm: true,
        ..Profile::default()
    };
    let mut bridge = BridgeConfig::default();
    bridge.wait_states = 1;
    bridge.park = Some(Agent::Ddc);
    random::<DdcSmallRtl>(
        ["ddc_small_0", "ddc_small_1"],
        bridge,
        5,
        cycles(20_000, 200_000),
        profile,
    );
}

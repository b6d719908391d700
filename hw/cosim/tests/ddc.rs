//! PCI-DDC: model and RTL in lock-step.
#![cfg(feature = "ddc")]

mod ddc_system;

use ddc_system::*;
use multipc::ddc::DdcConfig;
use multipc::pci::BridgeConfig;
use multipc_cosim::cycles;

fn random(name: [&'static str; 2], seed: u64, cycles: u64, profile: Profile) {
    let mut rig = Rig::new(name, DdcConfig::default(), BridgeConfig::default());
    for board in 0..2 {
        rig.start(board, profile.command);
    }
    Software::new(seed).run(&mut rig, &profile, cycles);
}

#[test]
fn configuration_accesses() {
    let profile = Profile { reads: 3, wild: 3, link_status: 50, ..Profile::default() };
    random(["ddc_config_0", "ddc_config_1"], 1, cycles(10_000, 100_000), profile);
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
    random(["ddc_pages_0", "ddc_pages_1"], 2, cycles(20_000, 100_000), profile);
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
    random(["ddc_kinds_0", "ddc_kinds_1"], 3, cycles(30_000, 600_000), profile);
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
    random(["ddc_faults_0", "ddc_faults_1"], 4, cycles(40_000, 1_200_000), profile);
}

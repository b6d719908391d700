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

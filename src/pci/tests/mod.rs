//! Timing and answers of the bridge, clock by clock.

extern crate std;

mod arbitration;
mod configuration;
mod responses;
mod timing;

use std::vec::Vec;

use super::*;
use crate::mem::{Memory, Ram};

/// A board: bridge, 256 bytes of memory at 0x1000, and as PCI-DDC an initiator
/// and a configuration space.
struct Bench {
    bridge: HostBridge,
    master: TestMaster,
    device: TestDevice,
    memory: Ram<'static>,
    clock: u64,
}

const BASE: u32 = 0x1000;

impl Bench {
    fn new(config: BridgeConfig, master: TestMasterConfig) -> Self {
        let store = std::boxed::Box::leak(std::vec![0u8; 256].into_boxed_slice());
        let mut memory = Ram::new(BASE, store);
        for word in 0..64 {
            memory.write_word(BASE + 4 * word, 0xA000_0000 + word, 0xF);
        }
        let bridge = HostBridge::new(config);
        let master = TestMaster::new(master);
        Self {
            bridge,
            master,
            memory,
            device: TestDevice::new(DecodeSpeed::Medium, 2),
            clock: 0,
        }
    }

    fn bus(&self) -> Signals {
        resolve(&[
            self.bridge.drive(),
            self.master.drive(),
            self.device.drive(),
        ])
    }

    fn step(&mut self) -> Signals {
        let bus = self.bus();
        let (req_n, gnt_n) = (self.master.req_n(), self.bridge.ddc_gnt_n());
        let idsel = self.bridge.idsel();
        self.bridge.step(&bus, req_n, &mut self.memory);
        self.master.step(&bus, gnt_n);
        self.device.step(&bus, idsel);
        self.clock += 1;
        bus
    }

    /// Runs a transfer; the edges that sampled a word, counted from the one
    /// after which REQ# is visible.
    fn transfer(
        &mut self,
        command: Command,
        addr: u32,
        words: &[u32],
    ) -> (TransferOutcome, Vec<u64>) {
        self.master.submit(command, addr, words);
        let start = self.clock;
        let mut moved = Vec::new();
        for _ in 0..1000 {
            let bus = self.step();
            if !bus.irdy_n && !bus.trdy_n {
                moved.push(self.clock - start);
            }
            if let Some(outcome) = self.master.take() {
                return (outcome, moved);
            }
        }
        panic!("transfer does not end");
    }

    /// Runs a configuration access; its outcome and the bus of each clock.
    fn configure(&mut self, access: ConfigAccess) -> (ConfigOutcome, Vec<(Signals, bool)>) {
        self.bridge.submit(access).unwrap();
        let mut trace = Vec::new();
        for _ in 0..1000 {
            let idsel = self.bridge.idsel();
            trace.push((self.step(), idsel));
            if let Some(outcome) = self.bridge.take() {
                return (outcome, trace);
            }
        }
        panic!("access does not end");
    }
}

fn bench() -> Bench {
    Bench::new(BridgeConfig::default(), TestMasterConfig::default())
}

#[test]
fn bridge_and_checker_stay_small() {
    assert!(
        size_of::<HostBridge>() <= 512,
        "{}",
        size_of::<HostBridge>()
    );
    assert!(size_of::<Checker>() <= 1024, "{}", size_of::<Checker>());
}

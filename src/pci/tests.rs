//! Timing and answers of the bridge, clock by clock.

extern crate std;

use std::vec::Vec;

use super::*;
use crate::mem::{Memory, Ram};

/// A board: bridge, initiator, 256 bytes of memory at 0x1000, a slot that
/// may answer configuration accesses.
struct Bench {
    bridge: HostBridge,
    master: TestMaster,
    memory: Ram<'static>,
    slot: Drive,
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
            slot: Drive::RELEASED,
            clock: 0,
        }
    }

    fn bus(&self) -> Signals {
        resolve(&[self.bridge.drive(), self.master.drive(), self.slot])
    }

    fn step(&mut self) -> Signals {
        let bus = self.bus();
        let (req_n, gnt_n) = (self.master.req_n(), self.bridge.ddc_gnt_n());
        self.bridge.step(&bus, req_n, &mut self.memory);
        self.master.step(&bus, gnt_n);
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
}

fn bench() -> Bench {
    Bench::new(BridgeConfig::default(), TestMasterConfig::default())
}

#[test]
fn descriptor_read_takes_12_clocks() {
    let (outcome, moved) = bench().transfer(Command::MemoryRead, BASE, &[0; 4]);
    assert_eq!(outcome.end, TransferEnd::Done);
    assert_eq!(moved, [9, 10, 11, 12]);
}

#[test]
fn write_of_a_word_takes_6_clocks() {
    let mut bench = bench();
    let (outcome, moved) = bench.transfer(Command::MemoryWrite, BASE + 8, &[0x1234_5678]);
    assert_eq!(outcome.end, TransferEnd::Done);
    assert_eq!(moved, [2 + 1 + 2 + 1]);
    assert_eq!(bench.memory.read_word(BASE + 8), 0x1234_5678);
    assert_eq!(bench.memory.read_word(BASE + 12), 0xA000_0003);
}

#[test]
fn read_brings_the_words_in_order() {
    let mut bench = bench();
    let (outcome, _) = bench.transfer(Command::MemoryRead, BASE + 0x10, &[0; 5]);
    assert_eq!(
        (outcome.words, outcome.attempts, outcome.parity_errors),
        (5, 1, 0)
    );
    assert_eq!(
        bench.master.data(),
        [4, 5, 6, 7, 8].map(|word| 0xA000_0000 + word)
    );
}

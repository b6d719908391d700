//! Timing and answers of the bridge, clock by clock.

extern crate std;

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

/// Clocks from REQ# visible to the edge that samples the first word.
fn first_word(config: BridgeConfig, command: Command) -> u64 {
    let (_, moved) = Bench::new(config, TestMasterConfig::default()).transfer(command, BASE, &[0]);
    moved[0]
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

#[test]
fn each_latency_moves_the_first_word_by_as_much() {
    let default = BridgeConfig::default();
    let read = Command::MemoryRead;
    assert_eq!(
        first_word(
            BridgeConfig {
                request_to_grant: 5,
                ..default
            },
            read
        ),
        9 + 3
    );
    assert_eq!(
        first_word(
            BridgeConfig {
                read_latency: 9,
                ..default
            },
            read
        ),
        9 + 4
    );
    assert_eq!(
        first_word(
            BridgeConfig {
                write_latency: 9,
                ..default
            },
            read
        ),
        9
    );
    let write = Command::MemoryWrite;
    assert_eq!(
        first_word(
            BridgeConfig {
                write_latency: 9,
                ..default
            },
            write
        ),
        6 + 7
    );
}

#[test]
fn data_waits_for_devsel_and_for_the_turn_around() {
    let fastest = BridgeConfig {
        read_latency: 0,
        write_latency: 0,
        ..BridgeConfig::default()
    };
    for (devsel, read, write) in [
        (DecodeSpeed::Fast, 1, 0),
        (DecodeSpeed::Medium, 1, 1),
        (DecodeSpeed::Slow, 2, 2),
        (DecodeSpeed::Subtractive, 3, 3),
    ] {
        let config = BridgeConfig { devsel, ..fastest };
        assert_eq!(
            first_word(config, Command::MemoryRead),
            2 + 1 + read + 1,
            "{devsel:?}"
        );
        assert_eq!(
            first_word(config, Command::MemoryWrite),
            2 + 1 + write + 1,
            "{devsel:?}"
        );
    }
}

#[test]
fn wait_states_part_the_words() {
    let config = BridgeConfig {
        wait_states: 2,
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    let (_, moved) = bench.transfer(Command::MemoryRead, BASE, &[0; 3]);
    assert_eq!(moved, [9, 12, 15]);
}

#[test]
fn responses_are_for_one_transaction_each() {
    let mut bench = bench();
    bench
        .bridge
        .respond_next(TargetResponse::ExtraLatency(3))
        .unwrap();
    bench
        .bridge
        .respond_next(TargetResponse::WaitStates(1))
        .unwrap();
    assert_eq!(
        bench.transfer(Command::MemoryRead, BASE, &[0; 2]).1,
        [12, 13]
    );
    assert_eq!(
        bench.transfer(Command::MemoryRead, BASE, &[0; 2]).1,
        [9, 11]
    );
    assert_eq!(
        bench.transfer(Command::MemoryRead, BASE, &[0; 2]).1,
        [9, 10]
    );
}

#[test]
fn a_ninth_response_is_refused() {
    let mut bridge = HostBridge::new(BridgeConfig::default());
    for _ in 0..8 {
        bridge.respond_next(TargetResponse::Retry).unwrap();
    }
    let error = bridge.respond_next(TargetResponse::Retry);
    assert_eq!(error, Err(BridgeError::ResponsesFull { max: 8 }));
}

#[test]
fn a_held_request_keeps_the_grant_over_one_idle_clock() {
    let mut bench = bench();
    let mut addresses = Vec::new();
    let mut last_words = Vec::new();
    for clock in 0..40 {
        if clock == 0 || bench.master.take().is_some() {
            bench.master.submit(Command::MemoryRead, BASE, &[0; 2]);
        }
        let bus = bench.bus();
        let gnt_n = bench.bridge.ddc_gnt_n();
        bench.bridge.step(&bus, false, &mut bench.memory);
        bench.master.step(&bus, gnt_n);
        if !bus.frame_n && bus.irdy_n {
            addresses.push(clock);
        }
        if !bus.trdy_n && bus.frame_n {
            last_words.push(clock);
        }
    }
    // The word's parity takes a clock before the initiator reports the end.
    assert_eq!(addresses[1] - last_words[0], 3);
    assert_eq!(bench.bridge.stats().ddc_grants, 1);
}

#[test]
fn only_linear_bursts_go_beyond_a_word() {
    let mut bench = bench();
    bench
        .master
        .submit(Command::MemoryRead, BASE | 0b10, &[0; 2]);
    for _ in 0..60 {
        bench.step();
    }
    let outcome = bench.master.take().unwrap();
    assert_eq!((outcome.words, outcome.attempts), (2, 2));
}

#[test]
fn the_other_memory_commands_are_known() {
    for (command, write) in [(0b1100, false), (0b1110, false), (0b1111, true)] {
        let mut bench = bench();
        bench.transfer(Command::Other(command), BASE, &[7]);
        assert_eq!(bench.memory.read_word(BASE) == 7, write);
        assert_eq!(bench.bridge.stats().transactions, 1);
    }
}

#[test]
fn a_burst_does_not_wrap_round_the_address_space() {
    let mut bench = bench();
    let store = std::boxed::Box::leak(std::vec![0u8; 4].into_boxed_slice());
    bench.memory = Ram::new(0xFFFF_FFFC, store);
    let (outcome, moved) = bench.transfer(Command::MemoryRead, 0xFFFF_FFFC, &[0; 2]);
    assert_eq!((outcome.end, moved.len()), (TransferEnd::MasterAbort, 1));
}

#[test]
fn perr_comes_two_clocks_after_the_data_and_serr_after_the_address() {
    let master = TestMasterConfig {
        bad_parity: true,
        ..TestMasterConfig::default()
    };
    let mut bench = Bench::new(BridgeConfig::default(), master);
    bench.master.submit(Command::MemoryWrite, BASE, &[1]);
    let trace: Vec<Signals> = (0..12).map(|_| bench.step()).collect();
    let clocks = |line: fn(&Signals) -> bool| -> Vec<usize> {
        (0..12).filter(|&clock| line(&trace[clock])).collect()
    };
    assert_eq!(clocks(|bus| !bus.frame_n), [2]);
    assert_eq!(clocks(|bus| !bus.serr_n), [4]);
    assert_eq!(clocks(|bus| !bus.trdy_n), [5]);
    assert_eq!(clocks(|bus| !bus.perr_n), [7]);
    let off = BridgeConfig {
        parity_response: false,
        serr_enable: false,
        ..BridgeConfig::default()
    };
    bench.bridge = HostBridge::new(off);
    bench.master.submit(Command::MemoryWrite, BASE, &[1]);
    for _ in 0..12 {
        let bus = bench.step();
        assert!(bus.perr_n && bus.serr_n);
    }
    assert_eq!(bench.bridge.stats().data_parity_errors, 1);
}

#[test]
fn spoiled_read_data_is_noticed_by_the_initiator() {
    let mut bench = bench();
    bench
        .bridge
        .respond_next(TargetResponse::BadParity)
        .unwrap();
    let (outcome, _) = bench.transfer(Command::MemoryRead, BASE, &[0; 3]);
    assert_eq!(outcome.parity_errors, 3);
}

#[test]
fn configuration_write_walks_its_clocks() {
    let (outcome, trace) = bench().configure(ConfigAccess::write(0x48, 0x8000_7000));
    assert_eq!((outcome.result(), outcome.cycles), (Ok(0x8000_7000), 6));
    // 0: request, 1: grant, 2: address, 3 and 4: wait, 5: data.
    let (address, idsel) = trace[2];
    assert!(idsel && !address.frame_n && address.irdy_n);
    assert_eq!((address.ad, address.cbe_n), (0x48, 0b1011));
    let waits = trace[3].0;
    assert!(waits.frame_n && !waits.irdy_n && waits.devsel_n);
    assert_eq!(
        (waits.ad, waits.cbe_n, waits.par),
        (0x8000_7000, 0, even_parity(0x48, 0b1011))
    );
    assert!(!trace[4].0.devsel_n && trace[4].0.trdy_n);
    assert!(!trace[5].0.trdy_n);
    let idsels = trace.iter().filter(|(_, idsel)| *idsel).count();
    assert_eq!((trace.len(), idsels), (6, 1));
}

#[test]
fn configuration_read_of_nobody_gives_all_ones_after_5_clocks() {
    let mut bench = bench();
    bench.device.respond(DeviceResponse::Ignore);
    let (outcome, trace) = bench.configure(ConfigAccess::read(0x40));
    assert_eq!(
        (outcome.end, outcome.data),
        (ConfigEnd::MasterAbort, u32::MAX)
    );
    assert_eq!(
        outcome.result(),
        Err(BridgeError::MasterAbort { offset: 0x40 })
    );
    // FRAME# in clock 2, the last IRDY# in clock 6, so released in clock 7.
    assert!(!trace[2].0.frame_n && !trace[6].0.irdy_n);
    assert_eq!(trace.len(), 7);
    assert!(bench.step().is_idle());
    assert_eq!(bench.bridge.stats().master_aborts, 1);
}

#[test]
fn configuration_failures_are_typed() {
    let config = BridgeConfig {
        retry_limit: 3,
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    let mut access = |response, access| {
        bench.device.respond(response);
        bench.configure(access).0
    };
    let offset = 0x44;
    let outcome = access(DeviceResponse::Retry(9), ConfigAccess::read(offset));
    let error = BridgeError::RetryLimit {
        offset,
        retries: 4,
        max: 3,
    };
    assert_eq!((outcome.result(), outcome.data), (Err(error), u32::MAX));
    let outcome = access(DeviceResponse::TargetAbort, ConfigAccess::write(offset, 5));
    assert_eq!(outcome.result(), Err(BridgeError::TargetAbort { offset }));
    let outcome = access(DeviceResponse::BadParity, ConfigAccess::read(offset));
    assert_eq!(
        outcome.result(),
        Err(BridgeError::Parity { offset, value: 0 })
    );
    let outcome = access(DeviceResponse::Data, ConfigAccess::write(offset, 5));
    assert_eq!(outcome.result(), Ok(5));
}

#[test]
fn misuse_is_named() {
    use std::string::ToString;
    let mut bridge = HostBridge::new(BridgeConfig::default());
    let error = bridge.submit(ConfigAccess::read(0x42)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "configuration offset 0x42 is not a multiple of 4"
    );
    bridge.submit(ConfigAccess::read(0x40)).unwrap();
    let error = bridge.submit(ConfigAccess::read(0x44)).unwrap_err();
    assert_eq!(error, BridgeError::Busy { offset: 0x40 });
}

#[test]
fn a_burst_loses_its_grant_when_the_cpu_wants_the_bus() {
    let mut bench = bench();
    bench.master.submit(Command::MemoryRead, BASE, &[0; 32]);
    for _ in 0..12 {
        bench.step();
    }
    assert!(!bench.bridge.ddc_gnt_n());
    bench.bridge.submit(ConfigAccess::read(0)).unwrap();
    bench.step();
    assert!(bench.bridge.ddc_gnt_n() && !bench.bridge.bridge_gnt_n());
    // The burst goes on until its latency timer, 255 clocks, is over: to the end.
    let mut ends = Vec::new();
    for _ in 0..60 {
        let bus = bench.step();
        if !bus.irdy_n && !bus.trdy_n && bus.frame_n {
            ends.push(bench.master.take().is_some());
        }
    }
    assert_eq!(ends.len(), 2);
    assert!(bench.bridge.take().is_some());
}

#[test]
fn both_agents_take_turns() {
    let master = TestMasterConfig {
        latency_timer: 1,
        ..TestMasterConfig::default()
    };
    let mut bench = Bench::new(BridgeConfig::default(), master);
    for _ in 0..1000 {
        if bench.bridge.take().is_some() || bench.clock == 0 {
            bench.bridge.submit(ConfigAccess::read(0)).unwrap();
        }
        if bench.master.take().is_some() || bench.clock == 0 {
            bench.master.submit(Command::MemoryRead, BASE, &[0; 2]);
        }
        bench.step();
    }
    let stats = bench.bridge.stats();
    assert!(stats.ddc_grants > 20, "{stats:?}");
    assert!(
        stats.ddc_grants.abs_diff(stats.bridge_grants) <= 1,
        "{stats:?}"
    );
}

#[test]
fn a_held_grant_stops_only_the_dma() {
    let mut bench = bench();
    bench.bridge.hold_grant(true);
    bench.master.submit(Command::MemoryRead, BASE, &[0; 4]);
    let (outcome, _) = bench.configure(ConfigAccess::read(0));
    assert_eq!(outcome.end, ConfigEnd::Done);
    for _ in 0..100 {
        assert!(bench.step().is_idle() && bench.bridge.ddc_gnt_n());
    }
    bench.bridge.hold_grant(false);
    for _ in 0..20 {
        bench.step();
    }
    assert_eq!(
        bench.master.take().map(|outcome| outcome.end),
        Some(TransferEnd::Done)
    );
}

#[test]
fn an_agent_that_does_not_start_loses_its_turn() {
    let mut bench = bench();
    let mut step = |bridge: &mut HostBridge| {
        let bus = resolve(&[bridge.drive()]);
        bridge.step(&bus, false, &mut bench.memory);
        bridge.ddc_gnt_n()
    };
    assert!(!step(&mut bench.bridge));
    bench.bridge.submit(ConfigAccess::read(0)).unwrap();
    let granted = (0..40).take_while(|_| !step(&mut bench.bridge)).count();
    assert_eq!(granted as u32, BridgeConfig::default().idle_grant_limit - 1);
    for _ in 0..12 {
        step(&mut bench.bridge);
    }
    assert!(bench.bridge.take().is_some());
}

#[test]
fn a_parked_agent_saves_the_request() {
    let config = BridgeConfig {
        park: Some(Agent::Ddc),
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    bench.step();
    assert_eq!(bench.bridge.idle_for(), 0, "PCI-DDC may start at any clock");
    let (_, moved) = bench.transfer(Command::MemoryRead, BASE, &[0]);
    assert_eq!(moved, [9 - 1]);
}

#[test]
fn a_bus_parked_on_the_bridge_does_not_float() {
    let config = BridgeConfig {
        park: Some(Agent::Bridge),
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    for _ in 0..4 {
        bench.step();
    }
    let drive = bench.bridge.drive();
    assert_eq!(
        (drive.ad, drive.cbe_n, drive.par),
        (Some(0), Some(0), Some(false))
    );
    assert_eq!(bench.bridge.idle_for(), u64::MAX);
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
